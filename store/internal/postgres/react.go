package postgres

import (
	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// PutGave implements [tables.Conn].
func (t *tx) PutGave(scope earshot.Scope, write []rule.Gave) {
	var message, emoji, author []string
	var first, was, given, at []int64
	for _, g := range write {
		message, emoji, author = append(message, string(g.Message)), append(emoji, g.Emoji), append(author, string(g.Author))
		first, was, at = append(first, int64(g.First)), append(was, int64(g.Was)), append(at, int64(g.At))
		if g.Given {
			given = append(given, 1)
		} else {
			given = append(given, 0)
		}
	}
	t.Write(`INSERT INTO reaction (platform, workspace, channel, message, emoji, author, first, was, given, at)
		SELECT $1::text, $2::text, $3::text, v.* FROM unnest($4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[]) AS v
		ON CONFLICT (platform, workspace, channel, message, emoji, author) DO UPDATE
		SET first = excluded.first, was = excluded.was, given = excluded.given, at = excluded.at`,
		tables.Args(scope, message, emoji, author, first, was, given, at)...)
}
