package erasure_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/erasure"
)

// erasures are erasures of some steps each. The one with the id broken fails.
type erasures struct {
	earshot.Erasures
	left   map[earshot.ErasureID]int // steps
	order  []earshot.ErasureID       // of steps
	broken earshot.ErasureID
	stop   func() // called at each step
}

func (x *erasures) of(id earshot.ErasureID) earshot.Erasure {
	e := earshot.Erasure{ID: id, Of: earshot.ErasureOf{Platform: earshot.Slack, Workspace: "T1", User: "U1"}, Begun: 1, Removed: earshot.ErasureCounts{Messages: 10 - x.left[id]}}
	if x.left[id] == 0 {
		e.Ended = 2
	}
	return e
}

func (x *erasures) StepErasure(_ context.Context, id earshot.ErasureID) (earshot.Erasure, error) {
	if id == x.broken {
		return earshot.Erasure{}, errors.New("no disk")
	}
	x.order = append(x.order, id)
	x.left[id] = max(0, x.left[id]-1)
	if x.stop != nil {
		x.stop()
	}
	return x.of(id), nil
}

func (x *erasures) ErasureLog(_ context.Context, open bool, _ int) (out []earshot.Erasure, _ error) {
	for id := earshot.ErasureID(9); id > 0; id-- {
		if n, ok := x.left[id]; ok && (n > 0 || !open) {
			out = append(out, x.of(id))
		}
	}
	return out, nil
}

func TestRunGoesOnWhereItWasStopped(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	st := &erasures{left: map[earshot.ErasureID]int{1: 5}, stop: cancel}
	e, err := erasure.Run(ctx, st, 1, nil)
	if !errors.Is(err, context.Canceled) || e.Ended != 0 || e.Removed.Messages != 6 {
		t.Fatalf("stopped after a step: got %+v, %v", e, err)
	}
	st.stop = nil
	var log bytes.Buffer
	var seen []int
	e, err = erasure.Run(t.Context(), st, 1, &erasure.Options{Log: slog.New(slog.NewTextHandler(&log, nil)), Progress: func(e earshot.Erasure) { seen = append(seen, e.Removed.Messages) }})
	if err != nil || e.Ended == 0 || fmt.Sprint(seen) != "[7 8 9 10]" {
		t.Errorf("the second call: got %+v, %v, progress %v", e, err, seen)
	}
	for _, want := range []string{"msg=erased", "erasure=1", "workspace=T1", "user=U1", "removed.messages=10"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log line %q lacks %q", log.String(), want)
		}
	}
}

func TestResumeEndsAllThatOthersLeft(t *testing.T) {
	t.Parallel()
	st := &erasures{left: map[earshot.ErasureID]int{1: 2, 2: 0, 3: 1, 4: 1}, broken: 3}
	n, err := erasure.Resume(t.Context(), st, nil)
	if n != 2 || err == nil || !strings.Contains(err.Error(), "erasure 3: no disk") {
		t.Errorf("got %d, %v; want two ended and the error of the third", n, err)
	}
	if !slices.Equal(st.order, []earshot.ErasureID{1, 1, 4}) {
		t.Errorf("steps of %v", st.order)
	}
	if open, _ := st.ErasureLog(t.Context(), true, 0); len(open) != 1 {
		t.Errorf("left open: %v", open)
	}
}

// A scrubber cannot scrub before its nth try.
type scrubber struct{ tries, n int }

func (s *scrubber) Scrub(context.Context) error {
	if s.tries++; s.tries < s.n {
		return errors.New("another process reads")
	}
	return nil
}

func TestScrubWaitsForOthersForATime(t *testing.T) {
	t.Parallel()
	if err := erasure.Scrub(t.Context(), struct{}{}, 0); err != nil {
		t.Errorf("a store without files: %v", err)
	}
	if err := erasure.Scrub(t.Context(), &scrubber{n: 3}, time.Minute); err != nil {
		t.Errorf("a reader that ends: %v", err)
	}
	if err := erasure.Scrub(t.Context(), &scrubber{n: 1 << 30}, 300*time.Millisecond); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("a reader that does not end: %v", err)
	}
}
