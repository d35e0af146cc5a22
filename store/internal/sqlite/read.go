package sqlite

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// page is how many rows a long read loads at a time. Between two pages it holds no
// connection and no snapshot, so that a slow caller does not make the WAL grow.
const page = 512

// An idQuery is a query that looks up ids.
type idQuery struct {
	text string
	args []any
	ids  int
}

// idQueries yields the queries that look up ids, a chunk at a time. queries has the
// statement for each size of chunk.
func idQueries(queries map[int]string, scope earshot.Scope, ids []earshot.MessageID) iter.Seq[idQuery] {
	return func(yield func(idQuery) bool) {
		for len(ids) > 0 {
			n := chunk(len(ids))
			a := tables.Args(scope)
			for _, id := range ids[:n] {
				a = append(a, string(id))
			}
			if !yield(idQuery{queries[n], a, n}) {
				return
			}
			ids = ids[n:]
		}
	}
}

var (
	byID = chunked(func(n int) string {
		return `SELECT ` + columns + ` FROM message` + inPlace + ` AND id IN ` + marks(n, 1)
	})
	revisedByID = chunked(func(n int) string {
		return `SELECT ` + columns + ` FROM message` + inPlace + ` AND id IN ` + marks(n, 1) + ` AND (+deleted = 1 OR edited <> 0)`
	})
	repliesByID = chunked(func(n int) string { return `SELECT id, lists FROM message` + inPlace + ` AND id IN ` + marks(n, 1) })
	pastByID    = chunked(func(n int) string {
		return `SELECT ` + columns + ` FROM revision` + inPlace + ` AND id IN ` + marks(n, 1)
	})
)

// ByID implements [earshot.Messages].
func (s *Store) ByID(ctx context.Context, scope earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error) {
	return s.byID(ctx, byID, scope, ids)
}

// Revised returns those of the messages that were edited or deleted, in the order
// of Position.
func (s *Store) Revised(ctx context.Context, scope earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error) {
	return s.byID(ctx, revisedByID, scope, ids)
}

func (s *Store) byID(ctx context.Context, queries map[int]string, scope earshot.Scope, ids []earshot.MessageID) ([]earshot.Message, error) {
	var out []earshot.Message
	for q := range idQueries(queries, rule.Scope(scope), rule.IDs(ids)) {
		rows, err := s.query(ctx, q.text, q.args...)
		found, err := messages(rows, err, q.ids)
		if err != nil {
			return nil, fmt.Errorf("read messages by id: %w", err)
		}
		out = append(out, found...)
	}
	byPosition(out)
	return out, nil
}

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

// of returns the condition that bounds a part, with its parameters. The conditions
// repeat those of the partial indexes word for word, or SQLite would not use them.
// The root of a thread is not covered: see root.
func of(p earshot.Part, scope earshot.Scope) (string, []any) {
	if p.IsWhole() {
		return inPlace + ` AND deleted = 0`, tables.Args(scope)
	}
	return inPlace + ` AND thread = ? AND deleted = 0`, tables.Args(scope, string(p.Thread()))
}

// root returns the root of a thread, if it is stored and within the bounds. It is
// read separately because it is not among the replies.
func (s *Store) root(ctx context.Context, scope earshot.Scope, p earshot.Part, from, to earshot.Position) (*earshot.Message, error) {
	if p.Thread() == "" {
		return nil, nil
	}
	list, err := s.ByID(ctx, scope, p.Thread())
	if err != nil || len(list) == 0 || list[0].Deleted {
		return nil, err
	}
	if at := list[0].Position(); from.Compare(at) > 0 || at.Compare(to) > 0 {
		return nil, nil
	}
	return &list[0], nil
}

