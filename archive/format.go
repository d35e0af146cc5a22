package archive

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/contract"
)

// Earshot's own export is JSON lines, gzip welcome, in this order: a header;
// the channels by platform, workspace, name and id; after a workspace's
// channels its authors by id; then channel by channel the coverage and the
// messages.
//
// Messages stand in the order of their sequence: the order in which they
// became known, which is what a bot's memory goes by. The numbers themselves
// are left out, because an import gives new ones in the same order. So an
// export that is imported into an empty store and exported again has the same
// bytes, whichever the stores are.
//
// A message that was edited carries its older revisions, oldest first. Reactions
// have who is known to have given them; programs that wrote none, and programs
// that read none, have the counts alone. A deleted message has id and time and
// nothing else. Token counts and search terms
// are made again at the door. When a name or a list was told is left out: what
// is told of it later replaces it.
const (
	formatName    = "export"
	exportVersion = 1
)

// errMetadata has no part of them: reasons of what is skipped are counted.
var errMetadata = errors.New("metadata: a key, a value or their size")

// maxID is how long an id may be in a store, in bytes.
const maxID = 512

// A headerLine is the first line.
type headerLine struct {
	Earshot string `json:"earshot"`
	Version int    `json:"version"`
}

// A scopeOf names a channel on every line that belongs to one.
type scopeOf struct {
	Platform  earshot.Platform    `json:"platform"`
	Workspace earshot.WorkspaceID `json:"workspace"`
}

type channelLine struct {
	Type string `json:"type"` // "channel"
	scopeOf
	ID      earshot.ChannelID   `json:"id"`
	Name    string              `json:"name"`
	Kind    earshot.ChannelKind `json:"kind"`
	Topic   string              `json:"topic,omitempty"`
	Purpose string              `json:"purpose,omitempty"`
	Shared  bool                `json:"shared,omitempty"`
}

type authorLine struct {
	Type string `json:"type"` // "author"
	scopeOf
	authorOf
}

type authorOf struct {
	ID       earshot.AuthorID   `json:"id"`
	Name     string             `json:"name"`
	FullName string             `json:"full_name,omitempty"`
	Kind     earshot.AuthorKind `json:"kind"`
	Zone     string             `json:"zone,omitempty"`
	Standing earshot.Standing   `json:"standing,omitempty"`
	Team     string             `json:"team,omitempty"`
}

func authorOfAuthor(a earshot.Author) authorOf {
	return authorOf{a.ID, a.Name, a.FullName, a.Kind, a.Zone, a.Standing, a.Team}
}

func (a authorOf) author() earshot.Author {
	return earshot.Author{ID: a.ID, Name: a.Name, FullName: a.FullName, Kind: a.Kind, Zone: a.Zone, Standing: a.Standing, Team: a.Team}
}

// A sharedOf is what a message quotes.
type sharedOf struct {
	Kind   earshot.SharedKind `json:"kind"`
	ID     earshot.AuthorID   `json:"id,omitempty"`
	Author string             `json:"author,omitempty"`
	Place  string             `json:"place,omitempty"`
	Time   stamp              `json:"time,omitzero"`
	Text   string             `json:"text,omitempty"`
}

// A repliesOf is what the platform told of a root's thread.
type repliesOf struct {
	Count int   `json:"count"`
	Last  stamp `json:"last,omitzero"`
}

type coverageLine struct {
	Type string `json:"type"` // "coverage"
	scopeOf
	Channel earshot.ChannelID     `json:"channel"`
	Thread  earshot.MessageID     `json:"thread,omitempty"`
	From    stamp                 `json:"from,omitzero"`
	To      stamp                 `json:"to,omitzero"`
	State   earshot.CoverageState `json:"state"`
	Why     string                `json:"why,omitempty"`
}

type messageLine struct {
	Type string `json:"type"` // "message"
	scopeOf
	Channel earshot.ChannelID `json:"channel"`
	ID      earshot.MessageID `json:"id"`
	Time    stamp             `json:"time"`
	Deleted bool              `json:"deleted,omitempty"`
	*revision
	Metadata  contract.Metadata `json:"metadata,omitzero"`   // of callers; of no revision
	Revisions []revision        `json:"revisions,omitempty"` // the older ones
}

// A revision is what of a message can change, and what a deletion removes.
type revision struct {
	Author    authorOf           `json:"author"`
	Text      string             `json:"text"`
	Thread    earshot.MessageID  `json:"thread,omitempty"`
	ReplyTo   earshot.MessageID  `json:"reply_to,omitempty"`
	Edited    stamp              `json:"edited,omitzero"`
	Mentions  []earshot.AuthorID `json:"mentions,omitempty"`
	Reactions []reactionOf       `json:"reactions,omitempty"`
	Shared    []sharedOf         `json:"shared,omitempty"`
	Files     []fileOf           `json:"files,omitempty"`
	Replies   *repliesOf         `json:"replies,omitempty"`
	Subject   *subjectOf         `json:"subject,omitempty"`
}

type reactionOf struct {
	Name  string      `json:"name"`
	Count int         `json:"count"`
	By    []reactorOf `json:"by,omitempty"` // who is known to be counted
}

type reactorOf struct {
	ID earshot.AuthorID `json:"id"`
	At stamp            `json:"at,omitzero"`
}

// A subjectOf is what the thread of a message is called.
type subjectOf struct {
	Name string   `json:"name"`
	Tags []string `json:"tags,omitempty"`
	Post bool     `json:"post,omitempty"`
	AsOf stamp    `json:"as_of,omitzero"`
}

