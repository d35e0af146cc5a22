package daemon

import (
	"context"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/metrics"
	"github.com/earshot-ai/earshot/tokens"
	"github.com/earshot-ai/earshot/tools/mcpclient"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// toolPatience is how long a check waits for the servers of tools.
const toolPatience = 40 * time.Second

// newTools makes the client of the configured MCP servers; nil where none is.
func newTools(o Options, called func(mcpclient.Called), offered func(string, earshot.Channel) bool) (*mcpclient.Client, error) {
	if len(o.Config.Tools.MCP) == 0 {
		return nil, nil
	}
	c, err := mcpclient.New(mcpclient.Options{Servers: o.Config.Tools.Servers(), Version: o.Version, Log: o.Log, Called: called, Offered: offered})
	if err != nil {
		return nil, fmt.Errorf("tools.mcp: %w", err)
	}
	return c, nil
}

// startTools connects to the configured MCP servers. One that is away does not stop the
// start: it is connected to when it comes.
func startTools(ctx context.Context, o Options, m *metrics.Metrics, offered func(string, earshot.Channel) bool) (*mcpclient.Client, error) {
	c, err := newTools(o, func(c mcpclient.Called) { m.Tool(c.Server, c.Tool, c.Took, c.Failed) }, offered)
	if c == nil || err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, o.Patience)
	defer cancel()
	c.Start(ctx)
	return c, nil
}

// toolboxes returns what the bot can do besides reading its channel.
func (s sharedParts) toolboxes() []toolbox.Toolbox {
	if s.tools == nil {
		return s.options.Outside.Tools
	}
	return append([]toolbox.Toolbox{s.tools}, s.options.Outside.Tools...)
}

func (s sharedParts) closeTools() error {
	if s.tools == nil {
		return nil
	}
	return s.tools.Close()
}

// A ToolServer is what a check finds of a server of tools.
type ToolServer struct {
	Server       string      `json:"server"`
	Reached      bool        `json:"reached"`
	Problem      string      `json:"problem,omitempty"` // why it was not
	Software     string      `json:"software,omitempty"`
	Protocol     string      `json:"protocol,omitempty"`
	Instructions string      `json:"instructions,omitempty"`
	Tokens       int         `json:"tokens"` // of all descriptions
	Tools        []ToolFound `json:"tools"`
	Notes        []string    `json:"notes"` // what was cut, changed or left out
}

// A ToolFound is a tool that a server offers.
type ToolFound struct {
	Name        string `json:"name"`
	Own         string `json:"own"` // the server's name of it
	Effect      string `json:"effect"`
	Idempotent  bool   `json:"idempotent"`
	Approve     bool   `json:"approve"`
	Tokens      int    `json:"tokens"` // of its name, description and schema
	Description string `json:"description"`
}

// CheckTools connects to the configured MCP servers and lists their tools. It calls none.
func CheckTools(ctx context.Context, o Options) ([]ToolServer, error) {
	o.Log = nil // what it would say is in the findings
	o = o.withDefaults()
	c, err := newTools(o, nil, nil)
	if c == nil || err != nil {
		return []ToolServer{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, toolPatience)
	defer cancel()
	c.Start(ctx)
	reports := c.Reports()
	if err := c.Close(); err != nil {
		return nil, err
	}
	count, err := tokens.For("o200k")
	if err != nil {
		return nil, err
	}
	found := []ToolServer{}
	for _, r := range reports {
		s := ToolServer{Server: r.Server, Reached: r.Connected, Software: r.Software, Protocol: r.Protocol, Instructions: r.Instructions, Tools: []ToolFound{}, Notes: append([]string{}, r.Problems...)}
		if !r.Connected {
			s.Problem = r.Err
			if s.Problem == "" {
				s.Problem = fmt.Sprintf("it did not answer within %s", toolPatience)
			}
		}
		for _, t := range r.Tools {
			n := count.Count(t.Name + "\n" + t.Description + "\n" + string(t.Schema))
			s.Tokens += n
			s.Tools = append(s.Tools, ToolFound{Name: t.Name, Own: t.Own, Effect: string(t.Effect), Idempotent: t.Idempotent, Approve: t.Approve, Tokens: n, Description: t.Description})
		}
		found = append(found, s)
	}
	return found, nil
}

// ownTools looks at the servers of tools.
func (c *checker) ownTools(ctx context.Context) {
	servers, err := CheckTools(ctx, c.options)
	if err != nil {
		c.say("tools", Bad, err.Error(), "the bot does not start", "")
		return
	}
	sum := 0
	for _, s := range servers {
		sum += s.Tokens
		switch {
		case !s.Reached:
			c.say("tools", Poor, s.Server+" cannot be reached: "+s.Problem, "its tools are not there until it can", "see tools.mcp, and whether the server runs")
		case len(s.Notes) > 0:
			c.say("tools", Poor, fmt.Sprintf("%s has %d tools; %d notes", s.Server, len(s.Tools), len(s.Notes)), "some tools are cut, renamed or left out", "earshot check tools says which")
		default:
			c.say("tools", Good, fmt.Sprintf("%s has %d tools, %d tokens", s.Server, len(s.Tools), s.Tokens), "", "")
		}
	}
	if budget := c.options.Config.Tools.Budget; sum > budget {
		c.say("tools", Poor, fmt.Sprintf("all descriptions have %d tokens, more than tools.budget, %d", sum, budget), "the model searches them, and is not given them all", "leave some out with allow or deny, or raise tools.budget")
	}
}
