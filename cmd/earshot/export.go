package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/archive"
)

type exportCmd struct {
	Channel   string `placeholder:"CHANNEL" help:"One channel only: a name or an id." predictor:"channel"`
	User      string `placeholder:"USER" help:"What is stored of one person, for a request of access: an id, or a name that only one has."`
	Workspace string `placeholder:"W" help:"With --user: the workspace, where several are stored."`
	Output    string `short:"o" placeholder:"FILE" help:"Where to write (default: standard output)." type:"path"`
}

func (c *exportCmd) Run(ctx context.Context, a *app) error {
	st, err := a.openFilled(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	var opts archive.ExportOptions
	export := func(w io.Writer) error { return archive.Export(ctx, st, w, &opts) }
	switch {
	case c.User != "" && c.Channel != "":
		return usagef("--user is about all channels; leave out --channel")
	case c.User == "" && c.Workspace != "":
		return usagef("--workspace says whose --user is meant; name a channel with --channel %s/CHANNEL", c.Workspace)
	case c.User != "":
		if export, err = c.person(ctx, a, turnsOf(st)); err != nil {
			return err
		}
	case c.Channel != "":
		ch, err := channelsOf(st).find(ctx, c.Channel, nil)
		if err != nil {
			return err
		}
		opts.Channels = []earshot.Scope{ch.Scope()}
	}
	if c.Output == "" || c.Output == "-" || c.Output == "/dev/stdout" {
		w := bufio.NewWriterSize(a.raw, 1<<16)
		if err := export(w); err != nil {
			return err
		}
		return w.Flush()
	}
	return writeFile(c.Output, export)
}

// person returns what exports the person that --user names.
func (c *exportCmd) person(ctx context.Context, a *app, l turnStore) (func(io.Writer) error, error) {
	list, err := l.workspaces(ctx, c.Workspace)
	if err != nil {
		return nil, err
	}
	p, err := l.person(ctx, list, c.User)
	if err != nil {
		return nil, err
	}
	return func(w io.Writer) error {
		show, end := a.looking()
		defer end()
		err := archive.ExportPerson(ctx, l.store, w, archive.Person{Platform: p.platform, Workspace: p.workspace, User: p.author.ID},
			func(n int) { show("messages", int64(n)) })
		if errors.Is(err, earshot.ErrNotFound) {
			return fmt.Errorf("nothing is stored of %s", p.label())
		}
		return err
	}, nil
}

// writeFile writes a file whole or not at all: it writes another file and renames
// it. Links are followed. A device or a pipe is written to directly.
func writeFile(path string, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return writeInto(path, write)
	}
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return fmt.Errorf("follow the link: %w", err)
		}
		return writeFile(path, write)
	}
	tmp := path + ".part"
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(tmp)
		}
	}()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return fmt.Errorf("put the export in its place: %w", err)
	}
	return nil
}

// writeInto writes to an existing file that is not a regular one.
func writeInto(path string, write func(io.Writer) error) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	return w.Flush()
}
