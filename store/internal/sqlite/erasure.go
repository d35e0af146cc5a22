package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
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
	err = s.apply(ctx, "plan an erasure", func(t *tx) error {
		if err := t.knows(of); err != nil {
			return err
		}
		x, err := t.beginErasure(of)
		if err != nil {
			return err
		}
		t.tally = earshot.ErasureCounts{}
		if err := x.Work(context.Background(), eraser{t}, earshot.TimeOf(s.now()), rule.PlanBudget()); err != nil {
			return err
		}
		out = t.tally
		if x.Ended == 0 {
			left, err := t.countSpoken(x)
			if err != nil {
				return err
			}
			out.Messages += left
		}
		return errPlanned
	})
	if err != nil && !errors.Is(err, errPlanned) {
		return earshot.ErasureCounts{}, err
	}
	return out, nil
}

// ofChannels selects the channels that an erasure concerns.
const ofChannels = ` WHERE c.platform = ? AND c.workspace = ? AND (? = '' OR c.id = ?)`

func channelsArgs(of earshot.ErasureOf) []any {
	return []any{string(of.Platform), string(of.Workspace), string(of.Channel), string(of.Channel)}
}

// bySpeaker selects a channel's messages that are not deleted, of an author or of
// everybody.
func bySpeaker(of earshot.ErasureOf) (string, []any) {
	if of.User == "" {
		return `place = c.place AND deleted = 0`, nil
	}
	return `place = c.place AND author = ? AND deleted = 0`, []any{string(of.User)}
}

// countSpoken counts the messages that an erasure has not deleted yet.
func (t *tx) countSpoken(x rule.Erasure) (n int, err error) {
	if x.Of.Messages != nil {
		return len(x.Of.Messages) - t.tally.Messages, nil
	}
	which, a := bySpeaker(x.Of)
	_, err = t.one(`SELECT coalesce(sum((SELECT count(*) FROM message WHERE `+which+` AND time <= ?)), 0) FROM channel c`+ofChannels,
		append(append(a, int64(x.Until)), channelsArgs(x.Of)...), []any{&n})
	return n, err
}

// lastSpoken returns when a person, or anybody in a channel, last said something; 0
// if never.
func (t *tx) lastSpoken(of earshot.ErasureOf) (last earshot.Time, err error) {
	which, a := bySpeaker(of)
	_, err = t.one(`SELECT coalesce(max((SELECT max(time) FROM message WHERE `+which+`)), 0) FROM channel c`+ofChannels,
		append(a, channelsArgs(of)...), []any{&last})
	return last, err
}

