package agent

import "github.com/earshot-ai/earshot/llm"

// What an agent is told about a turn, the same in each protocol: docs/agent-http.md has each
// field.
type (
	turnFacts struct {
		Version      int       `json:"version"`
		Key          string    `json:"key"`
		Turn         int64     `json:"turn"`
		Conversation string    `json:"conversation"`
		Asker        askerBody `json:"asker"`
		Place        placeBody `json:"place"`
		Instructions string    `json:"instructions"`
		New          int       `json:"new"`
		MCP          *mcpBody  `json:"mcp,omitempty"`
	}
	askerBody struct {
		ID       string `json:"id"`
		Name     string `json:"name,omitempty"`
		Zone     string `json:"zone,omitempty"`
		Standing string `json:"standing,omitempty"`
		Kind     string `json:"kind,omitempty"`
	}
	placeBody struct {
		Platform  string `json:"platform"`
		Workspace string `json:"workspace,omitempty"`
		Channel   string `json:"channel"`
		Name      string `json:"name,omitempty"`
		Kind      string `json:"kind,omitempty"`
		Thread    string `json:"thread,omitempty"`
	}
	mcpBody struct {
		URL     string `json:"url"`
		Token   string `json:"token"`
		Expires string `json:"expires"`
	}
)

// factsOf returns what an agent is told about the turn of a request.
func factsOf(r llm.Request) turnFacts {
	t := r.Turn
	f := turnFacts{
		Version: 1, Key: t.Key, Turn: int64(t.ID), Conversation: t.Conversation, Instructions: r.System, New: t.New,
		Asker: askerBody{string(t.Asker.ID), t.Asker.Name, t.Asker.Zone, string(t.Asker.Standing), string(t.Asker.Kind)},
		Place: placeBody{string(t.Channel.Platform), string(t.Channel.Workspace), string(t.Channel.ID), t.Channel.Name, string(t.Channel.Kind), string(t.Thread)},
	}
	if t.Access != nil {
		f.MCP = &mcpBody{t.Access.URL, t.Access.Token, t.Access.Expires.String()}
	}
	return f
}
