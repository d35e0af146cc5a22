package bot

import (
	"context"
	"strings"

	"github.com/earshot-ai/earshot"
)

// whyPoison is why a turn is given up of which each process seems to die.
const whyPoison = "given up: the process has ended too often while it answered this"

// goOn takes up what the turn's earlier posts leave to do, and reports whether
// that was all of the turn.
func (t *turn) goOn(ctx context.Context) (ended bool, err error) {
	posts, err := t.Store.Posts(ctx, t.queued.ID)
	if err != nil {
		return false, err
	}
	replies, placed := ofKind(posts, kindReply), ofKind(posts, kindPlaceholder)
	poison := t.queued.Ends >= t.Limits.Tries
	up, err := t.failing(ctx, posts)
	if err != nil {
		return false, err
	}
	switch {
	case t.DryRun && visible(posts) && t.queued.State == earshot.TurnPosting:
		return true, &park{"a dry run posts nothing, and a post is on its way"}
	case up != nil:
		return true, t.fail(ctx, up)
	case poison && visible(replies):
		return true, &giveUp{whyPoison, sayFailed}
	case t.queued.State == earshot.TurnPosting && unknown(replies) && posts[len(posts)-1].Key[0] == kindNotice:
		return true, t.park(ctx, t.failedBefore(ctx), posts[len(posts)-1].Text)
	case visible(replies):
		ok, err := t.resume(ctx)
		if err != nil || ok {
			return false, err
		}
		return true, t.asItIs(ctx, posts)
	case t.place.Anchor.Deleted && visible(placed):
		return true, errWithdrawn
	case poison:
		return true, &giveUp{whyPoison, sayFailed}
	case empty(t.Identity, t.place.Anchor) && !visible(placed):
		return true, t.askBack(ctx)
	}
	return false, nil
}

// failing returns why a turn goes on to say only that there is no answer: an
// earlier claim has decided so, and its apology waits for the platform.
func (t *turn) failing(ctx context.Context, posts []earshot.Post) (*giveUp, error) {
	if t.queued.State != earshot.TurnPosting || len(posts) == 0 || t.DryRun {
		return nil, nil
	}
	if t.queued.Hash == "" && !visible(posts) {
		return nil, nil // it has no journal that says why: it is gathered again, and fails again
	}
	if last := posts[len(posts)-1]; last.Key[0] == kindApology || last.Key[0] == kindPrivate {
		return &giveUp{t.failedBefore(ctx), last.Text}, nil
	}
	if t.place.Anchor.Deleted {
		return nil, nil // the deletion is met again, and says what is left to do
	}
	steps, err := t.Store.Steps(ctx, t.queued.ID)
	if err != nil || len(steps) == 0 || steps[len(steps)-1].Kind != stepFailed {
		return nil, err
	}
	why := string(steps[len(steps)-1].Data)
	if strings.HasPrefix(why, whyUndelivered) {
		return t.undelivered(ctx, posts, why)
	}
	for _, p := range ofKind(posts, kindPlaceholder) {
		if p.State == earshot.PostSent && p.Text != "" && p.Text != t.Placeholder {
			return &giveUp{why, p.Text}, nil
		}
	}
	return nil, nil
}

// undelivered looks once more for posts whose fate is not known. Where the
// answer has arrived after all, or part of it, there is nothing to give up.
func (t *turn) undelivered(ctx context.Context, posts []earshot.Post, why string) (*giveUp, error) {
	for _, p := range ofKind(posts, kindReply) {
		if p.State != earshot.PostSending && p.State != earshot.PostAmbiguous {
			continue
		}
		m, err := t.look(ctx, p)
		switch {
		case err != nil:
			t.Log.Warn("a post cannot be looked for", append(about(t.lease.Conversation), "turn", t.queued.ID, "chunk", p.Chunk, "err", err)...)
		case m.ID == "":
			if err := t.absent(ctx, &p); err != nil {
				return nil, err
			}
		default:
			_, err := t.arrived(ctx, p, m, false)
			return nil, err
		}
	}
	return &giveUp{why, sayUndelivered}, nil
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
	steps, err := t.Store.Steps(ctx, t.queued.ID)
	if err != nil {
		return err
	}
	t.begins(t.queued.Opened)
	if n := len(steps); n > 0 { // what it says is erased, not when
		t.begins(steps[n-1].Time)
	}
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
	t.begins(t.queued.Opened)
	if !t.DryRun {
		if err := t.deliver(ctx, kindQuestion, []string{sayQuestion}); err != nil {
			return err
		}
	}
	return t.finish(ctx, t.doneState(), t.doneWhy(), nil)
}
