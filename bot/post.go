package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot/internal/reply"
)

// The kinds of posts; the first letter of a post's key is its kind.
const (
	kindReply    = 'r'
	kindApology  = 'a'
	kindQuestion = 'q' // what a person is asked who only mentioned the agent

	kindPlaceholder = 'p' // what becomes the reply or the apology
	kindPrivate     = 'w' // an apology that only the person sees; it becomes no message
	kindNotice      = 'n' // that nobody knows whether another post arrived
	kindApproval    = 'y' // asks a person whether a tool may act
	kindLimit       = 'l' // tells who asks that a limit of the day is reached
	kindAway        = 's' // tells the person alone that the question was too old when its turn came; it becomes no message
)

const postTime = 30 * time.Second // of one call of the platform

// post brings the reply onto the platform, split by the platform's limit, and
// returns the messages that it became. The first part takes the placeholder's
// place where there is one; the others go through the outbox.
// Where an emoji is given instead, and the platform refuses it, the answer's why says so.
func (t *turn) post(ctx context.Context, a *answer) (_ []earshot.MessageID, err error) {
	if t.opts.DryRun {
		return nil, nil
	}
	ctx, end := t.trace(ctx, PartPost)
	defer end(&err)
	if a.gave != nil {
		if a.why, err = t.outbox.give(ctx, *a.gave, a.why); err != nil {
			return nil, err
		}
	}
	if a.why != "" {
		return nil, t.outbox.takeAway(ctx)
	}
	if _, failed := t.journal.failedStep(); failed && t.journal.pending == nil && !t.place.Anchor.Deleted {
		if err := t.journal.add(ctx, stepReopened, nil); err != nil {
			return nil, err
		}
	}
	t.outbox.startWaiting(t.journal.answerTime())
	texts := reply.Split(a.text, t.maxText())
	p, ok, err := t.outbox.placeholder(ctx)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return t.outbox.deliver(ctx, kindReply, texts)
	}
	if t.outbox.postsAnew() {
		return t.outbox.postAnew(ctx, p, kindReply, texts)
	}
	ids, err := t.outbox.fillPlaceholder(ctx, p, texts)
	var refused *PostError
	if !errors.As(err, &refused) {
		return ids, err
	}
	return t.outbox.postBeside(ctx, p, refused, kindReply, texts)
}

func (b *Bot) maxText() int {
	if s, ok := b.platform.(Sizer); ok && s.MaxText() > 0 {
		return s.MaxText()
	}
	return DefaultMaxText
}

// An outbox brings what a turn says onto the platform. Each post is written to the
// store before it is sent, and the store confirms it once it arrived.
type outbox struct {
	*claimedTurn
	journal *journal

	since     earshot.Time  // when the text that is posted now was ready
	slept     time.Duration // while it waited for the platform and held the lease
	withdrawn bool          // the question was deleted, and what is shown says so
	partial   bool          // part of a reply is visible, and the rest must not follow

	arrivals []earshot.Arrival   // arrived, and written with the end of the turn
	counted  bool                // the end of the process before is counted in a post
	drafts   draftState          // of the placeholder
	choices  map[string][]Choice // of what is posted now, by key
	first    string              // the key of the post for which whoever asked waits
	writing  bool                // the platform's Writer was told that an answer is written
}

// deliver brings texts onto the platform: all are planned, then one after the
// other is sent and known to have arrived. A post of an earlier process that may
// be visible stays as it is; without texts nothing is planned.
//
// The error is an outcome: unclear where nobody can find out whether a post
// arrived, gaveUp where the platform refuses it, waitForPlatform where it may take
// it later.
func (o *outbox) deliver(ctx context.Context, kind byte, texts []string) ([]earshot.MessageID, error) {
	return o.deliverParts(ctx, kind, texts, true)
}

