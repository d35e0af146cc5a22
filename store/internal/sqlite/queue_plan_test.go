package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// Every method of the queue runs once; then the plan of each statement that
// was prepared for it is looked at.
func TestEveryReadAndWriteOfTheQueueUsesAnIndex(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	ctx := t.Context()
	var ids []earshot.MessageID
	for i := range 61 {
		ids = append(ids, earshot.MessageID(fmt.Sprint("m", i)))
	}
	first := answer(t, s, 0, dm, "text", ids[1:]...)
	summarise(t, s, dm, "sum", "m0", "m1")
	e := earshot.Event{Delivery: "Ev61", Client: "c", Message: said("m61", 9, "x"), Resume: &earshot.Resume{Key: "k", State: []byte("1")}}
	for range 2 {
		_, err := s.Accept(ctx, scope, e, &dm)
		check(t, err)
	}
	for _, id := range []earshot.MessageID{"m62", "m63"} {
		_, err := s.Accept(ctx, scope, earshot.Event{Message: said(id, 9, "x")}, &dm)
		check(t, err)
	}
	l, _, err := s.Claim(ctx, dm.Agent, "owner", 10, time.Hour)
	check(t, err)
	turn := first + 1
	for _, f := range []func() error{
		func() error { l, err = s.Renew(ctx, l, 11, time.Hour); return err },
		func() error { return s.Begin(ctx, l, turn, earshot.Prompt{Hash: "h"}) },
		func() error { return s.PutPost(ctx, l, earshot.Post{Turn: turn, Key: "k", State: earshot.PostPlanned}) },
		func() error { return s.Finish(ctx, l, turn, earshot.TurnFailed, "why", nil) },
		func() error { return s.Merge(ctx, l, turn+1, turn+2) },
		func() error { return s.Finish(ctx, l, turn+1, earshot.TurnDropped, rule.AnchorDeleted, nil) },
		func() error { return s.Release(ctx, l, 0) },
		func() error { return s.Reopen(ctx, turn) },
		func() error {
			if err := s.Discard(ctx, turn, "x"); !errors.Is(err, earshot.ErrConflict) { // its rows are read all the same
				return fmt.Errorf("discard an open turn: %w", err)
			}
			return nil
		},
		func() error { _, err := s.Record(ctx, scope, earshot.Message{ID: "m61", Deleted: true}); return err },
		func() error { _, err := s.Record(ctx, scope, earshot.Message{ID: "m0", Deleted: true}); return err },
		func() error { return s.Confirm(ctx, scope, "k", "r61") },
		func() error { _, err := s.Posted(ctx, scope, "r61"); return err },
		func() error { _, err := s.Posts(ctx, turn); return err },
		func() error { _, err := s.Steps(ctx, turn); return err },
		func() error { _, err := s.Events(ctx, scope, "m1"); return err },
		func() error { _, err := s.QueuedTurn(ctx, turn); return err },
		func() error { _, err := s.Depth(ctx); return err },
		func() error { _, err := s.Depth(ctx, earshot.TurnOpen, earshot.TurnParked); return err },
		func() error {
			if _, err := s.Erasure(ctx, 1); !errors.Is(err, earshot.ErrNotFound) { // it is looked for all the same
				return fmt.Errorf("read no erasure: %w", err)
			}
			return nil
		},
		func() error { return s.PutNote(ctx, earshot.Note{Key: "k"}) },
		func() error { _, err := s.Notes(ctx, "k", 1); return err },
		func() error { return s.DropNote(ctx, "k") },
		func() error { _, err := s.Resume(ctx, scope.Platform, "k"); return err },
		func() error { _, err := s.PruneEvents(ctx, 1<<60); return err },
		func() error { _, err := s.PruneTurns(ctx, 1<<60); return err },
	} {
		check(t, f())
	}
	for i := range 16 {
		q := earshot.TurnQuery{Oldest: i&8 != 0}
		if i&1 != 0 {
			q.Agent = "agent"
		}
		if i&2 != 0 {
			q.Scope = &scope
		}
		if i&4 != 0 {
			q.States = []earshot.TurnState{earshot.TurnDone, earshot.TurnParked}
		}
		_, err := s.QueuedTurns(ctx, q)
		check(t, err)
	}
	everyCallOfApprovals(t, s, scope)
	plans := s.plans(t)
	if len(plans) < 60 {
		t.Fatalf("only %d statements were seen", len(plans))
	}
	for query, steps := range plans {
		for _, step := range steps {
			// What one message has in all may be sorted.
			few := strings.Contains(query, "AND anchor = ?") || strings.Contains(query, "FROM outbox")
			if scans(step) || strings.Contains(step, "TEMP B-TREE") && !few {
				t.Errorf("%s\n\t%s", query, strings.Join(steps, "\n\t"))
			}
			if strings.Contains(query, "FROM lease") && strings.Contains(query, "next > 0") && !strings.Contains(step, "lease_by_next") {
				t.Errorf("%s\n\t%s", query, strings.Join(steps, "\n\t"))
			}
			if strings.Contains(query, rule.UnfinishedSQL+" ORDER") && !strings.Contains(query, "+state") && !strings.Contains(step, "queued_turn_unfinished") {
				t.Errorf("%s\n\t%s", query, strings.Join(steps, "\n\t"))
			}
		}
	}
}

