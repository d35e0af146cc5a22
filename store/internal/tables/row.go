package tables

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// message is what is selected of a message.
func (q *SQL) message() string {
	if q.JoinMessage {
		return `concat_ws(char(0), ` + rule.MessageColumns + `)`
	}
	return rule.MessageColumns
}

// gatherMessages returns a function for Ask that appends each row of message to out.
func (q *SQL) gatherMessages(out *[]earshot.Message) func(Row) error {
	if q.JoinMessage {
		return gatherJoined(out)
	}
	return gatherColumns(out)
}

// gatherJoined is gatherMessages for rows whose columns are joined by NUL, which no
// column contains.
func gatherJoined(out *[]earshot.Message) func(Row) error {
	return func(row Row) error {
		var text string
		if err := row.Scan(&text); err != nil {
			return err
		}
		fields := joined{rest: text}
		m := earshot.Message{ID: earshot.MessageID(fields.text()), Time: earshot.Time(fields.number())}
		m.Thread, m.ReplyTo = earshot.MessageID(fields.text()), earshot.MessageID(fields.text())
		m.Edited, m.Deleted, m.Seq, m.Tokens = earshot.Time(fields.number()), fields.number() != 0, fields.number(), int(fields.number())
		m.Author = earshot.Author{ID: earshot.AuthorID(fields.text()), Name: fields.text(), Kind: earshot.AuthorKind(fields.text())}
		lists := fields.text()
		if m.Text = fields.rest; fields.damaged {
			return fmt.Errorf("message %q: a damaged row", m.ID)
		}
		err := rule.ReadLists(lists, &m)
		*out = append(*out, m)
		return err
	}
}

// joined are columns that are joined by NUL.
type joined struct {
	rest    string
	damaged bool // a column is missing, or no number
}

func (j *joined) text() string {
	text, rest, found := strings.Cut(j.rest, "\x00")
	j.rest, j.damaged = rest, j.damaged || !found
	return text
}

func (j *joined) number() int64 {
	n, err := strconv.ParseInt(j.text(), 10, 64)
	j.damaged = j.damaged || err != nil
	return n
}

// gatherColumns is gatherMessages for rows of rule.MessageColumns. The numbers are read as any: database/sql copies those as they are, where it
// would write an int64 out and parse it.
func gatherColumns(out *[]earshot.Message) func(Row) error {
	var id, thread, replyTo, author, name, kind, lists, text string
	var at, edited, deleted, seq, tokens any
	dest := []any{&id, &at, &thread, &replyTo, &edited, &deleted, &seq, &tokens, &author, &name, &kind, &lists, &text}
	return func(row Row) error {
		if err := row.Scan(dest...); err != nil {
			return err
		}
		m := earshot.Message{
			ID: earshot.MessageID(id), Time: earshot.Time(integer(at)),
			Author:  earshot.Author{ID: earshot.AuthorID(author), Name: name, Kind: earshot.AuthorKind(kind)},
			Text:    text,
			Thread:  earshot.MessageID(thread),
			ReplyTo: earshot.MessageID(replyTo),
			Edited:  earshot.Time(integer(edited)),
			Deleted: integer(deleted) != 0,
			Seq:     integer(seq),
			Tokens:  int(integer(tokens)),
		}
		err := rule.ReadLists(lists, &m)
		*out = append(*out, m)
		return err
	}
}

func integer(v any) int64 {
	n, _ := v.(int64)
	return n
}
