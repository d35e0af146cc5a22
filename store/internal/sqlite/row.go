package sqlite

import (
	"database/sql"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// columns are those of message and revision that a read loads, in the order
// of a scanner's fields.
const columns = rule.MessageColumns

const columnCount = 13

// in bounds a statement to the rows of a channel.
const in = ` WHERE platform = ? AND workspace = ? AND channel = ?`

// inPlace is in for the tables that have the channel's number in place of its
// name: message, revision, thread and event. It has the same parameters. The
// column with that number is called place.
const inPlace = ` WHERE place = ` + placeOf

// maxSeq is the greatest sequence that fits into the column no of a message.
const maxSeq = 1<<40 - 1

// number returns the value of the column no: the channel's number in the upper
// bits, the sequence in the lower 40. Rows are stored in that order.
func number(place, seq int64) int64 { return place<<40 + seq }

// bySeq bounds a read of message to sequences greater than one and at most another;
// its parameters are seqArgs. ORDER BY no is the order of sequence.
const bySeq = ` WHERE no > (` + numberedPlace + ` << 40) + $4 AND no <= (` + numberedPlace + ` << 40) + $5`

// seqArgs returns the parameters of bySeq and appends more. The sequences are
// clamped, so that an impossible one does not reach into another channel's rows.
func seqArgs(s earshot.Scope, after, upTo int64, more ...any) []any {
	bound := func(seq int64) int64 { return min(max(seq, 0), maxSeq) }
	return append(tables.Args(s, bound(after), bound(upTo)), more...)
}

// placeOf is the number of a channel, NULL where the channel is not stored.
const placeOf = `(SELECT place FROM channel WHERE platform = ? AND workspace = ? AND id = ?)`

// numberedPlace is placeOf in a statement with numbered parameters.
const numberedPlace = `(SELECT place FROM channel WHERE platform = $1 AND workspace = $2 AND id = $3)`

// ofAgent bounds a statement to the rows of an agent in a scope, ofConversation to
// those of a conversation. In the table conversation its name is the column name.
const (
	ofAgent        = ` WHERE agent = ? AND platform = ? AND workspace = ? AND channel = ?`
	ofConversation = ofAgent + ` AND conversation = ?`
)

// ofChannel selects a channel's row.
const ofChannel = ` WHERE platform = ? AND workspace = ? AND id = ?`

const inID = inPlace + ` AND id = ?`

// A scanner reads rows of columns. The numbers are read as any: database/sql
// copies those as they are, where it would write an int64 out and parse it.
type scanner struct {
	id, thread, replyTo, author, name, kind string
	lists, text                             string
	time, edited, deleted, seq, tokens      any
	dest                                    []any
}

func newScanner() *scanner {
	s := &scanner{}
	s.dest = []any{
		&s.id, &s.time, &s.thread, &s.replyTo, &s.edited, &s.deleted, &s.seq, &s.tokens,
		&s.author, &s.name, &s.kind, &s.lists, &s.text,
	}
	return s
}

// messages reads all rows and closes them.
func messages(rows *sql.Rows, err error, expect int) ([]earshot.Message, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []earshot.Message
	s := newScanner()
	for rows.Next() {
		if out == nil {
			out = make([]earshot.Message, 0, min(max(expect, 1), 1024))
		}
		out = append(out, earshot.Message{})
		if err := s.read(rows, &out[len(out)-1]); err != nil {
			return nil, err
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return out, rows.Close()
}

// read fills m from the current row.
func (s *scanner) read(rows tables.Row, m *earshot.Message) error {
	if err := rows.Scan(s.dest...); err != nil {
		return err
	}
	*m = earshot.Message{
		ID: earshot.MessageID(s.id), Time: earshot.Time(integer(s.time)),
		Author:  earshot.Author{ID: earshot.AuthorID(s.author), Name: s.name, Kind: earshot.AuthorKind(s.kind)},
		Text:    s.text,
		Thread:  earshot.MessageID(s.thread),
		ReplyTo: earshot.MessageID(s.replyTo),
		Edited:  earshot.Time(integer(s.edited)),
		Deleted: integer(s.deleted) != 0,
		Seq:     integer(s.seq),
		Tokens:  int(integer(s.tokens)),
	}
	return rule.ReadLists(s.lists, m)
}

func integer(v any) int64 {
	n, _ := v.(int64)
	return n
}

// values appends the parameters of columns for m.
func values(to []any, m *rule.Message) ([]any, error) {
	lists, err := rule.WriteLists(m)
	if err != nil {
		return nil, err
	}
	deleted := int64(0)
	if m.Deleted {
		deleted = 1
	}
	return append(to, string(m.ID), int64(m.Time), string(m.Thread), string(m.ReplyTo), int64(m.Edited), deleted, m.Seq, int64(m.Tokens),
		string(m.Author.ID), m.Author.Name, string(m.Author.Kind), lists, m.Text), nil
}