// everyCallOfApprovals calls what people have to do with a turn: they are asked, stop it,
// and think something of it.
func everyCallOfApprovals(t *testing.T, s *Store, scope earshot.Scope) {
	t.Helper()
	ctx := t.Context()
	id := earshot.ConversationID{Agent: "asks", Scope: scope, Name: "talk"}
	out, err := s.Accept(ctx, scope, earshot.Event{Message: said("asks", 2_100_000, "x")}, &id)
	check(t, err)
	var l earshot.Lease
	claim := func() (err error) { l, _, err = s.Claim(ctx, id.Agent, "me", 10, time.Hour); return err }
	ask := func(call string) func() error {
		return func() error {
			_, err := s.AskApproval(ctx, l, earshot.Approval{ID: earshot.ApprovalID("the " + call), Turn: out.Turn, Call: call, Args: []byte("x"), Expires: 100})
			return err
		}
	}
	decide := func(call string) func() error {
		return func() error {
			a, err := s.Approval(ctx, earshot.ApprovalID("the "+call))
			if err == nil {
				_, err = s.DecideApproval(ctx, a.ID, earshot.Decision{State: earshot.ApprovalAgreed, SHA256: a.SHA256, By: "U2", Time: 50})
			}
			return err
		}
	}
	wait := func() error { _, err := s.AwaitApprovals(ctx, l, out.Turn); return err }
	for _, f := range []func() error{
		claim,
		func() error { return s.Begin(ctx, l, out.Turn, earshot.Prompt{Hash: "h"}) },
		func() error { return s.AddStep(ctx, l, out.Turn, earshot.Step{Data: []byte("x")}) },
		ask("1"), wait, func() error { return s.Release(ctx, l, 0) }, decide("1"), claim,
		func() error { return s.Begin(ctx, l, out.Turn, earshot.Prompt{Hash: "i", Epoch: 1, Keeps: true}) },
		func() error { return s.NoteApproval(ctx, l, "the 1", "x") },
		func() error { return s.Begin(ctx, l, out.Turn, earshot.Prompt{Hash: "j", Epoch: 2}) },
		ask("2"), wait,
		func() error { _, err := s.StopTurn(ctx, out.Turn, "U2"); return err },
		func() error { return s.Finish(ctx, l, out.Turn, earshot.TurnFailed, "x", nil) },
		func() error {
			return s.PutFeedback(ctx, earshot.Feedback{Turn: out.Turn, Author: "U2", Reason: "x", Time: 1})
		},
		func() error { return s.RemoveFeedback(ctx, out.Turn, "U2") },
		func() error {
			return s.Apply(ctx, "forget", func(ctx context.Context, tx *tables.Tx) error {
				return tables.Eraser{Tx: tx}.ForgetDeeds(ctx, scope, "U2", 100)
			})
		},
	} {
		check(t, f())
	}
	good := true
	for i := range 64 { // every way to ask
		q, f := earshot.ApprovalQuery{Limit: 10}, earshot.FeedbackQuery{Limit: 10}
		if i&1 != 0 {
			q.Scope, f.Scope = &scope, &scope
		}
		if i&2 != 0 {
			q.Turn, f.Turn = out.Turn, out.Turn
		}
		if i&4 != 0 {
			q.States, f.Good = []earshot.ApprovalState{earshot.ApprovalOpen}, &good
		}
		if i&8 != 0 {
			q.States = append(q.States, earshot.ApprovalRefused)
		}
		if i&16 != 0 {
			q.Before, f.Before = "the 2", out.Turn
		}
		if i&32 != 0 {
			q.Due, q.Agent, f.Agent = 50, "a", "a"
		}
		_, err := s.Approvals(ctx, q)
		check(t, err)
		_, err = s.Feedback(ctx, f)
		check(t, err)
	}
}
