package simtest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/store"
)

// The size of every world.
const (
	channels = 4 // a public one, a private one, a DM with each person
	people   = 2
)

// A spoken is a message of a person.
type spoken struct {
	channel, ts, thread, user string

	word    string   // in the newest text
	words   []string // in every text
	ask     bool     // the bot is to answer
	deleted bool
}

// A world is one run of a script.
type world struct {
	t      *testing.T
	script script
	dir    string
	began  time.Time
	lasted time.Duration

	net      *pipes
	slack    *simulate.Slack
	channels []string
	people   []string
	said     []*spoken

	store    bot.Store
	file     string
	files    int
	later    sync.WaitGroup // pending restarts
	reviving chan struct{}  // a semaphore of one

	life      sync.Mutex // guards what follows
	processes []*process
	started   int
	down      bool // no process may start

	mu     sync.Mutex // guards what follows
	moods  []act
	asked  int
	jumped time.Duration
	lines  []string       // the course of the run, for people
	detail []string       // the same with every effect
	broken []string       // violations
	known  map[string]int // violations that are known
	log    lockedBuffer

	done    map[string]int                // what tools have done, by the call, see callOf; guarded by mu
	decided map[earshot.ApprovalState]int // the number of approvals by final state

	facts facts
	ends  map[earshot.TurnState]int // the number of turns by final state
	told  int                       // how often a person was told that the bot was away
}

// A lockedBuffer holds the log of all processes.
type lockedBuffer struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

// Write implements [io.Writer].
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// note records an event of the run.
func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, w.stamp()+fmt.Sprintf(format, args...))
	w.detail = append(w.detail, w.lines[len(w.lines)-1])
}

// trace records an effect.
func (w *world) trace(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.traceLocked(format, args...)
}

func (w *world) traceLocked(format string, args ...any) {
	w.detail = append(w.detail, w.stamp()+"    "+strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " "))
}

func (w *world) stamp() string { return fmt.Sprintf("%14.6f ", time.Since(w.began).Seconds()) }

// wrong records a violation.
func (w *world) wrong(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	if until := isKnown(text); until != "" {
		w.known[until]++
	} else {
		w.broken = append(w.broken, text)
	}
	w.detail = append(w.detail, w.stamp()+"WRONG "+text)
}

// now is the clock of the store, which the processes share unless the script keeps them
// apart. Slack's clock is the bubble's.
func (w *world) now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return time.Now().Add(w.jumped)
}

// newWorld makes a world for a script.
func newWorld(t *testing.T, s script, dir string) *world {
	w := &world{t: t, script: s, dir: dir, began: time.Now(), net: newPipes(), facts: newFacts(), done: map[string]int{}, decided: map[earshot.ApprovalState]int{}, ends: map[earshot.TurnState]int{}, known: map[string]int{}, reviving: make(chan struct{}, 1)}
	var err error
	w.slack, err = simulate.NewSlack(&simulate.SlackOptions{
		Listener: w.net, Seed: s.seed, SocketMode: true, Tier: s.tier,
		// The first retry waits until all sockets of a process that dies are closed: which
		// of them is still open at the very moment depends on the scheduler.
		Retries: []time.Duration{time.Millisecond, time.Minute, 5 * time.Minute},
	})
	if err != nil {
		t.Fatal(err)
	}
	self := w.slack.App().UserID
	ann := w.slack.AddUser(simulate.User{Name: "ann", RealName: "Ann"})
	bob := w.slack.AddUser(simulate.User{Name: "bob", RealName: "Bob"})
	w.people = []string{ann, bob}
	w.channels = []string{
		w.slack.AddChannel(simulate.Channel{Name: "general", Members: []string{ann, bob, self}}),
		w.slack.AddChannel(simulate.Channel{Name: "secret", Kind: simulate.Private, Members: []string{ann, bob, self}}),
		w.slack.OpenDM(ann), w.slack.OpenDM(bob),
	}
	w.reopen()
	return w
}

// environ returns the settings of every daemon.
func (w *world) environ() []string {
	app := w.slack.App()
	return []string{
		"EARSHOT_PLATFORM=slack", "EARSHOT_SLACK_API_URL=" + w.slack.URL() + "/api/", "SLACK_BOT_TOKEN=" + app.BotToken,
		"SLACK_APP_TOKEN=" + app.AppToken, "EARSHOT_DB=memory:",
	}
}

// transport returns the network of a process.
func (w *world) transport(p *process) http.RoundTripper {
	return &http.Transport{DialContext: p.dial, DisableKeepAlives: true}
}

