package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
)

func TestAnAmountIsTokensOrMoney(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "none", "none": "none", " none ": "none",
		"1000": "1000 tokens", "200000": "200000 tokens", "200k": "200000 tokens", "2M": "2000000 tokens", "1000000000000": "1000000000000 tokens",
		"5 EUR": "5.00 EUR", "5.00 USD": "5.00 USD", "0.5 CHF": "0.50 CHF", "1000000 JPY": "1000000.00 JPY",
	} {
		a, err := config.ParseAmount(text)
		if err != nil || a.String() != want {
			t.Errorf("%q is %q, %v; want %q", text, a, err, want)
		}
	}
	if a, err := config.ParseAmount("0.000001 EUR"); err != nil || a.Most != (earshot.Spend{Cost: 1}) {
		t.Errorf("the least: %+v, %v", a, err)
	}
}

func TestWhatIsNoAmountIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"-1", "-5 EUR", "0", "5", "999", "0k", "1e9", "1e400", "NaN", "NaN EUR", "Inf", "inf EUR", "0x10", "1_000", "1,000", "200 k", "200K", "1.5k", "999999999999999M", "9223372036854775808",
		"1000000000001", "18446744073709552616", "5 eur", "5 EURO", "5EUR", "$5", "€5", "EUR 5", "5 coins", "0 EUR", "0.0000001 EUR", "1000001 EUR", "999999999 EUR", "5.00 EUR\nnone x", "٥٠٠٠", "no",
	} {
		if a, err := config.ParseAmount(text); err == nil {
			t.Errorf("%q is %s", text, a)
		}
	}
}

func TestFaultsOfDayLimitsAreRefused(t *testing.T) {
	t.Parallel()
	_, err := config.Load(write(t, `limits:
  day: {person: -1, channel: 5.00 USD, workspace: 5 coins, all: 12, team: 1000}
channels:
  - match: {id: C1}
    limits: {day: {channel: 3.00 EUR, all: 1000}}
`), nil)
	if err == nil {
		t.Fatal("it is taken")
	}
	for _, want := range []string{
		"limits.day.team: unknown key; use one of all, channel, person, workspace", `limits.day.person: "-1" is no amount`, `limits.day.workspace: "5 coins" is no amount; write tokens, such as 200000 or 200k, or money`,
		"limits.day.all: is 12 tokens; use from 1000", "channels[0].limits.day.all: unknown key; use one of channel, person", "channels[0].limits.day.channel: is in EUR, and limits.day.channel in USD",
		"limits.day.channel: is money, and model.prices has no price; add the prices of your models, or write tokens, such as 200k",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
	for _, price := range []string{".nan", ".inf", "1e300"} {
		_, err := config.Load(write(t, "model:\n  prices:\n    m: {input: "+price+"}\n"), nil)
		if err == nil || !strings.Contains(err.Error(), "model.prices.m: has a price that is no number up to 1000000") {
			t.Errorf("a price of %s: %v", price, err)
		}
	}
}

func TestARuleLimitsTheDayOfItsChannels(t *testing.T) {
	t.Parallel()
	c := load(t, `limits: {day: {person: 200k, channel: 1M, all: 5M}}
channels:
  - match: {id: C1}
    limits: {day: {channel: 50k}}
  - match: {kind: private}
    limits: {day: {channel: none, person: 10k}}
`)
	for _, x := range []struct {
		in              earshot.Channel
		person, channel int64
	}{{inGeneral, 200_000, 50_000}, {inIncidents, 10_000, 0}, {inDM, 200_000, 1_000_000}} {
		d := c.For(x.in).Limits.Day
		if d.MostPerson().Tokens != x.person || d.MostChannel().Tokens != x.channel || d.MostAll().Tokens != 5_000_000 || d.MostWorkspace() != (earshot.Spend{}) {
			t.Errorf("in %s: %+v", x.in.ID, d)
		}
	}
	if !c.LimitsDays() || !c.RulesLimitChannels() || (config.Config{}).LimitsDays() {
		t.Error("whether anything is limited is wrong")
	}
	if !load(t, "channels: {C1: {limits: {day: {person: 10k}}}}\n").LimitsDays() {
		t.Error("a rule alone limits nothing")
	}
}

// The limits of a day are taken up while the bot runs, and config explain shows whose they are.
func TestDayLimitsAreTakenUpAndExplained(t *testing.T) {
	t.Parallel()
	was, next := load(t, "limits: {day: {person: 200k}}\n"), load(t, "limits: {rounds: 3, day: {person: 300k, all: 2M}}\n")
	now, restart := was.TakeUp(next)
	if now.Limits.Day != next.Limits.Day || !cmp.Equal(restart, []string{"limits.rounds"}) {
		t.Errorf("taken up %+v, a restart for %q", now.Limits.Day, restart)
	}
	path := write(t, "limits: {day: {person: 200k}}\nchannels: {C1: {limits: {day: {channel: 2.50 EUR}}}}\nmodel: {prices: {m: {input: 1}}}\n")
	c, sources, err := config.LoadSources(path, []string{"EARSHOT_LIMIT_PERSON=300k"})
	if err != nil {
		t.Fatal(err)
	}
	var got []config.Setting
	for _, s := range c.For(inGeneral).Settings(sources) {
		if strings.HasPrefix(s.Key, "limits.") {
			got = append(got, s)
		}
	}
	want := []config.Setting{{Key: "limits.day.person", Value: "300k", From: []string{"EARSHOT_LIMIT_PERSON"}}, {Key: "limits.day.channel", Value: "2.50 EUR", From: []string{path + ":2"}}}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
}
