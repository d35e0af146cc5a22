package bot_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
)

// remembered records messages of several weeks, the first ones about the ferry.
func (w *world) remembered() {
	w.t.Helper()
	began := earshot.TimeOf(time.Now()) - 40*24*3600e6
	list := []earshot.Message{{ID: "ferry", Time: began, Author: bob, Text: "the ferry's ticket printer needs the blue cable"}}
	for i := range 400 {
		list = append(list, earshot.Message{
			ID: earshot.MessageID(fmt.Sprintf("l%03d", i)), Time: began + earshot.Time(i+2)*3600e6, Author: bob, Text: fmt.Sprintf("lunch number %d is soup with bread and a salad", i),
		})
	}
	if _, err := w.store.Record(w.t.Context(), general.Scope(), list...); err != nil {
		w.t.Fatal(err)
	}
}

// queued returns the only turn, with its input.
func (w *world) queued() earshot.QueuedTurn {
	w.t.Helper()
	list, err := w.store.QueuedTurns(w.t.Context(), earshot.TurnQuery{})
	if err != nil || len(list) != 1 {
		w.t.Fatalf("%d turns, %v", len(list), err)
	}
	q, err := w.store.QueuedTurn(w.t.Context(), list[0].ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return q
}

const foundHere = "[earlier in this channel, found for this question]"

func TestATurnThatRecallsIsReplayed(t *testing.T) {
	t.Parallel()
	in(t, nil, func(w *world) {
		w.remembered()
		w.say(general, alice, "q", "<@U0BOT> which cable does the ferry's ticket printer need?")
		w.rest(time.Second)
		if got := texts(w.model.(*echo).asked[0].Messages)[0]; !strings.Contains(got, foundHere+"\n") || !strings.Contains(got, "needs the blue cable") {
			t.Errorf("nothing is recalled: %.600s", got)
		}
		q := w.queued()
		committed, err := w.store.Turn(t.Context(), q.Conversation, 0)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(committed.Ledger, func(r earshot.LedgerRow) bool { return r.ID == "ferry" })
		if i < 0 || committed.Ledger[i].Section != "recall" || committed.Ledger[i].Score == 0 || committed.Ledger[i].Parts["words"] == 0 {
			t.Errorf("the ledger says %+v", committed.Ledger[max(0, i)])
		}
		// A later message, although a better hit, changes nothing.
		w.say(general, bob, "later", "the ferry's ticket printer needs the red cable")
		input, err := bot.Input(t.Context(), w.store, q)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := assemble.Turn(input); err != nil || res.Hash != q.Hash || len(input.Recalled) == 0 {
			t.Errorf("replays with %d hits to %.12s, %v; want %.12s", len(input.Recalled), res.Hash, err, q.Hash)
		}
		// A deleted message cannot be shown again, and its deletion ends the epoch.
		if _, err := w.store.Record(t.Context(), general.Scope(), earshot.Message{ID: "ferry", Deleted: true}); err != nil {
			t.Fatal(err)
		}
		if _, err := bot.Input(t.Context(), w.store, q); !errors.Is(err, bot.ErrChanged) {
			t.Errorf("got %v, want ErrChanged", err)
		}
		w.say(general, alice, "q2", "<@U0BOT> and the ferry?", under("q"))
		w.rest(time.Second)
		for _, text := range texts(w.model.(*echo).asked[1].Messages) {
			if strings.Contains(text, "blue cable") {
				t.Errorf("what was deleted is told: %s", text)
			}
		}
	})
}

// unsearchable is a store whose search terms cannot be read.
type unsearchable struct{ bot.Store }

func (unsearchable) Terms(context.Context, earshot.Scope, int64) iter.Seq2[earshot.Terms, error] {
	return func(yield func(earshot.Terms, error) bool) { yield(earshot.Terms{}, errors.New("the disk is full")) }
}

func TestATurnIsAnsweredWithoutASearch(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	change := func(o *bot.Options) {
		o.Store = unsearchable{o.Store}
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
	}
	in(t, change, func(w *world) {
		w.remembered()
		w.say(general, alice, "q", "<@U0BOT> which cable does the ferry's ticket printer need?")
		w.rest(time.Second)
		if got := w.board.all(); len(got) != 1 || strings.Contains(texts(w.model.(*echo).asked[0].Messages)[0], foundHere) {
			t.Errorf("posted %q", got)
		}
	})
	if got := log.String(); strings.Count(got, "recall: the search failed") != 1 || !strings.Contains(got, "the disk is full") || strings.Contains(got, "cable") {
		t.Errorf("the log says: %s", got)
	}
}
