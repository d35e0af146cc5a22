package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// due selects the conversation that is to be summarised next, see [rule.Summed.Due].
const due = `SELECT platform, workspace, channel, name FROM conversation
	WHERE agent = ? AND weight - summed > ? AND (summary_until <= ? OR summary_until > ?) ORDER BY weight - summed DESC LIMIT 1`

// ClaimSummary implements [earshot.Summaries].
func (s *Store) ClaimSummary(ctx context.Context, agent earshot.AgentID, owner string, over int, now earshot.Time, hold time.Duration) (earshot.SummaryClaim, error) {
	agent, owner, err := rule.CheckOwner(agent, owner, hold)
	if err == nil {
		err = rule.CheckOver(over)
	}
	if err != nil {
		return earshot.SummaryClaim{}, err
	}
	id := earshot.ConversationID{Agent: agent}
	dest := []any{&id.Scope.Platform, &id.Scope.Workspace, &id.Scope.Channel, &id.Name}
	a := []any{string(agent), over, int64(now), int64(rule.Misdated(now, hold))}
	// A read finds out whether anything is due, so that asking does not occupy the
	// writer.
	if err := s.row(ctx, due, a, dest...); err != nil {
		return earshot.SummaryClaim{}, missing(err, "claim a summary", rule.NoneDue())
	}
	var out earshot.SummaryClaim
	err = s.apply(ctx, "claim a summary", func(t *tx) error {
		found, err := t.one(due, a, dest)
		if err != nil {
			return err
		}
		if !found {
			return rule.NoneDue()
		}
		x, err := t.summed(id)
		if err != nil {
			return err
		}
		x.Claim = x.Claim.Claimed(owner, now, hold)
		next := 0
		if _, err := t.one(`SELECT number + 1 FROM turn`+ofConversation+` AND number >= ? AND max(weight, number + 1) >= ? ORDER BY number LIMIT 1`,
			own(id, id.Name, x.Before.Turns, x.Half()), []any{&next}); err != nil {
			return err
		}
		out = x.Claimed(id, next)
		return t.setSummaryClaim(id, x.Claim)
	})
	return out, err
}

// summed loads what is stored of a conversation's summary, without its text. It is
// zero when there is no such conversation.
func (t *tx) summed(id earshot.ConversationID) (rule.Summed, error) {
	var x rule.Summed
	_, err := t.one(`SELECT summary_owner, summary_fence, summary_until, turns, weight, summed, epoch FROM conversation`+ofAgent+` AND name = ?`, own(id, id.Name),
		[]any{&x.Claim.Owner, &x.Claim.Fence, &x.Claim.Until, &x.Turns, &x.Weight, &x.Summed, &x.Epoch})
	if err != nil {
		return x, err
	}
	b := &x.Before
	_, err = t.one(`SELECT text, from_time, to_time, turns, made_by, since FROM summary`+ofConversation, own(id, id.Name),
		[]any{&b.Text, &b.From, &b.To, &b.Turns, &b.By, &x.Since})
	return x, err
}

func (t *tx) setSummaryClaim(id earshot.ConversationID, x rule.StoredLease) error {
	return t.exec(`UPDATE conversation SET summary_owner = ?, summary_fence = ?, summary_until = ?`+ofAgent+` AND name = ?`,
		append([]any{x.Owner, x.Fence, int64(x.Until)}, own(id, id.Name)...)...)
}

