package tables

import (
	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// gatherMessages returns a function for Ask that appends each row of rule.MessageColumns to
// out. The numbers are read as any: database/sql copies those as they are, where it
// would write an int64 out and parse it.
func gatherMessages(out *[]earshot.Message) func(Row) error {
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
