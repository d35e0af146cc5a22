package daemon_test

import (
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/model/modeltest"
)

// ambientScript decides about three messages, and answers what is asked. Later prompts show
// the earlier messages too: the first that fits counts.
const ambientScript = `{"fixtures": [
	{"match": {"userMessage": "who comes?"}, "response": {"toolCalls": [{"name": "stay_silent", "arguments": {"reason": "lunch"}}]}},
	{"match": {"userMessage": "1.4 is out!"}, "response": {"toolCalls": [{"name": "react", "arguments": {"emoji": "tada"}}]}},
	{"match": {"userMessage": "nobody called you"}, "response": {"toolCalls": [{"name": "speak", "arguments": {"reason": "it is known"}}]}},
	{"match": {"userMessage": "release notes go?"}, "response": {"content": "Into the wiki."}}
]}`

// ambientEnds says three things to nobody and checks what came of each: words, an emoji,
// nothing.
func ambientEnds(t *testing.T, x *botWorld, say func(text string), settled func()) {
	t.Helper()
	for _, c := range []struct{ text, why string }{
		{"where do the release notes go?", "ambient"},
		{"1.4 is out!", "ambient; reacted :tada:"},
		{"lunch at noon, who comes?", "ambient; silent: lunch"},
	} {
		say(c.text)
		if got := x.ends(earshot.TurnDone).Turn.Why; got != c.why {
			t.Errorf("%s: %s, want %s", c.text, got, c.why)
		}
		settled()
	}
}

// TestTheBotReadsAlongOnSlack in the channel that is named, and in no other.
func TestTheBotReadsAlongOnSlack(t *testing.T) {
	t.Parallel()
	x := newSlackWorld(t, modeltest.StartScripted(t, ambientScript), byHTTP, nil, "EARSHOT_ANSWER_AMBIENT=speak")
	x.environ = append(x.environ, "EARSHOT_AMBIENT_CHANNELS="+x.general)
	x.knows()
	x.start()
	var said []string
	ambientEnds(t, &x.botWorld, func(text string) { said = append(said, x.Say(x.general, x.ann, text)) }, x.settled)
	if got := x.said(said[0]); len(got) != 1 || got[0] != "Into the wiki." {
		t.Errorf("it said %q", got)
	}
	calls := x.Calls("reactions.add")
	if len(calls) != 1 || calls[0].Args["name"] != "tada" || calls[0].Args["timestamp"] != said[1] {
		t.Errorf("emoji: %+v", calls)
	}
	if n := len(x.said(said[1])) + len(x.said(said[2])); n > 0 || len(x.Calls("chat.postEphemeral")) > 0 {
		t.Errorf("it said %d things more", n)
	}
}

// TestTheBotReadsAlongOnDiscord likewise.
func TestTheBotReadsAlongOnDiscord(t *testing.T) {
	t.Parallel()
	x := newDiscordWorld(t, modeltest.StartScripted(t, ambientScript), nil, "EARSHOT_ANSWER_AMBIENT=speak")
	x.environ = append(x.environ, "EARSHOT_AMBIENT_CHANNELS="+x.general)
	x.start()
	var said []string
	ambientEnds(t, &x.botWorld, func(text string) { said = append(said, x.Say(x.general, x.ann, text)) }, x.settled)
	x.wantAnswers(x.general, said[0], "Into the wiki.")
	given := ""
	for _, m := range x.Messages(x.general) {
		for emoji := range m.Reactions {
			given += strings.TrimSpace(emoji + " " + m.ID)
		}
	}
	if given != "🎉 "+said[1] {
		t.Errorf("emoji: %q", given)
	}
}
