package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/jackc/pgx/v5"
)

// errPlanned rolls a plan back.
var errPlanned = errors.New("planned")

// PlanErasure implements [earshot.Erasures]. The erasure is done and rolled back.
func (s *Store) PlanErasure(ctx context.Context, of earshot.ErasureOf) (earshot.ErasureCounts, error) {
	var out earshot.ErasureCounts
	of, err := rule.CheckErasure(of)
	if err != nil {
		return out, err
	}
	err = s.apply(ctx, "plan an erasure", func(ctx context.Context, t *tx) error {
		if err := t.knows(ctx, of); err != nil {
			return err
		}
		x, err := t.beginErasure(ctx, of)
		if err != nil {
			return err
		}
		t.tally = earshot.ErasureCounts{}
		if err := x.Work(ctx, eraser{t}, earshot.TimeOf(s.now()), rule.PlanBudget()); err != nil {
			return err
		}
		left := 0
		switch {
		case x.Ended != 0:
		case of.Messages != nil:
			left = len(of.Messages) - t.tally.Messages
		default:
			which, a := bySpeaker(of)
			t.ask(`SELECT count(*) FROM message`+which+fmt.Sprintf(` AND time <= $%d`, len(a)+1), append(a, int64(x.Until)), one(new(bool), &left))
		}
		if err := t.send(ctx); err != nil {
			return err
		}
		out = t.tally
		out.Messages += left
		return errPlanned
	})
	if err != nil && !errors.Is(err, errPlanned) {
		return earshot.ErasureCounts{}, err
	}
	return out, nil
}

// bySpeaker selects the messages that are not deleted of an author, in a channel or
// everywhere, or of everybody in a channel.
func bySpeaker(of earshot.ErasureOf) (string, []any) {
	a := []any{string(of.Platform), string(of.Workspace)}
	const which = ` WHERE platform = $1 AND workspace = $2 AND deleted = 0`
	switch {
	case of.User == "":
		return which + ` AND channel = $3`, append(a, string(of.Channel))
	case of.Channel == "":
		return which + ` AND author = $3 AND author <> ''`, append(a, string(of.User))
	}
	return which + ` AND author = $3 AND author <> '' AND channel = $4`, append(a, string(of.User), string(of.Channel))
}

// knows returns [earshot.ErrNotFound] where nothing is stored of what of names.
func (t *tx) knows(ctx context.Context, of earshot.ErasureOf) error {
	scope := earshot.Scope{Platform: of.Platform, Workspace: of.Workspace, Channel: of.Channel}
	var spoke, named, owns, reacted, known bool
	var found []earshot.MessageID
	which, a := bySpeaker(of)
	t.ask(`SELECT 1 FROM message`+which+` ORDER BY channel, time LIMIT 1`, a, one(&spoke, new(int)))
	t.ask(`SELECT 1 FROM author WHERE platform = $1 AND workspace = $2 AND id = $3`, []any{string(of.Platform), string(of.Workspace), string(of.User)}, one(&named, new(int)))
	if of.User != "" {
		t.ask(`SELECT 1 FROM conversation WHERE platform = $1 AND workspace = $2 AND ($3 = '' OR channel = $3) AND about <> '' AND strpos(about, $4) > 0 ORDER BY channel LIMIT 1`,
			args(scope, rule.OwnerNeedle(of.User)), one(&owns, new(int)))
		t.ask(`SELECT 1 FROM channel c JOIN reaction r ON r.platform = $1 AND r.workspace = $2 AND r.channel = c.id AND r.author = $4 AND r.author <> ''
			WHERE c.platform = $1 AND c.workspace = $2 AND ($3 = '' OR c.id = $3) LIMIT 1`, args(scope, string(of.User)), one(&reacted, new(int)))
	}
	t.ask(`SELECT 1 FROM channel`+ofChannel, args(scope), one(&known, new(int)))
	t.ask(`SELECT id FROM message`+in+` AND id = ANY($4) ORDER BY id`, args(scope, texts(of.Messages)),
		gather(&found, func(rows pgx.Rows, id *earshot.MessageID) error { return rows.Scan(id) }))
	if err := t.send(ctx); err != nil {
		return err
	}
	switch {
	case of.User != "" && !spoke && !(named && of.Channel == "") && !owns && !reacted:
		return rule.NothingOf(of.User)
	case of.User == "" && !known:
		return rule.NoChannel(of.Channel)
	}
	for i, id := range of.Messages {
		if i >= len(found) || found[i] != id {
			return rule.NoMessage(id)
		}
	}
	return nil
}

