package config

import (
	"maps"
	"slices"
)

// A Setting is what holds in a channel of one key, and where that is said: places in the
// file, variables, or [FromDefault].
type Setting struct {
	Key   string   `json:"key"`
	Value any      `json:"value"` // a text, a number, true or false, or a list of texts
	From  []string `json:"from"`
}

// FromDefault is where a setting comes from that nobody has set.
const FromDefault = "default"

// Settings returns what holds in the channel of all that a rule may set, by sources, which
// are of the same configuration.
func (e Effective) Settings(sources Sources) []Setting {
	var out []Setting
	add := func(key, inRule string, value any, keys ...string) {
		s := Setting{Key: key, Value: value}
		if at := sources[e.ruleKey(inRule)]; at != "" {
			s.From = []string{at}
		}
		for _, k := range append(keys, key) {
			if at := sources[k]; at != "" && s.From == nil {
				s.From = append(s.From, at)
			}
		}
		if s.From == nil {
			s.From = []string{FromDefault}
		}
		out = append(out, s)
	}
	id, a, b := e.Channel, e.Answer, e.Budget.Assemble()
	add("agent.instructions", "instructions", e.Agent.Instructions)
	if first := &out[0]; e.Rule >= 0 && !e.Channels[e.Rule].InstructionsOnly && sources["agent.instructions"] != "" && first.From[0] != sources["agent.instructions"] {
		first.From = []string{sources["agent.instructions"], first.From[0]}
	}
	add("policy", "policy", e.Policy)
	add("model.name", "model", e.Model.Name)
	add("agent.kind", "agent.kind", e.Agent.Kind)
	add("agent.url", "agent.url", e.Agent.URL)
	add("budget.tokens", "budget.tokens", b.Tokens)
	if e.Budget.Session > 0 {
		add("budget.session", "budget.session", b.Session)
	} else {
		add("budget.session", "budget.tokens", b.Session, "budget.tokens")
	}
	add("budget.limit", "budget.limit", b.Limit)
	add("answer.auto_answer", "answer.auto_answer", a.AutoAnswer)
	add("answer.owned_threads", "answer.owned_threads", a.OwnedThreads)
	add("answer.bots", "answer.bots", a.Bots)
	add("answer.forms", "answer.forms", a.Forms)
	add("answer.each", "answer.each", a.Each)
	add("answer.cite", "answer.cite", a.Cite)
	add("answer.ask", "answer.ask", here(a.Ask, id))
	add("answer.send_file", "answer.send_file", here(a.SendFile, id))
	if ambient := a.Ambient; here(a.AmbientChannels, id) {
		add("answer.ambient", "answer.ambient", ambient)
	} else {
		add("answer.ambient", "answer.ambient", AmbientOff, "answer.ambient_channels")
	}
	add("answer.ambient_hourly", "answer.ambient_hourly", a.AmbientHourly)
	add("answer.place", "answer.place", a.Place)
	add("answer.language", "answer.language", a.Language)
	add("answer.words", "answer.words", ownWords(a.Words))
	add("answer.may_mention", "may_mention", a.MayMention)
	add("links.hosts", "hosts", append([]string{}, e.Links.Hosts...))
	add("limits.day.person", "limits.day.person", describeLimit(e.Limits.Day.Person))
	add("limits.day.channel", "limits.day.channel", describeLimit(e.Limits.Day.Channel))
	servers := []string{}
	for _, m := range e.Tools.MCP {
		if e.Offers(m.Name) && (len(m.Channels) == 0 || slices.Contains(m.Channels, id)) {
			servers = append(servers, m.Name)
		}
	}
	add("tools.mcp", "tools", servers)
	add("may_ask", "may_ask", append([]string{}, e.MayAsk...))
	return out
}

// ownWords returns the keys of the sentences in an operator's own words.
func ownWords(own map[string]string) []string {
	return append([]string{}, slices.Sorted(maps.Keys(own))...)
}

// here reports whether a list of channels, in which * is all, has one.
func here(list []string, id string) bool {
	return slices.Contains(list, "*") || slices.Contains(list, id)
}

// ruleKey returns a key of the rule that holds; "" where none does.
func (e Effective) ruleKey(key string) string {
	if e.Rule < 0 {
		return ""
	}
	return joinPath(e.Channels[e.Rule].At, key)
}
