package archive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

// A slackImport is one run of ImportSlack.
type slackImport struct {
	importRun
	layout archiveLayout
	names  slackmsg.Names
	people *authorCollector
}

// ImportSlack records a Slack export: a zip file, a folder, or one file of a
// dump. It reads the official layout and slackdump's: export, dump, and the
// gzipped recordings.
//
// The error is ctx's or the store's, or wraps [ErrFormat] (no Slack archive),
// [ErrWorkspace] (wrong options) or [ErrBomb] (it unpacks to too much). The report says
// what was done until then; the import can be run again.
func ImportSlack(ctx context.Context, store Sink, name string, opts *Options) (Report, error) {
	return importSlack(ctx, store, name, opts, func(o Options, skipped *tally) (*source, error) {
		return openSource(name, o, skipped)
	})
}

// ImportSlackFS is [ImportSlack] for an export in a file system, such as one
// that is built into a program. name stands for its path in errors, and in the
// workspace's name where nothing else tells it.
func ImportSlackFS(ctx context.Context, store Sink, fsys fs.FS, name string, opts *Options) (Report, error) {
	return importSlack(ctx, store, name, opts, newFSOpener(fsys))
}

func importSlack(ctx context.Context, store Sink, name string, opts *Options, open opener) (Report, error) {
	x := &slackImport{}
	return x.do("slack", earshot.Slack, store, name, opts, open, func() error { return x.run(ctx, name) })
}

func (x *slackImport) run(ctx context.Context, name string) error {
	var err error
	if x.layout, err = detectLayout(name, x.source, x.skipped); err != nil {
		return err
	}
	l, err := x.readLists(ctx)
	if err != nil {
		return err
	}
	x.names, x.people = l.names(), &authorCollector{listed: l.people}
	list := x.layout.conversations(l.channels)
	w := cmp.Or(x.o.Workspace, l.workspace())
	if w == "" {
		w = x.firstTeam(list)
	}
	if w == "" || checkWorkspace(w) != nil {
		w = nameOf(name)
	}
	x.report.Workspace, x.report.Channels = w, len(list)
	channels := make([]earshot.Channel, len(list))
	var size int64
	for i := range list {
		c := &list[i].channel
		c.Platform, c.Workspace = x.o.Platform, w
		channels[i] = *c
		for _, f := range list[i].files {
			size += f.size
		}
	}
	if err := x.putChannels(ctx, channels); err != nil {
		return err
	}
	err = recordChannels(ctx, &x.importRun, list, size, x.conversation)
	if err == nil {
		x.report.Authors, err = x.people.put(ctx, x.store, x.o.Platform, w)
	}
	return err
}

// conversation decodes one channel's files in order.
func (x *slackImport) conversation(ctx context.Context, c conversationFiles) error {
	d := &channelReader{x: x, batch: batcher{to: x.to, scope: c.channel.Scope()}, roots: rootSet{}}
	var err error
	for _, f := range c.files {
		d.file, d.index = f.name, 0
		if f.kind == chunkFile {
			err = x.open(f.entry, true, func(r io.Reader) error { return d.chunks(ctx, r) })
		} else {
			err = x.open(f.entry, false, func(r io.Reader) error { return d.messages(ctx, r) })
		}
		if err != nil {
			break
		}
	}
	if err == nil {
		err = d.batch.flush(ctx)
	}
	x.countFound(len(d.roots), d.files)
	return err
}

// A channelReader decodes the files of one channel.
type channelReader struct {
	x     *slackImport
	batch batcher
	file  string
	index int // of the record, from 1
	files int
	roots rootSet // threads with a reply
	in    *splitter

	record buffer // of single, used again
}

func (d *channelReader) skip(reason string, line int) {
	d.x.skipped.add(reason, Place{File: d.file, Record: d.index, Line: line})
}

// messages reads a day of an export or a dump: a list of messages, or an
// object with such a list as "messages".
func (d *channelReader) messages(ctx context.Context, r io.Reader) error {
	d.in = newSplitter(r, d.skip)
	c, err := d.in.token()
	switch {
	case err != nil || c != '[' && c != '{':
		if d.in.err == nil {
			d.x.skipped.add(notAList, Place{File: d.file})
		}
	case c == '[':
		err = d.in.array(d.single(ctx))
	default:
		found := false
		err = d.in.object(&buffer{}, func(name string, _ []byte) func(byte, int) error {
			if name != "messages" {
				return nil
			}
			found = true
			return d.nestedReader(ctx)
		})
		switch {
		case !found && d.in.err == nil:
			d.x.skipped.add(notAList, Place{File: d.file})
		case err == errBroken:
			d.skip(restLost, d.in.line)
		}
	}
	return d.wrapReadError(err)
}

