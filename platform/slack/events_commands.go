package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"unicode"
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

// The app's slash command and its shortcut at messages. A question that somebody asks by either
// is posted by us, for all to see, and says in its metadata whose it is: what comes back as an
// event or in history is their message ([Platform.attribute]). So it is durable as any other, and
// nothing of it is kept where it could not be posted.

// What the manifest names.
const (
	askShortcut    = "earshot_ask" // callback_id of the shortcut, and of its form
	forgetCallback = "earshot_forget"
)

// command takes a slash command, and returns within [chooseTime] what Slack is answered.
func (p *Platform) command(ctx context.Context, x slackmsg.Command, ok bool) socket.Answer {
	if p.o.Command == nil {
		return socket.Answer{Payload: noCommands}
	}
	ctx, cancel := context.WithTimeout(ctx, chooseTime)
	defer cancel()
	why := p.foreignTo(slackmsg.Interaction{App: x.App, Team: x.Team, Enterprise: x.Enterprise})
	if !ok {
		why = "not one of Slack's"
	}
	if why != "" {
		p.o.Log.Debug("a slash command is ignored", "why", why)
		return socket.Answer{}
	}
	say := func(k words.Key) socket.Answer { return alone(p.say(ctx, x.Channel, k)) }
	if !p.gate.isOpen() {
		return say(words.NotSent)
	}
	by, refused := p.chooser(ctx, slackmsg.Interaction{User: x.User})
	if refused != "" {
		return say(words.NotAllowed)
	}
	answer := say(words.NotSent)
	err := rescue.HandleEvent(p.o.Log, func() (err error) {
		answer, err = p.do(ctx, x, by)
		return err
	}, "type", "slash_commands")
	if err != nil {
		p.o.Log.Error("a slash command failed", "channel", x.Channel, "err", err)
		return say(words.NotSent)
	}
	return answer
}

// do does what a slash command says: the first word of its text, or it is a question.
func (p *Platform) do(ctx context.Context, x slackmsg.Command, by earshot.Author) (socket.Answer, error) {
	text := strings.TrimSpace(x.Text)
	word, rest := text, ""
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		word, rest = text[:i], strings.TrimSpace(text[i:])
	}
	name := strings.ToLower(word)
	switch {
	case name == bot.CommandAsk && rest != "":
		say, _ := p.ask(ctx, x.Channel, "", by, rest)
		return alone(say), nil
	case name == bot.CommandForget && rest == "":
		return p.openForm(ctx, formToOpen{
			trigger: x.Trigger, callback: forgetCallback, title: p.say(ctx, x.Channel, words.ForgetTitle), private: formPlace{Channel: x.Channel}, channel: x.Channel,
			submit: words.Erase, text: p.say(ctx, x.Channel, words.ForgetText),
		}, func() socket.Answer { return alone(p.say(ctx, x.Channel, words.NoForm)) }), nil
	case rest == "" && (name == bot.CommandStop || name == bot.CommandWhy):
	case name == "", name == bot.CommandAsk, name == bot.CommandHelp && rest == "":
		name = bot.CommandHelp
	default:
		say, _ := p.ask(ctx, x.Channel, "", by, x.Text)
		return alone(say), nil
	}
	say, err := p.o.Command(ctx, bot.Command{Name: name, Scope: p.scope(x.Channel), By: by, Prefix: x.Name + " "})
	return alone(say), err
}

// alone answers a slash command by a text that only who used it sees.
func alone(text string) socket.Answer {
	if text == "" {
		return socket.Answer{}
	}
	return socket.Answer{Payload: map[string]string{"response_type": "ephemeral", "text": markup.Write(text).Mrkdwn}}
}

