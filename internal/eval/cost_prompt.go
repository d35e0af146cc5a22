package eval

import (
	"encoding/json"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
)

// A piece is one text of a prompt, by whoever says it.
type piece struct {
	role   earshot.Role // "" of tools and the system text
	text   string
	tokens int
}

// A pieceCounter counts pieces, each text once.
type pieceCounter struct {
	counter assemble.Counter
	known   map[string]int
}

func newScale(c assemble.Counter) *pieceCounter { return &pieceCounter{c, map[string]int{}} }

func (s *pieceCounter) piece(role earshot.Role, text string) piece {
	n, ok := s.known[text]
	if !ok {
		n = s.counter.Count(text)
		s.known[text] = n
	}
	return piece{role, text, n}
}

// request returns the pieces of a request in the order in which providers read
// it: tools, system text, messages.
func (s *pieceCounter) request(r llm.Request) ([]piece, error) {
	var out []piece
	for _, t := range r.Tools {
		raw, err := json.Marshal(t)
		if err != nil {
			return nil, err
		}
		out = append(out, s.piece("", string(raw)))
	}
	if r.System != "" {
		out = append(out, s.piece("", r.System))
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			out = append(out, s.piece(m.Role, p.Text))
		}
	}
	return out, nil
}

// tokensOf sums pieces.
func tokensOf(list []piece) int {
	n := 0
	for _, p := range list {
		n += p.tokens
	}
	return n
}

// shared returns the tokens of the bytes with which both prompts begin.
func (s *pieceCounter) shared(before, now []piece) int {
	n := 0
	for i, p := range now {
		if i >= len(before) || before[i].role != p.role {
			break
		}
		if before[i].text != p.text {
			return n + s.counter.Count(commonStart(before[i].text, p.text))
		}
		n += p.tokens
	}
	return n
}

// commonStart returns the bytes with which both texts begin.
func commonStart(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// A history is the other side: everything that was said, sent at each turn.
type history struct {
	scale *pieceCounter
	limit int // tokens
	lines []piece
	sum   int   // tokens of lines
	bytes int64 // of them
	sent  []piece
	kept  int64 // bytes of all prompts that were sent
}

// say adds a message.
func (h *history) say(role earshot.Role, name, text string) {
	line := text
	if role == earshot.User {
		line = name + ": " + text
	}
	p := h.scale.piece(role, line+"\n")
	h.lines = append(h.lines, p)
	h.sum += p.tokens
	h.bytes += int64(len(p.text))
}

// send is one turn's prompt: all lines, or the newest that fit the limit.
func (h *history) send() (prompt, cached int) {
	for h.sum > h.limit && len(h.lines) > 1 {
		h.sum -= h.lines[0].tokens
		h.bytes -= int64(len(h.lines[0].text))
		h.lines = h.lines[1:]
	}
	cached = h.scale.shared(h.sent, h.lines)
	h.sent = h.lines[:len(h.lines):len(h.lines)]
	h.kept += h.bytes
	return h.sum, cached
}