// PutSummary implements [earshot.Summaries].
func (s *Store) PutSummary(ctx context.Context, c earshot.SummaryClaim, sum earshot.Summary, of ...earshot.MessageID) error {
	c, sum, of, err := rule.CheckSummary(c, sum, of)
	if err != nil {
		return err
	}
	id := c.Conversation
	return s.apply(ctx, "put summary", func(t *tx) error {
		x, err := t.summed(id)
		if err != nil {
			return err
		}
		gone, err := t.anyDeleted(id.Scope, of...)
		if err != nil {
			return err
		}
		weight := 0
		if _, err := t.one(`SELECT weight FROM turn`+ofConversation+` AND number = ?`, own(id, id.Name, sum.Turns-1), []any{&weight}); err != nil {
			return err
		}
		if x, err = rule.PutSummary(x, c, sum, gone, weight); err != nil {
			return err
		}
		if err := t.putSummary(id, x); err != nil {
			return err
		}
		for len(of) > 0 {
			n := chunk(len(of))
			var a []any
			for _, m := range of[:n] {
				a = append(a, own(id, id.Name, string(m))...)
			}
			if err := t.exec(`INSERT INTO summarised (agent, platform, workspace, channel, conversation, message) VALUES `+marks(6, n)+` ON CONFLICT DO NOTHING`, a...); err != nil {
				return err
			}
			of = of[n:]
		}
		return t.setSummaryClaim(id, x.Claim)
	})
}

// putSummary writes the summary of x and what it counts.
func (t *tx) putSummary(id earshot.ConversationID, x rule.Summed) error {
	b := x.Before
	err := t.exec(`INSERT INTO summary (agent, platform, workspace, channel, conversation, text, from_time, to_time, turns, made_by, since)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (agent, platform, workspace, channel, conversation) DO UPDATE
		SET text = excluded.text, from_time = excluded.from_time, to_time = excluded.to_time, turns = excluded.turns, made_by = excluded.made_by`,
		own(id, id.Name, b.Text, int64(b.From), int64(b.To), b.Turns, b.By, x.Since)...)
	if err != nil {
		return err
	}
	return t.setSummed(id, x.Summed)
}

func (t *tx) setSummed(id earshot.ConversationID, weight int) error {
	return t.exec(`UPDATE conversation SET summed = ?`+ofAgent+` AND name = ?`, append([]any{weight}, own(id, id.Name)...)...)
}

// ReleaseSummary implements [earshot.Summaries].
func (s *Store) ReleaseSummary(ctx context.Context, c earshot.SummaryClaim, notBefore earshot.Time) error {
	id := rule.Conversation(c.Conversation)
	return s.apply(ctx, "release a summary", func(t *tx) error {
		x, err := t.summed(id)
		if err != nil {
			return err
		}
		next, ok := rule.ReleaseSummary(x.Claim, c, notBefore)
		if !ok {
			return nil
		}
		return t.setSummaryClaim(id, next)
	})
}

// Summary implements [earshot.Summaries].
func (s *Store) Summary(ctx context.Context, id earshot.ConversationID) (earshot.Summary, error) {
	id = rule.Conversation(id)
	var out earshot.Summary
	err := s.row(ctx, `SELECT text, from_time, to_time, turns, made_by FROM summary`+ofConversation, own(id, id.Name), &out.Text, &out.From, &out.To, &out.Turns, &out.By)
	if err != nil {
		return earshot.Summary{}, missing(err, "read the summary", rule.NoSummary(id))
	}
	return out, nil
}

// summarised returns the conversations whose summary was made of a message.
func (t *tx) summarised(scope earshot.Scope, message earshot.MessageID) ([]earshot.ConversationID, error) {
	return all(t, `SELECT agent, conversation FROM summarised`+in+` AND message = ?`, args(scope, string(message)),
		func(rows *sql.Rows, id *earshot.ConversationID) error {
			id.Scope = scope
			return rows.Scan(&id.Agent, &id.Name)
		})
}

// dropSummary drops a summary that was made of what is deleted now, with the text of
// the epochs that may have read it.
func (t *tx) dropSummary(id earshot.ConversationID, now earshot.Time) error {
	x, err := t.summed(id)
	if err != nil {
		return err
	}
	from, to := x.Dropped()
	if err := t.eraseEpochs(id, from, to, now); err != nil {
		return err
	}
	if err := t.eraseTurnsOf(id, to+1, to+1); err != nil {
		return err
	}
	for _, table := range []string{"summary", "summarised"} {
		if err := t.exec(`DELETE FROM `+table+ofConversation, own(id, id.Name)...); err != nil {
			return err
		}
	}
	if err := t.setSummed(id, 0); err != nil {
		return err
	}
	return t.needScrub()
}
