package bot

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
)

// What holds in a channel is decided by [Options].Rules, once for each event (address.go) and
// once for each turn (claim.go), which reads it as its options.

// in returns the options as they hold in a channel now.
func (b *Bot) in(c earshot.Channel) *Options {
	if b.opts.Rules == nil {
		return &b.opts
	}
	o := b.opts
	o.setRuled(o.Rules(c, o.ruled()).withDefaults(o.Ambient.Model))
	return &o
}

// ruled returns the options that may differ between channels.
func (o *Options) ruled() ChannelOptions {
	return ChannelOptions{
		Policy: o.Policy, Budget: o.Budget, Instructions: o.Instructions, Answer: o.Answer, Ambient: o.Ambient, Ask: o.Ask,
		SendFile: o.SendFile, Day: o.Day, Links: o.Links, MayMention: o.MayMention, MayAsk: o.mayAsk, Model: o.Model, Agent: o.Agent, AgentName: o.agentName, Language: o.Language, Words: o.Words,
	}
}

func (o *Options) setRuled(c ChannelOptions) {
	o.Policy, o.Budget, o.Instructions, o.Answer, o.Ambient, o.Ask = c.Policy, c.Budget, c.Instructions, c.Answer, c.Ambient, c.Ask
	o.SendFile, o.Day, o.Links, o.MayMention, o.mayAsk = c.SendFile, c.Day, c.Links, c.MayMention, c.MayAsk
	o.Language, o.Words = c.Language, c.Words
	if o.Model, o.Agent, o.agentName = c.Model, c.Agent, c.AgentName; c.Agent != nil {
		o.Model = c.Agent
	}
}

// withDefaults sets what is not set; decides is the model that decides where the agent reads
// along.
func (c ChannelOptions) withDefaults(decides llm.Model) ChannelOptions {
	if c.Policy.Name == "" && c.Policy.First == nil {
		c.Policy = assemble.Standard()
	}
	if c.Budget == (assemble.Budget{}) {
		c.Budget = assemble.DefaultBudget()
	}
	a := &c.Answer
	a.BotTurns, a.FormTurns = defaulted(a.BotTurns, 3), defaulted(a.FormTurns, 20)
	a.BotWindow = defaulted(a.BotWindow, 10*time.Minute)
	if a.EditWindow == 0 {
		a.EditWindow = 5 * time.Minute
	}
	if c.Ambient.Hourly = defaulted(c.Ambient.Hourly, 3); c.Ambient.Model == nil {
		c.Ambient.Model = decides
	}
	if c.Ambient.Model == nil { // beside an agent of one's own there may be none
		c.Ambient.Channels = nil
	}
	c.MayMention = cmp.Or(c.MayMention, MentionAsker)
	return c
}

// lets reports whether who asks by an event is one of those who may ask in the channel. Who
// cannot be looked up may not: the message is kept all the same, and says why.
func (b *Bot) lets(ctx context.Context, o *Options, e *Event) bool {
	who := cmp.Or(e.By.ID, e.Message.Author.ID)
	named := func(id string) bool { return slices.Contains(o.mayAsk, id) }
	groups, able := b.platform.(GroupReader)
	switch {
	case len(o.mayAsk) == 0 || named(string(who)):
		return true
	case e.Groups != nil || !able:
		return slices.ContainsFunc(e.Groups, named)
	}
	in, err := groups.InGroups(ctx, e.Channel.Scope(), who, o.mayAsk)
	if err != nil {
		b.log.Warn("the groups of who asks cannot be looked up: they may not ask", "channel", e.Channel.ID, "message", e.Message.ID, "err", err)
	}
	return in && err == nil
}

// MayAsk reports whether somebody is one of those who may ask in a channel, as
// [ChannelOptions].MayAsk says.
func (b *Bot) MayAsk(ctx context.Context, s earshot.Scope, who earshot.AuthorID) bool {
	c, err := b.store.Channel(ctx, s)
	if err != nil {
		c = earshot.Channel{Platform: s.Platform, Workspace: s.Workspace, ID: s.Channel}
	}
	e := Event{Channel: c}
	e.By.ID = who
	return b.lets(ctx, b.in(c), &e)
}

// metaRule is what of the rules the conversation's newest turn was written under: see ruleOf. A
// bot without rules writes none.
const metaRule = "session_rule"

// ruleOf names what of the rules a session has to stay under: the policy and the system text
// of the operator's own, and which agent answers. It is "" for no input.
func ruleOf(in assemble.Input, agent string) string {
	if in.Policy.Name == "" {
		return ""
	}
	under := in.Policy.Name + "\n" + in.Instructions
	if agent != "" {
		under += "\n" + agent
	}
	sum := sha256.Sum256([]byte(under))
	return hex.EncodeToString(sum[:8])
}
