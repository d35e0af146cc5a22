package tools

import (
	"github.com/go-json-experiment/json"

	"github.com/earshot-ai/earshot"
)

// levels are the lengths in graphemes to which texts are cut, one after the other,
// until an answer fits; 0 cuts nothing. A thread's root is cut one level less than
// the others. If the answer is still too long, messages are left out. 1,200
// graphemes are about the 300 tokens to which a prompt cuts replies.
var levels = []int{0, 4000, 1200, 300, 300}

// The level to begin at: messages that are asked for by id are given whole if
// they fit, messages that were found are cut at once.
const (
	asWhole = 0
	asFound = 1
)

// fit cuts texts, from a level on, until the entries fit into an answer that has
// used bytes besides them, and returns which of them fit. order has the indices of
// the entries; those at its end are left out first.
func (s *Set) fit(used int, list []shownMessage, order []int, from int) []bool {
	room := s.o.MaxBytes - used
	keep := make([]bool, len(list))
	sizes := make([]int, len(list))
	for n, most := range levels[from:] {
		total := 0
		for i, e := range list {
			if e.first {
				e.messageJSON.cut(levels[max(0, from+n-1)])
			} else {
				e.messageJSON.cut(most)
			}
			sizes[i] = encodedLen(e.json) + 1
			total += sizes[i]
		}
		if total <= room {
			break
		}
	}
	for _, i := range order {
		if room -= sizes[i]; room < 0 {
			break
		}
		keep[i] = true
	}
	return keep
}

// inOrder returns 0 to n-1.
func inOrder(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// write returns v as an answer; the error is tooLong where it does not fit.
func (s *Set) write(v any, shows []earshot.Message) (Answer, error) {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil || len(raw) > s.o.MaxBytes {
		return Answer{}, tooLong
	}
	return Answer{JSON: string(raw), Shows: shows}, nil
}

// encodedLen returns how many bytes v has as JSON.
func encodedLen(v any) int {
	raw, err := json.Marshal(v)
	if err != nil {
		return 1 << 30 // too long to fit, so that it is left out
	}
	return len(raw)
}

// ShownIDs returns the ids of the messages in an answer of one of these tools, which
// is given as [Answer].JSON, in the answer's order. Of any other text it returns
// none. It is for answers that were kept, such as in a turn's journal.
func ShownIDs(answer string) []earshot.MessageID {
	type message struct {
		ID earshot.MessageID `json:"message_id"`
	}
	var a struct {
		Results  []message `json:"results"`
		Messages []message `json:"messages"`
		Root     *message  `json:"root"`
		Replies  []message `json:"replies"`
		message            // of a file
	}
	if json.Unmarshal([]byte(answer), &a) != nil {
		return nil
	}
	list := append(append(a.Results, a.Messages...), a.message)
	if a.Root != nil {
		list = append(list, *a.Root)
	}
	var ids []earshot.MessageID
	for _, m := range append(list, a.Replies...) {
		if m.ID != "" {
			ids = append(ids, m.ID)
		}
	}
	return ids
}
