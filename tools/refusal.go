package tools

import "github.com/go-json-experiment/json"

// notFound is said of what is not there, and of what must not be seen: always
// in the same bytes.
var notFound = &refusal{"not found", "use ids from this channel as you were shown them, or search with " + ChannelContext}

// tooLong is said where not even one message fits.
var tooLong = &refusal{"the answer is too long", "ask for less"}

// A refusal is an error that the model is told, with what it can do.
type refusal struct{ reason, remedy string }

func refuse(reason, remedy string) error { return &refusal{reason, remedy} }

func (r *refusal) Error() string { return r.reason }

type refusalJSON struct {
	Error  string `json:"error"`
	Remedy string `json:"remedy,omitzero"`
}

// answer writes a refusal, as much of it as fits.
func (r *refusal) answer(maxBytes int) Answer {
	for _, v := range []refusalJSON{{r.reason, r.remedy}, {r.reason, ""}, {"failed", ""}} {
		if raw, err := json.Marshal(v); err == nil && len(raw) <= maxBytes {
			return Answer{JSON: string(raw), Failed: true}
		}
	}
	return Answer{JSON: "{}", Failed: true}
}
