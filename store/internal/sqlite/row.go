package sqlite

import (
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// columns are those of message and revision that a read loads, in the order
// of a scanner's fields.
const columns = `id, time, thread, reply_to, edited, deleted, seq, tokens, author, author_name, author_kind, lists, text`

const columnCount = 13

// in is the bound of every read.
const in = ` WHERE platform = ? AND workspace = ? AND channel = ?`

// args returns a scope's parameters with what follows them.
func args(s earshot.Scope, more ...any) []any {
	return append([]any{string(s.Platform), string(s.Workspace), string(s.Channel)}, more...)
}

// A scanner reads rows of columns. The numbers are read as any: database/sql
// copies those as they are, where it would write an int64 out and parse it.
type scanner struct {
	id, thread, replyTo, author, name, kind string
	lists, text                             string
	time, edited, deleted, seq, tokens      any
	dest                                    []any
}

func newScanner() *scanner {
	s := &scanner{}
	s.dest = []any{
		&s.id, &s.time, &s.thread, &s.replyTo, &s.edited, &s.deleted, &s.seq, &s.tokens,
		&s.author, &s.name, &s.kind, &s.lists, &s.text,
	}
	return s
}

// messages reads all rows and closes them.
func messages(rows *sql.Rows, err error, expect int) ([]earshot.Message, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []earshot.Message
	s := newScanner()
	for rows.Next() {
		if out == nil {
			out = make([]earshot.Message, 0, min(max(expect, 1), 1024))
		}
		out = append(out, earshot.Message{})
		if err := s.read(rows, &out[len(out)-1]); err != nil {
			return nil, err
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return out, rows.Close()
}

// read fills m from the current row.
func (s *scanner) read(rows *sql.Rows, m *earshot.Message) error {
	if err := rows.Scan(s.dest...); err != nil {
		return err
	}
	*m = earshot.Message{
		ID: earshot.MessageID(s.id), Time: earshot.Time(integer(s.time)),
		Author:  earshot.Author{ID: earshot.AuthorID(s.author), Name: s.name, Kind: earshot.AuthorKind(s.kind)},
		Text:    s.text,
		Thread:  earshot.MessageID(s.thread),
		ReplyTo: earshot.MessageID(s.replyTo),
		Edited:  earshot.Time(integer(s.edited)),
		Deleted: integer(s.deleted) != 0,
		Seq:     integer(s.seq),
		Tokens:  int(integer(s.tokens)),
	}
	if s.lists == "" {
		return nil
	}
	return readLists(s.lists, m)
}

// listsJSON is what the column lists holds.
type listsJSON struct {
	Mentions  []earshot.AuthorID `json:"mentions,omitempty"`
	Reactions []reactionJSON     `json:"reactions,omitempty"`
	Files     []fileJSON         `json:"files,omitempty"`
}

type reactionJSON struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

type fileJSON struct {
	ID     earshot.ArtifactID `json:"id"`
	Name   string             `json:"name"`
	Type   string             `json:"type,omitempty"`
	Size   int64              `json:"size,omitempty"`
	SHA256 string             `json:"sha256,omitempty"`
}

func readLists(text string, m *earshot.Message) error {
	var l listsJSON
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return fmt.Errorf("read the lists of message %q: %w", m.ID, err)
	}
	m.Mentions = l.Mentions
	for _, r := range l.Reactions {
		m.Reactions = append(m.Reactions, earshot.Reaction(r))
	}
	for _, f := range l.Files {
		m.Files = append(m.Files, earshot.File(f))
	}
	return nil
}

func writeLists(m *rule.Message) (string, error) {
	if len(m.Mentions)+len(m.Reactions)+len(m.Files) == 0 {
		return "", nil
	}
	l := listsJSON{Mentions: m.Mentions}
	for _, r := range m.Reactions {
		l.Reactions = append(l.Reactions, reactionJSON(r))
	}
	for _, f := range m.Files {
		l.Files = append(l.Files, fileJSON(f))
	}
	b, err := json.Marshal(l)
	if err != nil {
		return "", fmt.Errorf("write the lists of message %q: %w", m.ID, err)
	}
	return string(b), nil
}

func integer(v any) int64 {
	n, _ := v.(int64)
	return n
}

// values appends the parameters of columns for m.
func values(to []any, m *rule.Message) ([]any, error) {
	lists, err := writeLists(m)
	if err != nil {
		return nil, err
	}
	deleted := int64(0)
	if m.Deleted {
		deleted = 1
	}
	return append(to, string(m.ID), int64(m.Time), string(m.Thread), string(m.ReplyTo), int64(m.Edited), deleted, m.Seq, int64(m.Tokens),
		string(m.Author.ID), m.Author.Name, string(m.Author.Kind), lists, m.Text), nil
}
