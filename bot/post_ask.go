package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
)

// A question to a person is a post of its own kind, with choices. Its key is the id of its
// approval. Once that is decided, the message says so and has no choices any more.

// ask posts the question of an approval, unless people can see it.
func (o *outbox) ask(ctx context.Context, a earshot.Approval, text string, choices []Choice) error {
	posts, err := o.store.Posts(ctx, o.queued.ID)
	if err != nil {
		return err
	}
	p := earshot.Post{Turn: o.queued.ID, Chunk: nextChunk(posts), Key: string(a.ID), Text: text, State: earshot.PostPlanned}
	if i := slices.IndexFunc(posts, func(p earshot.Post) bool { return p.Key == string(a.ID) }); i >= 0 {
		p = posts[i]
	}
	if c, able := o.platform.(Chooser); able {
		o.choices = map[string][]Choice{p.Key: choices[:min(len(choices), c.MaxChoices())]}
	}
	o.slot.Give()
	_, err = o.send(ctx, p, false)
	return err
}

// hasPost reports whether the turn has a post with a key, arrived or not.
func (o *outbox) hasPost(ctx context.Context, key string) (bool, error) {
	posts, err := o.store.Posts(ctx, o.queued.ID)
	return slices.ContainsFunc(posts, func(p earshot.Post) bool { return p.Key == key }), err
}

// showDecided notes what came of calls that were agreed to, and shows in the messages that
// asked people something how that was decided. A message that takes no text is left as it is:
// a choice at it is refused.
func (t *turn) showDecided(ctx context.Context) error {
	if !t.hasAsked || t.opts.DryRun {
		return nil
	}
	posts, err := t.store.Posts(ctx, t.queued.ID)
	if err != nil {
		return err
	}
	list, err := t.store.Approvals(ctx, earshot.ApprovalQuery{Turn: t.queued.ID, Limit: maxApprovals})
	if err != nil {
		return fmt.Errorf("look up approvals: %w", err)
	}
	if err := t.noteResults(ctx, list); err != nil {
		return err
	}
	for _, a := range list {
		i := slices.IndexFunc(posts, func(p earshot.Post) bool { return p.Key == string(a.ID) && p.State == earshot.PostSent })
		if a.State == earshot.ApprovalOpen || i < 0 {
			continue
		}
		text := t.decidedText(a)
		if a.Tool == AskTool {
			text = t.answeredText(a, posts[i].Text)
		}
		if posts[i].Text != text {
			if err := t.outbox.redraw(ctx, posts[i], text); err != nil {
				return err
			}
		}
	}
	return nil
}

// askMessages returns the messages that have asked people something.
func (t *turn) askMessages(ctx context.Context) ([]earshot.Message, error) {
	if !t.hasAsked {
		return nil, nil
	}
	posts, err := t.store.Posts(ctx, t.queued.ID)
	if err != nil {
		return nil, err
	}
	var ids []earshot.MessageID
	for _, p := range ofKind(posts, kindApproval) {
		if p.State == earshot.PostSent {
			ids = append(ids, p.Message)
		}
	}
	return t.store.ByID(ctx, t.scope(), ids...)
}

// maxApprovals is how many approvals of a turn are looked at, the newest: more than its
// rounds can ask for.
const maxApprovals = 1000

// redraw gives a message of ours another text, once. An error is that of the store.
func (o *outbox) redraw(ctx context.Context, p earshot.Post, text string) error {
	u, able := o.platform.(Updater)
	if !able {
		return nil
	}
	if err := o.mayShow(ctx, true); err != nil && !isKind(err, withdrawn) {
		return err
	}
	p.Text = text
	d := o.draft(p)
	d.Choices = nil // this process may have asked it
	call, cancel := context.WithTimeout(ctx, postTime)
	err := u.Update(call, d, p.Message)
	cancel()
	if err != nil {
		o.log.Warn("a question that is decided does not say so", "message", p.Message, "err", err)
		return nil
	}
	m, err := o.ourMessage(ctx, earshot.Message{ID: p.Message}, text)
	if err != nil {
		return err
	}
	if err := o.journal.putPost(ctx, p); err != nil {
		return fmt.Errorf("write what a question became: %w", err)
	}
	return o.write(ctx, earshot.Arrival{Key: p.Key, Message: m})
}

// withdrawApprovals ends what the turn still asks people, since nothing waits for it.
func (t *turn) withdrawApprovals(ctx context.Context) error {
	if !t.hasAsked {
		return nil
	}
	open, err := t.store.Approvals(ctx, earshot.ApprovalQuery{Turn: t.queued.ID, States: []earshot.ApprovalState{earshot.ApprovalOpen}, Limit: maxApprovals})
	if err != nil {
		return fmt.Errorf("look up approvals: %w", err)
	}
	for _, a := range open {
		_, err := t.store.DecideApproval(ctx, a.ID, earshot.Decision{State: earshot.ApprovalWithdrawn, Time: t.now()})
		if err != nil && !errors.Is(err, earshot.ErrConflict) {
			return fmt.Errorf("withdraw an approval: %w", err)
		}
	}
	return t.showDecided(ctx)
}
