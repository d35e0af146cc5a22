package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/words"
)

// Choose takes what somebody chose at a message of the bot. It returns once that is durable,
// and what they alone are told: "" where they see it by the message itself. The same choice
// again changes nothing.
//
// An error means that nothing is known to be stored; the person may choose again.
func (b *Bot) Choose(ctx context.Context, c Chosen) (private string, err error) {
	say, err := b.chooses(ctx, c)
	return b.sayIn(ctx, c.Scope, say), err
}

func (b *Bot) chooses(ctx context.Context, c Chosen) (private words.Key, err error) {
	switch c.Choice {
	case chooseStop:
		return b.stopByButton(ctx, c)
	case chooseGood, chooseBad:
		return b.noteFeedback(ctx, c)
	}
	a, err := b.store.Approval(ctx, earshot.ApprovalID(c.Key))
	switch {
	case errors.Is(err, earshot.ErrNotFound):
		return words.NotOpen, nil
	case err != nil:
		return "", fmt.Errorf("look up what was asked: %w", err)
	case a.Conversation.Scope != c.Scope || a.Conversation.Agent != b.agent:
		return words.NotOpen, nil
	}
	d := earshot.Decision{State: earshot.ApprovalAgreed, By: c.By.ID, Why: c.Words, SHA256: a.SHA256, Time: b.now()}
	switch answer, answers := answerOf(a, c); {
	case a.Tool == AskTool && answers:
		d.Why = answer
	case a.Tool != AskTool && c.Choice == chooseDo:
	case a.Tool != AskTool && c.Choice == chooseDont:
		d.State = earshot.ApprovalRefused
	default:
		return words.Undecided, nil
	}
	if may, err := b.mayDecide(ctx, a, c); err != nil || !may {
		return words.NotYou, err
	}
	if c.Message != "" { // it arrived, whatever the platform said when it was posted
		err := b.store.Confirm(ctx, c.Scope, c.Key, c.Message)
		switch {
		case errors.Is(err, earshot.ErrConflict):
			return words.NotOpen, nil // another message has its button
		case err != nil && !errors.Is(err, earshot.ErrNotFound):
			return "", fmt.Errorf("confirm what was asked: %w", err)
		}
	}
	return b.decide(ctx, a.ID, d)
}

// decide ends an approval, and says what who decided is told.
func (b *Bot) decide(ctx context.Context, id earshot.ApprovalID, d earshot.Decision) (private words.Key, err error) {
	a, err := b.store.DecideApproval(ctx, id, d)
	switch {
	case err == nil:
	case !errors.Is(err, earshot.ErrConflict):
		return "", fmt.Errorf("store what was chosen: %w", err)
	case a.State == d.State && a.By == d.By && a.Operator == d.Operator:
		return "", nil // chosen twice
	case a.State == earshot.ApprovalExpired:
		b.wakeUp()
		return words.TooLate, nil
	default:
		return words.NotOpen, nil
	}
	b.fault(faultAfterDecide)
	b.log.Info("a person decided", append(conversationAttrs(a.Conversation), "turn", a.Turn, "tool", a.Tool, "state", a.State, "by", a.By)...)
	b.wakeUp()
	q, err := b.store.QueuedTurn(ctx, a.Turn)
	if err == nil && q.State == earshot.TurnWaiting {
		return words.OneMore, nil
	}
	return "", nil
}

// mayDecide reports whether somebody may decide an approval: one of those of
// [Options].Approve whom the list of who is answered names, who is no program, and whose words
// are in the lane full.
func (b *Bot) mayDecide(ctx context.Context, a earshot.Approval, c Chosen) (bool, error) {
	if c.By.ID == "" || b.identity.Is(c.By.ID) || a.Tool == AskTool && c.By.ID != a.Asker {
		return false, nil
	}
	if named, err := b.isNamed(ctx, a, c); err != nil || !named {
		return false, err
	}
	who := c.By
	list, err := b.store.Authors(ctx, c.Scope.Platform, c.Scope.Workspace, c.By.ID)
	if err != nil {
		return false, fmt.Errorf("look up who chose: %w", err)
	}
	for _, known := range list {
		who.Standing, who.Kind = cmp.Or(who.Standing, known.Standing), cmp.Or(who.Kind, known.Kind)
	}
	if who.Kind == earshot.Bot || who.Kind == earshot.System {
		return false, nil
	}
	if b.opts.AllowList != nil {
		not, err := b.opts.AllowList(ctx, c.Scope, []earshot.AuthorID{who.ID})
		if err != nil || not[who.ID] {
			return false, err
		}
	}
	return b.opts.Trust.Lane(who) == earshot.LaneFull, nil
}

// isNamed reports whether somebody is one of those who may agree.
func (b *Bot) isNamed(ctx context.Context, a earshot.Approval, c Chosen) (bool, error) {
	if a.Tool == AskTool || b.opts.Approve.names(a.Asker, c) {
		return true, nil
	}
	groups, able := b.platform.(GroupReader)
	if !able || c.Groups != nil {
		return false, nil
	}
	in, err := groups.InGroups(ctx, c.Scope, c.By.ID, b.opts.Approve.By)
	if err != nil {
		return false, fmt.Errorf("look up the groups of who chose: %w", err)
	}
	return in, nil
}