// ask posts a question for who asks it, and returns what they are told; "" where it is posted.
// sure is false where nobody knows whether it was.
func (p *Platform) ask(ctx context.Context, c earshot.ChannelID, root earshot.MessageID, by earshot.Author, question string) (say string, sure bool) {
	question = strings.TrimSpace(question)
	if utf8.RuneCountInString(question) > maxWords {
		return p.say(ctx, c, words.LongQuestion, "number", strconv.Itoa(maxWords)), true
	}
	if say, err := p.o.Command(ctx, bot.Command{Name: bot.CommandAsk, Scope: p.scope(c), By: by}); say != "" || err != nil {
		return cmp.Or(say, p.say(ctx, c, words.NotSent)), true
	}
	args := url.Values{
		"channel": {string(c)}, "unfurl_links": {"false"}, "unfurl_media": {"false"},
		"metadata": {encoded(map[string]any{"event_type": slackmsg.QuestionType, "event_payload": map[string]any{slackmsg.QuestionBy: by.ID}})},
	}
	if root != "" {
		args.Set("thread_ts", string(root))
	}
	// No block of Markdown: the text is to be read back as it was written.
	args.Set("text", asksPrefix(by.ID)+strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(question))
	args.Set("parse", "none")
	args.Set("link_names", "false")
	_, err := p.client.Call(ctx, slackapi.Post, args)
	var not *bot.PostError
	switch {
	case err == nil:
		return "", true
	case slackapi.IsRefused(err, "not_in_channel", "channel_not_found", "is_archived"):
		return p.say(ctx, c, words.NotHere), true
	case errors.As(postError(err), &not):
		p.o.Log.Warn("a question is not posted", "channel", c, "err", err)
		return p.say(ctx, c, words.NotSent), true
	}
	p.o.Log.Warn("whether a question is posted is not known", "channel", c, "err", err)
	return p.say(context.WithoutCancel(ctx), c, words.PerhapsSent), false
}

// asksPrefix stands before a question that we post.
func asksPrefix(by earshot.AuthorID) string { return "<@" + string(by) + ">: " }

// attribute makes the message of who asks of a question that we have posted for them: it is to
// us, and theirs.
func (p *Platform) attribute(ctx context.Context, d *slackmsg.DecodedMessage) {
	m := &d.Message
	if d.AskedBy == "" || m.Deleted || !p.identity.Is(m.Author.ID) {
		return
	}
	head, question, ok := strings.Cut(m.Text, ">: ")
	if id, _, _ := strings.Cut(head, "|"); !ok || id != "<@"+string(d.AskedBy) { // with the name that it was read with, or without
		return
	}
	m.Text, m.Mentions, m.Edited = "<@"+string(p.identity.ID)+"> "+question, []earshot.AuthorID{p.identity.ID}, 0
	if known, ok := p.names.author(ctx, d.AskedBy); ok {
		m.Author = known
	} else {
		m.Author = earshot.Author{ID: d.AskedBy, Kind: earshot.Human}
	}
	d.Form, d.Key, d.Whole = false, "", false
}

// A formToOpen is a form for one person.
type formToOpen struct {
	trigger, callback, title string
	private                  any // what comes back with it
	channel                  earshot.ChannelID
	submit                   words.Key
	text                     string // what stands in it; or
	label                    string // that of its field
	optional                 bool
}

// openForm opens a form. failed is what is answered where it does not open.
func (p *Platform) openForm(ctx context.Context, f formToOpen, failed func() socket.Answer) socket.Answer {
	title := tolerant.CutRunes(cmp.Or(strings.TrimSpace(f.title), p.identity.Name, "…"), maxTitle)
	in := sectionBlock(markup.Write(f.text).Mrkdwn)
	if f.label != "" {
		in = block{
			"type": "input", "block_id": formField, "label": plainText(f.label), "optional": f.optional,
			"element": block{"type": "plain_text_input", "action_id": formField, "multiline": true, "max_length": maxWords},
		}
	}
	view := block{
		"type": "modal", "callback_id": f.callback, "title": plainText(title), "submit": plainText(p.say(ctx, f.channel, f.submit)),
		"close": plainText(p.say(ctx, f.channel, words.Cancel)), "private_metadata": encoded(f.private), "blocks": []block{in},
	}
	_, err := p.client.Call(ctx, slackapi.OpenView, url.Values{"trigger_id": {f.trigger}, "view": {encoded(view)}})
	// A call that is repeated after its answer was lost is refused: the form is open.
	if err == nil || slackapi.IsRefused(err, "exchanged_trigger_id") {
		return socket.Answer{}
	}
	p.o.Log.Warn("a form does not open", "channel", f.channel, "form", f.callback, "err", err)
	return failed()
}

