package bot_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm/llmtest"
)

// Who may agree to a call: by id, as asker or member, and by a group that the platform knows.

func TestOnlyWhoMayAgreeDoes(t *testing.T) {
	t.Parallel()
	outsider, robot := bob, earshot.Author{ID: "U5", Kind: earshot.Bot}
	outsider.ID, outsider.Standing = "U4", earshot.External
	for _, c := range []struct {
		name string
		by   []string
		who  earshot.Author
		as   []string
		may  bool
	}{
		{"the asker", nil, alice, nil, true},
		{"somebody else", nil, bob, nil, false},
		{"somebody else, where members may", []string{"members"}, bob, nil, true},
		{"a program", []string{"members"}, robot, nil, false},
		{"the bot", []string{"members"}, earshot.Author{ID: self.ID}, nil, false},
		{"nobody", []string{"members", ""}, earshot.Author{}, nil, false},
		{"an outsider", []string{"members"}, outsider, nil, false},
		{"who is named", []string{"U2"}, bob, nil, true},
		{"the asker, who is not named", []string{"U2"}, alice, nil, false},
		{"one of a group", []string{"S1", "R7"}, bob, []string{"R7"}, true},
		{"one of another group", []string{"S1"}, bob, []string{"R7"}, false},
		{"an outsider of a group", []string{"R7"}, outsider, []string{"R7"}, false},
		{"whom the click alone calls an outsider", []string{"members"}, earshot.Author{ID: "U7", Standing: earshot.External}, nil, false},
		{"whom the list of who is answered does not name", []string{"members"}, earshot.Author{ID: "U6"}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			withApprovals(t, func(o *bot.Options, _ *tracker) {
				o.Approve.By, o.Trust = c.by, earshot.Trust{External: earshot.LaneInert}
				o.AllowList = func(context.Context, earshot.Scope, []earshot.AuthorID) (map[earshot.AuthorID]bool, error) {
					return map[earshot.AuthorID]bool{"U6": true}, nil
				}
			}, func(w *world, b *tracker, _ *llmtest.Model) {
				if err := w.store.PutAuthors(t.Context(), general.Platform, general.Workspace, outsider); err != nil {
					t.Fatal(err)
				}
				who := c.who
				if who.ID == outsider.ID {
					who.Standing = "" // the click does not say it, the profile does
				}
				told := w.choose(w.asked(b), "do", who, func(x *bot.Chosen) { x.Groups = c.as })
				w.rest(time.Second)
				if did := len(b.done()) == 1; did != c.may || (told == "") != c.may {
					t.Errorf("done %q, told %q", b.done(), told)
				}
				if !c.may {
					same(t, "turns", w.turns(), []string{"m1 waiting"})
				}
			}, llmtest.Call("create_issue", `{"text":"staging"}`), llmtest.Say("Opened."))
		})
	}
}

// A leads is a panel whose platform knows who is in the group S1: Bob.
type leads struct{ panel }

func (leads) InGroups(_ context.Context, _ earshot.Scope, who earshot.AuthorID, ids []string) (bool, error) {
	return who == bob.ID && slices.Contains(ids, "S1"), nil
}

// Slack tells no groups with a click, and no platform does with a word or an emoji.
func TestAPlatformIsAskedWhoIsInAGroup(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		decide func(w *world, ask posted)
		may    bool
	}{
		"a click":       {func(w *world, ask posted) { same(w.t, "told", w.choose(ask, "do", bob), "") }, true},
		"a word":        {func(w *world, _ posted) { w.say(general, bob, "m2", "<@U0BOT> yes", under("m1")) }, true},
		"an emoji":      {func(w *world, ask posted) { w.react(ask, bob, "+1") }, true},
		"somebody else": {func(w *world, ask posted) { w.choose(ask, "do", alice) }, false},
		"with other groups": {func(w *world, ask posted) {
			w.choose(ask, "do", bob, func(x *bot.Chosen) { x.Groups = []string{"S2"} })
		}, false},
		"somebody else by a word": {func(w *world, _ posted) { w.say(general, alice, "m2", "<@U0BOT> yes", under("m1")) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			withApprovals(t, func(o *bot.Options, _ *tracker) {
				o.Approve.By, o.Platform = []string{"S1"}, leads{o.Platform.(panel)}
			}, func(w *world, b *tracker, _ *llmtest.Model) {
				c.decide(w, w.asked(b))
				w.rest(10 * time.Second)
				if did := len(b.done()) == 1; did != c.may {
					t.Errorf("done %q, turns %q", b.done(), w.turns())
				}
			}, llmtest.Call("create_issue", `{"text":"staging"}`), llmtest.Say("Opened."), llmtest.Say("Opened."))
		})
	}
}
