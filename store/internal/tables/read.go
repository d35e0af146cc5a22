package tables

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Page is how many rows a long read loads at a time. Between two pages it holds no
// connection and no snapshot, so that a slow caller does not make the WAL grow.
const Page = 512

// firstPage is how many Range reads first: many readers want a few.
const firstPage = 32

// The bounds to use where the caller gives none. No message has such a time.
var (
	earliest = earshot.Position{Time: math.MinInt64}
	latest   = earshot.Position{Time: math.MaxInt64}
)

func or(p, none earshot.Position) earshot.Position {
	if p.IsZero() {
		return none
	}
	return rule.Position(p)
}

// ByID implements [earshot.Messages].
func (s *Store) ByID(ctx context.Context, scope earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error) {
	return s.byID(ctx, scope, ids, ``)
}

// Revised returns those of the messages that were edited or deleted, in the order
// of Position.
func (s *Store) Revised(ctx context.Context, scope earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error) {
	return s.byID(ctx, scope, ids, ` AND (`+s.sql.NoIndex+`deleted = 1 OR edited <> 0)`)
}

func (s *Store) byID(ctx context.Context, scope earshot.Scope, ids []earshot.MessageID, which string) ([]earshot.Message, error) {
	if len(ids) == 0 {
		return nil, ctx.Err()
	}
	most := 0
	if which == "" { // mostly all of them are stored
		most = len(ids)
	}
	out, err := s.fewMessages(ctx, "read messages by id", `message`+s.sql.MessagesIn+` AND `+s.sql.Any(`id`, 4)+which,
		Args(rule.Scope(scope), s.sql.List(Texts(rule.IDs(ids)))), most)
	byPosition(out)
	return out, err
}

// messages reads the messages that a query selects.
func (s *Store) messages(ctx context.Context, what, from string, args []any) ([]earshot.Message, error) {
	return s.fewMessages(ctx, what, from, args, 0)
}