// interactCommand takes the shortcut and the forms of commands. ok is false for everything else.
func (p *Platform) interactCommand(ctx context.Context, x slackmsg.Interaction) (answer socket.Answer, ok bool) {
	if p.o.Command == nil || x.User == "" || !p.gate.isOpen() || x.Form != askShortcut && x.Form != forgetCallback {
		return answer, false
	}
	if why := p.foreignTo(x); why != "" {
		p.o.Log.Debug("an interaction is ignored", "type", slackapi.SafeWord(x.Type, "_"), "why", why)
		return answer, true
	}
	by, refused := p.chooser(ctx, x)
	at := formPlace{Channel: x.Channel, Message: x.Message, Thread: x.Thread}
	if x.Type == "view_submission" {
		at = formPlace{}
		if json.Unmarshal([]byte(x.Private), &at) != nil || !slackmsg.IsID(string(at.Channel)) {
			return answer, true
		}
	}
	switch {
	case at.Channel == "":
	case refused != "":
		answer = p.told(clicked{Interaction: slackmsg.Interaction{User: x.User, Channel: at.Channel}}, p.say(ctx, at.Channel, words.NotAllowed))
	case x.Type == "message_action" && x.Form == askShortcut:
		at.Message = cmp.Or(at.Thread, at.Message)
		c := clicked{Interaction: x}
		answer = p.openForm(ctx, formToOpen{
			trigger: x.Trigger, callback: askShortcut, title: p.say(ctx, x.Channel, words.AskTitle), private: at, channel: x.Channel, submit: words.Send, label: p.say(ctx, x.Channel, words.YourQuestion),
		}, func() socket.Answer { return p.told(c, p.say(ctx, x.Channel, words.NoForm)) })
	case x.Type == "view_submission" && x.Form == askShortcut && slackmsg.IsStamp(string(at.Message)):
		switch say, sure := p.ask(ctx, at.Channel, at.Message, by, x.Fields[formField]); {
		case say == "":
		case sure: // the form stays, with its words
			answer.Payload = map[string]any{"response_action": "errors", "errors": map[string]string{formField: say}}
		default:
			answer = p.told(clicked{Interaction: slackmsg.Interaction{User: x.User, Channel: at.Channel, Thread: at.Message}}, say)
		}
	case x.Type == "view_submission" && x.Form == forgetCallback:
		answer = p.forget(ctx, by, at.Channel)
	}
	return answer, true
}

// forget begins to erase what somebody said, and shows what came of that in the form's place.
func (p *Platform) forget(ctx context.Context, by earshot.Author, c earshot.ChannelID) socket.Answer {
	text, err := p.o.Command(ctx, bot.Command{Name: bot.CommandForget, Scope: p.scope(c), By: by})
	if err != nil {
		p.o.Log.Error("an erasure does not begin", "err", err)
		text = p.say(ctx, c, words.NotSent)
	}
	return socket.Answer{Payload: map[string]any{"response_action": "update", "view": block{
		"type": "modal", "callback_id": forgetCallback + "_done", "title": plainText(tolerant.CutRunes(p.say(ctx, c, words.ForgetTitle), maxTitle)),
		"blocks": []block{sectionBlock(markup.Write(text).Mrkdwn)},
	}}}
}