type fileOf struct {
	ID     earshot.ArtifactID `json:"id"`
	Name   string             `json:"name"`
	Type   string             `json:"type,omitempty"`
	Size   int64              `json:"size,omitempty"`
	SHA256 string             `json:"sha256,omitempty"`
}

// A stamp is a time as RFC 3339 with up to six decimals; "" is none.
type stamp earshot.Time

// MarshalText implements [encoding.TextMarshaler].
func (s stamp) MarshalText() ([]byte, error) { return []byte(earshot.Time(s).String()), nil }

// UnmarshalText implements [encoding.TextUnmarshaler].
func (s *stamp) UnmarshalText(text []byte) error {
	if *s = 0; len(text) == 0 {
		return nil
	}
	t, err := earshot.ParseTime(string(text))
	if err != nil {
		return errTime{err}
	}
	*s = stamp(t)
	return nil
}

// errTime says that a time cannot be read.
type errTime struct{ error }

func revisionOf(m earshot.Message, by []earshot.Reactor) revision {
	r := revision{Author: authorOfAuthor(m.Author), Text: m.Text, Thread: m.Root(), ReplyTo: m.ReplyTo, Edited: stamp(m.Edited), Mentions: m.Mentions}
	for _, x := range m.Reactions {
		of := reactionOf{Name: x.Name, Count: x.Count}
		for _, who := range by {
			if who.Emoji == x.Name {
				of.By = append(of.By, reactorOf{who.ID, stamp(who.At)})
			}
		}
		r.Reactions = append(r.Reactions, of)
	}
	for _, x := range m.Shared {
		r.Shared = append(r.Shared, sharedOf{x.Kind, x.ID, x.Author, x.Place, stamp(x.Time), x.Text})
	}
	for _, x := range m.Files {
		r.Files = append(r.Files, fileOf(x))
	}
	if a := m.Replies; a != nil {
		r.Replies = &repliesOf{a.Count, stamp(a.Last)}
	}
	if x := m.Subject; x != nil {
		r.Subject = &subjectOf{x.Name, x.Tags, x.Post, stamp(x.AsOf)}
	}
	return r
}

// metadataOf returns the metadata of a line, nil for none.
func metadataOf(m earshot.Message) contract.Metadata {
	if len(m.Metadata) == 0 {
		return nil
	}
	return contract.MetadataOf(m.Metadata)
}

// message turns a revision of l back into a message.
func (l messageLine) message(r revision) earshot.Message {
	m := earshot.Message{
		ID: l.ID, Time: earshot.Time(l.Time), Author: r.Author.author(), Text: r.Text,
		Thread: r.Thread, ReplyTo: r.ReplyTo, Edited: earshot.Time(r.Edited), Mentions: r.Mentions,
	}
	for _, x := range r.Reactions {
		m.Reactions = append(m.Reactions, earshot.Reaction{Name: x.Name, Count: x.Count})
		for _, who := range x.By {
			if m.Reactors == nil {
				m.Reactors = &earshot.Reactors{}
			}
			m.Reactors.List = append(m.Reactors.List, earshot.Reactor{Emoji: x.Name, ID: who.ID, At: earshot.Time(who.At)})
		}
	}
	for _, x := range r.Shared {
		m.Shared = append(m.Shared, earshot.SharedContent{Kind: x.Kind, ID: x.ID, Author: x.Author, Place: x.Place, Time: earshot.Time(x.Time), Text: x.Text})
	}
	for _, x := range r.Files {
		m.Files = append(m.Files, earshot.File(x))
	}
	if a := r.Replies; a != nil {
		m.Replies = &earshot.Activity{Count: a.Count, Last: earshot.Time(a.Last)}
	}
	if x := r.Subject; x != nil {
		m.Subject = &earshot.Subject{Name: x.Name, Tags: x.Tags, Post: x.Post, AsOf: earshot.Time(x.AsOf)}
	}
	return m
}

// messages returns the line's revisions, oldest first.
func (l messageLine) messages() ([]earshot.Message, error) {
	if l.ID == "" || len(l.ID) > maxID {
		return nil, fmt.Errorf("id: missing or too long")
	}
	if l.Deleted {
		return []earshot.Message{{ID: l.ID, Time: earshot.Time(l.Time), Deleted: true}}, nil
	}
	if l.Time == 0 {
		return nil, fmt.Errorf("time: missing")
	}
	var out []earshot.Message
	for _, r := range append(l.Revisions, *l.revision) {
		out = append(out, l.message(r))
	}
	metadata, err := l.Metadata.ReadWhole("metadata")
	if err != nil {
		return nil, errMetadata
	}
	out[len(out)-1].Metadata = metadata
	return out, nil
}

// isExport reports whether a first line is the header of Earshot's export.
func isExport(line []byte) bool {
	var h headerLine
	return json.Unmarshal(line, &h) == nil && h.Earshot == formatName
}

func checkHeader(line []byte) error {
	var h headerLine
	if err := json.Unmarshal(line, &h); err != nil || h.Earshot != formatName {
		return fmt.Errorf("%w: the first line is not the header of earshot export", ErrFormat)
	}
	if h.Version != exportVersion {
		return fmt.Errorf("%w: it is of version %d, and this program reads version %d; use a newer earshot", ErrFormat, h.Version, exportVersion)
	}
	return nil
}
