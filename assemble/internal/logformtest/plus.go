package logformtest

import (
	"fmt"
	"strings"
)

// placeLines are the kinds of + lines that stand below a block's header and belong
// to no message.
var placeLines = map[Kind][]string{Place: {Name, ID, Topic, Purpose, ThreadName, Tags}, Summary: {SummaryText}}

// rank is the order of the + lines of a message.
var rank = map[string]int{RepliesNotShown: 0, MoreCharacters: 1, ThreadName: 1, Tags: 1, ThreadNow: 1, TagsNow: 1, TextNow: 2, Forwarded: 2, LinkPreview: 2, QuotedByApp: 2, Withheld: 2, MoreQuotes: 3, File: 4, MoreFiles: 5, Reactions: 6, ReactionsNow: 6, GoesBy: 7, GivenBefore: 8, GivenTwice: 8}

// plus reads a + line without its mark.
func (p *parser) plus(s string) error {
	b := p.block
	for _, kind := range placeLines[b.Kind] {
		value, ok := strings.CutPrefix(s, kind+":")
		if !ok {
			continue
		}
		if len(b.Plus) > 0 && b.Plus[len(b.Plus)-1].Kind == kind {
			return fmt.Errorf("a second %s", kind)
		}
		b.Plus = append(b.Plus, Plus{Kind: kind, Value: strings.TrimPrefix(value, " ")})
		at := len(b.Plus) - 1
		if kind == SummaryText {
			p.more = func(s string) { b.Plus[at].Value += "\n" + s }
		}
		return nil
	}
	x, err := readPlus(s)
	if err != nil {
		return err
	}
	if x.Kind == RepliesTo {
		if p.above != nil || b.Kind == Place || b.Kind == Summary {
			return fmt.Errorf("what replies, to two?")
		}
		p.above = &x
		return nil
	}
	if p.above != nil || len(b.Messages) == 0 {
		return fmt.Errorf("a + line that belongs to no message")
	}
	notAbout := x.Kind == Reactions || x.Kind == ThreadName || x.Kind == Tags || x.Kind == MoreCharacters || x.Kind == RepliesNotShown || rank[x.Kind] > rank[Reactions]
	if only := x.Kind == TextNow || x.Kind == ReactionsNow || x.Kind == ThreadNow || x.Kind == TagsNow; only && b.Kind != About || notAbout && b.Kind == About {
		return fmt.Errorf("%s in the block %s", x.Kind, b.Kind)
	}
	m := &b.Messages[len(b.Messages)-1]
	if n := len(m.Plus); n > 0 && (rank[m.Plus[n-1].Kind] > rank[x.Kind] || rank[x.Kind] < 2 && m.Plus[n-1].Kind == x.Kind) {
		return fmt.Errorf("%s stands behind %s", x.Kind, m.Plus[n-1].Kind)
	}
	m.Plus = append(m.Plus, x)
	if isQuote(x) {
		list, at := m.Plus, len(m.Plus)-1
		p.more = func(s string) {
			if list[at].lines > 0 {
				list[at].Quote += "\n"
			}
			list[at].Quote += s
			list[at].lines++
		}
	}
	return nil
}

func isQuote(x Plus) bool { return rank[x.Kind] == 2 && x.Kind != Withheld }

