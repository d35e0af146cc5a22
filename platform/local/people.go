package local

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/earshot-ai/earshot"
)

// maxName bounds the bytes of a person's name.
const maxName = 64

// lately is in how many of a channel's newest messages People looks for speakers.
const lately = 200

// People lists the workspace's people, without programs: first those who spoke lately in
// a channel, the last speaker first, then the others by name.
func (c *Chat) People(ctx context.Context, channel string) ([]earshot.Author, error) {
	list, _, err := c.people(ctx, channel)
	return list, err
}

// Speakers lists those of [Chat.People] who spoke lately in the channel. It names
// nobody whom a reader of this channel alone does not know.
func (c *Chat) Speakers(ctx context.Context, channel string) ([]earshot.Author, error) {
	list, spoke, err := c.people(ctx, channel)
	return slices.DeleteFunc(list, func(a earshot.Author) bool { return spoke[a.ID] == 0 }), err
}

// people lists people as People does. spoke has those who spoke lately in the channel.
func (c *Chat) people(ctx context.Context, channel string) (_ []earshot.Author, spoke map[earshot.AuthorID]int, _ error) {
	ch, err := c.channel(ctx, channel)
	if err != nil {
		return nil, nil, err
	}
	list, err := c.store.Authors(ctx, c.o.Platform, c.o.Workspace)
	if err != nil {
		return nil, nil, fmt.Errorf("list people: %w", err)
	}
	list = slices.DeleteFunc(list, func(a earshot.Author) bool { return a.Kind != earshot.Human || c.o.Agent.Is(a.ID) })
	newest, err := c.store.Newest(ctx, ch.Scope(), earshot.Whole(), earshot.Position{}, lately)
	if err != nil {
		return nil, nil, fmt.Errorf("read who spoke in %s: %w", ch.ID, err)
	}
	spoke = map[earshot.AuthorID]int{} // greater for who spoke later; 0 for who did not
	for i, m := range newest {
		spoke[m.Author.ID] = i + 1
	}
	slices.SortStableFunc(list, func(x, y earshot.Author) int {
		return cmp.Or(cmp.Compare(spoke[y.ID], spoke[x.ID]), cmp.Compare(strings.ToLower(x.Name), strings.ToLower(y.Name)), cmp.Compare(x.ID, y.ID))
	})
	return list, spoke, nil
}

// person returns the author with this name or id, and creates one if there is none.
// The agent's own name is [ErrForbidden].
func (p *Platform) person(ctx context.Context, name string, bot bool) (earshot.Author, error) {
	name = strings.TrimPrefix(strings.TrimSpace(name), "@")
	if name == "" || len(name) > maxName || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsControl(r) || r == '|' || r == '<' || r == '>' }) {
		return earshot.Author{}, fmt.Errorf("%w: a person's name is one line of 1 to %d bytes without <, > and |", ErrInvalid, maxName)
	}
	if strings.EqualFold(name, p.o.Agent.Name) || p.o.Agent.Is(earshot.AuthorID(name)) {
		return earshot.Author{}, fmt.Errorf("%w: %s is the bot", ErrForbidden, name)
	}
	list, err := p.store.Authors(ctx, p.o.Platform, p.o.Workspace)
	if err != nil {
		return earshot.Author{}, fmt.Errorf("list people: %w", err)
	}
	for _, a := range list {
		if string(a.ID) == name {
			return a, nil
		}
	}
	for _, a := range list {
		if strings.EqualFold(a.Name, name) && !p.o.Agent.Is(a.ID) {
			return a, nil
		}
	}
	a := earshot.Author{ID: earshot.AuthorID(slugID(name)), Name: name, Kind: earshot.Human}
	if bot {
		a.Kind = earshot.Bot
	}
	for slices.ContainsFunc(list, func(b earshot.Author) bool { return b.ID == a.ID }) {
		a.ID += "_"
	}
	if err := p.store.PutAuthors(ctx, p.o.Platform, p.o.Workspace, a); err != nil {
		return earshot.Author{}, fmt.Errorf("store %s: %w", name, err)
	}
	return a, nil
}

// slugID derives an id from a name.
func slugID(name string) string {
	s := strings.Map(func(r rune) rune {
		if r == ' ' {
			return '-'
		}
		return unicode.ToLower(r)
	}, name)
	return s
}

// compose converts a typed text into the stored form: the @Name of a known person
// becomes a mention, as chat clients do. In code and inside a word, such as an e-mail
// address, it stays as it is.
func (p *Platform) compose(ctx context.Context, text string) (string, []earshot.AuthorID, error) {
	if !strings.Contains(text, "@") {
		return text, nil, nil
	}
	list, err := p.store.Authors(ctx, p.o.Platform, p.o.Workspace)
	if err != nil {
		return "", nil, fmt.Errorf("list people: %w", err)
	}
	if !slices.ContainsFunc(list, func(a earshot.Author) bool { return a.ID == p.o.Agent.ID }) {
		list = append(list, p.agent())
	}
	// The longest name first, so that @Sam Okafor is not @Sam. The agent comes
	// before others with its name.
	slices.SortStableFunc(list, func(x, y earshot.Author) int {
		if d := len(y.Name) - len(x.Name); d != 0 {
			return d
		}
		switch {
		case x.ID == p.o.Agent.ID:
			return -1
		case y.ID == p.o.Agent.ID:
			return 1
		}
		return strings.Compare(string(x.ID), string(y.ID))
	})
	var b strings.Builder
	var mentions []earshot.AuthorID
	code, before := false, ' '
	for i := 0; i < len(text); {
		r := rune(text[i])
		if r == '`' {
			code = !code
		}
		if r == '@' && !code && !isWordByte(before) && before != '/' && before != '<' {
			if a, n := matchName(list, text[i+1:]); n > 0 {
				fmt.Fprintf(&b, "<@%s|%s>", a.ID, a.Name)
				if !slices.Contains(mentions, a.ID) {
					mentions = append(mentions, a.ID)
				}
				i += 1 + n
				before = '>'
				continue
			}
		}
		before = r
		b.WriteByte(text[i])
		i++
	}
	return b.String(), mentions, nil
}

// matchName returns the person whose name s begins with, and the length of that name in
// s.
func matchName(list []earshot.Author, s string) (earshot.Author, int) {
	for _, a := range list {
		n := len(a.Name)
		if n == 0 || len(s) < n || !strings.EqualFold(s[:n], a.Name) || strings.ContainsAny(a.Name, "|<>\n") {
			continue
		}
		if len(s) == n || !isWordByte(rune(s[n])) {
			return a, n
		}
	}
	return earshot.Author{}, 0
}

// isWordByte reports whether a byte is part of a word. Bytes of characters beyond ASCII
// are.
func isWordByte(r rune) bool {
	return r == '_' || r == '-' || r >= 0x80 || unicode.IsLetter(r) || unicode.IsDigit(r)
}
