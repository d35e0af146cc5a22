package tools

import "github.com/go-json-experiment/json"

// notFound is the refusal for messages that do not exist and for messages that must
// not be seen: the same bytes, so that nobody can tell the two apart.
var notFound = &refusal{"not found", "use ids from this channel as you were shown them, or search with " + ChannelContext}

// tooLong is the refusal where not even one message fits into the answer.
var tooLong = &refusal{"the answer is too long", "ask for less"}

// A refusal is an error for the model, with a remedy. Call returns it as an
// Answer.
type refusal struct{ reason, remedy string }

func newRefusal(reason, remedy string) error { return &refusal{reason, remedy} }

func (r *refusal) Error() string { return r.reason }

type refusalJSON struct {
	Error  string `json:"error"`
	Remedy string `json:"remedy,omitzero"`
}

// answer returns a refusal as an Answer, as much of it as fits.
func (r *refusal) answer(maxBytes int) Answer {
	for _, v := range []refusalJSON{{r.reason, r.remedy}, {r.reason, ""}, {"failed", ""}} {
		if raw, err := json.Marshal(v); err == nil && len(raw) <= maxBytes {
			return Answer{JSON: string(raw), Failed: true}
		}
	}
	return Answer{JSON: "{}", Failed: true}
}
