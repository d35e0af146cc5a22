package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

// A limitJSON is how much of a limit of the day is used, as --json writes it.
type limitJSON struct {
	Limit     string              `json:"limit"` // person, channel, workspace or all
	Platform  earshot.Platform    `json:"platform,omitempty"`
	Workspace earshot.WorkspaceID `json:"workspace,omitempty"`
	Channel   earshot.ChannelID   `json:"channel,omitempty"`
	Author    earshot.AuthorID    `json:"author,omitempty"`
	Name      string              `json:"name"`
	Unit      string              `json:"unit"` // tokens, or the currency of the prices
	Used      float64             `json:"used"` // with what turns under way may use yet
	Most      float64             `json:"most"`
	Share     float64             `json:"share"` // of Most, 1 where all is used
}

// limits returns how much of the limits of this day is used. The limits are those of the
// configuration, or where it has none those of the daemon of this store that wrote last.
func (l turnStore) limits(ctx context.Context, cfg config.Config) ([]limitJSON, error) {
	if !cfg.LimitsDays() {
		list, err := daemon.Presences(ctx, l.store)
		if err != nil {
			return nil, err
		}
		for _, p := range list {
			if p.Limits != (config.DayLimits{}) {
				cfg.Limits.Day = p.Limits
				break
			}
		}
	}
	uses, err := daemon.LimitUses(ctx, l.store, cfg, earshot.TimeOf(earshot.ClockOf(l.store, time.Now)()))
	if err != nil {
		return nil, err
	}
	_, currency := cfg.MoneyLimit()
	out := []limitJSON{}
	for _, u := range uses {
		x := limitJSON{
			Limit: u.Limit, Platform: u.Of.Platform, Workspace: u.Of.Workspace, Channel: u.Of.Channel, Author: u.Of.Author,
			Unit: "tokens", Used: float64(u.Used.Tokens), Most: float64(u.Most.Tokens), Share: float64(u.Share) / 100,
		}
		if u.Most.Cost > 0 {
			x.Unit, x.Used, x.Most = currency, float64(u.Used.Cost)/1e6, float64(u.Most.Cost)/1e6
		}
		if x.Name, err = l.nameOf(ctx, u.Of); err != nil {
			return nil, err
		}
		out = append(out, x)
	}
	return out, nil
}

// nameOf returns what people call whose limit it is, else its id.
func (l turnStore) nameOf(ctx context.Context, p earshot.Purse) (string, error) {
	switch {
	case p.Author != "":
		list, err := l.store.Authors(ctx, p.Platform, p.Workspace, p.Author)
		if err != nil || len(list) == 0 {
			return string(p.Author), err
		}
		return cmp.Or(list[0].Name, string(p.Author)), nil
	case p.Channel != "":
		list, err := l.store.FindChannels(ctx, earshot.ChannelQuery{Platform: p.Platform, Workspaces: []earshot.WorkspaceID{p.Workspace}, IDs: []earshot.ChannelID{p.Channel}, Limit: 1})
		if err != nil || len(list) == 0 {
			return string(p.Channel), err
		}
		return cmp.Or(list[0].Name, string(p.Channel)), nil
	case p != earshot.Purse{}:
		return string(p.Workspace), nil
	}
	return "everybody", nil
}

// amount writes what of a limit is used, or the limit itself.
func (x limitJSON) amount(of float64) string {
	if x.Unit == "tokens" {
		return plain.Number(int(of)) + " tokens"
	}
	return fmt.Sprintf("%.2f %s", of, plain.Line(x.Unit, 10))
}

func (x limitJSON) percent() string { return fmt.Sprintf("%.0f %%", 100*x.Share) }

// showLimits writes the limits of this day.
func (a *app) showLimits(list []limitJSON) error {
	switch {
	case a.json:
		return a.writeJSON(list)
	case len(list) == 0:
		a.printf("no limit of the day is set: limits.day in the configuration sets them\n")
		return nil
	}
	t := terminal.NewTable("limit", "of", "used today", "limit", "share").Right(2, 3, 4)
	for _, x := range list {
		share := x.percent()
		if x.Share*100 >= earshot.NearLimit {
			share = terminal.Mark(share)
		}
		t.Row(x.Limit, plain.Line(x.Name, 40), x.amount(x.Used), x.amount(x.Most), share)
	}
	a.printf("%s%s\n", t.Render(a.width), terminal.Faint("used counts what turns under way may use yet; the day ends at 00:00 UTC"))
	return nil
}

// limitsLine writes the limits of this day of which most is used, one of each kind; "" where
// there is none.
func limitsLine(list []limitJSON) string {
	var parts []string
	last := ""
	for _, x := range list { // of each kind, what is used most comes first
		if x.Limit != last {
			last = x.Limit
			part := fmt.Sprintf("%s of limits.day.%s", x.percent(), x.Limit)
			if x.Limit != "all" {
				part += " (" + plain.Line(x.Name, 40) + ")"
			}
			parts = append(parts, part)
		}
	}
	if parts == nil {
		return ""
	}
	return "used today: " + strings.Join(parts, ", ")
}