// chunks reads a recording of slackdump: lines that hold messages as "m".
func (d *channelReader) chunks(ctx context.Context, r io.Reader) error {
	d.in = newSplitter(r, d.skip)
	for {
		c, err := d.in.token()
		if err != nil {
			return d.wrapReadError(err)
		}
		if c != '{' {
			continue
		}
		err = d.in.object(&buffer{}, func(name string, sofar []byte) func(byte, int) error {
			if name != "m" {
				return nil
			}
			var head struct {
				Type    int               `json:"t"`
				Channel earshot.ChannelID `json:"id"`
			}
			_ = json.Unmarshal(append(append([]byte{}, sofar...), '}'), &head)
			if head.Type > 1 || head.Channel != "" && head.Channel != d.batch.scope.Channel {
				return nil
			}
			return d.single(ctx)
		})
		if err == errBroken {
			d.skip(broken, d.in.line)
			continue
		}
		if err != nil {
			return d.wrapReadError(err)
		}
	}
}

// wrapReadError tells failures of reading and of recording from the end of a file.
func (d *channelReader) wrapReadError(err error) error {
	if d.in.err != nil {
		return d.in.err
	}
	if err == errEnd || err == errBroken {
		return nil
	}
	return err
}

// single reads one message.
func (d *channelReader) single(ctx context.Context) func(byte, int) error {
	return func(c byte, line int) error {
		d.index++
		d.record.reset()
		if err := d.in.value(c, &d.record); err != nil {
			return err
		}
		return d.message(ctx, d.record, d.index, line)
	}
}

// nestedReader reads one message, and before it the replies that slackdump nests in
// their root.
func (d *channelReader) nestedReader(ctx context.Context) func(byte, int) error {
	single := d.single(ctx)
	return func(c byte, line int) error {
		if c != '{' {
			return single(c, line)
		}
		d.index++
		own, b := d.index, buffer{}
		err := d.in.object(&b, func(name string, _ []byte) func(byte, int) error {
			if name == "slackdump_thread_replies" {
				return single
			}
			return nil
		})
		if err != nil {
			return err
		}
		return d.message(ctx, b, own, line)
	}
}

// message decodes one record and puts it into the batch.
func (d *channelReader) message(ctx context.Context, b buffer, index, line int) error {
	at := Place{File: d.file, Record: index, Line: line}
	x, err := slackmsg.Decode(b.bytes, d.x.names)
	reason := ""
	switch {
	case b.over:
		reason = tooLarge
	case errors.Is(err, slackmsg.ErrSyntax):
		reason = broken
	case err != nil:
		reason = noMessage
	case x.Kind == slackmsg.Ignored:
		reason = x.Reason
	}
	if reason != "" || x.Kind == slackmsg.Ignored {
		d.x.skipped.add(reason, at)
		return ctx.Err()
	}
	for _, n := range x.Notes {
		d.x.partly.add(n, at)
	}
	m := x.Message
	if x.Key != "" && m.Author.Kind == earshot.Bot {
		m.Edited = 0 // an answer in its placeholder's stead is no edit
	}
	if root := m.Root(); root != "" && !m.Deleted {
		d.roots.add(string(root))
	}
	d.files += len(m.Files)
	d.x.people.meet(m.Author, m.Time)
	return d.batch.add(ctx, m)
}

// firstTeam looks for a workspace's id in the first messages.
func (x *slackImport) firstTeam(list []conversationFiles) earshot.WorkspaceID {
	looked := 0
	var team earshot.WorkspaceID
	for _, c := range list {
		for _, f := range c.files[:min(len(c.files), 1)] {
			if f.kind != messageFile || looked >= 8 || team != "" {
				break
			}
			looked++
			r, err := x.source.reader(f.entry)
			if err != nil {
				continue
			}
			s := newSplitter(r, func(string, int) {})
			n := 0
			element := func(c byte, _ int) error {
				b := buffer{}
				if err := s.value(c, &b); err != nil {
					return err
				}
				if d, err := slackmsg.Decode(b.bytes, slackmsg.Names{}); err == nil && d.Team != "" {
					team = d.Team
				}
				if n++; n == 100 || team != "" {
					return errEnd
				}
				return nil
			}
			switch c, _ := s.token(); c {
			case '[':
				_ = s.array(element)
			case '{':
				_ = s.object(&buffer{}, func(name string, _ []byte) func(byte, int) error {
					if name == "messages" {
						return element
					}
					return nil
				})
			}
			_ = r.Close()
		}
	}
	return team
}
