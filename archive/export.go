package archive

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/earshot-ai/earshot"
)

// ExportOptions choose what is exported. nil and the zero value mean everything.
type ExportOptions struct {
	// Channels are exported, in the store's order; nil means all of them.
	Channels []earshot.Scope
	// Progress is called from time to time with the number of messages written.
	Progress func(messages int)
}

// A Source is what an export needs of an [earshot.Store].
type Source interface {
	FindChannels(ctx context.Context, q earshot.ChannelQuery) ([]earshot.ChannelInfo, error)
	Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error)
	Since(ctx context.Context, s earshot.Scope, seq int64, limit int) ([]earshot.Message, error)
	Revisions(ctx context.Context, s earshot.Scope, id earshot.MessageID) ([]earshot.Message, error)
	Reactors(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) (map[earshot.MessageID][]earshot.Reactor, error)
	Coverage(ctx context.Context, s earshot.Scope) ([]earshot.Coverage, error)
}

// reactors returns who is known to have reacted to messages.
func reactors(ctx context.Context, store Source, s earshot.Scope, list []earshot.Message) (map[earshot.MessageID][]earshot.Reactor, error) {
	var ids []earshot.MessageID
	for _, m := range list {
		if len(m.Reactions) > 0 {
			ids = append(ids, m.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return store.Reactors(ctx, s, ids...)
}

// Export writes a store's channels, authors, messages with their revisions, tombstones
// and coverage to w as Earshot's own JSON lines, which [ImportJSONL] reads. Turns,
// summaries and other state of agents are not exported. The error is the store's or
// w's, and wraps it.
//
// The same content gives the same bytes. Memory does not grow with the store.
func Export(ctx context.Context, store Source, w io.Writer, opts *ExportOptions) error {
	var o ExportOptions
	if opts != nil {
		o = *opts
	}
	out := bufio.NewWriterSize(w, 256<<10)
	x := &export{o: o, store: store, out: out, enc: json.NewEncoder(out)}
	x.enc.SetEscapeHTML(false)
	if err := x.run(ctx); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

type export struct {
	o       ExportOptions
	store   Source
	out     *bufio.Writer
	enc     *json.Encoder
	written int
}

func (x *export) run(ctx context.Context) error {
	if err := x.enc.Encode(headerLine{formatName, exportVersion}); err != nil {
		return err
	}
	var q earshot.ChannelQuery
	for _, c := range x.o.Channels {
		q.IDs = append(q.IDs, c.Channel)
	}
	all, err := x.store.FindChannels(ctx, q)
	if err != nil {
		return err
	}
	channels := slices.DeleteFunc(all, func(c earshot.ChannelInfo) bool {
		return x.o.Channels != nil && !slices.Contains(x.o.Channels, c.Scope())
	})
	for i, c := range channels {
		err := x.enc.Encode(channelLine{
			Type: "channel", scopeOf: scopeOf{c.Platform, c.Workspace},
			ID: c.ID, Name: c.Name, Kind: c.Kind, Topic: c.Topic, Purpose: c.Purpose,
		})
		if err != nil {
			return err
		}
		last := i == len(channels)-1 || channels[i+1].Platform != c.Platform || channels[i+1].Workspace != c.Workspace
		if !last {
			continue
		}
		if err := x.authors(ctx, scopeOf{c.Platform, c.Workspace}); err != nil {
			return err
		}
	}
	for _, c := range channels {
		if err := x.channel(ctx, c.Scope()); err != nil {
			return err
		}
	}
	return x.out.Flush()
}

func (x *export) authors(ctx context.Context, w scopeOf) error {
	list, err := x.store.Authors(ctx, w.Platform, w.Workspace)
	if err != nil {
		return err
	}
	for _, a := range list {
		if err := x.enc.Encode(authorLine{"author", w, authorOfAuthor(a)}); err != nil {
			return err
		}
	}
	return nil
}

// page is how many messages are read at once.
const page = 500

func (x *export) channel(ctx context.Context, s earshot.Scope) error {
	scope := scopeOf{s.Platform, s.Workspace}
	coverage, err := x.store.Coverage(ctx, s)
	if err != nil {
		return err
	}
	for _, c := range coverage {
		err := x.enc.Encode(coverageLine{
			Type: "coverage", scopeOf: scope, Channel: s.Channel,
			Thread: c.Thread, From: stampOf(c.From), To: stampOf(c.To), State: c.State, Why: c.Why,
		})
		if err != nil {
			return err
		}
	}
	for seq := int64(0); ; {
		list, err := x.store.Since(ctx, s, seq, page)
		if err != nil {
			return err
		}
		by, err := reactors(ctx, x.store, s, list)
		if err != nil {
			return err
		}
		for _, m := range list {
			line := messageLine{Type: "message", scopeOf: scope, Channel: s.Channel, ID: m.ID, Time: stampOf(m.Time), Deleted: m.Deleted}
			if !m.Deleted {
				now := revisionOf(m, by[m.ID])
				line.revision = &now
				if line.Revisions, err = x.older(ctx, s, m); err != nil {
					return err
				}
			}
			if err := x.enc.Encode(line); err != nil {
				return err
			}
			seq = m.Seq
		}
		x.written += len(list)
		if x.o.Progress != nil && len(list) > 0 {
			x.o.Progress(x.written)
		}
		if len(list) < page {
			return nil
		}
	}
}

// older returns the revisions before the current one. One that was never
// edited has none: no revision is older than the original.
func (x *export) older(ctx context.Context, s earshot.Scope, m earshot.Message) ([]revision, error) {
	if m.Edited.IsZero() {
		return nil, nil
	}
	all, err := x.store.Revisions(ctx, s, m.ID)
	if err != nil {
		return nil, err
	}
	var out []revision
	for _, r := range all[:max(len(all)-1, 0)] {
		out = append(out, revisionOf(r, nil))
	}
	return out, nil
}
