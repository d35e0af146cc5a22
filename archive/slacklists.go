package archive

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

// workspaceLists is what a Slack archive tells besides messages.
type workspaceLists struct {
	people   map[earshot.AuthorID]earshot.Author
	channels []earshot.Channel
	listed   map[string]bool                          // ids of channels, as the lists have them
	members  map[earshot.ChannelID][]earshot.AuthorID // of DMs
	teams    map[earshot.WorkspaceID]int
	team     earshot.WorkspaceID // where the archive names it outright
}

// names makes of the lists what the decoding of messages asks for.
func (l *workspaceLists) names() slackmsg.Names {
	channels := map[earshot.ChannelID]string{}
	for _, c := range l.channels {
		if c.Kind != earshot.KindDM {
			channels[c.ID] = c.Name
		}
	}
	return slackmsg.Names{
		User:    func(id earshot.AuthorID) (earshot.Author, bool) { a, ok := l.people[id]; return a, ok },
		Channel: func(id earshot.ChannelID) string { return channels[id] },
	}
}

// workspace returns the team that most users belong to, or "".
func (l *workspaceLists) workspace() earshot.WorkspaceID {
	best := l.team
	if best != "" {
		return best
	}
	for t, n := range l.teams {
		if m := l.teams[best]; n > m || n == m && t < best {
			best = t
		}
	}
	return best
}

// readLists reads users, channels and the workspace.
func (x *slackImport) readLists(ctx context.Context) (*workspaceLists, error) {
	l := &workspaceLists{listed: map[string]bool{}, people: map[earshot.AuthorID]earshot.Author{}, members: map[earshot.ChannelID][]earshot.AuthorID{}, teams: map[earshot.WorkspaceID]int{}}
	for _, e := range x.layout.users {
		if err := x.eachRecord(ctx, e, func(raw []byte) bool { return l.addUser(raw) }); err != nil {
			return nil, err
		}
	}
	for _, f := range x.layout.channels {
		if err := x.eachRecord(ctx, f.entry, func(raw []byte) bool { return l.addChannel(raw, f.kind) }); err != nil {
			return nil, err
		}
	}
	for _, e := range x.layout.chunks {
		if err := x.chunkLists(ctx, e, l); err != nil {
			return nil, err
		}
	}
	l.nameDMs()
	return l, nil
}

func (l *workspaceLists) addUser(raw []byte) bool {
	a, bot, team, ok := slackmsg.Author(raw)
	if !ok {
		return false
	}
	l.people[a.ID] = a
	if team != "" {
		l.teams[team]++
	}
	if bot != "" {
		if _, listed := l.people[bot]; !listed {
			l.people[bot] = earshot.Author{ID: bot, Name: a.Name, Kind: earshot.Bot}
		}
	}
	return true
}

// A slackChannel is an entry of channels.json and its kin.
type slackChannel struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	IsIM    bool   `json:"is_im"`
	IsMPIM  bool   `json:"is_mpim"`
	Private bool   `json:"is_private"`
	User    string `json:"user"`
	Topic   struct {
		Value string `json:"value"`
	} `json:"topic"`
	Purpose struct {
		Value string `json:"value"`
	} `json:"purpose"`
	Members []earshot.AuthorID `json:"members"`
}

func (l *workspaceLists) addChannel(raw []byte, kind earshot.ChannelKind) bool {
	var c slackChannel
	// A field of the wrong kind leaves the others filled in.
	_ = json.Unmarshal(raw, &c)
	if c.ID == "" || len(c.ID) > 64 {
		return false
	}
	switch {
	case c.IsIM:
		kind = earshot.KindDM
	case c.IsMPIM, c.Private:
		kind = earshot.KindGroup
	}
	if l.listed[c.ID] {
		return true
	}
	l.listed[c.ID] = true
	l.channels = append(l.channels, earshot.Channel{
		ID: earshot.ChannelID(cleanText(c.ID)), Name: cleanText(cmp.Or(c.Name, c.ID)), Kind: kind,
		Topic: cleanText(c.Topic.Value), Purpose: cleanText(c.Purpose.Value),
	})
	if kind == earshot.KindDM {
		l.members[earshot.ChannelID(c.ID)] = c.Members
		if len(c.Members) == 0 && c.User != "" {
			l.members[earshot.ChannelID(c.ID)] = []earshot.AuthorID{earshot.AuthorID(c.User)}
		}
	}
	return true
}