// fewMessages is messages with room for as many as there may be.
func (s *Store) fewMessages(ctx context.Context, what, from string, args []any, most int) ([]earshot.Message, error) {
	var out []earshot.Message
	err := s.engine.Read(ctx, what, func(a Asker) {
		out = nil
		if most > 0 {
			out = make([]earshot.Message, 0, most)
		}
		a.Ask(`SELECT `+s.sql.message()+` FROM `+from, args, s.sql.gatherMessages(&out))
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// askMessages queries messages of a channel by their ids, or from the table revision
// what they were before.
func (t *Tx) askMessages(from string, s earshot.Scope, ids []earshot.MessageID, out *[]earshot.Message) {
	if len(ids) > 0 {
		t.Ask(`SELECT `+t.SQL.message()+` FROM `+from+t.SQL.MessagesIn+` AND `+t.SQL.Any(`id`, 4), Args(s, t.list(ids)), t.SQL.gatherMessages(out))
	}
}

// ofPart returns the condition that bounds a part, with its parameters $1 to $4.
// The conditions repeat those of the partial indexes word for word, or they would
// not be used. The root of a thread is not covered: see askRoot.
func (s *Store) ofPart(p earshot.ChannelPart, scope earshot.Scope) (string, []any) {
	if p.IsWhole() {
		// $4 is unused here, so that what follows counts from $5 in both cases.
		return s.sql.MessagesIn + ` AND deleted = 0 AND $4 = ''`, Args(scope, "")
	}
	return s.sql.MessagesIn + ` AND thread = $4 AND deleted = 0`, Args(scope, string(p.Thread()))
}

// askRoot queries the root of a thread, if the part is one. root stays empty unless
// it is within the bounds and not deleted. It is read separately because it is not
// among the replies.
func (s *Store) askRoot(a Asker, scope earshot.Scope, p earshot.ChannelPart, from, to earshot.Position, root *[]earshot.Message) {
	*root = nil
	if p.Thread() == "" {
		return
	}
	a.Ask(`SELECT `+s.sql.message()+` FROM message`+s.sql.MessagesIn+` AND id = $4 AND `+s.sql.NoIndex+`deleted = 0 AND (time, id) >= ($5, $6) AND (time, id) <= ($7, $8)`,
		Args(scope, string(p.Thread()), int64(from.Time), string(from.ID), int64(to.Time), string(to.ID)), s.sql.gatherMessages(root))
}

// Newest implements [earshot.Messages].
func (s *Store) Newest(ctx context.Context, scope earshot.Scope, part earshot.ChannelPart, upTo earshot.Position, limit int) ([]earshot.Message, error) {
	if limit <= 0 {
		return nil, nil
	}
	scope, part, upTo = rule.Scope(scope), rule.Part(part), or(upTo, latest)
	var root, out []earshot.Message
	err := s.engine.Read(ctx, "read the newest messages", func(a Asker) {
		out = make([]earshot.Message, 0, min(limit, roomFor(part)))
		s.askRoot(a, scope, part, earliest, upTo, &root)
		where, of := s.ofPart(part, scope)
		a.Ask(`SELECT `+s.sql.message()+` FROM message`+where+` AND (time, id) <= ($5, $6) ORDER BY time DESC, id DESC LIMIT $7 + 0`,
			append(of, int64(upTo.Time), string(upTo.ID), limitParam(limit)), s.sql.gatherMessages(&out))
	})
	if err != nil {
		return nil, err
	}
	slices.Reverse(out)
	if len(root) == 0 || slices.ContainsFunc(out, func(m earshot.Message) bool { return m.ID == root[0].ID }) {
		return out, nil
	}
	out = append(out, root[0])
	byPosition(out)
	return out[len(out)-min(len(out), limit):], nil
}

// roomFor is for how many messages room is made at once: most threads are short.
func roomFor(p earshot.ChannelPart) int {
	if p.Thread() != "" {
		return 16
	}
	return Page
}

// Range implements [earshot.Messages]. It reads a page at a time. A message that is
// recorded meanwhile is missed if it comes before the page being read.
func (s *Store) Range(ctx context.Context, scope earshot.Scope, part earshot.ChannelPart, from, to earshot.Position) iter.Seq2[earshot.Message, error] {
	return func(yield func(earshot.Message, error) bool) {
		scope, part, from, to := rule.Scope(scope), rule.Part(part), or(from, earliest), or(to, latest)
		var root, list []earshot.Message
		size := firstPage
		err := s.engine.Read(ctx, "read a range of messages", func(a Asker) {
			s.askRoot(a, scope, part, from, to, &root)
			s.askPage(a, scope, part, ">=", from, to, size, &list)
		})
		for err == nil {
			for _, m := range list {
				if len(root) > 0 && root[0].Position().Compare(m.Position()) <= 0 {
					if root[0].ID != m.ID && !yield(root[0], nil) {
						return
					}
					root = nil
				}
				if !yield(m, nil) {
					return
				}
			}
			if len(list) < size {
				if len(root) > 0 {
					yield(root[0], nil)
				}
				return
			}
			next := list[len(list)-1].Position()
			size = Page
			err = s.engine.Read(ctx, "read a range of messages", func(a Asker) { s.askPage(a, scope, part, ">", next, to, size, &list) })
		}
		yield(earshot.Message{}, err)
	}
}

func (s *Store) askPage(a Asker, scope earshot.Scope, part earshot.ChannelPart, after string, from, to earshot.Position, size int, out *[]earshot.Message) {
	*out = nil
	where, of := s.ofPart(part, scope)
	a.Ask(`SELECT `+s.sql.message()+` FROM message`+where+` AND (time, id) `+after+` ($5, $6) AND (time, id) <= ($7, $8) ORDER BY time, id LIMIT $9 + 0`,
		append(of, int64(from.Time), string(from.ID), int64(to.Time), string(to.ID), size), s.sql.gatherMessages(out))
}

// maxSeq is the greatest sequence that a channel can have.
const maxSeq = 1<<40 - 1

// Since implements [earshot.Messages].
func (s *Store) Since(ctx context.Context, scope earshot.Scope, seq int64, limit int) ([]earshot.Message, error) {
	return s.messages(ctx, "read what became known", `message`+s.sql.BySeq+` ORDER BY `+s.sql.InSeq+` LIMIT $6 + 0`,
		SeqArgs(rule.Scope(scope), seq, maxSeq, limitParam(limit)))
}

// SeqArgs returns the parameters of SQL.BySeq and appends more. The sequences are
// clamped, so that an impossible one does not reach into another channel's rows.
func SeqArgs(s earshot.Scope, after, upTo int64, more ...any) []any {
	clamp := func(seq int64) int64 { return min(max(seq, 0), maxSeq) }
	return append(Args(s, clamp(after), clamp(upTo)), more...)
}

// Replying implements [earshot.Messages].
func (s *Store) Replying(ctx context.Context, scope earshot.Scope, upTo earshot.Position, ids ...earshot.MessageID) ([]earshot.Message, error) {
	upTo = or(upTo, latest)
	out, err := s.messages(ctx, "read replies", `message`+s.sql.MessagesIn+` AND `+s.sql.Any(`reply_to`, 4)+` AND reply_to <> '' AND deleted = 0 AND (time, id) <= ($5, $6)`,
		Args(rule.Scope(scope), s.sql.List(Texts(rule.IDs(ids))), int64(upTo.Time), string(upTo.ID)))
	byPosition(out)
	return out, err
}

// Revisions implements [earshot.Messages].
func (s *Store) Revisions(ctx context.Context, scope earshot.Scope, id earshot.MessageID) ([]earshot.Message, error) {
	id = rule.ID(id)
	which := s.sql.MessagesIn + ` AND id = $4`
	var out []earshot.Message
	err := s.engine.Read(ctx, "read revisions", func(a Asker) {
		out = nil
		a.Ask(`SELECT `+rule.MessageColumns+` FROM revision`+which+`
			UNION ALL SELECT `+rule.MessageColumns+` FROM message`+which+` ORDER BY edited`, Args(rule.Scope(scope), string(id)), gatherColumns(&out))
	})
	if err == nil && len(out) == 0 {
		err = rule.NoMessage(id)
	}
	return out, err
}

func byPosition(list []earshot.Message) {
	slices.SortFunc(list, func(a, b earshot.Message) int { return a.Position().Compare(b.Position()) })
}
