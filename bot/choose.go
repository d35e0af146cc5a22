package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/gather"
)

// What a person is told alone who chose something.
const (
	sayNotOpen   = "Nobody is asked this any more."
	sayNotYou    = "Only somebody else can answer this."
	sayTooLate   = "The time for this is over; it was not done."
	sayOneMore   = "I have that. Something else that I asked is still open; then I go on."
	sayUndecided = "I do not know this answer."
)

// Choose takes what somebody chose at a message of the bot. It returns once that is durable,
// and what they alone are told: "" where they see it by the message itself. The same choice
// again changes nothing.
//
// An error means that nothing is known to be stored; the person may choose again.
func (b *Bot) Choose(ctx context.Context, c Chosen) (private string, err error) {
	a, err := b.store.Approval(ctx, earshot.ApprovalID(c.Key))
	switch {
	case errors.Is(err, earshot.ErrNotFound):
		return sayNotOpen, nil
	case err != nil:
		return "", fmt.Errorf("look up what was asked: %w", err)
	case a.Conversation.Scope != c.Scope || a.Conversation.Agent != b.agent:
		return sayNotOpen, nil
	}
	d := earshot.Decision{By: c.By.ID, Why: c.Words, SHA256: a.SHA256, Time: b.now()}
	switch c.Choice {
	case chooseDo:
		d.State = earshot.ApprovalAgreed
	case chooseDont:
		d.State = earshot.ApprovalRefused
	default:
		return sayUndecided, nil
	}
	if may, err := b.mayDecide(ctx, a, c); err != nil || !may {
		return sayNotYou, err
	}
	if c.Message != "" { // it arrived, whatever the platform said when it was posted
		err := b.store.Confirm(ctx, c.Scope, c.Key, c.Message)
		switch {
		case errors.Is(err, earshot.ErrConflict):
			return sayNotOpen, nil // another message has its button
		case err != nil && !errors.Is(err, earshot.ErrNotFound):
			return "", fmt.Errorf("confirm what was asked: %w", err)
		}
	}
	return b.decide(ctx, a.ID, d)
}

// decide ends an approval, and says what who decided is told.
func (b *Bot) decide(ctx context.Context, id earshot.ApprovalID, d earshot.Decision) (private string, err error) {
	a, err := b.store.DecideApproval(ctx, id, d)
	switch {
	case err == nil:
	case !errors.Is(err, earshot.ErrConflict):
		return "", fmt.Errorf("store what was chosen: %w", err)
	case a.State == d.State && a.By == d.By && a.Operator == d.Operator:
		return "", nil // chosen twice
	case a.State == earshot.ApprovalExpired:
		b.wakeUp()
		return sayTooLate, nil
	default:
		return sayNotOpen, nil
	}
	b.fault(faultAfterDecide)
	b.log.Info("a person decided", append(conversationAttrs(a.Conversation), "turn", a.Turn, "tool", a.Tool, "state", a.State, "by", a.By)...)
	b.wakeUp()
	q, err := b.store.QueuedTurn(ctx, a.Turn)
	if err == nil && q.State == earshot.TurnWaiting {
		return sayOneMore, nil
	}
	return "", nil
}

