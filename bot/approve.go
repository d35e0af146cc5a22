package bot

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
)

// A call of a tool with Approve runs only after a person has agreed to exactly its
// arguments. The question stands in the thread, with buttons where the platform has them.
// The turn waits for it in the store, without lease and slot: [earshot.Approvals].
//
//   - generate_approve.go asks, and ends the turn's way through this process
//   - choose.go takes what somebody chose or said, whichever process hears it
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
	// it. Else they are answered meanwhile.
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

func approvalChoices() []Choice {
	return []Choice{
		{ID: chooseDo, Label: "Do it", Style: ChoiceDo},
		{ID: chooseDont, Label: "Don't", Style: ChoiceDanger, Words: "Why not?"},
	}
}

// maxHold is how long a conversation is held before it is looked at again. A decision ends
// it sooner; it is shorter than what a lease may end in the future.
const maxHold = 10 * time.Minute

// holds returns the outcome listening where a conversation waits for a person and its later
// questions are to wait too.
func (b *Bot) holds(ctx context.Context, lease earshot.Lease) error {
	if !b.opts.Approve.Hold {
		return nil
	}
	list, err := b.store.Approvals(ctx, earshot.ApprovalQuery{Agent: b.agent, Scope: &lease.Conversation.Scope, States: []earshot.ApprovalState{earshot.ApprovalOpen}, Limit: maxApprovals})
	if err != nil {
		return fmt.Errorf("look up what was asked: %w", err)
	}
	for _, a := range list {
		if a.Conversation != lease.Conversation {
			continue
		}
		if q, err := b.store.QueuedTurn(ctx, a.Turn); err != nil || q.State != earshot.TurnWaiting {
			continue
		}
		return outcome{kind: listening, wait: maxHold}
	}
	return nil
}
