package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/daemon/providers"
)

// dayLimits are what models may use on a day, by the settings that hold in a channel.
func dayLimits(c config.Config) bot.DayLimits {
	d := c.Limits.Day
	return bot.DayLimits{Person: d.MostPerson(), Channel: d.MostChannel(), Workspace: d.MostWorkspace(), All: d.MostAll(), Count: c.LimitsDays()}
}

// spending says what calls cost for the limits of a day, which may be money. The price of a
// model that has none is the dearest of all: else it would pass every limit.
func spending(c config.Config) bot.Spending {
	prices := c.Model.Prices
	if len(prices) == 0 {
		return bot.Spending{}
	}
	var dearest config.Price
	for _, p := range prices {
		dearest.Input, dearest.Output = max(dearest.Input, p.Input), max(dearest.Output, p.Output)
		dearest.CacheRead, dearest.CacheWrite = max(dearest.CacheRead, p.CacheRead), max(dearest.CacheWrite, p.CacheWrite)
	}
	return bot.Spending{Cost: func(model string, u earshot.Usage) int64 {
		p, ok := PriceOf(prices, model)
		if model == "" || !ok {
			p = dearest
		}
		const most = 1 << 40 // of one call: a million
		return int64(math.Ceil(min(max(0, Cost(p, u)*1e6), most)))
	}}
}

// checkMoney checks that each model has a price where a limit of a day is money.
func checkMoney(c config.Config) error {
	key, _ := c.MoneyLimit()
	if key == "" {
		return nil
	}
	names := map[string]bool{}
	for _, m := range Models(c) {
		if m.Provider != providers.Offline && !m.IsAgent() {
			names[m.Name] = true
		}
	}
	if own := c.Answer.AmbientModel; own != "" && c.ReadsAlong() {
		names[own] = true
	}
	var lacks []string
	for name := range names {
		if _, ok := PriceOf(c.Model.Prices, name); !ok {
			lacks = append(lacks, name)
		}
	}
	if lacks == nil {
		return nil
	}
	slices.Sort(lacks)
	return fmt.Errorf("%s: is money, and model.prices has no price of %s; add it, or write tokens, such as 200k", key, strings.Join(lacks, " and of "))
}

// A LimitUse is how much of a limit of a day is used.
type LimitUse struct {
	Limit string        // person, channel, workspace or all
	Of    earshot.Purse // whose it is
	Used  earshot.Spend // with what turns under way may use yet
	Most  earshot.Spend
	Share int // of Most, in hundredths
}

// LimitUses returns how much of the limits of a day is used, given by any moment of it:
// everybody's, then those of workspaces, channels and people, of each those that are used most
// first. The limits of a rule for people are not among them, as they hold where a person asks.
func LimitUses(ctx context.Context, st earshot.Store, c config.Config, at earshot.Time) ([]LimitUse, error) {
	if !c.LimitsDays() {
		return nil, nil
	}
	sums, err := st.Spent(ctx, at)
	if err != nil {
		return nil, err
	}
	out := []LimitUse{}
	if !slices.ContainsFunc(sums, func(s earshot.PurseSum) bool { return s.Purse == earshot.Purse{} }) {
		sums = append(sums, earshot.PurseSum{})
	}
	for _, s := range sums {
		u := LimitUse{Of: s.Purse, Used: s.Spend}
		switch d := c.Limits.Day; {
		case s.Purse.Author != "":
			u.Limit, u.Most = "person", d.MostPerson()
		case s.Purse.Channel != "":
			u.Limit = "channel"
			if u.Most, err = mostOfChannel(ctx, st, c, s.Purse); err != nil {
				return nil, err
			}
		case s.Purse != earshot.Purse{}:
			u.Limit, u.Most = "workspace", d.MostWorkspace()
		default:
			u.Limit, u.Most = "all", d.MostAll()
		}
		if u.Most != (earshot.Spend{}) {
			u.Share = u.Used.Share(u.Most)
			out = append(out, u)
		}
	}
	order := []string{"all", "workspace", "channel", "person"}
	slices.SortStableFunc(out, func(a, b LimitUse) int {
		return cmp.Or(slices.Index(order, a.Limit)-slices.Index(order, b.Limit), b.Share-a.Share)
	})
	return out, nil
}

// mostOfChannel returns the limit of a channel, which rules may set.
func mostOfChannel(ctx context.Context, st earshot.Store, c config.Config, p earshot.Purse) (earshot.Spend, error) {
	ch := earshot.Channel{Platform: p.Platform, Workspace: p.Workspace, ID: p.Channel}
	if c.RulesLimitChannels() {
		known, err := st.Channel(ctx, ch.Scope())
		switch {
		case err == nil:
			ch = known
		case !errors.Is(err, earshot.ErrNotFound):
			return earshot.Spend{}, err
		}
	}
	return c.For(ch).Limits.Day.MostChannel(), nil
}

// limitUses are [LimitUses] of now, by the configuration as it is now.
func (s sharedParts) limitUses(ctx context.Context) ([]LimitUse, error) {
	return LimitUses(ctx, s.store, s.rules.now.Load().config, earshot.TimeOf(s.options.Outside.clock()))
}

// limitShares returns for each kind of limit the largest share that is used, in hundredths.
func (s sharedParts) limitShares(ctx context.Context) (map[string]int, error) {
	list, err := s.limitUses(ctx)
	shares := map[string]int{}
	for _, u := range list {
		shares[u.Limit] = max(shares[u.Limit], u.Share)
	}
	return shares, err
}
