package bot_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
)

// The state machine of a turn: scripts of messages, duplicates, edits, deletions and
// late events, in which processes die at fault points and replicas come and go; and
// the invariants that hold afterwards.

// An act is a step of a script.
type act struct {
	kind  string // say, late, double, edit, delete, echo, kill, replica, lose, smudge, wait
	place int    // 0: a direct message, 1: a thread, 2: the channel
	which int    // of the messages so far
	point string
	wait  time.Duration
	text  string // in place of words of its own
}

func acts(points []string) *rapid.Generator[[]act] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) act {
		a := act{kind: rapid.SampledFrom([]string{
			"say", "say", "say", "say", "say", "double", "edit", "delete", "late", "echo", "kill", "kill", "kill", "replica", "lose", "smudge", "wait", "wait",
		}).Draw(t, "kind")}
		switch a.kind {
		case "say", "late":
			a.place = rapid.IntRange(0, 2).Draw(t, "place")
		case "double", "edit", "delete", "echo":
			a.which = rapid.IntRange(0, 20).Draw(t, "which")
		case "kill":
			a.point = rapid.SampledFrom(points).Draw(t, "point")
		case "lose", "smudge":
			a.which = rapid.IntRange(1, 2).Draw(t, "fault")
		case "wait":
			a.wait = time.Duration(rapid.IntRange(0, 8000).Draw(t, "ms")) * time.Millisecond
		}
		return a
	}), 3, 30)
}

// A process is one bot that may die.
type process struct {
	bot    *bot.Bot
	dead   atomic.Bool
	cancel context.CancelFunc
	done   chan struct{}
}

var errDead = errors.New("the process is dead")

// A machine runs scripts over one store and one platform.
type machine struct {
	store bot.Store
	board *board
	slate *slate    // nil: replies are posted at once
	model llm.Model // nil: the machine itself
	hold  time.Duration
	// partly: the store of each process keeps all channels in memory only, and x.store
	// is the disk.
	partly bool

	mu    sync.Mutex // guards what follows
	armed string
	asked []llm.Request
	errs  []string

	procs []*process
	n     int // processes so far
	said  []earshot.Event
	where []earshot.Channel
	acked map[earshot.MessageID]bool
	erase map[earshot.MessageID]bool
	late  map[string]bool // their words
}

func (x *machine) failf(format string, args ...any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.errs = append(x.errs, fmt.Sprintf(format, args...))
}

// Generate answers each request with a different text, after a while.
func (x *machine) Generate(ctx context.Context, r llm.Request, tell func(llm.Event)) (llm.Response, error) {
	if err := r.Check(); err != nil {
		x.failf("request: %v", err)
	}
	x.mu.Lock()
	x.asked = append(x.asked, r)
	n := len(x.asked)
	x.mu.Unlock()
	for range 3 {
		if tell != nil {
			tell(llm.Event{Text: draftPrefix})
		}
		select {
		case <-time.After(x.hold / 9):
		case <-ctx.Done():
			return llm.Response{}, context.Cause(ctx)
		}
	}
	if n%3 == 0 && len(r.Messages)%2 == 1 && len(r.Tools) > 0 && !strings.Contains(fmt.Sprint(r.Messages[len(r.Messages)-1].Parts[0].Kind), "result") {
		return llm.Response{Parts: []llm.Part{llm.Calling(llm.Call{ID: fmt.Sprintf("c%d", n), Name: "channel_context", Args: `{"intent":"said"}`})}, Stop: llm.StopCalls}, nil
	}
	return llm.Response{Parts: []llm.Part{llm.Text(fmt.Sprintf("reply %d.", n))}, Stop: llm.StopEnd}, nil
}

// The texts that must not stay visible: the placeholder, and the beginning of drafts.
const (
	placeholder = "wait for it"
	draftPrefix = "perhaps "
)

