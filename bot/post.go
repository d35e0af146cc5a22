package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
)

// What a post is, the first letter of its key.
const (
	kindReply    = 'r'
	kindApology  = 'a'
	kindQuestion = 'q' // what is asked of a person who only called

	kindPlaceholder = 'p' // what becomes the reply or the apology
	kindPrivate     = 'w' // an apology that only the person sees, if anybody: it has no message
	kindNotice      = 'n' // that it is not known whether another post arrived
)

const postTime = 30 * time.Second // of one call of the platform

// post says the reply: split by the platform's bound, the first part in the
// placeholder's stead where there is one, the others through the outbox.
func (t *turn) post(ctx context.Context) error {
	if t.DryRun {
		return nil
	}
	if n := len(t.steps); n > 0 && t.steps[n-1].Kind == stepFailed && t.last == nil && !t.place.Anchor.Deleted {
		if err := t.journal(ctx, stepAgain, nil); err != nil {
			return err
		}
	}
	t.begins(t.answered())
	texts := split(t.text, t.maxText())
	p, ok, err := t.held(ctx)
	switch {
	case err != nil:
		return err
	case !ok:
		return t.deliver(ctx, kindReply, texts)
	}
	var never *PostError
	if err := t.become(ctx, p, texts); !errors.As(err, &never) {
		return err
	}
	return t.beside(ctx, p, never, kindReply, texts)
}

func (b *Bot) maxText() int {
	if s, ok := b.Platform.(Sizer); ok && s.MaxText() > 0 {
		return s.MaxText()
	}
	return DefaultMaxText
}

// deliver brings texts through the outbox: all are planned, then one after the
// other is sent and known to have arrived. What was planned before a restart
// and may be visible stays as it is; without texts nothing is planned. A park
// or a giveUp is returned where it cannot be known whether a post arrived, or
// where the platform takes none, and a platformDown where it may do so later.
func (t *turn) deliver(ctx context.Context, kind byte, texts []string) error {
	posts, err := t.plan(ctx, kind, texts)
	if err != nil {
		return err
	}
	t.slot.give()
	t.Fault(faultAfterPlan)
	t.replies = nil
	for i, p := range posts {
		id, err := t.send(ctx, p, i == len(posts)-1)
		if err != nil {
			return err
		}
		t.replies = append(t.replies, id)
	}
	return nil
}

// plan writes the posts of a kind and returns those that are to arrive.
func (t *turn) plan(ctx context.Context, kind byte, texts []string) ([]earshot.Post, error) {
	all, err := t.Store.Posts(ctx, t.queued.ID)
	if err != nil {
		return nil, err
	}
	posts := ofKind(all, kind)
	if texts == nil || visible(posts) && len(posts) == len(texts) {
		for i := range texts {
			posts[i].Text = cmp.Or(posts[i].Text, texts[i]) // it may be erased
		}
		return posts, nil
	}
	next := nextChunk(all)
	for i, text := range texts {
		if i < len(posts) && seen(posts[i]) {
			continue
		}
		p := earshot.Post{Turn: t.queued.ID, Chunk: next, Key: string(kind) + t.NewKey()}
		if i < len(posts) {
			p = posts[i]
		} else {
			next++
		}
		p.Text, p.State, p.Message = text, earshot.PostPlanned, ""
		if len(texts) == 1 && len(posts) == 0 {
			return []earshot.Post{p}, nil // there is nothing to remember before it is being sent
		}
		if err := t.putPost(ctx, p); err != nil {
			return nil, fmt.Errorf("plan a post: %w", err)
		}
		if i < len(posts) {
			posts[i] = p
		} else {
			posts = append(posts, p)
		}
	}
	// Of a longer text that was planned and not begun, the rest is given up.
	for i := len(posts) - 1; i >= len(texts) && !seen(posts[i]); i-- {
		posts[i].State, posts[i].Text = earshot.PostFailed, ""
		if err := t.putPost(ctx, posts[i]); err != nil {
			return nil, fmt.Errorf("give up a post: %w", err)
		}
		posts = posts[:i]
	}
	return posts, nil
}

// nextChunk returns the number of a turn's next post.
func nextChunk(posts []earshot.Post) int {
	next := 0
	for _, p := range posts {
		next = max(next, p.Chunk+1)
	}
	return next
}

func seen(p earshot.Post) bool { return visible([]earshot.Post{p}) }

// ofKind returns the posts of a kind, but for those that were given up.
func ofKind(posts []earshot.Post, kind byte) []earshot.Post {
	var out []earshot.Post
	for _, p := range posts {
		if strings.HasPrefix(p.Key, string(kind)) && (p.State != earshot.PostFailed || p.Text != "") {
			out = append(out, p)
		}
	}
	return out
}

// send brings one post to its end and returns the message that it became. That
// the last has arrived is written with the end of the turn.
func (t *turn) send(ctx context.Context, p earshot.Post, last bool) (earshot.MessageID, error) {
	for {
		switch p.State {
		case earshot.PostSent:
			return p.Message, nil
		case earshot.PostSending, earshot.PostAmbiguous:
			m, err := t.find(ctx, &p)
			if err != nil {
				return "", err
			}
			if m.ID != "" {
				return t.arrived(ctx, p, m, last)
			}
		default:
			if err := t.stands(ctx, false); err != nil {
				t.partly = errors.Is(err, errWithdrawn)
				return "", err
			}
			if p.Tries >= maxEnds {
				return "", &giveUp{fmt.Sprintf("the process ended %d times while it sent post %d", p.Tries, p.Chunk), sayFailed}
			}
			m, err := t.sendOnce(ctx, &p)
			if err == nil {
				return t.arrived(ctx, p, m, last)
			}
			var e *PostError
			switch {
			case !errors.As(err, &e):
				return "", err
			case e.Retry <= 0:
				return "", &giveUp{err.Error(), sayFailed}
			}
			if err := t.pause(ctx, err, e.Retry); err != nil {
				return "", err
			}
		}
	}
}

