package slack

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/words"
	"github.com/earshot-ai/earshot/platform/internal/rescue"
	"github.com/earshot-ai/earshot/platform/internal/tolerant"
	"github.com/earshot-ai/earshot/platform/slack/internal/socket"
	"github.com/earshot-ai/earshot/platform/slack/markup"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

// chooseTime is how long a choice may take. After three seconds Slack shows an error, and
// a trigger_id has ended (docs.slack.dev, Handling user interaction).
const chooseTime = 2500 * time.Millisecond

// A clicked is a choice of ours, as a click or a form tells it.
type clicked struct {
	slackmsg.Interaction
	choiceValue
	choice    string
	submitted bool // by a form, which has the words
	words     string
}

// interact takes what somebody did at a button or with a form. It returns within
// [chooseTime] what Slack is answered, and what is to be done once it was. Slack sends an
// interaction once: whoever made it is told where it is not stored.
func (p *Platform) interact(ctx context.Context, raw []byte) socket.Answer {
	ctx, cancel := context.WithTimeout(ctx, chooseTime)
	defer cancel()
	x, err := slackmsg.ReadInteraction(raw)
	if err != nil {
		p.o.Log.Debug("an interaction is ignored", "why", err)
		return socket.Answer{}
	}
	if answer, ok := p.interactCommand(ctx, x); ok {
		return answer
	}
	c, why := readClicked(x)
	if why == "" && !p.gate.isOpen() {
		return p.notStored(ctx, c)
	}
	if why == "" {
		why = p.foreignTo(x)
	}
	if why != "" {
		p.o.Log.Debug("an interaction is ignored", "type", slackapi.SafeWord(x.Type, "_"), "why", why)
		return socket.Answer{}
	}
	if p.o.Choose == nil { // as in the check, whose socket gets clicks beside the bot's
		return p.notStored(ctx, c)
	}
	var answer socket.Answer
	err = rescue.HandleEvent(p.o.Log, func() (err error) {
		answer, err = p.choose(ctx, c)
		return err
	}, "type", x.Type)
	if err != nil {
		p.o.Log.Error("a choice is not stored", "channel", c.Channel, "message", c.Message, "choice", c.choice, "err", err)
		return p.notStored(ctx, c)
	}
	return answer
}

// choose hands a choice on, or opens its form.
func (p *Platform) choose(ctx context.Context, c clicked) (socket.Answer, error) {
	by, refused := p.chooser(ctx, c.Interaction)
	if refused != "" {
		return p.told(c, p.say(ctx, c.Channel, words.NotAllowed)), nil
	}
	if c.Words != "" && !c.submitted {
		return p.openChoice(ctx, c), nil
	}
	private, err := p.o.Choose(ctx, bot.Chosen{
		Scope: p.scope(c.Channel), Message: c.Message, Key: c.Key, Choice: c.choice, By: by, Words: c.words,
	})
	if err != nil || private == "" {
		return socket.Answer{}, err
	}
	return p.told(c, private), nil
}

// chooser returns who made a choice, with what is known of them, and why they are not
// answered.
func (p *Platform) chooser(ctx context.Context, x slackmsg.Interaction) (earshot.Author, earshot.Refusal) {
	soon, cancel := context.WithTimeout(ctx, nameTime)
	defer cancel()
	by, known := p.names.author(soon, x.User)
	if !known {
		by = earshot.Author{ID: x.User, Kind: earshot.Human}
	}
	if by.Kind == earshot.Human && p.names.foreign(x.UserTeam) {
		by.Standing = earshot.External // also of whom Slack told nothing yet
	}
	return by, p.Refused(soon, x.User)
}

// foreignTo returns why an interaction is not this platform's; "" where it is.
func (p *Platform) foreignTo(x slackmsg.Interaction) string {
	switch {
	case p.app != "" && x.App != p.app:
		return "another app's"
	case x.Team != p.workspace && (x.Enterprise == "" || x.Enterprise != p.enterprise):
		return "of another workspace"
	}
	return ""
}