// BeginErasure implements [earshot.Erasures].
func (s *Store) BeginErasure(ctx context.Context, of earshot.ErasureOf) (earshot.Erasure, error) {
	var out rule.Erasure
	of, err := rule.CheckErasure(of)
	if err != nil {
		return out.Erasure, err
	}
	err = s.apply(ctx, "begin an erasure", func(ctx context.Context, t *tx) error {
		var open []rule.Erasure
		t.write(`SELECT pg_advisory_xact_lock($1)`, t.key("erasures"))
		t.ask(`SELECT id, `+rule.ErasureColumns+` FROM erasure WHERE ended = 0 ORDER BY id`, nil, gather(&open, scanErasure))
		if err := t.send(ctx); err != nil {
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

func scanErasure(rows pgx.Rows, x *rule.Erasure) error { return rule.ScanErasure(rows.Scan, x) }

// beginErasure stores an erasure and its bar.
func (t *tx) beginErasure(ctx context.Context, of earshot.ErasureOf) (rule.Erasure, error) {
	var last earshot.Time
	which, a := bySpeaker(of)
	t.ask(`SELECT coalesce(max(time), 0) FROM message`+which, a, one(new(bool), &last))
	if err := t.send(ctx); err != nil {
		return rule.Erasure{}, err
	}
	x, bar, ok := rule.BeginErasure(of, last, earshot.TimeOf(t.store.now()))
	if ok {
		t.write(`INSERT INTO barred (platform, workspace, channel, author, until, floor) VALUES ($1, $2, $3, $4, $5, $6)
			ON CONFLICT (platform, workspace, channel, author) DO UPDATE SET until = greatest(barred.until, excluded.until), floor = greatest(barred.floor, excluded.floor)`,
			string(of.Platform), string(of.Workspace), string(bar.Channel), string(bar.Author), int64(bar.Until), int64(bar.Floor))
	}
	v, err := rule.ErasureValues(x)
	if err != nil {
		return x, err
	}
	t.ask(`INSERT INTO erasure (`+rule.ErasureColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) RETURNING id`, v, one(new(bool), &x.ID))
	if err := t.send(ctx); err != nil || of.Before == 0 {
		return x, err
	}
	t.write(`DELETE FROM erasure`+in+` AND before <> 0 AND ended <> 0 AND id < $4`, // they have nothing to say any more
		args(earshot.Scope{Platform: of.Platform, Workspace: of.Workspace, Channel: of.Channel}, int64(x.ID))...)
	return x, t.send(ctx)
}

// StepErasure implements [earshot.Erasures]. A step that has changed messages ends
// with their channel, since it has locked it.
func (s *Store) StepErasure(ctx context.Context, id earshot.ErasureID) (earshot.Erasure, error) {
	var x rule.Erasure
	err := s.apply(ctx, "step an erasure", func(ctx context.Context, t *tx) error {
		found := false
		t.ask(`SELECT id, `+rule.ErasureColumns+` FROM erasure WHERE id = $1 FOR UPDATE`, []any{int64(id)}, func(rows pgx.Rows) error {
			x, found = rule.Erasure{}, true
			return scanErasure(rows, &x)
		})
		if err := t.send(ctx); err != nil {
			return err
		}
		if !found {
			return rule.NoErasure(id)
		}
		if x.Ended != 0 {
			return nil
		}
		enough, at := rule.StepBudget(), x.Channel
		err := x.Work(ctx, eraser{t}, earshot.TimeOf(s.now()), func() bool {
			moved := t.tally != earshot.ErasureCounts{} && x.Channel != at
			at = x.Channel
			return enough() || moved
		})
		if err == nil {
			err = t.send(ctx)
		}
		if err != nil {
			return err
		}
		rule.AddCounts(&x.Removed, t.tally)
		v, err := rule.ErasureValues(x)
		if err != nil {
			return err
		}
		t.write(`UPDATE erasure SET (`+rule.ErasureColumns+`) = ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15) WHERE id = $1`, append([]any{int64(id)}, v...)...)
		return nil
	})
	return x.Erasure, err
}

// ErasureLog implements [earshot.Erasures].
func (s *Store) ErasureLog(ctx context.Context, open bool, limit int) ([]earshot.Erasure, error) {
	if limit <= 0 {
		limit = 1<<31 - 1
	}
	which := ``
	if open {
		which = ` WHERE ended = 0`
	}
	found, err := list(ctx, s, "list erasures", `SELECT id, `+rule.ErasureColumns+` FROM erasure`+which+` ORDER BY id DESC LIMIT $1`, []any{limit}, scanErasure)
	var out []earshot.Erasure
	for _, x := range found {
		out = append(out, x.Erasure)
	}
	return out, err
}

// Remember implements [earshot.Erasures].
func (s *Store) Remember(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, user earshot.AuthorID) error {
	return s.apply(ctx, "remember a person", func(_ context.Context, t *tx) error {
		t.write(`UPDATE barred SET until = $1 WHERE platform = $2 AND workspace = $3 AND author = $4 AND until = $5`,
			int64(earshot.TimeOf(s.now())), string(rule.ID(p)), string(rule.ID(w)), string(rule.ID(user)), int64(rule.Forever))
		return nil
	})
}
