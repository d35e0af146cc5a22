// Package chats reads chat data to measure on: messages, questions with the
// messages that hold their answer, and who answers whom. Each is a file of JSON
// lines, gzipped where its name ends in .gz.
package chats

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// A Message is one line of a file of messages.
type Message struct {
	Conversation string
	ID           earshot.MessageID
	Time         earshot.Time
	Author       string // an id or a nickname, as published
	Bot          bool
	Text         string
	Thread       earshot.MessageID // the root's id, or ""
	ReplyTo      earshot.MessageID
	Files        []File
}

// A File is an attachment's metadata.
type File struct {
	Name string `json:"name"`
	Alt  string `json:"alt"`
}

// A Query is one line of a file of queries.
type Query struct {
	Number       int // of its line, from 0
	Conversation string
	Text         string
	At           earshot.Time        // only what was said before it may be found
	Gold         []earshot.MessageID // all messages that hold the answer
	Category     string
	Source       string // which file of messages it is over, where the file says so
	Asker        string // who asks, as Message.Author; "" for somebody who said nothing yet
}

// Author returns who asks.
func (q Query) Author() earshot.Author {
	if q.Asker == "" {
		return earshot.Author{ID: "earshot.asker", Name: "asker", Kind: earshot.Human}
	}
	return earshot.Author{ID: earshot.AuthorID(q.Asker), Name: q.Asker, Kind: earshot.Human}
}

// A Link says that ID answers Parent. A message that answers itself begins a
// conversation.
type Link struct {
	Conversation string
	ID, Parent   earshot.MessageID
}

// Messages reads a file of messages, in its order.
func Messages(path string) ([]Message, error) {
	return readLines(path, func(number int, line []byte) (Message, error) {
		var l struct {
			Conversation *string
			ID           *text
			TS           json.Number
			Author       text
			Bot          bool `json:"author_is_bot"`
			Text         string
			Thread       text `json:"thread_id"`
			ReplyTo      text `json:"reply_to"`
			Files        []File
		}
		if err := json.Unmarshal(line, &l); err != nil {
			return Message{}, err
		}
		if l.Conversation == nil || l.ID == nil || *l.ID == "" {
			return Message{}, errors.New(`a message needs "conversation", "id" and "ts"`)
		}
		at, err := parseSeconds(l.TS)
		if err != nil {
			return Message{}, fmt.Errorf(`"ts": %w`, err)
		}
		m := Message{
			Conversation: *l.Conversation, ID: earshot.MessageID(*l.ID), Time: at, Author: string(l.Author), Bot: l.Bot, Text: l.Text,
			Thread: earshot.MessageID(l.Thread), ReplyTo: earshot.MessageID(l.ReplyTo), Files: l.Files,
		}
		return m, nil
	})
}

// Queries reads a file of queries, in its order.
func Queries(path string) ([]Query, error) {
	return readLines(path, func(number int, line []byte) (Query, error) {
		var l struct {
			Conversation *string
			Query        *string
			At           json.Number `json:"at_ts"`
			Gold         []text      `json:"gold_ids"`
			Category     string
			Source       string
			Asker        text
		}
		if err := json.Unmarshal(line, &l); err != nil {
			return Query{}, err
		}
		if l.Conversation == nil || l.Query == nil {
			return Query{}, errors.New(`a query needs "conversation", "query" and "at_ts"`)
		}
		at, err := parseSeconds(l.At)
		if err != nil {
			return Query{}, fmt.Errorf(`"at_ts": %w`, err)
		}
		q := Query{Number: number, Conversation: *l.Conversation, Text: *l.Query, At: at, Category: l.Category, Source: l.Source, Asker: string(l.Asker)}
		for _, id := range l.Gold {
			q.Gold = append(q.Gold, earshot.MessageID(id))
		}
		return q, nil
	})
}