// readClicked makes a choice of ours of an interaction, or says why it is none. The shape
// of what our buttons and forms carry is checked, although Slack vouches for it.
func readClicked(x slackmsg.Interaction) (c clicked, why string) {
	c.Interaction = x
	switch x.Type {
	case "block_actions":
		id, ours := strings.CutPrefix(x.Action, choiceAction)
		if !ours || json.Unmarshal([]byte(x.Value), &c.choiceValue) != nil {
			return c, "no choice of ours at a message"
		}
		c.choice = id
	case "view_submission":
		var at formPlace
		words, typed := x.Fields[formField]
		if x.Form != formCallback || !typed || json.Unmarshal([]byte(x.Private), &at) != nil || !slackmsg.IsID(string(at.Channel)) || !slackmsg.IsStamp(string(at.Message)) {
			return c, "no form of ours"
		}
		c.Key, c.choice, c.Channel, c.Message = at.Key, at.Choice, at.Channel, at.Message
		if slackmsg.IsStamp(string(at.Thread)) {
			c.Thread = at.Thread
		}
		c.submitted, c.words = true, tolerant.CutRunes(words, maxWords)
	default:
		return c, "a type of no concern"
	}
	switch {
	case x.User == "":
		return c, "nobody's"
	case !isWord(c.Key, maxKey, true) || !isWord(c.choice, maxChoiceID, false):
		return c, "without a key and a choice"
	}
	return c, ""
}

// Bounds of a draft's key and a choice's id, of [bot.Draft] and [bot.Choice].
const (
	maxKey      = 25
	maxChoiceID = 20
)

// isWord reports whether s is a key, of letters and digits, or the id of a choice.
func isWord(s string, most int, key bool) bool {
	for _, r := range s {
		small, digit, large := 'a' <= r && r <= 'z', '0' <= r && r <= '9', 'A' <= r && r <= 'Z'
		if !small && !digit && (!key || !large) && (key || r != '_') {
			return false
		}
	}
	return s != "" && len(s) <= most
}

// notStored answers a choice that is not stored.
func (p *Platform) notStored(ctx context.Context, c clicked) socket.Answer {
	if c.submitted { // the words are not lost: the form stays, with this below its field
		return socket.Answer{Payload: map[string]any{"response_action": "errors", "errors": map[string]string{formField: p.say(ctx, c.Channel, words.NotSent)}}}
	}
	return p.told(c, p.say(ctx, c.Channel, words.NotStored))
}

// say returns a sentence as it is said in a channel.
func (p *Platform) say(ctx context.Context, c earshot.ChannelID, k words.Key, with ...string) string {
	if p.o.Say == nil {
		return words.Table{}.Say(k, with...)
	}
	return p.o.Say(ctx, p.scope(c), string(k), with...)
}

// told answers a choice by an empty acknowledgement, and then shows a text to whoever made
// it, beside the message. It is chat.postEphemeral and not the payload's response_url: that
// one needs no token, so that what a payload names would have to be believed, and it is
// outside of the rates and counts of the other calls.
func (p *Platform) told(c clicked, text string) socket.Answer {
	return socket.Answer{Then: func(ctx context.Context) {
		args := url.Values{"channel": {string(c.Channel)}, "user": {string(c.User)}}
		if c.Thread != "" && c.Thread != c.Message {
			args.Set("thread_ts", string(c.Thread))
		}
		if _, err := p.send(ctx, p.client.Call, "chat.postEphemeral", args, markup.Write(text)); err != nil {
			p.o.Log.Warn("a person is not told what became of a choice", "channel", c.Channel, "message", c.Message, "err", err)
		}
	}}
}

// Bounds and names of a form (docs.slack.dev, views.open, Modal views, Plain-text input).
const (
	maxTitle     = 24
	maxWords     = 3000
	formCallback = "earshot_choice"
	formField    = "words" // block_id and action_id of its one field
)

// A formPlace is what a form carries, as private_metadata: where its button was.
type formPlace struct {
	Key     string            `json:"key"`
	Choice  string            `json:"choice"`
	Channel earshot.ChannelID `json:"channel"`
	Message earshot.MessageID `json:"message"`
	Thread  earshot.MessageID `json:"thread,omitempty"`
}

// openChoice opens the form of a choice.
func (p *Platform) openChoice(ctx context.Context, c clicked) socket.Answer {
	title := strings.TrimSpace(c.Title)
	if utf8.RuneCountInString(title) > maxTitle {
		title = tolerant.CutRunes(title, maxTitle-1) + "…"
	}
	return p.openForm(ctx, formToOpen{
		trigger: c.Trigger, callback: formCallback, title: title, private: formPlace{c.Key, c.choice, c.Channel, c.Message, c.Thread},
		channel: c.Channel, submit: words.Send, label: c.Words, optional: !c.Required,
	}, func() socket.Answer { return p.told(c, p.say(ctx, c.Channel, words.NoForm)) })
}
