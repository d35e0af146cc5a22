package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

// spec returns where the store is: --db, else EARSHOT_DB, else a file in the
// user's data directory. A value without a known scheme is a path.
func (a *app) spec() (string, error) {
	s := cmp.Or(a.db, a.getenv("EARSHOT_DB"))
	if s == "" {
		dir, err := a.dataDir()
		if err != nil {
			return "", err
		}
		s = filepath.Join(dir, "earshot.db")
	}
	if path, ok := store.File(s); ok {
		return "sqlite:" + path, nil
	}
	return s, nil
}

// shownDB returns the value of --db without a password, to be printed.
func (a *app) shownDB() string {
	if _, ok := store.File(a.db); ok {
		return a.db
	}
	return store.RedactSpec(a.db)
}

// dataDir returns Earshot's folder in the user's data directory.
func (a *app) dataDir() (string, error) {
	if d := a.getenv("XDG_DATA_HOME"); filepath.IsAbs(d) {
		return filepath.Join(d, "earshot"), nil
	}
	home := a.getenv("HOME")
	switch runtime.GOOS {
	case "windows":
		if d := a.getenv("LocalAppData"); d != "" {
			return filepath.Join(d, "earshot"), nil
		}
	case "darwin":
		if home != "" {
			return filepath.Join(home, "Library", "Application Support", "earshot"), nil
		}
	default:
		if home != "" {
			return filepath.Join(home, ".local", "share", "earshot"), nil
		}
	}
	return "", usagef("there is no data directory to keep messages in; say where with --db PATH or EARSHOT_DB")
}

// create opens the store, and makes it where there is none.
func (a *app) create(ctx context.Context) (earshot.Store, error) {
	spec, err := a.spec()
	if err != nil {
		return nil, err
	}
	return a.openStore(ctx, spec)
}

// openStore opens the store of a spec.
func (a *app) openStore(ctx context.Context, spec string) (earshot.Store, error) {
	st, err := store.Open(ctx, spec, nil)
	if err == nil && a.through != nil {
		st = a.through(st)
	}
	return st, err
}

// open opens a store that must exist; none is made.
func (a *app) open(ctx context.Context) (earshot.Store, error) {
	spec, err := a.spec()
	if err != nil {
		return nil, err
	}
	if path, ok := store.File(spec); ok {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return nil, usagef("there is no database at %s yet; run `earshot import slack PATH` to fill it, or `earshot demo` to look around first", path)
		}
	}
	if strings.HasPrefix(spec, "memory:") {
		return a.openStore(ctx, spec)
	}
	if stored, _, err := store.Version(ctx, spec); err != nil {
		return nil, err
	} else if stored == 0 {
		return nil, usagef("there is nothing of Earshot's in %s; run `earshot import slack PATH` to fill it, or `earshot demo` to look around first", store.RedactSpec(spec))
	}
	return a.openStore(ctx, spec)
}

// openFilled opens the store; one without channels is an error that says how to fill it.
func (a *app) openFilled(ctx context.Context) (earshot.Store, error) {
	st, err := a.open(ctx)
	if err != nil {
		return nil, err
	}
	some, err := st.FindChannels(ctx, earshot.ChannelQuery{Limit: 1})
	if err == nil && len(some) == 0 {
		err = usagef("the database is empty; run `earshot import slack PATH` to fill it, or `earshot demo` to look around first")
	}
	if err != nil {
		st.Close()
		return nil, err
	}
	return st, nil
}

// channels is filled with a list of all channels.
func (a *app) channels(ctx context.Context) (earshot.Store, []earshot.ChannelInfo, error) {
	st, err := a.openFilled(ctx)
	if err != nil {
		return nil, nil, err
	}
	list, err := st.Channels(ctx)
	if err != nil {
		st.Close()
		return nil, nil, err
	}
	return st, list, nil
}
