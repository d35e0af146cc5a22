package config

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/earshot-ai/earshot"
)

// A Rule is what holds in some channels, in place of what holds in all. What is left out is as
// in all.
type Rule struct {
	Match            Match      `yaml:"match" doc:"which channels: id, name (* and ? stand for letters), workspace and kind (dm, private, public, shared: with other organisations), each one value or a list. All that are set must hold."`
	Instructions     string     `yaml:"instructions" doc:"text behind agent.instructions."`
	InstructionsOnly bool       `yaml:"instructions_only" doc:"instructions stand in place of agent.instructions."`
	Policy           string     `yaml:"policy" doc:"as policy."`
	Model            string     `yaml:"model" doc:"the name of another model of model.provider, which answers here."`
	Agent            RuleAgent  `yaml:"agent" doc:"what answers here: kind, url and history, as agent; kind: model where agent.kind is another."`
	Budget           RuleBudget `yaml:"budget" doc:"as budget: tokens, session, limit."`
	Answer           RuleAnswer `yaml:"answer" doc:"as answer: auto_answer, owned_threads, bots, forms, each, cite, ambient (off, react or speak here), ambient_hourly, place, language, words; and ask and send_file, true or false."`
	Limits           RuleLimits `yaml:"limits" doc:"as limits: day.channel, the most that each of these channels may use on a day, and day.person, as long as a person asks here."`
	Tools            []string   `yaml:"tools" doc:"the names of the servers of tools.mcp whose tools are offered, of those that are offered here at all. []: none."`
	MayAsk           List       `yaml:"may_ask" doc:"the ids of those who may ask: people, user groups on Slack, roles on Discord. The others are refused as not-allowed."`
	Hosts            []string   `yaml:"hosts" doc:"as links.hosts."`
	MayMention       string     `yaml:"may_mention" doc:"as answer.may_mention."`

	// At is the rule's key: channels[0], or channels.ID where channels is a block by id.
	At string `yaml:"-"`
}

// A Match says of which channels a rule is.
type Match struct {
	ID        List `yaml:"id"`
	Name      List `yaml:"name"`
	Workspace List `yaml:"workspace"`
	Kind      List `yaml:"kind"`
}

// A RuleAgent says what answers in some channels. Without Kind it is as in all.
type RuleAgent struct {
	Kind    string `yaml:"kind"`
	URL     string `yaml:"url"`
	History string `yaml:"history"`
}

// A RuleBudget is a budget of which 0 means as in all channels.
type RuleBudget struct {
	Tokens  int `yaml:"tokens"`
	Session int `yaml:"session"`
	Limit   int `yaml:"limit"`
}

// A RuleAnswer sets what is answered in some channels. What is nil, "" or 0 is as in all.
type RuleAnswer struct {
	AutoAnswer    *bool             `yaml:"auto_answer"`
	OwnedThreads  *bool             `yaml:"owned_threads"`
	Bots          *bool             `yaml:"bots"`
	Forms         *bool             `yaml:"forms"`
	Each          *bool             `yaml:"each"`
	Cite          *bool             `yaml:"cite"`
	Ask           *bool             `yaml:"ask"`
	SendFile      *bool             `yaml:"send_file"`
	Ambient       string            `yaml:"ambient"`
	AmbientHourly int               `yaml:"ambient_hourly"`
	Place         string            `yaml:"place"`
	Language      string            `yaml:"language"`
	Words         map[string]string `yaml:"words"`
}

// The kinds of channels in a [Match].
const (
	KindDM      = "dm"
	KindPrivate = "private" // and a direct message to several
	KindPublic  = "public"
	KindShared  = "shared" // with other organisations, whatever else it is
)

var kinds = []string{KindDM, KindPrivate, KindPublic, KindShared}

// A List is one text or several.
type List []string

// UnmarshalYAML reads a text or a list of texts.
func (l *List) UnmarshalYAML(text []byte) error {
	var several []string
	if yaml.Unmarshal(text, &several) == nil {
		*l = several
		return nil
	}
	var one string
	if err := yaml.Unmarshal(text, &one); err != nil {
		return err
	}
	if one == "" {
		return errors.New("no text")
	}
	*l = List{one}
	return nil
}

// MarshalYAML returns what is set.
func (r Rule) MarshalYAML() (any, error) { return setIn(reflect.ValueOf(r)), nil }

func setIn(v reflect.Value) yaml.MapSlice {
	out := yaml.MapSlice{}
	for i := range v.NumField() {
		key, f := v.Type().Field(i).Tag.Get("yaml"), v.Field(i)
		switch {
		case key == "-" || f.IsZero():
		case f.Kind() == reflect.Struct:
			out = append(out, yaml.MapItem{Key: key, Value: setIn(f)})
		default:
			out = append(out, yaml.MapItem{Key: key, Value: f.Interface()})
		}
	}
	return out
}

