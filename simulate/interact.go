package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// An Interaction is what became of a click or of a form that was sent. Slack sends it once.
type Interaction struct {
	Outcome string          `json:"outcome"`          // as that of a Delivery: "acked", "http_timeout", "no connection", …
	Answer  json.RawMessage `json:"answer,omitempty"` // what the acknowledgement holds
}

// Interact sends clicks and forms to url from now on, as the Interactivity Request URL of
// the app's settings does. It is another one than the events' URL.
func (s *Slack) Interact(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interactionsURL = url
}

// Click has a person click a button of a message, which goes by its label or its action_id,
// and returns once the app has answered, or time is up. It panics where there is no such
// button.
func (s *Slack) Click(channel, ts, user, button string) Interaction {
	x, err := s.click(channel, ts, user, button)
	check(err)
	return x
}

func (s *Slack) click(channel, ts, user, button string) (Interaction, error) {
	payload, err := s.clickPayload(channel, ts, user, button)
	if err != nil {
		return Interaction{}, err
	}
	return s.interaction(payload, false), nil
}

// clickPayload is the block_actions that Slack makes of a click (docs.slack.dev,
// block_actions payload, and BlockAction of @slack/bolt).
func (s *Slack) clickPayload(channel, ts, user, button string) (object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m, err := s.find(channel, ts)
	if err != nil {
		return nil, err
	}
	if !c.has(user) || s.user(user) == nil {
		return nil, fmt.Errorf("%q is no member of %s", user, channel)
	}
	buttons, in := buttonsOf(m.body["blocks"])
	i := slices.IndexFunc(buttons, func(b object) bool {
		label, _ := b["text"].(object)
		return button != "" && (b["action_id"] == button || label["text"] == button)
	})
	if i < 0 || m.body["app_id"] != s.o.App.ID {
		return nil, fmt.Errorf("the message %s has no button %q of the app's", ts, button)
	}
	action := maps.Clone(buttons[i])
	delete(action, "confirm")
	action["block_id"], action["action_ts"] = in[i]["block_id"], s.now()
	p := s.interacted("block_actions", user)
	p["container"] = object{"type": "message", "message_ts": m.ts, "channel_id": c.ID, "is_ephemeral": false}
	p["channel"] = object{"id": c.ID, "name": map[Kind]string{Public: c.Name, Private: "privategroup", GroupDM: c.Name, DM: "directmessage"}[c.Kind]}
	p["message"], p["state"], p["actions"] = c.view(m, true), object{"values": object{}}, []any{action}
	p["response_url"] = s.address() + "/actions/" + s.o.Team.ID + "/" + s.uuid()
	return p, nil
}

// interacted is what every interaction has.
func (s *Slack) interacted(kind, user string) object {
	u := s.user(user)
	team := s.o.Team.ID
	if u.Team != "" {
		team = u.Team
	}
	return object{
		"type": kind, "token": "simulated-verification-token", "api_app_id": s.o.App.ID, "trigger_id": s.trigger(user),
		"team": object{"id": s.o.Team.ID, "domain": s.o.Team.Domain}, "enterprise": nil, "is_enterprise_install": false,
		"user": object{"id": u.ID, "username": u.Name, "name": u.Name, "team_id": team},
	}
}

