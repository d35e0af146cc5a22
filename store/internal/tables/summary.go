package tables

import (
	"context"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// idleOr returns none where there is nothing to do, or the error of finding out.
func idleOr(err error, what string, none error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return none
}

// Due selects the conversation that is to be summarised next, see [rule.SummaryState.Due].
const Due = `SELECT platform, workspace, channel, name FROM conversation
	WHERE agent = $1 AND weight - summed > $2 AND (summary_until <= $3 OR summary_until > $4) ORDER BY weight - summed DESC LIMIT 1`

// ClaimSummary implements [earshot.Summaries]. It passes over a conversation that
// another transaction has locked; the next call finds it.
func (s *Store) ClaimSummary(ctx context.Context, agent earshot.AgentID, owner string, over int, now earshot.Time, hold time.Duration) (earshot.SummaryClaim, error) {
	agent, owner, err := rule.CheckOwner(agent, owner, hold)
	if err == nil {
		err = rule.CheckOver(over)
	}
	if err != nil {
		return earshot.SummaryClaim{}, err
	}
	const what = "claim a summary"
	at := []any{string(agent), over, int64(now), int64(rule.MisdatedBound(now, hold))}
	if idle, err := s.engine.Idle(ctx, Due, at); err != nil || idle {
		return earshot.SummaryClaim{}, idleOr(err, what, rule.NoneDue())
	}
	var out earshot.SummaryClaim
	err = s.engine.Apply(ctx, what, func(ctx context.Context, t *Tx) error {
		id, found, next := earshot.ConversationID{Agent: agent}, false, 0
		t.Ask(Due+t.SQL.Skip, at, ScanOne(&found, &id.Scope.Platform, &id.Scope.Workspace, &id.Scope.Channel, &id.Name))
		if err := t.Send(ctx); err != nil {
			return err
		}
		if !found {
			return rule.NoneDue()
		}
		var x rule.SummaryState
		t.AskSummed(id, &x)
		if err := t.Send(ctx); err != nil {
			return err
		}
		x.Claim = x.Claim.Claimed(owner, now, hold)
		t.Ask(`SELECT number + 1 FROM turn`+OfConversation+` AND number >= $6 AND `+t.SQL.Greatest+`(weight, number + 1) >= $7 ORDER BY number LIMIT 1`,
			AgentParams(id, id.Name, x.Before.Turns, x.Half()), ScanOne(new(bool), &next))
		t.setSummaryClaim(id, x.Claim)
		if err := t.Send(ctx); err != nil {
			return err
		}
		out = x.Claimed(id, next)
		return nil
	})
	return out, err
}

// AskSummed queries what is stored of a conversation's summary, and locks the
// conversation. x stays zero when there is no such conversation.
func (t *Tx) AskSummed(id earshot.ConversationID, x *rule.SummaryState) {
	*x = rule.SummaryState{}
	t.Ask(`SELECT summary_owner, summary_fence, summary_until, turns, weight, summed, epoch FROM conversation`+Named+t.SQL.Lock, AgentParams(id, id.Name),
		func(row Row) error {
			return row.Scan(&x.Claim.Owner, &x.Claim.Fence, &x.Claim.Until, &x.Turns, &x.Weight, &x.Summed, &x.Epoch)
		})
	b := &x.Before
	t.Ask(`SELECT text, from_time, to_time, turns, made_by, since FROM summary`+OfConversation, AgentParams(id, id.Name),
		func(row Row) error { return row.Scan(&b.Text, &b.From, &b.To, &b.Turns, &b.By, &x.Since) })
}

func (t *Tx) setSummaryClaim(id earshot.ConversationID, x rule.StoredLease) {
	t.Write(`UPDATE conversation SET summary_owner = $6, summary_fence = $7, summary_until = $8`+Named, AgentParams(id, id.Name, x.Owner, x.Fence, int64(x.Until))...)
}

// PutSummary implements [earshot.Summaries].
func (s *Store) PutSummary(ctx context.Context, c earshot.SummaryClaim, sum earshot.Summary, of ...earshot.MessageID) error {
	c, sum, of, err := rule.CheckSummary(c, sum, of)
	if err != nil {
		return err
	}
	id := c.Conversation
	return s.engine.Apply(ctx, "put summary", func(ctx context.Context, t *Tx) error {
		var x rule.SummaryState
		gone, weight := false, 0
		t.Shared(id.Scope)
		t.AskSummed(id, &x)
		t.askDeleted(id.Scope, of, &gone)
		t.Ask(`SELECT weight FROM turn`+OfConversation+` AND number = $6`, AgentParams(id, id.Name, sum.Turns-1), ScanOne(new(bool), &weight))
		if err := t.Send(ctx); err != nil {
			return err
		}
		x, err := rule.PutSummary(x, c, sum, gone, weight)
		if err != nil {
			return err
		}
		t.Write(`INSERT INTO summary (agent, platform, workspace, channel, conversation, text, from_time, to_time, turns, made_by, since)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
			ON CONFLICT (agent, platform, workspace, channel, conversation) DO UPDATE
			SET text = excluded.text, from_time = excluded.from_time, to_time = excluded.to_time, turns = excluded.turns, made_by = excluded.made_by`,
			AgentParams(id, id.Name, sum.Text, int64(sum.From), int64(sum.To), sum.Turns, sum.By, x.Since)...)
		t.Rows(`summarised (agent, platform, workspace, channel, conversation, message)`, AgentParams(id, id.Name), idRows(of))
		t.setSummed(id, x.Summed)
		t.setSummaryClaim(id, x.Claim)
		return nil
	})
}

func (t *Tx) setSummed(id earshot.ConversationID, weight int) {
	t.Write(`UPDATE conversation SET summed = $6`+Named, AgentParams(id, id.Name, weight)...)
}

// ReleaseSummary implements [earshot.Summaries].
func (s *Store) ReleaseSummary(ctx context.Context, c earshot.SummaryClaim, notBefore earshot.Time) error {
	id := rule.Conversation(c.Conversation)
	return s.engine.Apply(ctx, "release a summary", func(ctx context.Context, t *Tx) error {
		var x rule.SummaryState
		t.AskSummed(id, &x)
		if err := t.Send(ctx); err != nil {
			return err
		}
		if next, ok := rule.ReleaseSummary(x.Claim, c, notBefore); ok {
			t.setSummaryClaim(id, next)
		}
		return nil
	})
}

// Summary implements [earshot.Summaries].
func (s *Store) Summary(ctx context.Context, id earshot.ConversationID) (earshot.Summary, error) {
	id = rule.Conversation(id)
	return readFirst(ctx, s.engine, "read the summary", `SELECT text, from_time, to_time, turns, made_by FROM summary`+OfConversation, AgentParams(id, id.Name), rule.NoSummary(id),
		func(row Row, sum *earshot.Summary) error {
			return row.Scan(&sum.Text, &sum.From, &sum.To, &sum.Turns, &sum.By)
		})
}

// DropSummary drops a summary that was made of what is deleted now, with the text of
// the epochs that may have read it. The conversation is locked.
func (t *Tx) DropSummary(id earshot.ConversationID, x rule.SummaryState, now earshot.Time) {
	from, to := x.Dropped()
	t.EraseEpochs(id, from, to, now)
	t.EraseTurnsOf(id, to+1, to+1)
	t.Write(`DELETE FROM summary`+OfConversation, AgentParams(id, id.Name)...)
	t.Write(`DELETE FROM summarised`+OfConversation, AgentParams(id, id.Name)...)
	t.setSummed(id, 0)
	t.Erased()
}
