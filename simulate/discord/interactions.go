package discord

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/earshot-ai/earshot/simulate/internal/fake"
)

// Types of interactions, and of what they are answered with (Discord's documentation,
// Receiving and Responding).
const (
	interactionCommand  = 2
	interactionClick    = 3
	interactionComplete = 4
	interactionForm     = 5

	answerMessage         = 4
	answerDeferredMessage = 5
	answerDeferredUpdate  = 6
	answerUpdate          = 7
	answerChoices         = 8
	answerForm            = 9
)

// Times of an interaction (Receiving and Responding, Interaction Callback).
const (
	answerWithin = 3 * time.Second
	tokenLife    = 15 * time.Minute
)

const (
	flagEphemeral = 1 << 6
	flagLoading   = 1 << 7
)

// An Interaction is a command that somebody used or begins to type, a click on a button, a
// choice from a menu, or a form that somebody sent, and what came of it.
type Interaction struct {
	ID       string    `json:"id"`
	Type     int       `json:"type"` // 2: a command, 3: a click or a choice, 4: a command being typed, 5: a form
	Channel  string    `json:"channel"`
	Message  string    `json:"message"` // with the button; "" for a command, and its form
	User     string    `json:"user"`
	CustomID string    `json:"custom_id"`         // of the button, or of the form
	Command  string    `json:"command,omitempty"` // its name
	Target   string    `json:"target,omitempty"`  // the message in whose menu the command was chosen
	Person   string    `json:"person,omitempty"`  // the person in whose menu the command was chosen
	At       time.Time `json:"at"`
	// Answer is the type of the bot's answer; 0 where there is none yet. Who clicked is
	// told that it failed where there is none within 3 s.
	Answer  int      `json:"answer"`
	Form    *Form    `json:"form,omitempty"`    // what the bot asks for with its answer
	Private []string `json:"private,omitempty"` // what User alone is shown, in order
	Buttons []Button `json:"buttons,omitempty"` // of the last of these
	Choices []string `json:"choices,omitempty"` // that the bot offers for what is being typed
}

// An interaction is one with what the bot answers it by.
type interaction struct {
	Interaction
	token    string
	shown    *message     // the last that User alone was shown
	private  []*message   // all that User alone is shown
	original *message     // the bot's first answer
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
	if i < 0 || !s.owns(m) {
		return "", fmt.Errorf("message %s has no button %q of the bot's", m.id, name)
	}
	x := Interaction{Type: interactionClick, Channel: c.ID, Message: m.id, User: user, CustomID: list[i].ID}
	return s.interact(c, m, x, object{"custom_id": list[i].ID, "component_type": componentBtn, "id": numberOf(m.parts, list[i].ID)}), nil
}

// owns reports whether a message is the bot's: its own, or one of its webhooks'.
func (s *Discord) owns(m *message) bool {
	w := s.webhook(m.webhook)
	return m.author == s.o.App.UserID || w != nil && w.bot
}

// Choose has somebody choose from a menu, which is named by its custom_id, and returns the
// interaction's id. Users, roles and channels are ids.
func (s *Discord) Choose(channel, message, user, menu string, values ...string) string {
	id, err := s.choose(channel, message, user, menu, values)
	check(err)
	return id
}

func (s *Discord) choose(channel, message, user, name string, values []string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m, err := s.find(channel, message)
	if err != nil {
		return "", err
	}
	if s.user(user) == nil || !s.sees(c, user) {
		return "", fmt.Errorf("%w, or the channel is not theirs to see", errNoUser(user))
	}
	list := menus(m.parts)
	i := slices.IndexFunc(list, func(x Menu) bool { return x.ID == name })
	if i < 0 || !s.owns(m) {
		return "", fmt.Errorf("message %s has no menu %q", m.id, name)
	}
	data, err := s.chosen(c, list[i], values)
	if err != nil {
		return "", err
	}
	data["id"] = numberOf(m.parts, name)
	x := Interaction{Type: interactionClick, Channel: c.ID, Message: m.id, User: user, CustomID: name}
	return s.interact(c, m, x, data), nil
}