// knows returns [earshot.ErrNotFound] where nothing is stored of what of names.
func (t *tx) knows(of earshot.ErasureOf) error {
	scope := earshot.Scope{Platform: of.Platform, Workspace: of.Workspace, Channel: of.Channel}
	var one int
	if of.User != "" {
		last, err := t.lastSpoken(of)
		if err != nil || last != 0 {
			return err
		}
		named := false
		if of.Channel == "" {
			if named, err = t.one(`SELECT 1 FROM author WHERE platform = ? AND workspace = ? AND id = ?`, args(earshot.Scope{Platform: of.Platform, Workspace: of.Workspace, Channel: earshot.ChannelID(of.User)}), []any{&one}); err != nil {
				return err
			}
		}
		if !named {
			named, err = t.one(`SELECT 1 FROM conversation WHERE platform = ? AND workspace = ? AND (? = '' OR channel = ?) AND about <> '' AND instr(about, ?) > 0 ORDER BY channel LIMIT 1`,
				append(channelsArgs(of), rule.OwnerNeedle(of.User)), []any{&one})
			if err != nil {
				return err
			}
		}
		if !named {
			named, err = t.one(`SELECT 1 FROM channel c JOIN reaction r ON r.place = c.place AND r.author = ? AND r.author <> ''`+ofChannels+` LIMIT 1`,
				append([]any{string(of.User)}, channelsArgs(of)...), []any{&one})
			if err != nil {
				return err
			}
		}
		if !named {
			return rule.NothingOf(of.User)
		}
		return nil
	}
	known, err := t.one(`SELECT 1 FROM channel`+ofChannel, args(scope), []any{&one})
	if err != nil {
		return err
	}
	if !known {
		return rule.NoChannel(of.Channel)
	}
	for _, id := range of.Messages {
		known, err := t.one(`SELECT 1 FROM message`+inID, args(scope, string(id)), []any{&one})
		if err != nil {
			return err
		}
		if !known {
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
	err = s.apply(ctx, "begin an erasure", func(t *tx) error {
		open, err := all(t, `SELECT id, `+rule.ErasureColumns+` FROM erasure WHERE ended = 0 ORDER BY id`, nil, scanErasure)
		if err != nil {
			return err
		}
		for _, x := range open {
			if rule.SameErasure(x.Of, of) {
				out = x
				return nil
			}
		}
		out, err = t.beginErasure(of)
		return err
	})
	return out.Erasure, err
}

func scanErasure(rows *sql.Rows, x *rule.Erasure) error { return rule.ScanErasure(rows.Scan, x) }

// beginErasure stores an erasure and its bar.
func (t *tx) beginErasure(of earshot.ErasureOf) (rule.Erasure, error) {
	last, err := t.lastSpoken(of)
	if err != nil {
		return rule.Erasure{}, err
	}
	x, bar, ok := rule.BeginErasure(of, last, earshot.TimeOf(t.now()))
	if ok {
		err := t.exec(`INSERT INTO barred (platform, workspace, channel, author, until, floor) VALUES (?, ?, ?, ?, ?, ?)
			ON CONFLICT (platform, workspace, channel, author) DO UPDATE SET until = max(until, excluded.until), floor = max(floor, excluded.floor)`,
			string(of.Platform), string(of.Workspace), string(bar.Channel), string(bar.Author), int64(bar.Until), int64(bar.Floor))
		if err != nil {
			return x, err
		}
	}
	v, err := rule.ErasureValues(x)
	if err != nil {
		return x, err
	}
	_, err = t.one(`INSERT INTO erasure (`+rule.ErasureColumns+`) VALUES `+marks(rule.ErasureColumnCount, 1)+` RETURNING id`, v, []any{&x.ID})
	if err == nil && of.Before != 0 { // the channel's earlier ones have nothing to say any more
		err = t.exec(`DELETE FROM erasure`+in+` AND before <> 0 AND ended <> 0 AND id < ?`,
			args(earshot.Scope{Platform: of.Platform, Workspace: of.Workspace, Channel: of.Channel}, int64(x.ID))...)
	}
	return x, err
}

// StepErasure implements [earshot.Erasures]. A power cut may undo steps, which are then
// done again; the end of an erasure it cannot undo.
func (s *Store) StepErasure(ctx context.Context, id earshot.ErasureID) (earshot.Erasure, error) {
	var x rule.Erasure
	err := s.do(ctx, "step an erasure", &job{heavy: true, volatile: true, apply: func(t *tx) error {
		found, err := all(t, `SELECT id, `+rule.ErasureColumns+` FROM erasure WHERE id = ?`, []any{int64(id)}, scanErasure)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return rule.NoErasure(id)
		}
		if x = found[0]; x.Ended != 0 {
			return nil
		}
		t.tally = earshot.ErasureCounts{}
		if err := x.Work(context.Background(), eraser{t}, earshot.TimeOf(s.now()), rule.StepBudget()); err != nil {
			return err
		}
		rule.AddCounts(&x.Removed, t.tally)
		v, err := rule.ErasureValues(x)
		if err != nil {
			return err
		}
		return t.exec(`UPDATE erasure SET (`+rule.ErasureColumns+`) = `+marks(rule.ErasureColumnCount, 1)+` WHERE id = ?`, append(v, int64(id))...)
	}})
	if err != nil || x.Ended == 0 {
		return x.Erasure, err
	}
	return x.Erasure, s.apply(ctx, "end an erasure", func(t *tx) error {
		return t.exec(`UPDATE erasure SET ended = ? WHERE id = ?`, int64(x.Ended), int64(id))
	})
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
	found, err := list(ctx, s, "list erasures", `SELECT id, `+rule.ErasureColumns+` FROM erasure`+which+` ORDER BY id DESC LIMIT ? + 0`, []any{limit}, scanErasure)
	var out []earshot.Erasure
	for _, x := range found {
		out = append(out, x.Erasure)
	}
	return out, err
}

// Remember implements [earshot.Erasures].
func (s *Store) Remember(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, user earshot.AuthorID) error {
	return s.apply(ctx, "remember a person", func(t *tx) error {
		return t.exec(`UPDATE barred SET until = ? WHERE platform = ? AND workspace = ? AND author = ? AND until = ?`,
			int64(earshot.TimeOf(s.now())), string(rule.ID(p)), string(rule.ID(w)), string(rule.ID(user)), int64(rule.Forever))
	})
}

// bars returns what may not be recorded in a channel of what people say.
func (t *tx) bars(scope earshot.Scope, people []earshot.AuthorID) (rule.Bars, error) {
	people = append(people, "") // for everybody
	var out []rule.Bar
	for len(people) > 0 {
		n := barredAtOnce[0]
		if len(people) > n {
			n = barredAtOnce[1]
		}
		a := args(scope)
		for i := range n {
			a = append(a, string(people[min(i, len(people)-1)]))
		}
		found, err := all(t, barred[n], a, func(rows *sql.Rows, x *rule.Bar) error { return rows.Scan(&x.Author, &x.Until, &x.Floor) })
		if err != nil {
			return rule.Bars{}, err
		}
		out, people = append(out, found...), people[min(n, len(people)):]
	}
	return rule.NewBars(out), nil
}

// barredAtOnce are the numbers of people that one statement of barred asks for.
var barredAtOnce = [2]int{4, 50}

var barred = func() map[int]string {
	m := map[int]string{}
	for _, n := range barredAtOnce {
		m[n] = `SELECT author, until, floor FROM barred WHERE platform = ? AND workspace = ? AND channel IN ('', ?) AND author IN ` + marks(n, 1)
	}
	return m
}()

// nameless reports whether an author is erased from a workspace and has said nothing
// there since: then no name is stored of them.
func (t *tx) nameless(p earshot.Platform, w earshot.WorkspaceID, id earshot.AuthorID) (bool, error) {
	var one int
	erased, err := t.one(`SELECT 1 FROM barred WHERE platform = ? AND workspace = ? AND channel = '' AND author = ?`,
		[]any{string(p), string(w), string(id)}, []any{&one})
	if err != nil || !erased {
		return false, err
	}
	last, err := t.lastSpoken(earshot.ErasureOf{Platform: p, Workspace: w, User: id})
	return last == 0, err
}
