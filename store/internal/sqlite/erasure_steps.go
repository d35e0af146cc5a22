package sqlite

import (
	"context"
	"errors"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// An eraser is the writer's transaction as [rule.Eraser]. Whatever deletes or
// changes text calls needScrub.
type eraser struct {
	tables.Eraser
	*tx
}

// ForgetAuthors implements [rule.Eraser].
func (e eraser) ForgetAuthors(_ context.Context, p earshot.Platform, w earshot.WorkspaceID, ids []earshot.AuthorID) error {
	for _, id := range ids {
		last, err := e.LastSpoken(context.Background(), earshot.ErasureOf{Platform: p, Workspace: w, User: id})
		if err != nil {
			return err
		}
		if last != 0 {
			continue
		}
		n, err := e.affected(`DELETE FROM author WHERE platform = ? AND workspace = ? AND id = ?`, string(p), string(w), string(id))
		if err := errors.Join(err, e.needScrub()); err != nil {
			return err
		}
		e.tx.Tally.Names += n
	}
	return nil
}

// ForgetChannel implements [rule.Eraser].
func (e eraser) ForgetChannel(_ context.Context, s earshot.Scope) error {
	var place int64
	found, err := e.one(`UPDATE channel SET name = '', topic = '', purpose = ''`+ofChannel+` RETURNING place`, tables.Args(s), []any{&place})
	if err != nil || !found {
		return err
	}
	_, err = e.dropEarly(place, rule.Forever)
	return errors.Join(err, e.needScrub())
}
