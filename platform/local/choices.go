package local

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

// maxOffered is of how many messages the choices are remembered.
const maxOffered = 1000

// MaxChoices implements [bot.Chooser].
//
// What can be chosen at a message is remembered by the process that has posted it, and is
// not stored: labels can be what a channel talks about, and would outlive its erasure.
// After a restart, and in another process over the same store, it is not shown any more,
// but can be chosen all the same: a message's id has the draft's key, and what the choice
// means the bot knows.
func (p *Platform) MaxChoices() int { return 5 }

// Choices returns what can be chosen at a message, in order; none where this process does
// not know.
func (p *Platform) Choices(s earshot.Scope, id earshot.MessageID) []bot.Choice {
	list, _ := p.choices.Get(place{s, id})
	return list
}

// offer remembers what can be chosen at the message of a draft, and reports whether that
// was something else.
func (p *Platform) offer(d bot.Draft, id earshot.MessageID) (others bool) {
	at := place{d.Channel.Scope(), id}
	others = !slices.Equal(p.Choices(at.scope, id), d.Choices)
	if len(d.Choices) == 0 {
		p.choices.Drop(at)
	} else {
		p.choices.Put(at, slices.Clone(d.Choices))
	}
	return others
}

// idOfPost returns the id of the message that a draft's key identifies, and keyOf the key.
func idOfPost(key string) earshot.MessageID { return earshot.MessageID("r" + key) }

func keyOf(id earshot.MessageID) (key string, ok bool) { return strings.CutPrefix(string(id), "r") }

// A Choice is what a person chooses at a message of the bot. All but Words is required.
type Choice struct {
	Channel string // a name or id
	Message earshot.MessageID
	Choice  string // its ID, see [bot.Choice]
	As      string // a person's name or id
	Words   string // at most 3,000 characters
}

const maxWords = 3000

var choiceID = regexp.MustCompile(`^[a-z0-9_]{1,20}$`)

// Choose tells the bot what a person chooses, and returns what they alone are told; ""
// where they see it by the message itself. What this process does not know to be offered
// is the bot's to judge.
func (c *Chat) Choose(ctx context.Context, x Choice) (private string, err error) {
	ch, who, m, err := c.find(ctx, x.Channel, x.Message, x.As)
	if err != nil {
		return "", err
	}
	words := strings.TrimSpace(x.Words)
	key, posted := keyOf(m.ID)
	offered := c.Choices(ch.Scope(), m.ID)
	i := slices.IndexFunc(offered, func(o bot.Choice) bool { return o.ID == x.Choice })
	switch {
	case c.choose == nil, !posted, !c.o.Agent.Is(m.Author.ID):
		return "", fmt.Errorf("%w: nothing can be chosen at message %s", ErrInvalid, m.ID)
	case !choiceID.MatchString(x.Choice), offered != nil && i < 0:
		return "", fmt.Errorf("%w: message %s has no choice %q", ErrInvalid, m.ID, plain.Line(x.Choice, 40))
	case utf8.RuneCountInString(words) > maxWords:
		return "", fmt.Errorf("%w: at most %d characters", ErrInvalid, maxWords)
	case i >= 0 && words == "" && offered[i].Words != "" && offered[i].Required:
		return "", fmt.Errorf("%w: %s needs words: %s", ErrInvalid, x.Choice, plain.Line(offered[i].Words, 60))
	case i >= 0 && words != "" && offered[i].Words == "":
		return "", fmt.Errorf("%w: %s takes no words", ErrInvalid, x.Choice)
	}
	return c.choose(ctx, bot.Chosen{Scope: ch.Scope(), Message: m.ID, Key: key, Choice: x.Choice, By: who, Words: words})
}

// listChoices is the line below message n of what can be chosen there.
func listChoices(n int, list []bot.Choice) string {
	line := terminal.Faint(fmt.Sprintf("/choose %d", n))
	for i, o := range list {
		line += fmt.Sprintf("  [%d] %s", i+1, plain.Line(o.Label, 75))
		switch {
		case o.Words != "" && o.Required:
			line += " " + terminal.Faint(plain.Line(o.Words, 45)+" WORDS")
		case o.Words != "":
			line += " " + terminal.Faint(plain.Line(o.Words, 45)+" [WORDS]")
		}
	}
	return line + "\n"
}

// choose chooses at a message. The message goes by its number or its id, the choice too.
func (t *console) choose(ctx context.Context, rest string) error {
	if rest == "" {
		return t.offers(ctx)
	}
	p, rest, err := t.targetOrID(rest)
	if err != nil {
		return err
	}
	choice, words, _ := strings.Cut(rest, " ")
	if choice == "" {
		return errors.New("which choice? give its number or its name")
	}
	offered := t.chat.Choices(p.scope, p.id)
	if n, err := strconv.Atoi(strings.Trim(choice, "[]")); err == nil && n >= 1 && n <= len(offered) {
		choice = offered[n-1].ID
	}
	private, err := t.chat.Choose(ctx, Choice{Channel: string(p.scope.Channel), Message: p.id, Choice: choice, As: string(t.who.ID), Words: words})
	if err == nil && private != "" {
		t.write(terminal.Faint(plain.Clean(private)) + "\n")
	}
	return err
}

// targetOrID is target, or a post of the bot in this channel by its id.
func (t *console) targetOrID(rest string) (p place, more string, err error) {
	first, more, _ := strings.Cut(rest, " ")
	if _, ok := keyOf(earshot.MessageID(first)); ok {
		return place{t.channel.Scope(), earshot.MessageID(first)}, strings.TrimSpace(more), nil
	}
	return t.target(rest)
}

// offers lists what can be chosen in the channel. That includes an answer that is not
// there yet, which has no line of its own.
func (t *console) offers(ctx context.Context) error {
	at := t.channel.Scope()
	list := t.chat.choices.Keys(func(p place, _ []bot.Choice) bool { return p.scope == at })
	slices.SortFunc(list, func(a, b place) int { return strings.Compare(string(a.id), string(b.id)) })
	lines := map[int]string{}
	for _, p := range list {
		if m, err := t.chat.store.Message(ctx, at, p.id); err != nil || m.Deleted {
			continue
		}
		n := t.numberOf(p)
		lines[n] = listChoices(n, t.chat.Choices(at, p.id))
	}
	if len(lines) == 0 {
		return errors.New("as far as this chat knows there is nothing to choose here")
	}
	for _, n := range slices.Sorted(maps.Keys(lines)) {
		t.write(lines[n])
	}
	return nil
}
