package tables

import (
	"cmp"
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// PutAuthors implements [earshot.Messages].
func (s *Store) PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors ...earshot.Author) error {
	authors, err := rule.CheckAuthors(p, authors)
	if err != nil || len(authors) == 0 {
		return err
	}
	p, w = rule.ID(p), rule.ID(w)
	// By id, so that two calls at once wait for each other in one order.
	slices.SortFunc(authors, func(a, b earshot.Author) int { return cmp.Compare(a.ID, b.ID) })
	return s.engine.Apply(ctx, "put authors", func(ctx context.Context, t *Tx) error {
		nameless, err := t.nameless(ctx, p, w, authors)
		if err != nil {
			return err
		}
		for _, a := range authors {
			if !nameless[a.ID] {
				t.Write(`INSERT INTO author (platform, workspace, `+rule.AuthorColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`+rule.OnAuthor,
					string(p), string(w), string(a.ID), a.Name, string(a.Kind), a.FullName, a.Zone, int64(a.AsOf), string(a.Standing), a.Team)
			}
		}
		return nil
	})
}

// Authors implements [earshot.Messages].
func (s *Store) Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error) {
	query, a := `SELECT `+rule.AuthorColumns+` FROM author WHERE platform = $1 AND workspace = $2`, []any{string(rule.ID(p)), string(rule.ID(w))}
	if len(ids) > 0 {
		query, a = query+` AND `+s.sql.Any(`id`, 3), append(a, s.sql.List(Texts(rule.IDs(ids))))
	}
	return List(ctx, s.engine, "list authors", query+` ORDER BY id`, a, func(row Row, a *earshot.Author) error {
		return row.Scan(&a.ID, &a.Name, &a.Kind, &a.FullName, &a.Zone, &a.AsOf, &a.Standing, &a.Team)
	})
}
