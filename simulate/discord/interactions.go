package discord

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"time"
	"unicode/utf8"
)

// Types of interactions, and of what they are answered with (Discord's documentation,
// Receiving and Responding).
const (
	interactionCommand = 2
	interactionClick   = 3
	interactionForm    = 5

	answerMessage         = 4
	answerDeferredMessage = 5
	answerDeferredUpdate  = 6
	answerUpdate          = 7
	answerForm            = 9
)

// Times of an interaction (Receiving and Responding, Interaction Callback).
const (
	answerWithin = 3 * time.Second
	tokenLife    = 15 * time.Minute
)

const flagEphemeral = 1 << 6

// An Interaction is a command that somebody used, a click on a button, or a form that somebody
// sent, and what came of it.
type Interaction struct {
	ID       string    `json:"id"`
	Type     int       `json:"type"` // 2: a command, 3: a click, 5: a form
	Channel  string    `json:"channel"`
	Message  string    `json:"message"` // with the button; "" for a command, and its form
	User     string    `json:"user"`
	CustomID string    `json:"custom_id"`         // of the button, or of the form
	Command  string    `json:"command,omitempty"` // its name
	Target   string    `json:"target,omitempty"`  // the message in whose menu the command was chosen
	At       time.Time `json:"at"`
	// Answer is the type of the bot's answer; 0 where there is none yet. Who clicked is
	// told that it failed where there is none within 3 s.
	Answer  int      `json:"answer"`
	Form    *Form    `json:"form,omitempty"`    // what the bot asks for with its answer
	Private []string `json:"private,omitempty"` // what User alone is shown, in order
	Buttons []Button `json:"buttons,omitempty"` // of the last of these
}

// An interaction is one with what the bot answers it by.
type interaction struct {
	Interaction
	token    string
	shown    *message     // the last that User alone was shown
	by       *interaction // whose form this sends, or whose private message has the button
	deferred bool         // the answer is to come, as the first that follows
	alone    bool         // User alone is to see it
}

// Click has somebody click a button, which is named by its custom_id or its label, and
// returns the interaction's id.
func (s *Discord) Click(channel, message, user, button string) string {
	id, err := s.click(channel, message, user, button)
	check(err)
	return id
}

func (s *Discord) click(channel, message, user, name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m, err := s.find(channel, message)
	if err != nil {
		return "", err
	}
	if s.user(user) == nil || !s.sees(c, user) {
		return "", fmt.Errorf("%w, or the channel is not theirs to see", errNoUser(user))
	}
	list := buttons(m.parts)
	i := slices.IndexFunc(list, func(b Button) bool { return b.ID == name || b.Label == name })
	if i < 0 || m.author != s.o.App.UserID {
		return "", fmt.Errorf("message %s has no button %q of the bot's", m.id, name)
	}
	x := Interaction{Type: interactionClick, Channel: c.ID, Message: m.id, User: user, CustomID: list[i].ID}
	return s.interact(c, m, x, object{"custom_id": list[i].ID, "component_type": componentBtn, "id": numberOf(m.parts, list[i].ID)}), nil
}

// Submit has somebody send the form that an interaction was answered with, with these
// words in its fields, and returns the id of the interaction that this is.
func (s *Discord) Submit(interaction string, words ...string) string {
	id, err := s.submit(interaction, words)
	check(err)
	return id
}

func (s *Discord) submit(id string, words []string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.interaction(id)
	if was == nil || was.Form == nil {
		return "", fmt.Errorf("interaction %q has no form", id)
	}
	c, m, err := s.where(was)
	if err != nil {
		return "", err
	}
	form := was.Form
	if len(words) != len(form.Fields) {
		return "", fmt.Errorf("the form has %d fields, not %d", len(form.Fields), len(words))
	}
	var filled []any
	for i, f := range form.Fields {
		n := utf8.RuneCountInString(words[i])
		if f.Required && n == 0 || n > f.Max || n > 0 && n < f.Min {
			return "", fmt.Errorf("field %q does not take %d characters", f.Label, n)
		}
		value := object{"type": componentText, "id": 2*i + 2, "custom_id": f.ID, "value": words[i]}
		if f.in == componentRow {
			filled = append(filled, object{"type": componentRow, "id": 2*i + 1, "components": []any{value}})
		} else {
			filled = append(filled, object{"type": componentLabel, "id": 2*i + 1, "component": value})
		}
	}
	x := Interaction{Type: interactionForm, Channel: c.ID, Message: was.Message, User: was.User, CustomID: form.ID}
	next := s.interact(c, m, x, object{"custom_id": form.ID, "components": filled})
	s.interaction(next).by = was
	return next, nil
}

