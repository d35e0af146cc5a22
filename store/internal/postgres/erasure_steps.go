package postgres

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// An eraser is a transaction as [rule.Eraser]. What looks for text in a channel takes
// the channel's lock first: writers that had not seen the erasure's bar have committed
// then.
type eraser struct {
	tables.Eraser
	*tx
}

// Spoken implements [rule.Eraser].
func (e eraser) Spoken(ctx context.Context, s earshot.Scope, author earshot.AuthorID, until earshot.Time, limit int) (ids []earshot.MessageID, err error) {
	which, a := bySpeaker(earshot.ErasureOf{Platform: s.Platform, Workspace: s.Workspace, Channel: s.Channel, User: author})
	n := len(a)
	e.Shared(s)
	e.Ask(`SELECT id FROM message`+which+fmt.Sprintf(` AND time <= $%d ORDER BY time LIMIT $%d`, n+1, n+2), append(a, int64(until), limit), tables.Gather(&ids, tables.Scan[earshot.MessageID]))
	err = e.Send(ctx)
	return ids, err
}

// Purge implements [rule.Eraser].
func (e eraser) Purge(ctx context.Context, s earshot.Scope, until earshot.Time, limit int) (bool, error) {
	var gone []earshot.MessageID
	e.Exclusive(s)
	e.Ask(`DELETE FROM message`+in+` AND id = ANY(ARRAY(SELECT id FROM message`+in+` AND deleted = 1 AND author = '' AND time <= $4 LIMIT $5)) RETURNING id`,
		tables.Args(s, int64(until), limit), tables.Gather(&gone, tables.Scan[earshot.MessageID]))
	if err := e.Send(ctx); err != nil {
		return false, err
	}
	e.Write(`DELETE FROM reading`+in+` AND message = ANY($4)`, tables.Args(s, tables.Texts(gone))...)
	return len(gone) == limit, e.Send(ctx)
}

// ForgetAuthors implements [rule.Eraser].
func (e eraser) ForgetAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids []earshot.AuthorID) error {
	e.Count(&e.tx.Tally.Names, `DELETE FROM author a WHERE platform = $1 AND workspace = $2 AND id = ANY($3)
		AND NOT EXISTS (SELECT 1 FROM message m WHERE m.platform = $1 AND m.workspace = $2 AND m.author = a.id AND m.deleted = 0 AND m.author <> '')`,
		string(p), string(w), tables.Texts(ids))
	return e.Send(ctx)
}

// ForgetChannel implements [rule.Eraser].
func (e eraser) ForgetChannel(ctx context.Context, s earshot.Scope) error {
	e.Exclusive(s)
	e.Write(`UPDATE channel SET name = '', topic = '', purpose = ''`+tables.OfChannel, tables.Args(s)...)
	e.dropEarly(s, rule.Forever)
	return e.Send(ctx)
}
