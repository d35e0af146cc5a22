package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/archive"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

type importCmd struct {
	Slack   importSlackCmd   `cmd:"" help:"Read a Slack export: a zip or a folder, official or from slackdump."`
	Discord importDiscordCmd `cmd:"" help:"Read what DiscordChatExporter wrote as JSON: files, folders and zips."`
	JSONL   importJSONLCmd   `cmd:"" name:"jsonl" help:"Read JSON lines: Earshot's own export or the neutral format, gzip too."`
}

// importLimits raise the limits on the unpacked size of an archive; the errors of
// package archive name these flags.
type importLimits struct {
	MaxBytes int64 `placeholder:"N" help:"The most bytes that the archive may unpack to (default: 16 GiB)."`
	MaxRatio int   `placeholder:"N" help:"The most times its packed size that one file may unpack to (default: 250)."`
}

type importSlackCmd struct {
	importLimits

	Path      string `arg:"" help:"The export: a zip file or a folder." type:"path"`
	Workspace string `placeholder:"ID" help:"The workspace to import into (default: what the export says)."`
}

func (c *importSlackCmd) Run(ctx context.Context, a *app) error {
	opts := &archive.Options{Workspace: earshot.WorkspaceID(c.Workspace), MaxBytes: c.MaxBytes, MaxRatio: c.MaxRatio}
	if err := archive.ProbeSlack(c.Path, opts); err != nil {
		return importUsageError(err)
	}
	return importInto(ctx, a, archive.ImportSlack, c.Path, opts)
}

type importDiscordCmd struct {
	importLimits

	Paths     []string `arg:"" name:"path" help:"Files, folders and zip files of DiscordChatExporter's JSON." type:"path"`
	Workspace string   `placeholder:"ID" help:"The workspace to import into (default: the guild's id, @me for direct messages)."`
}

func (c *importDiscordCmd) Run(ctx context.Context, a *app) error {
	opts := &archive.Options{Workspace: earshot.WorkspaceID(c.Workspace), MaxBytes: c.MaxBytes, MaxRatio: c.MaxRatio}
	if err := archive.ProbeDiscord(c.Paths, opts); err != nil {
		return importUsageError(err)
	}
	return importInto(ctx, a, func(ctx context.Context, st archive.Sink, _ string, opts *archive.Options) (archive.Report, error) {
		return archive.ImportDiscord(ctx, st, c.Paths, opts)
	}, "", opts)
}

type importJSONLCmd struct {
	importLimits

	Path      string `arg:"" help:"The file: .jsonl or .jsonl.gz." type:"path"`
	Workspace string `placeholder:"ID" help:"The workspace to import into (default: what the file says, else its name)."`
	Platform  string `placeholder:"NAME" help:"The platform to import as (default: what the file says, else local)."`
}

func (c *importJSONLCmd) Run(ctx context.Context, a *app) error {
	opts := &archive.Options{
		Workspace: earshot.WorkspaceID(c.Workspace), Platform: earshot.Platform(c.Platform),
		MaxBytes: c.MaxBytes, MaxRatio: c.MaxRatio,
	}
	if err := archive.ProbeJSONL(ctx, c.Path, opts); err != nil {
		return importUsageError(err)
	}
	return importInto(ctx, a, archive.ImportJSONL, c.Path, opts)
}

// importUsageError returns a usage error where the archive or the options are at fault.
func importUsageError(err error) error {
	for _, is := range []error{fs.ErrNotExist, archive.ErrFormat, archive.ErrBomb, archive.ErrWorkspace} {
		if errors.Is(err, is) {
			return &usageError{text: err.Error()}
		}
	}
	return err
}

// An importer is one of archive's imports.
type importer func(ctx context.Context, st archive.Sink, path string, opts *archive.Options) (archive.Report, error)

// importInto imports a path into the store and prints a report.
func importInto(ctx context.Context, a *app, read importer, path string, opts *archive.Options) error {
	st, err := a.create(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	before, err := st.Channels(ctx)
	if err != nil {
		return err
	}
	rep, err := importWithProgress(ctx, a, st, read, path, opts)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(rep)
	}
	writeReport(a, rep)
	list, err := st.Channels(ctx)
	if err != nil || len(list) == 0 || a.forgets() {
		return err
	}
	label, err := channelsOf(st).label(ctx, busiestOf(list, before, rep).Channel)
	if err != nil {
		return err
	}
	db := ""
	if a.db != "" {
		db = " --db " + shellWord(a.shownDB())
	}
	a.printf("\nnext: earshot channels%s\n      earshot context%s %s last\n", db, db, shellWord(label))
	return nil
}

