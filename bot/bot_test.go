package bot_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
)

var (
	self    = earshot.Identity{ID: "U0BOT", Name: "earshot", Aliases: []earshot.AuthorID{"B0BOT"}}
	general = earshot.Channel{Platform: earshot.Local, Workspace: "T1", ID: "C1", Name: "general", Kind: earshot.KindChannel}
	direct  = earshot.Channel{Platform: earshot.Local, Workspace: "T1", ID: "D1", Kind: earshot.KindDM}
	alice   = earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}
	bob     = earshot.Author{ID: "U2", Name: "Bob", Kind: earshot.Human}
	ci      = earshot.Author{ID: "B9", Name: "CI", Kind: earshot.Bot}
)

// A board is a platform that keeps what was posted. faults say what goes wrong with
// the next posts.
type board struct {
	mu     sync.Mutex // guards what follows
	posts  []posted
	faults []fault
	max    int
}

type posted struct {
	bot.Draft
	id     earshot.MessageID
	at     earshot.Time
	edited earshot.Time
	was    []string // the earlier texts
	gone   bool     // it was deleted
}

type fault int

const (
	lostAnswer  fault = iota + 1 // the post arrives, and the call fails
	lostRequest                  // the post does not arrive, and the call fails
	refused
	busy
)

var errReset = errors.New("connection reset")

func (p *board) Post(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var f fault
	if len(p.faults) > 0 {
		f, p.faults = p.faults[0], p.faults[1:]
	}
	switch f {
	case lostRequest:
		return earshot.Message{}, errReset
	case refused:
		return earshot.Message{}, &bot.PostError{Err: errors.New("the channel is archived")}
	case busy:
		return earshot.Message{}, &bot.PostError{Retry: 3 * time.Second, Err: errors.New("slow down")}
	}
	x := posted{Draft: d, id: earshot.MessageID(fmt.Sprintf("p%03d", len(p.posts)+1)), at: earshot.TimeOf(time.Now())}
	p.posts = append(p.posts, x)
	if f == lostAnswer {
		return earshot.Message{}, errReset
	}
	return x.message(), nil
}

func (x posted) message() earshot.Message {
	m := earshot.Message{ID: x.id, Time: x.at, Text: x.Text, Thread: x.Thread}
	if x.Thread == "" && x.Channel.Kind != earshot.KindDM {
		m.Thread = x.Anchor.ID
	}
	return m
}

func (p *board) Find(_ context.Context, d bot.Draft) (earshot.Message, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, x := range p.posts {
		if x.Key == d.Key && !x.gone {
			return x.message(), nil
		}
	}
	return earshot.Message{}, earshot.ErrNotFound
}

func (p *board) MaxText() int { return p.max }

func (p *board) all() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, x := range p.posts {
		if !x.gone {
			out = append(out, x.Text)
		}
	}
	return out
}

// A slate is a board that can also update and delete posts, and show a message to
// one person.
type slate struct {
	*board
	smudged []fault // of the next updates
	private []string
	deaf    error // what Apologize returns
	closed  bool  // nothing can be replaced
	wipes   bool  // what we posted can be deleted
}

func (p *slate) Remove(_ context.Context, _ bot.Place, id earshot.MessageID) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.wipes {
		return &bot.PostError{Err: errors.New("messages are kept")}
	}
	for i := range p.posts {
		p.posts[i].gone = p.posts[i].gone || p.posts[i].id == id
	}
	return nil
}

func (p *slate) Update(_ context.Context, d bot.Draft, id earshot.MessageID) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var f fault
	if len(p.smudged) > 0 {
		f, p.smudged = p.smudged[0], p.smudged[1:]
	}
	if p.closed {
		f = refused
	}
	switch f {
	case lostRequest:
		return errReset
	case refused:
		return &bot.PostError{Err: errors.New("there is no such message")}
	case busy:
		return &bot.PostError{Retry: 3 * time.Second, Err: errors.New("slow down")}
	}
	for i := range p.posts {
		if x := &p.posts[i]; x.id == id && x.Text != d.Text {
			x.was, x.Text, x.edited = append(x.was, x.Text), d.Text, earshot.TimeOf(time.Now())
		}
	}
	if f == lostAnswer {
		return errReset
	}
	return nil
}

// drafts returns how many texts the first post had before the one that it has.
func (p *slate) drafts() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.posts[0].was)
}

func (p *slate) Apologize(_ context.Context, at bot.Place, text string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	var e *bot.PostError
	if !errors.As(p.deaf, &e) {
		p.private = append(p.private, string(at.Asker().ID)+": "+text)
	}
	return p.deaf
}

