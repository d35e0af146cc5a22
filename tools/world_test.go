package tools_test

import (
	"context"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tools"
)

var (
	self    = earshot.Identity{ID: "U0BOT", Name: "earshot"}
	general = earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}
	began   = earshot.Time(1_772_442_000_000_000)
)

const second = earshot.Time(1_000_000)

func open(t testing.TB) earshot.Store {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

func record(t testing.TB, st earshot.Messages, s earshot.Scope, list ...earshot.Message) {
	t.Helper()
	if _, err := st.Record(t.Context(), s, list...); err != nil {
		t.Fatal(err)
	}
}

func person(id, name string) earshot.Author {
	return earshot.Author{ID: earshot.AuthorID(id), Name: name, Kind: earshot.Human}
}

func call(t testing.TB, set *tools.Set, tool, args string) tools.Answer {
	t.Helper()
	got, err := set.Call(t.Context(), tool, args)
	if err != nil {
		t.Fatalf("%s(%s): %v", tool, args, err)
	}
	return got
}

// shows returns the ids of the messages that an answer shows.
func shows(a tools.Answer) []earshot.MessageID {
	var ids []earshot.MessageID
	for _, m := range a.Shows {
		ids = append(ids, m.ID)
	}
	return ids
}

// A teller is a store that also has what platforms told of a message beside
// its words: how long its thread is, and what it quotes.
type teller struct {
	earshot.Store
	told map[earshot.MessageID]earshot.Message
}

// telling records messages of a channel.
func telling(t testing.TB, st earshot.Store, s earshot.Scope, list ...earshot.Message) *teller {
	t.Helper()
	x := &teller{st, map[earshot.MessageID]earshot.Message{}}
	x.record(t, s, list...)
	return x
}

func (x *teller) record(t testing.TB, s earshot.Scope, list ...earshot.Message) {
	t.Helper()
	for _, m := range list {
		x.told[m.ID] = m
		m.Replies, m.Shared = nil, nil // what is told of them is told here
		record(t, x.Store, s, m)
	}
}

func (x *teller) tell(list []earshot.Message, err error) ([]earshot.Message, error) {
	for i, m := range list {
		if !m.Deleted {
			list[i].Replies, list[i].Shared = x.told[m.ID].Replies, x.told[m.ID].Shared
		}
	}
	return list, err
}

func (x *teller) ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error) {
	return x.tell(x.Store.ByID(ctx, s, ids...))
}

func (x *teller) Newest(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, upTo earshot.Position, limit int) ([]earshot.Message, error) {
	return x.tell(x.Store.Newest(ctx, s, part, upTo, limit))
}
