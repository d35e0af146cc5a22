package postgres

import (
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// columns are those of message and revision that a read loads.
const columns = rule.MessageColumns

// in bounds a statement to the rows of a channel. What follows it counts its
// parameters from $4.
const in = tables.In

// rows are messages as columns, so that one statement writes many.
type rows struct {
	id, thread, replyTo, author, name, kind, lists, text, terms []string
	time, edited, deleted, seq, tokens                          []int64
}

func (r *rows) add(m *rule.Message) error {
	lists, err := rule.WriteLists(m)
	if err != nil {
		return err
	}
	deleted := int64(0)
	if m.Deleted {
		deleted = 1
	}
	r.id, r.thread, r.replyTo = append(r.id, string(m.ID)), append(r.thread, string(m.Thread)), append(r.replyTo, string(m.ReplyTo))
	r.author, r.name, r.kind = append(r.author, string(m.Author.ID)), append(r.name, m.Author.Name), append(r.kind, string(m.Author.Kind))
	r.lists, r.text, r.terms = append(r.lists, lists), append(r.text, m.Text), append(r.terms, m.Terms)
	r.time, r.edited, r.deleted = append(r.time, int64(m.Time)), append(r.edited, int64(m.Edited)), append(r.deleted, deleted)
	r.seq, r.tokens = append(r.seq, m.Seq), append(r.tokens, int64(m.Tokens))
	return nil
}

// args returns the parameters of unnested, after those of a scope.
func (r *rows) args(s earshot.Scope) []any {
	return tables.Args(s, r.id, r.time, r.thread, r.replyTo, r.edited, r.deleted, r.seq, r.tokens, r.author, r.name, r.kind, r.lists, r.text)
}

// unnested makes a table of the parameters that rows.args returns.
const unnested = `unnest($4::text[], $5::bigint[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[],
	$12::text[], $13::text[], $14::text[], $15::text[], $16::text[]`

const (
	insertMessages = `INSERT INTO message (platform, workspace, channel, ` + columns + `, terms)
		SELECT $1::text, $2::text, $3::text, v.* FROM ` + unnested + `, $17::text[]) AS v`
	updateMessages = `UPDATE message SET (time, thread, reply_to, edited, deleted, seq, tokens, author, author_name, author_kind, lists, text, terms)
		= ($5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)` + in + ` AND id = $4`
)

var keepRevisions = func() string {
	var set []string
	for _, c := range strings.Split(columns, ", ") {
		set = append(set, c+" = excluded."+c)
	}
	return `INSERT INTO revision (platform, workspace, channel, ` + columns + `)
		SELECT $1::text, $2::text, $3::text, v.* FROM ` + unnested + `) AS v
		ON CONFLICT (platform, workspace, channel, id, edited) DO UPDATE SET ` + strings.Join(set, ", ")
}()
