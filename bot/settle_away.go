package bot

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/words"
)

// What a person learns whose question was too old when its turn came: one line that
// they alone see, or where the platform has none, an emoji at the question.
const emojiAway = "💤"

// AwayAge is how old a question may be so that its author is told that the agent was
// away. What is older is dropped without a word.
const AwayAge = 24 * time.Hour

// awayEvery is for how long, at least, nobody is told twice in one channel. At most it
// is twice as long.
const awayEvery = time.Hour

// tellsAway reports whether the author of a question that is dropped as stale is told.
// Who has asked again in the conversation is not: the later question is answered.
func (b *Bot) tellsAway(q pendingQuestion, later []earshot.QueuedTurn, anchors map[earshot.MessageID]earshot.Message) bool {
	who := Place{Anchor: q.anchor, By: q.by()}.Asker()
	if b.opts.NoAwayNotice || b.opts.DryRun || b.awayNotice() == nil || who.Kind != earshot.Human || who.ID == "" || b.ago(q.said()) > AwayAge {
		return false
	}
	for _, l := range later {
		if m := anchors[l.Anchor]; m.Author.ID == who.ID && !m.Deleted && b.ago(m.Time) <= b.limits.Fresh {
			return false
		}
	}
	return true
}

// awayNotice returns the call that tells one person; nil where the platform has none.
func (b *Bot) awayNotice() func(context.Context, Place) error {
	switch p := b.platform.(type) {
	case Apologizer:
		return func(ctx context.Context, at Place) error {
			return p.Apologize(ctx, at, b.in(at.Channel).say(words.Away))
		}
	case Reactor:
		return func(ctx context.Context, at Place) error { return p.React(ctx, at, emojiAway) }
	}
	return nil
}

// tellAway tells the author of the turn's question that the agent was away, once for
// all their questions in the channel within awayEvery. The outbox has the notice as
// Ambiguous before it is sent, because nobody can look for it, and it is never sent
// twice. The error may be the outcome waitForPlatform.
func (o *outbox) tellAway(ctx context.Context) error {
	posts, err := o.store.Posts(ctx, o.queued.ID)
	if err != nil {
		return err
	}
	var p earshot.Post
	since := o.now()
	for _, was := range posts {
		since = min(since, was.Updated) // of the first: it does not change
		p = was
	}
	if p.State == earshot.PostAmbiguous {
		return nil
	}
	if p.State != earshot.PostPlanned {
		var free bool
		if p, free, err = o.reserveAway(ctx); err != nil || !free {
			return err
		}
	}
	o.startWaiting(since)
	o.slot.Give()
	return o.tellAlone(ctx, p, o.opts.say(words.Away), o.awayNotice())
}

// tellAlone makes a call that tells one person something, until the platform takes it. The
// outbox has the notice as Ambiguous before each try.
func (o *outbox) tellAlone(ctx context.Context, p earshot.Post, say string, tell func(context.Context, Place) error) error {
	for {
		p.State, p.Text = earshot.PostAmbiguous, say
		if err := o.store.PutPost(ctx, o.lease, p); err != nil {
			return ignoreConflict(err)
		}
		o.fault(faultBeforePost)
		call, cancel := context.WithTimeout(ctx, postTime)
		err := tell(call, o.place)
		cancel()
		o.fault(faultAfterPost)
		var e *PostError
		if !errors.As(err, &e) {
			if err != nil {
				o.log.Warn("whether a person was told is not known", "what", say, "err", err)
			}
			return nil
		}
		if e.Retry > 0 {
			p.State = earshot.PostPlanned
			if err := o.store.PutPost(ctx, o.lease, p); err != nil {
				return err
			}
			if err = o.pause(ctx, err, e.Retry); err == nil {
				continue
			} else if !isKind(err, gaveUp) {
				return err
			}
		}
		o.log.Warn("a person was not told", "what", say, "err", err)
		p.State, p.Text = earshot.PostFailed, ""
		return o.store.PutPost(ctx, o.lease, p)
	}
}

// reserveAway reserves the right to tell the person. Keys of posts are unique in a
// channel, whichever process or replica writes them, and stay: so a notice takes the
// keys of its hour and of the one before, and is refused where either is taken. free
// reports whether it was not; p is the post, which is not written yet.
func (o *outbox) reserveAway(ctx context.Context) (p earshot.Post, free bool, err error) {
	hour := int64(o.now()) / awayEvery.Microseconds()
	before := earshot.Post{Turn: o.queued.ID, Key: o.awayKey(hour - 1), State: earshot.PostFailed}
	if err := o.store.PutPost(ctx, o.lease, before); err != nil {
		return p, false, ignoreConflict(err)
	}
	return earshot.Post{Turn: o.queued.ID, Chunk: 1, Key: o.awayKey(hour), Tries: 1}, true, nil
}

// awayKey is the key of the notice to one person in an hour.
func (o *outbox) awayKey(hour int64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d", o.agent, o.place.Asker().ID, hour))
	return string(kindAway) + base32.StdEncoding.EncodeToString(sum[:])[:24]
}

// ignoreConflict returns nil for a conflict: another process has ended the turn, or
// has told the person.
func ignoreConflict(err error) error {
	if errors.Is(err, earshot.ErrConflict) {
		return nil
	}
	return err
}
