package history_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/history"
	"github.com/earshot-ai/earshot/store"
)

func shout(_ context.Context, text string) (string, error) { return strings.ToUpper(text), nil }

func TestCaptureStoresTheQuestionBeforeAndTheAnswerAfter(t *testing.T) {
	t.Parallel()
	everyWhole(t, func(t *testing.T, st earshot.Store) {
		h := of(t, st, ops, history.Options{})
		var seen string
		agent := func(ctx context.Context, c history.Conversation, q earshot.Message) (earshot.Message, error) {
			seen = prompt(t, h, c, q.ID)
			return earshot.Message{Text: "It waits for a lock."}, nil
		}
		reply, err := h.Capture(agent)(t.Context(), channel, said(1, "Alice", "why does it hang?"))
		if err != nil || reply.Text != "It waits for a lock." || seen != "user:\nAlice: why does it hang?\n" {
			t.Fatalf("got %+v, %v, and the agent saw %q", reply, err, seen)
		}
		add(t, h, channel, said(9, "Bob", "<@A-ops> and now?"))
		want := "user:\nAlice: why does it hang?\nassistant:\nIt waits for a lock.\nuser:\nBob: @ops and now?\n"
		if diff := cmp.Diff(prompt(t, h, channel, "m9"), want); diff != "" {
			t.Errorf("what was answered counts as addressed; -got +want:\n%s", diff)
		}
		if f := h.Failures(); f != (history.Failures{}) {
			t.Errorf("got %+v, want none", f)
		}
	})
}

