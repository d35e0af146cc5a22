package bot_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

func TestNewNamesEveryMissingOptionInOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		options bot.Options
		want    string
	}{
		{"all", bot.Options{}, "Store, Model or Agent, Platform, Identity.ID, Counter or Count"},
		{"some", bot.Options{Model: &echo{}, Platform: &board{}, Identity: earshot.Identity{Name: "earshot"}}, "Store, Identity.ID, Counter or Count"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				want := "bot.New: required options are missing: " + c.want
				if got := fmt.Sprint(recover()); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}()
			bot.New(c.options)
		})
	}
}

// The caller may use its slices for something else once New has returned.
func TestNewCopiesTheOptions(t *testing.T) {
	t.Parallel()
	aliases := []earshot.AuthorID{"B0BOT"}
	change := func(o *bot.Options) { o.Identity.Aliases = aliases }
	in(t, change, func(w *world) {
		aliases[0] = alice.ID
		w.say(general, alice, "m1", "<@U0BOT> who am I?")
		w.rest(time.Second)
		same(t, "posts", w.board.all(), []string{"you said: Alice: @earshot who am I?"})
	})
}

func TestReadJournal(t *testing.T) {
	t.Parallel()
	steps := []earshot.Step{
		{N: 0, Kind: "files", Data: []byte(`[{"id":"F1","name":"a.png","message":"m1","why":"too large"}]`)},
		{N: 1, Kind: "answer"}, // erased
		{N: 2, Kind: "failed", Data: []byte("the model said nothing")},
		{N: 3, Kind: "again"},
	}
	got, err := bot.ReadJournal(steps)
	if err != nil {
		t.Fatal(err)
	}
	want := []bot.JournalEntry{
		{N: 0, Files: []bot.JournalFile{{ID: "F1", Name: "a.png", Why: "too large"}}}, {N: 1}, {N: 2, Failed: "the model said nothing"}, {N: 3},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := bot.ReadJournal([]earshot.Step{{N: 0, Kind: "newer", Data: []byte("{}")}}); err == nil {
		t.Error("a step of an unknown kind is read")
	}
}
