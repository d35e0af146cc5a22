package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/store"
)

type migrateCmd struct {
	Check  bool `help:"Say what would be done, and do nothing." xor:"do"`
	Backup bool `help:"Copy the database beside itself before it is changed (SQLite)." xor:"do"`
}

// migrateJSON is what migrate did or, with --check, would do, as --json writes it.
type migrateJSON struct {
	DB         string   `json:"db"`
	From       int64    `json:"from"`             // the database's schema version; 0: it has none yet
	To         int64    `json:"to"`               // the program's
	Migrations []string `json:"migrations"`       // in order
	Older      bool     `json:"older"`            // the program is older than the database
	Backup     string   `json:"backup,omitempty"` // the copy that was made before
	OK         bool     `json:"ok"`               // the database is as the program needs it
}

func (c *migrateCmd) Run(ctx context.Context, a *app) error {
	spec, err := a.spec()
	if err != nil {
		return err
	}
	plan, err := store.Plan(ctx, spec)
	if err != nil {
		return err
	}
	out := migrateJSON{DB: store.RedactSpec(spec), From: plan.From, To: plan.To, Migrations: append([]string{}, plan.Migrations...), Older: plan.From > plan.To}
	if c.Backup && plan.From > 0 && len(plan.Migrations) > 0 && !out.Older {
		if out.Backup, err = backUpBefore(ctx, spec, plan.From); err != nil {
			return err
		}
	}
	if !c.Check {
		if _, _, err := store.Migrate(ctx, spec); err != nil {
			return err
		}
	}
	out.OK = !out.Older && (!c.Check || len(plan.Migrations) == 0)
	if a.json {
		err = a.writeJSON(out)
	} else {
		a.printf("%s", out.lines(c.Check))
	}
	if err == nil && out.Older {
		err = fmt.Errorf("%w: use the program that wrote it or a newer one, or restore a backup", earshot.ErrSchema)
	}
	return err
}

// backUpBefore copies a database of a schema version beside itself, and returns the
// path of the copy.
func backUpBefore(ctx context.Context, spec string, version int64) (string, error) {
	path, ok := store.File(spec)
	if !ok {
		path = "earshot"
	}
	out, err := backUp(ctx, spec, fmt.Sprintf("%s.version-%d.%s", path, version, time.Now().UTC().Format("20060102T150405Z")))
	return out.Backup, err
}

// lines returns m as lines for people.
func (m migrateJSON) lines(check bool) string {
	var b strings.Builder
	db := plain.Clean(m.DB)
	if m.Backup != "" {
		fmt.Fprintf(&b, "copied to %s\n", plain.Clean(m.Backup))
	}
	switch {
	case m.Older:
		fmt.Fprintf(&b, "%s has schema version %d; this program knows %d and is older\n", db, m.From, m.To)
	case len(m.Migrations) == 0:
		fmt.Fprintf(&b, "%s is up to date: schema version %d\n", db, m.To)
	case check && m.From == 0:
		fmt.Fprintf(&b, "%s has no schema yet; schema version %d would be made, by\n", db, m.To)
	case check:
		fmt.Fprintf(&b, "%s has schema version %d; it would be brought to %d, by\n", db, m.From, m.To)
	case m.From == 0:
		fmt.Fprintf(&b, "%s is made, with schema version %d, by\n", db, m.To)
	default:
		fmt.Fprintf(&b, "%s was of schema version %d and is up to date: %d, by\n", db, m.From, m.To)
	}
	if !m.Older {
		for _, name := range m.Migrations {
			fmt.Fprintf(&b, "  %s\n", name)
		}
	}
	return b.String()
}