// chosen is what the bot is told of a choice from a menu.
func (s *Discord) chosen(c *channel, m Menu, values []string) (object, error) {
	if len(values) < m.Min || len(values) > m.Max {
		return nil, fmt.Errorf("menu %q takes %d to %d choices", m.ID, m.Min, m.Max)
	}
	data, resolved := object{"custom_id": m.ID, "component_type": m.Type, "values": fake.List(values)}, object{}
	kinds := map[int]int{componentUsers: optionUser, componentRoles: optionRole, componentMentions: optionMention, componentChannels: optionChannel}
	for _, v := range values {
		if m.Type == componentSelect {
			if !slices.Contains(m.Values, v) {
				return nil, fmt.Errorf("menu %q offers no %q", m.ID, v)
			}
		} else if err := s.resolve(c, resolved, kinds[m.Type], v); err != nil {
			return nil, err
		}
	}
	if m.Type != componentSelect {
		data["resolved"] = resolved
	}
	return data, nil
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
	if !s.sees(c, was.User) {
		return "", fmt.Errorf("%w, or the channel is not theirs to see", errNoUser(was.User))
	}
	form := was.Form
	if len(words) != len(form.Fields) {
		return "", fmt.Errorf("the form has %d fields, not %d", len(form.Fields), len(words))
	}
	var filled []any
	resolved := object{}
	for i, f := range form.Fields {
		value, err := s.filled(c, f, words[i], resolved)
		if err != nil {
			return "", err
		}
		value["id"] = 2*i + 2
		if f.in == componentRow {
			filled = append(filled, object{"type": componentRow, "id": 2*i + 1, "components": []any{value}})
		} else {
			filled = append(filled, object{"type": componentLabel, "id": 2*i + 1, "component": value})
		}
	}
	x := Interaction{Type: interactionForm, Channel: c.ID, Message: was.Message, User: was.User, CustomID: form.ID}
	next := s.interact(c, m, x, object{"custom_id": form.ID, "components": filled, "resolved": resolved})
	s.interaction(next).by = was
	return next, nil
}

// filled is a field of a form with what somebody put into it: words, or what they chose
// from a menu, with commas between.
func (s *Discord) filled(c *channel, f Field, words string, resolved object) (object, error) {
	if f.Type != 0 {
		var values []string
		if words != "" {
			values = strings.Split(words, ",")
		}
		data, err := s.chosen(c, Menu{ID: f.ID, Type: f.Type, Values: f.Values, Min: f.Min, Max: f.Max}, values)
		if err != nil {
			return nil, err
		}
		if found, ok := data["resolved"].(object); ok {
			maps.Copy(resolved, found)
		}
		return object{"type": f.Type, "custom_id": f.ID, "values": data["values"]}, nil
	}
	n := utf8.RuneCountInString(words)
	if f.Required && n == 0 || n > f.Max || n > 0 && n < f.Min {
		return nil, fmt.Errorf("field %q does not take %d characters", f.Label, n)
	}
	return object{"type": componentText, "custom_id": f.ID, "value": words}, nil
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
	if c := s.byID[was.Channel]; c == nil || !s.sees(c, was.User) {
		return "", errNoChannel(was.Channel)
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
	case s.byID[in.Channel] == nil:
		return 0, nil, errUnknownChannel
	}
	kind, inner := r.int("type"), *r
	if inner.body = r.object("data"); inner.body == nil {
		inner.body = object{}
	}
	err := s.answerBy(in, kind, &inner)
	if err != nil {
		in.Form = nil
		return 0, nil, err
	}
	in.Answer = kind
	s.host.Happened()
	if r.asks("with_response") {
		return http.StatusOK, s.answeredJSON(in, kind), nil
	}
	return http.StatusNoContent, nil, nil
}

