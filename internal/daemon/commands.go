package daemon

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/words"
)

// Commands do what people say by a platform's commands. Each is about who uses it: what
// it tells, they alone see, and it is nothing that they could not read in the channel.
type commands struct {
	sharedParts
	bot *bot.Bot
	who earshot.Identity
}

func (s sharedParts) newCommands(b *bot.Bot, who earshot.Identity) *commands {
	return &commands{s, b, who}
}

// lookedBack is among how many of a channel's newest answers the last one to somebody is
// looked for.
const lookedBack = 200

// do does a command and returns what its person is told.
func (c *commands) do(ctx context.Context, x bot.Command) (string, error) {
	switch x.Name {
	case bot.CommandAsk:
		if !c.bot.MayAsk(ctx, x.Scope, x.By.ID) {
			return c.say(ctx, x, words.NotAllowed), nil
		}
		return "", nil
	case bot.CommandHelp:
		return c.help(ctx, x), nil
	case bot.CommandStop:
		n, err := c.bot.StopAsked(ctx, x.Scope, x.By.ID)
		if err != nil || n == 0 {
			return c.say(ctx, x, words.NotAnswering), err
		}
		return c.say(ctx, x, words.StoppedHere), nil
	case bot.CommandWhy:
		return c.why(ctx, x)
	case bot.CommandForget:
		return c.forget(ctx, x)
	case bot.CommandHome:
		return c.home(ctx, x)
	}
	return "", fmt.Errorf("there is no command %q", x.Name)
}

func (c *commands) say(ctx context.Context, x bot.Command, k words.Key, with ...string) string {
	return c.bot.Say(ctx, x.Scope, string(k), with...)
}

func (c *commands) help(ctx context.Context, x bot.Command) string {
	return c.say(ctx, x, words.Help, "ask", x.Prefix+bot.CommandAsk, "stop", x.Prefix+bot.CommandStop, "why", x.Prefix+bot.CommandWhy, "forget", x.Prefix+bot.CommandForget)
}

// why tells what was read for the last answer to somebody in a channel.
func (c *commands) why(ctx context.Context, x bot.Command) (string, error) {
	list, err := c.store.QueuedTurns(ctx, earshot.TurnQuery{Agent: earshot.AgentID(c.who.ID), Scope: &x.Scope, States: []earshot.TurnState{earshot.TurnDone}, Limit: lookedBack})
	if err != nil {
		return "", fmt.Errorf("look up answers: %w", err)
	}
	for _, q := range list {
		if asked, err := c.bot.HasAsked(ctx, q, x.By.ID); err != nil {
			return "", err
		} else if !asked {
			continue
		}
		turn, err := c.store.Turn(ctx, q.Conversation, q.Number)
		if err == nil && turn.Answer.Anchor == q.Anchor {
			return c.read(ctx, x, q, turn), nil
		}
		if err != nil && !errors.Is(err, earshot.ErrNotFound) {
			return "", fmt.Errorf("look up an answer: %w", err)
		}
	}
	return c.say(ctx, x, words.NoAnswerYet), nil
}

// read tells what was read for a turn.
func (c *commands) read(ctx context.Context, x bot.Command, q earshot.QueuedTurn, turn earshot.Turn) string {
	var all, thread, found, left int
	for _, row := range turn.Ledger {
		section := assemble.SectionName(row.Section)
		switch {
		case row.Verdict == earshot.Out:
			left++
			continue
		case section == assemble.Recall:
			found++
		case section == assemble.Thread || section == assemble.Chain || section == assemble.Transcript:
			thread++
		}
		all++
	}
	n := strconv.Itoa
	text := c.say(ctx, x, words.WhyRead, "number", n(all), "thread", n(thread), "channel", n(all-thread-found), "found", n(found), "left", n(left))
	if at := c.options.Config.Inspect.URL; at != "" {
		text += "\n" + c.say(ctx, x, words.WhyLink, "link", fmt.Sprintf("%s/turns/%d", strings.TrimRight(at, "/"), q.ID))
	}
	return text
}

// forget begins to erase what somebody said; a daemon's eraser goes on with it.
func (c *commands) forget(ctx context.Context, x bot.Command) (string, error) {
	if !c.rules.now.Load().config.Answer.Forget {
		return c.say(ctx, x, words.ForgetOff), nil
	}
	e, err := c.store.BeginErasure(ctx, personErasure(x))
	if err != nil {
		return "", fmt.Errorf("begin to erase what a person said: %w", err)
	}
	select {
	case c.erase <- struct{}{}:
	default: // the eraser is about to look
	}
	c.options.Log.Info("a person has what they said erased", "erasure", e.ID, "author", x.By.ID)
	return c.say(ctx, x, words.ForgetBegun), nil
}

func personErasure(x bot.Command) earshot.ErasureOf {
	return earshot.ErasureOf{Platform: x.Scope.Platform, Workspace: x.Scope.Workspace, User: x.By.ID}
}

// home tells what the bot has of somebody, what it keeps, what it waits for, and how to ask it.
func (c *commands) home(ctx context.Context, x bot.Command) (string, error) {
	has, err := c.store.PlanErasure(ctx, personErasure(x)) // who has said nothing is unknown
	if err != nil && !errors.Is(err, earshot.ErrNotFound) {
		return "", fmt.Errorf("count what a person said: %w", err)
	}
	keeps := c.say(ctx, x, words.HomeForever)
	if days := c.options.Config.Retention.Days; days != config.KeepForever && days != config.KeepNone && days != "" {
		keeps = c.say(ctx, x, words.HomeKeeps, "number", days)
	}
	parts := []string{c.say(ctx, x, words.HomeKnows, "number", strconv.Itoa(has.Messages)), keeps}
	waits, err := c.waitsFor(ctx, x)
	if err != nil {
		return "", err
	}
	if waits != "" {
		parts = append(parts, c.say(ctx, x, words.HomeAsks)+"\n"+waits)
	}
	return strings.Join(append(parts, c.say(ctx, x, words.HomeAsk)+"\n"+c.help(ctx, x)), "\n\n"), nil
}

// mostOpen is how many open questions to somebody are told.
const mostOpen = 10

// waitsFor lists what somebody is asked and has not decided, as links where the platform has
// them.
func (c *commands) waitsFor(ctx context.Context, x bot.Command) (string, error) {
	open, err := c.store.Approvals(ctx, earshot.ApprovalQuery{Agent: earshot.AgentID(c.who.ID), States: []earshot.ApprovalState{earshot.ApprovalOpen}, Limit: 1000})
	if err != nil {
		return "", fmt.Errorf("look up what is asked: %w", err)
	}
	var lines []string
	for _, a := range open {
		at := a.Conversation.Scope
		if a.Asker != x.By.ID || at.Platform != x.Scope.Platform || at.Workspace != x.Scope.Workspace || len(lines) == mostOpen {
			continue
		}
		line := "- `" + a.Tool + "`"
		if in, err := c.store.Channel(ctx, at); err == nil && in.Name != "" {
			line += " #" + in.Name
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n"), nil
}
