package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
)

// Bounds of showing an answer while it is written.
const (
	writeEvery  = earshot.Time(200_000)   // between two calls of a Writer, in microseconds
	updateEvery = earshot.Time(1_000_000) // of an Updater, the same
	updateTime  = 10 * time.Second        // one update
)

// A display shows an answer while it is written: to a [Writer], and in the
// placeholder's stead. Each show is the whole text so far, so that what is left
// out is made up for by the next; failures mean nothing.
type display struct {
	*turn
	writer  Writer
	post    *earshot.Post // the placeholder; nil where there is none
	told    earshot.Time  // when the writer was
	updates chan updates  // holds its value while no update is under way
}

// The updates of a placeholder so far.
type updates struct {
	next earshot.Time // not before
	lost bool         // what became of the last is not known: no further one
	over bool         // there is to be none: it was refused, or the turn is no longer ours to answer
}

// display returns nil where nobody sees an answer while it is written.
func (t *turn) display(ctx context.Context) *display {
	writer, able := t.Platform.(Writer)
	if t.DryRun || !able && t.placed == nil {
		return nil
	}
	d := &display{turn: t, writer: writer, post: t.placed, updates: make(chan updates, 1)}
	// An answer that comes at once is shown once.
	t.updates.next = max(t.updates.next, d.Now()+updateEvery)
	d.updates <- t.updates
	if able {
		t.wrote = true
		writer.Writing(ctx, t.place, "", false)
	}
	return d
}

// ours reports whether the placeholder is still waiting for its last text, and
// the question is there. A process that hung while another took the turn over
// must not write over that.
func (d *display) ours(ctx context.Context) bool {
	posts, err := d.Store.Posts(ctx, d.queued.ID)
	if err != nil || d.stands(ctx, true) != nil {
		return false
	}
	return slices.ContainsFunc(posts, func(p earshot.Post) bool { return p.Chunk == d.post.Chunk && p.Text == d.post.Text })
}

// written tells the platform that nothing is written any more.
func (t *turn) written(ctx context.Context) {
	if t.wrote {
		t.Platform.(Writer).Writing(ctx, t.place, t.text, true)
	}
}

// show is told all of the text so far, and whether it begins again.
func (d *display) show(ctx context.Context, text string, again bool) {
	now := d.Now()
	if d.writer != nil && (again || now-d.told >= writeEvery) {
		d.told = now
		d.writer.Writing(ctx, d.place, guard(text, d.links), false)
	}
	if d.post == nil {
		return
	}
	select {
	case u := <-d.updates:
		if text = d.growing(text); u.lost || u.over || now < u.next || text == "" {
			d.updates <- u
			return
		}
		u.next = now + updateEvery
		// It is not cancelled with ctx: then it might still arrive, and late.
		go d.update(context.WithoutCancel(ctx), u, text)
	default: // one is under way
	}
}

// growing returns what the placeholder says of a text that is not whole: as
// much as one message holds, with the sign that there is more to come.
func (d *display) growing(text string) string {
	text = strings.TrimSpace(guard(text, d.links))
	if text == "" {
		return ""
	}
	more := " " + d.Placeholder
	return split(text, d.maxText()-len([]rune(more)))[0] + more
}

func (d *display) update(ctx context.Context, u updates, text string) {
	defer func() {
		if p := recover(); p != nil {
			d.Log.Error("an update panicked", append(about(d.lease.Conversation), "turn", d.queued.ID, "panic", fmt.Sprint(p))...)
			u.lost = true
		}
		d.updates <- u
	}()
	ctx, cancel := context.WithTimeout(ctx, updateTime)
	defer cancel()
	if u.over = !d.ours(ctx); u.over {
		return
	}
	p := *d.post
	p.Text = text
	err := d.Platform.(Updater).Update(ctx, d.draft(p), p.Message)
	var e *PostError
	switch {
	case errors.As(err, &e):
		u.next, u.over = max(u.next, d.Now()+earshot.Time(e.Retry/time.Microsecond)), e.Retry <= 0
	case err != nil:
		u.lost = true
	}
}

// stop waits until nothing is under way. Nothing may be shown afterwards.
func (d *display) stop() {
	d.turn.updates = <-d.updates
}