// sendOnce writes that the post is being sent, and sends it. Tries counts the
// calls that did not return: of a post that ends the process. Afterwards p is
// Sending where it has arrived, else what a PostError leaves of it, or Ambiguous
// where that is not known.
func (t *turn) sendOnce(ctx context.Context, p *earshot.Post) (earshot.Message, error) {
	p.State, p.Tries = earshot.PostSending, p.Tries+1
	if err := t.putPost(ctx, *p); err != nil {
		return earshot.Message{}, fmt.Errorf("post: %w", err)
	}
	t.Fault(faultBeforePost)
	call, cancel := context.WithTimeout(ctx, postTime)
	m, err := t.Platform.Post(call, t.draft(*p))
	cancel()
	t.Fault(faultAfterPost)
	if err == nil && m.ID != "" {
		return m, nil
	}
	if err == nil {
		err = errors.New("the platform returned no id")
	}
	p.Tries--
	var e *PostError
	if errors.As(err, &e) {
		p.State = earshot.PostFailed
		if e.Retry > 0 {
			p.State = earshot.PostPlanned
		}
		if put := t.putPost(ctx, *p); put != nil {
			return earshot.Message{}, fmt.Errorf("post: %w", put)
		}
		return earshot.Message{}, err
	}
	t.Log.Warn("whether a post arrived is not known", append(about(t.lease.Conversation), "turn", t.queued.ID, "chunk", p.Chunk, "err", err)...)
	lost := err
	m, err = t.find(ctx, p)
	if err == nil && m.ID == "" {
		return earshot.Message{}, &PostError{Retry: t.Limits.Look, Err: fmt.Errorf("the post did not arrive: %w", lost)}
	}
	return m, err
}

// find looks whether a post arrived, in our own events and on the platform. A
// message without an id means that it did not, and p is Planned then: it was
// absent twice, or once [Limits.Look] after it was written that its fate is not
// known. So a process that lives shorter than that comes to an end as well.
func (t *turn) find(ctx context.Context, p *earshot.Post) (earshot.Message, error) {
	looks := 2
	if p.State == earshot.PostAmbiguous && p.Updated > 0 && t.ago(p.Updated) >= t.Limits.Look {
		looks = 1
	}
	if p.State != earshot.PostAmbiguous {
		p.State = earshot.PostAmbiguous
		if err := t.putPost(ctx, *p); err != nil {
			return earshot.Message{}, fmt.Errorf("post: %w", err)
		}
	}
	for look := 1; ; {
		m, err := t.look(ctx, *p)
		var blind *park
		switch {
		case err == nil && m.ID != "":
			return m, nil
		case err != nil && !errors.As(err, &blind):
			if err := t.pause(ctx, err, 0); err != nil {
				return earshot.Message{}, err
			}
		case look < looks:
			look++
			if err := sleep(ctx, t.Limits.Look); err != nil {
				return earshot.Message{}, err
			}
		case err != nil:
			return earshot.Message{}, err
		default:
			return earshot.Message{}, t.absent(ctx, p)
		}
	}
}

// absent writes that a post is known not to have arrived.
func (t *turn) absent(ctx context.Context, p *earshot.Post) error {
	p.State = earshot.PostPlanned
	if err := t.putPost(ctx, *p); err != nil {
		return fmt.Errorf("post: %w", err)
	}
	return nil
}

// look looks once. The error is a [park] where nobody can look.
func (t *turn) look(ctx context.Context, p earshot.Post) (earshot.Message, error) {
	posts, err := t.Store.Posts(ctx, p.Turn)
	if err != nil {
		return earshot.Message{}, err
	}
	for _, now := range posts {
		if now.Chunk == p.Chunk && now.State == earshot.PostSent {
			return earshot.Message{ID: now.Message}, nil
		}
	}
	finder, able := t.Platform.(Finder)
	if !able {
		return earshot.Message{}, &park{fmt.Sprintf("whether post %d arrived cannot be found out: the platform has no way to look", p.Chunk)}
	}
	call, cancel := context.WithTimeout(ctx, postTime)
	defer cancel()
	m, err := finder.Find(call, t.draft(p))
	var never *PostError
	switch {
	case errors.Is(err, earshot.ErrNotFound):
		return earshot.Message{}, nil
	case errors.As(err, &never) && never.Retry <= 0:
		return earshot.Message{}, &park{fmt.Sprintf("whether post %d arrived cannot be found out: %v", p.Chunk, err)}
	case err != nil:
		return earshot.Message{}, fmt.Errorf("whether post %d arrived cannot be found out: %w", p.Chunk, err)
	}
	return m, nil
}

func (t *turn) draft(p earshot.Post) Draft {
	return Draft{Place: t.place, Text: p.Text, Key: p.Key, Chunk: p.Chunk, Growing: p.Key[0] == kindPlaceholder}
}

// sleep waits, or returns why ctx has ended.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
