package slack_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/simulate"
)

// approval are the choices of most tests.
var approval = []bot.Choice{
	{ID: "yes", Label: "Go ahead", Style: bot.ChoiceDo},
	{ID: "no", Label: "No", Style: bot.ChoiceDanger, Words: "Why not?"},
	{ID: "ask", Label: "Ask back", Words: "What do you want to know?", Required: true},
}

var _ bot.Chooser = (*slack.Platform)(nil)

var approvalButtons = []simulate.Button{
	{Label: "Go ahead", Action: "earshot_choice_yes", Style: "primary"},
	{Label: "No", Action: "earshot_choice_no", Style: "danger"},
	{Label: "Ask back", Action: "earshot_choice_ask"},
}

// A message with choices is the text as ever and a button for each, whether Slack takes
// Markdown or not; without choices the buttons go. The text is read once.
func TestChoicesAreButtonsBelowTheText(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]bool{"Markdown": false, "mrkdwn, where Slack refuses Markdown": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newSpeaker(t, nil)
			refuse := func(method string) {
				if refused {
					x.slack.Inject(simulate.Fault{Kind: simulate.APIError, Error: "invalid_blocks", On: method, Times: 1})
				}
			}
			d := bot.Draft{Place: x.asked(t, x.general, "", "close the gate?"), Text: "May I call `close_gate`?\n\n**gate**: 4", Key: "k1", Choices: approval}
			refuse("chat.postMessage")
			m, err := x.Post(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			x.shows(t, m.ID, "May I call `close_gate`?", approvalButtons)
			if found, err := x.Find(t.Context(), d); err != nil || found.ID != m.ID {
				t.Errorf("found %v %v, want %s", found, err, m.ID)
			}
			d.Text = "May I call `open_gate`?"
			refuse("chat.update")
			if err := x.Update(t.Context(), d, m.ID); err != nil {
				t.Fatal(err)
			}
			x.shows(t, m.ID, "May I call `open_gate`?", approvalButtons)
			d.Text, d.Choices = "Mara has agreed.", nil
			if err := x.Update(t.Context(), d, m.ID); err != nil {
				t.Fatal(err)
			}
			x.shows(t, m.ID, "Mara has agreed.", nil)
		})
	}
}

// shows checks what people and history see of a message.
func (x *speaker) shows(t *testing.T, id earshot.MessageID, text string, buttons []simulate.Button) {
	t.Helper()
	for _, m := range x.slack.Messages(x.general) {
		if m.TS != string(id) {
			continue
		}
		if diff := cmp.Diff(buttons, m.Buttons); diff != "" || !strings.HasPrefix(m.Text, text) {
			t.Errorf("people see %q (buttons -want +got):\n%s", m.Text, diff)
		}
	}
	raw := x.raw(t, id)
	d, err := slackmsg.Decode(raw, slackmsg.Names{})
	if err != nil || len(d.Notes) > 0 || !strings.HasPrefix(d.Message.Text, text) || strings.Count(d.Message.Text, text) != 1 || strings.Contains(d.Message.Text, "Go ahead") || slackmsg.Key(raw) != "k1" {
		t.Errorf("history is read as %q with the key %q, notes %q: %v", d.Message.Text, slackmsg.Key(raw), d.Notes, err)
	}
}

// raw returns a message as the fake Slack's history has it.
func (x *speaker) raw(t *testing.T, id earshot.MessageID) json.RawMessage {
	t.Helper()
	c := slackapi.New(slackapi.Options{URL: x.slack.URL() + "/api/", Token: secret.New(x.slack.App().BotToken)})
	raw, err := c.Call(t.Context(), slackapi.Replies, url.Values{"channel": {x.general}, "ts": {string(id)}, "include_all_metadata": {"true"}})
	var answer struct{ Messages []json.RawMessage }
	if err == nil {
		err = json.Unmarshal(raw, &answer)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range answer.Messages {
		if is, _, _ := slackmsg.Stamp(m); is == id {
			return m
		}
	}
	t.Fatalf("no message %s in %s", id, raw)
	return nil
}

// The longest text that Slack takes loses no character where it has to stand in sections,
// and comes back from history as it was.
func TestALongTextWithChoicesIsWhole(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{"lines": strings.Repeat("wörter ", 12) + "end", "one line": strings.Repeat("wörter ", 600), "one word": strings.Repeat("ö", 5000)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newSpeaker(t, nil)
			x.slack.Inject(simulate.Fault{Kind: simulate.APIError, Error: "invalid_blocks", On: "chat.postMessage", Times: 1})
			text := strings.TrimSpace(string([]rune(strings.Repeat(line+"\n", 60))[:x.MaxText()]))
			m, err := x.Post(t.Context(), bot.Draft{Place: x.asked(t, x.general, "", "well?"), Text: text, Key: "k1", Choices: approval})
			if err != nil {
				t.Fatal(err)
			}
			d, err := slackmsg.Decode(x.raw(t, m.ID), slackmsg.Names{})
			if err != nil {
				t.Fatal(err)
			}
			flat := func(s string) string { return strings.Join(strings.Fields(s), " ") }
			got, want := d.Message.Text, text
			if name == "one word" { // cut where there is no white space
				got = strings.ReplaceAll(got, "\n", "")
			}
			if diff := cmp.Diff(flat(want), flat(got)); diff != "" {
				t.Errorf("-posted +read:\n%s", diff)
			}
			if name == "lines" && got != want {
				t.Errorf("lines are broken elsewhere: %q", got)
			}
		})
	}
}

// A stream can have no buttons before its end: those of an answer that grows are left out,
// and the stream ends with those of its last text.
func TestChoicesOfAStream(t *testing.T) {
	t.Parallel()
	x := newSpeaker(t, func(_ *simulate.SlackOptions, o *slack.Options) { o.Reply = slack.ReplyStream })
	d := bot.Draft{Place: x.asked(t, x.general, "", "well?"), Text: "…", Key: "k1", Growing: true, Choices: approval[:1]}
	m, err := x.Post(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	d.Text, d.Growing, d.Choices = "It is done.", false, approval
	if err := x.Update(t.Context(), d, m.ID); err != nil {
		t.Fatal(err)
	}
	x.shows(t, m.ID, "It is done.", approvalButtons)
	if n := x.called(); n["chat.startStream"] != 1 || n["chat.stopStream"] != 1 || n["chat.postMessage"] != 0 || n["chat.update"] != 0 {
		t.Errorf("calls: %v", n)
	}
}
