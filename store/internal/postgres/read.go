package postgres

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// page is how many rows a long read loads at a time. Between two pages it holds no
// connection.
const page = 512

// The bounds to use where the caller gives none. No message has such a time.
var (
	first = earshot.Position{Time: math.MinInt64}
	last  = earshot.Position{Time: math.MaxInt64}
)

func or(p, none earshot.Position) earshot.Position {
	if p.IsZero() {
		return none
	}
	return rule.Position(p)
}

// ByID implements [earshot.Messages].
func (s *Store) ByID(ctx context.Context, scope earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error) {
	if len(ids) == 0 {
		return nil, ctx.Err()
	}
	out, err := tables.List(ctx, s, "read messages by id", `SELECT `+columns+` FROM message`+in+` AND id = ANY($4)`,
		tables.Args(rule.Scope(scope), tables.Texts(rule.IDs(ids))), scanMessage)
	byPosition(out)
	return out, err
}

// bounded returns the condition that bounds a part, with its parameters $1 to $4.
// The conditions repeat those of the partial indexes word for word, or the planner
// would not use them. The root of a thread is not covered: see askRoot.
func bounded(p earshot.Part, scope earshot.Scope) (string, []any) {
	if p.IsWhole() {
		// $4 is unused here, so that what follows counts from $5 in both cases.
		return in + ` AND deleted = 0 AND $4 = ''`, tables.Args(scope, "")
	}
	return in + ` AND thread = $4 AND deleted = 0`, tables.Args(scope, string(p.Thread()))
}

// askRoot queries the root of a thread, if the part is one. root stays nil unless
// it is within the bounds and not deleted.
func (t *tx) askRoot(scope earshot.Scope, p earshot.Part, from, to earshot.Position, root **earshot.Message) {
	*root = nil
	if p.Thread() == "" {
		return
	}
	t.Ask(`SELECT `+columns+` FROM message`+in+` AND id = $4`, tables.Args(scope, string(p.Thread())), func(rows tables.Row) error {
		var m earshot.Message
		if err := scanMessage(rows, &m); err != nil {
			return err
		}
		if at := m.Position(); !m.Deleted && from.Compare(at) <= 0 && at.Compare(to) <= 0 {
			*root = &m
		}
		return nil
	})
}

// Newest implements [earshot.Messages].
func (s *Store) Newest(ctx context.Context, scope earshot.Scope, part earshot.Part, upTo earshot.Position, limit int) ([]earshot.Message, error) {
	if limit <= 0 {
		return nil, nil
	}
	scope, part, upTo = rule.Scope(scope), rule.Part(part), or(upTo, last)
	var root *earshot.Message
	var out []earshot.Message
	err := s.read(ctx, func(t *tx) {
		out = nil
		t.askRoot(scope, part, first, upTo, &root)
		where, a := bounded(part, scope)
		t.Ask(`SELECT `+columns+` FROM message`+where+` AND (time, id) <= ($5, $6) ORDER BY time DESC, id DESC LIMIT $7`,
			append(a, int64(upTo.Time), string(upTo.ID), limit), tables.Gather(&out, scanMessage))
	})
	if err != nil {
		return nil, fmt.Errorf("read the newest messages: %w", err)
	}
	slices.Reverse(out)
	if root == nil || slices.ContainsFunc(out, func(m earshot.Message) bool { return m.ID == root.ID }) {
		return out, nil
	}
	out = append(out, *root)
	byPosition(out)
	return out[len(out)-min(len(out), limit):], nil
}

// Range implements [earshot.Messages]. It reads a page at a time. A message that is
// recorded meanwhile is missed if it comes before the page being read.
func (s *Store) Range(ctx context.Context, scope earshot.Scope, part earshot.Part, from, to earshot.Position) iter.Seq2[earshot.Message, error] {
	return func(yield func(earshot.Message, error) bool) {
		scope, part, from, to := rule.Scope(scope), rule.Part(part), or(from, first), or(to, last)
		var root *earshot.Message
		var list []earshot.Message
		err := s.read(ctx, func(t *tx) {
			t.askRoot(scope, part, from, to, &root)
			t.askPage(scope, part, ">=", from, to, &list)
		})
		for err == nil {
			for _, m := range list {
				if root != nil && root.Position().Compare(m.Position()) <= 0 {
					if root.ID != m.ID && !yield(*root, nil) {
						return
					}
					root = nil
				}
				if !yield(m, nil) {
					return
				}
			}
			if len(list) < page {
				if root != nil {
					yield(*root, nil)
				}
				return
			}
			next := list[len(list)-1].Position()
			err = s.read(ctx, func(t *tx) { t.askPage(scope, part, ">", next, to, &list) })
		}
		yield(earshot.Message{}, fmt.Errorf("read a range of messages: %w", err))
	}
}

func (t *tx) askPage(scope earshot.Scope, part earshot.Part, after string, from, to earshot.Position, out *[]earshot.Message) {
	*out = nil
	where, a := bounded(part, scope)
	t.Ask(`SELECT `+columns+` FROM message`+where+` AND (time, id) `+after+` ($5, $6) AND (time, id) <= ($7, $8) ORDER BY time, id LIMIT $9`,
		append(a, int64(from.Time), string(from.ID), int64(to.Time), string(to.ID), page), tables.Gather(out, scanMessage))
}

// Since implements [earshot.Messages].
func (s *Store) Since(ctx context.Context, scope earshot.Scope, seq int64, limit int) ([]earshot.Message, error) {
	if limit <= 0 {
		limit = math.MaxInt32
	}
	return tables.List(ctx, s, "read what became known", `SELECT `+columns+` FROM message`+in+` AND seq > $4 AND seq > 0 ORDER BY seq LIMIT $5`,
		tables.Args(rule.Scope(scope), seq, limit), scanMessage)
}

// Replying implements [earshot.Messages].
func (s *Store) Replying(ctx context.Context, scope earshot.Scope, upTo earshot.Position, ids ...earshot.MessageID) ([]earshot.Message, error) {
	upTo = or(upTo, last)
	out, err := tables.List(ctx, s, "read replies", `SELECT `+columns+` FROM message`+in+` AND reply_to = ANY($4) AND reply_to <> '' AND deleted = 0
		AND (time, id) <= ($5, $6)`, tables.Args(rule.Scope(scope), tables.Texts(rule.IDs(ids)), int64(upTo.Time), string(upTo.ID)), scanMessage)
	byPosition(out)
	return out, err
}

// Revisions implements [earshot.Messages].
func (s *Store) Revisions(ctx context.Context, scope earshot.Scope, id earshot.MessageID) ([]earshot.Message, error) {
	scope, id = rule.Scope(scope), rule.ID(id)
	const which = in + ` AND id = $4`
	out, err := tables.List(ctx, s, "read revisions", `SELECT `+columns+` FROM revision`+which+`
		UNION ALL SELECT `+columns+` FROM message`+which+` ORDER BY edited`, tables.Args(scope, string(id)), scanMessage)
	if err == nil && len(out) == 0 {
		err = rule.NoMessage(id)
	}
	return out, err
}

func byPosition(list []earshot.Message) {
	slices.SortFunc(list, func(a, b earshot.Message) int { return a.Position().Compare(b.Position()) })
}
