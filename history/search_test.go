package history_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/history"
)

func TestSearchStaysInItsConversation(t *testing.T) {
	t.Parallel()
	everyStore(t, func(t *testing.T, st history.Store) {
		h := of(t, st, ops, history.Options{})
		thread := channel.InThread("m1")
		add(t, h, channel, said(1, "Alice", "the root"), said(2, "Alice", "marmalade at the top"), said(7, "Bob", "marmalade again, the question"))
		add(t, h, thread, said(3, "Bob", "marmalade in the thread"))
		add(t, h, dm, said(4, "Bob", "marmalade in private"))
		for _, c := range []struct {
			name string
			in   history.Conversation
			o    *history.SearchOptions
			want []string
		}{
			{"the top level", channel, &history.SearchOptions{Before: "m7"}, []string{"marmalade at the top"}},
			{"the thread", thread, nil, []string{"marmalade in the thread"}},
			{"the DM", dm, nil, []string{"marmalade in private"}},
			{"of one person", channel, &history.SearchOptions{Participants: []earshot.AuthorID{"Bob"}}, []string{"marmalade again, the question"}},
			{"since a time", channel, &history.SearchOptions{Since: at(5)}, []string{"marmalade again, the question"}},
			{"a conversation that is not stored", channel.InThread("m99"), nil, []string{}},
		} {
			found, err := h.Search(t.Context(), c.in, "marmalade", c.o)
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, hit := range found.Hits {
				got = append(got, hit.Message.Text)
			}
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("%s: -got +want:\n%s", c.name, diff)
			}
		}
	})
}

func TestSearchIsBounded(t *testing.T) {
	t.Parallel()
	h := of(t, open(t, "memory:"), ops, history.Options{})
	for i := range 30 {
		add(t, h, channel, said(i, "Alice", fmt.Sprintf("marmalade %d %s", i, strings.Repeat(fmt.Sprint("word", i, " "), 150))))
	}
	add(t, h, channel.InThread("m1"), said(40, "Bob", "jam"))
	for _, c := range []struct {
		name          string
		o             *history.SearchOptions
		hits, omitted int
		cut           bool
	}{
		{"10 hits and 2,000 tokens by default", nil, 7, 3, true},
		{"more tokens", &history.SearchOptions{Tokens: 100_000}, 10, 0, false},
		{"fewer hits", &history.SearchOptions{Limit: 2}, 2, 0, false},
		{"more hits", &history.SearchOptions{Limit: 20, Tokens: 100_000}, 20, 0, false},
		{"one that is too long is cut", &history.SearchOptions{Limit: 3, Tokens: 50}, 1, 2, true},
		{"no room", &history.SearchOptions{Limit: 3, Tokens: 5}, 0, 3, false},
	} {
		found, err := h.Search(t.Context(), channel, "marmalade", c.o)
		if err != nil {
			t.Fatal(err)
		}
		cut := len(found.Hits) > 0 && found.Hits[len(found.Hits)-1].Cut
		if len(found.Hits) != c.hits || found.Omitted != c.omitted || cut != c.cut {
			t.Errorf("%s: got %d hits, %d omitted, cut %v; want %d, %d, %v", c.name, len(found.Hits), found.Omitted, cut, c.hits, c.omitted, c.cut)
		}
		if most := 2000; c.o == nil && found.Tokens > most {
			t.Errorf("got %d tokens, want at most %d", found.Tokens, most)
		}
	}
}

func TestTheSearchToolWorksForItsConversationOnly(t *testing.T) {
	t.Parallel()
	everyStore(t, func(t *testing.T, st history.Store) {
		h, other := of(t, st, ops, history.Options{}), of(t, st, desk, history.Options{})
		add(t, h, channel, said(1, "Alice", "marmalade is on the\u202e list"), said(2, "A-ops", "marmalade noted"), said(9, "Alice", "<@A-ops> marmalade?"))
		add(t, other, channel, said(3, "A-desk", "marmalade ordered"))
		add(t, h, dm, said(4, "Bob", "marmalade in private"))
		tool := h.SearchTool(channel, &history.SearchOptions{Before: "m9"})
		if tool.Name != "conversation_search" || tool.Schema == "" {
			t.Errorf("got %+v, want conversation_search with a schema", tool.Tool)
		}
		got, err := tool.Call(t.Context(), `{"query": "marmalade"}`)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{
			`{"message_id":"m1","ts":"2026-03-02T09:01:00Z","author":"Alice","text":"marmalade is on the list"}`,
			`{"message_id":"m2","ts":"2026-03-02T09:02:00Z","author":"ops","you":true,"text":"marmalade noted"}`,
			`{"message_id":"m3","ts":"2026-03-02T09:03:00Z","author":"desk","agent":true,"text":"marmalade ordered"}`,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("got %s, want in it %s", got, want)
			}
		}
		if strings.Contains(got, "private") || strings.Contains(got, "m9") {
			t.Errorf("got %s, want neither the DM nor the question", got)
		}
	})
}

func TestTheSearchToolRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	st := open(t, "memory:")
	h := of(t, st, ops, history.Options{})
	tool := h.SearchTool(channel, nil)
	for args, want := range map[string]string{
		``: "cannot be read", `[]`: "cannot be read", `{"query":"a","query":"b"}`: "cannot be read",
		`{}`: "query is missing", `{"query":"x","channel":"d"}`: "no other conversation can be reached",
		`{"query":"x","limit":0}`: "out of its bounds", `{"query":"x","limit":21}`: "give 1 to 20",
		`{"query":"` + strings.Repeat("x", 3000) + `"}`: "too long",
		`{"query":"x"}` + strings.Repeat(" ", 20_000):   "too long",
		`{"query":"no such thing"}`:                     `{"results":[]}`,
	} {
		got, err := tool.Call(t.Context(), args)
		if err != nil || !strings.Contains(got, want) {
			t.Errorf("%.40s: got %s, %v, want %q", args, got, err, want)
		}
	}
	ctx, gone := context.WithCancel(t.Context())
	gone()
	if _, err := tool.Call(ctx, `{"query":"x"}`); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the error of ctx", err)
	}
}
