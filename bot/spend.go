package bot

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
)

// What models use is counted in the store by the day of UTC, for all replicas. Before a turn
// begins, it holds there what its prompt and the longest answer may use; a turn that would
// pass a limit with it is not begun (settle_limit.go). Each answer of a model takes from what
// is held what it has used. A turn that has begun is finished, but where a limit is passed
// meanwhile its tools are called no further.

// DayLimits bound what is used on one day of UTC. A zero limit is none.
type DayLimits struct {
	Person    earshot.Spend // by one person in a workspace; ambient turns are nobody's
	Channel   earshot.Spend // in one channel
	Workspace earshot.Spend
	All       earshot.Spend
	Count     bool // counts where there is no limit too
}

// counts reports whether what is used is counted.
func (l DayLimits) counts() bool { return l.Count || l.limits() }

// limits reports whether there is any limit.
func (l DayLimits) limits() bool {
	none := earshot.Spend{}
	return l.Person != none || l.Channel != none || l.Workspace != none || l.All != none
}

// Spending says what models cost, and is told of limits. Its functions are safe for
// concurrent use.
type Spending struct {
	// Cost returns what a call costs, in the unit of [earshot.Spend]; model is "" before a
	// call, where the dearest counts that may answer. nil: nothing costs.
	Cost func(model string, u earshot.Usage) int64
	// Near is told once a day of each purse that has come to [earshot.NearLimit] of its
	// limit, by the replica whose turn it was; nil is fine.
	Near func(sum earshot.PurseSum, most earshot.Spend)
}

// spendOf returns what a call counts as: all its tokens, those of the cache too.
func (s Spending) spendOf(model string, u earshot.Usage) earshot.Spend {
	x := earshot.Spend{Tokens: int64(max(0, u.Input)) + int64(max(0, u.Output)) + int64(max(0, u.CacheRead)) + int64(max(0, u.CacheWrite))}
	if s.Cost != nil {
		x.Cost = max(0, s.Cost(model, u))
	}
	return x
}

// A turnSpend is what a turn holds of the day's limits.
type turnSpend struct {
	held   earshot.Spend
	prompt int  // the tokens of its prompt
	begun  bool // it has held something
	late   bool // who has called it while it read along is within their limit
	passed bool // a limit was passed meanwhile
}

// purses returns whose use the turn's is, with their limits; nil where nothing is counted. They
// are the same for as long as there is the turn: of one that began by reading along the person's
// is not among them, also once they call the agent (latePurse).
func (t *turn) purses() []earshot.PurseLimit {
	l, at := t.opts.Day, t.scope()
	if !l.counts() {
		return nil
	}
	workspace := earshot.Purse{Platform: at.Platform, Workspace: at.Workspace}
	channel, person := workspace, workspace
	channel.Channel, person.Author = at.Channel, t.place.Asker().ID
	list := []earshot.PurseLimit{{Most: l.All}, {Purse: workspace, Most: l.Workspace}, {Purse: channel, Most: l.Channel}}
	if person.Author != "" && !t.queued.Ambient() {
		list = append(list, earshot.PurseLimit{Purse: person, Most: l.Person})
	}
	if workspace == (earshot.Purse{}) {
		list = list[1:]
	}
	return list
}

// latePurse returns the purse of who has called the agent while it read along; false where there
// is none. It is charged beside those of the turn, and nothing is held of it.
func (t *turn) latePurse() (earshot.PurseLimit, bool) {
	at, who := t.scope(), t.place.Asker().ID
	l := earshot.PurseLimit{Purse: earshot.Purse{Platform: at.Platform, Workspace: at.Workspace, Author: who}, Most: t.opts.Day.Person}
	return l, t.opts.Day.counts() && t.queued.Ambient() && !t.ambient && who != ""
}

// wouldPass reports whether a purse of which nothing is held would pass its limit.
func (t *turn) wouldPass(ctx context.Context, l earshot.PurseLimit, by earshot.Spend) (earshot.SpendResult, bool, error) {
	r, err := t.store.Spend(ctx, earshot.SpendChange{Day: t.now(), Purses: []earshot.PurseLimit{l}})
	if err != nil {
		return r, false, fmt.Errorf("count what is spent: %w", err)
	}
	r.Full = []earshot.Purse{l.Purse}
	return r, r.Sums[0].Spend.Plus(by).Over(l.Most), nil
}