// holds reports whether a channel is one of those of the rule. What is not known of a channel
// does not hold.
func (m Match) holds(c earshot.Channel) bool {
	return (m.ID == nil || slices.Contains(m.ID, string(c.ID))) &&
		(m.Workspace == nil || slices.Contains(m.Workspace, string(c.Workspace))) &&
		(m.Name == nil || slices.ContainsFunc(m.Name, func(glob string) bool { return c.Name != "" && isLike(glob, c.Name) })) &&
		(m.Kind == nil || slices.ContainsFunc(m.Kind, func(kind string) bool { return slices.Contains(KindsOf(c), kind) }))
}

// isLike reports whether a name is like a pattern; neither's case counts, and a slash is a
// letter as others.
func isLike(glob, name string) bool {
	plain := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), "/", "\x00") }
	ok, err := path.Match(plain(glob), plain(name))
	return ok && err == nil
}

// KindsOf returns the kinds that a channel has in a [Match]; none where nothing is known.
func KindsOf(c earshot.Channel) []string {
	var kinds []string
	if k, ok := map[earshot.ChannelKind]string{earshot.KindDM: KindDM, earshot.KindGroup: KindPrivate, earshot.KindChannel: KindPublic}[c.Kind]; ok {
		kinds = append(kinds, k)
	}
	if c.Shared {
		kinds = append(kinds, KindShared)
	}
	return kinds
}

// Unknown returns what a match asks for that is not known of a channel: workspace, name, kind.
// It is nil where the channel is none of the match's for what is known.
func (m Match) Unknown(c earshot.Channel) []string {
	var out []string
	if m.ID != nil && !slices.Contains(m.ID, string(c.ID)) {
		return nil
	}
	if m.Workspace != nil && c.Workspace == "" {
		out = append(out, "workspace")
	}
	if m.Name != nil && c.Name == "" {
		out = append(out, "name")
	}
	if m.Kind != nil && c.Kind == "" {
		out = append(out, "kind")
	}
	return out
}

