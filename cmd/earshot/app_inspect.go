package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/terminal"
)

// An inspectAddress is the address of the flag --inspect, whose value may be left out.
type inspectAddress string

// Decode implements [kong.MapperValue].
func (i *inspectAddress) Decode(c *kong.DecodeContext) error {
	*i = config.InspectListen
	next := c.Scan.Peek()
	s, ok := next.Value.(string)
	if !ok || next.Type != kong.FlagValueToken && strings.HasPrefix(s, "-") {
		return nil // the end, or the next flag
	}
	*i = inspectAddress(s)
	c.Scan.Pop()
	return nil
}

// inspectLines says where the inspector is. Where a token is asked for, the link has it.
func inspectLines(d *daemon.Daemon) string {
	s := terminal.Strong("See what the bot saw: " + d.Visit)
	if d.InspectGenerated {
		s += "\n" + terminal.Faint("the link has a token that is valid until this process ends; EARSHOT_INSPECT_TOKEN sets one that stays")
	}
	return s
}

// pageOf returns the address of a turn's page on a daemon that serves the inspector over
// this store. Where none runs, it is that of the default address; runs is false then.
func pageOf(ctx context.Context, st earshot.Notes, turn earshot.TurnID) (page string, runs bool) {
	at := "http://" + config.InspectListen
	list, err := daemon.Presences(ctx, st)
	if err == nil {
		now := earshot.TimeOf(earshot.ClockOf(st, time.Now)())
		for _, p := range list {
			if p.Inspect != "" && p.Running(now) {
				at, runs = p.Inspect, true
			}
		}
	}
	return fmt.Sprintf("%s/turns/%d", at, turn), runs
}
