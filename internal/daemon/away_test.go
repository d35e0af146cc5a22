package daemon_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate"
)

// later sets the daemon's clock an hour ahead at its next start, as after a downtime
// of an hour.
func (x *botWorld) later() {
	x.options.Outside.Now = func() time.Time { return time.Now().Add(time.Hour) }
}

// TestWhoAskedDuringADowntimeOfSlackLearnsThatNobodyAnswers has questions that are read
// from history an hour after they were asked: each person is told in each channel, once,
// also by the next daemon, and nobody else sees it.
func TestWhoAskedDuringADowntimeOfSlackLearnsThatNobodyAnswers(t *testing.T) {
	t.Parallel()
	server := modeltest.StartScripted(t, script, slackScript)
	for _, notice := range []bool{true, false} {
		t.Run(fmt.Sprintf("away_notice %v", notice), func(t *testing.T) {
			t.Parallel()
			x := newSlackWorld(t, server, bySocket, nil, fmt.Sprintf("EARSHOT_AWAY_NOTICE=%v", notice))
			x.start()
			root := x.Say(x.general, x.ann, x.at("shall we begin?"))
			x.ends(earshot.TurnDone)
			x.settled()
			x.stop()
			var questions []string
			for range 2 {
				questions = append(questions, x.Post(simulate.PostedMessage{Channel: x.general, User: x.bob, Text: x.at("did you hear?"), Mute: true}))
			}
			questions = append(questions, x.Post(simulate.PostedMessage{Channel: x.general, Thread: root, User: x.ann, Text: x.at("are you there?"), Mute: true}))
			x.later()
			x.start()
			if notice {
				for range questions {
					if r := x.ends(earshot.TurnDropped); !strings.HasPrefix(r.Turn.Why, "stale: ") {
						t.Errorf("dropped: %s", r.Turn.Why)
					}
				}
			}
			x.settled()
			x.stop()
			x.start() // another daemon
			x.Reply(x.general, root, x.ann, x.at("and now?"))
			x.ends(earshot.TurnDropped) // by its clock that is an hour old too
			var got []string
			for _, e := range x.Ephemerals() {
				if e.Text != "I was away when you asked; ask again if it still matters." {
					t.Errorf("somebody is told %q", e.Text)
				}
				got = append(got, e.User)
			}
			var want []string
			if notice {
				want = []string{x.ann, x.bob}
			}
			slices.Sort(got)
			if diff := gocmp.Diff(got, want); diff != "" {
				t.Errorf("told (-got +want):\n%s", diff)
			}
			for _, q := range append(questions, root) {
				if n := len(x.said(q)); q != root && n != 0 || q == root && n != 1 {
					t.Errorf("%d messages of the bot are seen under %s", n, q)
				}
			}
		})
	}
}

// TestWhoAskedDuringADowntimeOfDiscordSeesAnEmoji has Discord replay to the next daemon
// what was asked.
func TestWhoAskedDuringADowntimeOfDiscordSeesAnEmoji(t *testing.T) {
	t.Parallel()
	x := newDiscordWorld(t, modeltest.StartScripted(t, script, discordScript()), nil)
	x.start()
	x.ask(x.general, x.ann, "shall we begin?")
	x.settled()
	x.stop()
	first := x.Say(x.general, x.bob, x.at("did you hear?"))
	second := x.Say(x.general, x.bob, x.at("anybody?"))
	third := x.Say(x.general, x.cyd, x.at("are you there?"))
	x.later()
	x.start()
	for range 3 {
		x.ends(earshot.TurnDropped)
	}
	x.settled()
	got := map[string]map[string]int{}
	for _, m := range x.Messages(x.general) {
		if len(m.Reactions) > 0 {
			got[m.ID] = m.Reactions
		}
	}
	if diff := gocmp.Diff(got[third], map[string]int{"💤": 1}); diff != "" || len(got) != 2 || got[first]["💤"]+got[second]["💤"] != 1 {
		t.Errorf("the questions have the reactions %v, want one of each person's", got)
	}
	if n := len(x.Posts()); n != 1 {
		t.Errorf("%d messages of the bot are seen, want the answer from before", n)
	}
}
