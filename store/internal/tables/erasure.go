package tables

import (
	"context"
	"errors"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// ErrPlanned rolls a plan back.
var ErrPlanned = errors.New("planned")

// PlanErasure implements [earshot.Erasures]. The erasure is done and rolled back.
func (s *Store) PlanErasure(ctx context.Context, of earshot.ErasureOf) (earshot.ErasureCounts, error) {
	var out earshot.ErasureCounts
	of, err := rule.CheckErasure(of)
	if err != nil {
		return out, err
	}
	err = s.engine.Apply(ctx, "plan an erasure", func(ctx context.Context, t *Tx) error {
		if err := t.knows(ctx, of); err != nil {
			return err
		}
		x, err := t.beginErasure(ctx, of)
		if err != nil {
			return err
		}
		t.Tally = earshot.ErasureCounts{}
		if err := x.Work(ctx, Eraser{t}, s.stamp(), rule.PlanBudget()); err != nil {
			return err
		}
		left := 0
		switch {
		case x.Ended != 0:
		case of.Messages != nil:
			left = len(of.Messages) - t.Tally.Messages
		default:
			t.askSpoken(of, x.Until, &left)
		}
		if err := t.Send(ctx); err != nil {
			return err
		}
		out = t.Tally
		out.Messages += left
		return ErrPlanned
	})
	if err != nil && !errors.Is(err, ErrPlanned) {
		return earshot.ErasureCounts{}, err
	}
	return out, nil
}

// BeginErasure implements [earshot.Erasures].
func (s *Store) BeginErasure(ctx context.Context, of earshot.ErasureOf) (earshot.Erasure, error) {
	var out rule.Erasure
	of, err := rule.CheckErasure(of)
	if err != nil {
		return out.Erasure, err
	}
	err = s.engine.Apply(ctx, "begin an erasure", func(ctx context.Context, t *Tx) error {
		var open []rule.Erasure
		t.Beginning()
		t.Ask(`SELECT id, `+rule.ErasureColumns+` FROM erasure WHERE ended = 0 ORDER BY id`, nil, Gather(&open, scanErasure))
		if err := t.Send(ctx); err != nil {
			return err
		}
		for _, x := range open {
			if rule.SameErasure(x.Of, of) {
				out = x
				return nil
			}
		}
		var err error
		out, err = t.beginErasure(ctx, of)
		return err
	})
	return out.Erasure, err
}

// StepErasure does one step of an erasure, which it reads into x and writes back. Where
// channels are locked, a step that has changed messages ends with their channel.
func (t *Tx) StepErasure(ctx context.Context, id earshot.ErasureID, x *rule.Erasure) error {
	found := false
	t.Ask(`SELECT id, `+rule.ErasureColumns+` FROM erasure WHERE id = $1`+t.SQL.Lock, []any{int64(id)}, func(row Row) error {
		*x, found = rule.Erasure{}, true
		return scanErasure(row, x)
	})
	if err := t.Send(ctx); err != nil {
		return err
	}
	if !found {
		return rule.NoErasure(id)
	}
	if x.Ended != 0 {
		return nil
	}
	t.Tally = earshot.ErasureCounts{}
	enough, at := rule.StepBudget(), x.Channel
	err := x.Work(ctx, Eraser{t}, t.now(), func() bool {
		moved := t.SQL.Lock != "" && t.Tally != earshot.ErasureCounts{} && x.Channel != at
		at = x.Channel
		return enough() || moved
	})
	if err == nil {
		err = t.Send(ctx)
	}
	if err != nil {
		return err
	}
	rule.AddCounts(&x.Removed, t.Tally)
	v, err := rule.ErasureValues(*x)
	if err != nil {
		return err
	}
	t.Write(`UPDATE erasure SET (`+rule.ErasureColumns+`) = ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) WHERE id = $1`, append([]any{int64(id)}, v...)...)
	return t.Send(ctx)
}

// scanErasure reads a row of an erasure's id and rule.ErasureColumns.
func scanErasure(row Row, x *rule.Erasure) error { return rule.ScanErasure(row.Scan, x) }

// beginErasure stores an erasure and its bar.
func (t *Tx) beginErasure(ctx context.Context, of earshot.ErasureOf) (rule.Erasure, error) {
	last, err := t.lastSpoken(ctx, of)
	if err != nil {
		return rule.Erasure{}, err
	}
	x, bar, ok := rule.BeginErasure(of, last, t.now())
	if ok {
		most := t.SQL.Greatest
		t.Write(`INSERT INTO barred (platform, workspace, channel, author, until, floor) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (platform, workspace, channel, author) DO UPDATE SET until = `+most+`(barred.until, excluded.until), floor = `+most+`(barred.floor, excluded.floor)`,
			string(of.Platform), string(of.Workspace), string(bar.Channel), string(bar.Author), int64(bar.Until), int64(bar.Floor))
	}
	v, err := rule.ErasureValues(x)
	if err != nil {
		return x, err
	}
	t.Ask(`INSERT INTO erasure (`+rule.ErasureColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) RETURNING id`, v, ScanOne(new(bool), &x.ID))
	if err := t.Send(ctx); err != nil || of.Before == 0 {
		return x, err
	}
	t.Write(`DELETE FROM erasure`+In+` AND before <> 0 AND ended <> 0 AND id < $4`, // the channel's earlier ones have nothing to say any more
		Args(earshot.Scope{Platform: of.Platform, Workspace: of.Workspace, Channel: of.Channel}, int64(x.ID))...)
	return x, t.Send(ctx)
}

// Erasure implements [earshot.Erasures].
func (s *Store) Erasure(ctx context.Context, id earshot.ErasureID) (earshot.Erasure, error) {
	x, err := readFirst(ctx, s.engine, "read an erasure", `SELECT id, `+rule.ErasureColumns+` FROM erasure WHERE id = $1`, []any{int64(id)}, rule.NoErasure(id), scanErasure)
	return x.Erasure, err
}

// ErasureLog implements [earshot.Erasures].
func (s *Store) ErasureLog(ctx context.Context, open bool, limit int) ([]earshot.Erasure, error) {
	which := ``
	if open {
		which = ` WHERE ended = 0`
	}
	found, err := List(ctx, s.engine, "list erasures", `SELECT id, `+rule.ErasureColumns+` FROM erasure`+which+` ORDER BY id DESC LIMIT $1 + 0`, []any{limitParam(limit)}, scanErasure)
	var out []earshot.Erasure
	for _, x := range found {
		out = append(out, x.Erasure)
	}
	return out, err
}

// Remember implements [earshot.Erasures].
func (s *Store) Remember(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, user earshot.AuthorID) error {
	return s.write(ctx, "remember a person", `UPDATE barred SET until = $1 WHERE platform = $2 AND workspace = $3 AND author = $4 AND until = $5`,
		int64(s.stamp()), string(rule.ID(p)), string(rule.ID(w)), string(rule.ID(user)), int64(rule.Forever))
}
