package postgres

import (
	"context"

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
