package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// Reasons for leaving out a file or a record of a Discord export.
const (
	otherJSON = "not a file of DiscordChatExporter"
	noID      = "no message, or without a usable id"
)

// headerBytes is where the messages of a file begin at the latest.
const headerBytes = 256 << 10

// A discordFile is one file of DiscordChatExporter: a channel or a thread, or a part
// of one.
type discordFile struct {
	entry
	header discordmsg.ExportHeader
}

// thread returns the thread that the file's messages are replies in; "" for none.
func (f discordFile) thread() earshot.MessageID {
	_, thread := f.header.Channel.Where()
	return thread
}

// subject returns what the file's thread is called, as of when the file was written.
func (f discordFile) subject() *earshot.Subject {
	x := f.header.Channel.Subject(true, nil)
	if x != nil {
		x.AsOf = max(f.header.Exported, 1) // what a running bot was told is newer
	}
	return x
}

// openSources opens several paths as one source. The files of a path have its last
// element before their names where there are several.
func openSources(names []string, o Options, skipped *tally) (*source, error) {
	all := newSource(o)
	var opened []*source
	all.close = func() error {
		var err error
		for _, s := range opened {
			err = errors.Join(err, s.close())
		}
		return err
	}
	used := map[string]bool{}
	for _, name := range names {
		s, err := openSource(name, o, skipped)
		if err != nil {
			return nil, errors.Join(err, all.close())
		}
		opened = append(opened, s)
		prefix := ""
		if len(names) > 1 {
			base := filepath.Base(name)
			prefix = base
			for n := 2; used[prefix]; n++ {
				prefix = fmt.Sprintf("%s (%d)", base, n)
			}
			used[prefix] = true
		}
		for _, e := range s.entries {
			switch {
			case prefix != "" && len(s.entries) == 1 && e.name == filepath.Base(name):
				e.name = prefix
			case prefix != "":
				e.name = prefix + "/" + e.name
			}
			all.entries = append(all.entries, e)
		}
	}
	all.sort(skipped)
	return all, nil
}

// headers finds the files of DiscordChatExporter, by what they begin with.
func (x *discordImport) headers(ctx context.Context) ([]discordFile, error) {
	var out []discordFile
	for _, e := range x.source.entries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !maybeDiscord(e) {
			continue
		}
		var h discordmsg.ExportHeader
		found, failed := false, true
		err := x.open(e, false, func(r io.Reader) (err error) {
			h, found, err = readDiscordHeader(r)
			failed = err != nil
			return err
		})
		if err != nil {
			return nil, err
		}
		if failed { // it is counted already
			continue
		}
		if !found {
			x.skipped.add(otherJSON, Place{File: e.name})
			continue
		}
		out = append(out, discordFile{e, h})
	}
	return out, nil
}

// mediaFolder ends the name, in small letters, of the folder into which
// DiscordChatExporter downloads the files that people attached, beside the file of
// their channel (its option --media).
const mediaFolder = ".json_files"

// maybeDiscord reports whether a file can be one of DiscordChatExporter, by its name.
// What macOS puts beside the files of a zip is none, and neither is what somebody
// attached to a message: it could be a forged export.
func maybeDiscord(e entry) bool {
	for dir := range strings.SplitSeq(path.Dir(e.name), "/") {
		if strings.HasSuffix(strings.ToLower(dir), mediaFolder) {
			return false
		}
	}
	return strings.EqualFold(path.Ext(e.name), ".json") && !strings.HasPrefix(path.Base(e.name), "._")
}

// discord reports whether a source has a file of DiscordChatExporter. The error is one
// that ends an import.
func (s *source) discord() (bool, error) {
	for _, e := range s.entries {
		if !maybeDiscord(e) {
			continue
		}
		r, err := s.reader(e)
		if err != nil {
			continue
		}
		_, ok, err := readDiscordHeader(r)
		_ = r.Close()
		if ok || isFatal(err) {
			return ok, err
		}
	}
	return false, nil
}

// readDiscordHeader reads a file up to its first message. ok is false where the file
// is not of DiscordChatExporter; the error is that of reading.
func readDiscordHeader(r io.Reader) (h discordmsg.ExportHeader, ok bool, err error) {
	s := newSplitter(io.LimitReader(r, headerBytes), func(string, int) {})
	if c, err := s.token(); err != nil || c != '{' {
		return h, false, s.err
	}
	head := buffer{}
	_ = s.object(&head, func(name string, sofar []byte) func(byte, int) error {
		if name != "messages" {
			return nil
		}
		h, ok = discordmsg.ReadExportHeader(append(append([]byte{}, sofar...), '}'))
		return func(byte, int) error { return errEnd }
	})
	return h, ok, s.err
}

