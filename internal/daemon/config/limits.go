package config

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
)

// DayLimits bound what models use on one day of UTC. Each is an amount: see [ParseAmount].
type DayLimits struct {
	Person    string `yaml:"person" json:"person,omitempty" live:"yes" env:"EARSHOT_LIMIT_PERSON" doc:"the most that one person may use on a day (UTC): tokens, such as 200000 or 200k, or money in the currency of model.prices, such as 5.00 EUR. Empty or none: no limit; see operations.md."`
	Channel   string `yaml:"channel" json:"channel,omitempty" live:"yes" env:"EARSHOT_LIMIT_CHANNEL" doc:"the same for one channel."`
	Workspace string `yaml:"workspace" json:"workspace,omitempty" live:"yes" env:"EARSHOT_LIMIT_WORKSPACE" doc:"the same for one workspace."`
	All       string `yaml:"all" json:"all,omitempty" live:"yes" env:"EARSHOT_LIMIT_ALL" doc:"the same for all together."`
}

// A RuleLimits sets the limits of some channels. What is "" is as in all.
type RuleLimits struct {
	Day RuleDay `yaml:"day"`
}

// A RuleDay is the part of [DayLimits] that a rule may set.
type RuleDay struct {
	Person  string `yaml:"person"`
	Channel string `yaml:"channel"`
}

// NoLimit is an amount that is none.
const NoLimit = "none"

// An Amount is the most that may be used.
type Amount struct {
	Most     earshot.Spend // one of the two, or neither
	Currency string        // "" for tokens
}

// String is how the amount is written.
func (a Amount) String() string {
	switch {
	case a.Most == (earshot.Spend{}):
		return NoLimit
	case a.Currency != "":
		return fmt.Sprintf("%.2f %s", float64(a.Most.Cost)/costUnit, a.Currency)
	}
	return fmt.Sprintf("%d tokens", a.Most.Tokens)
}

// The bounds of amounts. Fewer tokens than minTokens are less than a prompt, and probably meant
// as money.
const (
	minTokens = 1000
	maxTokens = 1_000_000_000_000
	maxMoney  = 1_000_000
	costUnit  = 1_000_000 // of a currency's unit, see [earshot.Spend]
)

var (
	tokensForm = regexp.MustCompile(`^([0-9]{1,15})([kM]?)$`)
	moneyForm  = regexp.MustCompile(`^([0-9]{1,9}(?:\.[0-9]{1,6})?) ([A-Z]{3})$`)
)

// ParseAmount reads an amount: a number of tokens, also of thousands (200k) or millions (2M);
// money with the three letters of its currency (5.00 EUR); none, or "". The error is the rest
// of a sentence that begins with the setting.
func ParseAmount(s string) (a Amount, err error) {
	s = strings.TrimSpace(s)
	if s == "" || s == NoLimit {
		return a, nil
	}
	if m := tokensForm.FindStringSubmatch(s); m != nil {
		n, err := strconv.ParseInt(m[1], 10, 64)
		times := map[string]int64{"": 1, "k": 1000, "M": 1_000_000}[m[2]]
		if err != nil || n > maxTokens/times || n*times < minTokens {
			return a, fmt.Errorf("is %s tokens; use from %d to %d, none for no limit, or money with its currency, such as 5.00 EUR", s, minTokens, maxTokens)
		}
		a.Most.Tokens = n * times
		return a, nil
	}
	if m := moneyForm.FindStringSubmatch(s); m != nil {
		x, err := strconv.ParseFloat(m[1], 64)
		if err != nil || !(x > 0 && x <= maxMoney) {
			return a, fmt.Errorf("is %s; use more than 0 and up to %d, or none for no limit", s, maxMoney)
		}
		a.Most.Cost, a.Currency = max(1, int64(math.Round(x*costUnit))), m[2]
		return a, nil
	}
	return a, fmt.Errorf("%q is no amount; write tokens, such as 200000 or 200k, or money with the three letters of its currency, such as 5.00 EUR, or none", s)
}

// amountIn reads an amount that was checked.
func amountIn(s string) earshot.Spend {
	a, err := ParseAmount(s)
	if err != nil {
		return earshot.Spend{}
	}
	return a.Most
}

// MostPerson is the most that a person may use on a day; zero for no limit.
func (d DayLimits) MostPerson() earshot.Spend { return amountIn(d.Person) }

// MostChannel is MostPerson for a channel.
func (d DayLimits) MostChannel() earshot.Spend { return amountIn(d.Channel) }

// MostWorkspace is MostPerson for a workspace.
func (d DayLimits) MostWorkspace() earshot.Spend { return amountIn(d.Workspace) }

// MostAll is MostPerson for all together.
func (d DayLimits) MostAll() earshot.Spend { return amountIn(d.All) }

// A dayLimit is a limit of a day with its key.
type dayLimit struct{ key, value string }

// dayLimits are all limits of a day, those of rules included.
func (c Config) dayLimits() []dayLimit {
	d := c.Limits.Day
	list := []dayLimit{{"limits.day.person", d.Person}, {"limits.day.channel", d.Channel}, {"limits.day.workspace", d.Workspace}, {"limits.day.all", d.All}}
	for _, r := range c.Channels {
		list = append(list, dayLimit{r.At + ".limits.day.person", r.Limits.Day.Person}, dayLimit{r.At + ".limits.day.channel", r.Limits.Day.Channel})
	}
	return list
}

// LimitsDays reports whether there is any limit of a day.
func (c Config) LimitsDays() bool {
	for _, l := range c.dayLimits() {
		if amountIn(l.value) != (earshot.Spend{}) {
			return true
		}
	}
	return false
}

// RulesLimitChannels reports whether a rule limits the days of channels.
func (c Config) RulesLimitChannels() bool {
	for _, r := range c.Channels {
		if r.Limits.Day.Channel != "" {
			return true
		}
	}
	return false
}

// MoneyLimit returns the key of the first limit of a day that is money, and its currency; ""
// where none is.
func (c Config) MoneyLimit() (key, currency string) {
	for _, l := range c.dayLimits() {
		if a, err := ParseAmount(l.value); err == nil && a.Currency != "" {
			return l.key, a.Currency
		}
	}
	return "", ""
}

// checkDayLimits checks the limits of a day.
func (c Config) checkDayLimits(bad problemReport) {
	first, currency := c.MoneyLimit()
	for _, l := range c.dayLimits() {
		a, err := ParseAmount(l.value)
		switch {
		case err != nil:
			bad(l.key, "%v", err)
		case a.Currency != "" && a.Currency != currency:
			bad(l.key, "is in %s, and %s in %s; write both in the currency of model.prices", a.Currency, first, currency)
		}
	}
	if first != "" && len(c.Model.Prices) == 0 {
		bad(first, "is money, and model.prices has no price; add the prices of your models, or write tokens, such as 200k")
	}
}

// describeLimit returns an amount as config explain shows it.
func describeLimit(s string) string { return cmp.Or(strings.TrimSpace(s), NoLimit) }
