package discord

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxWebhooks    = 15 // of a channel
	maxWebhookName = 80
)

var (
	errWebhookToken = &apiError{status: 401, code: 50027, message: "Invalid Webhook Token"}
	errMostWebhooks = &apiError{status: 400, code: 30007, message: "Maximum number of webhooks reached (15)"}
)

// webhookJSON is a webhook. Only who may manage webhooks is told who made it.
func (s *Discord) webhookJSON(w *Webhook) object {
	o := object{
		"id": w.ID, "type": 1, "name": w.Name, "avatar": w.avatar, "channel_id": w.Channel, "guild_id": s.byID[w.Channel].Guild,
		"application_id": nil, "token": w.Token, "url": s.APIURL() + "/webhooks/" + w.ID + "/" + w.Token,
	}
	if w.bot {
		o["application_id"], o["user"] = s.o.App.ID, s.userJSON(s.o.App.UserID)
	}
	return o
}

func (s *Discord) tellWebhooks(c *channel) {
	s.tell(event{kind: "WEBHOOKS_UPDATE", guild: c.Guild, intents: webhooksIntent, data: sameForAll(object{"guild_id": c.Guild, "channel_id": c.ID})})
}

func (s *Discord) listWebhooks(_ *request, c *channel) (int, any, error) {
	if err := s.may(c, manageWebhooks); err != nil {
		return 0, nil, err
	}
	return 0, s.webhooksJSON(func(w *Webhook) bool { return w.Channel == c.ID }), nil
}

func (s *Discord) listGuildWebhooks(_ *request, g *guild) (int, any, error) {
	if err := s.mayIn(g, manageWebhooks); err != nil {
		return 0, nil, err
	}
	return 0, s.webhooksJSON(func(w *Webhook) bool { return s.byID[w.Channel].Guild == g.ID }), nil
}

func (s *Discord) webhooksJSON(which func(*Webhook) bool) []any {
	list := []any{}
	for _, w := range s.webhooks {
		if which(w) {
			list = append(list, s.webhookJSON(w))
		}
	}
	return list
}

func (s *Discord) createWebhook(r *request, c *channel) (int, any, error) {
	if c.thread != nil || c.Type == DM || c.Type == Category {
		return 0, nil, errWrongType
	}
	if err := s.may(c, manageWebhooks); err != nil {
		return 0, nil, err
	}
	w := Webhook{Channel: c.ID}
	if err := s.readWebhook(r, &w, true); err != nil {
		return 0, nil, err
	}
	if len(s.webhooksJSON(func(w *Webhook) bool { return w.Channel == c.ID })) >= maxWebhooks {
		return 0, nil, errMostWebhooks
	}
	made, err := s.addWebhook(c.ID, w.Name)
	if err != nil {
		return 0, nil, err
	}
	made.bot, made.avatar = true, w.avatar
	s.tellWebhooks(c)
	s.audit(s.guild(c.Guild), r, auditWebhookCreate, made.ID, nil)
	return 0, s.webhookJSON(made), nil
}

// readWebhook reads a webhook's name, its picture and, where the bot may move it, its
// channel.
func (s *Discord) readWebhook(r *request, w *Webhook, isNew bool) error {
	if v, has := r.body["name"]; has || isNew {
		name := strings.TrimSpace(str(v))
		switch n := utf8.RuneCountInString(name); {
		case n < 1 || n > maxWebhookName:
			return invalid("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 80 in length.")
		case strings.Contains(strings.ToLower(name), "clyde"), strings.Contains(strings.ToLower(name), "discord"):
			return invalid("name", "USERNAME_INVALID_CONTAINS", `Username cannot contain "discord"`)
		}
		w.Name = name
	}
	if v, has := r.body["avatar"]; has {
		if w.avatar = nil; v != nil {
			w.avatar = pictureHash(str(v))
		}
	}
	if id := idOf(r.body["channel_id"]); id != "" && !isNew {
		c := s.byID[id]
		if c == nil || c.Guild != s.byID[w.Channel].Guild || c.thread != nil || c.Type == Category {
			return errUnknownChannel
		}
		if err := s.may(c, manageWebhooks); err != nil {
			return err
		}
		w.Channel = id
	}
	return nil
}

// pictureHash stands for a picture, of which none is kept.
func pictureHash(data string) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:16])
}

