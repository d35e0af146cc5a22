package chats

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ErrSource is in the chain of an error that says which files of messages or
// which queries cannot be used together, and what to do about it.
var ErrSource = errors.New("cannot be measured")

// Sources are files of messages that queries are asked over. A source's name is
// that of its file before .messages.jsonl; of a file that is named otherwise,
// before its last suffix.
type Sources struct{ list []source }

type source struct{ name, path string }

// A Task is the queries over one conversation, by time and then by number.
type Task struct {
	Source       string
	Conversation Conversation
	Queries      []Query
}

// endings are how files of messages and of queries may end.
var endings = struct{ messages, queries, lines []string }{
	messages: []string{".messages.jsonl.gz", ".messages.jsonl"},
	queries:  []string{".queries.jsonl.gz", ".queries.jsonl"},
	lines:    []string{".jsonl.gz", ".jsonl", ".gz"},
}

// OpenSources finds the files of messages at paths: a file, or all that a
// folder holds, by name. The error wraps ErrSource where a folder holds none or
// two files have one name.
func OpenSources(paths ...string) (*Sources, error) {
	var s Sources
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		if !info.IsDir() {
			s.list = append(s.list, source{nameOf(path, endings.messages, endings.lines), path})
			continue
		}
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, err
		}
		found := false
		for _, e := range entries {
			if name := nameOf(e.Name(), endings.messages); name != "" && !e.IsDir() {
				s.list = append(s.list, source{name, filepath.Join(path, e.Name())})
				found = true
			}
		}
		if !found {
			return nil, fmt.Errorf("%s %w: it holds no *.messages.jsonl or *.messages.jsonl.gz; name a file", path, ErrSource)
		}
	}
	seen := map[string]string{}
	for _, x := range s.list {
		if other, ok := seen[x.name]; ok {
			return nil, fmt.Errorf("%s and %s %w together: both are the source %s; give one of them", other, x.path, ErrSource, x.name)
		}
		seen[x.name] = x.path
	}
	return &s, nil
}

// Conversations reads everything, in the order of the sources. Conversations of two of them
// are different ones, even under the same name.
func (s *Sources) Conversations() ([]Conversation, error) {
	var out []Conversation
	for _, x := range s.list {
		messages, err := Messages(x.path)
		if err != nil {
			return nil, err
		}
		out = append(out, Conversations(messages)...)
	}
	return out, nil
}

// nameOf returns a file's name before the first ending that it has, "" where it
// has none of them.
func nameOf(path string, endings ...[]string) string {
	name := filepath.Base(path)
	for _, end := range slices.Concat(endings...) {
		if before, ok := strings.CutSuffix(name, end); ok {
			return before
		}
	}
	if len(endings) > 1 {
		return name
	}
	return ""
}

// Tasks reads the messages that the queries of one file ask for, and returns
// them by file and conversation, in the order of the files. A query is asked
// over the source that it names. Where no query names one that is here, or it
// names none, that is the source that the file of queries is named for, else
// the one that has its conversation. left are the queries for whose
// conversation there are no messages. reading, unless it is nil, is told of each
// file before it is read.
//
// The error wraps ErrSource where a query's conversation stands in more than
// one source, and where nothing is left to ask.
func (s *Sources) Tasks(file string, queries []Query, reading func(path string)) (tasks []Task, left []Query, err error) {
	if reading == nil {
		reading = func(string) {}
	}
	wanted := s.wanted(file, queries)
	at := make(map[int]int, len(queries)) // a query's task, by the query's place
	for _, x := range s.list {
		var mine []int // places of queries that may be asked over x
		names := map[string]bool{}
		for i, q := range queries {
			if want := wanted(q); want == x.name || want == "" {
				mine = append(mine, i)
				names[q.Conversation] = true
			}
		}
		if len(mine) == 0 {
			continue
		}
		reading(x.path)
		all, err := Messages(x.path)
		if err != nil {
			return nil, nil, err
		}
		first := len(tasks)
		for _, c := range Conversations(slices.DeleteFunc(all, func(m Message) bool { return !names[m.Conversation] })) {
			tasks = append(tasks, Task{Source: x.name, Conversation: c})
		}
		for _, i := range mine {
			n := slices.IndexFunc(tasks[first:], func(t Task) bool { return t.Conversation.Name == queries[i].Conversation })
			if n < 0 {
				continue
			}
			if other, ok := at[i]; ok {
				return nil, nil, fmt.Errorf(`line %d of %s %w: its conversation %q stands in %s and in %s; give one of them, or say "source" in the query`,
					queries[i].Number+1, file, ErrSource, queries[i].Conversation, tasks[other].Source, x.name)
			}
			at[i] = first + n
		}
	}
	for i, q := range queries {
		if n, ok := at[i]; ok {
			tasks[n].Queries = append(tasks[n].Queries, q)
		} else {
			left = append(left, q)
		}
	}
	tasks = slices.DeleteFunc(tasks, func(t Task) bool { return len(t.Queries) == 0 })
	if len(tasks) == 0 {
		return nil, left, s.nothing(file, queries)
	}
	for _, t := range tasks {
		slices.SortStableFunc(t.Queries, func(a, b Query) int { return int(min(1, max(-1, a.At-b.At))) })
	}
	return tasks, left, nil
}

// wanted returns a function that says over which source a query is asked; "" is
// any.
func (s *Sources) wanted(file string, queries []Query) func(Query) string {
	here := func(name string) bool {
		return name != "" && slices.ContainsFunc(s.list, func(x source) bool { return x.name == name })
	}
	named := slices.ContainsFunc(queries, func(q Query) bool { return here(q.Source) })
	fallback := nameOf(file, endings.queries)
	if !here(fallback) {
		fallback = ""
	}
	return func(q Query) string {
		if named && q.Source != "" {
			return q.Source
		}
		return fallback
	}
}

// nothing returns the error that says why no query can be asked.
func (s *Sources) nothing(file string, queries []Query) error {
	if len(queries) == 0 {
		return fmt.Errorf("%s %w: it has no queries", file, ErrSource)
	}
	var names []string
	for _, x := range s.list {
		names = append(names, x.name)
	}
	about := fmt.Sprintf("conversation %q", queries[0].Conversation)
	if queries[0].Source != "" {
		about += fmt.Sprintf(" of source %q", queries[0].Source)
	}
	return fmt.Errorf("%s %w: no query's conversation is among the messages (the first asks about %s; given: %s); give the files it was made for with --messages",
		file, ErrSource, about, strings.Join(names, ", "))
}
