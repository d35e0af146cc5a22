package daemon_test

import (
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate"
)

// has checks that a prompt holds each line once, and lacks others.
func (x *botWorld) has(prompt string, lines ...string) {
	x.t.Helper()
	for _, line := range lines {
		if strings.Count("\n"+prompt+"\n", "\n"+line+"\n") != 1 {
			x.t.Errorf("the line %q does not stand once in:\n%s", line, prompt)
		}
	}
}

func (x *botWorld) lacks(prompt string, texts ...string) {
	x.t.Helper()
	for _, text := range texts {
		if strings.Contains(prompt, text) {
			x.t.Errorf("%q stands in:\n%s", text, prompt)
		}
	}
}

// TestSlackTellsAnOpenSessionOfPreviewsAndReactions: the preview of a link comes a
// second after its message, and reactions at any time. The session's next turn has both,
// with who reacted, also those who never said a word and those who reacted to the bot's
// own answer; the turn after it has neither again.
func TestSlackTellsAnOpenSessionOfPreviewsAndReactions(t *testing.T) {
	transports(t, func(t *testing.T, by transport) {
		x := newSlackWorld(t, modeltest.StartScripted(t, slackScript), by, nil)
		x.knows()
		cyd := x.AddUser(simulate.User{Name: "cyd", RealName: "Cyd"})
		x.Join(x.general, cyd) // who never says a word
		x.start()
		const link = "https://wiki.example/lock"
		root := x.Say(x.general, x.ann, x.at("what does "+link+" say?"))
		x.ends(earshot.TurnDone)
		x.lacks(x.prompt(), "+ link preview")
		x.UnfurlEdit(x.general, root, link, "Locks", "The lock table holds 400 rows.")
		x.React(x.general, root, x.bob, "eyes")
		x.React(x.general, root, cyd, "eyes")
		answers := x.Thread(x.general, root)
		x.React(x.general, answers[len(answers)-1].TS, x.ann, "+1")
		x.settled()
		x.Reply(x.general, root, x.ann, x.at("now?"))
		x.ends(earshot.TurnDone)
		p := x.prompt()
		x.has(p, "[new about messages above]", "    Locks", "    The lock table holds 400 rows.", "+ reactions now: :eyes: 2 (Bob, Cyd)", "+ reactions now: :+1: 1 (Ann)")
		x.lacks(p, "(edited)")
		x.Unreact(x.general, root, x.bob, "eyes")
		x.settled()
		x.Reply(x.general, root, x.ann, x.at("and now?"))
		x.ends(earshot.TurnDone)
		x.has(x.prompt(), "+ reactions now: :eyes: 1 (Cyd)")
		x.lacks(x.prompt(), "lock table", ":+1:")
	})
}

// TestDiscordTellsAnOpenSessionOfPreviewsAndReactions: likewise, where an embed is
// Discord's preview.
func TestDiscordTellsAnOpenSessionOfPreviewsAndReactions(t *testing.T) {
	t.Parallel()
	x := newDiscordWorld(t, modeltest.StartScripted(t, discordScript()), nil)
	x.start()
	const link = "https://wiki.example/lock"
	root := x.Say(x.general, x.ann, x.at("what does "+link+" say?"))
	x.ends(earshot.TurnDone)
	x.lacks(x.prompt(), "+ link preview")
	answer := x.answers(x.general, root)[0].ID
	x.Embed(x.general, root, map[string]any{"type": "link", "url": link, "title": "Locks", "description": "The lock table holds 400 rows.", "provider": map[string]any{"name": "wiki"}})
	x.React(x.general, root, x.bob, "👀")
	x.React(x.general, answer, x.ann, "👍")
	x.settled()
	x.Reply(x.general, answer, x.ann, x.at("now?"))
	x.ends(earshot.TurnDone)
	p := x.prompt()
	x.has(p, "[new about messages above]", "    The lock table holds 400 rows.", "+ reactions now: :👀: 1 (Bob)", "+ reactions now: :👍: 1 (Ann)")
	x.lacks(p, "(edited)")
}
