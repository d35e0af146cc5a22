package bot_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

// A lame store returns an error for claims while it is down.
type lame struct {
	bot.Store
	down   atomic.Bool
	claims atomic.Int64
}

var errDisk = errors.New("disk I/O error")

func (s *lame) Claim(ctx context.Context, agent earshot.AgentID, owner string, now earshot.Time, hold time.Duration) (earshot.Lease, []earshot.QueuedTurn, error) {
	s.claims.Add(1)
	if s.down.Load() {
		return earshot.Lease{}, nil, errDisk
	}
	return s.Store.Claim(ctx, agent, owner, now, hold)
}

// Once a store that failed was asked every second, and each try was logged.
func TestAStoreThatFailsIsAskedLessOftenAndLoggedOnce(t *testing.T) {
	t.Parallel()
	s := &lame{}
	var log strings.Builder
	in(t, func(o *bot.Options) {
		s.Store, o.Store = o.Store, s
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
	}, func(w *world) {
		time.Sleep(5 * time.Second)
		s.down.Store(true)
		time.Sleep(time.Minute) // the waits are 1, 2, 4, 8, 16 and 30 s
		before := s.claims.Load()
		time.Sleep(10 * time.Minute)
		if got := s.claims.Load() - before; got != 20 {
			t.Errorf("got %d claims in 10 min, want one each 30 s", got)
		}
		s.down.Store(false)
		w.rest(31 * time.Second)
		fails, again := strings.Count(log.String(), "the store fails"), strings.Count(log.String(), "the store answers again")
		if fails != 1 || again != 1 {
			t.Errorf("got %d and %d lines, want 1 and 1:\n%s", fails, again, log.String())
		}
	})
}

// Once Run never returned over a closed store.
func TestRunEndsWithTheErrorOfAClosedStore(t *testing.T) {
	t.Parallel()
	in(t, nil, func(w *world) {
		o := w.options
		if o.Store = memory(t); o.Store.Close() != nil {
			t.Fatal("the store cannot be closed")
		}
		if err := bot.New(o).Run(w.t.Context()); !errors.Is(err, os.ErrClosed) {
			t.Errorf("got %v, want %v", err, os.ErrClosed)
		}
	})
}
