package daemon

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/yamlfile"
)

// Rules are what holds in each channel, by the configuration as it is now: the one place that
// is asked for it.
type rules struct {
	now      atomic.Pointer[ruleSet]
	brains   brains // made at the start, after the rules
	standing brain
}

// A ruleSet is a configuration with the policies that it names.
type ruleSet struct {
	config   config.Config
	policies map[string]assemble.Policy // by the setting
}

// newRules reads the policies that the rules of the configuration name. standing is that of
// the setting policy.
func newRules(c config.Config, standing assemble.Policy) (*rules, error) {
	set, err := newRuleSet(c, standing)
	if err != nil {
		return nil, err
	}
	r := &rules{standing: brainOf(c)}
	r.now.Store(set)
	return r, nil
}

func newRuleSet(c config.Config, standing assemble.Policy) (*ruleSet, error) {
	set := &ruleSet{config: c, policies: map[string]assemble.Policy{c.Policy: standing}}
	var problems []error
	for _, r := range c.Channels {
		if _, known := set.policies[r.Policy]; known || r.Policy == "" {
			continue
		}
		p, ok := assemble.ByName(r.Policy)
		if !ok {
			var err error
			if p, err = yamlfile.ReadPolicy(r.Policy); err != nil {
				problems = append(problems, fmt.Errorf("%s.policy: %w; name a built-in policy or a policy file", r.At, err))
			}
		}
		set.policies[r.Policy] = p
	}
	return set, errors.Join(problems...)
}

// Reload takes up the settings of a configuration that may change while the bot runs, for
// events and turns that begin from now on, and logs which changed settings need a restart. On
// an error nothing changes.
func (d *Daemon) Reload(next config.Config) error {
	now, restart := d.rules.now.Load().config.TakeUp(next)
	if err := checkMoney(now); err != nil {
		return err
	}
	set, err := newRuleSet(now, d.options.Policy)
	if err != nil {
		return err
	}
	if err := d.rules.brains.checkAll(now, d.rules.standing); err != nil {
		return err
	}
	d.rules.now.Store(set)
	d.options.Log.Info("the configuration was taken up", "rules", len(now.Channels))
	if len(restart) > 0 {
		d.options.Log.Warn("settings have changed that need a restart", "settings", strings.Join(restart, ", "))
	}
	return nil
}

// policy returns the policy of settings that hold in a channel.
func (s *ruleSet) policy(c config.Config) assemble.Policy {
	return limitForSlack(c, s.policies[c.Policy])
}

// policy returns the policy that holds in a channel.
func (r *rules) policy(c earshot.Channel) assemble.Policy {
	s := r.now.Load()
	return s.policy(s.config.For(c).Config)
}

// showsChannels reports whether any channel has a policy that shows the channel around a
// thread.
func (r *rules) showsChannels() bool {
	s := r.now.Load()
	if showsChannel(s.policy(s.config)) {
		return true
	}
	return slices.ContainsFunc(s.config.Channels, func(r config.Rule) bool { return r.Policy != "" && showsChannel(s.policies[r.Policy]) })
}

// offers reports whether the tools of a server are offered in a channel.
func (r *rules) offers(server string, c earshot.Channel) bool {
	return r.now.Load().config.For(c).Offers(server)
}

// inChannel returns what holds in a channel, for [bot.Options].Rules. all has the model that
// decides where the bot reads along.
func (r *rules) inChannel(c earshot.Channel, all bot.ChannelOptions) bot.ChannelOptions {
	s := r.now.Load()
	e := s.config.For(c)
	o := bot.ChannelOptions{
		Model: all.Model, Agent: all.Agent, AgentName: all.AgentName,
		Policy: s.policy(e.Config), Budget: e.Budget.Assemble(), Instructions: e.Agent.Instructions,
		Answer: bot.Answer{
			Roots: e.Answer.AutoAnswer, OwnedThreads: e.Answer.OwnedThreads, Bots: e.Answer.Bots, Each: e.Answer.Each, PreviewWait: previewWait(e.Config),
			Cite: e.Answer.Cite, Place: bot.AnswerPlace(e.Answer.Place), Feedback: e.Answer.Feedback == config.FeedbackButtons,
			BotTurns: e.Answer.BotTurns, BotWindow: time.Duration(e.Answer.BotMinutes) * time.Minute,
			NoForms: !e.Answer.Forms, FormTurns: e.Answer.FormTurns, EditWindow: editWindow(e.Answer.EditMinutes),
		},
		Ambient: ambientIn(e.Config, all.Ambient), Ask: placesIn(e.Answer.Ask), SendFile: bot.SendFile(placesIn(e.Answer.SendFile)),
		Day: dayLimits(e.Config), Links: e.Links.Hosts, MayMention: bot.MayMention(e.Answer.MayMention), MayAsk: e.MayAsk,
		Language: e.Answer.Language, Words: e.Answer.Words,
	}
	r.brains.set(e.Config, r.standing, &o)
	return o
}

// ambientIn returns where the bot reads along.
func ambientIn(c config.Config, all bot.Ambient) bot.Ambient {
	a := bot.Ambient{Speak: c.Answer.Ambient == config.AmbientSpeak, Hourly: c.Answer.AmbientHourly, Model: all.Model}
	if c.Answer.Ambient != config.AmbientOff {
		for _, id := range c.Answer.AmbientChannels {
			a.Channels = append(a.Channels, earshot.ChannelID(id))
		}
	}
	return a
}

// sendsFiles returns where the model may send files: everywhere, as far as is known, where a
// rule says so of some channels.
func sendsFiles(c config.Config) bot.SendFile {
	a := placesIn(c.Answer.SendFile)
	for _, r := range c.Channels {
		a.All = a.All || r.Answer.SendFile != nil && *r.Answer.SendFile
	}
	return bot.SendFile(a)
}
