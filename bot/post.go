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
)

// Bounds of posting.
const (
	postTime = 30 * time.Second // one call of the platform
	maxSends = 5                // of one post
)

// post says the reply: split by the platform's bound, the first part in the
// placeholder's stead where there is one, the others through the outbox.
func (t *turn) post(ctx context.Context) error {
	if t.DryRun {
		return nil
	}
	texts := split(t.text, t.maxText())
	p, ok, err := t.held(ctx)
	if err != nil {
		return err
	}
	if ok {
		var never *PostError
		if err := t.become(ctx, p, texts); !errors.As(err, &never) {
			return err
		}
		t.Log.Warn("the placeholder takes no text", append(about(t.lease.Conversation), "turn", t.queued.ID, "message", p.Message, "err", never)...)
	}
	return t.deliver(ctx, kindReply, texts)
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
// where the platform takes none.
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
	waited := time.Duration(0)
	for {
		switch p.State {
		case earshot.PostSent:
			return p.Message, nil
		case earshot.PostSending: // by a process that is gone
			p.State = earshot.PostAmbiguous
			if err := t.putPost(ctx, p); err != nil {
				return "", fmt.Errorf("post: %w", err)
			}
		case earshot.PostAmbiguous:
			m, err := t.find(ctx, p)
			if err != nil {
				return "", err
			}
			if m.ID != "" {
				return t.arrived(ctx, p, m, last)
			}
			p.State = earshot.PostPlanned // absent twice
		default:
			if p.Tries >= maxSends {
				return "", &giveUp{fmt.Sprintf("post %d was sent %d times and did not arrive", p.Chunk, p.Tries), sayFailed}
			}
			m, err := t.sendOnce(ctx, &p)
			if err == nil {
				return t.arrived(ctx, p, m, last)
			}
			var e *PostError
			switch {
			case !errors.As(err, &e):
				return "", err
			case e.Retry <= 0 || waited+e.Retry > t.Limits.Patience:
				return "", &giveUp{err.Error(), sayFailed}
			}
			waited += e.Retry
			if err := sleep(ctx, e.Retry); err != nil {
				return "", err
			}
		}
	}
}

// sendOnce writes that the post is being sent, and sends it. Afterwards p is
// Sending where it has arrived, Ambiguous (and no error) where that is not
// known, else what a PostError leaves of it.
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
	var e *PostError
	if errors.As(err, &e) {
		p.State = earshot.PostFailed
		if e.Retry > 0 {
			p.State, p.Tries = earshot.PostPlanned, p.Tries-1
		}
		if put := t.putPost(ctx, *p); put != nil {
			return earshot.Message{}, fmt.Errorf("post: %w", put)
		}
		return earshot.Message{}, err
	}
	t.Log.Warn("whether a post arrived is not known", append(about(t.lease.Conversation), "turn", t.queued.ID, "chunk", p.Chunk, "err", err)...)
	p.State = earshot.PostAmbiguous
	if put := t.putPost(ctx, *p); put != nil {
		return earshot.Message{}, fmt.Errorf("post: %w", put)
	}
	m, err = t.find(ctx, *p)
	if err == nil && m.ID == "" {
		p.State = earshot.PostPlanned
		return earshot.Message{}, &PostError{Retry: t.Limits.Look, Err: errors.New("the post did not arrive")}
	}
	return m, err
}

// find looks whether a post arrived: twice, in our own events and on the
// platform. A message without an id means that it did not.
func (t *turn) find(ctx context.Context, p earshot.Post) (earshot.Message, error) {
	finder, able := t.Platform.(Finder)
	for look := range 2 {
		if look > 0 {
			if err := sleep(ctx, t.Limits.Look); err != nil {
				return earshot.Message{}, err
			}
		}
		posts, err := t.Store.Posts(ctx, p.Turn)
		if err != nil {
			return earshot.Message{}, err
		}
		for _, now := range posts {
			if now.Chunk == p.Chunk && now.State == earshot.PostSent {
				return earshot.Message{ID: now.Message}, nil
			}
		}
		if !able {
			continue
		}
		call, cancel := context.WithTimeout(ctx, postTime)
		m, err := finder.Find(call, t.draft(p))
		cancel()
		switch {
		case err == nil && m.ID != "":
			return m, nil
		case err != nil && !errors.Is(err, earshot.ErrNotFound) && time.Duration(t.Now()-p.Updated)*time.Microsecond > t.Limits.Patience && p.Updated > 0:
			return earshot.Message{}, &park{fmt.Sprintf("whether post %d arrived cannot be found out: %v", p.Chunk, err)}
		case err != nil && !errors.Is(err, earshot.ErrNotFound):
			return earshot.Message{}, fmt.Errorf("look for a post: %w", err)
		}
	}
	if !able {
		return earshot.Message{}, &park{fmt.Sprintf("whether post %d arrived cannot be found out: the platform has no way to look", p.Chunk)}
	}
	return earshot.Message{}, nil
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
