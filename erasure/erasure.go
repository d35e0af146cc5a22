// Package erasure carries erasures through: it does the steps of one that was begun
// (see [earshot.Erasures]), logs it, and waits until its bytes have left the files.
//
//	e, err := st.BeginErasure(ctx, earshot.ErasureOf{Platform: earshot.Slack, Workspace: "T1", User: "U1"})
//	if err == nil {
//		e, err = erasure.Run(ctx, st, e.ID, nil)
//	}
//
// [Run] may be stopped at any moment: it goes on where it was when it is called
// again, by any process. [Resume] goes on with all that others have left.
//
// Unstable: what this package exports may change with any version.
package erasure

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
)

// Options are the optional arguments of Run and Resume. nil and zero fields mean
// their defaults.
type Options struct {
	Log      *slog.Logger            // of each erasure that has ended one line with ids and counts; nil discards
	Progress func(e earshot.Erasure) // called after each step
}

func (o *Options) orDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Log == nil {
		out.Log = slog.New(slog.DiscardHandler)
	}
	if out.Progress == nil {
		out.Progress = func(earshot.Erasure) {}
	}
	return out
}

// between is how long Run rests after a step, so that other processes that write to
// the same file get their turn.
const between = time.Millisecond

// Run does the steps of an erasure until it has ended, and returns it. After an
// error, that of ctx too, it returns the erasure as far as it has come. The error is
// [earshot.ErrNotFound] when there is no such erasure.
func Run(ctx context.Context, st earshot.Erasures, id earshot.ErasureID, o *Options) (earshot.Erasure, error) {
	opts := o.orDefaults()
	began := time.Now()
	e := earshot.Erasure{ID: id}
	for {
		next, err := st.StepErasure(ctx, id)
		if err != nil {
			return e, fmt.Errorf("erasure %d: %w", id, err)
		}
		e = next
		opts.Progress(e)
		if e.Ended != 0 {
			opts.Log.Info("erased", attributes(e, time.Since(began))...)
			return e, nil
		}
		select {
		case <-time.After(between):
		case <-ctx.Done():
			return e, fmt.Errorf("erasure %d: %w", id, ctx.Err())
		}
	}
}

// Resume runs the erasures that have not ended, in the order in which they began,
// and returns how many it has ended. One that fails does not keep the others from
// ending; the errors are joined.
func Resume(ctx context.Context, st earshot.Erasures, o *Options) (ended int, err error) {
	open, err := st.ErasureLog(ctx, true, 0)
	if err != nil {
		return 0, fmt.Errorf("list the erasures under way: %w", err)
	}
	var problems []error
	for _, e := range slices.Backward(open) {
		if _, err := Run(ctx, st, e.ID, o); err != nil {
			problems = append(problems, err)
			continue
		}
		ended++
	}
	return ended, errors.Join(problems...)
}

// Scrub waits until no byte of what was deleted stands in the store's files, at most
// patience long. The error says what keeps it. A store without files of its own has
// nothing to wait for.
func Scrub(ctx context.Context, st any, patience time.Duration) error {
	s, ok := st.(earshot.Scrubber)
	if !ok {
		return nil
	}
	for until := time.Now().Add(patience); ; {
		err := s.Scrub(ctx)
		if err == nil || ctx.Err() != nil || time.Now().After(until) {
			return err
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// attributes are the audit of an erasure: ids and counts, nothing that anyone wrote.
func attributes(e earshot.Erasure, took time.Duration) []any {
	out := []any{"erasure", e.ID, "platform", e.Of.Platform, "workspace", e.Of.Workspace}
	if e.Of.User != "" {
		out = append(out, "user", e.Of.User, "forget", e.Of.Forget)
	}
	if e.Of.Channel != "" {
		out = append(out, "channel", e.Of.Channel)
	}
	if len(e.Of.Messages) > 0 {
		out = append(out, "messages", e.Of.Messages)
	}
	if e.Of.Before != 0 {
		out = append(out, "before", e.Of.Before.String())
	}
	r := e.Removed
	return append(out, slog.Group("removed", "messages", r.Messages, "revisions", r.Revisions, "events", r.Events, "sessions", r.Sessions,
		"turns", r.Turns, "replies", r.Replies, "summaries", r.Summaries, "files", r.Files, "names", r.Names), "took", took)
}
