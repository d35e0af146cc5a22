package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pause"
	"github.com/earshot-ai/earshot/internal/words"
)

// A call of a tool with Approve runs only after a person has agreed to exactly its
// arguments. The question stands in the thread, with buttons where the platform has them.
// The turn waits for it in the store, without lease and slot: [earshot.Approvals].
//
//   - generate_approve.go asks, and ends the turn's way through this process
//   - choose.go takes what somebody chose, whichever process hears it; choose_word.go a yes
//     or a no that somebody said
//   - approve_text.go has the words

// An Approve says who agrees to calls of tools with Approve, and how long they are asked.
type Approve struct {
	// By is who may agree: [ApproveAsker], [ApproveMembers], and ids of people, user groups
	// and roles. Default: the asker alone. Nobody may whose words [Options].Trust has in
	// another lane than full, and no program may.
	By []string
	// Expire is how long somebody may agree. Default: an hour.
	Expire time.Duration
	// Hold answers later questions of a conversation only once nobody is asked anything in
	// it; Expire is then two hours at most. Else they are answered meanwhile.
	Hold bool
}

// Words of [Approve].By.
const (
	ApproveAsker   = "asker"   // who asked the question
	ApproveMembers = "members" // everybody in the channel
)

func (a Approve) withDefaults() Approve {
	a.By, a.Expire = slices.Clone(a.By), defaulted(a.Expire, time.Hour)
	if len(a.By) == 0 {
		a.By = []string{ApproveAsker}
	}
	if a.Hold {
		a.Expire = min(a.Expire, maxHold)
	}
	return a
}

// names reports whether somebody is one of those who may agree.
func (a Approve) names(asker earshot.AuthorID, by Chosen) bool {
	return slices.ContainsFunc(a.By, func(who string) bool {
		switch who {
		case ApproveMembers:
			return true
		case ApproveAsker:
			return by.By.ID == asker
		}
		return who == string(by.By.ID) || slices.Contains(by.Groups, who)
	})
}

// The choices of an approval.
const (
	chooseDo   = "do"
	chooseDont = "dont"
)

func (o *Options) approvalChoices() []Choice {
	return []Choice{
		{ID: chooseDo, Label: o.say(words.Do), Style: ChoiceDo},
		{ID: chooseDont, Label: o.say(words.Dont), Style: ChoiceDanger, Words: o.say(words.WhyNot)},
	}
}

// How long a conversation is held before it is looked at again, which a decision ends: shorter
// than what a lease may end in the future. And how long somebody is asked where it is held, so
// that those looks are no reason to give its questions up.
const (
	lookHeld = 25 * time.Minute
	maxHold  = 2 * time.Hour
)

// heldUntil returns when the questions of a conversation were free to be answered: they are
// as old as that at most. The outcome is listening where they are still held. What a tool asks
// holds them always: its turn keeps the lease meanwhile.
func (b *Bot) heldUntil(ctx context.Context, lease earshot.Lease) (free earshot.Time, err error) {
	if !b.opts.Approve.Hold && len(b.opts.Tools) == 0 {
		return 0, nil
	}
	most := maxApprovals
	if !b.opts.Approve.Hold {
		most = maxRepeats
	}
	list, err := b.store.Approvals(ctx, earshot.ApprovalQuery{Agent: b.agent, Scope: &lease.Conversation.Scope, Limit: most})
	if err != nil {
		return 0, fmt.Errorf("look up what was asked: %w", err)
	}
	for _, a := range list {
		if a.Conversation != lease.Conversation || !b.opts.Approve.Hold && !isOfTool(a) {
			continue
		}
		free = max(free, a.Decided)
		if a.State != earshot.ApprovalOpen {
			continue
		}
		if q, err := b.store.QueuedTurn(ctx, a.Turn); err == nil && q.State == earshot.TurnWaiting {
			return 0, outcome{kind: listening, wait: lookHeld}
		}
	}
	return free, nil
}

// How often approvals are looked at whose time is over, and how often while the store fails,
// of which [Bot.Run] tells.
const (
	expireEvery = 5 * time.Second
	expireLater = 30 * time.Second
)

// expireApprovals ends approvals whose time is over, until ctx ends.
func (b *Bot) expireApprovals(ctx context.Context) {
	wait := expireEvery
	for pause.For(ctx, wait) == nil {
		if wait = expireEvery; b.expireDue(ctx) != nil {
			wait = expireLater
		}
	}
}

// expireDue ends the approvals whose time is over now.
func (b *Bot) expireDue(ctx context.Context) error {
	due, err := b.store.Approvals(ctx, earshot.ApprovalQuery{Agent: b.agent, States: []earshot.ApprovalState{earshot.ApprovalOpen}, Due: b.now()})
	for _, a := range due {
		_, err := b.store.DecideApproval(ctx, a.ID, earshot.Decision{State: earshot.ApprovalExpired, Time: b.now()})
		if err != nil && !errors.Is(err, earshot.ErrConflict) { // somebody was faster
			return err
		}
		b.wakeUp()
	}
	return err
}
