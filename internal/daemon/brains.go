package daemon

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/llm"
)

// Brains are what answers in channels with a model or an agent of their own, by what the
// configuration says of it. They are made at the start.
type brains map[brain]llm.Model

// A brain says what answers, apart from secrets, which do not change.
type brain struct{ kind, url, history, provider, model string }

// brainOf says what answers under a configuration.
func brainOf(c config.Config) brain {
	if hasAgent(c) {
		b := brain{kind: c.Agent.Kind, url: c.Agent.URL, history: c.Agent.History}
		if b.kind == config.AgentOpenAI {
			b.model = c.Model.Name
		}
		return b
	}
	first := Models(c)[0]
	return brain{kind: config.AgentModel, provider: first.Provider, model: first.Name}
}

// newBrains makes what answers by rules, where that is something else than answers in all
// channels. Its calls are added to calls.
func (x Outside) newBrains(c config.Config, learn func(llm.Response), calls *[]*modelCalls, log *slog.Logger) (brains, error) {
	out := brains{}
	if x.Model != nil {
		return out, nil
	}
	all := c.Answering()
	for _, i := range slices.Sorted(maps.Keys(all)) {
		of := all[i]
		is := brainOf(of)
		if out[is] != nil || is == brainOf(c) {
			continue
		}
		list := Models(of)
		own := newCalls(list)
		m, err := newModel(of, list, learn, own, log)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Channels[i].At, err)
		}
		out[is] = m
		*calls = append(*calls, own...)
	}
	return out, nil
}

// checkAll returns an error where a rule names what was not made at the start.
func (b brains) checkAll(c config.Config, standing brain) error {
	for i, of := range c.Answering() {
		if is := brainOf(of); i >= 0 && is != standing && b[is] == nil {
			return fmt.Errorf("%s: its model or agent is new; restart the bot", c.Channels[i].At)
		}
	}
	return nil
}

// set sets what answers under the settings of a channel, where that is something else than
// answers in all, and names an agent: by all that decides what it is sent.
func (b brains) set(c config.Config, standing brain, o *bot.ChannelOptions) {
	is := brainOf(c)
	if o.AgentName = ""; is.kind != config.AgentModel {
		o.AgentName = strings.TrimSpace(strings.Join([]string{is.kind, is.url, is.history, is.model}, " "))
	}
	m := b[is]
	if is == standing || m == nil {
		return
	}
	if o.Model, o.Agent = m, nil; is.kind != config.AgentModel {
		o.Agent = m
	}
}

// asksAgents reports whether an agent of one's own answers in any channel.
func asksAgents(c config.Config) bool {
	for _, of := range c.Answering() {
		if hasAgent(of) {
			return true
		}
	}
	return false
}
