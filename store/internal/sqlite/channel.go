package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// apply runs f in a transaction of the writer's.
func (s *Store) apply(ctx context.Context, what string, f func(*tx) error) error {
	return s.do(ctx, what, &job{apply: f})
}

func (s *Store) do(ctx context.Context, what string, j *job) error {
	if err := s.writer.do(ctx, j); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// PutAuthors implements [earshot.Messages].
func (s *Store) PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors ...earshot.Author) error {
	authors, err := rule.CheckAuthors(p, authors)
	if err != nil || len(authors) == 0 {
		return err
	}
	const query = `INSERT INTO author (platform, workspace, ` + rule.AuthorColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?)` + rule.OnAuthor
	return s.apply(ctx, "put authors", func(t *tx) error {
		for _, a := range authors {
			if erased, err := t.nameless(rule.ID(p), rule.ID(w), a.ID); err != nil || erased {
				if err != nil {
					return err
				}
				continue
			}
			if err := t.exec(query, string(rule.ID(p)), string(rule.ID(w)), string(a.ID), a.Name, string(a.Kind), a.FullName, a.Zone, int64(a.AsOf)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Authors implements [earshot.Messages].
func (s *Store) Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error) {
	const query = `SELECT ` + rule.AuthorColumns + ` FROM author WHERE platform = ? AND workspace = ?`
	read := func(query string, which []earshot.AuthorID) ([]earshot.Author, error) {
		a := []any{string(rule.ID(p)), string(rule.ID(w))}
		for _, id := range which {
			a = append(a, string(id))
		}
		return tables.List(ctx, s, "list authors", query, a, tables.ScanAuthor)
	}
	if len(ids) == 0 {
		return read(query+` ORDER BY id`, nil)
	}
	var out []earshot.Author
	for ids = rule.IDs(ids); len(ids) > 0; {
		n := chunk(len(ids))
		found, err := read(query+` AND id IN `+marks(n, 1), ids[:n])
		if err != nil {
			return nil, err
		}
		out, ids = append(out, found...), ids[n:]
	}
	slices.SortFunc(out, func(a, b earshot.Author) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}
