package postgres

import (
	"cmp"
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// PutAuthors implements [earshot.Messages].
func (s *Store) PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors ...earshot.Author) error {
	authors, err := rule.CheckAuthors(p, authors)
	if err != nil || len(authors) == 0 {
		return err
	}
	// By id, so that two calls at once wait for each other in one order.
	slices.SortFunc(authors, func(a, b earshot.Author) int { return cmp.Compare(a.ID, b.ID) })
	return s.apply(ctx, "put authors", func(ctx context.Context, t *tx) error {
		nameless, err := t.nameless(ctx, rule.ID(p), rule.ID(w), authors)
		if err != nil {
			return err
		}
		var ids, names, kinds, full, zones []string
		var told []int64
		for _, a := range authors {
			if !nameless[a.ID] {
				ids, names, kinds = append(ids, string(a.ID)), append(names, a.Name), append(kinds, string(a.Kind))
				full, zones, told = append(full, a.FullName), append(zones, a.Zone), append(told, int64(a.AsOf))
			}
		}
		t.Write(`INSERT INTO author (platform, workspace, `+rule.AuthorColumns+`)
			SELECT $1::text, $2::text, v.* FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[]) AS v`+rule.OnAuthor,
			string(rule.ID(p)), string(rule.ID(w)), ids, names, kinds, full, zones, told)
		return nil
	})
}

// nameless returns those of the authors who are erased from a workspace and have said
// nothing there since: then no name is stored of them.
func (t *tx) nameless(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors []earshot.Author) (map[earshot.AuthorID]bool, error) {
	var ids, barred []string
	for _, a := range authors {
		ids = append(ids, string(a.ID))
	}
	t.Ask(`SELECT author FROM barred WHERE platform = $1 AND workspace = $2 AND channel = '' AND author = ANY($3)`, []any{string(p), string(w), ids}, tables.Gather(&barred, tables.Scan[string]))
	if err := t.Send(ctx); err != nil || len(barred) == 0 {
		return nil, err
	}
	out := map[earshot.AuthorID]bool{}
	for _, id := range barred {
		spoke := false
		which, a := bySpeaker(earshot.ErasureOf{Platform: p, Workspace: w, User: earshot.AuthorID(id)})
		t.Ask(`SELECT 1 FROM message`+which+` ORDER BY channel, time LIMIT 1`, a, tables.One(&spoke, new(int)))
		if err := t.Send(ctx); err != nil {
			return nil, err
		}
		out[earshot.AuthorID(id)] = !spoke
	}
	return out, nil
}

// Authors implements [earshot.Messages].
func (s *Store) Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error) {
	query, a := `SELECT `+rule.AuthorColumns+` FROM author WHERE platform = $1 AND workspace = $2`, []any{string(rule.ID(p)), string(rule.ID(w))}
	if len(ids) > 0 {
		query, a = query+` AND id = ANY($3)`, append(a, tables.Texts(rule.IDs(ids)))
	}
	return tables.List(ctx, s, "list authors", query+` ORDER BY id`, a, tables.ScanAuthor)
}