// reserve holds what a prompt and the longest answer to it may use. A turn that would pass a
// limit is ended, and done is true. One that has begun before only counts.
func (t *turn) reserve(ctx, hard context.Context, p prompt) (done bool, err error) {
	purses := t.purses()
	if purses == nil {
		return false, nil
	}
	t.spent.prompt = p.result.Tokens.Total
	longest := t.opts.MaxTokens
	if longest <= 0 {
		longest = llm.DefaultMaxTokens
	}
	hold := t.opts.Spending.spendOf("", earshot.Usage{Input: t.spent.prompt, Output: longest})
	begun := t.spent.begun || t.queued.Hash != ""
	if late, called := t.latePurse(); called && !t.spent.late && t.queued.Hash == "" {
		if r, over, err := t.wouldPass(ctx, late, hold); err != nil || over {
			if err == nil {
				err = t.refuseSpend(hard, p, []earshot.PurseLimit{late}, r)
			}
			return true, err
		}
		t.spent.late = true
	}
	c := earshot.SpendChange{Turn: t.queued.ID, Day: t.now(), Held: hold, Purses: purses, Bounded: !begun}
	r, err := t.store.Spend(ctx, c)
	if err != nil {
		return false, fmt.Errorf("count what is spent: %w", err)
	}
	if r.Full != nil {
		return true, t.refuseSpend(hard, p, purses, r)
	}
	t.spent.held, t.spent.begun = hold, true
	t.tellNear(r, purses)
	return false, nil
}

// charge counts what a response has used; its turn holds on to what a further one may use.
// The response is kept where that fails.
func (t *turn) charge(ctx context.Context, a llm.Response) {
	purses := t.purses()
	if purses == nil {
		return
	}
	u := a.Usage
	if u == (earshot.Usage{}) {
		u.Input = t.spent.prompt // it tells none
	}
	if len(a.Calls()) == 0 {
		t.spent.held = earshot.Spend{}
	}
	used := t.opts.Spending.spendOf(a.Model, u)
	if late, called := t.latePurse(); called {
		_, err := t.store.Spend(context.WithoutCancel(ctx), earshot.SpendChange{Day: t.now(), Used: used, Purses: []earshot.PurseLimit{late}})
		if err != nil {
			t.log.Warn("what a model used is not counted for the day's limits", "err", err)
		}
	}
	t.changeSpend(ctx, earshot.SpendChange{Used: used, Held: t.spent.held, Purses: purses})
}

// giveBackSpend ends what the turn holds.
func (t *turn) giveBackSpend(ctx context.Context) {
	if purses := t.purses(); purses != nil && t.spent.held != (earshot.Spend{}) {
		t.spent.held = earshot.Spend{}
		t.changeSpend(ctx, earshot.SpendChange{Purses: purses})
	}
}

// changeSpend counts what has happened. It is done even where the turn is ending.
func (t *turn) changeSpend(ctx context.Context, c earshot.SpendChange) {
	c.Turn, c.Day = t.queued.ID, t.now()
	r, err := t.store.Spend(context.WithoutCancel(ctx), c)
	if err != nil {
		t.log.Warn("what a model used is not counted for the day's limits", "err", err)
		return
	}
	for i, s := range r.Sums {
		t.spent.passed = t.spent.passed || s.Spend.Over(c.Purses[i].Most)
	}
	t.tellNear(r, c.Purses)
}

// tellNear tells the operator which limits are near.
func (t *turn) tellNear(r earshot.SpendResult, purses []earshot.PurseLimit) {
	for i, s := range r.Sums {
		for _, near := range r.Near {
			if near != s.Purse {
				continue
			}
			t.log.Warn("a limit of the day is near", "limit", limitOf(near), "of", visible(cut(purseName(near), 80)),
				"percent", s.Spend.Share(purses[i].Most), "opens", nextDay(s.Day).UTC())
			if t.opts.Spending.Near != nil {
				t.opts.Spending.Near(s, purses[i].Most)
			}
		}
	}
}

// The settings of limits.
const (
	limitPerson    = "limits.day.person"
	limitChannel   = "limits.day.channel"
	limitWorkspace = "limits.day.workspace"
	limitAll       = "limits.day.all"
)

// limitOf names the limit of a purse as its setting does.
func limitOf(p earshot.Purse) string {
	switch {
	case p.Author != "":
		return limitPerson
	case p.Channel != "":
		return limitChannel
	case p != (earshot.Purse{}):
		return limitWorkspace
	}
	return limitAll
}

// purseName is the id of whose purse it is.
func purseName(p earshot.Purse) string {
	switch {
	case p.Author != "":
		return string(p.Author)
	case p.Channel != "":
		return string(p.Channel)
	case p != (earshot.Purse{}):
		return string(p.Workspace)
	}
	return "all"
}

// nextDay returns when the next day begins.
func nextDay(day earshot.Time) earshot.Time { return earshot.DayOf(day) + 24*60*60*1_000_000 }