// readPlus reads a + line that belongs to a message.
func readPlus(s string) (Plus, error) {
	for _, kind := range []string{Forwarded, LinkPreview, QuotedByApp} {
		if rest, ok := strings.CutPrefix(s, kind); ok {
			middle, ok := strings.CutSuffix(rest, ":")
			if ok && middle != "" {
				middle, ok = strings.CutPrefix(middle, ", ")
			}
			if !ok || strings.Contains(middle, ":") && !hasOnlyTimeColon(middle) || middle == "" && rest != ":" {
				return Plus{}, fmt.Errorf("no line of the kind %q", kind)
			}
			return Plus{Kind: kind, Middle: middle}, nil
		}
	}
	for _, kind := range []string{ThreadName, Tags, ThreadNow, TagsNow} {
		if value, ok := strings.CutPrefix(s, kind+": "); ok {
			return Plus{Kind: kind, Value: value}, nil
		}
	}
	switch {
	case s == Withheld:
		return Plus{Kind: Withheld}, nil
	case strings.HasPrefix(s, "file "):
		return readFile(s[len("file "):])
	case strings.HasPrefix(s, "reactions: "):
		return Plus{Kind: Reactions, Value: s[len("reactions: "):]}, nil
	case strings.HasPrefix(s, ReactionsNow+": "):
		return Plus{Kind: ReactionsNow, Value: s[len(ReactionsNow+": "):]}, nil
	case s == TextNow+":":
		return Plus{Kind: TextNow}, nil
	case strings.HasPrefix(s, GivenTwice+": "):
		return Plus{Kind: GivenTwice, Value: s[len(GivenTwice+": "):]}, nil
	case strings.HasPrefix(s, GivenBefore+" "):
		turn, name, ok := strings.Cut(s[len(GivenBefore+" "):], ": ")
		n, number := parseCount(turn)
		if !ok || !number {
			return Plus{}, fmt.Errorf("a file given in no turn")
		}
		return Plus{Kind: GivenBefore, Count: n, Value: name}, nil
	case strings.HasPrefix(s, GoesBy+" ") && strings.HasSuffix(s, " now"):
		return Plus{Kind: GoesBy, Value: strings.TrimSuffix(s[len(GoesBy+" "):], " now")}, nil
	case strings.HasPrefix(s, "replies to "):
		return Plus{Kind: RepliesTo, Value: s[len("replies to "):]}, nil
	}
	count, thread, named := strings.Cut(s, ", thread ")
	if n, ok := countOf(count, "reply", "not shown"); ok {
		if named && (thread == "" || strings.ContainsAny(thread, " \t")) {
			return Plus{}, fmt.Errorf("an id with spaces")
		}
		return Plus{Kind: RepliesNotShown, Count: n, Value: thread}, nil
	}
	if count, ok := strings.CutSuffix(s, ", not shown"); ok {
		if n, ok := countOf(count, "more character", ""); ok {
			return Plus{Kind: MoreCharacters, Count: n}, nil
		}
		if n, ok := countOf(count, "more quote", ""); ok {
			return Plus{Kind: MoreQuotes, Count: n}, nil
		}
		if n, ok := countOf(count, "more file", ""); ok {
			return Plus{Kind: MoreFiles, Count: n}, nil
		}
	}
	return Plus{}, fmt.Errorf("no + line of the form")
}

// hasOnlyTimeColon reports whether the only colon in a forward's middle is that of its time.
func hasOnlyTimeColon(s string) bool {
	_, rest, ok := cutDay(s)
	if !ok || len(rest) < 5 {
		return false
	}
	_, _, ok = cutClock(rest[:5] + " ")
	return ok && !strings.Contains(rest[5:], ":") && (rest[5:] == "" || strings.HasPrefix(rest[5:], ", "))
}

// readFile reads "F1, text, 12 KB: migrate.log": an id without spaces, fields
// between commas, and the name, which comes last because people choose it.
func readFile(s string) (Plus, error) {
	head, name, named := strings.Cut(s, ": ")
	if !named {
		head, _ = strings.CutSuffix(s, ":")
	}
	id, fields, _ := strings.Cut(head, ", ")
	if id == "" || strings.ContainsAny(id, " \t") {
		return Plus{}, fmt.Errorf("a file without an id")
	}
	for f := range strings.SplitSeq(fields, ", ") {
		if fields != "" && (f == "" || strings.ContainsAny(f, ":,")) {
			return Plus{}, fmt.Errorf("a file's line with an odd field")
		}
	}
	return Plus{Kind: File, Middle: head, Value: name}, nil
}
