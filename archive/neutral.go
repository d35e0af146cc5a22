package archive

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contract"
)

// ImportJSONL records chat history from JSON lines, gzipped or not: Earshot's
// own export (see [Export]; its lines name their platform and workspace, so that
// those of the options are not used), or the neutral form with one message a
// line:
//
//	{"conversation":"general","id":"17","ts":1700000000.25,"author":"alice","author_is_bot":false,
//	 "text":"…","thread_id":null,"reply_to":"16","files":[{"name":"a.png","alt":"…"}]}
//
// conversation, id and ts are required, and ids have no spaces; a line without an
// author is a note of the platform's, and so is one whose text is a whole sentence by
// which Slack reports a join, a leave, a topic, a purpose or a pin. A conversation becomes a channel. ts is in
// seconds, read exactly to the microsecond. Lines may come in any order; sorted by
// conversation and time is fastest.
// The errors are those of [ImportSlack].
func ImportJSONL(ctx context.Context, store Sink, name string, opts *Options) (Report, error) {
	x := &lineImport{file: filepath.Base(name), importRun: importRun{report: Report{Format: "json lines"}}}
	return x.do("jsonl", earshot.Local, store, name, opts, func(o Options, _ *tally) (_ *source, err error) {
		if x.in, err = openLines(name, o); err != nil {
			return nil, err
		}
		return &source{limits: x.in.limits, close: x.in.close}, nil
	}, func() error { return x.run(ctx, name) })
}

// A lineImport is one run of ImportJSONL.
type lineImport struct {
	importRun
	in   *lineReader
	file string

	home     scopeOf // of authors
	authors  []earshot.Author
	channels []earshot.Channel // not stored yet
}

func (x *lineImport) skip(reason string) {
	x.skipped.add(reason, Place{File: x.file, Record: x.in.line, Line: x.in.line})
}

// run reads the first line to tell the form, then all of them.
func (x *lineImport) run(ctx context.Context, name string) error {
	x.o.Workspace = cmp.Or(x.o.Workspace, nameOf(name))
	x.report.Workspace = x.o.Workspace
	first, err := firstLine(ctx, x.in, x.skip)
	if err != nil {
		return err
	}
	read := x.neutral
	if isExport(first) {
		x.report.Format, x.report.Workspace = "earshot export", ""
		if err := checkHeader(first); err != nil {
			return err
		}
		read, first, x.in.max = x.earshot, nil, maxLine
	}
	return x.recording(ctx, func() (int64, int64) { return x.in.packed.Load(), x.in.size },
		func(ctx context.Context) error { return read(ctx, first) })
}

// A neutralLine is a message of the neutral form.
type neutralLine struct {
	Conversation looseString `json:"conversation"`
	ID           looseString `json:"id"`
	TS           looseString `json:"ts"`
	Author       looseString `json:"author"`
	Bot          bool        `json:"author_is_bot"`
	Text         looseString `json:"text"`
	Thread       looseString `json:"thread_id"`
	ReplyTo      looseString `json:"reply_to"`
	Files        []struct {
		Name looseString `json:"name"`
		Alt  looseString `json:"alt"`
	} `json:"files"`
	Metadata contract.Metadata `json:"metadata"`
}

// A looseString is a string, or a number as it is written; null is "".
type looseString string

// UnmarshalJSON makes the text storable.
func (t *looseString) UnmarshalJSON(b []byte) error {
	switch {
	case string(b) == "null":
		*t = ""
		return nil
	case b[0] == '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*t = looseString(cleanText(s))
		return nil
	case b[0] == '-' || b[0] >= '0' && b[0] <= '9':
		*t = looseString(b)
		return nil
	}
	return errors.New("neither a string nor a number")
}

// neutral reads lines of the neutral form.
func (x *lineImport) neutral(ctx context.Context, first []byte) error {
	n := neutralReader{lineImport: x, seen: rootSet{}, roots: rootSet{}, open: map[looseString]*batcher{}, everyone: &authorCollector{}}
	line, over, err := slices.Clone(first), false, error(nil)
	var keep []byte
	for err == nil {
		if over {
			x.skip(tooLarge)
		} else if err := n.line(ctx, line); err != nil {
			return err
		}
		line, over, err = x.in.next(ctx, &keep)
	}
	if err != io.EOF {
		return x.in.wrapReadError(err)
	}
	if err := n.flush(ctx); err != nil {
		return err
	}
	x.report.Channels, x.report.Threads = len(n.seen), len(n.roots)
	if len(n.seen) == 0 {
		return errNoMessage
	}
	x.report.Authors, err = n.everyone.put(ctx, x.store, x.o.Platform, x.o.Workspace)
	return err
}

const (
	wrongKind = "a field of the wrong kind"
	notWord   = "an id with a space or a control character"
)

// A neutralReader reads lines, of which any may be of any conversation. Of a
// conversation that was met before it keeps a hash: there may be millions.
type neutralReader struct {
	*lineImport
	seen     rootSet                  // conversations
	roots    rootSet                  // threads of all of them
	open     map[looseString]*batcher // by conversation
	pending  batchSize                // since all of open were flushed
	everyone *authorCollector
}

// What may lie in unfinished batches, however many conversations the lines jump
// between.
const (
	maxPending      = 16 << 10 // messages
	maxPendingBytes = 32 << 20 // of text
)

// flush stores the channels and hands over what is in unfinished batches.
func (x *neutralReader) flush(ctx context.Context) error {
	if err := x.putChannels(ctx); err != nil {
		return err
	}
	for _, b := range x.open {
		if err := b.flush(ctx); err != nil {
			return err
		}
	}
	clear(x.open)
	x.pending = batchSize{}
	return nil
}

