package tables

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

func scanFeedback(row Row, f *earshot.Feedback) error { return rule.ScanFeedback(row.Scan, f) }

// PutFeedback implements [earshot.FeedbackStore].
func (s *Store) PutFeedback(ctx context.Context, f earshot.Feedback) error {
	f, err := rule.CheckFeedback(f)
	if err != nil {
		return err
	}
	const what = "put feedback"
	var at rule.StoredTurn
	if err := s.engine.Read(ctx, what, func(a Asker) { askQueued(a, f.Turn, &at) }); err != nil {
		return err
	}
	if at.ID == 0 {
		return rule.NoTurn(f.Turn)
	}
	return s.engine.Apply(ctx, what, func(ctx context.Context, t *Tx) error {
		var q rule.StoredTurn
		var bars []rule.Bar
		var stored *earshot.Feedback
		t.Shared(at.Conversation.Scope) // an erasure that this does not see waits for its end
		askQueued(t, f.Turn, &q)
		t.askBars(at.Conversation.Scope, []earshot.AuthorID{f.Author}, &bars)
		t.Ask(`SELECT `+rule.FeedbackColumns+` FROM feedback WHERE turn = $1 AND author = $2`+t.SQL.Lock, []any{int64(f.Turn), string(f.Author)}, func(row Row) error {
			stored = &earshot.Feedback{}
			return scanFeedback(row, stored)
		})
		if err := t.Send(ctx); err != nil {
			return err
		}
		switch {
		case q.ID == 0: // erased meanwhile
			return rule.NoTurn(f.Turn)
		case rule.NewBars(bars).IgnoresFeedback(f):
			return nil
		}
		f.Conversation = q.Conversation
		next := rule.PutFeedback(stored, f)
		t.Write(`INSERT INTO feedback (`+rule.FeedbackColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
			ON CONFLICT (turn, author) DO UPDATE SET good = excluded.good, reason = excluded.reason, time = excluded.time`, rule.FeedbackValues(next)...)
		if stored != nil && stored.Reason != next.Reason {
			t.Erased()
		}
		if f.Reason != "" {
			t.Write(`UPDATE queued_turn SET pruned = 0 WHERE id = $1 AND pruned <> 0`, int64(f.Turn))
		}
		return nil
	})
}

// RemoveFeedback implements [earshot.FeedbackStore].
func (s *Store) RemoveFeedback(ctx context.Context, id earshot.TurnID, by earshot.AuthorID) error {
	return s.engine.Apply(ctx, "remove feedback", func(_ context.Context, t *Tx) error {
		t.Write(`DELETE FROM feedback WHERE turn = $1 AND author = $2`, int64(id), string(rule.ID(by)))
		t.Erased()
		return nil
	})
}

// Feedback implements [earshot.FeedbackStore].
func (s *Store) Feedback(ctx context.Context, q earshot.FeedbackQuery) ([]earshot.Feedback, error) {
	q = rule.CheckFeedbackQuery(q)
	var p params
	is := func(column string, v any) string { return ` AND ` + column + ` = ` + p.add(v) }
	other := s.sql.NoIndex // before a column that is not looked up
	which := ` WHERE turn < ` + p.add(int64(q.Before))
	if q.Turn != 0 {
		which += is(`turn`, int64(q.Turn))
	}
	if q.Scope != nil {
		in := ``
		if q.Turn != 0 {
			in = other
		}
		which += is(in+`platform`, string(q.Scope.Platform)) + is(in+`workspace`, string(q.Scope.Workspace)) + is(in+`channel`, string(q.Scope.Channel))
	}
	if q.Agent != "" {
		which += is(other+`agent`, string(q.Agent))
	}
	if q.Good != nil {
		good := 0
		if *q.Good {
			good = 1
		}
		which += is(other+`good`, good)
	}
	return List(ctx, s.engine, "list feedback", `SELECT `+rule.FeedbackColumns+` FROM feedback`+which+` ORDER BY turn DESC, author LIMIT `+p.add(q.Limit)+` + 0`, p, scanFeedback)
}