// deliverParts is deliver for posts of which the first one, unless fresh, follows a part that
// people see.
func (o *outbox) deliverParts(ctx context.Context, kind byte, texts []string, fresh bool) ([]earshot.MessageID, error) {
	posts, err := o.plan(ctx, kind, texts)
	if err != nil {
		return nil, err
	}
	if o.first = ""; fresh && len(posts) > 0 {
		o.first = posts[0].Key
	}
	if kind == kindReply && len(posts) > 0 {
		o.offerFeedback(posts[len(posts)-1])
	}
	o.slot.Give()
	o.fault(faultAfterPlan)
	var ids []earshot.MessageID
	for i, p := range posts {
		id, err := o.send(ctx, p, i == len(posts)-1)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// plan writes the posts of a kind and returns those that are to arrive.
func (o *outbox) plan(ctx context.Context, kind byte, texts []string) ([]earshot.Post, error) {
	all, err := o.store.Posts(ctx, o.queued.ID)
	if err != nil {
		return nil, err
	}
	posts := ofKind(all, kind)
	if texts == nil || anyVisible(posts) && len(posts) == len(texts) {
		for i := range texts {
			posts[i].Text = cmp.Or(posts[i].Text, texts[i]) // it may be erased
		}
		return posts, nil
	}
	next := nextChunk(all)
	for i, text := range texts {
		if i < len(posts) && mayBeVisible(posts[i]) {
			continue
		}
		p := earshot.Post{Turn: o.queued.ID, Chunk: next, Key: string(kind) + o.opts.NewKey()}
		if i < len(posts) {
			p = posts[i]
		} else {
			next++
		}
		p.Text, p.State, p.Message = text, earshot.PostPlanned, ""
		if len(texts) == 1 && len(posts) == 0 {
			return []earshot.Post{p}, nil // one post is written when it is sent
		}
		if err := o.journal.putPost(ctx, p); err != nil {
			return nil, fmt.Errorf("plan a post: %w", err)
		}
		if i < len(posts) {
			posts[i] = p
		} else {
			posts = append(posts, p)
		}
	}
	// An earlier process may have planned more parts; those not begun are given up.
	for i := len(posts) - 1; i >= len(texts) && !mayBeVisible(posts[i]); i-- {
		posts[i].State, posts[i].Text = earshot.PostFailed, ""
		if err := o.journal.putPost(ctx, posts[i]); err != nil {
			return nil, fmt.Errorf("give up a post: %w", err)
		}
		posts = posts[:i]
	}
	return posts, nil
}

// offerFeedback has people asked below a post, the last of an answer, what they think of it.
func (o *outbox) offerFeedback(p earshot.Post) {
	if c, able := o.platform.(Chooser); able && o.opts.Answer.Feedback && c.MaxChoices() >= len(o.opts.feedbackChoices()) {
		o.choices = map[string][]Choice{p.Key: o.opts.feedbackChoices()}
	}
}

// draft is a post as the platform is given it.
func (o *outbox) draft(p earshot.Post) Draft {
	said := earshot.Message{Text: p.Text}
	d := Draft{Place: o.place, Text: p.Text, Mentions: said.Called(), Key: p.Key, Chunk: p.Chunk, Growing: p.Key[0] == kindPlaceholder, Choices: o.choices[p.Key]}
	d.Notify = p.Key == o.first && !d.Growing
	if _, able := o.platform.(Chooser); able && d.Growing {
		d.Choices = o.opts.stopChoices()
	}
	return d
}

// nextChunk returns the number of a turn's next post.
func nextChunk(posts []earshot.Post) int {
	next := 0
	for _, p := range posts {
		next = max(next, p.Chunk+1)
	}
	return next
}

// ofKind returns the posts of a kind, without those that were given up.
func ofKind(posts []earshot.Post, kind byte) []earshot.Post {
	var out []earshot.Post
	for _, p := range posts {
		if strings.HasPrefix(p.Key, string(kind)) && (p.State != earshot.PostFailed || p.Text != "") {
			out = append(out, p)
		}
	}
	return out
}

// mayBeVisible reports whether people may see a post.
func mayBeVisible(p earshot.Post) bool {
	return p.State == earshot.PostSending || p.State == earshot.PostSent || p.State == earshot.PostAmbiguous
}

// anyVisible reports whether people may see one of the posts.
func anyVisible(posts []earshot.Post) bool {
	for _, p := range posts {
		if mayBeVisible(p) {
			return true
		}
	}
	return false
}

// isUncertain reports whether nobody knows yet whether a post arrived.
func isUncertain(p earshot.Post) bool {
	return p.State == earshot.PostSending || p.State == earshot.PostAmbiguous
}

// anyUncertain reports whether one of the posts is uncertain.
func anyUncertain(posts []earshot.Post) bool {
	for _, p := range posts {
		if isUncertain(p) {
			return true
		}
	}
	return false
}