// cleanText makes a text fit for every store.
func cleanText(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\u2400")
}

// nameDMs names DMs after their members: Slack gives them none.
func (l *workspaceLists) nameDMs() {
	for i, c := range l.channels {
		if c.Kind != earshot.KindDM || c.Name != string(c.ID) {
			continue
		}
		var names []string
		for _, id := range l.members[c.ID] {
			if a, ok := l.people[id]; ok {
				names = append(names, a.Name)
			}
		}
		slices.Sort(names)
		if len(names) > 0 {
			l.channels[i].Name = strings.Join(names[:min(len(names), 8)], ", ")
		}
	}
}

// chunkLists reads users, channels and the workspace from a recording.
func (x *slackImport) chunkLists(ctx context.Context, e entry, l *workspaceLists) error {
	return x.open(e, true, func(r io.Reader) error {
		s := newSplitter(r, func(string, int) {}) // counted when messages are read
		for ctx.Err() == nil {
			c, err := s.token()
			if err != nil {
				return s.err
			}
			if c != '{' {
				continue
			}
			head := buffer{}
			err = s.object(&head, func(name string, _ []byte) func(byte, int) error {
				if name != "u" && name != "ch" {
					return nil
				}
				return func(c byte, _ int) error {
					b := buffer{}
					if err := s.value(c, &b); err != nil || b.over {
						return err
					}
					if name == "u" {
						l.addUser(b.bytes)
					} else {
						l.addChannel(b.bytes, earshot.KindChannel)
					}
					return nil
				}
			})
			if err != nil || head.over {
				continue
			}
			var told struct {
				Channel   json.RawMessage `json:"ci"`
				Workspace struct {
					Team earshot.WorkspaceID `json:"team_id"`
				} `json:"w"`
			}
			_ = json.Unmarshal(head.bytes, &told)
			l.team = cmp.Or(l.team, told.Workspace.Team)
			if len(told.Channel) > 0 {
				l.addChannel(told.Channel, earshot.KindChannel)
			}
		}
		return ctx.Err()
	})
}

// eachRecord hands the objects of a list to add, and counts what it refuses.
func (x *slackImport) eachRecord(ctx context.Context, e entry, add func(raw []byte) bool) error {
	return x.open(e, false, func(r io.Reader) error {
		n := 0
		skip := func(reason string, line int) { x.skipped.add(reason, Place{File: e.name, Record: n, Line: line}) }
		s := newSplitter(r, skip)
		c, err := s.token()
		if err != nil || c != '[' {
			if s.err == nil {
				x.skipped.add("not a list", Place{File: e.name})
			}
			return s.err
		}
		err = s.array(func(c byte, line int) error {
			n++
			b := buffer{}
			if err := s.value(c, &b); err != nil {
				return err
			}
			if b.over || !add(b.bytes) {
				skip("a list's entry could not be read", line)
			}
			return ctx.Err()
		})
		if err == errEnd {
			err = s.err
		}
		return err
	})
}

// readers keep their buffers from file to file: an export may have a hundred
// thousand files of a few hundred bytes.
var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, readAhead) }}

// readBuffered has read read r through a buffer that newSplitter takes as its own.
// It must not be kept.
func readBuffered(r io.Reader, read func(io.Reader) error) error {
	b := readers.Get().(*bufio.Reader)
	b.Reset(r)
	defer func() {
		b.Reset(nil)
		readers.Put(b)
	}()
	return read(b)
}

var exportName = regexp.MustCompile(`(?i)[ _-]*slack[ _-]*export.*$`)

// nameOf makes a workspace's name of a path: exports of one workspace at
// different times get the same one.
func nameOf(p string) earshot.WorkspaceID {
	abs, err := filepath.Abs(p)
	if err != nil {
		abs = p
	}
	s := filepath.Base(abs)
	for _, suffix := range []string{".gz", ".zip", ".jsonl", ".ndjson", ".json", ".messages"} {
		s = strings.TrimSuffix(s, suffix)
	}
	if short := exportName.ReplaceAllString(s, ""); short != "" {
		s = short
	}
	s = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, s)
	if s = strings.Trim(s, "-."); s == "" {
		s = "import"
	}
	return earshot.WorkspaceID(s)
}

// wrapImportError adds what an import is doing to an error.
func wrapImportError(what, name string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("import %s %s: %w", what, filepath.Base(name), err)
}