// mayDecide reports whether somebody may decide an approval: one of those of
// [Options].Approve whom the list of who is answered names, who is no program, and whose words
// are in the lane full.
func (b *Bot) mayDecide(ctx context.Context, a earshot.Approval, c Chosen) (bool, error) {
	if c.By.ID == "" || b.identity.Is(c.By.ID) || !b.opts.Approve.names(a.Asker, c) {
		return false, nil
	}
	who := c.By
	list, err := b.store.Authors(ctx, c.Scope.Platform, c.Scope.Workspace, c.By.ID)
	if err != nil {
		return false, fmt.Errorf("look up who chose: %w", err)
	}
	for _, known := range list {
		who.Standing = known.Standing
		if who.Kind == "" {
			who.Kind = known.Kind
		}
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

// Words that mean yes and no where a person is asked.
var (
	yesWords = []string{"yes", "y", "yes please", "ok", "okay", "do it", "go", "go ahead", "ja", "oui", "sí", "si", "sim", "👍", "✅"}
	noWords  = []string{"no", "n", "no thanks", "don't", "dont", "do not", "nein", "non", "não", "👎", "❌"}
)

// choiceOf returns the choice that a text is, and the words after it; "" for any other text.
func choiceOf(text string) (choice, words string) {
	text = strings.Trim(strings.TrimSpace(text), ".!")
	first, rest, more := strings.Cut(text, ",")
	for _, w := range yesWords {
		if strings.EqualFold(text, w) {
			return chooseDo, ""
		}
	}
	for _, w := range noWords {
		if strings.EqualFold(text, w) {
			return chooseDont, ""
		}
		if more && strings.EqualFold(strings.TrimSpace(first), w) {
			return chooseDont, strings.TrimSpace(rest)
		}
	}
	return "", ""
}

// chooseByWord decides an approval by a message that says yes or no, where one is open in
// its conversation and its author may. Such a message asks for nothing else. It may be a
// repeat of one that decided before.
func (b *Bot) chooseByWord(ctx context.Context, e Event) (taken bool, err error) {
	m := e.Message
	if e.By.Emoji != "" || e.Known || m.Deleted || m.Edited != 0 || b.identity.Is(m.Author.ID) || m.Author.Kind == earshot.Bot {
		return false, nil
	}
	choice, words := choiceOf(b.identity.WithoutMentions(m.Text))
	if choice == "" {
		return false, nil
	}
	id, err := gather.ConversationOf(ctx, b.store, e.Channel, m, b.identity)
	if err != nil {
		return false, fmt.Errorf("look up what was asked: %w", err)
	}
	scope := e.Channel.Scope()
	since := m.Time - earshot.Time(b.opts.Approve.Expire/time.Microsecond)
	list, err := b.store.Approvals(ctx, earshot.ApprovalQuery{Agent: b.agent, Scope: &scope, Limit: maxApprovals, States: []earshot.ApprovalState{
		earshot.ApprovalOpen, earshot.ApprovalAgreed, earshot.ApprovalRefused}})
	if err != nil {
		return false, fmt.Errorf("look up what was asked: %w", err)
	}
	var open []earshot.Approval
	for _, a := range list {
		if a.Conversation != id || a.Asked < since || a.Asked > m.Time {
			continue
		}
		if a.State != earshot.ApprovalOpen && a.By == m.Author.ID && a.Decided == m.Time {
			return true, nil // this message decided it
		}
		if a.State == earshot.ApprovalOpen {
			open = append(open, a)
		}
	}
	if len(open) != 1 {
		return false, nil
	}
	c := Chosen{Scope: scope, Key: string(open[0].ID), Choice: choice, By: m.Author, Words: words}
	if may, err := b.mayDecide(ctx, open[0], c); err != nil || !may {
		return false, err
	}
	d := earshot.Decision{State: earshot.ApprovalAgreed, SHA256: open[0].SHA256, By: m.Author.ID, Why: words, Time: m.Time}
	if choice == chooseDont {
		d.State = earshot.ApprovalRefused
	}
	_, err = b.decide(ctx, open[0].ID, d)
	return err == nil, err
}

// expireApprovals ends approvals whose time is over, until ctx ends.
func (b *Bot) expireApprovals(ctx context.Context) {
	tick := time.NewTicker(max(b.limits.Poll, expireEvery))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		due, err := b.store.Approvals(ctx, earshot.ApprovalQuery{Agent: b.agent, States: []earshot.ApprovalState{earshot.ApprovalOpen}, Due: b.now()})
		for _, a := range due {
			if _, err = b.store.DecideApproval(ctx, a.ID, earshot.Decision{State: earshot.ApprovalExpired, Time: b.now()}); err != nil && !errors.Is(err, earshot.ErrConflict) {
				break
			}
			b.wakeUp()
		}
		if err != nil && !errors.Is(err, earshot.ErrConflict) && ctx.Err() == nil {
			b.log.Warn("end what nobody agreed to in time", "err", err)
		}
	}
}

// expireEvery is how often approvals are looked at whose time is over.
const expireEvery = 5 * time.Second
