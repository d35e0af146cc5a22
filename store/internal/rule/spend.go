package rule

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// maxSpend bounds an amount, so that no day's sum can overflow.
const maxSpend = int64(1) << 44

// A Purse is a purse as it is stored, with the sum of a day.
type Purse struct {
	Key  string // see PurseKey
	Most earshot.Spend
	Sum  earshot.Spend
	Near bool // somebody was told that its limit is near
	at   int  // its place in the change
	of   earshot.Purse
}

// Scan reads a purse's sum, of the columns tokens, cost and near.
func (p *Purse) Scan(scan func(...any) error) error {
	near := 0
	err := scan(&p.Sum.Tokens, &p.Sum.Cost, &near)
	p.Near = near != 0
	return err
}

// A Held is what a turn holds of a day's sums; the zero Held is nothing.
type Held struct {
	Day   earshot.Time
	Spend earshot.Spend
}

// CheckSpend returns a change as it is stored, and its purses in the order in which they are
// locked.
func CheckSpend(c earshot.SpendChange) (earshot.SpendChange, []*Purse, error) {
	for _, s := range []earshot.Spend{c.Used, c.Held} {
		if min(s.Tokens, s.Cost) < 0 || max(s.Tokens, s.Cost) > maxSpend {
			return c, nil, fmt.Errorf("%w: an amount of %d tokens for %d", earshot.ErrInvalid, s.Tokens, s.Cost)
		}
	}
	if c.Turn == 0 && c.Held != (earshot.Spend{}) {
		return c, nil, fmt.Errorf("%w: no turn holds the amount", earshot.ErrInvalid)
	}
	c.Day = earshot.DayOf(c.Day)
	var purses []*Purse
	for i, l := range c.Purses {
		p := cleanPurse(l.Purse)
		key := PurseKey(p)
		switch {
		case len(key) > 4*MaxID:
			return c, nil, tooLong("purse", len(key))
		case p.Channel != "" && p.Author != "":
			return c, nil, fmt.Errorf("%w: a purse of a channel and of a person", earshot.ErrInvalid)
		case min(l.Most.Tokens, l.Most.Cost) < 0:
			return c, nil, fmt.Errorf("%w: a limit below 0", earshot.ErrInvalid)
		}
		purses = append(purses, &Purse{Key: key, Most: l.Most, at: i, of: p})
	}
	slices.SortFunc(purses, func(a, b *Purse) int { return cmp.Compare(a.Key, b.Key) })
	for i := 1; i < len(purses); i++ {
		if purses[i].Key == purses[i-1].Key {
			return c, nil, fmt.Errorf("%w: a purse twice", earshot.ErrInvalid)
		}
	}
	return c, purses, nil
}

// DecideSpend changes the purses' sums by a change, given what its turn has held of the same
// day, and returns the result. Where it names a purse as full, nothing is to be written.
func DecideSpend(c earshot.SpendChange, had earshot.Spend, purses []*Purse) earshot.SpendResult {
	out := earshot.SpendResult{Sums: make([]earshot.PurseSum, len(purses))}
	next := func(p *Purse) earshot.Spend {
		s := p.Sum.Plus(c.Used).Plus(c.Held)
		return earshot.Spend{Tokens: max(0, s.Tokens-had.Tokens), Cost: max(0, s.Cost-had.Cost)}
	}
	inOrder := slices.Clone(purses)
	slices.SortFunc(inOrder, func(a, b *Purse) int { return a.at - b.at })
	for _, p := range inOrder {
		if c.Bounded && next(p).Over(p.Most) {
			out.Full = append(out.Full, p.of)
		}
	}
	for _, p := range inOrder {
		if out.Full == nil {
			p.Sum = next(p)
			if !p.Near && p.Sum.Share(p.Most) >= earshot.NearLimit {
				p.Near, out.Near = true, append(out.Near, p.of)
			}
		}
		out.Sums[p.at] = earshot.PurseSum{Day: c.Day, Purse: p.of, Spend: p.Sum}
	}
	return out
}

func cleanPurse(p earshot.Purse) earshot.Purse {
	return earshot.Purse{Platform: ID(p.Platform), Workspace: ID(p.Workspace), Channel: ID(p.Channel), Author: ID(p.Author)}
}

// PurseKey returns the key of a purse: its parts with slashes between, each escaped as in a
// path.
func PurseKey(p earshot.Purse) string {
	parts := []string{string(p.Platform), string(p.Workspace)}
	switch {
	case p.Channel != "":
		parts = append(parts, "channel", string(p.Channel))
	case p.Author != "":
		parts = append(parts, "person", string(p.Author))
	case p.Platform == "" && p.Workspace == "":
		return ""
	}
	for i, s := range parts {
		parts[i] = url.PathEscape(s)
	}
	return strings.Join(parts, "/")
}

// ChannelPurse returns the key of a channel's purse.
func ChannelPurse(s earshot.Scope) string {
	return PurseKey(earshot.Purse{Platform: s.Platform, Workspace: s.Workspace, Channel: s.Channel})
}

// PurseOf returns the purse of a key.
func PurseOf(key string) (p earshot.Purse, err error) {
	if key == "" {
		return p, nil
	}
	parts := strings.Split(key, "/")
	for i, s := range parts {
		if parts[i], err = url.PathUnescape(s); err != nil {
			return p, err
		}
	}
	if len(parts) != 2 && len(parts) != 4 {
		return p, fmt.Errorf("%w: %q is no key of a purse", earshot.ErrInvalid, key)
	}
	p.Platform, p.Workspace = earshot.Platform(parts[0]), earshot.WorkspaceID(parts[1])
	switch {
	case len(parts) == 2:
	case parts[2] == "channel":
		p.Channel = earshot.ChannelID(parts[3])
	default:
		p.Author = earshot.AuthorID(parts[3])
	}
	return p, nil
}

// ScanPurseSum reads the columns day, purse, tokens and cost.
func ScanPurseSum(scan func(...any) error, s *earshot.PurseSum) error {
	var key string
	err := scan(&s.Day, &key, &s.Spend.Tokens, &s.Spend.Cost)
	if err == nil {
		s.Purse, err = PurseOf(key)
	}
	return err
}
