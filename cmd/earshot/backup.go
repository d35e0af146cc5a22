package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/store"
)

type backupCmd struct {
	Path string `arg:"" type:"path" help:"The new file."`
}

// backupJSON is a finished copy, as --json writes it.
type backupJSON struct {
	DB     string `json:"db"`
	Backup string `json:"backup"`
	Schema int64  `json:"schema"` // the version of both
	Bytes  int64  `json:"bytes"`
}

func (c *backupCmd) Run(ctx context.Context, a *app) error {
	spec, err := a.spec()
	if err != nil {
		return err
	}
	out, err := backUp(ctx, spec, c.Path)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(out)
	}
	a.printf("%s is copied to %s: %s bytes, schema version %d\n",
		plain.Clean(out.DB), plain.Clean(out.Backup), plain.Number(int(out.Bytes)), out.Schema)
	return nil
}

// backUp copies the database that spec names to a new file.
func backUp(ctx context.Context, spec, path string) (backupJSON, error) {
	out := backupJSON{DB: store.RedactSpec(spec), Backup: path}
	err := store.Backup(ctx, spec, path)
	switch dump, ok := store.DumpCommand(spec, path); {
	case ok && errors.Is(err, store.ErrNoBackup):
		for i := range dump {
			dump[i] = shellWord(dump[i])
		}
		return out, usagef("PostgreSQL is copied by its own program; run: %s", strings.Join(dump, " "))
	case errors.Is(err, store.ErrNoBackup):
		return out, usagef("%s holds nothing that could be copied; name a database with --db", out.DB)
	case errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrNotExist):
		return out, usagef("%s", err.Error())
	case err != nil:
		return out, err
	}
	plan, err := store.Plan(ctx, "sqlite:"+path)
	if err != nil {
		return out, err
	}
	out.Schema = plan.From
	info, err := os.Stat(path)
	if err == nil {
		out.Bytes = info.Size()
	}
	return out, err
}
