package bot

import (
	"context"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot/internal/address"
	"github.com/earshot-ai/earshot/internal/words"
)

// whyPoison is why a turn is given up with which process after process ended.
const whyPoison = "given up: the process has ended too often while it answered this"

// takeOver continues a turn that an earlier process has left with posts, and
// reports whether nothing more is to be done. Otherwise the turn goes down the rest
// of the line, and its recorded prompt, journal and posts are used there.
func (t *turn) takeOver(ctx context.Context) (done bool, err error) {
	posts, err := t.store.Posts(ctx, t.queued.ID)
	if err != nil {
		return false, err
	}
	replies, placeholders := ofKind(posts, kindReply), ofKind(posts, kindPlaceholder)
	t.hasAsked = slices.ContainsFunc(posts, func(p earshot.Post) bool { return p.Key[0] == kindApproval })
	posting := t.queued.State == earshot.TurnPosting
	poison := t.queued.Ends >= t.limits.Tries
	failing, err := t.failing(ctx, posts)
	if err != nil {
		return false, err
	}
	switch {
	case t.opts.DryRun && anyVisible(posts) && posting:
		return true, outcome{kind: unclear, why: "a dry run posts nothing, and a post is on its way"}
	case failing != nil:
		return true, t.fail(ctx, *failing)
	case poison && anyVisible(replies):
		return true, giveUp(whyPoison, words.Failed)
	case posting && anyUncertain(replies) && posts[len(posts)-1].Key[0] == kindNotice:
		return true, t.park(ctx, t.whyFailed(ctx), posts[len(posts)-1].Text)
	case anyVisible(replies):
		_, ok, err := t.resume(ctx, attemptOptions{})
		if err != nil || ok {
			return false, err
		}
		return true, t.finishWithoutPrompt(ctx, posts)
	case t.place.Anchor.Deleted && (anyVisible(placeholders) || t.hasAsked):
		return true, outcome{kind: withdrawn}
	case poison:
		return true, giveUp(whyPoison, words.Failed)
	case !t.ambient && address.OnlyMention(t.identity, &t.place.Anchor) && !anyVisible(placeholders):
		return true, t.askBack(ctx)
	}
	return false, nil
}

// failing returns the outcome of a turn that an earlier process has decided to fail,
// and whose apology waits for the platform; nil for other turns.
func (t *turn) failing(ctx context.Context, posts []earshot.Post) (*outcome, error) {
	if t.queued.State != earshot.TurnPosting || len(posts) == 0 || t.opts.DryRun {
		return nil, nil
	}
	if t.queued.Hash == "" && !anyVisible(posts) {
		return nil, nil // no journal says why: the prompt is made again, and fails again
	}
	if last := posts[len(posts)-1]; last.Key[0] == kindApology || last.Key[0] == kindPrivate {
		return t.failedOutcome(t.whyFailed(ctx), last.Text), nil
	}
	if t.place.Anchor.Deleted {
		return nil, nil // the turn is withdrawn, which says what is left to do
	}
	steps, err := t.store.Steps(ctx, t.queued.ID)
	if err != nil || len(steps) == 0 || steps[len(steps)-1].Kind != stepFailed {
		return nil, err
	}
	why := string(steps[len(steps)-1].Data)
	if why == whyStopped {
		return nil, nil
	}
	if strings.HasPrefix(why, whyUndelivered) {
		return t.findUndelivered(ctx, posts, why)
	}
	for _, p := range ofKind(posts, kindPlaceholder) {
		if p.State == earshot.PostSent && p.Text != "" && p.Text != t.opts.Placeholder {
			return t.failedOutcome(why, p.Text), nil
		}
	}
	return nil, nil
}

// failedOutcome is the outcome of a turn that has told the person already.
func (t *turn) failedOutcome(why, said string) *outcome {
	o := giveUp(why, words.In(t.opts.Language, t.opts.Words).KeyOf(said))
	o.text = said
	return &o
}

// findUndelivered looks once more for uncertain posts of a reply that was given up.
// Where part of the reply has arrived after all, the turn goes on.
func (t *turn) findUndelivered(ctx context.Context, posts []earshot.Post, why string) (*outcome, error) {
	for _, p := range ofKind(posts, kindReply) {
		if !isUncertain(p) {
			continue
		}
		m, err := t.outbox.look(ctx, p)
		switch {
		case err != nil:
			t.log.Warn("a post cannot be looked for", "chunk", p.Chunk, "err", err)
		case m.ID == "":
			if err := t.outbox.absent(ctx, &p); err != nil {
				return nil, err
			}
		default:
			_, err := t.outbox.recordArrival(ctx, p, m, false)
			return nil, err
		}
	}
	o := giveUp(why, words.Undelivered)
	return &o, nil
}

// whyFailed returns why an earlier process told the person that there is no answer.
func (t *turn) whyFailed(ctx context.Context) string {
	if t.journal.read(ctx) == nil {
		steps := t.journal.steps
		for i := len(steps) - 1; i >= 0; i-- {
			if steps[i].Kind == stepFailed && len(steps[i].Data) > 0 {
				return string(steps[i].Data)
			}
		}
	}
	return "failed before a restart"
}

// finishWithoutPrompt ends a turn whose reply is partly visible and whose prompt was
// erased since: the rest of the reply is posted, and nothing of it is kept.
func (t *turn) finishWithoutPrompt(ctx context.Context, posts []earshot.Post) error {
	steps, err := t.store.Steps(ctx, t.queued.ID)
	if err != nil {
		return err
	}
	since := t.queued.Opened
	if n := len(steps); n > 0 {
		since = steps[n-1].Time // erasure leaves the time
	}
	t.outbox.startWaiting(since)
	replies, err := t.outbox.deliver(ctx, kindReply, nil)
	if err != nil {
		return err
	}
	if p, ok, err := t.outbox.placeholder(ctx); err != nil {
		return err
	} else if ok && t.outbox.postsAnew() {
		if err := t.outbox.remove(ctx, p); err != nil {
			return err
		}
	}
	var text []string
	for _, p := range ofKind(posts, kindPlaceholder) {
		if p.State == earshot.PostSent && !t.outbox.postsAnew() { // the reply's first part
			replies = append([]earshot.MessageID{p.Message}, replies...)
			text = append(text, p.Text)
		}
	}
	for _, p := range ofKind(posts, kindReply) {
		text = append(text, p.Text)
	}
	t.report.Text = strings.Join(text, "\n")
	c, err := t.store.Conversation(ctx, t.lease.Conversation)
	if err != nil {
		return err
	}
	return t.finish(ctx, earshot.TurnDone, "", &earshot.Turn{
		Answer: earshot.Answer{Anchor: t.queued.Anchor, Replies: replies}, Policy: t.opts.Policy.Name, Hash: t.queued.Hash,
		Cursor: c.Cursor, Epoch: c.Epoch, Time: t.now(), Metadata: t.metadata(prompt{}, answer{left: t.asksToLeave()}),
	})
}

// askBack asks a person who only mentioned the agent what they would like to know.
func (t *turn) askBack(ctx context.Context) error {
	t.report.Text = t.opts.say(words.Question)
	t.outbox.startWaiting(t.queued.Opened)
	if !t.opts.DryRun {
		if _, err := t.outbox.deliver(ctx, kindQuestion, []string{t.report.Text}); err != nil {
			return err
		}
	}
	return t.finishUncommitted(ctx, "")
}
