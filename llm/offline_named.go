package llm

import (
	"encoding/json"
	"slices"
	"strings"
)

// How many calls a question may name, and how much of a result an answer quotes, in bytes.
const (
	maxNamed  = 8
	maxResult = 400
)

const offlineNamed = "I am the offline model: I do not understand what you ask. You have named tools, and I have called them:"

// A namedCall is a call that a question writes out.
type namedCall struct {
	at         int
	name, args string
}

// named returns the calls that the question writes out, in order: a tool's name, and after it
// the arguments as a JSON object.
func (s *promptView) named(tools []Tool) (list []namedCall) {
	for _, t := range tools {
		for at := 0; ; {
			i := strings.Index(s.question[at:], t.Name)
			if i < 0 {
				break
			}
			begins := at + i
			at = begins + len(t.Name)
			if begins > 0 && strings.ContainsFunc(s.question[begins-1:begins], isNamePart) {
				continue // the end of a longer name
			}
			rest := strings.TrimLeft(s.question[at:], " \n")
			if !strings.HasPrefix(rest, "{") {
				continue
			}
			var args json.RawMessage
			if json.NewDecoder(strings.NewReader(rest)).Decode(&args) == nil {
				list = append(list, namedCall{begins, t.Name, string(args)})
			}
		}
	}
	slices.SortFunc(list, func(a, b namedCall) int { return a.at - b.at })
	// What stands within the arguments of a call is no call.
	end := 0
	list = slices.DeleteFunc(list, func(c namedCall) bool {
		within := c.at < end
		if !within {
			end = c.at + strings.Index(s.question[c.at:], c.args) + len(c.args)
		}
		return within
	})
	return list[:min(len(list), maxNamed)]
}

func isNamePart(r rune) bool {
	return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// tell keeps what a tool has answered that the question named.
func (s *promptView) tell(r Result) {
	var text strings.Builder
	for _, p := range r.Parts {
		text.WriteString(p.Text)
	}
	said := strings.Join(strings.Fields(text.String()), " ")
	if short := cutWords(said, maxResult); short != said {
		said = short + "…"
	}
	failed := ""
	if r.Failed {
		failed = " failed"
	}
	s.told = append(s.told, "- "+r.Name+failed+": “"+said+"”")
}