// Links reads a file of links, in its order.
func Links(path string) ([]Link, error) {
	return readLines(path, func(number int, line []byte) (Link, error) {
		var l struct {
			Conversation *string
			ID, Parent   *text
		}
		if err := json.Unmarshal(line, &l); err != nil {
			return Link{}, err
		}
		if l.Conversation == nil || l.ID == nil || l.Parent == nil {
			return Link{}, errors.New(`a link needs "conversation", "id" and "parent"`)
		}
		return Link{*l.Conversation, earshot.MessageID(*l.ID), earshot.MessageID(*l.Parent)}, nil
	})
}

// A Conversation is the messages of one, by time and then as the file has
// them.
type Conversation struct {
	Name     string
	Messages []Message
}

// Conversations sorts messages by conversation, in the order in which each
// appears first.
func Conversations(list []Message) []Conversation {
	var out []Conversation
	at := map[string]int{}
	for _, m := range list {
		i, ok := at[m.Conversation]
		if !ok {
			i = len(out)
			at[m.Conversation] = i
			out = append(out, Conversation{Name: m.Conversation})
		}
		out[i].Messages = append(out[i].Messages, m)
	}
	for _, c := range out {
		slices.SortStableFunc(c.Messages, func(a, b Message) int { return cmp.Compare(a.Time, b.Time) })
	}
	return out
}

// event matches the texts by which Slack reports joins and the like.
var event = regexp.MustCompile(`^<?@\w+>? (has (joined|left|renamed|cleared) |(set|cleared) the channel)`)

// Kind returns the kind of the message's author. What nobody wrote, such as a
// join, is from the system.
func (m Message) Kind() earshot.AuthorKind {
	switch {
	case m.Author == "" || event.MatchString(m.Text):
		return earshot.System
	case m.Bot:
		return earshot.Bot
	}
	return earshot.Human
}

// Terms returns the message as a search index takes it, with the terms of its
// text, under a sequence.
func (m Message) Terms(seq int64, terms []string) earshot.Terms {
	t := earshot.Terms{
		ID: m.ID, Seq: seq, Time: m.Time, Author: earshot.AuthorID(m.Author), Name: m.Author, Thread: m.Thread, ReplyTo: m.ReplyTo,
		System: m.Kind() == earshot.System, Terms: terms,
	}
	if t.Thread == t.ID {
		t.Thread = "" // as stores keep a root
	}
	return t
}

// Stored returns the message as a store takes it: a store takes no time of 0, which is
// a microsecond later here.
func (m Message) Stored() earshot.Message {
	out := earshot.Message{
		ID: m.ID, Time: cmp.Or(m.Time, 1), Author: earshot.Author{ID: earshot.AuthorID(m.Author), Name: m.Author, Kind: m.Kind()},
		Text: m.Text, Thread: m.Thread, ReplyTo: m.ReplyTo,
	}
	for i, f := range m.Files {
		out.Files = append(out.Files, earshot.File{ID: earshot.ArtifactID(fmt.Sprintf("%s.%d", m.ID, i+1)), Name: f.Name})
	}
	return out
}

// longestLine is how long a line may be, in bytes.
const longestLine = 16 << 20

// readLines calls parse with each line of a file, empty ones left out.
func readLines[T any](path string, parse func(number int, line []byte) (T, error)) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		in = z
	}
	var out []T
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, longestLine)
	for number := 0; lines.Scan(); number++ {
		if len(strings.TrimSpace(lines.Text())) == 0 {
			continue
		}
		v, err := parse(number, lines.Bytes())
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, number+1, err)
		}
		out = append(out, v)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

// A text is a string that may be written as a number, or as null for none.
type text string

// UnmarshalJSON implements [json.Unmarshaler].
func (t *text) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	if data[0] == '"' {
		return json.Unmarshal(data, (*string)(t))
	}
	var n json.Number
	if err := json.Unmarshal(data, &n); err != nil {
		return err
	}
	*t = text(n)
	return nil
}

// parseSeconds parses seconds since 1970 with up to six decimals; further ones are cut.
func parseSeconds(n json.Number) (earshot.Time, error) {
	whole, fraction, _ := strings.Cut(n.String(), ".")
	return earshot.ParseTime(whole + "." + (fraction + "000000")[:6])
}