// reopen opens the store as the next process finds it: a copy of the files as they
// are now, so that nothing of the dead process is flushed or closed.
func (w *world) reopen() {
	old, from := w.store, w.file
	w.files++
	w.file = filepath.Join(w.dir, fmt.Sprintf("%d.db", w.files))
	if from == "" {
		from = empty
	}
	for _, end := range []string{"", "-wal"} {
		data, err := os.ReadFile(from + end)
		if err != nil && end == "" {
			w.t.Fatal(err)
		}
		if err == nil {
			err = os.WriteFile(w.file+end, data, 0o600)
		}
		if err != nil && end == "" {
			w.t.Fatal(err)
		}
	}
	st, err := store.Open(context.Background(), "sqlite:"+w.file, &store.Options{Now: w.now})
	if err != nil {
		w.t.Fatal(err)
	}
	w.store = st
	if old == nil {
		return
	}
	if err := old.Close(); err != nil {
		w.t.Error(err)
	}
	for _, end := range []string{"", "-wal", "-shm"} {
		_ = os.Remove(from + end) // after a clean end there is no WAL
	}
}

// open returns the number of unfinished turns.
func (w *world) open(ctx context.Context) (int, error) {
	depth, err := w.store.Depth(ctx)
	n := 0
	for _, s := range earshot.UnfinishedStates() {
		n += depth[s]
	}
	return n, err
}

// living returns the processes that run.
func (w *world) living() []*process {
	var list []*process
	for _, p := range w.all() {
		if p.alive() {
			list = append(list, p)
		}
	}
	return list
}

// all returns all processes, running or ended.
func (w *world) all() []*process {
	w.life.Lock()
	defer w.life.Unlock()
	return slices.Clone(w.processes)
}

// keepDown sets whether processes may not start.
func (w *world) keepDown(down bool) {
	w.life.Lock()
	defer w.life.Unlock()
	w.down = down
}

func (w *world) isDown() bool {
	w.life.Lock()
	defer w.life.Unlock()
	return w.down
}

// revive starts a process if none runs.
func (w *world) revive() {
	w.reviving <- struct{}{}
	defer func() { <-w.reviving }()
	if len(w.living()) > 0 || w.isDown() {
		return
	}
	for _, p := range w.all() {
		<-p.ended
	}
	w.reopen()
	w.start(crash{})
}

// stop ends a process as an operator would.
func (w *world) stop(p *process) {
	w.note("%s is stopped", p.name)
	p.cancel()
	<-p.ended
	p.die("in peace")
}

// downtime keeps all processes stopped for a while.
func (w *world) downtime(d time.Duration) {
	w.keepDown(true)
	time.Sleep(d)
	w.keepDown(false)
	w.revive()
}

// play carries out the script, and then waits until all turns have ended.
func (w *world) play() {
	w.start(crash{})
	time.Sleep(2 * time.Second)
	for i, a := range w.script.acts {
		time.Sleep(a.after)
		w.note("act %d: %s", i, a)
		w.do(a)
		synctest.Wait()
		w.check()
	}
	w.rest()
	w.checkEnd()
	w.end()
}

// rest ends all faults and waits until no turn is under way.
func (w *world) rest() {
	w.later.Wait()
	w.slack.Heal()
	w.slack.Release()
	w.mu.Lock()
	w.moods = nil
	w.mu.Unlock()
	w.revive()
	w.note("rest")
	w.await()
	most := 45 * time.Minute // a clock that was set back may hold a lease for half an hour
	if w.script.tools {
		most = 6 * time.Hour // and an approval open for as long as it was set back
	}
	for since := time.Now(); time.Since(since) < most; {
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if open, err := w.open(context.Background()); err == nil && open == 0 && time.Since(since) > 30*time.Second {
			break
		}
	}
	if w.script.none {
		time.Sleep(2 * time.Minute) // a process removes what others have left within a minute
	}
	w.note("at rest")
	w.check()
}

// await waits for late events. For a long wait the processes are stopped: they would
// only poll for work.
func (w *world) await() {
	for {
		var due time.Time
		for _, d := range w.slack.Deliveries() {
			if d.Due.After(time.Now()) && (due.IsZero() || d.Due.Before(due)) {
				due = d.Due
			}
		}
		if due.IsZero() {
			return
		}
		if time.Until(due) > 5*time.Minute {
			for _, p := range w.living() {
				w.stop(p)
			}
			w.downtime(time.Until(due) - time.Minute)
		}
		time.Sleep(time.Until(due) + time.Second)
	}
}

// end stops everything. A goroutine that still runs keeps the bubble from ending.
func (w *world) end() {
	w.keepDown(true)
	for _, p := range w.living() {
		w.stop(p)
	}
	for _, p := range w.all() {
		<-p.ended
	}
	if err := w.slack.Close(); err != nil {
		w.t.Error(err)
	}
	if err := w.store.Close(); err != nil {
		w.t.Error(err)
	}
	w.checkFiles()
	w.lasted = time.Since(w.began)
}