// answeredJSON is what came of an answer (Interaction Callback Response Object).
func (s *Discord) answeredJSON(in *interaction, kind int) object {
	about := object{"id": in.ID, "type": in.Type, "channel_id": in.Channel, "guild_id": nilIfEmpty(s.byID[in.Channel].Guild)}
	o := object{"interaction": about}
	if m := in.original; m != nil {
		about["response_message_id"], about["response_message_loading"] = m.id, in.deferred
		about["response_message_ephemeral"] = m.flags&flagEphemeral != 0
		if kind == answerMessage || kind == answerUpdate {
			o["resource"] = object{"type": kind, "message": s.messageJSON(m, view{content: true})}
		}
	}
	return o
}

// answerBy does what an answer of a type does.
func (s *Discord) answerBy(in *interaction, kind int, r *request) error {
	c, m, err := s.where(in)
	switch {
	case kind == answerChoices && in.Type == interactionComplete:
		return in.offer(r)
	case in.Type == interactionComplete:
		return invalid("type", "BASE_TYPE_CHOICES", "Value must be one of {8}.")
	case kind == answerMessage:
		if err == nil {
			_, err = s.respond(in, c, r, r.int("flags")&flagEphemeral != 0)
		}
		return err
	case kind == answerUpdate && in.Message != "":
		if err != nil {
			return err
		}
		in.original = m
		if m.flags&flagEphemeral != 0 {
			return s.updatePrivate(in, c, m, r)
		}
		_, _, err = s.change(r, c, m)
		return err
	case kind == answerForm && in.Type != interactionForm:
		form, err := readForm(r.body)
		in.Form = &form
		return err
	case kind == answerDeferredMessage:
		in.deferred, in.alone = true, r.int("flags")&flagEphemeral != 0
		in.original = &message{id: s.newID(), channel: in.Channel, author: s.o.App.UserID, kind: in.messageType(), flags: flagLoading}
		if in.alone {
			in.original.flags |= flagEphemeral
		}
		return nil
	case kind == answerDeferredUpdate && in.Message != "":
		in.original = m
		return err
	}
	return invalid("type", "BASE_TYPE_CHOICES", "Value must be one of {4, 5, 6, 7, 9}.")
}

// offer takes what the bot offers for an option that is being typed.
func (in *interaction) offer(r *request) error {
	list := r.list("choices")
	if len(list) > maxOptions {
		return invalid("data.choices", "BASE_TYPE_MAX_LENGTH", "Must be 25 or fewer in length.")
	}
	var names []string
	for i, v := range list {
		o, _ := v.(object)
		if n := utf8.RuneCountInString(str(o["name"])); n < 1 || n > maxDescription || o["value"] == nil {
			return invalid(fmt.Sprintf("data.choices.%d.name", i), "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
		}
		names = append(names, str(o["name"]))
	}
	in.Choices = names
	return nil
}

// updatePrivate changes what one person alone was shown.
func (s *Discord) updatePrivate(in *interaction, c *channel, m *message, r *request) error {
	next := *m
	if err := s.amend(r, c, &next, false); err != nil {
		return err
	}
	*m = next
	m.edited = s.o.Now()
	in.Private = append(in.Private, m.content)
	if in.by != nil && in.by.shown == m {
		in.by.Buttons = buttons(m.parts)
	}
	if in.shown == m {
		in.Buttons = buttons(m.parts)
	}
	return nil
}

// messageType is the type of the message that an interaction is answered by (Message Types).
func (in *interaction) messageType() int {
	switch {
	case in.Type == interactionCommand && in.Target+in.Person != "":
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
	case in.Person != "":
		o["target_user"] = s.userJSON(in.Person)
	case in.Type == interactionClick:
		o["interacted_message_id"] = in.Message
	}
	return o
}
