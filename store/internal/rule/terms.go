package rule

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search/index"
)

// A message's search terms are stored as one text, a term to a line. The terms
// of what it quotes follow those of its own, each quote under a line that
// begins with a tab and says whose words they are: no term holds white space.

// A quoteJSON is the line above a quote's terms, behind the tab.
type quoteJSON struct {
	ID   earshot.AuthorID `json:"id,omitempty"`
	Name string           `json:"name,omitempty"`
}

const quoteMark = "\n\t"

// subjectText is what a message is found by of its thread's subject: what its text does
// not begin with already.
func subjectText(m *earshot.Message) string {
	x := m.Subject
	if x == nil {
		return ""
	}
	words := x.Tags
	if !strings.HasPrefix(m.Text, x.Name) {
		words = append([]string{x.Name}, words...)
	}
	return strings.Join(words, " ")
}

// writeTerms makes the terms of m and of what it quotes. An app's attachment that
// names no author counts as the app's own text.
func writeTerms(cutter *index.Cutter, m *earshot.Message) string {
	own := cutter.Terms(m.Text)
	if subject := subjectText(m); subject != "" {
		own = append(own, cutter.Terms(subject)...)
		own = own[:min(len(own), index.MaxTerms)]
	}
	if len(m.Shared) == 0 {
		return strings.Join(own, "\n")
	}
	var quotes strings.Builder
	terms, bytes := index.MaxTerms, index.MaxText // what is left of the bounds
	for _, x := range m.Shared {
		x.Text = index.Head(x.Text, bytes)
		list := cutter.Terms(x.Text)
		list = list[:min(len(list), terms)]
		if len(list) == 0 {
			continue
		}
		bytes -= len(x.Text)
		terms -= len(list)
		whose := quoteJSON{x.ID, index.Head(x.Author, index.MaxName)}
		if x.Kind == earshot.AppQuote {
			whose.ID = "" // an app can claim any
			if whose.Name == "" {
				own = append(own, list...)
				continue
			}
		}
		line, err := json.Marshal(whose)
		if err != nil { // two strings: it cannot happen
			continue
		}
		quotes.WriteString(quoteMark)
		quotes.Write(line)
		quotes.WriteByte('\n')
		quotes.WriteString(strings.Join(list, "\n"))
	}
	return strings.Join(own, "\n") + quotes.String()
}

// ReadTerms sets the terms of t, and of what it quotes, to what is stored.
func ReadTerms(stored string, t *earshot.Terms) error { return new(TermSplitter).Read(stored, t) }

// A TermSplitter splits the stored terms of many messages with few allocations.
// The zero TermSplitter is ready to use, by one goroutine at a time.
type TermSplitter struct{ free []string }

// Read is [ReadTerms].
func (s *TermSplitter) Read(stored string, t *earshot.Terms) error {
	own, quotes, quoting := strings.Cut(stored, quoteMark)
	t.Terms = s.lines(own)
	for quoting {
		var quote string
		quote, quotes, quoting = strings.Cut(quotes, quoteMark)
		line, terms, _ := strings.Cut(quote, "\n")
		var whose quoteJSON
		if err := json.Unmarshal([]byte(line), &whose); err != nil {
			return fmt.Errorf("read the search terms of message %q: %w", t.ID, err)
		}
		t.Quoted = append(t.Quoted, earshot.Quote{Author: whose.ID, Name: whose.Name, Terms: s.lines(terms)})
	}
	return nil
}

// lines returns the lines of text. The list's capacity is its length, so that an
// append copies it.
func (s *TermSplitter) lines(text string) []string {
	if text == "" {
		return nil
	}
	n := strings.Count(text, "\n") + 1
	if n > len(s.free) {
		const many = 1024
		s.free = make([]string, max(n, many))
	}
	out := s.free[:n:n]
	s.free = s.free[n:]
	for i := range n - 1 {
		at := strings.IndexByte(text, '\n')
		out[i], text = text[:at], text[at+1:]
	}
	out[n-1] = text
	return out
}
