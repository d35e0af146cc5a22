package main

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/pgtest"
)

var (
	killCycles = flag.Int("kill.cycles", 20, "how often each kill test kills the program")
	killSeed   = flag.Uint64("kill.seed", 0, "what the kill tests' chances come from; 0: another one each time")
)

// TestKillAtRandom kills the program at random moments, while several people talk to
// it in several conversations and each message gets an answer of its own.
func TestKillAtRandom(t *testing.T) {
	t.Parallel()
	inWorlds(t, *killCycles, killSetting{each: true}, atRandom)
}

// TestKillAtEveryFaultPoint lets the program kill itself at each fault point on a
// message's way.
func TestKillAtEveryFaultPoint(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]killSetting{
		"each message is answered":   {each: true},
		"the last is answered":       {},
		"a placeholder comes before": {each: true, placeholder: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inWorlds(t, max(*killCycles, len(s.points())), s, atPoint)
		})
	}
}

// TestKillOnPostgreSQL does both on PostgreSQL, a tenth as often.
func TestKillOnPostgreSQL(t *testing.T) {
	t.Parallel()
	s := killSetting{each: true, placeholder: true, spec: pgtest.Spec}
	t.Run("at random", func(t *testing.T) {
		t.Parallel()
		inWorlds(t, max(*killCycles/10, 5), s, atRandom)
	})
	t.Run("at every fault point", func(t *testing.T) {
		t.Parallel()
		inWorlds(t, max(*killCycles/10, len(s.points())), s, atPoint)
	})
}

// A killSetting is how the program is set up.
type killSetting struct {
	each        bool // every question has an answer of its own
	placeholder bool
	spec        func(testing.TB) string // of a new store; nil: SQLite
}

// points are the points at which the program can kill itself.
func (s killSetting) points() []string {
	points := bot.FaultPoints()
	if s.placeholder {
		points = append(points, bot.PlaceholderFaultPoints()...)
	}
	return points
}

// cyclesInWorld is how often the program is killed over one store. Several
// worlds live side by side: half of a cycle is waiting for a lease.
const cyclesInWorld = 20

// inWorlds runs cycles in worlds, each with its own store, and checks each world at
// its end. A cycle gets its number.
func inWorlds(t *testing.T, cycles int, s killSetting, cycle func(t *testing.T, w *killWorld, n int)) {
	t.Helper()
	binary := program(t)
	for from := 0; from < cycles; from += cyclesInWorld {
		t.Run(fmt.Sprintf("from cycle %d", from+1), func(t *testing.T) {
			t.Parallel()
			w := newKillWorld(t, binary, s)
			for n := from; n < min(from+cyclesInWorld, cycles); n++ {
				cycle(t, w, n)
				w.killed(t)
			}
			w.check(t)
		})
	}
}

// atRandom kills the program while people talk: some time after any of the
// acknowledgements.
func atRandom(t *testing.T, w *killWorld, _ int) {
	t.Helper()
	p := w.start(t, "")
	w.talk(t, p, func(heard <-chan struct{}) {
		for range w.rand.IntN(perRun * len(w.talks)) {
			<-heard
		}
		time.Sleep(time.Duration(w.rand.IntN(100_000)) * time.Microsecond) // the random moment of the kill
		p.kill()
	})
}

// atPoint lets the program kill itself at the next point.
func atPoint(t *testing.T, w *killWorld, n int) {
	t.Helper()
	point := w.points()[n%len(w.points())]
	p := w.start(t, point)
	w.talk(t, p, func(<-chan struct{}) {
		select {
		case <-p.gone:
		case <-time.After(hang):
			t.Errorf("in %s the point %s was not reached", hang, point)
			p.kill()
		}
	})
	if code := p.cmd.ProcessState.ExitCode(); code != 137 {
		t.Fatalf("at %s the program ended with status %d: %s", point, code, p.errors())
	}
}