func TestCaptureInAThreadAnswersInTheThread(t *testing.T) {
	t.Parallel()
	h := of(t, open(t, "memory:"), ops, history.Options{})
	thread := channel.InThread("m1")
	if _, err := h.Capture(history.Text(shout))(t.Context(), thread, said(2, "Alice", "hello")); err != nil {
		t.Fatal(err)
	}
	list, err := h.Get(t.Context(), thread, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(texts(list), []string{"hello", "HELLO"}); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
}

func TestAMessageWithoutIDAndTimeIsCaptured(t *testing.T) {
	t.Parallel()
	h := of(t, open(t, "memory:"), ops, history.Options{})
	answer := h.Capture(history.Text(shout))
	for range 3 {
		if _, err := answer(t.Context(), dm, earshot.Message{Author: earshot.Author{ID: "U1", Name: "Alice"}, Text: "hi"}); err != nil {
			t.Fatal(err)
		}
	}
	list, err := h.Get(t.Context(), dm, nil)
	if err != nil || len(list) != 6 {
		t.Errorf("got %v, %v, want three questions and three answers", texts(list), err)
	}
}

func TestAFailedWriteNeverBreaksTheAnswer(t *testing.T) {
	t.Parallel()
	const text = "the password is marzipan"
	down := errors.New("disk full")
	always := func(err error) func(int) error { return func(int) error { return err } }
	for _, c := range []struct {
		name   string
		fail   func(write int) error // of each write, counted from 1
		want   history.Failures
		stored []string
	}{
		{"all writes", always(down), history.Failures{Questions: 1, Replies: 1}, []string{}},
		{"the first, and the question is stored with the answer", func(n int) error {
			if n == 1 {
				return down
			}
			return nil
		}, history.Failures{Questions: 1}, []string{text, strings.ToUpper(text)}},
		{"the second", func(n int) error {
			if n == 2 {
				return down
			}
			return nil
		}, history.Failures{Replies: 1}, []string{text}},
		{"none", always(nil), history.Failures{}, []string{text, strings.ToUpper(text)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			n := 0
			st := broken{open(t, "memory:"), func(context.Context) error { n++; return c.fail(n) }}
			var log bytes.Buffer
			h := of(t, st, ops, history.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
			reply, err := h.Capture(history.Text(shout))(t.Context(), channel, said(1, "Alice", text))
			if err != nil || reply.Text != strings.ToUpper(text) {
				t.Errorf("got %q, %v, want the answer", reply.Text, err)
			}
			f := h.Failures()
			if failed := c.want != (history.Failures{}); failed != errors.Is(f.Last, down) || failed != !f.At.IsZero() || failed != strings.Contains(log.String(), "disk full") {
				t.Errorf("got the last failure %v at %v, and the log %q", f.Last, f.At, log.String())
			}
			f.Last, f.At = nil, time.Time{}
			if f != c.want || strings.Contains(strings.ToLower(log.String()), "marzipan") {
				t.Errorf("got %+v, want %+v, and the log\n%s", f, c.want, log.String())
			}
			list, err := h.Get(t.Context(), channel, nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(texts(list), c.stored); diff != "" {
				t.Errorf("-got +want:\n%s", diff)
			}
		})
	}
}

func TestAStoreThatHangsHoldsUpNoAnswer(t *testing.T) {
	t.Parallel()
	st := broken{open(t, "memory:"), func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }}
	h := of(t, st, ops, history.Options{WriteTime: time.Millisecond})
	reply, err := h.Capture(history.Text(shout))(t.Context(), channel, said(1, "Alice", "hello"))
	if err != nil || reply.Text != "HELLO" {
		t.Errorf("got %q, %v, want the answer", reply.Text, err)
	}
	if f := h.Failures(); f.Questions != 1 || f.Replies != 1 || !errors.Is(f.Last, context.DeadlineExceeded) {
		t.Errorf("got %+v, want one of each, over time", f)
	}
}

func TestAnAnswerIsStoredWhenItsCallerHasGone(t *testing.T) {
	t.Parallel()
	h := of(t, open(t, "memory:"), ops, history.Options{})
	ctx, gone := context.WithCancel(t.Context())
	agent := func(context.Context, string) (string, error) { gone(); return "yes", nil }
	if _, err := h.Capture(history.Text(agent))(ctx, channel, said(1, "Alice", "up?")); err != nil {
		t.Fatal(err)
	}
	list, err := h.Get(t.Context(), channel, nil)
	if err != nil || len(list) != 2 {
		t.Errorf("got %v, %v, want question and answer", texts(list), err)
	}
}

func TestAnAgentThatFailsOrIsSilentStoresNoAnswer(t *testing.T) {
	t.Parallel()
	own := errors.New("the model is away")
	for name, agent := range map[string]func(context.Context, string) (string, error){
		"fails":  func(context.Context, string) (string, error) { return "half an ans", own },
		"silent": func(context.Context, string) (string, error) { return "", nil },
	} {
		h := of(t, open(t, "memory:"), ops, history.Options{})
		_, err := h.Capture(history.Text(agent))(t.Context(), channel, said(1, "Alice", "up?"))
		if want := name == "fails"; want != errors.Is(err, own) {
			t.Errorf("%s: got %v", name, err)
		}
		if list, err := h.Get(t.Context(), channel, nil); err != nil || len(list) != 1 || h.Failures().Last != nil {
			t.Errorf("%s: got %v, %v, want the question alone", name, texts(list), err)
		}
	}
}

func TestABoundedStoreForgetsAndSaysSo(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), "memory:", &store.Options{Memory: &store.MemoryLimits{Conversations: 2, Messages: 4}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	h := of(t, st, ops, history.Options{SummariseAfter: 4})
	var wg sync.WaitGroup
	for w := range 6 { // three more conversations than are held
		wg.Go(func() {
			answer := h.Capture(history.Text(shout))
			for i := range 20 {
				if _, err := answer(t.Context(), channel.InThread(earshot.MessageID(fmt.Sprint("r", w))), said(100*w+i, "Alice", "marmalade")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if f := h.Failures(); f.Last != nil {
		t.Errorf("got %+v, want no failure", f)
	}
	thread := channel.InThread("r9")
	for i := range 6 {
		add(t, h, thread, said(900+i, "Alice", fmt.Sprint("<@A-ops> marmalade ", i)))
	}
	want := "user:\n[history before 2026-03-03 00:01 UTC could not be loaded]\nAlice: @ops marmalade 2\nAlice: @ops marmalade 3\nAlice: @ops marmalade 4\n\nAlice: @ops marmalade 5\n"
	if diff := cmp.Diff(prompt(t, h, thread, "m905"), want); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
	found, err := h.Search(t.Context(), thread, "marmalade", nil)
	if err != nil || len(found.Hits) != 4 || len(found.Gaps) != 1 {
		t.Errorf("got %d hits, the gaps %v and %v, want 4 and one gap", len(found.Hits), found.Gaps, err)
	}
}
