package postgres

import (
	"context"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/jackc/pgx/v5"
)

// ClaimSummary implements [earshot.Summaries]. It skips a conversation that another
// transaction has locked; the next call finds it.
func (s *Store) ClaimSummary(ctx context.Context, agent earshot.AgentID, owner string, over int, now earshot.Time, hold time.Duration) (earshot.SummaryClaim, error) {
	agent, owner, err := rule.CheckOwner(agent, owner, hold)
	if err == nil {
		err = rule.CheckOver(over)
	}
	if err != nil {
		return earshot.SummaryClaim{}, err
	}
	var out earshot.SummaryClaim
	err = s.apply(ctx, "claim a summary", func(ctx context.Context, t *tx) error {
		id, found, next := earshot.ConversationID{Agent: agent}, false, 0
		t.ask(`SELECT platform, workspace, channel, name FROM conversation
			WHERE agent = $1 AND weight - summed > $2 AND (summary_until <= $3 OR summary_until > $4) ORDER BY weight - summed DESC LIMIT 1 FOR UPDATE SKIP LOCKED`, // see rule.Summed.Due
			[]any{string(agent), over, int64(now), int64(rule.Misdated(now, hold))}, one(&found, &id.Scope.Platform, &id.Scope.Workspace, &id.Scope.Channel, &id.Name))
		if err := t.send(ctx); err != nil {
			return err
		}
		if !found {
			return earshot.ErrNotFound
		}
		var x rule.Summed
		t.askSummed(id, &x)
		if err := t.send(ctx); err != nil {
			return err
		}
		x.Claim = x.Claim.Claimed(owner, now, hold)
		t.ask(`SELECT number + 1 FROM turn`+ofConversation+` AND number >= $6 AND greatest(weight, number + 1) >= $7 ORDER BY number LIMIT 1`,
			own(id, id.Name, x.Before.Turns, x.Half()), one(new(bool), &next))
		t.setSummaryClaim(id, x.Claim)
		if err := t.send(ctx); err != nil {
			return err
		}
		out = x.Claimed(id, next)
		return nil
	})
	return out, err
}

// askSummed queries what is stored of a conversation's summary, and locks the
// conversation. x stays zero when there is no such conversation.
func (t *tx) askSummed(id earshot.ConversationID, x *rule.Summed) {
	*x = rule.Summed{}
	t.ask(`SELECT summary_owner, summary_fence, summary_until, turns, weight, summed, epoch FROM conversation`+named+` FOR UPDATE`, own(id, id.Name),
		func(rows pgx.Rows) error {
			return rows.Scan(&x.Claim.Owner, &x.Claim.Fence, &x.Claim.Until, &x.Turns, &x.Weight, &x.Summed, &x.Epoch)
		})
	b := &x.Before
	t.ask(`SELECT text, from_time, to_time, turns, made_by, since FROM summary`+ofConversation, own(id, id.Name),
		func(rows pgx.Rows) error { return rows.Scan(&b.Text, &b.From, &b.To, &b.Turns, &b.By, &x.Since) })
}

func (t *tx) setSummaryClaim(id earshot.ConversationID, x rule.StoredLease) {
	t.write(`UPDATE conversation SET summary_owner = $6, summary_fence = $7, summary_until = $8`+named, own(id, id.Name, x.Owner, x.Fence, int64(x.Until))...)
}

// PutSummary implements [earshot.Summaries].
func (s *Store) PutSummary(ctx context.Context, c earshot.SummaryClaim, sum earshot.Summary, of ...earshot.MessageID) error {
	c, sum, of, err := rule.CheckSummary(c, sum, of)
	if err != nil {
		return err
	}
	id := c.Conversation
	return s.apply(ctx, "put summary", func(ctx context.Context, t *tx) error {
		var x rule.Summed
		gone, weight := false, 0
		t.shared(id.Scope)
		t.askSummed(id, &x)
		t.askDeleted(id.Scope, of, &gone)
		t.ask(`SELECT weight FROM turn`+ofConversation+` AND number = $6`, own(id, id.Name, sum.Turns-1), one(new(bool), &weight))
		if err := t.send(ctx); err != nil {
			return err
		}
		x, err := rule.PutSummary(x, c, sum, gone, weight)
		if err != nil {
			return err
		}
		t.write(`INSERT INTO summary (agent, platform, workspace, channel, conversation, text, from_time, to_time, turns, made_by, since)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
			ON CONFLICT (agent, platform, workspace, channel, conversation) DO UPDATE
			SET text = excluded.text, from_time = excluded.from_time, to_time = excluded.to_time, turns = excluded.turns, made_by = excluded.made_by`,
			own(id, id.Name, sum.Text, int64(sum.From), int64(sum.To), sum.Turns, sum.By, x.Since)...)
		t.write(`INSERT INTO summarised (agent, platform, workspace, channel, conversation, message)
			SELECT $1::text, $2::text, $3::text, $4::text, $5::text, unnest($6::text[]) ON CONFLICT DO NOTHING`, own(id, id.Name, texts(of))...)
		t.setSummed(id, x.Summed)
		t.setSummaryClaim(id, x.Claim)
		return nil
	})
}

func (t *tx) setSummed(id earshot.ConversationID, weight int) {
	t.write(`UPDATE conversation SET summed = $6`+named, own(id, id.Name, weight)...)
}

// ReleaseSummary implements [earshot.Summaries].
func (s *Store) ReleaseSummary(ctx context.Context, c earshot.SummaryClaim, notBefore earshot.Time) error {
	id := rule.Conversation(c.Conversation)
	return s.apply(ctx, "release a summary", func(ctx context.Context, t *tx) error {
		var x rule.Summed
		t.askSummed(id, &x)
		if err := t.send(ctx); err != nil {
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
	found, err := list(ctx, s, "read the summary", `SELECT text, from_time, to_time, turns, made_by FROM summary`+ofConversation, own(id, id.Name),
		func(rows pgx.Rows, sum *earshot.Summary) error {
			return rows.Scan(&sum.Text, &sum.From, &sum.To, &sum.Turns, &sum.By)
		})
	if err != nil {
		return earshot.Summary{}, err
	}
	if len(found) == 0 {
		return earshot.Summary{}, rule.NoSummary(id)
	}
	return found[0], nil
}

// dropSummary drops a summary that was made of what is deleted now, with the text of
// the epochs that may have read it. The conversation is locked.
func (t *tx) dropSummary(id earshot.ConversationID, x rule.Summed, now earshot.Time) {
	from, to := x.Dropped()
	t.eraseEpochs(id, from, to, now)
	t.eraseTurnsOf(id, to+1, to+1)
	t.write(`DELETE FROM summary`+ofConversation, own(id, id.Name)...)
	t.write(`DELETE FROM summarised`+ofConversation, own(id, id.Name)...)
	t.setSummed(id, 0)
}
