package history_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/history"
)

func TestAppendIsIdempotentAndEditsWinInAnyOrder(t *testing.T) {
	t.Parallel()
	everyStore(t, func(t *testing.T, st history.Store) {
		h := of(t, st, ops, history.Options{})
		first := said(1, "U1", "first")
		if got := add(t, h, channel, first)[0].Change; got != earshot.New {
			t.Errorf("got %s, want new", got)
		}
		for range 100 {
			if got := add(t, h, channel, first)[0].Change; got != earshot.Same {
				t.Fatalf("got %s, want same", got)
			}
		}
		versions := []earshot.Message{edited(first, 5, "fifth"), edited(first, 3, "third"), edited(first, 4, "fourth"), first}
		rand.Shuffle(len(versions), func(i, j int) { versions[i], versions[j] = versions[j], versions[i] })
		for _, v := range versions {
			add(t, h, channel, v)
		}
		list, err := h.Get(t.Context(), channel, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(texts(list), []string{"fifth"}); diff != "" {
			t.Errorf("-got +want:\n%s", diff)
		}
	})
}

func TestAnAnswerThatIsAppendedAgainIsOneTurn(t *testing.T) {
	t.Parallel()
	everyWhole(t, func(t *testing.T, st earshot.Store) {
		h := of(t, st, ops, history.Options{})
		for range 100 {
			add(t, h, channel, said(1, "U1", "up?"), answers(2, "A-ops", "yes", 1))
		}
		list, err := st.Turns(t.Context(), earshot.ConversationID{Agent: "A-ops", Scope: channel.Channel.Scope(), Name: "top"}, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != 1 || list[0].Answer.Anchor != "m1" || !slices.Equal(list[0].Answer.Replies, []earshot.MessageID{"m2"}) {
			t.Errorf("got %+v, want one turn from m1 to m2", list)
		}
	})
}

func TestGetNarrows(t *testing.T) {
	t.Parallel()
	everyStore(t, func(t *testing.T, st history.Store) {
		h := of(t, st, ops, history.Options{})
		thread := channel.InThread("m2")
		add(t, h, channel, said(1, "U1", "one"), said(2, "U2", "two"), said(4, "A-ops", "four"), said(6, "B-ops", "six"))
		add(t, h, thread, said(3, "U1", "three"), said(5, "U2", "five"))
		add(t, h, dm, said(1, "U1", "in private"))
		for _, c := range []struct {
			name string
			in   history.Conversation
			q    *history.Query
			want []string
		}{
			{"a channel is its top level", channel, nil, []string{"one", "two", "four", "six"}},
			{"with its threads", channel, &history.Query{Threads: true}, []string{"one", "two", "three", "four", "five", "six"}},
			{"a thread has its root", thread, nil, []string{"two", "three", "five"}},
			{"a DM", dm, nil, []string{"in private"}},
			{"the newest", channel, &history.Query{Limit: 1}, []string{"six"}},
			{"since a time", channel, &history.Query{Since: at(2)}, []string{"two", "four", "six"}},
			{"of participants", channel, &history.Query{Participants: []earshot.AuthorID{"U1", "U2"}}, []string{"one", "two"}},
			{"the newest of a participant", channel, &history.Query{Participants: []earshot.AuthorID{"U1"}, Limit: 1}, []string{"one"}},
			{"the agent with its aliases", channel, &history.Query{Participants: []earshot.AuthorID{"A-ops"}}, []string{"four", "six"}},
			{"a conversation that is not stored", channel.InThread("m9"), nil, []string{}},
		} {
			list, err := h.Get(t.Context(), c.in, c.q)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(texts(list), c.want); diff != "" {
				t.Errorf("%s: -got +want:\n%s", c.name, diff)
			}
		}
	})
}

func TestGetFindsAParticipantBehindManyOthers(t *testing.T) {
	t.Parallel()
	h := of(t, open(t, "memory:"), ops, history.Options{})
	list := []earshot.Message{said(0, "U1", "the first")}
	for i := range 1000 {
		list = append(list, said(i+1, "U2", "noise"))
	}
	add(t, h, channel, list...)
	for _, limit := range []int{1, 2, 1000} {
		got, err := h.Get(t.Context(), channel, &history.Query{Participants: []earshot.AuthorID{"U1"}, Limit: limit})
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || got[0].ID != "m0" {
			t.Errorf("limit %d: got %v, want m0", limit, texts(got))
		}
	}
}

func TestWhatIsDeletedStaysDeletedAndIsNowhere(t *testing.T) {
	t.Parallel()
	everyStore(t, func(t *testing.T, st history.Store) {
		h := of(t, st, ops, history.Options{})
		secret, never := said(1, "U1", "<@A-ops> the password is marzipan"), said(2, "U1", "said later")
		add(t, h, channel, secret, said(3, "U1", "<@A-ops> hello?"))
		if err := h.Delete(t.Context(), channel, secret.ID, never.ID); err != nil {
			t.Fatal(err)
		}
		add(t, h, channel, secret, edited(secret, 9, "marzipan again"), never)
		list, err := h.Get(t.Context(), channel, nil)
		if err != nil {
			t.Fatal(err)
		}
		found, err := h.Search(t.Context(), channel, "marzipan", nil)
		if err != nil {
			t.Fatal(err)
		}
		if p := prompt(t, h, channel, "m3"); len(list) != 1 || len(found.Hits) != 0 || strings.Contains(p, "marzipan") {
			t.Errorf("got %v, %v and the prompt\n%s\nwant m3 alone", texts(list), found.Hits, p)
		}
	})
}

func TestDeleteReachesNoOtherConversation(t *testing.T) {
	t.Parallel()
	h := of(t, open(t, "memory:"), ops, history.Options{})
	add(t, h, channel, said(1, "U1", "one"))
	if err := h.Delete(t.Context(), channel.InThread("m9"), "m1"); !errors.Is(err, earshot.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if list, err := h.Get(t.Context(), channel, nil); err != nil || len(list) != 1 {
		t.Errorf("got %v, %v, want the message", texts(list), err)
	}
}

func TestAnEditOrADeletionReachesNoOtherThread(t *testing.T) {
	t.Parallel()
	everyStore(t, func(t *testing.T, st history.Store) {
		h := of(t, st, ops, history.Options{})
		first, second := channel.InThread("m1"), channel.InThread("m2")
		add(t, h, channel, said(1, "Alice", "one"), said(2, "Alice", "two"), said(3, "Alice", "top"))
		add(t, h, first, said(4, "Alice", "in the first"))
		gone := said(4, "Alice", "")
		gone.Deleted = true
		for name, m := range map[string]earshot.Message{
			"an edit":                        edited(said(4, "Alice", ""), 9, "moved"),
			"a deletion":                     gone,
			"an edit of the top level's":     edited(said(3, "Alice", ""), 9, "moved"),
			"a deletion among other threads": {ID: "m1", Deleted: true},
		} {
			if _, err := h.Append(t.Context(), second, said(8, "Alice", "with it"), m); !errors.Is(err, earshot.ErrInvalid) {
				t.Errorf("%s: got %v, want ErrInvalid", name, err)
			}
		}
		for c, want := range map[history.Conversation][]string{first: {"one", "in the first"}, second: {"two"}, channel: {"one", "two", "top"}} {
			list, err := h.Get(t.Context(), c, nil)
			if diff := cmp.Diff(texts(list), want); diff != "" || err != nil {
				t.Errorf("thread %q, %v, -got +want:\n%s", c.Thread, err, diff)
			}
		}
		add(t, h, second, edited(said(2, "Alice", ""), 9, "two, corrected")) // a root is of both
	})
}

func TestErrorsNameTheRemedy(t *testing.T) {
	t.Parallel()
	h := of(t, open(t, "memory:"), ops, history.Options{Limit: 20, Instructions: strings.Repeat("be brief ", 100)})
	noID, noAuthor, elsewhere := said(1, "U1", "x"), said(1, "U1", "x"), said(1, "U1", "x")
	noID.ID, noAuthor.Author.ID, elsewhere.Thread = "", "", "m7"
	_, unknown := h.Prompt(t.Context(), channel, "m9")
	add(t, h, channel, said(2, "U1", "<@A-ops> why?"))
	_, small := h.Prompt(t.Context(), channel, "m2")
	_, otherThread := h.Prompt(t.Context(), channel.InThread("m1"), "m2")
	try := func(c history.Conversation, m earshot.Message) error {
		_, err := h.Append(t.Context(), c, m)
		return err
	}
	for _, c := range []struct {
		name string
		err  error
		is   error
		says string
	}{
		{"no id", try(channel, noID), earshot.ErrInvalid, "messages[0]: invalid: no id; give the platform's"},
		{"no author", try(channel, noAuthor), earshot.ErrInvalid, "no author id"},
		{"another thread", try(channel, elsewhere), earshot.ErrInvalid, "InThread"},
		{"no channel", try(history.Conversation{}, said(1, "U1", "x")), earshot.ErrInvalid, "any word will do"},
		{"an unknown kind", try(history.Conversation{Channel: earshot.Channel{Platform: "p", ID: "c", Kind: "room"}}, said(1, "U1", "x")), earshot.ErrInvalid, "use channel, dm or group"},
		{"an unknown question", unknown, earshot.ErrNotFound, "Append it first"},
		{"a question of another thread", otherThread, earshot.ErrNotFound, "Append it first"},
		{"too small a limit", small, assemble.ErrBudgetTooSmall, "20"},
	} {
		if !errors.Is(c.err, c.is) || !strings.Contains(c.err.Error(), c.says) {
			t.Errorf("%s: got %v, want %v with %q", c.name, c.err, c.is, c.says)
		}
	}
}

func TestConcurrentUseLosesNothing(t *testing.T) {
	t.Parallel()
	everyStore(t, func(t *testing.T, st history.Store) {
		agents := []*history.History{of(t, st, ops, history.Options{}), of(t, st, desk, history.Options{SummariseAfter: 4})}
		var wg sync.WaitGroup
		const workers, each = 8, 12
		for w := range workers {
			wg.Go(func() {
				h, name := agents[w%2], []string{"A-ops", "A-desk"}[w%2]
				for i := range each {
					q := said(1000*w+2*i, fmt.Sprint("U", w), "how is it")
					_, err := h.Append(t.Context(), channel, q)
					if err == nil {
						_, err = h.Prompt(t.Context(), channel, q.ID)
					}
					if err == nil {
						_, err = h.Append(t.Context(), channel, answers(1000*w+2*i+1, name, "well", 1000*w+2*i))
					}
					if err == nil {
						_, err = h.Search(t.Context(), channel, "well", nil)
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		list, err := agents[0].Get(t.Context(), channel, &history.Query{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if len(list) != 2*workers*each {
			t.Errorf("got %d messages, want %d", len(list), 2*workers*each)
		}
		for _, h := range agents {
			if f := h.Failures(); f.Last != nil {
				t.Errorf("got %+v, want no failure", f)
			}
		}
	})
}