// blind is a board without Find.
type blind struct{ b *board }

func (p blind) Post(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	return p.b.Post(ctx, d)
}

// An echo is a model that answers with the last line of the request.
type echo struct {
	mu    sync.Mutex
	asked []llm.Request
	takes time.Duration
	errs  []error // of the next calls
}

func (e *echo) Generate(ctx context.Context, r llm.Request, _ func(llm.Event)) (llm.Response, error) {
	e.mu.Lock()
	e.asked = append(e.asked, r)
	var err error
	if len(e.errs) > 0 {
		err, e.errs = e.errs[0], e.errs[1:]
	}
	e.mu.Unlock()
	if err := r.Check(); err != nil {
		return llm.Response{}, err
	}
	if e.takes > 0 {
		select {
		case <-time.After(e.takes):
		case <-ctx.Done():
			return llm.Response{}, context.Cause(ctx)
		}
	}
	if err != nil {
		return llm.Response{}, err
	}
	return llm.Response{Parts: []llm.Part{llm.Text("you said: " + lastLine(r))}, Stop: llm.StopEnd, Usage: earshot.Usage{Input: 10, Output: 2}}, nil
}

func (e *echo) calls() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.asked)
}

// lastLine returns the last line of a request, without the time before it.
func lastLine(r llm.Request) string {
	parts := r.Messages[len(r.Messages)-1].Parts
	lines := strings.Split(strings.TrimSpace(parts[len(parts)-1].Text), "\n")
	return clock.ReplaceAllString(lines[len(lines)-1], "")
}

var clock = regexp.MustCompile(`^[0-9]{2}:[0-9]{2} `)

// A world is a bot over a store in memory, in the time of a synctest bubble.
type world struct {
	t       *testing.T
	store   bot.Store
	board   *board
	model   llm.Model
	options bot.Options
	bot     *bot.Bot
	stop    func()

	said    map[string]earshot.Time // when, by id
	mu      sync.Mutex              // guards reports
	reports []bot.Report
}

func memory(t *testing.T) bot.Store {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// in runs f with a bot that runs, in a bubble of synctest.
func in(t *testing.T, change func(*bot.Options), f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{t: t, store: memory(t), board: &board{}, model: &echo{}, said: map[string]earshot.Time{}}
		counter, err := tokens.For("o200k")
		if err != nil {
			t.Fatal(err)
		}
		w.options = bot.Options{
			Store: w.store, Model: w.model, Platform: w.board, Identity: self, Counter: counter, Owner: "one",
			Done: func(r bot.Report) {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.reports = append(w.reports, r)
			},
		}
		if change != nil {
			change(&w.options)
		}
		w.start()
		f(w)
		w.stop()
	})
}

func (w *world) start() {
	b := bot.New(w.options)
	w.bot = b // of two that were started, the later one hears
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	w.stop = func() {
		cancel()
		if err := <-done; err != nil {
			w.t.Errorf("Run: %v", err)
		}
	}
}

// say calls Handle with a message that is posted now.
func (w *world) say(c earshot.Channel, a earshot.Author, id, text string, change ...func(*bot.Event)) bot.Outcome {
	w.t.Helper()
	time.Sleep(time.Millisecond)
	at, ok := w.said[id]
	if !ok {
		at = earshot.TimeOf(time.Now())
		w.said[id] = at
	}
	e := bot.Event{Channel: c, Event: earshot.Event{
		Delivery: "d-" + id, Raw: []byte(`{"text":"` + text + `"}`),
		Message: earshot.Message{ID: earshot.MessageID(id), Time: at, Author: a, Text: text},
	}}
	for _, f := range change {
		f(&e)
	}
	out, err := w.bot.Handle(w.t.Context(), e)
	if err != nil {
		w.t.Fatalf("Handle %s: %v", id, err)
	}
	return out
}

func under(root string) func(*bot.Event) {
	return func(e *bot.Event) { e.Message.Thread = earshot.MessageID(root) }
}

// rest waits until every goroutine has been idle for a while.
func (w *world) rest(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// turns returns all turns as "anchor state why", in the order of opening.
func (w *world) turns() []string {
	w.t.Helper()
	list, err := w.store.QueuedTurns(w.t.Context(), earshot.TurnQuery{Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for i := len(list) - 1; i >= 0; i-- {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", list[i].Anchor, list[i].State, list[i].Why)))
	}
	return out
}