// ownWebhook is the webhook of a call that comes with the bot's token.
func (s *Discord) ownWebhook(r *request) (*Webhook, error) {
	w := s.webhook(r.params["webhook"])
	if w == nil {
		return nil, errUnknownWebhook
	}
	if !w.bot {
		if err := s.may(s.byID[w.Channel], manageWebhooks); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// tokenWebhook is the webhook of a call that comes with its token.
func (s *Discord) tokenWebhook(r *request) (*Webhook, error) {
	w := s.webhook(r.params["webhook"])
	switch {
	case w == nil:
		return nil, errUnknownWebhook
	case w.Token != r.params["token"]:
		return nil, errWebhookToken
	}
	return w, nil
}

func (s *Discord) getWebhook(_ *request, w *Webhook) (int, any, error) {
	return 0, s.webhookJSON(w), nil
}

func (s *Discord) getWebhookByToken(_ *request, w *Webhook) (int, any, error) {
	o := s.webhookJSON(w)
	delete(o, "user")
	return 0, o, nil
}

func (s *Discord) updateWebhook(r *request, w *Webhook) (int, any, error) {
	next := *w
	if err := s.readWebhook(r, &next, false); err != nil {
		return 0, nil, err
	}
	was := s.byID[w.Channel]
	*w = next
	if s.tellWebhooks(was); was.ID != w.Channel {
		s.tellWebhooks(s.byID[w.Channel])
	}
	s.audit(s.guild(was.Guild), r, auditWebhookUpdate, w.ID, nil)
	return 0, s.webhookJSON(w), nil
}

func (s *Discord) updateWebhookByToken(r *request, w *Webhook) (int, any, error) {
	delete(r.body, "channel_id") // this takes the bot's token
	if _, _, err := s.updateWebhook(r, w); err != nil {
		return 0, nil, err
	}
	return s.getWebhookByToken(r, w)
}

func (s *Discord) deleteWebhook(r *request, w *Webhook) (int, any, error) {
	s.webhooks = slices.DeleteFunc(s.webhooks, func(o *Webhook) bool { return o == w })
	c := s.byID[w.Channel]
	s.tellWebhooks(c)
	s.audit(s.guild(c.Guild), r, auditWebhookDelete, w.ID, nil)
	return http.StatusNoContent, nil, nil
}

// webhookRoom is where a webhook's call goes: its channel, or a thread of it.
func (s *Discord) webhookRoom(r *request, w *Webhook) (*channel, error) {
	c := s.byID[w.Channel]
	if id := r.query.Get("thread_id"); id != "" {
		if c = s.byID[id]; c == nil || c.Parent != w.Channel || c.thread == nil {
			return nil, errUnknownChannel
		}
	}
	return c, nil
}

// executeWebhook posts under a webhook. The answer is the message where the caller
// waits for it. The application's id stands for the webhook of an interaction.
func (s *Discord) executeWebhook(r *request) (int, any, error) {
	if r.params["webhook"] == s.o.App.ID {
		return s.followUp(r)
	}
	w, err := s.tokenWebhook(r)
	if err != nil {
		return 0, nil, err
	}
	c, err := s.webhookRoom(r, w)
	if err != nil {
		return 0, nil, err
	}
	title := str(r.body["thread_name"])
	if (c.Type == Forum) != (title != "") {
		return 0, nil, &apiError{status: 400, code: 220001, message: "Webhooks posted to forum channels must have a thread_name or thread_id"}
	}
	m := &message{channel: c.ID, author: w.ID, webhook: w.ID, name: w.Name, avatar: w.avatar}
	if name := strings.TrimSpace(str(r.body["username"])); name != "" {
		if utf8.RuneCountInString(name) > maxWebhookName {
			return 0, nil, invalid("username", "BASE_TYPE_MAX_LENGTH", "Must be 80 or fewer in length.")
		}
		m.name = name
	}
	if at := str(r.body["avatar_url"]); at != "" {
		m.avatar = pictureHash(at)
	}
	if !w.bot && !r.asks("with_components") {
		delete(r.body, "components") // only an application's have those that do something
	}
	if err := s.fill(c, m, r); err != nil {
		return 0, nil, err
	}
	if w.bot {
		m.fields = object{"application_id": s.o.App.ID}
	}
	if c.Type == Forum {
		inner := *r
		inner.body = object{"name": title, "applied_tags": r.body["applied_tags"]}
		if _, err = s.openPost(&inner, c, m, w.ID); err != nil {
			return 0, nil, err
		}
	} else {
		s.post(c, m)
	}
	if !r.asks("wait") {
		return http.StatusNoContent, nil, nil
	}
	return 0, s.messageJSON(m, view{content: true}), nil
}

// webhookMessage returns the handler of calls about a message that a webhook posted, or
// that answers an interaction.
func webhookMessage(run func(*Discord, *request, *channel, *message) (int, any, error), private func(*Discord, *request, *interaction, *message) (int, any, error)) handler {
	return func(s *Discord, r *request) (int, any, error) {
		if r.params["webhook"] == s.o.App.ID {
			return s.answerMessage(r, run, private)
		}
		w, err := s.tokenWebhook(r)
		if err != nil {
			return 0, nil, err
		}
		c, err := s.webhookRoom(r, w)
		if err != nil {
			return 0, nil, err
		}
		m := c.message(r.params["message"])
		if m == nil || m.webhook != w.ID {
			return 0, nil, errUnknownMessage
		}
		return run(s, r, c, m)
	}
}

func (s *Discord) getWebhookMessage(_ *request, _ *channel, m *message) (int, any, error) {
	return 0, s.messageJSON(m, view{content: true}), nil
}

func (s *Discord) updateWebhookMessage(r *request, c *channel, m *message) (int, any, error) {
	return s.change(r, c, m)
}

func (s *Discord) deleteWebhookMessage(_ *request, c *channel, m *message) (int, any, error) {
	s.remove(c, m.id)
	return http.StatusNoContent, nil, nil
}
