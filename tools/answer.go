package tools

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// The JSON of an answer.
type (
	wire struct {
		Messages []message `json:"messages"`
		Omitted  int       `json:"omitted,omitzero"`   // messages that were left out
		NotFound []string  `json:"not_found,omitzero"` // ids
	}
	message struct {
		ID        string   `json:"id"`
		ThreadID  string   `json:"thread_id,omitzero"`
		Time      string   `json:"time"`
		Author    string   `json:"author"`
		Bot       bool     `json:"bot,omitzero"`
		Edited    bool     `json:"edited,omitzero"`
		Text      string   `json:"text"`
		Cut       bool     `json:"cut,omitzero"` // text is its beginning
		Files     []string `json:"files,omitzero"`
		Reactions []string `json:"reactions,omitzero"`
	}
	failure struct {
		Error string `json:"error"`
	}
)

func failed(reason string, maxBytes int) Answer {
	raw, _ := json.Marshal(failure{reason}) // a constant text
	return Answer{JSON: string(raw[:min(len(raw), maxBytes)]), Failed: true}
}

// maxText is how many graphemes of one message an answer has.
const maxText = 4000

// answer writes what was found, as much of it as may be said. What stands last
// is left out first, of a thread what stands after the root.
func (s *Set) answer(f found) Answer {
	out := wire{Messages: []message{}, Omitted: f.omitted, NotFound: f.missing}
	rows := s.rows(f.messages)
	size := encodedLen(out)
	size += 16 // the count of what is left out
	keep := make([]bool, len(rows))
	order := make([]int, 0, len(rows))
	for i := range rows {
		order = append(order, i)
	}
	if len(rows) > 1 && isThread(f.messages) { // root, then the newest
		for i := range order[1:] {
			order[1+i] = len(rows) - 1 - i
		}
	}
	for _, i := range order {
		n := encodedLen(rows[i]) + 1
		if size+n > s.o.MaxBytes {
			break
		}
		size += n
		keep[i] = true
	}
	var a Answer
	for i, r := range rows {
		if keep[i] {
			out.Messages = append(out.Messages, r)
			a.Shows = append(a.Shows, f.messages[i])
		} else {
			out.Omitted++
		}
	}
	raw, err := json.Marshal(out, json.Deterministic(true))
	if err != nil || len(raw) > s.o.MaxBytes {
		return failed("the answer is too long; ask for less", s.o.MaxBytes)
	}
	a.JSON = string(raw)
	return a
}

// rows writes messages as prompts do.
func (s *Set) rows(list []earshot.Message) []message {
	rows := make([]message, len(list))
	for i, x := range assemble.Speak(s.o.Identity, s.o.Known, list) {
		m := list[i]
		text, cut := assemble.Cut(x.Text, maxText)
		rows[i] = message{
			ID: assemble.Clean(string(m.ID)), ThreadID: assemble.Clean(string(m.Root())), Time: m.Time.String(),
			Author: x.Name, Bot: x.Bot, Edited: m.Edited != 0, Text: text, Cut: cut, Files: x.Files,
		}
		for _, r := range m.Reactions[:min(len(m.Reactions), 20)] {
			name, _ := assemble.Cut(strings.Join(strings.Fields(assemble.Clean(r.Name)), " "), 40)
			rows[i].Reactions = append(rows[i].Reactions, ":"+strings.Trim(name, ":")+": "+strconv.Itoa(r.Count))
		}
	}
	return rows
}

// isThread reports whether the messages are a root and its replies.
func isThread(list []earshot.Message) bool {
	for _, m := range list[1:] {
		if m.Root() != list[0].ID {
			return false
		}
	}
	return true
}

func encodedLen(v any) int {
	raw, err := json.Marshal(v)
	if err != nil {
		return 1 << 30 // nothing that does not encode is said
	}
	return len(raw)
}
