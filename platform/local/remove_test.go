package local_test

import (
	"errors"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/local"
)

func TestOnlyOurOwnMessageIsRemoved(t *testing.T) {
	t.Parallel()
	w := open(t)
	p, err := local.Open(t.Context(), w.store, nil)
	if err != nil {
		t.Fatal(err)
	}
	heard := say(t, w, local.NewMessage{As: "bob", Text: "@earshot hi"})
	channel := earshot.Channel{Platform: earshot.Local, Workspace: "local", ID: "general", Kind: earshot.KindChannel}
	place := bot.Place{Channel: channel, Anchor: heard.Message}
	ours, err := p.Post(t.Context(), bot.Draft{Place: place, Text: "hello", Key: "rKEY"})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second changes nothing
		if err := p.Remove(t.Context(), place, ours.ID); err != nil {
			t.Fatal(err)
		}
		if got, err := w.store.Message(t.Context(), channel.Scope(), ours.ID); err != nil || !got.Deleted || got.Text != "" {
			t.Errorf("after Remove the store has %+v, %v", got, err)
		}
	}
	if err := p.Remove(t.Context(), place, "never-posted"); err != nil {
		t.Errorf("one that is not there: %v", err)
	}
	var never *bot.PostError
	if err := p.Remove(t.Context(), place, heard.Message.ID); !errors.As(err, &never) || never.Retry != 0 {
		t.Errorf("Bob's message: %v, want that it can never be removed", err)
	}
}
