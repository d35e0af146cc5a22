package discord

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
)

// byToken is the interaction of a call that comes with its token, once it is answered.
func (s *Discord) byToken(r *request) (*interaction, error) {
	i := slices.IndexFunc(s.interactions, func(in *interaction) bool { return in.token == r.params["token"] })
	switch {
	case i < 0 || s.interactions[i].Answer == 0:
		return nil, errUnknownWebhook
	case s.o.Now().Sub(s.interactions[i].At) > tokenLife:
		return nil, errWebhookToken
	case s.byID[s.interactions[i].Channel] == nil:
		return nil, errUnknownChannel
	}
	return s.interactions[i], nil
}

// followUp posts after the answer to an interaction, under its token.
func (s *Discord) followUp(r *request) (int, any, error) {
	in, err := s.byToken(r)
	if err != nil {
		return 0, nil, err
	}
	m, err := s.respond(in, s.byID[in.Channel], r, r.int("flags")&flagEphemeral != 0)
	if err != nil {
		return 0, nil, err
	}
	return 0, s.messageJSON(m, view{content: true}), nil
}

// respond posts the bot's words to an interaction. Where an answer is to come, they are it
// (Receiving and Responding, Create Followup Message). With the flag EPHEMERAL only who
// acted sees them; the bot's event of them is then that of a direct message
// (github.com/discord/discord-api-docs/issues/4557).
func (s *Discord) respond(in *interaction, c *channel, r *request, alone bool) (*message, error) {
	m := &message{channel: c.ID, author: s.o.App.UserID, kind: in.messageType()}
	if in.deferred {
		m.id, alone = in.original.id, in.alone
	}
	delete(r.body, "message_reference") // no answer is a reply
	if err := s.fill(c, m, r); err != nil {
		return nil, err
	}
	m.fields = object{"webhook_id": s.o.App.ID, "application_id": s.o.App.ID, "interaction_metadata": s.metadata(in, c)}
	if in.Type == interactionCommand {
		m.fields["interaction"] = object{"id": in.ID, "type": in.Type, "name": in.Command, "user": s.userJSON(in.User)}
	}
	if in.original == nil || in.deferred {
		in.original, in.deferred = m, false
	}
	if !alone {
		s.post(c, m)
		return m, nil
	}
	m.id, m.flags = cmp.Or(m.id, s.newID()), m.flags|flagEphemeral
	in.Private, in.Buttons, in.shown, in.private = append(in.Private, m.content), buttons(m.parts), m, append(in.private, m)
	s.host.Happened()
	s.tell(event{kind: "MESSAGE_CREATE", intents: directIntent, data: func(x *session) any {
		o := maps.Clone(s.messageJSON(m, view{gateway: true, content: x.content()}))
		delete(o, "guild_id")
		delete(o, "member")
		return o
	}})
	return m, nil
}

// answerMessage carries out a call about a message that answers an interaction: the first
// (@original), or one that followed. private is for what one person alone is shown.
func (s *Discord) answerMessage(r *request, run func(*Discord, *request, *channel, *message) (int, any, error), private func(*Discord, *request, *interaction, *message) (int, any, error)) (int, any, error) {
	in, err := s.byToken(r)
	if err != nil {
		return 0, nil, err
	}
	c, id := s.byID[in.Channel], r.params["message"]
	if id == "" || id == "@original" {
		if in.original == nil {
			return 0, nil, errUnknownMessage
		}
		id = in.original.id
		if in.deferred {
			return s.settleDeferred(r, in, private)
		}
	}
	list := in.private
	if in.by != nil {
		list = append(slices.Clone(list), in.by.private...)
	}
	if i := slices.IndexFunc(list, func(m *message) bool { return m.id == id }); i >= 0 {
		return private(s, r, in, list[i])
	}
	m := c.message(id)
	if m == nil || m.author != s.o.App.UserID {
		return 0, nil, errUnknownMessage
	}
	return run(s, r, c, m)
}

// settleDeferred carries out a call about an answer that is to come: to edit it is to
// give it.
func (s *Discord) settleDeferred(r *request, in *interaction, private func(*Discord, *request, *interaction, *message) (int, any, error)) (int, any, error) {
	switch r.op {
	case "update_original_webhook_message", "update_webhook_message":
		return s.followUp(r)
	case "delete_original_webhook_message", "delete_webhook_message":
		in.deferred, in.original = false, nil
		return http.StatusNoContent, nil, nil
	}
	return private(s, r, in, in.original)
}

func (s *Discord) getPrivate(_ *request, _ *interaction, m *message) (int, any, error) {
	return 0, s.messageJSON(m, view{content: true}), nil
}

func (s *Discord) changePrivate(r *request, in *interaction, m *message) (int, any, error) {
	if err := s.updatePrivate(in, s.byID[in.Channel], m, r); err != nil {
		return 0, nil, err
	}
	return 0, s.messageJSON(m, view{content: true}), nil
}

func (s *Discord) deletePrivate(_ *request, in *interaction, m *message) (int, any, error) {
	in.private = slices.DeleteFunc(in.private, func(o *message) bool { return o == m })
	return http.StatusNoContent, nil, nil
}
