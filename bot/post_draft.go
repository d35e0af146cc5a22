package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot/internal/reply"
)

// How often an answer is shown while it is written.
const (
	writerEvery = earshot.Time(200_000)   // microseconds between two calls of a Writer
	draftEvery  = earshot.Time(1_000_000) // microseconds between two updates of the placeholder
	draftTime   = 10 * time.Second        // of one update
)

// A draftWriter shows an answer while it is written: to a [Writer], and in the
// placeholder. Each call shows the whole text so far, so that the next one makes up
// for one that was left out; failures mean nothing.
type draftWriter struct {
	*outbox
	links     *linkGuard
	writer    Writer          // nil: the platform has none
	post      *earshot.Post   // the placeholder; nil: there is none
	lastWrite earshot.Time    // the writer's last call
	state     chan draftState // holds its value while no update is under way

	mu      sync.Mutex // guards what follows
	waiting string     // what came too early, and is shown later where nothing comes after it
	later   *time.Timer
	armed   bool // later runs
	over    bool
}

// A draftState is how the updates of a placeholder have gone.
type draftState struct {
	next earshot.Time // no update before
	lost bool         // nobody knows whether the last one arrived: there is no further one
	over bool         // there is no further one: the platform refused it, or the turn is no longer ours
}

// newDraft returns nil where nobody sees an answer while it is written.
func (o *outbox) newDraft(ctx context.Context, placeholder *earshot.Post, links *linkGuard) *draftWriter {
	writer, able := o.platform.(Writer)
	if o.opts.DryRun || !able && placeholder == nil {
		return nil
	}
	d := &draftWriter{outbox: o, links: links, writer: writer, post: placeholder, state: make(chan draftState, 1)}
	// An answer that comes within the first second is shown once.
	o.drafts.next = max(o.drafts.next, o.now()+draftEvery)
	d.state <- o.drafts
	if able {
		o.writing = true
		writer.Writing(ctx, o.place, "", false)
	}
	return d
}

// stopWriting tells the platform's Writer that nothing is written any more.
func (o *outbox) stopWriting(ctx context.Context, text string) {
	if o.writing {
		o.platform.(Writer).Writing(ctx, o.place, text, true)
	}
}

// show shows all of the text so far. restarted says that the model began its answer
// from the start.
func (d *draftWriter) show(ctx context.Context, text string, restarted bool) {
	now := d.now()
	if d.writer != nil && (restarted || now-d.lastWrite >= writerEvery) {
		d.lastWrite = now
		d.writer.Writing(ctx, d.place, d.links.growing(text), false)
	}
	d.showPost(ctx, now, text)
}

// showPost shows a text in the placeholder, where there is one and it may be updated: now, or
// once it may be, unless another comes before.
func (d *draftWriter) showPost(ctx context.Context, now earshot.Time, text string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.post == nil || d.over {
		return
	}
	d.waiting = ""
	select {
	case s := <-d.state:
		// An answer comes in hundreds of parts, so the text is made only for one that is shown.
		if s.lost || s.over {
			d.state <- s
			return
		}
		if now < s.next {
			d.state <- s
			d.showLater(ctx, s.next-now, text)
			return
		}
		if text = d.growing(text); text == "" {
			d.state <- s
			return
		}
		s.next = now + draftEvery
		// The update does not end with ctx: one that is cancelled may still arrive,
		// and late.
		go d.update(context.WithoutCancel(ctx), s, text)
	default: // an update is under way
		d.showLater(ctx, draftEvery, text)
	}
}

// showLater shows a text after a while; d.mu is held.
func (d *draftWriter) showLater(ctx context.Context, after earshot.Time, text string) {
	d.waiting = text
	switch in := time.Duration(after) * time.Microsecond; {
	case d.armed:
		return
	case d.later == nil:
		d.later = time.AfterFunc(in, func() { d.showWaiting(ctx) })
	default:
		d.later.Reset(in)
	}
	d.armed = true
}

// showWaiting shows what came too early.
func (d *draftWriter) showWaiting(ctx context.Context) {
	d.mu.Lock()
	text := d.waiting
	d.armed = false
	d.mu.Unlock()
	if text != "" {
		d.showPost(ctx, d.now(), text)
	}
}

// growing returns the text of the placeholder while the answer is written: as much of
// the answer as one message holds, followed by the placeholder's own text.
func (d *draftWriter) growing(text string) string {
	text = strings.TrimSpace(d.links.growing(text))
	if text == "" {
		return ""
	}
	more := " " + d.opts.Placeholder
	shown := reply.Split(text, d.maxText()-len([]rune(more)))[0]
	if strings.HasSuffix(shown, "```") || strings.HasSuffix(shown, "~~~") {
		more = "\n" + d.opts.Placeholder // or the line would not end the block of code
	}
	return shown + more
}

// update shows one draft in the placeholder, and then gives the state back.
func (d *draftWriter) update(ctx context.Context, s draftState, text string) {
	defer func() {
		if p := recover(); p != nil {
			d.log.Error("an update panicked", "panic", fmt.Sprint(p))
			s.lost = true
		}
		d.state <- s
	}()
	ctx, cancel := context.WithTimeout(ctx, draftTime)
	defer cancel()
	if s.over = !d.mayUpdate(ctx); s.over {
		return
	}
	p := *d.post
	p.Text = text
	err := d.platform.(Updater).Update(ctx, d.draft(p), p.Message)
	var e *PostError
	switch {
	case errors.As(err, &e):
		s.next, s.over = max(s.next, d.now()+earshot.Time(e.Retry/time.Microsecond)), e.Retry <= 0
	case err != nil:
		s.lost = true
	}
}

// mayUpdate reports whether the placeholder still waits for its last text, and the
// question is there. A process that hung while another one took over the turn must
// not overwrite what that one has shown.
func (d *draftWriter) mayUpdate(ctx context.Context) bool {
	posts, err := d.store.Posts(ctx, d.queued.ID)
	if err != nil || d.mayShow(ctx, true) != nil {
		return false
	}
	return slices.ContainsFunc(posts, func(p earshot.Post) bool { return p.Chunk == d.post.Chunk && p.Text == d.post.Text })
}

// stop waits until no update is under way. Nothing may be shown afterwards.
func (d *draftWriter) stop() {
	d.mu.Lock()
	d.over = true
	if d.later != nil {
		d.later.Stop()
	}
	d.mu.Unlock()
	d.drafts = <-d.state
}
