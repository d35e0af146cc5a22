package main

import (
	"context"

	"github.com/earshot-ai/earshot/internal/desk"
	"github.com/earshot-ai/earshot/store"
)

type migrateCmd struct{}

func (c *migrateCmd) Help() string {
	return `Every command brings the database's schema up to date when it opens it. This one does nothing else: run it before a
release is rolled out to several processes. A database that is newer than the program is refused.

Examples:

  earshot migrate --db postgres://earshot@db/earshot`
}

func (c *migrateCmd) Run(ctx context.Context, a *app) error {
	spec, err := a.spec()
	if err != nil {
		return err
	}
	st, err := a.create(ctx)
	if err != nil {
		return err
	}
	if err := st.Close(); err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(map[string]any{"db": store.Shown(spec), "ok": true})
	}
	a.printf("%s is up to date\n", desk.Clean(store.Shown(spec)))
	return nil
}
