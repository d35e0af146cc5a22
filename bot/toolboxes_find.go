package bot

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/search/index"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// Where the tools of one's own are more than a prompt should carry, the model gets two in
// their place: findTools searches them, and useTool calls one. So the list that is cached
// stays the same whatever is found, and what was found stays in the session.

const (
	findTools = "find_tools"
	useTool   = "use_tool"

	// DefaultToolTokens is the default of [Options].ToolTokens.
	DefaultToolTokens = 4000
	maxFound          = 8    // tools of one answer
	maxFoundBytes     = 8000 // of one answer, but for its first tool
)

// toolTokens estimates what a list costs, four bytes a token: an estimate that is learned
// would change in the middle of a conversation.
func toolTokens(list []toolbox.Tool) (n int) {
	for _, t := range list {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	return n / 4
}

func findersFor(list []toolbox.Tool) []llm.Tool {
	return []llm.Tool{
		{
			Name: findTools,
			Description: fmt.Sprintf("You have %d more tools, which are not listed here. Finds those for what you want to do, with their arguments. What it finds you call with %s.",
				len(list), useTool),
			Schema: `{"type":"object","properties":{"intent":{"type":"string","description":"What you want to do, in words that a tool's name or description would have."}},"required":["intent"],"additionalProperties":false}`,
		},
		{
			Name:        useTool,
			Description: "Calls a tool that " + findTools + " has found.",
			Schema: `{"type":"object","properties":{"name":{"type":"string"},"arguments":{"type":"object","description":"As the tool's schema says."}},` +
				`"required":["name","arguments"],"additionalProperties":false}`,
		},
	}
}

// ownTool returns the tool of one's own that the model calls, and its arguments, without
// white space around them.
func (o offer) ownTool(c llm.Call) (t toolbox.Tool, args string, ok bool) {
	if !o.hidden {
		t, ok = o.find(c.Name)
		return t, argsOr(c.Args), ok
	}
	var use struct {
		Name      string
		Arguments json.RawMessage
	}
	if c.Name != useTool || json.Unmarshal([]byte(c.Args), &use) != nil {
		return t, "", false
	}
	t, ok = o.find(use.Name)
	return t, argsOr(string(use.Arguments)), ok
}

// argsOr returns the arguments of a call, an empty object where the model wrote none.
func argsOr(args string) string { return cmp.Or(strings.TrimSpace(args), "{}") }

// finderAnswer answers a call of findTools, or one of useTool that names no tool.
func (o offer) finderAnswer(c llm.Call) (answer map[string]any, failed, ok bool) {
	switch {
	case !o.hidden:
		return nil, false, false
	case c.Name == useTool:
		return map[string]any{"error": "there is no such tool, or the arguments are no JSON", "remedy": "give name and arguments as " + findTools + " has them"}, true, true
	case c.Name != findTools:
		return nil, false, false
	}
	var args struct{ Intent string }
	if json.Unmarshal([]byte(c.Args), &args) != nil || strings.TrimSpace(args.Intent) == "" {
		return map[string]any{"error": "intent is missing", "remedy": "say in words what you want to do"}, true, true
	}
	found, more := o.search(args.Intent)
	answer = map[string]any{"tools": found}
	if more > 0 {
		answer["more"] = more
	}
	if len(found) == 0 {
		answer["remedy"] = "use other words; if nothing is found with those either, say that you cannot do it"
	}
	return answer, false, true
}

// A foundTool is a tool as findTools shows it.
type foundTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
}

// search returns the tools for an intent, the best first, and how many more there would be.
func (o offer) search(intent string) (found []foundTool, more int) {
	found = []foundTool{}
	x := index.New()
	for i, t := range o.list {
		id := earshot.MessageID(t.Name)
		// Each is a talk of its own, so that none is found by the words of another.
		x.Add(earshot.Terms{
			ID: id, Seq: int64(i + 1), Time: earshot.Time(i) * 86_400_000_000, Author: "tool", Thread: id,
			Terms: index.Terms(strings.NewReplacer("_", " ", "-", " ").Replace(t.Name) + "\n" + t.Description),
		})
	}
	size := 0
	for _, h := range x.Search(index.Query{Text: intent, Limit: 50}) {
		t, _ := o.find(string(h.ID))
		size += len(t.Name) + len(t.Description) + len(t.Schema)
		if len(found) == maxFound || len(found) > 0 && size > maxFoundBytes {
			more++
			continue
		}
		found = append(found, foundTool{t.Name, t.Description, json.RawMessage(t.Schema)})
	}
	return found, more
}
