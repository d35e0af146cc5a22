package agent

import (
	"encoding/json"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
)

// askTool is the name of the tool by which the person is asked who is answered: the bot's own.
const askTool = "ask"

// A Question is what an agent asks the person who is answered.
type Question struct {
	Text    string   `json:"question"`
	Options []string `json:"options,omitempty"` // answers to choose from, at most 4; another one can be written all the same
}

// asks returns the part of an answer that asks a question. id names the question within its
// turn, and kept comes back with the answer ([answered]); it is JSON, or "".
func asks(id string, q Question, kept llm.JSON) llm.Part {
	args, err := json.Marshal(q)
	if err != nil {
		panic(err) // texts
	}
	p := llm.Calling(llm.Call{ID: id, Name: askTool, Args: string(args)})
	if kept != "" {
		p.Opaque = &llm.Opaque{Provider: provider, JSON: kept}
	}
	return p
}

// An answer is what a person said to a question.
type answer struct {
	question string // its id
	text     string // what was said, as the result of a call has it
	failed   bool   // nobody answered
	kept     llm.JSON
}

// answered returns the answer with which a request ends, nil where it ends with none.
func answered(r llm.Request) *answer {
	n := len(r.Messages)
	if n < 2 {
		return nil
	}
	for _, p := range r.Messages[n-1].Parts {
		if p.Kind != llm.KindResult || p.Result == nil || p.Result.Name != askTool {
			continue
		}
		a := &answer{question: p.Result.Call, failed: p.Result.Failed}
		a.text = said(p.Result.Parts)
		for _, c := range r.Messages[n-2].Parts {
			if c.Kind == llm.KindCall && c.Call.ID == a.question && c.Opaque != nil && c.Opaque.Provider == provider {
				a.kept = c.Opaque.JSON
			}
		}
		return a
	}
	return nil
}

// said returns what a person answered.
func said(parts []llm.Part) string {
	var text string
	for _, p := range parts {
		text += p.Text
	}
	var result struct {
		Answer string `json:"answer"`
	}
	if json.Unmarshal([]byte(text), &result) == nil && result.Answer != "" {
		return result.Answer
	}
	return text
}

// newMessages returns what an agent has not been sent yet: the messages of people that no turn
// before had or, where the request ends with an answer, that.
func newMessages(r llm.Request) (list []llm.Message) {
	from := min(r.Turn.New, len(r.Messages))
	if answered(r) != nil {
		from = len(r.Messages) - 1
	}
	for _, m := range r.Messages[from:] {
		if m.Role == earshot.User {
			list = append(list, m)
		}
	}
	return list
}
