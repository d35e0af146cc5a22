package tools

import (
	"github.com/go-json-experiment/json"

	"github.com/earshot-ai/earshot"
)

// levels are to how many graphemes texts are cut, one after the other, until an
// answer fits; 0 is not at all. A thread's root is a step behind the others.
// Where it does not fit then, messages are left out. 1,200 graphemes are about
// the 300 tokens that a prompt cuts replies to.
var levels = []int{0, 4000, 1200, 300, 300}

// Where cutting begins: a message that is asked for is given whole, one that
// was found need not be.
const (
	asWhole = 0
	asFound = 1
)

// fit cuts texts, from a level on, until the entries fit beside so many bytes
// of an answer, and returns which of them do. order has the entries' places,
// those that are left out first at its end.
func (s *Set) fit(beside int, list []entry, order []int, from int) []bool {
	room := s.o.MaxBytes - beside
	keep := make([]bool, len(list))
	sizes := make([]int, len(list))
	for n, most := range levels[from:] {
		total := 0
		for i, e := range list {
			if e.first {
				e.said.cut(levels[max(0, from+n-1)])
			} else {
				e.said.cut(most)
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

// inOrder returns the places 0 to n-1.
func inOrder(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// write makes an answer, which must not be too long.
func (s *Set) write(v any, shows []earshot.Message) (Answer, error) {
	raw, err := json.Marshal(v, json.Deterministic(true))
	if err != nil || len(raw) > s.o.MaxBytes {
		return Answer{}, tooLong
	}
	return Answer{JSON: string(raw), Shows: shows}, nil
}

func encodedLen(v any) int {
	raw, err := json.Marshal(v)
	if err != nil {
		return 1 << 30 // what does not encode is left out
	}
	return len(raw)
}

// Shown returns the ids of the messages that an answer of one of these tools
// tells of, in its order; none of anything else. It reads what was journalled.
func Shown(answer string) []earshot.MessageID {
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