// A discordReader decodes the files of one channel and its threads.
type discordReader struct {
	x     *discordImport
	batch batcher
	guild *discordGuild
	whole bool // the channel's own messages are imported too
	file  discordFile
	index int // of the record, from 1
	files int
	roots rootSet // threads with a reply
	in    *splitter
	last  [32]earshot.MessageID // of the channel's top level, the last that were read

	record, list buffer // used again
}

// beginsAtMessage reports whether a thread's id is that of a message shortly before.
func (d *discordReader) beginsAtMessage(thread earshot.MessageID) bool {
	return slices.Contains(d.last[:], thread)
}

func (d *discordReader) skip(reason string, line int) {
	d.x.skipped.add(reason, Place{File: d.file.name, Record: d.index, Line: line})
}

// read reads a file, message by message.
func (d *discordReader) read(ctx context.Context, r io.Reader) error {
	d.in, d.index = newSplitter(r, d.skip), 0
	_, err := d.in.token() // the brace that the header was read from
	if err == nil {
		err = d.in.object(&buffer{}, func(name string, _ []byte) func(byte, int) error {
			if name != "messages" {
				return nil
			}
			return d.single(ctx)
		})
	}
	switch {
	case d.in.err != nil:
		return d.in.err
	case err == errBroken:
		d.skip(restLost, d.in.line)
		return nil
	case err == errEnd:
		if d.index == 0 {
			d.skip(truncated, d.in.line)
		}
		return nil
	}
	return err
}

// single reads one message. Who reacted is left out while reading: with a thousand
// names a message would be too large.
func (d *discordReader) single(ctx context.Context) func(byte, int) error {
	return func(c byte, line int) error {
		d.index++
		d.record.reset()
		if c != '{' {
			if err := d.in.value(c, &d.record); err != nil {
				return err
			}
			return d.message(ctx, d.record, line)
		}
		d.list.reset()
		err := d.in.object(&d.record, func(name string, _ []byte) func(byte, int) error {
			if name == "reactions" {
				return d.reaction
			}
			return nil
		})
		if err != nil {
			return err
		}
		return d.message(ctx, withReactions(d.record, d.list), line)
	}
}

// reaction reads one entry of a message's reactions without its users.
func (d *discordReader) reaction(c byte, _ int) error {
	if len(d.list.bytes) > 0 {
		d.list.add(',')
	}
	if c != '{' {
		return d.in.value(c, &d.list)
	}
	return d.in.object(&d.list, func(name string, _ []byte) func(byte, int) error {
		if name != "users" {
			return nil
		}
		return func(c byte, _ int) error { return d.in.value(c, &buffer{}) }
	})
}

// withReactions puts the reactions back into a message.
func withReactions(b, list buffer) buffer {
	if len(list.bytes) == 0 || b.over || list.over || len(b.bytes) < 2 {
		return b
	}
	out := b.bytes[:len(b.bytes)-1]
	if len(out) > 1 {
		out = append(out, ',')
	}
	out = append(out, `"reactions":[`...)
	out = append(out, list.bytes...)
	return buffer{bytes: append(out, "]}"...)}
}

// message decodes one record and puts it into the batch.
func (d *discordReader) message(ctx context.Context, b buffer, line int) error {
	at := Place{File: d.file.name, Record: d.index, Line: line}
	x, err := discordmsg.DecodeExport(b.bytes, d.file.header, d.guild.names)
	reason := ""
	switch {
	case b.over, errors.Is(err, discordmsg.ErrTooLarge):
		reason = tooLarge
	case errors.Is(err, discordmsg.ErrSyntax):
		reason = broken
	case err != nil:
		reason = noID
	}
	if reason != "" {
		d.x.skipped.add(reason, at)
		return ctx.Err()
	}
	for _, n := range x.Notes {
		d.x.partly.add(n, at)
	}
	m := x.Message
	thread := d.file.thread()
	if x.Begun != "" && (m.ID != x.Begun || d.beginsAtMessage(x.Begun)) {
		// Nothing tells the name of a thread that was not exported, or what it began
		// with stands in the channel already.
		return ctx.Err()
	}
	if x.Starter {
		// It stands in the channel. Where the channel is not imported, its text here
		// is all that there is of it.
		if x.Referenced == nil || d.whole || x.Referenced.Message.ID != thread {
			return ctx.Err()
		}
		m, thread = x.Referenced.Message, ""
	}
	switch {
	case thread == "":
	case m.ID != thread:
		m.Thread = thread
		d.roots.add(string(thread))
	case d.file.header.Channel.Parent != "": // the first message of a forum's post
		m.Text = discordmsg.PrependTitle(d.file.header.Channel.Name, m.Text)
		m.Subject = d.file.subject()
	}
	if thread == "" {
		d.last[d.index%len(d.last)] = m.ID
	}
	d.files += len(m.Files)
	d.guild.people.meet(m.Author, m.Time)
	return d.batch.add(ctx, m)
}
