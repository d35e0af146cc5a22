package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

// A command runs a line that begins with a slash. rest is the line after its name.
type command struct {
	name, args, help string
	run              func(t *console, ctx context.Context, rest string) error
}

// errQuit ends the terminal.
var errQuit = errors.New("quit")

// commands is a function because /help, one of them, lists them all.
func commands() []command {
	return []command{
		{"as", "NAME", "speak as somebody else", (*console).as},
		{"channel", "[NAME]", "go to a channel, made if need be; without a name, list them", (*console).goTo},
		{"dm", "", "write to the bot directly", (*console).dm},
		{"thread", "[N]", "speak in the thread of message N; without a number, leave it", (*console).enter},
		{"edit", "N TEXT", "change a message of yours", (*console).edit},
		{"delete", "N", "take a message of yours back", (*console).remove},
		{"react", "N EMOJI", "react to a message, with an emoji's name", (*console).react},
		{"unreact", "N EMOJI", "take a reaction of yours back", (*console).unreact},
		{"choose", "[N CHOICE [WORDS]]", "choose what message N offers, by its number or name; without a number, list what there is", (*console).choose},
		{"file", "PATH [TEXT]", "share a file", (*console).file},
		{"history", "[N]", "show the newest N messages here", (*console).history},
		{"why", "", "show what the last answer here was made of", (*console).why},
		{"help", "", "list what there is", (*console).help},
		{"quit", "", "leave", func(*console, context.Context, string) error { return errQuit }},
	}
}

// line runs a line and reports whether it was the last. A line that begins with two
// slashes is a message that begins with one.
func (t *console) line(ctx context.Context, line string) (quit bool) {
	if line == "" {
		return false
	}
	var err error
	if name, ok := strings.CutPrefix(line, "/"); !ok || strings.HasPrefix(name, "/") {
		err = t.say(ctx, NewMessage{Text: name})
	} else {
		name, rest, _ := strings.Cut(name, " ")
		err = fmt.Errorf("there is no /%s; /help lists what there is", name)
		for _, c := range commands() {
			if c.name == name {
				err = c.run(t, ctx, strings.TrimSpace(rest))
			}
		}
	}
	if errors.Is(err, errQuit) {
		return true
	}
	if err != nil && ctx.Err() == nil {
		t.write(terminal.Bad(plain.Line(err.Error(), 400)) + "\n")
	}
	return false
}

func (t *console) say(ctx context.Context, s NewMessage) error {
	s.Channel, s.As, s.Thread = string(t.channel.ID), string(t.who.ID), t.thread
	t.mu.Lock()
	t.typed = t.who.ID
	t.mu.Unlock()
	result, err := t.chat.Say(ctx, s)
	if err != nil {
		return err
	}
	if result.Turn != 0 && !t.screen.Live && t.screen.Wait != nil {
		return t.screen.Wait(ctx, result.Turn)
	}
	return nil
}

// target parses the message number at the beginning of a command's arguments.
func (t *console) target(rest string) (p place, more string, err error) {
	first, more, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(strings.Trim(first, "[]"))
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil || n < 1 || n > len(t.shown) {
		return place{}, "", fmt.Errorf("which message? give the number that stands before it, 1 to %d", len(t.shown))
	}
	return t.shown[n-1], strings.TrimSpace(more), nil
}

func (t *console) as(ctx context.Context, rest string) error {
	who, err := t.chat.person(ctx, rest, false)
	if err == nil {
		t.who = who
		t.write(terminal.Faint("You are "+plain.Line(who.Name, 40)+".") + "\n")
	}
	return err
}

func (t *console) goTo(ctx context.Context, rest string) error {
	if rest == "" {
		list, err := t.chat.Channels(ctx)
		for _, c := range list {
			t.write(fmt.Sprintf("#%s  %s\n", plain.Line(c.Name, 40), terminal.Faint(plain.Count(c.Messages, "message"))))
		}
		return err
	}
	c, err := t.chat.Channel(ctx, rest)
	if err == nil {
		t.channel, t.thread = c, ""
		t.write(terminal.Faint("You are in #"+plain.Line(c.Name, 40)+".") + "\n")
	}
	return err
}