// where is the channel of an interaction, and the message that it was done at; nil for none.
func (s *Discord) where(in *interaction) (c *channel, m *message, err error) {
	if in.Message != "" && (in.by == nil || in.by.shown == nil || in.by.shown.id != in.Message) {
		return s.find(in.Channel, in.Message)
	}
	if c = s.byID[in.Channel]; c == nil {
		return nil, nil, errNoChannel(in.Channel)
	}
	if in.Message != "" {
		m = in.by.shown
	}
	return c, m, nil
}

// ClickPrivate has somebody click a button of what they alone were shown for an interaction,
// and returns the id of the interaction that this is.
func (s *Discord) ClickPrivate(interaction, button string) string {
	id, err := s.clickPrivate(interaction, button)
	check(err)
	return id
}

func (s *Discord) clickPrivate(id, name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.interaction(id)
	if was == nil || was.shown == nil {
		return "", fmt.Errorf("nobody alone was shown anything for interaction %q", id)
	}
	i := slices.IndexFunc(was.Buttons, func(b Button) bool { return b.ID == name || b.Label == name })
	if i < 0 {
		return "", fmt.Errorf("what was shown for interaction %q has no button %q", id, name)
	}
	b := was.Buttons[i]
	x := Interaction{Type: interactionClick, Channel: was.Channel, Message: was.shown.id, User: was.User, CustomID: b.ID}
	next := s.interact(s.byID[was.Channel], was.shown, x, object{"custom_id": b.ID, "component_type": componentBtn, "id": numberOf(was.shown.parts, b.ID)})
	s.interaction(next).by = was
	return next, nil
}

// interact tells the bot of an interaction: INTERACTION_CREATE, for which no intent is
// needed.
func (s *Discord) interact(c *channel, m *message, x Interaction, data object) string {
	x.ID, x.At = s.newID(), s.o.Now()
	in := &interaction{Interaction: x, token: "aW50ZXJhY3Rpb246" + s.secret()}
	s.interactions = append(s.interactions, in)
	o := object{
		"id": x.ID, "application_id": s.o.App.ID, "type": x.Type, "data": data, "token": in.token, "version": 1,
		"channel_id": c.ID, "channel": s.channelJSON(c), "app_permissions": fmtInt(s.permissions(c, s.o.App.UserID)),
		"locale": "en-US", "entitlements": []any{}, "entitlement_sku_ids": []any{}, "attachment_size_limit": 10 << 20,
		"authorizing_integration_owners": object{"0": "0"}, "context": 1,
	}
	if m != nil {
		o["message"] = s.messageJSON(m, view{content: true})
	}
	if g := s.guild(c.Guild); g != nil {
		who := s.fullMember(g.member(x.User))
		who["permissions"] = fmtInt(s.permissions(c, x.User))
		o["member"], o["guild_id"], o["guild_locale"], o["context"] = who, g.ID, "en-US", 0
		o["guild"] = object{"id": g.ID, "locale": "en-US", "features": []any{}}
		o["authorizing_integration_owners"] = object{"0": g.ID}
	} else {
		o["user"] = s.userJSON(x.User)
	}
	if s.o.App.InteractionsURL == "" {
		s.tell(event{kind: "INTERACTION_CREATE", guild: c.Guild, data: sameForAll(o)})
	}
	return x.ID
}

// Interactions returns what people used, clicked and sent, in that order.
func (s *Discord) Interactions() []Interaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Interaction
	for _, in := range s.interactions {
		x := in.Interaction
		x.Private, x.Buttons = slices.Clone(x.Private), slices.Clone(x.Buttons)
		out = append(out, x)
	}
	return out
}

func (s *Discord) interaction(id string) *interaction {
	for _, in := range s.interactions {
		if in.ID == id {
			return in
		}
	}
	return nil
}

// answerInteraction takes the bot's answer to an interaction: once, and within 3 s.
func (s *Discord) answerInteraction(r *request) (int, any, error) {
	in := s.interaction(r.params["interaction"])
	switch {
	case in == nil || in.token != r.params["token"] || in.Answer == 0 && s.o.Now().Sub(in.At) > answerWithin:
		return 0, nil, errUnknownClick
	case in.Answer != 0:
		return 0, nil, errAnswered
	}
	kind, inner := r.int("type"), *r
	inner.body = r.object("data")
	err := s.answerBy(in, kind, &inner)
	if err != nil {
		in.Form = nil
		return 0, nil, err
	}
	in.Answer = kind
	s.host.Happened()
	return http.StatusNoContent, nil, nil
}

