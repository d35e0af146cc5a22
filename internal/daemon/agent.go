package daemon

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/agent"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/sidecar/mcp"
	"github.com/earshot-ai/earshot/llm"
)

// agentProvider is what an agent of one's own is called among the providers of models.
const agentProvider = "agent"

// hasAgent reports whether an agent of one's own answers in a model's place.
func hasAgent(c config.Config) bool { return c.Agent.Kind != "" && c.Agent.Kind != config.AgentModel }

// newAgent makes the configured agent. client may be nil.
func newAgent(c config.Config, client *http.Client) (llm.Model, error) {
	o := agentOptions(c, client)
	switch c.Agent.Kind {
	case config.AgentA2A:
		return agent.NewA2A(o)
	case config.AgentAGUI:
		return agent.NewAGUI(o)
	case config.AgentOpenAI:
		o.Model = c.Model.Name
		return agent.NewOpenAI(o)
	}
	return agent.NewHTTP(o)
}

func agentOptions(c config.Config, client *http.Client) agent.Options {
	return agent.Options{URL: c.Agent.URL, Key: c.Keys.AgentKey, Theirs: c.Agent.History == config.HistoryTheirs, HTTPClient: client}
}

// reachAgent returns an error where nothing listens at the agent's address, and what its card
// says where its protocol has one. It is asked nothing: it might do something.
func reachAgent(ctx context.Context, c config.Config, client *http.Client) (card string, err error) {
	m, err := newAgent(c, client)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	if a, ok := m.(*agent.A2A); ok {
		card, err := a.Card(ctx)
		return fmt.Sprintf("%q, Agent2Agent %s", card.Name, card.Version), err
	}
	return "", dialAgent(ctx, c)
}

// dialAgent returns an error where nothing listens at the agent's address.
func dialAgent(ctx context.Context, c config.Config) error {
	u, err := url.Parse(c.Agent.URL)
	if err != nil {
		return agent.ErrOptions
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return &llm.Error{Provider: agentProvider, Message: "nothing listens at agent.url"}
	}
	return conn.Close()
}

// agentAccess returns what lets the agent look further in the channel of a turn; nil where the
// API, and with it our MCP endpoint, is not served.
func (s sharedParts) agentAccess() func(context.Context, earshot.ConversationID, earshot.Position) (*llm.Access, error) {
	c := s.options.Config
	if !asksAgents(c) || s.gate == nil || c.API.Listen == "" {
		return nil
	}
	return func(ctx context.Context, id earshot.ConversationID, at earshot.Position) (*llm.Access, error) {
		f := access.CapabilityScope{Scope: id.Scope, At: at, Conversation: id, Expires: s.sidecar.Now() + earshot.Time(access.CapabilityTime.Microseconds())}
		token, err := s.gate.Mint(ctx, everything, f)
		if err != nil {
			return nil, err
		}
		return &llm.Access{URL: s.mcpURL(), Token: token, Expires: f.Expires}, nil
	}
}

// mcpURL is where an agent finds our MCP endpoint: as the settings say, or on this machine.
func (s sharedParts) mcpURL() string {
	if u := s.options.Config.API.URL; u != "" {
		return strings.TrimSuffix(u, "/") + mcp.Path
	}
	at := *s.apiAt.Load()
	if host, port, err := net.SplitHostPort(at); err == nil && net.ParseIP(host).IsUnspecified() {
		at = net.JoinHostPort("127.0.0.1", port)
	}
	return "http://" + at + mcp.Path
}
