package history

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
)

// A Tool is a tool for a model with the function that runs it. Call is given the
// arguments as the model wrote them, and returns the answer for the model as JSON.
// Wrong arguments are answered with an error that the model can read; Call's own
// error is the store's.
type Tool struct {
	llm.Tool
	Call func(ctx context.Context, args string) (string, error)
}

// ToolName is the name of [History.SearchTool].
const ToolName = "conversation_search"

// Bounds of the tool's arguments.
const (
	maxArgs  = 16 << 10 // bytes
	maxQuery = 2000     // bytes
	maxHits  = 20
)

var searchTool = llm.Tool{
	Name:        ToolName,
	Description: "Searches what was said in this conversation, best first. gaps are stretches that could not be searched.",
	Schema: llm.JSON(fmt.Sprintf(`{"type":"object","properties":{`+
		`"query":{"type":"string","description":"What you look for, in words people would have used; in double quotes what must stand as it is."},`+
		`"limit":{"type":"integer","minimum":1,"maximum":%d,"default":%d}},`+
		`"required":["query"],"additionalProperties":false}`, maxHits, DefaultHits)),
}

// The tool's answer.
type (
	toolAnswer struct {
		Results []toolHit `json:"results"`
		Omitted int       `json:"omitted,omitzero"` // by the token cap
		Gaps    []toolGap `json:"gaps,omitempty"`
	}
	toolHit struct {
		MessageID string `json:"message_id"`
		TS        string `json:"ts"`
		Author    string `json:"author"`
		Agent     bool   `json:"agent,omitzero"` // another one
		You       bool   `json:"you,omitzero"`
		Text      string `json:"text"`
		Truncated bool   `json:"is_truncated,omitzero"`
	}
	toolGap struct {
		From string `json:"from,omitzero"`
		To   string `json:"to,omitzero"`
	}
	toolError struct {
		Error  string `json:"error"`
		Remedy string `json:"remedy"`
	}
)

// SearchTool returns [History.Search] as a tool for a model. It searches this
// conversation and nothing else: no argument names another one. o bounds it, and
// may be nil; set Before to the question, so that the question is not found.
func (h *History) SearchTool(c Conversation, o *SearchOptions) Tool {
	var opts SearchOptions
	if o != nil {
		opts = *o
	}
	return Tool{Tool: searchTool, Call: func(ctx context.Context, args string) (string, error) {
		query, limit, problem := readArgs(args)
		if problem != nil {
			return marshalText(problem)
		}
		o := opts
		if limit > 0 {
			o.Limit = limit
		}
		found, err := h.Search(ctx, c, query, &o)
		if err != nil {
			return "", fmt.Errorf("tool %s: %w", ToolName, err)
		}
		return marshalText(h.toolAnswer(found))
	}}
}

// readArgs reads the tool's arguments, or returns what is wrong with them.
func readArgs(raw string) (query string, limit int, problem *toolError) {
	var args struct {
		Query string `json:"query"`
		Limit *int   `json:"limit"`
	}
	switch err := json.Unmarshal([]byte(raw), &args, json.RejectUnknownMembers(true)); {
	case len(raw) > maxArgs:
		return "", 0, &toolError{"the arguments are too long", fmt.Sprintf("send at most %d bytes", maxArgs)}
	case errors.Is(err, json.ErrUnknownName):
		return "", 0, &toolError{"an argument is unknown", "use query and limit; no other conversation can be reached"}
	case err != nil:
		return "", 0, &toolError{"the arguments cannot be read", "send one JSON object with the arguments of the schema"}
	case args.Query == "" || len(args.Query) > maxQuery:
		return "", 0, &toolError{"query is missing or too long", fmt.Sprintf("give query as words, at most %d bytes", maxQuery)}
	case args.Limit != nil && (*args.Limit < 1 || *args.Limit > maxHits):
		return "", 0, &toolError{"limit is out of its bounds", fmt.Sprintf("give 1 to %d", maxHits)}
	}
	if args.Limit != nil {
		limit = *args.Limit
	}
	return args.Query, limit, nil
}

// toolAnswer writes hits with names and texts in the form of prompts.
func (h *History) toolAnswer(found SearchResult) toolAnswer {
	messages := make([]earshot.Message, len(found.Hits))
	for i, hit := range found.Hits {
		messages[i] = hit.Message
	}
	out := toolAnswer{Results: make([]toolHit, len(messages)), Omitted: found.Omitted}
	for i, s := range assemble.Speak(h.self, nil, nil, messages) {
		m := &messages[i]
		self := h.self.Is(m.Author.ID)
		out.Results[i] = toolHit{
			MessageID: assemble.Clean(string(m.ID)), TS: m.Time.String(), Author: s.Name, Agent: m.Author.Kind == earshot.Bot && !self, You: self,
			Text: s.Text, Truncated: found.Hits[i].Cut,
		}
	}
	for _, g := range found.Gaps {
		out.Gaps = append(out.Gaps, toolGap{g.From.String(), g.To.String()})
	}
	return out
}

func marshalText(v any) (string, error) {
	raw, err := json.Marshal(v, json.Deterministic(true))
	return string(raw), err
}