// covers reports whether every channel of n with an id, or any where it is "", is one of m.
func (m Match) covers(n Match, id string) bool {
	within := func(ours, theirs []string, is func(a, b string) bool) bool {
		return ours == nil || theirs != nil && !slices.ContainsFunc(theirs, func(t string) bool {
			return !slices.ContainsFunc(ours, func(o string) bool { return is(o, t) })
		})
	}
	equal := func(a, b string) bool { return a == b }
	like := func(a, b string) bool {
		return strings.EqualFold(a, b) || a == "*" || !strings.ContainsAny(b, `*?[\`) && isLike(a, b)
	}
	var ids []string
	if id != "" {
		ids = []string{id}
	}
	return within(m.ID, ids, equal) && within(m.Name, n.Name, like) && within(m.Workspace, n.Workspace, equal) && within(m.Kind, n.Kind, equal)
}

// An Effective is what holds in one channel.
type Effective struct {
	Config         // with what the rule sets
	Rule    int    // its place in Channels; -1: none matches
	Channel string // the id
	MayAsk  []string
}

// For returns what holds in a channel: what the first rule that matches sets, and for the rest
// what holds in all.
func (c Config) For(ch earshot.Channel) Effective {
	e := Effective{Config: c, Channel: string(ch.ID)}
	e.Rule = slices.IndexFunc(c.Channels, func(r Rule) bool { return r.Match.holds(ch) })
	if e.Rule >= 0 {
		e.apply(c.Channels[e.Rule])
	}
	return e
}

// apply sets what a rule sets.
func (e *Effective) apply(r Rule) {
	c := e.Config
	switch {
	case r.InstructionsOnly:
		e.Agent.Instructions = r.Instructions
	case r.Instructions != "":
		e.Agent.Instructions = strings.TrimLeft(strings.TrimRight(c.Agent.Instructions, "\n")+"\n\n"+r.Instructions, "\n")
	}
	set(&e.Policy, r.Policy)
	set(&e.Model.Name, r.Model)
	if r.Agent.Kind != "" {
		e.Agent.Kind, e.Agent.URL, e.Agent.History = r.Agent.Kind, r.Agent.URL, cmp.Or(r.Agent.History, HistoryOurs)
	}
	set(&e.Budget.Tokens, r.Budget.Tokens)
	set(&e.Budget.Session, r.Budget.Session)
	set(&e.Budget.Limit, r.Budget.Limit)
	r.Answer.apply(&e.Answer, e.Channel)
	set(&e.Answer.MayMention, r.MayMention)
	set(&e.Limits.Day.Person, r.Limits.Day.Person)
	set(&e.Limits.Day.Channel, r.Limits.Day.Channel)
	if r.Hosts != nil {
		e.Links.Hosts = r.Hosts
	}
	e.MayAsk = r.MayAsk
}

// Answering returns the configurations of what answers: that of all channels, and that of each
// rule that has another model or agent, by the rule's place in Channels.
func (c Config) Answering() map[int]Config {
	out := map[int]Config{-1: c}
	for i, r := range c.Channels {
		if r.Model != "" || r.Agent.Kind != "" {
			e := Effective{Config: c, Rule: i}
			e.apply(r)
			out[i] = e.Config
		}
	}
	return out
}

func set[T comparable](to *T, value T) {
	var none T
	if value != none {
		*to = value
	}
}

// apply sets what is set in the settings of all channels, for one of them.
func (a RuleAnswer) apply(all *Answer, id string) {
	for _, x := range []struct {
		to *bool
		is *bool
	}{{&all.AutoAnswer, a.AutoAnswer}, {&all.OwnedThreads, a.OwnedThreads}, {&all.Bots, a.Bots}, {&all.Forms, a.Forms}, {&all.Each, a.Each}, {&all.Cite, a.Cite}} {
		if x.is != nil {
			*x.to = *x.is
		}
	}
	for _, x := range []struct {
		to *[]string
		is *bool
	}{{&all.Ask, a.Ask}, {&all.SendFile, a.SendFile}} {
		if x.is == nil {
			continue
		}
		if *x.to = nil; *x.is {
			*x.to = []string{id}
		}
	}
	if a.Ambient != "" {
		all.Ambient, all.AmbientChannels = a.Ambient, []string{id}
	}
	set(&all.AmbientHourly, a.AmbientHourly)
	set(&all.Language, a.Language)
	set(&all.Place, a.Place)
	if a.Words != nil {
		all.Words = a.Words
	}
}

// Offers reports whether the tools of a server are offered, as far as the rule says it.
func (e Effective) Offers(server string) bool {
	return e.Rule < 0 || e.Channels[e.Rule].Tools == nil || slices.Contains(e.Channels[e.Rule].Tools, server)
}

// checkRules checks the rules of channels.
func (c Config) checkRules(bad problemReport) {
	var well []Rule
	for _, r := range c.Channels {
		if !r.Match.check(r.At, c.Platform, bad) {
			continue
		}
		if before := r.coveredBy(well); len(before) > 0 {
			bad(r.At+".match", "can never be the first that matches: %s before it has these channels already; take one out, or put the narrower one first", strings.Join(before, ", "))
		}
		well = append(well, r)
	}
	for _, r := range c.Channels {
		oneOf := func(key, value string, of ...string) {
			if value != "" && !slices.Contains(of, value) {
				bad(r.At+"."+key, "%q is unknown; use one of %s", value, strings.Join(of, ", "))
			}
		}
		if r.InstructionsOnly && strings.TrimSpace(r.Instructions) == "" {
			bad(r.At+".instructions_only", "needs instructions; set them, or leave it out")
		}
		for _, n := range []struct {
			key        string
			value, top int
		}{{"budget.tokens", r.Budget.Tokens, 10_000_000}, {"budget.session", r.Budget.Session, 10_000_000}, {"budget.limit", r.Budget.Limit, 10_000_000}, {"answer.ambient_hourly", r.Answer.AmbientHourly, 1000}} {
			if n.value < 0 || n.value > n.top {
				bad(r.At+"."+n.key, "is %d; use a number from 1 to %d, or leave it out", n.value, n.top)
			}
		}
		r.checkAnswering(c, bad)
		oneOf("answer.ambient", r.Answer.Ambient, AmbientOff, AmbientReact, AmbientSpeak)
		if a := r.Answer.Ambient; cmp.Or(r.Agent.Kind, c.Agent.Kind) != AgentModel && a != "" && a != AmbientOff {
			bad(r.At+".answer.ambient", "needs a model that decides, and agent.kind is %s; leave it out", cmp.Or(r.Agent.Kind, c.Agent.Kind))
		}
		if r.Answer.Place != "" {
			oneOf("answer.place", r.Answer.Place, PlaceThread, PlaceChannel)
		}
		checkWords(r.At+".answer", r.Answer.Language, r.Answer.Words, bad)
		oneOf("may_mention", r.MayMention, MentionAsker, MentionThread, MentionChannel)
		checkLinkHosts(r.At+".hosts", r.Hosts, bad)
		for _, name := range r.Tools {
			if !slices.ContainsFunc(c.Tools.MCP, func(m MCPServer) bool { return m.Name == name }) {
				bad(r.At+".tools", "%q is no server of tools.mcp; use one of their names, or [] for none", name)
			}
		}
		if r.MayAsk != nil && len(r.MayAsk) == 0 {
			bad(r.At+".may_ask", "names nobody; leave it out where everybody may ask")
		}
		checkIDs(r.At+".may_ask", r.MayAsk, c.Platform, bad)
	}
}

// checkAnswering checks which model or agent answers.
func (r Rule) checkAnswering(c Config, bad problemReport) {
	a, kind := r.Agent, cmp.Or(r.Agent.Kind, c.Agent.Kind)
	switch {
	case r.Model != "" && kind != AgentModel && kind != AgentOpenAI:
		bad(r.At+".model", "has no effect while agent.kind is %s; set agent.kind of the rule to %s, or remove it", kind, AgentModel)
	case a.Kind == "" && (a.URL != "" || a.History != ""):
		bad(r.At+".agent.kind", "is missing; say what answers: %s", strings.Join(agentKinds, ", "))
	case a.Kind == "":
		return
	case !slices.Contains(agentKinds, a.Kind):
		bad(r.At+".agent.kind", "%q is unknown; use one of %s", a.Kind, strings.Join(agentKinds, ", "))
	case a.Kind == AgentModel && a.URL != "":
		bad(r.At+".agent.url", "has no effect while agent.kind is %s; remove it", AgentModel)
	case a.Kind != AgentModel && a.URL == "":
		bad(r.At+".agent.url", "is missing; set it to the address at which the agent is asked")
	}
	if a.History != "" && a.History != HistoryOurs && a.History != HistoryTheirs {
		bad(r.At+".agent.history", "%q is unknown; use one of %s, %s", a.History, HistoryOurs, HistoryTheirs)
	}
}

// checkAgentKey checks that the key of agents goes to one host only.
func (c Config) checkAgentKey(bad problemReport) {
	if c.Keys.AgentKey.Empty() {
		return
	}
	hosts := map[string]bool{}
	for _, of := range c.Answering() {
		if u, err := url.Parse(of.Agent.URL); err == nil && of.Agent.Kind != AgentModel && of.Agent.URL != "" {
			hosts[u.Scheme+"://"+u.Host] = true
		}
	}
	if len(hosts) > 1 {
		bad("EARSHOT_AGENT_KEY", "is one key, and would be sent to %d hosts of agents; put the agents behind one host, or leave the key out", len(hosts))
	}
}

// check checks a match, and reports whether it is well.
func (m Match) check(at, platform string, bad problemReport) bool {
	well := true
	worse := func(key, format string, args ...any) { well = false; bad(at+key, format, args...) }
	if m.ID == nil && m.Name == nil && m.Workspace == nil && m.Kind == nil {
		worse(".match", "is missing; set id, name, workspace or kind: what holds in all channels stands outside of channels")
	}
	for _, l := range []struct {
		key  string
		list List
	}{{"id", m.ID}, {"name", m.Name}, {"workspace", m.Workspace}, {"kind", m.Kind}} {
		if l.list != nil && len(l.list) == 0 {
			worse(".match."+l.key, "is empty; leave it out where each will do")
		}
	}
	checkIDs(".match.id", m.ID, platform, worse)
	checkIDs(".match.workspace", m.Workspace, "", worse)
	for _, glob := range m.Name {
		if _, err := path.Match(glob, ""); err != nil || strings.TrimSpace(glob) != glob || glob == "" {
			worse(".match.name", "%q is no pattern; write letters, * for any of them, ? for one, and [ab] for one of some", glob)
		} else if strings.HasPrefix(glob, "#") {
			worse(".match.name", "%q begins with #; write %s", glob, strings.TrimLeft(glob, "#"))
		}
	}
	for _, kind := range m.Kind {
		if !slices.Contains(kinds, kind) {
			worse(".match.kind", "%q is unknown; use one of %s", kind, strings.Join(kinds, ", "))
		}
	}
	return well
}

// checkIDs checks that a list has ids: a platform's where that is Discord.
func checkIDs(key string, ids []string, platform string, bad problemReport) {
	for _, id := range ids {
		switch {
		case id == "" || strings.ContainsAny(id, " #@<>*\t\n"):
			bad(key, "%q is no id; earshot channels --json lists those of channels, and the platform shows those of people and groups", id)
		case platform == PlatformDiscord && !isSnowflake(id):
			bad(key, "%q is no id; in Discord, switch on Developer Mode under Advanced in your settings, and take Copy ID from its menu", id)
		}
	}
}

// coveredBy returns the keys of the rules that have all channels of r; nil where some are left
// for it.
func (r Rule) coveredBy(before []Rule) []string {
	ids := []string(r.Match.ID)
	if ids == nil {
		ids = []string{""}
	}
	var keys []string
	for _, id := range ids {
		i := slices.IndexFunc(before, func(b Rule) bool { return b.Match.covers(r.Match, id) })
		if i < 0 {
			return nil
		}
		if !slices.Contains(keys, before[i].At) {
			keys = append(keys, before[i].At)
		}
	}
	return keys
}

// ruleAt is the key of a rule in a list.
func ruleAt(i int) string { return fmt.Sprintf("channels[%d]", i) }
