package discord_test

import (
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord"
	fake "github.com/earshot-ai/earshot/simulate/discord"
)

func TestAnEmojiAsks(t *testing.T) {
	t.Parallel()
	x := listen(t, func(_ *ear, _ *fake.Options, o *discord.Options) { o.Reactions = []string{"👀"} })
	x.start(nil, "")
	alert := x.fake.Say(x.general, x.sam, "billing is down")
	x.settle()
	x.fake.React(x.general, alert, x.mara, "👍")
	x.fake.React(x.general, alert, x.fake.App().UserID, "👀")
	x.fake.React(x.general, alert, x.mara, "👀")
	x.settle()
	list, err := x.store.QueuedTurns(t.Context(), earshot.TurnQuery{})
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	for _, q := range list {
		if string(q.Anchor) == alert {
			asked++
			if by, ok := q.AskedBy(); !ok || string(by.ID) != x.mara || by.Emoji != "👀" {
				t.Errorf("asked by %+v, %v: %+v", by, ok, q)
			}
		}
	}
	if asked != 1 {
		t.Errorf("%d turns, want one: %+v", asked, list)
	}
}