// Newest implements [earshot.Messages].
func (s *Store) Newest(ctx context.Context, scope earshot.Scope, part earshot.Part, upTo earshot.Position, limit int) ([]earshot.Message, error) {
	if limit <= 0 {
		return nil, nil
	}
	scope, part, upTo = rule.Scope(scope), rule.Part(part), or(upTo, last)
	root, err := s.root(ctx, scope, part, first, upTo)
	if err != nil {
		return nil, fmt.Errorf("read the root of a thread: %w", err)
	}
	where, a := of(part, scope)
	rows, err := s.query(ctx, `SELECT `+columns+` FROM message`+where+` AND (time, id) <= (?, ?) ORDER BY time DESC, id DESC LIMIT ? + 0`,
		append(a, int64(upTo.Time), string(upTo.ID), limit)...)
	out, err := messages(rows, err, limit+1)
	if err != nil {
		return nil, fmt.Errorf("read the newest messages: %w", err)
	}
	slices.Reverse(out)
	if root == nil {
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
		root, err := s.root(ctx, scope, part, from, to)
		if err != nil {
			yield(earshot.Message{}, fmt.Errorf("read the root of a thread: %w", err))
			return
		}
		next, after := from, ">="
		for {
			list, err := s.page(ctx, scope, part, after, next, to)
			if err != nil {
				yield(earshot.Message{}, fmt.Errorf("read a range of messages: %w", err))
				return
			}
			for _, m := range list {
				if root != nil && root.Position().Compare(m.Position()) < 0 {
					if !yield(*root, nil) {
						return
					}
					root = nil
				}
				if !yield(m, nil) {
					return
				}
			}
			if len(list) < page {
				break
			}
			next, after = list[len(list)-1].Position(), ">"
		}
		if root != nil {
			yield(*root, nil)
		}
	}
}

func (s *Store) page(ctx context.Context, scope earshot.Scope, part earshot.Part, after string, from, to earshot.Position) ([]earshot.Message, error) {
	where, a := of(part, scope)
	rows, err := s.query(ctx, `SELECT `+columns+` FROM message`+where+` AND (time, id) `+after+` (?, ?) AND (time, id) <= (?, ?) ORDER BY time, id LIMIT ? + 0`,
		append(a, int64(from.Time), string(from.ID), int64(to.Time), string(to.ID), page)...)
	return messages(rows, err, page)
}

// Since implements [earshot.Messages].
func (s *Store) Since(ctx context.Context, scope earshot.Scope, seq int64, limit int) ([]earshot.Message, error) {
	if limit <= 0 {
		limit = math.MaxInt32
	}
	rows, err := s.query(ctx, `SELECT `+columns+` FROM message`+bySeq+` ORDER BY no LIMIT $6 + 0`, seqArgs(rule.Scope(scope), seq, maxSeq, limit)...)
	out, err := messages(rows, err, limit)
	if err != nil {
		return nil, fmt.Errorf("read what became known: %w", err)
	}
	return out, nil
}

// Replying implements [earshot.Messages].
func (s *Store) Replying(ctx context.Context, scope earshot.Scope, upTo earshot.Position, ids ...earshot.MessageID) ([]earshot.Message, error) {
	scope, upTo = rule.Scope(scope), or(upTo, last)
	var out []earshot.Message
	for _, id := range rule.IDs(ids) {
		rows, err := s.query(ctx, `SELECT `+columns+` FROM message`+inPlace+` AND reply_to = ? AND reply_to <> '' AND deleted = 0
			AND (time, id) <= (?, ?) ORDER BY time, id`, tables.Args(scope, string(id), int64(upTo.Time), string(upTo.ID))...)
		found, err := messages(rows, err, 8)
		if err != nil {
			return nil, fmt.Errorf("read replies: %w", err)
		}
		out = append(out, found...)
	}
	byPosition(out)
	return out, nil
}

// Revisions implements [earshot.Messages].
func (s *Store) Revisions(ctx context.Context, scope earshot.Scope, id earshot.MessageID) ([]earshot.Message, error) {
	scope, id = rule.Scope(scope), rule.ID(id)
	rows, err := s.query(ctx, `SELECT `+columns+` FROM revision`+inID+`
		UNION ALL SELECT `+columns+` FROM message`+inID+` ORDER BY edited`,
		append(tables.Args(scope, string(id)), tables.Args(scope, string(id))...)...)
	out, err := messages(rows, err, 4)
	if err != nil {
		return nil, fmt.Errorf("read revisions: %w", err)
	}
	if len(out) == 0 {
		return nil, rule.NoMessage(id)
	}
	return out, nil
}

func byPosition(list []earshot.Message) {
	slices.SortFunc(list, func(a, b earshot.Message) int {
		if a.Time != b.Time {
			if a.Time < b.Time {
				return -1
			}
			return 1
		}
		return strings.Compare(string(a.ID), string(b.ID))
	})
}
