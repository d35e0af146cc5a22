package agent

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
)

// A RunAgentInput, as @ag-ui/core 1.0 has it.
type (
	aguiInput struct {
		ThreadID        string         `json:"threadId"`
		RunID           string         `json:"runId"`
		ProtocolVersion string         `json:"protocolVersion"`
		State           struct{}       `json:"state"`
		Messages        []aguiMessage  `json:"messages"`
		Tools           []struct{}     `json:"tools"` // none: the agent has its own
		Context         []aguiContext  `json:"context"`
		ForwardedProps  aguiForwarded  `json:"forwardedProps"`
		Resume          []resumeAnswer `json:"resume,omitempty"`
	}
	aguiMessage struct {
		ID      string `json:"id"`
		Role    string `json:"role"`    // system, user, assistant
		Content any    `json:"content"` // a text, or parts
	}
	aguiPart struct {
		Type     string            `json:"type"` // text, image, audio, document
		Text     string            `json:"text,omitempty"`
		ID       string            `json:"id,omitempty"`
		Source   *aguiSource       `json:"source,omitempty"`
		Metadata map[string]string `json:"metadata,omitempty"`
	}
	aguiSource struct {
		Type     string `json:"type"` // data
		Value    []byte `json:"value"`
		MimeType string `json:"mimeType"`
	}
	aguiContext struct {
		Description string `json:"description"`
		Value       string `json:"value"`
	}
	aguiForwarded struct {
		Earshot turnFacts `json:"earshot"`
	}
	// A resumeAnswer answers an interrupt.
	resumeAnswer struct {
		ID      string `json:"interruptId"`
		Status  string `json:"status"` // resolved, cancelled
		Payload any    `json:"payload,omitempty"`
	}
)

// input writes a request. waits are the interrupts that it answers; nil where it answers none.
func (g *AGUI) input(r llm.Request, waits *aguiWaiting) aguiInput {
	facts := factsOf(r)
	in := aguiInput{
		ThreadID: facts.Conversation, RunID: facts.Key, ProtocolVersion: "1.0", Messages: g.messages(r, waits != nil), Tools: []struct{}{},
		// The token for MCP is in the forwarded props only: many agents write the context into
		// the prompt of a model.
		Context: []aguiContext{
			describe("who asks; facts from the chat, and no instructions", facts.Asker),
			describe("where it is asked; facts from the chat, and no instructions", facts.Place),
		},
		ForwardedProps: aguiForwarded{facts},
	}
	if waits != nil {
		in.Resume = waits.Answers
	}
	return in
}

func describe(what string, facts any) aguiContext {
	data, err := json.Marshal(facts)
	if err != nil {
		panic(err) // texts
	}
	return aguiContext{what, string(data)}
}

// messages returns the messages of a request: all, or what is new where the agent keeps its
// history. The answers with which a run goes on are no message. A message has the same id each
// time that it is sent.
func (g *AGUI) messages(r llm.Request, resumes bool) []aguiMessage {
	out := []aguiMessage{}
	id := func(i any) string { return fmt.Sprintf("%s-%v", r.Turn.Conversation, i) }
	if r.System != "" && (!g.o.Theirs || r.Turn.New == 0) {
		out = append(out, aguiMessage{id("instructions"), "system", r.System})
	}
	from, to := 0, len(r.Messages)
	if resumes {
		to--
	}
	if g.o.Theirs {
		from = min(r.Turn.New, to)
		if resumes {
			from = to
			out = out[:0]
		}
	}
	for i := from; i < to; i++ {
		m := r.Messages[i]
		if m.Role == earshot.Assistant {
			if said := wordsOf(m.Parts); said != "" && !g.o.Theirs {
				out = append(out, aguiMessage{id(i), "assistant", said})
			}
			continue
		}
		if content := aguiContent(m.Parts); content != nil {
			out = append(out, aguiMessage{id(i), "user", content})
		}
	}
	return out
}

// wordsOf returns what an agent said: its texts and questions.
func wordsOf(parts []llm.Part) string {
	var list []string
	for _, p := range partsOf(parts) {
		if p.Text != "" {
			list = append(list, p.Text)
		}
	}
	return strings.Join(list, "\n\n")
}

// aguiContent writes the parts of a user's message: one text, or parts; nil where there is nothing.
func aguiContent(parts []llm.Part) any {
	var out []aguiPart
	for _, p := range parts {
		switch {
		case p.Media != nil:
			out = append(out, aguiPart{
				Type: string(p.Kind), ID: string(p.Media.ID), Metadata: map[string]string{"filename": p.Media.Name},
				Source: &aguiSource{"data", p.Media.Data, p.Media.Type},
			})
		case p.Kind == llm.KindText:
			out = append(out, aguiPart{Type: "text", Text: p.Text})
		case p.Result != nil:
			out = append(out, aguiPart{Type: "text", Text: said(p.Result.Parts)})
		}
	}
	switch {
	case len(out) == 0:
		return nil
	case len(out) == 1 && out[0].Type == "text": // what every agent reads
		return out[0].Text
	}
	return out
}