// forgets reports whether the store ends with the program.
func (a *app) forgets() bool {
	spec, err := a.spec()
	return err == nil && (strings.HasPrefix(spec, "memory:") || strings.HasPrefix(spec, "sqlite::memory:"))
}

// busiestOf returns the channel with the most messages among those that an import
// has added to. Where it added nothing, as when it is repeated, it chooses among
// the channels of the workspace, or of the whole store when the import names none.
func busiestOf(list, before []earshot.ChannelInfo, rep archive.Report) earshot.ChannelInfo {
	had := map[earshot.Scope]int{}
	for _, c := range before {
		had[c.Scope()] = c.Messages
	}
	rank := func(c earshot.ChannelInfo) int {
		switch {
		case c.Messages > had[c.Scope()]:
			return 2
		case rep.Workspace != "" && c.Workspace == rep.Workspace:
			return 1
		}
		return 0
	}
	return slices.MaxFunc(list, func(x, y earshot.ChannelInfo) int {
		return cmp.Or(cmp.Compare(rank(x), rank(y)), cmp.Compare(x.Messages, y.Messages))
	})
}

// importWithProgress imports and shows progress: a bar on a terminal, a line every
// few seconds elsewhere. Its errors say how to continue.
func importWithProgress(ctx context.Context, a *app, st earshot.Store, read importer, path string, opts *archive.Options) (archive.Report, error) {
	show, done := a.progress()
	opts.Progress = show
	rep, err := read(ctx, st, path, opts)
	done()
	switch {
	case err == nil:
		return rep, nil
	case ctx.Err() != nil:
		return rep, &interruptedError{fmt.Sprintf("interrupted; %s so far kept, run the same command again to go on",
			plain.Count(rep.Messages.Total(), "message"))}
	}
	return rep, importUsageError(err)
}

// writeReport prints what an import read, and what it skipped and where.
func writeReport(a *app, r archive.Report) {
	n := r.Messages
	rate := ""
	if s := r.Duration.Seconds(); s >= 0.1 {
		rate = fmt.Sprintf(", %s a second", plain.Number(int(float64(n.Total())/s)))
	}
	a.printf("%s\n", terminal.Strong(fmt.Sprintf("%s in %s by %s", plain.Count(n.Total(), "message"), plain.Count(r.Channels, "channel"), plain.Count(r.Authors, "author")))+
		terminal.Faint(fmt.Sprintf(" — %s, %s%s", r.Format, formatDuration(r.Duration), rate)))
	var parts []string
	for _, x := range []struct {
		n    int
		what string
	}{{n.New, "new"}, {n.Edited, "edited"}, {n.Updated, "updated"}, {n.Deleted, "deleted"}, {n.Late, "older revisions"}, {n.Unchanged, "known already"}} {
		if x.n > 0 {
			parts = append(parts, plain.Number(x.n)+" "+x.what)
		}
	}
	if r.Threads > 0 {
		parts = append(parts, plain.Count(r.Threads, "thread"))
	}
	if r.Files > 0 {
		parts = append(parts, plain.Count(r.Files, "file")+" named, none fetched")
	}
	if len(parts) > 0 {
		a.printf("  %s\n", strings.Join(parts, " · "))
	}
	writeSkips(a, "skipped", r.Skipped)
	writeSkips(a, "read in part", r.Partly)
}

// placesShown is how many places of each reason a summary names.
const placesShown = 3

func writeSkips(a *app, what string, list []archive.Skip) {
	if len(list) == 0 {
		return
	}
	a.printf("%s\n", terminal.Mark(what))
	for _, s := range list {
		var at []string
		for _, p := range s.Places[:min(len(s.Places), placesShown)] {
			where := plain.Line(p.File, 60)
			switch {
			case p.Record > 1 && p.Line == 1: // the file is one line
				where += fmt.Sprintf("#%d", p.Record)
			case p.Line > 0:
				where += fmt.Sprintf(":%d", p.Line)
			case p.Record > 0:
				where += fmt.Sprintf(" record %d", p.Record)
			}
			at = append(at, where)
		}
		more := ""
		if s.Count > len(at) && len(at) > 0 {
			more = ", …"
		}
		a.printf("  %6s  %s  %s\n", plain.Number(s.Count), plain.Line(s.Reason, 80), terminal.Faint(strings.Join(at, ", ")+more))
	}
}
