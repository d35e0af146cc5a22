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

// page is how many messages are read at once.
const page = 500

// eachMessage calls write with each message of a channel, in the order of its sequence,
// and with who is known to have reacted to it. read is added up, and told to progress
// where that is not nil.
func eachMessage(ctx context.Context, store Source, s earshot.Scope, read *int, progress func(int), write func(earshot.Message, []earshot.Reactor) error) error {
	for seq := int64(0); ; {
		list, err := store.Since(ctx, s, seq, page)
		if err != nil {
			return err
		}
		var reacted []earshot.MessageID
		for _, m := range list {
			if len(m.Reactions) > 0 {
				reacted = append(reacted, m.ID)
			}
		}
		var by map[earshot.MessageID][]earshot.Reactor
		if len(reacted) > 0 {
			if by, err = store.Reactors(ctx, s, reacted...); err != nil {
				return err
			}
		}
		for _, m := range list {
			seq = m.Seq
			if err := write(m, by[m.ID]); err != nil {
				return err
			}
		}
		*read += len(list)
		if progress != nil && len(list) > 0 {
			progress(*read)
		}
		if len(list) < page {
			return nil
		}
	}
}

// olderRevisions returns the revisions of a message before the current one. One that was never
// edited has none: no revision is older than the original.
func olderRevisions(ctx context.Context, store Source, s earshot.Scope, m earshot.Message) ([]earshot.Message, error) {
	if m.Edited.IsZero() {
		return nil, nil
	}
	all, err := store.Revisions(ctx, s, m.ID)
	return all[:max(len(all)-1, 0)], err
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
	x := &exportRun{o: o, store: store, out: out, enc: json.NewEncoder(out)}
	x.enc.SetEscapeHTML(false)
	if err := x.run(ctx); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

type exportRun struct {
	o       ExportOptions
	store   Source
	out     *bufio.Writer
	enc     *json.Encoder
	written int
}

func (x *exportRun) run(ctx context.Context) error {
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
			ID: c.ID, Name: c.Name, Kind: c.Kind, Topic: c.Topic, Purpose: c.Purpose, Shared: c.Shared,
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

func (x *exportRun) authors(ctx context.Context, w scopeOf) error {
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

func (x *exportRun) channel(ctx context.Context, s earshot.Scope) error {
	scope := scopeOf{s.Platform, s.Workspace}
	coverage, err := x.store.Coverage(ctx, s)
	if err != nil {
		return err
	}
	for _, c := range coverage {
		err := x.enc.Encode(coverageLine{
			Type: "coverage", scopeOf: scope, Channel: s.Channel,
			Thread: c.Thread, From: stamp(c.From), To: stamp(c.To), State: c.State, Why: c.Why,
		})
		if err != nil {
			return err
		}
	}
	return eachMessage(ctx, x.store, s, &x.written, x.o.Progress, func(m earshot.Message, by []earshot.Reactor) error {
		line := messageLine{Type: "message", scopeOf: scope, Channel: s.Channel, ID: m.ID, Time: stamp(m.Time), Deleted: m.Deleted}
		if !m.Deleted {
			now := revisionOf(m, by)
			line.revision, line.Metadata = &now, metadataOf(m)
			before, err := olderRevisions(ctx, x.store, s, m)
			if err != nil {
				return err
			}
			for _, r := range before {
				line.Revisions = append(line.Revisions, revisionOf(r, nil))
			}
		}
		return x.enc.Encode(line)
	})
}
