package rule

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
)

// Two things are JSON in one column: a message's lists, and the ledger of a turn.

type listsJSON struct {
	Mentions  []earshot.AuthorID `json:"mentions,omitempty"`
	Reactions []reactionJSON     `json:"reactions,omitempty"`
	Shared    []sharedJSON       `json:"shared,omitempty"`
	Files     []fileJSON         `json:"files,omitempty"`
	Replies   *repliesJSON       `json:"replies,omitempty"`
	Subject   *subjectJSON       `json:"subject,omitempty"`
	FullName  string             `json:"full_name,omitempty"` // of the author, as the two below
	Standing  earshot.Standing   `json:"standing,omitempty"`
	Team      string             `json:"team,omitempty"`
	AsOf      listTimesJSON      `json:"as_of,omitzero"`
	Metadata  map[string]string  `json:"metadata,omitempty"`
}

// HasMetadata is what WriteLists writes of a message that has metadata, and of no other.
const HasMetadata = `"metadata":{"`

// listTimesJSON is when the lists were told.
type listTimesJSON struct {
	Mentions earshot.Time `json:"mentions,omitempty"`
	Shared   earshot.Time `json:"shared,omitempty"`
	Files    earshot.Time `json:"files,omitempty"`
}

// sharedJSON is what a message quotes. Times are microseconds.
type sharedJSON struct {
	Kind   earshot.SharedKind `json:"kind"`
	ID     earshot.AuthorID   `json:"id,omitempty"`
	Author string             `json:"author,omitempty"`
	Place  string             `json:"place,omitempty"`
	Time   earshot.Time       `json:"time,omitempty"`
	Text   string             `json:"text,omitempty"`
}

// repliesJSON is what the platform reported of a root's thread. Activity.LastHour
// depends on when one asks and is not stored.
type repliesJSON struct {
	Count int          `json:"count"`
	Last  earshot.Time `json:"last,omitempty"`
}

// subjectJSON is what a root's thread is called.
type subjectJSON struct {
	Name string       `json:"name"`
	Tags []string     `json:"tags,omitempty"`
	Post bool         `json:"post,omitempty"`
	AsOf earshot.Time `json:"as_of,omitempty"`
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

// WriteLists writes the lists of m as text; "" when all are empty.
func WriteLists(m *Message) (string, error) {
	a := m.Author
	if len(m.Mentions)+len(m.Reactions)+len(m.Shared)+len(m.Files)+len(m.Metadata) == 0 && m.Replies == nil && m.Subject == nil && a.FullName+string(a.Standing)+a.Team == "" && m.AsOf == (earshot.ListTimes{}) {
		return "", nil
	}
	l := listsJSON{Mentions: m.Mentions, FullName: a.FullName, Standing: a.Standing, Team: a.Team, AsOf: listTimesJSON(m.AsOf), Metadata: m.Metadata}
	for _, x := range m.Shared {
		l.Shared = append(l.Shared, sharedJSON{x.Kind, x.ID, x.Author, x.Place, x.Time, x.Text})
	}
	if a := m.Replies; a != nil {
		l.Replies = &repliesJSON{a.Count, a.Last}
	}
	if x := m.Subject; x != nil {
		l.Subject = &subjectJSON{x.Name, x.Tags, x.Post, x.AsOf}
	}
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

// ReadLists sets the lists of m to what WriteLists wrote.
func ReadLists(text string, m *earshot.Message) error {
	if text == "" {
		return nil
	}
	var l listsJSON
	if err := json.Unmarshal([]byte(text), &l); err != nil {
		return fmt.Errorf("read the lists of message %q: %w", m.ID, err)
	}
	m.Mentions, m.AsOf, m.Metadata = l.Mentions, earshot.ListTimes(l.AsOf), l.Metadata
	m.Author.FullName, m.Author.Standing, m.Author.Team = l.FullName, l.Standing, l.Team
	for _, x := range l.Shared {
		m.Shared = append(m.Shared, earshot.SharedContent{Kind: x.Kind, ID: x.ID, Author: x.Author, Place: x.Place, Time: x.Time, Text: x.Text})
	}
	if a := l.Replies; a != nil {
		m.Replies = &earshot.Activity{Count: a.Count, Last: a.Last}
	}
	if x := l.Subject; x != nil {
		m.Subject = &earshot.Subject{Name: x.Name, Tags: x.Tags, Post: x.Post, AsOf: x.AsOf}
	}
	for _, r := range l.Reactions {
		m.Reactions = append(m.Reactions, earshot.Reaction(r))
	}
	for _, f := range l.Files {
		m.Files = append(m.Files, earshot.File(f))
	}
	return nil
}

// ReadReplies reads only m.Replies of what WriteLists wrote.
func ReadReplies(text string, m *earshot.Message) error {
	if !strings.Contains(text, `"replies":`) {
		return nil
	}
	whole := earshot.Message{ID: m.ID}
	err := ReadLists(text, &whole)
	m.Replies = whole.Replies
	return err
}

type ledgerJSON struct {
	ID      earshot.MessageID `json:"id"`
	Section string            `json:"section,omitempty"`
	Verdict earshot.Verdict   `json:"verdict"`
	Reason  string            `json:"reason,omitempty"`
	Tokens  int               `json:"tokens,omitempty"`

	Score float64            `json:"score,omitempty"`
	Cover float64            `json:"cover,omitempty"`
	Parts map[string]float64 `json:"parts,omitempty"`
}

// WriteLedger writes l as text.
func WriteLedger(l earshot.Ledger) (string, error) {
	rows := make([]ledgerJSON, len(l))
	for i, r := range l {
		rows[i] = ledgerJSON(r)
	}
	b, err := json.Marshal(rows)
	if err != nil {
		return "", fmt.Errorf("write the ledger: %w", err)
	}
	return string(b), nil
}

// ReadLedger reads what WriteLedger wrote.
func ReadLedger(text string) (earshot.Ledger, error) {
	var rows []ledgerJSON
	if err := json.Unmarshal([]byte(text), &rows); err != nil {
		return nil, fmt.Errorf("read the ledger: %w", err)
	}
	l := make(earshot.Ledger, len(rows))
	for i, r := range rows {
		l[i] = earshot.LedgerRow(r)
	}
	return l, nil
}
