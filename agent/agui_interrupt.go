package agent

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot/llm"
)

// Bounds of what a run may wait for: it is kept until there is an answer.
const (
	maxInterrupts = 8
	maxAsked      = 16 << 10 // bytes of one
)

// An aguiInterrupt is what a run waits for.
type aguiInterrupt struct {
	ID      string     `json:"id"`
	Reason  string     `json:"reason"`
	Message string     `json:"message"`
	Schema  aguiSchema `json:"responseSchema"`
}

// An aguiSchema is what is understood of the JSON Schema of an answer: that of a single value, or
// of an object with one property. Other answers are what the person wrote.
type aguiSchema struct {
	Type       string                     `json:"type"`
	Enum       []any                      `json:"enum"`
	Properties map[string]json.RawMessage `json:"properties"`
}

// UnmarshalJSON reads a schema; where it is none that is understood, it is the zero one.
func (s *aguiSchema) UnmarshalJSON(data []byte) error {
	type plain aguiSchema
	var p plain
	if len(data) <= maxAsked && json.Unmarshal(data, &p) == nil {
		*s = aguiSchema(p)
	}
	return nil
}

// An aguiAsked is a question to the person, of an interrupt.
type aguiAsked struct {
	ID      string   `json:"id"`
	Text    string   `json:"text"`
	Options []string `json:"options,omitempty"`
	Type    string   `json:"type,omitempty"` // of the answer: boolean, number, integer; else a text
	In      string   `json:"in,omitempty"`   // the property of an object in which the answer stands
}

// An aguiWaiting is what a run waits for, as it is kept with each question: what is still to be
// asked, and the answers so far.
type aguiWaiting struct {
	Asked   aguiAsked      `json:"asked"`
	Open    []aguiAsked    `json:"open,omitempty"`
	Answers []resumeAnswer `json:"answers,omitempty"`
}

// waitFor makes questions of interrupts.
func waitFor(list []aguiInterrupt) (*aguiWaiting, error) {
	w := &aguiWaiting{}
	for _, i := range list {
		if len(i.ID) > maxTaskID || len(i.Message) > maxAsked || len(i.Reason) > maxAsked {
			return nil, fault("what it asks is too long", false)
		}
		q := aguiAsked{ID: i.ID, Text: cmp.Or(strings.TrimSpace(strings.ToValidUTF8(i.Message, "�")), oneLine(i.Reason), "I need to know more before I can go on.")}
		schema := i.Schema
		if len(schema.Properties) == 1 {
			for name, inner := range schema.Properties {
				q.In, schema = name, aguiSchema{}
				_ = json.Unmarshal(inner, &schema)
			}
		}
		q.Type = schema.Type
		if q.Type == "boolean" {
			q.Options = []string{"Yes", "No"}
		}
		for _, o := range schema.Enum {
			if s, ok := o.(string); ok && len(schema.Enum) <= 4 {
				q.Options = append(q.Options, s)
			}
		}
		w.Open = append(w.Open, q)
	}
	return w, nil
}

// ask returns the part that asks what is to be asked next.
func (w *aguiWaiting) ask(key string) llm.Part {
	next := aguiWaiting{Asked: w.Open[0], Open: w.Open[1:], Answers: w.Answers}
	return asks("q_"+key, Question{Text: next.Asked.Text, Options: next.Asked.Options}, keptJSON(next))
}

// waitingOf returns what a run waits for, with the answer of a request; nil where it is none.
func waitingOf(a *answer) *aguiWaiting {
	var w aguiWaiting
	if a == nil || json.Unmarshal([]byte(a.kept), &w) != nil || w.Asked.Text == "" {
		return nil
	}
	one := resumeAnswer{ID: w.Asked.ID, Status: "cancelled"}
	if !a.failed {
		one.Status, one.Payload = "resolved", w.Asked.payload(a.text)
	}
	w.Answers = append(w.Answers, one)
	return &w
}

// payload returns an answer as the agent wants it. What is nothing of the kind stays a text.
func (q aguiAsked) payload(text string) any {
	var v any = text
	switch q.Type {
	case "boolean":
		v = strings.EqualFold(strings.TrimSpace(text), "yes")
	case "number", "integer":
		if n, err := strconv.ParseFloat(strings.TrimSpace(text), 64); err == nil && n-n == 0 { // and no infinity
			v = n
		}
	}
	if q.In != "" {
		return map[string]any{q.In: v}
	}
	return v
}