// batch returns the conversation's batch.
func (x *neutralReader) batch(ctx context.Context, name looseString) (*batcher, error) {
	if b := x.open[name]; b != nil {
		return b, nil
	}
	channel := earshot.Channel{Platform: x.o.Platform, Workspace: x.o.Workspace, ID: earshot.ChannelID(name), Name: string(name), Kind: earshot.KindChannel}
	if x.seen.add(string(name)) {
		if err := x.channel(ctx, channel); err != nil {
			return nil, err
		}
	}
	b := &batcher{to: x.to, scope: channel.Scope()}
	x.open[name] = b
	return b, nil
}

func (x *neutralReader) line(ctx context.Context, line []byte) error {
	var n neutralLine
	if line[0] != '{' {
		x.skip("no object")
		return nil
	}
	if err := json.Unmarshal(line, &n); err != nil {
		var field *json.UnmarshalTypeError
		var syntax *json.SyntaxError
		switch {
		case errors.As(err, &syntax):
			x.skip(broken)
		case errors.As(err, &field) && len(field.Field) < 40:
			x.skip(wrongKind + ": " + field.Field)
		default:
			x.skip(wrongKind)
		}
		return nil
	}
	m, reason := n.message()
	if reason == "" && assemble.CheckIDs(&m) != nil {
		reason = notWord
	}
	if reason != "" {
		x.skip(reason)
		return nil
	}
	if root := m.Root(); root != "" {
		x.roots.add(string(n.Conversation), string(root))
	}
	x.report.Files += len(m.Files)
	x.everyone.meet(m.Author, m.Time)
	b, err := x.batch(ctx, n.Conversation)
	if err != nil {
		return err
	}
	if err := b.add(ctx, m); err != nil {
		return err
	}
	if x.pending.add(sizeOf(m)); x.pending.messages >= maxPending || x.pending.bytes >= maxPendingBytes {
		return x.flush(ctx)
	}
	return nil
}

var mention = regexp.MustCompile(`<@!?([0-9A-Za-z_.-]{1,64})(\|[^<>\n]{0,200})?>`)

// What Slack writes when people come and go, and when they change a channel; the
// person stands before it, but not always where they change a channel.
var (
	someone = regexp.MustCompile(`^(?:<@!?([0-9A-Za-z_.-]{1,64})(?:\|[^<>\n]{0,200})?>|@(\S+)) `)
	came    = regexp.MustCompile(`^has (?:joined the (?:channel|group)(?: by invitation from \S+)?|left the (?:channel|group))\.?\s*$`)
	changed = regexp.MustCompile(`^(?:set the (?:channel|group)(?:'s)? (?:topic|purpose|description): (?s:.+)` +
		`|cleared the (?:channel|group)(?:'s)? (?:topic|purpose|description)|pinned a message to this (?:channel|group))\.?\s*$`)
)

// isNote reports whether the whole text of a message that is no reply is such a
// sentence. Who changes a channel must be the author: "@helper set the channel topic:
// x" asks somebody to.
func isNote(m earshot.Message) bool {
	rest, own := strings.CutPrefix(m.Text, m.Author.Name+" ")
	names := own
	if g := someone.FindStringSubmatch(m.Text); g != nil {
		rest, names, own = m.Text[len(g[0]):], true, g[1]+g[2] == string(m.Author.ID)
	}
	return m.Root() == "" && m.ReplyTo == "" && (names && came.MatchString(rest) || (own || !names) && changed.MatchString(rest))
}

// message returns what the line says, or why it says nothing.
func (n neutralLine) message() (earshot.Message, string) {
	for _, f := range [...]struct {
		name  string
		value looseString
	}{{"conversation", n.Conversation}, {"id", n.ID}, {"author", n.Author}} {
		if f.value == "" && f.name != "author" || len(f.value) > maxID {
			return earshot.Message{}, "no usable " + f.name
		}
	}
	at, err := parseSeconds(string(n.TS))
	if err != nil || at == 0 {
		return earshot.Message{}, "no usable ts"
	}
	if len(n.Thread) > maxID || len(n.ReplyTo) > maxID {
		return earshot.Message{}, "no usable thread_id or reply_to"
	}
	m := earshot.Message{
		ID: earshot.MessageID(n.ID), Time: at, Text: string(n.Text),
		Author: earshot.Author{ID: earshot.AuthorID(n.Author), Name: string(n.Author), Kind: earshot.Human},
		Thread: earshot.MessageID(n.Thread), ReplyTo: earshot.MessageID(n.ReplyTo),
	}
	switch {
	case n.Author == "", len(n.Files) == 0 && isNote(m):
		m.Author.Kind = earshot.System
	case n.Bot:
		m.Author.Kind = earshot.Bot
	}
	seen := map[string]bool{}
	for _, g := range mention.FindAllStringSubmatch(m.Text, -1) {
		if !seen[g[1]] {
			seen[g[1]] = true
			m.Mentions = append(m.Mentions, earshot.AuthorID(g[1]))
		}
	}
	if m.Metadata, err = n.Metadata.ReadWhole("metadata"); err != nil {
		return earshot.Message{}, "no usable metadata"
	}
	for i, f := range n.Files {
		m.Files = append(m.Files, earshot.File{ID: earshot.ArtifactID(string(n.ID) + "/" + strconv.Itoa(i)), Name: string(cmp.Or(f.Name, f.Alt))})
	}
	return m, ""
}