// start adds a process.
func (x *machine) start(t testing.TB) {
	counter, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	p := &process{done: make(chan struct{})}
	x.n++
	var platform bot.Platform = mortalBoard{x.board, p}
	if x.slate != nil {
		platform = mortalSlate{mortalBoard{x.board, p}, x.slate}
	}
	var model llm.Model = x
	if x.model != nil {
		model = x.model
	}
	var st bot.Store = mortal{x.store, p}
	if x.partly {
		st = store.Partial(unclean{st, x, p}, func(earshot.Scope) bool { return true }, nil)
	}
	p.bot = bot.New(bot.Options{
		Store: st, Model: model, Platform: platform, Identity: self, Counter: counter, Owner: fmt.Sprintf("p%d", x.n), Placeholder: placeholder,
		Limits: bot.Limits{Tries: 100, Lease: x.hold, Poll: x.hold / 9, Look: x.hold / 9, Backoff: x.hold / 9},
		Fault: func(at string) {
			x.mu.Lock()
			hit := x.armed == at
			if hit {
				x.armed = ""
			}
			x.mu.Unlock()
			if hit || p.dead.Load() {
				p.dead.Store(true)
				runtime.Goexit()
			}
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	go func() {
		defer close(p.done)
		p.bot.Run(ctx)
	}()
	x.procs = append(x.procs, p)
}

// bury removes dead processes, and starts one where none is left.
func (x *machine) bury(t testing.TB) {
	var alive []*process
	for _, p := range x.procs {
		if p.dead.Load() {
			p.cancel()
			<-p.done
		} else {
			alive = append(alive, p)
		}
	}
	x.procs = alive
	if len(alive) == 0 {
		x.start(t)
	}
}

// deliver delivers an event until a process acknowledges it.
func (x *machine) deliver(t testing.TB, c earshot.Channel, e earshot.Event) {
	for range 20 {
		x.bury(t)
		p := x.procs[len(x.procs)-1]
		acked := make(chan bool, 1)
		go func() {
			ok := false
			defer func() { acked <- ok }()
			_, err := p.bot.Handle(context.Background(), bot.Event{Channel: c, Event: e})
			ok = err == nil && !p.dead.Load()
		}()
		if <-acked {
			x.acked[e.Message.ID] = true
			return
		}
	}
	x.failf("%s was never acknowledged", e.Message.ID)
}

func (x *machine) play(t testing.TB, script []act) {
	for i, a := range script {
		x.bury(t)
		switch a.kind {
		case "say", "late":
			m := earshot.Message{ID: earshot.MessageID(fmt.Sprintf("m%03d", i)), Time: earshot.TimeOf(time.Now()), Author: alice}
			if a.kind == "late" {
				m.Time -= earshot.Time(5 * x.hold / time.Microsecond)
				x.late[fmt.Sprintf("said x%dx", i)] = true
			}
			c := direct
			m.Text = fmt.Sprintf("said x%dx", i)
			if a.text != "" {
				m.Text = a.text
			}
			if a.place > 0 {
				c = general
				m.Text = "<@U0BOT> " + m.Text
			}
			if a.place == 1 {
				m.Thread = "root"
			}
			e := earshot.Event{Delivery: fmt.Sprintf("d%d", i), Raw: []byte("{}"), Message: m}
			x.said, x.where = append(x.said, e), append(x.where, c)
			x.deliver(t, c, e)
		case "double", "edit", "delete":
			if len(x.said) == 0 {
				continue
			}
			n := a.which % len(x.said)
			e := x.said[n]
			e.Delivery = fmt.Sprintf("d%d", i)
			switch a.kind {
			case "edit":
				e.Message.Edited, e.Message.Text = earshot.TimeOf(time.Now()), strings.Replace(e.Message.Text, "said ", fmt.Sprintf("said e%d", i), 1)
				if x.late[theirWords.FindString(x.said[n].Message.Text)] {
					x.late[theirWords.FindString(e.Message.Text)] = true
				}
			case "delete":
				x.erase[e.Message.ID] = true
				e.Message = earshot.Message{ID: e.Message.ID, Time: e.Message.Time, Thread: e.Message.Thread, Deleted: true}
			}
			x.deliver(t, x.where[n], e)
		case "kill":
			x.mu.Lock()
			x.armed = a.point
			x.mu.Unlock()
		case "replica":
			if len(x.procs) < 3 {
				x.start(t)
			}
		case "echo":
			x.board.mu.Lock()
			posts := slices.Clone(x.board.posts)
			x.board.mu.Unlock()
			if len(posts) == 0 {
				continue
			}
			p := posts[a.which%len(posts)]
			m := p.message()
			m.Author, m.Edited = earshot.Author{ID: "B0BOT", Name: "earshot", Kind: earshot.Bot}, p.edited
			x.deliver(t, p.Channel, earshot.Event{Delivery: fmt.Sprintf("d%d", i), Raw: []byte("{}"), Message: m})
		case "smudge":
			if x.slate != nil {
				x.board.mu.Lock()
				x.slate.smudged = append(x.slate.smudged, fault(a.which))
				x.board.mu.Unlock()
			}
		case "lose":
			x.board.mu.Lock()
			x.board.faults = append(x.board.faults, fault(a.which))
			x.board.mu.Unlock()
		case "wait":
			time.Sleep(time.Duration(float64(a.wait) * x.hold.Seconds() / 9))
		}
	}
	for range 500 { // until all is answered
		x.bury(t)
		depth, err := x.store.Depth(context.Background())
		if err != nil {
			x.failf("depth: %v", err)
			break
		}
		if depth[earshot.TurnOpen]+depth[earshot.TurnClaimed]+depth[earshot.TurnGenerating]+depth[earshot.TurnPosting] == 0 {
			break
		}
		time.Sleep(x.hold / 3)
	}
	for _, p := range x.procs {
		p.cancel()
		<-p.done
	}
}

// The texts of the agent, with the names that precede them, and the texts of people;
// each revision has a text of its own.
var (
	theirWords = regexp.MustCompile(`said (e\d+)?x\d+x`)
	ownWords   = regexp.MustCompile(`(?m)^\s*(\S[^:\n]*): reply \d+`)
)

// check asserts the invariants of threats.md that a script can break.
func (x *machine) check(ctx context.Context) {
	turns, err := x.store.QueuedTurns(ctx, earshot.TurnQuery{Limit: 10_000})
	if err != nil {
		x.failf("turns: %v", err)
		return
	}
	has := map[earshot.MessageID]earshot.QueuedTurn{}
	byID := map[string]earshot.QueuedTurn{}
	for _, q := range turns {
		has[q.Anchor] = q
		byID[fmt.Sprintf("answered with turn %d", q.ID)] = q
	}
	for _, q := range turns {
		if into, ok := byID[q.Why]; ok && into.Why == "anchor deleted" {
			x.failf("I4: turn %d was to be answered with turn %d, which was dropped", q.ID, into.ID)
		}
	}
	keys := map[string]bool{}
	order := map[earshot.ConversationID]earshot.TurnID{}
	replies := map[earshot.MessageID][]string{}
	for _, p := range x.board.posts {
		if keys[p.Key] {
			x.failf("I11: key %s was posted twice", p.Key)
		}
		keys[p.Key] = true
		q := has[p.Anchor.ID]
		if q.ID < order[q.Conversation] {
			x.failf("I5: turn %d was answered after turn %d", q.ID, order[q.Conversation])
		}
		if q.State != earshot.TurnDropped { // what it was to answer too is answered after it
			order[q.Conversation] = q.ID
		}
		replies[p.Anchor.ID] = append(replies[p.Anchor.ID], p.Text)
		if m, err := x.store.Message(ctx, p.Channel.Scope(), p.id); !x.partly && (err != nil || m.Text != p.Text) {
			x.failf("our own message %s is stored as %q, and says %q: %v", p.id, m.Text, p.Text, err)
		}
	}
	for i, e := range x.said {
		m, err := x.store.Message(ctx, x.where[i].Scope(), e.Message.ID)
		switch {
		case err != nil:
			x.failf("I1: %s was acknowledged and is not stored: %v", e.Message.ID, err)
		case m.Deleted != (x.partly || x.erase[e.Message.ID]):
			x.failf("I3: %s is deleted: %v", m.ID, m.Deleted)
		}
		q, ok := has[e.Message.ID]
		got := replies[e.Message.ID]
		switch {
		case !ok:
			x.failf("I4: %s has no turn", e.Message.ID)
		case q.State == earshot.TurnDone && (len(got) != 1 || !strings.HasPrefix(got[0], "reply ")),
			q.State == earshot.TurnDropped && len(got) != 0 && (len(got) != 1 || x.slate == nil || !m.Deleted || !strings.Contains(got[0], "was deleted")),
			q.State == earshot.TurnFailed && (len(got) > 1 || len(got) == 1 && !strings.HasPrefix(got[0], "Sorry")):
			x.failf("I4: %s is %s (%s), and people see %q", e.Message.ID, q.State, q.Why, got)
		case q.State == earshot.TurnParked || q.State != earshot.TurnDone && q.Why == "":
			x.failf("I12: %s is %s, why: %q", e.Message.ID, q.State, q.Why)
		case q.State == earshot.TurnOpen, q.State == earshot.TurnClaimed, q.State == earshot.TurnGenerating, q.State == earshot.TurnPosting:
			x.failf("I4: %s is still %s", e.Message.ID, q.State)
		}
	}
	for n, r := range x.asked {
		var text strings.Builder
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				text.WriteString(p.Text + "\n")
				if m.Role == earshot.User {
					for _, w := range ownWords.FindAllStringSubmatch(p.Text, -1) {
						if w[1] != self.Name {
							x.failf("I9: request %d has our words as those of %q", n, w[1])
						}
					}
				}
			}
		}
		for _, s := range []string{placeholder, draftPrefix} {
			if strings.Contains(text.String(), s) {
				x.failf("request %d has %q, which was never said:\n%s", n, s, text.String())
			}
		}
		words := map[string]int{}
		for _, w := range theirWords.FindAllString(text.String(), -1) {
			// A message that arrives late may be shown to an earlier question, and then
			// be a question itself.
			if words[w]++; words[w] == 2 && !x.late[w] {
				x.failf("I9: request %d has %q twice:\n%s", n, w, text.String())
			}
		}
	}
	x.considered(ctx)
}

// considered asserts that the cursor skipped no message that no turn has considered.
func (x *machine) considered(ctx context.Context) {
	id := earshot.ConversationID{Agent: "U0BOT", Scope: direct.Scope(), Name: "top"}
	c, err := x.store.Conversation(ctx, id)
	if errors.Is(err, earshot.ErrNotFound) {
		return
	}
	turns, err := x.store.Turns(ctx, id, 0)
	if err != nil {
		x.failf("turns: %v", err)
	}
	looked := map[earshot.MessageID]bool{}
	var last earshot.Position // what stands after it is found by a later delta
	for _, t := range turns {
		whole, err := x.store.Turn(ctx, id, t.Number)
		if err != nil {
			x.failf("turn: %v", err)
		}
		if a, err := x.store.Message(ctx, id.Scope, t.Answer.Anchor); err == nil && a.Position().Compare(last) > 0 {
			last = a.Position()
		}
		looked[t.Answer.Anchor] = true // also where the ledger was erased
		for _, row := range whole.Ledger {
			looked[row.ID] = true
		}
		for _, r := range whole.Answer.Replies {
			looked[r] = true
		}
	}
	list, err := x.store.Since(ctx, direct.Scope(), 0, 0)
	if err != nil {
		x.failf("since: %v", err)
	}
	for _, m := range list {
		if m.Seq <= c.Cursor && m.Position().Compare(last) <= 0 && !m.Deleted && !looked[m.ID] && !self.Is(m.Author.ID) {
			x.failf("I10: the cursor %d has passed %s (%d), which no turn considered", c.Cursor, m.ID, m.Seq)
		}
	}
}

func newMachine(st bot.Store, hold time.Duration, placeholder bool) *machine {
	x := &machine{store: st, board: &board{}, hold: hold, acked: map[earshot.MessageID]bool{}, erase: map[earshot.MessageID]bool{}, late: map[string]bool{}}
	if placeholder {
		x.slate = &slate{board: x.board}
	}
	return x
}

// points returns where a process may die.
func points(placeholder bool) []string {
	if placeholder {
		return slices.Concat(bot.FaultPoints(), bot.PlaceholderFaultPoints())
	}
	return bot.FaultPoints()
}

func TestWhateverHappensEveryTurnHasOneEnd(t *testing.T) {
	t.Parallel()
	for _, placeholder := range []bool{false, true} {
		t.Run(fmt.Sprintf("placeholder %v", placeholder), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				script := acts(points(placeholder)).Draw(rt, "script")
				var x *machine
				synctest.Test(t, func(t *testing.T) {
					x = newMachine(memory(t), 9*time.Second, placeholder)
					x.play(t, script)
					x.check(t.Context())
				})
				if len(x.errs) > 0 {
					rt.Fatal(strings.Join(x.errs, "\n"))
				}
			})
		})
	}
}

// TestAKillAtEachPoint kills once at every point, without other faults, and checks
// that the point was reached.
func TestAKillAtEachPoint(t *testing.T) {
	t.Parallel()
	for _, placeholder := range []bool{false, true} {
		for _, point := range points(placeholder) {
			t.Run(fmt.Sprintf("placeholder %v/%s", placeholder, point), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					x := newMachine(memory(t), 9*time.Second, placeholder)
					say, wait := act{kind: "say"}, act{kind: "wait", wait: 8 * time.Second}
					x.play(t, []act{{kind: "kill", point: point}, say, say, wait, say, wait, say, wait, wait, say, say})
					x.check(t.Context())
					for _, e := range x.errs {
						t.Error(e)
					}
					if x.n < 2 {
						t.Errorf("nothing died at %s", point)
					}
				})
			})
		}
	}
}
