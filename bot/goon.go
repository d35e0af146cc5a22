package bot

import (
	"context"
	"strings"

	"github.com/earshot-ai/earshot"
)

// goOn takes up what the turn's earlier posts leave to do, and reports whether
// that was all of the turn.
func (t *turn) goOn(ctx context.Context) (ended bool, err error) {
	posts, err := t.Store.Posts(ctx, t.queued.ID)
	if err != nil {
		return false, err
	}
	replies, placed := ofKind(posts, kindReply), ofKind(posts, kindPlaceholder)
	switch {
	case t.DryRun && visible(posts) && t.queued.State == earshot.TurnPosting:
		return true, &park{"a dry run posts nothing, and a post is on its way"}
	case t.queued.State == earshot.TurnPosting && len(posts) > 0 && strings.IndexByte(string(kindApology)+string(kindPrivate), posts[len(posts)-1].Key[0]) >= 0:
		return true, t.fail(ctx, &giveUp{t.failedBefore(ctx), posts[len(posts)-1].Text})
	case visible(replies):
		ok, err := t.resume(ctx)
		if err != nil || ok {
			return false, err
		}
		return true, t.asItIs(ctx, posts)
	case t.place.Anchor.Deleted && visible(placed):
		return true, errWithdrawn
	case t.queued.Tries > t.Limits.Tries:
		return true, &giveUp{"given up: the process has ended too often while it answered this", sayFailed}
	case empty(t.Identity, t.place.Anchor) && !visible(placed):
		return true, t.askBack(ctx)
	}
	return false, nil
}

// failedBefore returns why the person was told that there is no answer.
func (t *turn) failedBefore(ctx context.Context) string {
	steps, err := t.Store.Steps(ctx, t.queued.ID)
	if err == nil {
		t.steps = steps
		for i := len(steps) - 1; i >= 0; i-- {
			if steps[i].Kind == stepFailed && len(steps[i].Data) > 0 {
				return string(steps[i].Data)
			}
		}
	}
	return "failed before a restart"
}

// asItIs ends a turn whose reply is partly visible and whose prompt was erased
// since: the rest is said, and nothing of it is kept.
func (t *turn) asItIs(ctx context.Context, posts []earshot.Post) error {
	if err := t.deliver(ctx, kindReply, nil); err != nil {
		return err
	}
	var text []string
	for _, p := range ofKind(posts, kindPlaceholder) {
		if p.State == earshot.PostSent { // its first part
			t.replies = append([]earshot.MessageID{p.Message}, t.replies...)
			text = append(text, p.Text)
		}
	}
	for _, p := range ofKind(posts, kindReply) {
		text = append(text, p.Text)
	}
	t.text = strings.Join(text, "\n")
	c, err := t.Store.Conversation(ctx, t.lease.Conversation)
	if err != nil {
		return err
	}
	return t.finish(ctx, earshot.TurnDone, "", &earshot.Turn{
		Answer: earshot.Answer{Anchor: t.queued.Anchor, Replies: t.replies}, Policy: t.Policy.Name, Hash: t.queued.Hash,
		Cursor: c.Cursor, Epoch: c.Epoch, Time: t.Now(), Metadata: t.metadata(),
	})
}

// askBack asks a person who only called what they would like to know.
func (t *turn) askBack(ctx context.Context) error {
	t.text = sayQuestion
	if !t.DryRun {
		if err := t.deliver(ctx, kindQuestion, []string{sayQuestion}); err != nil {
			return err
		}
	}
	return t.finish(ctx, t.doneState(), t.doneWhy(), nil)
}
