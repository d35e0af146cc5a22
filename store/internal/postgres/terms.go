package postgres

import (
	"context"
	"iter"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// Terms implements [earshot.Messages].
func (s *Store) Terms(ctx context.Context, scope earshot.Scope, seq int64) iter.Seq2[earshot.Terms, error] {
	return rule.AllTerms(ctx, termReader{s, rule.Scope(scope)}, seq)
}

type termReader struct {
	*Store
	scope earshot.Scope
}

// LastSeq implements [rule.TermReader].
func (r termReader) LastSeq(ctx context.Context) (int64, error) {
	list, err := tables.List(ctx, r.Store, "read the last sequence", `SELECT seq FROM message`+in+` AND seq > 0 ORDER BY seq DESC LIMIT 1`, tables.Args(r.scope),
		func(rows tables.Row, seq *int64) error { return rows.Scan(seq) })
	if err != nil || len(list) == 0 {
		return 0, err
	}
	return list[0], nil
}

// Terms implements [rule.TermReader].
func (r termReader) Terms(ctx context.Context, after, upTo int64, limit int) ([]earshot.Terms, error) {
	var split rule.TermSplitter
	return tables.List(ctx, r.Store, "read a page", `SELECT seq, time, deleted, id, author, author_name, author_kind, thread, reply_to, terms FROM message`+in+
		` AND seq > $4 AND seq <= $5 AND seq > 0 ORDER BY seq LIMIT $6`, tables.Args(r.scope, after, upTo, limit),
		func(rows tables.Row, t *earshot.Terms) error {
			var id, author, kind, thread, replyTo, terms string
			var at, deleted int64
			if err := rows.Scan(&t.Seq, &at, &deleted, &id, &author, &t.Name, &kind, &thread, &replyTo, &terms); err != nil {
				return err
			}
			t.ID, t.Time, t.Author, t.Thread = earshot.MessageID(id), earshot.Time(at), earshot.AuthorID(author), earshot.MessageID(thread)
			t.ReplyTo, t.System, t.Deleted = earshot.MessageID(replyTo), earshot.AuthorKind(kind) == earshot.System, deleted != 0
			return split.Read(terms, t)
		})
}
