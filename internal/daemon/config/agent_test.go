package config_test

import (
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/internal/daemon/config"
)

// An agent of one's own needs an address, and does not decide whether to say something unasked.
func TestFaultsOfAnAgentAreRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"agent: {kind: http}":                                        "agent.url: is missing",
		"agent: {url: http://localhost/turn}":                        "agent.url: has no effect while agent.kind is model",
		"agent: {kind: acp, url: http://localhost/}":                 `agent.kind: "acp" is unknown; use one of model, http, a2a, ag-ui, openai`,
		"agent: {kind: a2a}":                                         "agent.url: is missing; set it to the address of the agent",
		"agent: {kind: ag-ui}":                                       "agent.url: is missing; set it to the address at which the agent is run",
		"agent: {kind: openai}":                                      "agent.url: is missing; set it to the base URL of the agent's API",
		"agent: {kind: http, url: http://localhost/, history: both}": `agent.history: "both" is unknown; use one of ours, theirs`,
		"agent: {kind: http, url: http://localhost/}\nanswer: {ambient: react, ambient_channels: [C1]}":        "answer.ambient: needs a model that decides, and agent.kind is http",
		"agent: {kind: http, url: http://localhost/}\nchannels: [{match: {id: C1}, answer: {ambient: react}}]": "channels[0].answer.ambient: needs a model that decides, and agent.kind is http",
	} {
		if _, err := config.Load(write(t, text), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	c, err := config.Load(write(t, "agent: {kind: http, url: http://localhost/turn, history: theirs}"), []string{"EARSHOT_AGENT_KEY=k"})
	if err != nil || c.Agent.History != config.HistoryTheirs || c.Keys.AgentKey.Reveal() != "k" {
		t.Errorf("got %+v, %v", c.Agent, err)
	}
}