// answerBy does what an answer of a type does.
func (s *Discord) answerBy(in *interaction, kind int, r *request) error {
	c, m, err := s.where(in)
	switch {
	case kind == answerMessage:
		if err == nil {
			_, err = s.respond(in, c, r, r.int("flags")&flagEphemeral != 0)
		}
		return err
	case kind == answerUpdate && in.Message != "":
		if err == nil && m.flags&flagEphemeral != 0 {
			return s.updatePrivate(in, c, m, r)
		}
		if err == nil {
			_, _, err = s.updateMessage(r, c, m)
		}
		return err
	case kind == answerForm && in.Type != interactionForm:
		form, err := readForm(r.body)
		in.Form = &form
		return err
	case kind == answerDeferredMessage:
		in.deferred, in.alone = true, r.int("flags")&flagEphemeral != 0
		return nil
	case kind == answerDeferredUpdate && in.Message != "":
		return nil
	}
	return invalid("type", "BASE_TYPE_CHOICES", "Value must be one of {4, 5, 6, 7, 9}.")
}

// updatePrivate changes what one person alone was shown.
func (s *Discord) updatePrivate(in *interaction, c *channel, m *message, r *request) error {
	if err := s.fill(c, m, r); err != nil {
		return err
	}
	m.edited = s.o.Now()
	in.Private = append(in.Private, m.content)
	in.by.Buttons = buttons(m.parts)
	return nil
}

// followUp posts after the answer to an interaction, under its token.
func (s *Discord) followUp(r *request) (int, any, error) {
	i := slices.IndexFunc(s.interactions, func(in *interaction) bool { return in.token == r.params["token"] })
	switch {
	case i < 0 || s.interactions[i].Answer == 0:
		return 0, nil, errUnknownWebhook
	case s.o.Now().Sub(s.interactions[i].At) > tokenLife:
		return 0, nil, &apiError{status: 401, code: 50027, message: "Invalid Webhook Token"}
	}
	in := s.interactions[i]
	alone := r.int("flags")&flagEphemeral != 0
	if in.deferred { // it is the answer that was to come (Receiving and Responding, Create Followup Message)
		alone = in.alone
	}
	m, err := s.respond(in, s.byID[in.Channel], r, alone)
	if err != nil {
		return 0, nil, err
	}
	in.deferred = false
	return 0, s.messageJSON(m, view{content: true}), nil
}

// respond posts the bot's words to an interaction. With the flag EPHEMERAL only who acted
// sees them; the bot's event of them is then that of a direct message
// (github.com/discord/discord-api-docs/issues/4557).
func (s *Discord) respond(in *interaction, c *channel, r *request, alone bool) (*message, error) {
	m := &message{channel: c.ID, author: s.o.App.UserID, kind: in.messageType()}
	delete(r.body, "message_reference") // no answer is a reply
	if err := s.fill(c, m, r); err != nil {
		return nil, err
	}
	m.fields = object{"webhook_id": s.o.App.ID, "application_id": s.o.App.ID, "interaction_metadata": s.metadata(in, c)}
	if in.Type == interactionCommand {
		m.fields["interaction"] = object{"id": in.ID, "type": in.Type, "name": in.Command, "user": s.userJSON(in.User)}
	}
	if !alone {
		s.post(c, m)
		return m, nil
	}
	m.id, m.flags = s.newID(), m.flags|flagEphemeral
	in.Private, in.Buttons, in.shown = append(in.Private, m.content), buttons(m.parts), m
	s.host.Happened()
	s.tell(event{kind: "MESSAGE_CREATE", intents: directIntent, data: func(x *session) any {
		o := maps.Clone(s.messageJSON(m, view{gateway: true, content: x.content()}))
		delete(o, "guild_id")
		delete(o, "member")
		return o
	}})
	return m, nil
}

// messageType is the type of the message that an interaction is answered by (Message Types).
func (in *interaction) messageType() int {
	switch {
	case in.Type == interactionCommand && in.Target != "":
		return typeMenuCommand
	case in.Type == interactionCommand:
		return typeChatCommand
	}
	return typeDefault
}

// metadata says of a message which interaction it answers (Message Interaction Metadata
// Object).
func (s *Discord) metadata(in *interaction, c *channel) object {
	o := object{"id": in.ID, "type": in.Type, "user": s.userJSON(in.User), "authorizing_integration_owners": object{"0": "0"}}
	if c.Guild != "" {
		o["authorizing_integration_owners"] = object{"0": c.Guild}
	}
	switch {
	case in.Type == interactionForm && in.by != nil:
		o["triggering_interaction_metadata"] = s.metadata(in.by, c)
	case in.Target != "":
		o["target_message_id"] = in.Target
	case in.Type == interactionClick:
		o["interacted_message_id"] = in.Message
	}
	return o
}
