package sidecar_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/counted"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

// Who asks again and again for a question that somebody else answers is told so without
// a context being made: that reads the whole channel.
func TestAClaimIsRefusedBeforeTheContextIsMade(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	stored, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	st := counted.New(stored)
	s := sidecar.New(st, search.New(st, nil), nil, sidecar.Options{})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ops := earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Name: "ops", Kind: earshot.KindChannel}
	must(st.PutChannel(ctx, ops))
	_, err = s.PutAgent(ctx, everyone, visible.Agent{Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"}, Workspace: "T1"})
	must(err)
	for i := range 100 {
		_, err = st.Record(ctx, ops.Scope(), earshot.Message{
			ID: earshot.MessageID(fmt.Sprint("m", i)), Time: earshot.Time(1_772_442_000_000_000 + int64(i)*1e6), Author: alice, Text: fmt.Sprint("<@U0BOT> is mirror ", i, " slow?"),
		})
		must(err)
	}
	open := func() error {
		_, err := s.Context(ctx, everyone, sidecar.ContextRequest{Channel: visible.Place{Channel: "C1"}, Anchor: "m99", Agent: "U0BOT", Open: true})
		return err
	}
	st.Reset(nil)
	must(open())
	if _, rows := st.Counts(); rows < 100 {
		t.Fatalf("a context reads %d rows", rows)
	}
	st.Reset(nil)
	var taken *sidecar.Taken
	if err := open(); !errors.As(err, &taken) || taken.Reason != sidecar.Answering {
		t.Errorf("got %v, want that it is being answered", err)
	}
	if _, rows := st.Counts(); rows > 10 {
		t.Errorf("the refusal read %d rows", rows)
	}
}
