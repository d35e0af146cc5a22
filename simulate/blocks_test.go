package simulate_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/simulate"
)

// What Slack refuses of blocks is refused here, by its limits (docs.slack.dev, Block Kit).
func TestBlocksThatSlackRefusesAreRefused(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{Tier: simulate.TierUnlimited})
	button := func(fields string) string {
		return `{"type":"actions","elements":[{"type":"button","action_id":"a","text":{"type":"plain_text","text":"Yes"}` + fields + `}]}`
	}
	long := func(n int) string { return strings.Repeat("é", n) }
	many := func(n int, one func(i int) string) string {
		var list []string
		for i := range n {
			list = append(list, one(i))
		}
		return strings.Join(list, ",")
	}
	numbered := func(i int) string {
		return `{"type":"button","action_id":"a` + strconv.Itoa(i) + `","text":{"type":"plain_text","text":"Yes"}}`
	}
	for name, c := range map[string]struct {
		blocks string
		taken  bool
	}{
		"a button":                        {button(``), true},
		"a button with all":               {button(`,"style":"primary","value":"` + long(2000) + `"`), true},
		"a value that is too long":        {button(`,"value":"` + long(2001) + `"`), false},
		"an empty value":                  {button(`,"value":""`), false},
		"a style that there is not":       {button(`,"style":"green"`), false},
		"a label of 75":                   {strings.Replace(button(``), "Yes", long(75), 1), true},
		"a label that is too long":        {strings.Replace(button(``), "Yes", long(76), 1), false},
		"a label in mrkdwn":               {strings.Replace(button(``), "plain_text", "mrkdwn", 1), false},
		"an action_id that is too long":   {strings.Replace(button(``), `"a"`, `"`+long(256)+`"`, 1), false},
		"25 buttons":                      {`{"type":"actions","elements":[` + many(25, numbered) + `]}`, true},
		"26 buttons":                      {`{"type":"actions","elements":[` + many(26, numbered) + `]}`, false},
		"no buttons":                      {`{"type":"actions","elements":[]}`, false},
		"one action_id twice in a block":  {`{"type":"actions","elements":[` + numbered(1) + `,` + numbered(1) + `]}`, false},
		"one action_id in two blocks":     {button(``) + `,` + button(``), true},
		"one block_id twice":              {`{"type":"divider","block_id":"b"},{"type":"divider","block_id":"b"}`, false},
		"a section of 3,000":              {`{"type":"section","text":{"type":"mrkdwn","text":"` + long(3000) + `"}}`, true},
		"a section that is too long":      {`{"type":"section","text":{"type":"mrkdwn","text":"` + long(3001) + `"}}`, false},
		"an empty section":                {`{"type":"section"}`, false},
		"Markdown that is too long":       {`{"type":"markdown","text":"` + long(7000) + `"},{"type":"markdown","text":"` + long(7000) + `"}`, false},
		"a block of a type that is not":   {`{"type":"buttons"}`, false},
		"more blocks than a message has":  {many(51, func(int) string { return `{"type":"divider"}` }), false},
		"as many blocks as a message has": {many(50, func(int) string { return `{"type":"divider"}` }), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for method, more := range map[string]map[string]string{"chat.postMessage": {}, "chat.postEphemeral": {"user": w.mara}} {
				args := map[string]string{"channel": w.general, "text": "text", "blocks": "[" + c.blocks + "]"}
				for k, v := range more {
					args[k] = v
				}
				got := call(t, w.Slack, method, args)
				if got["ok"] != c.taken || !c.taken && got["error"] != "invalid_blocks" {
					t.Errorf("%s: %v", method, got)
				}
			}
		})
	}
}

// An update that says nothing of blocks leaves those that the app has made.
func TestAnUpdateKeepsTheBlocksThatItDoesNotName(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	const blocks = `[{"type":"actions","elements":[{"type":"button","action_id":"yes","style":"danger","text":{"type":"plain_text","text":"Yes"}}]}]`
	ts, _ := call(t, w.Slack, "chat.postMessage", map[string]string{"channel": w.general, "text": "well?", "blocks": blocks})["ts"].(string)
	for _, c := range []struct {
		blocks string
		want   int
	}{{"", 1}, {"[]", 0}} {
		args := map[string]string{"channel": w.general, "ts": ts, "text": "done"}
		if c.blocks != "" {
			args["blocks"] = c.blocks
		}
		if got := call(t, w.Slack, "chat.update", args); got["ok"] != true {
			t.Fatal(got)
		}
		m := w.Messages(w.general)[0]
		if m.Text != "done" || len(m.Buttons) != c.want {
			t.Errorf("after an update with blocks %q the message is %+v, want %d buttons", c.blocks, m, c.want)
		}
		if c.want > 0 && m.Buttons[0] != (simulate.Button{Label: "Yes", Action: "yes", Style: "danger"}) {
			t.Errorf("the button is %+v", m.Buttons[0])
		}
	}
}
