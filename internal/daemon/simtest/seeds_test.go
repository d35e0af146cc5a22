package simtest

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

var (
	seeds = flag.Int("seeds", 50, "how many seeds TestSeeds plays")
	from  = flag.Uint64("from", 1, "the first of them")
	only  = flag.Uint64("seed", 0, "the one seed to play; -v prints what happens in it")
)

// empty is a new database. Every world starts with a copy of it.
var empty string

// scratch returns the folder of the databases: in memory where the machine has such a
// folder, because the speed of a disk is not tested.
func scratch() (string, error) {
	if d, err := os.MkdirTemp("/dev/shm", "earshot-simtest-"); err == nil {
		return d, nil
	}
	return os.MkdirTemp("", "earshot-simtest-")
}

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		dir, err := scratch()
		if err == nil {
			defer os.RemoveAll(dir)
			empty = filepath.Join(dir, "empty.db")
			var st interface{ Close() error }
			st, err = store.Open(context.Background(), "sqlite:"+empty, nil)
			if err == nil {
				err = st.Close()
			}
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// TestSeeds plays seeds. A failing one is printed as the command that plays it
// again.
func TestSeeds(t *testing.T) {
	t.Parallel()
	playSeeds(t, *seeds, newScript)
}

// TestSeedsWithoutAStoredChannel plays seeds in which no channel is stored.
func TestSeedsWithoutAStoredChannel(t *testing.T) {
	t.Parallel()
	playSeeds(t, (*seeds+2)/3, func(seed uint64) script {
		s := newScript(seed)
		s.none, s.environ = true, append(s.environ, "EARSHOT_RETENTION_DAYS=none")
		return s
	})
}

func playSeeds(t *testing.T, seeds int, written func(seed uint64) script) {
	t.Helper()
	if *only != 0 {
		w := play(t, written(*only))
		for _, line := range w.detail {
			t.Log(line)
		}
		report(t, w)
		return
	}
	last := *from + uint64(seeds)
	if testing.Short() {
		last = min(last, *from+20)
	}
	var next atomic.Uint64
	next.Store(*from)
	var all tally
	t.Cleanup(func() { t.Log(&all) })
	for i := range runtime.GOMAXPROCS(0) {
		t.Run(fmt.Sprint("worker ", i), func(t *testing.T) {
			t.Parallel()
			for {
				seed := next.Add(1) - 1
				if seed >= last {
					return
				}
				w := play(t, written(seed))
				all.add(w)
				report(t, w)
			}
		})
	}
}

func report(t *testing.T, w *world) {
	t.Helper()
	if len(w.broken) == 0 {
		return
	}
	t.Errorf("seed %d:\n%s\n\n%s\n\nplay it again: go test ./internal/daemon/simtest -run '^%s$' -seed=%d -v",
		w.script.seed, strings.Join(w.lines, "\n"), strings.Join(w.broken, "\n"), strings.Split(t.Name(), "/")[0], w.script.seed)
}

// A tally counts what was played.
type tally struct {
	mu                              sync.Mutex // guards what follows
	seeds, effects, deaths, answers int
	told                            int // people who were told that the bot was away
	hours                           float64
	known                           map[string]int
	ends                            map[earshot.TurnState]int
	decided                         map[earshot.ApprovalState]int
	done                            int // calls of tools that act
}

func (a *tally) add(w *world) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seeds++
	a.hours += w.lasted.Hours()
	a.answers += w.asked
	a.told += w.told
	for _, p := range w.processes {
		a.effects += p.effects
	}
	a.deaths += len(w.processes)
	if a.known == nil {
		a.known, a.ends, a.decided = map[string]int{}, map[earshot.TurnState]int{}, map[earshot.ApprovalState]int{}
	}
	for until, n := range w.known {
		a.known[until] += n
	}
	for state, n := range w.ends {
		a.ends[state] += n
	}
	for state, n := range w.decided {
		a.decided[state] += n
	}
	a.done += len(w.done)
}

// String implements [fmt.Stringer].
func (a *tally) String() string {
	s := fmt.Sprintf("%d seeds, %.0f hours, %d lives of processes, %d effects, %d requests to the model", a.seeds, a.hours, a.deaths, a.effects, a.answers)
	s += fmt.Sprintf("; turns: %v, %d people told of a stale one", a.ends, a.told)
	if len(a.decided) > 0 {
		s += fmt.Sprintf("; approvals: %v, %d calls done", a.decided, a.done)
	}
	for _, until := range slices.Sorted(maps.Keys(a.known)) {
		s += fmt.Sprintf("\nknown until %s: %d", until, a.known[until])
	}
	return s
}

// slow is the real time after which a seed counts as hanging.
const slow = 2 * time.Minute

// play plays one seed in a bubble of its own.
func play(t *testing.T, s script) (w *world) {
	t.Helper()
	dir, err := os.MkdirTemp(filepath.Dir(empty), "seed-") //nolint:usetesting // in memory where possible, see TestMain
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	hung := time.AfterFunc(slow, func() {
		panic(fmt.Sprintf("seed %d hangs: go test ./internal/daemon/simtest -run '^%s$' -seed=%d -v", s.seed, strings.Split(t.Name(), "/")[0], s.seed))
	})
	defer hung.Stop()
	synctest.Test(t, func(t *testing.T) {
		w = newWorld(t, s, dir)
		w.play()
	})
	return w
}
