package agent

import (
	"encoding/json"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
)

// TurnExtension is the URI of our extension of Agent2Agent, and the key of what we write into
// the metadata of a message: whose question it is, and where. docs/agents.md has it.
const TurnExtension = "https://github.com/earshot-ai/earshot/blob/main/docs/agents.md#agent2agent"

// A keptTask comes back with the answer to a question of an agent's: the answer goes to the
// same task.
type keptTask struct {
	Task    string `json:"task"`
	Context string `json:"context,omitempty"`
	Asked   string `json:"asked"` // the mark of the question
}

// keptOf returns the task to which a request is an answer; nil where it is none.
func keptOf(a *answer) *keptTask {
	var k keptTask
	if a == nil || json.Unmarshal([]byte(a.kept), &k) != nil || k.Task == "" {
		return nil
	}
	return &k
}

// noAnswer is what an agent reads where nobody answered its question.
const noAnswer = "(Nobody has answered. Go on with what you know, and say what you have assumed.)"

// message writes a request as one message, to a task that waits for its answer or, where to is
// nil, to begin one.
func (x *a2aExchange) message(to *keptTask) map[string]any {
	v := x.version
	facts := struct {
		turnFacts
		Answer *answerBody `json:"answer,omitempty"`
	}{turnFacts: factsOf(x.request)}
	out := map[string]any{
		"messageId": x.request.Turn.Key, "contextId": x.request.Turn.Conversation, "role": v.role,
		"extensions": []string{TurnExtension},
	}
	var parts []a2aPart
	if a := x.answered; to != nil {
		said := a2aPart{text: a.text}
		facts.Answer = &answerBody{Question: a.question, Text: a.text, Given: !a.failed}
		if a.failed {
			said.text, facts.Answer.Text = noAnswer, ""
		}
		parts, out["taskId"] = []a2aPart{said}, to.Task
		if to.Context != "" {
			out["contextId"] = to.Context
		}
	} else {
		parts = x.parts()
	}
	written := []map[string]any{}
	for _, p := range parts {
		written = append(written, v.part(p))
	}
	out["parts"], out["metadata"] = written, map[string]any{TurnExtension: facts}
	if v == version03 {
		out["kind"] = "message"
	}
	return out
}

// parts returns what begins a task: the instructions and what was said before, each marked as
// what it is, then what is new.
func (x *a2aExchange) parts() []a2aPart {
	r := x.request
	var out []a2aPart
	if r.System != "" && !x.card.knows && (!x.theirs || r.Turn.New == 0) {
		out = append(out, a2aPart{text: r.System, kind: "instructions"})
	}
	if x.theirs && x.answered == nil {
		for _, m := range newMessages(r) {
			out = append(out, x.partsOf(m, "")...)
		}
		return out
	}
	for i, m := range r.Messages {
		kind := ""
		if i < r.Turn.New || m.Role == earshot.Assistant {
			kind = string(m.Role)
		}
		out = append(out, x.partsOf(m, kind)...)
	}
	return out
}

// partsOf writes a message as parts. Where the agent does not know our extension, it is told in
// words what it said itself.
func (x *a2aExchange) partsOf(m llm.Message, kind string) (out []a2aPart) {
	for _, p := range partsOf(m.Parts) {
		switch {
		case p.Type == "file" && !x.card.accepts(p.MediaType):
			out = append(out, a2aPart{text: "(A file of the type " + oneLine(p.MediaType) + " is not here: your agent card does not name it. It is called " + oneLine(p.Name) + ".)", kind: kind})
		case p.Type == "file":
			out = append(out, a2aPart{file: &llm.Media{Name: p.Name, Type: p.MediaType, Data: p.Data}, kind: kind})
		case p.Text != "" && m.Role == earshot.Assistant && !x.card.knows:
			out = append(out, a2aPart{text: "Your own words, earlier:\n" + p.Text, kind: kind})
		case p.Text != "":
			out = append(out, a2aPart{text: p.Text, kind: kind})
		}
	}
	return out
}

// keptJSON writes what comes back with the answer to a question.
func keptJSON(k any) llm.JSON {
	data, err := json.Marshal(k)
	if err != nil {
		panic(err) // texts
	}
	return llm.JSON(data)
}