// interaction sends a payload and returns the answer.
func (s *Slack) interaction(payload object, answerable bool) Interaction {
	body, err := json.Marshal(payload)
	check(err) // as in envelope
	s.mu.Lock()
	target, sockets := s.interactionsURL, s.o.SocketMode
	deaf := s.deaf()
	s.mu.Unlock()
	x := Interaction{Outcome: "no interactivity URL"}
	switch {
	case deaf:
		x.Outcome = "uninstalled"
	case sockets:
		x.Outcome, x.Answer = s.ask(object{"payload": json.RawMessage(body), "type": "interactive", "accepts_response_payload": answerable}, false)
		if !answerable {
			x.Answer = nil
		}
	case target != "":
		x = s.hookInteraction(target, body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.host.Happened()
	s.o.Log.Info("interaction", "type", str(payload["type"]), "outcome", x.Outcome)
	return x
}

// hookInteraction sends an interaction by HTTP, as a form.
func (s *Slack) hookInteraction(target string, payload []byte) Interaction {
	return s.hookForm(target, url.Values{"payload": {string(payload)}})
}

// hookForm sends a form by HTTP.
func (s *Slack) hookForm(target string, form url.Values) Interaction {
	ctx, cancel := context.WithTimeout(s.host.Life, s.o.AckWithin)
	defer cancel()
	res, err := s.signed(ctx, target, "application/x-www-form-urlencoded", []byte(form.Encode()), nil)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return Interaction{Outcome: "http_timeout"}
	case err != nil:
		return Interaction{Outcome: "connection_failed"}
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	switch {
	case err != nil:
		return Interaction{Outcome: "http_timeout"}
	case res.StatusCode != http.StatusOK:
		return Interaction{Outcome: "http_error"}
	}
	answer = bytes.TrimSpace(answer)
	if len(answer) > 0 && !json.Valid(answer) {
		return Interaction{Outcome: "bad answer"}
	}
	return Interaction{Outcome: "acked", Answer: answer}
}

// Command has a person use a slash command of the app's in a channel (docs.slack.dev,
// Implementing slash commands), and returns once the app has answered, or time is up. By HTTP it
// goes where interactions go. What only they see is in the answer.
func (s *Slack) Command(channel, user, name, text string) Interaction {
	x, err := s.command(channel, user, name, text)
	check(err)
	return x
}

func (s *Slack) command(channel, user, name, text string) (Interaction, error) {
	s.mu.Lock()
	c, u := s.channel(channel), s.user(user)
	if c == nil || u == nil || !c.has(user) {
		s.mu.Unlock()
		return Interaction{}, fmt.Errorf("%q is no member of %s", user, channel)
	}
	fields := map[string]string{
		"token": "simulated-verification-token", "team_id": s.o.Team.ID, "team_domain": s.o.Team.Domain, "channel_id": c.ID, "channel_name": c.Name,
		"user_id": u.ID, "user_name": u.Name, "command": name, "text": escape(text), "api_app_id": s.o.App.ID, "is_enterprise_install": "false",
		"response_url": s.host.URL + "/commands/" + s.o.Team.ID + "/" + s.uuid(), "trigger_id": s.trigger(user),
	}
	target, sockets, deaf := s.interactionsURL, s.o.SocketMode, s.deaf()
	s.mu.Unlock()
	x := Interaction{Outcome: "no interactivity URL"}
	switch {
	case deaf:
		x.Outcome = "uninstalled"
	case sockets:
		x.Outcome, x.Answer = s.ask(object{"payload": fields, "type": "slash_commands", "accepts_response_payload": true}, false)
	case target != "":
		form := url.Values{}
		for k, v := range fields {
			form.Set(k, v)
		}
		x = s.hookForm(target, form)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.host.Happened()
	s.o.Log.Info("slash command", "command", name, "outcome", x.Outcome)
	return x, nil
}

// escape writes a text as Slack sends it (docs.slack.dev, Formatting message text).
func escape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// Shortcut has a person use a shortcut of the app's at a message, and returns as Click does.
func (s *Slack) Shortcut(channel, ts, user, callback string) Interaction {
	x, err := s.shortcut(channel, ts, user, callback)
	check(err)
	return x
}

func (s *Slack) shortcut(channel, ts, user, callback string) (Interaction, error) {
	s.mu.Lock()
	c, m, err := s.find(channel, ts)
	if err == nil && (!c.has(user) || s.user(user) == nil) {
		err = fmt.Errorf("%q is no member of %s", user, channel)
	}
	if err != nil {
		s.mu.Unlock()
		return Interaction{}, err
	}
	p := s.interacted("message_action", user)
	p["callback_id"], p["message_ts"], p["action_ts"] = callback, m.ts, s.now()
	p["channel"], p["message"] = object{"id": c.ID, "name": c.Name}, c.view(m, true)
	p["response_url"] = s.host.URL + "/app/" + s.o.Team.ID + "/" + s.uuid()
	s.mu.Unlock()
	return s.interaction(p, false), nil
}

// A trigger is what a trigger_id stands for.
type trigger struct {
	user string
	at   time.Time
	used bool
}

const triggerLasts = 3 * time.Second

// trigger makes a trigger_id.
func (s *Slack) trigger(user string) string {
	id := fmt.Sprintf("%d.%d.%x", s.rng.Uint32(), s.rng.Uint32(), s.rng.Uint64())
	s.triggers[id] = &trigger{user: user, at: s.o.Now()}
	return id
}

// A Form is one that a person has before them.
type Form struct {
	ID       string            `json:"id"`
	User     string            `json:"user"`
	Title    string            `json:"title"`
	Label    string            `json:"label"` // of its first field
	Optional bool              `json:"optional,omitempty"`
	Errors   map[string]string `json:"errors,omitempty"` // of the last answer, by the field's block_id

	view object
}

// Limits of a view (docs.slack.dev, Modal views).
const (
	maxTitle   = 24
	maxPrivate = 3000
	maxViewed  = 100 // blocks
)

// viewsOpen answers views.open.
func (s *Slack) viewsOpen(r *request) (object, error) {
	t := s.triggers[r.args["trigger_id"]]
	var view object
	if json.Unmarshal([]byte(r.args["view"]), &view) != nil || r.args["trigger_id"] == "" {
		return nil, fail("invalid_arguments")
	}
	switch {
	case t == nil:
		return nil, fail("invalid_trigger_id")
	case s.o.Now().Sub(t.at) > triggerLasts:
		return nil, fail("expired_trigger_id")
	case t.used:
		return nil, fail("exchanged_trigger_id")
	}
	if err := checkView(view); err != nil {
		return nil, err
	}
	t.used = true
	id := "V" + s.uuid()[:8]
	shown := maps.Clone(view)
	maps.Copy(shown, object{
		"id": id, "team_id": s.o.Team.ID, "app_id": s.o.App.ID, "app_installed_team_id": s.o.Team.ID, "bot_id": s.o.App.BotID,
		"state": object{"values": object{}}, "hash": s.now() + ".sim", "root_view_id": id, "previous_view_id": nil,
	})
	for k, v := range (object{"callback_id": "", "private_metadata": "", "external_id": "", "clear_on_close": false, "notify_on_close": false, "close": nil, "submit": nil}) {
		if _, is := shown[k]; !is {
			shown[k] = v
		}
	}
	title, _ := view["title"].(object)
	f := &Form{ID: id, User: t.user, Title: str(title["text"]), view: shown}
	if input := firstInput(shown); input != nil {
		label, _ := input["label"].(object)
		f.Label, f.Optional = str(label["text"]), input["optional"] == true
	}
	s.forms = append(s.forms, f)
	return object{"view": shown}, nil
}

func checkView(view object) error {
	k := &blockCheck{ids: map[string]bool{}}
	if view["type"] != "modal" {
		k.say("/view/type", "must be modal")
	}
	k.object("/view/title", view["title"], maxTitle, plain)
	for _, name := range []string{"submit", "close"} {
		if view[name] != nil {
			k.object("/view/"+name, view[name], maxTitle, plain)
		}
	}
	for name, most := range map[string]int{"private_metadata": maxPrivate, "callback_id": maxID} {
		if utf8.RuneCountInString(str(view[name])) > most {
			k.say("/view/"+name, "must be less than %d characters", most+1)
		}
	}
	list, _ := view["blocks"].([]any)
	k.list(list, maxViewed)
	if k.inputs > 0 && view["submit"] == nil {
		k.say("/view/submit", "missing required field: submit")
	}
	return k.err("invalid_arguments")
}

// firstInput returns a view's first field for text, nil where it has none.
func firstInput(view object) object {
	list, _ := view["blocks"].([]any)
	for _, v := range list {
		b, _ := v.(object)
		e, _ := b["element"].(object)
		if b["type"] == "input" && e["type"] == "plain_text_input" {
			return b
		}
	}
	return nil
}

// Forms returns the forms that people have before them, in the order in which they opened.
func (s *Slack) Forms() []Form {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Form
	for _, f := range s.forms {
		out = append(out, *f)
	}
	return out
}

// Submit has a person send the form that they have before them, with a text in its first
// field, and returns once the app has answered, or time is up. The form closes unless the
// answer has errors. It panics where they have none.
func (s *Slack) Submit(user, text string) Interaction {
	x, err := s.submit(user, text)
	check(err)
	return x
}

func (s *Slack) submit(user, text string) (Interaction, error) {
	f, payload, err := s.submitPayload(user, text)
	if err != nil {
		return Interaction{}, err
	}
	x := s.interaction(payload, true)
	var answer struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
	}
	if x.Answer != nil && json.Unmarshal(x.Answer, &answer) != nil {
		x.Outcome = "bad answer"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Errors = answer.Errors
	if x.Outcome == "acked" && answer.Action != "errors" {
		s.forms = slices.DeleteFunc(s.forms, func(o *Form) bool { return o == f })
	}
	return x, nil
}

// submitPayload is the view_submission that Slack makes of a form (docs.slack.dev,
// view_submission payload, and ViewSubmitAction of @slack/bolt).
func (s *Slack) submitPayload(user, text string) (*Form, object, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.forms, func(f *Form) bool { return f.User == user })
	if i < 0 {
		return nil, nil, fmt.Errorf("%q has no form before them", user)
	}
	f := s.forms[i]
	view := maps.Clone(f.view)
	if input := firstInput(view); input != nil {
		e, _ := input["element"].(object)
		most, bounded := e["max_length"].(float64)
		switch {
		case text == "" && !f.Optional:
			return nil, nil, fmt.Errorf("the field %q may not be empty", f.Label)
		case utf8.RuneCountInString(text) > maxSection, bounded && utf8.RuneCountInString(text) > int(most):
			return nil, nil, fmt.Errorf("the text is longer than the field %q takes", f.Label)
		}
		var said any = text
		if text == "" {
			said = nil
		}
		view["state"] = object{"values": object{str(input["block_id"]): object{str(e["action_id"]): object{"type": "plain_text_input", "value": said}}}}
	}
	p := s.interacted("view_submission", user)
	if u := s.user(user); u.Team != "" { // as Slack's Bolt says, App.ts, buildSource
		p["team"] = object{"id": u.Team, "domain": "outside"}
	}
	p["view"], p["response_urls"] = view, []any{}
	return f, p, nil
}