func (t *console) dm(ctx context.Context, _ string) error {
	c, err := t.chat.DM(ctx, string(t.who.ID))
	if err == nil {
		t.channel, t.thread = c, ""
		t.write(terminal.Faint("You write to "+t.chat.o.Agent.Name+" directly.") + "\n")
	}
	return err
}

func (t *console) enter(ctx context.Context, rest string) error {
	if rest == "" {
		t.thread = ""
		t.write(terminal.Faint("You left the thread.") + "\n")
		return nil
	}
	p, _, err := t.target(rest)
	if err != nil {
		return err
	}
	if p.scope != t.channel.Scope() {
		return errors.New("that message is in another channel; go there first with /channel")
	}
	m, err := t.chat.store.Message(ctx, p.scope, p.id)
	if err != nil {
		return err
	}
	if t.thread = m.Root(); t.thread == "" {
		t.thread = m.ID
	}
	t.write(terminal.Faint("You speak in its thread now; /thread leaves it.") + "\n")
	return nil
}

func (t *console) edit(ctx context.Context, rest string) error {
	p, text, err := t.target(rest)
	if err == nil {
		_, err = t.chat.Edit(ctx, string(p.scope.Channel), p.id, string(t.who.ID), text)
	}
	return err
}

func (t *console) remove(ctx context.Context, rest string) error {
	p, _, err := t.target(rest)
	if err == nil {
		err = t.chat.Delete(ctx, string(p.scope.Channel), p.id, string(t.who.ID))
	}
	return err
}

func (t *console) react(ctx context.Context, rest string) error {
	p, name, err := t.target(rest)
	if err == nil {
		_, err = t.chat.React(ctx, string(p.scope.Channel), p.id, string(t.who.ID), name)
	}
	return err
}

func (t *console) unreact(ctx context.Context, rest string) error {
	p, name, err := t.target(rest)
	if err == nil {
		_, err = t.chat.Unreact(ctx, string(p.scope.Channel), p.id, string(t.who.ID), name)
	}
	return err
}

func (t *console) file(ctx context.Context, rest string) error {
	path, text, _ := strings.Cut(rest, " ")
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Size() > MaxFile {
		return fmt.Errorf("%s is no file of at most 20 MiB", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return t.say(ctx, NewMessage{Text: strings.TrimSpace(text), Files: []Upload{{Name: filepath.Base(path), Data: data}}})
}

// shownAtOnce is how many messages /history shows without a number.
const shownAtOnce = 20

func (t *console) history(ctx context.Context, rest string) error {
	n := shownAtOnce
	if rest != "" {
		var err error
		if n, err = strconv.Atoi(rest); err != nil || n < 1 || n > 1000 {
			return errors.New("how many? give a number from 1 to 1000")
		}
	}
	part := earshot.Whole()
	if t.thread != "" {
		part = earshot.ThreadOf(t.thread)
	}
	at := t.channel.Scope()
	list, err := t.chat.store.Newest(ctx, at, part, earshot.Position{}, n)
	for _, m := range list {
		change := earshot.Same
		if m.Edited != 0 {
			change = earshot.Edited
		}
		t.show(Update{Channel: t.channel, Change: change, Message: m, Choices: t.chat.Choices(at, m.ID)})
	}
	return err
}

func (t *console) why(ctx context.Context, _ string) error {
	if t.screen.Why == nil {
		return errors.New("this chat does not know")
	}
	var b strings.Builder
	if err := t.screen.Why(ctx, &b, t.channel); err != nil {
		return err
	}
	t.write(b.String())
	return nil
}

func (t *console) help(context.Context, string) error {
	table := terminal.NewTable("command", "")
	for _, c := range commands() {
		table.Row(strings.TrimSpace("/"+c.name+" "+c.args), c.help)
	}
	t.write(table.Render(t.screen.Width) + terminal.Faint("Everything else is said. Messages have their numbers in front.") + "\n")
	return nil
}
