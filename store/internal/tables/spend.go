package tables

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Spend implements [earshot.Spends]. The rows of purses are locked in the order of their
// keys, those of the change's day before those of an earlier one.
func (s *Store) Spend(ctx context.Context, c earshot.SpendChange) (out earshot.SpendResult, err error) {
	c, checked, err := rule.CheckSpend(c)
	if err != nil {
		return out, err
	}
	err = s.engine.Volatile(ctx, "count what is spent", func(ctx context.Context, t *Tx) error {
		t.Lax()
		var held rule.Held
		if c.Turn != 0 {
			t.Ask(`SELECT day, tokens, cost FROM spend_held WHERE turn = $1`+t.SQL.Lock, []any{int64(c.Turn)}, ScanOne(new(bool), &held.Day, &held.Spend.Tokens, &held.Spend.Cost))
			if err := t.Send(ctx); err != nil {
				return err
			}
		}
		purses := t.askPurses(c.Day, checked)
		if err := t.Send(ctx); err != nil {
			return err
		}
		var had earshot.Spend
		if held.Day == c.Day {
			had = held.Spend
		}
		if out = rule.DecideSpend(c, had, purses); out.Full != nil {
			return nil
		}
		if held.Day != c.Day && held.Spend != (earshot.Spend{}) {
			t.giveBack(held, purses)
		}
		for _, p := range purses {
			near := 0
			if p.Near {
				near = 1
			}
			t.Write(`UPDATE spend SET tokens = $3, cost = $4, near = $5 WHERE day = $1 AND purse = $2`, int64(c.Day), p.Key, p.Sum.Tokens, p.Sum.Cost, near)
		}
		t.hold(c, held)
		return nil
	})
	return out, err
}

// askPurses locks the sums of purses and reads them; where there is none it is made.
func (t *Tx) askPurses(day earshot.Time, checked []*rule.Purse) []*rule.Purse {
	purses := make([]*rule.Purse, len(checked))
	for i, p := range checked {
		fresh := *p
		purses[i] = &fresh
		t.Ask(`INSERT INTO spend AS was (day, purse, tokens, cost, near) VALUES ($1, $2, 0, 0, 0)
			ON CONFLICT (day, purse) DO UPDATE SET near = was.near RETURNING tokens, cost, near`, []any{int64(day), p.Key}, func(row Row) error { return fresh.Scan(row.Scan) })
	}
	return purses
}

// giveBack takes what a turn has held of another day out of that day's sums.
func (t *Tx) giveBack(held rule.Held, purses []*rule.Purse) {
	for _, p := range purses {
		t.Write(`UPDATE spend SET tokens = `+t.SQL.Greatest+`(tokens - $3, 0), cost = `+t.SQL.Greatest+`(cost - $4, 0) WHERE day = $1 AND purse = $2`,
			int64(held.Day), p.Key, held.Spend.Tokens, held.Spend.Cost)
	}
}

// hold writes what a turn holds from now on.
func (t *Tx) hold(c earshot.SpendChange, was rule.Held) {
	switch none := (earshot.Spend{}); {
	case c.Held != none:
		t.Write(`INSERT INTO spend_held (turn, day, tokens, cost) VALUES ($1, $2, $3, $4)
			ON CONFLICT (turn) DO UPDATE SET day = excluded.day, tokens = excluded.tokens, cost = excluded.cost`, int64(c.Turn), int64(c.Day), c.Held.Tokens, c.Held.Cost)
	case was.Spend != none:
		t.Write(`DELETE FROM spend_held WHERE turn = $1`, int64(c.Turn))
	}
}

// Spent implements [earshot.Spends].
func (s *Store) Spent(ctx context.Context, day earshot.Time) ([]earshot.PurseSum, error) {
	return List(ctx, s.engine, "list what is spent", `SELECT day, purse, tokens, cost FROM spend WHERE day = $1 AND tokens + cost > 0 ORDER BY purse`, []any{int64(earshot.DayOf(day))},
		func(row Row, x *earshot.PurseSum) error { return rule.ScanPurseSum(row.Scan, x) })
}

// PruneSpends implements [earshot.Spends].
func (s *Store) PruneSpends(ctx context.Context, before earshot.Time) (n int, err error) {
	err = s.engine.Volatile(ctx, "prune what is spent", func(ctx context.Context, t *Tx) error {
		n = 0
		t.Write(`DELETE FROM spend_held WHERE day < $1`, int64(before))
		t.Count(&n, `DELETE FROM spend WHERE day < $1`, int64(before))
		return t.Send(ctx)
	})
	return n, err
}

// moveSpends adds the sums of a channel to those of another one.
func (t *Tx) moveSpends(from, to earshot.Scope) {
	was, is := rule.ChannelPurse(from), rule.ChannelPurse(to)
	t.Write(`INSERT INTO spend AS was (day, purse, tokens, cost, near) SELECT day, $2, tokens, cost, near FROM spend WHERE purse = $1 ORDER BY day
		ON CONFLICT (day, purse) DO UPDATE SET tokens = was.tokens + excluded.tokens, cost = was.cost + excluded.cost`, was, is)
	t.Write(`DELETE FROM spend WHERE purse = $1`, was)
}
