package memory

import (
	"context"
	"fmt"
	"sort"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// state returns what is stored of a conversation's summary.
func (c *conversation) state() rule.SummaryState {
	x := c.summed
	x.Turns, x.Weight, x.Epoch = len(c.turns), c.weighs(len(c.turns)), c.Epoch
	return x
}

// ClaimSummary implements [earshot.Summaries].
func (s *Store) ClaimSummary(ctx context.Context, agent earshot.AgentID, owner string, over int, now earshot.Time, hold time.Duration) (earshot.SummaryClaim, error) {
	agent, owner, err := rule.CheckOwner(agent, owner, hold)
	if err == nil {
		err = rule.CheckOver(over)
	}
	if err != nil {
		return earshot.SummaryClaim{}, err
	}
	var out earshot.SummaryClaim
	err = s.write(ctx, func() error {
		var most *conversation
		for id, c := range s.conversations {
			if x := c.state(); id.Agent == agent && x.Due(over, now, hold) && (most == nil || x.Weight-x.Summed > most.state().Weight-most.summed.Summed) {
				most = c
			}
		}
		if most == nil {
			return rule.NoneDue()
		}
		most.summed.Claim = most.summed.Claim.Claimed(owner, now, hold)
		x := most.state()
		out = x.Claimed(most.ID, 1+sort.SearchInts(most.weight, x.Half()))
		return nil
	})
	return out, err
}

// PutSummary implements [earshot.Summaries].
func (s *Store) PutSummary(ctx context.Context, c earshot.SummaryClaim, sum earshot.Summary, of ...earshot.MessageID) error {
	c, sum, of, err := rule.CheckSummary(c, sum, of)
	if err != nil {
		return err
	}
	return s.write(ctx, func() error {
		in := s.conversations[c.Conversation]
		if in == nil {
			in = &conversation{}
		}
		next, err := rule.PutSummary(in.state(), c, sum, s.anyDeleted(c.Conversation.Scope, of), in.weighs(min(sum.Turns, len(in.turns))))
		if err != nil {
			return fmt.Errorf("put summary: %w", err)
		}
		in.summed = next
		if in.summarised == nil {
			in.summarised = map[earshot.MessageID]bool{}
		}
		for _, id := range of {
			in.summarised[id] = true
		}
		return nil
	})
}

// ReleaseSummary implements [earshot.Summaries].
func (s *Store) ReleaseSummary(ctx context.Context, c earshot.SummaryClaim, notBefore earshot.Time) error {
	return s.write(ctx, func() error {
		if in := s.conversations[rule.Conversation(c.Conversation)]; in != nil {
			if next, ok := rule.ReleaseSummary(in.summed.Claim, c, notBefore); ok {
				in.summed.Claim = next
			}
		}
		return nil
	})
}

// Summary implements [earshot.Summaries].
func (s *Store) Summary(ctx context.Context, id earshot.ConversationID) (earshot.Summary, error) {
	var out earshot.Summary
	err := s.read(ctx, func() error {
		c := s.conversations[rule.Conversation(id)]
		if c == nil || c.summed.Before.Turns == 0 {
			return rule.NoSummary(id)
		}
		out = c.summed.Before
		return nil
	})
	return out, err
}

// dropSummary drops a summary that was made of what is deleted now, with the text
// of the epochs that may have read it.
func (s *Store) dropSummary(c *conversation) {
	from, to := c.state().Dropped()
	s.eraseEpochs(c, from, to)
	s.eraseTurnsOf(c.ID, to+1, to+1)
	c.summed.Before, c.summed.Summed, c.summarised = earshot.Summary{}, 0, nil
}
