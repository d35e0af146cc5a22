package simtest

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
)

// errDead is what a dead process gets from everything outside of it.
var errDead = errors.New("the process is dead")

// A process is a daemon that can die at any effect: what it has written or sent by
// then remains, and no effect of it happens afterwards. Its goroutines run on for a
// moment, because nothing can stop them, but they have no further effect.
type process struct {
	w      *world
	name   string
	cancel context.CancelFunc
	ended  chan struct{} // closed when Run has returned
	off    time.Duration // how far its machine's clock is ahead of the store's; guarded by w.mu

	gate sync.RWMutex // held for reading during an effect, for writing to die
	dead bool         // guarded by gate

	mu      sync.Mutex     // guards what follows
	effects int            // so far
	crash   crash          // the effect that kills it
	seen    map[string]int // how often each effect has happened
	conns   []net.Conn
	keys    int
}

// A crash says before or after which effect a process dies. Zero means never.
type crash struct {
	at     int
	before bool
}

// effect runs do, whose effect is visible outside, or kills the process.
func (p *process) effect(name, about string, do func() error) error {
	stop, err := p.enter(name, about)
	if err != nil {
		return err
	}
	p.gate.RLock()
	if p.dead {
		p.gate.RUnlock()
		return errDead
	}
	if stop.at > 0 && stop.before {
		p.gate.RUnlock()
		p.die("before " + name)
		return errDead
	}
	err = do()
	p.gate.RUnlock()
	if stop.at > 0 {
		p.die("after " + name)
		return errDead
	}
	return err
}

// enter counts an effect after a delay that depends on its content: two effects that
// start at the same time happen in an order that does not depend on the scheduler.
// It returns the crash that is due.
func (p *process) enter(name, about string) (crash, error) {
	content := name + " " + about
	p.moment(content)
	if !p.alive() {
		return crash{}, errDead
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.effects++
	p.w.trace("%s effect %d: %s", p.name, p.effects, content)
	due := p.crash
	if due.at != p.effects {
		due = crash{}
	}
	return due, nil
}

// moment waits for up to a millisecond, depending on the effect and on how often it
// has happened before.
func (p *process) moment(content string) {
	p.mu.Lock()
	p.seen[content]++
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s %s %d", p.w.script.seed, p.name, content, p.seen[content])
	p.mu.Unlock()
	time.Sleep(time.Duration(1+h.Sum64()%1_000_000) * time.Nanosecond)
}

// uncounted runs do, whose effect is visible outside, without counting it: it is
// called while a mutex is held, and must take no time, because the clock of a bubble
// stands while a goroutine waits for a mutex. A crash beside it is the same as one
// beside the effect before or after it.
func (p *process) uncounted(do func() error) error {
	p.gate.RLock()
	defer p.gate.RUnlock()
	if p.dead {
		return errDead
	}
	return do()
}

// die ends the process like kill -9.
func (p *process) die(why string) {
	p.gate.Lock()
	defer p.gate.Unlock()
	if p.dead {
		return
	}
	p.dead = true
	p.w.note("%s dies %s", p.name, why)
	p.mu.Lock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.mu.Unlock()
	p.cancel()
}

func (p *process) alive() bool {
	p.gate.RLock()
	defer p.gate.RUnlock()
	return !p.dead
}

// dial opens a connection that is cut when the process dies.
func (p *process) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	p.moment("dial")
	if !p.alive() {
		return nil, errDead
	}
	c, err := p.w.net.dial(ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.conns = append(p.conns, c)
	return c, nil
}

// RoundTrip implements [http.RoundTripper]: a call of the platform's API is an
// effect, which has happened once the answer is read.
func (p *process) RoundTrip(r *http.Request) (*http.Response, error) {
	var body string
	if r.GetBody != nil {
		if b, err := r.GetBody(); err == nil {
			raw, _ := io.ReadAll(b) // reading a strings.Reader cannot fail
			body = string(raw)
		}
	}
	stop, err := p.enter(strings.TrimPrefix(r.URL.Path, "/api/"), body)
	if err != nil {
		return nil, err
	}
	if !p.alive() {
		return nil, errDead
	}
	if stop.at > 0 && stop.before {
		p.die("before " + r.URL.Path)
		return nil, errDead
	}
	answer, err := p.w.transport(p).RoundTrip(r)
	if stop.at > 0 {
		if err == nil {
			_ = answer.Body.Close()
		}
		p.die("after " + r.URL.Path)
		return nil, errDead
	}
	if err == nil && !p.alive() {
		_ = answer.Body.Close()
		return nil, errDead
	}
	return answer, err
}

// apart is how much the clock of a process may differ from the store's at its start.
const apart = time.Hour

// now is the clock of the process's machine.
func (p *process) now() time.Time {
	at := p.w.now()
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return at.Add(p.off)
}

// start starts a daemon. It is up, or has died on its way, when start returns.
func (w *world) start(at crash) {
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{w: w, cancel: cancel, ended: make(chan struct{}), crash: at, seen: map[string]int{}}
	w.life.Lock()
	w.started++
	p.name = fmt.Sprintf("p%d", w.started)
	if w.script.apart {
		p.off = time.Duration(rand.New(rand.NewPCG(w.script.seed, uint64(w.started))).Int64N(int64(2*apart))) - apart
	}
	w.processes = append(w.processes, p)
	w.life.Unlock()
	w.note("%s starts, its clock off by %s", p.name, p.off)
	go func() {
		defer close(p.ended)
		defer cancel()
		for p.alive() && ctx.Err() == nil {
			if err := p.run(ctx); err != nil && p.alive() && ctx.Err() == nil {
				w.note("%s ended: %v", p.name, err)
				time.Sleep(5 * time.Second) // as a supervisor waits before a restart
				continue
			}
			return
		}
	}()
}

// run runs one daemon until it ends.
func (p *process) run(ctx context.Context) error {
	w := p.w
	c, err := config.Load("", append(w.environ(), w.script.environ...))
	if err != nil {
		return err
	}
	policy, ok := assemble.ByName(c.Policy)
	if !ok {
		return fmt.Errorf("there is no policy %q", c.Policy)
	}
	d, err := daemon.Open(ctx, daemon.Options{
		Config: c, Policy: policy, Store: w.seenBy(p), Done: w.report(p),
		Log: slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelInfo})),
		Outside: daemon.Outside{
			Model: &model{w: w, p: p}, Client: &http.Client{Transport: p, Timeout: 30 * time.Second}, Dial: p.dial, Now: p.now,
			Jitter: p.jitter, Owner: p.name, NewKey: p.newKey, Tools: w.toolboxes(p),
		},
	})
	if err != nil {
		return err
	}
	return errors.Join(d.Run(ctx), d.Close())
}

func (p *process) jitter(most time.Duration) time.Duration {
	return time.Duration(p.w.script.seed*0x9e3779b97f4a7c15%1000) * most / 1000
}

func (p *process) newKey() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys++
	return fmt.Sprintf("%sk%d", p.name, p.keys)
}

// report returns the function that is called for each turn that ends in a process.
func (w *world) report(p *process) func(bot.Report) {
	return func(r bot.Report) {
		if !p.alive() {
			return
		}
		w.trace("%s turn %d is %s: %s", p.name, r.Turn.ID, r.Turn.State, r.Turn.Why)
		if r.Turn.State == earshot.TurnDone {
			w.checkReport(r)
		}
	}
}
