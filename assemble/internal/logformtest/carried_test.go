package logformtest_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble/internal/logformtest"
)

// carried checks that the + lines of a message are its quotes, files and reactions,
// and nothing else.
func (x *reading) carried(m logformtest.Message, e *entry) *fault {
	if m.Block == logformtest.About {
		return x.news(m, e)
	}
	shared, files, reactions := 0, 0, 0
	for _, p := range m.Plus {
		switch p.Kind {
		case logformtest.Forwarded, logformtest.LinkPreview, logformtest.QuotedByApp:
			if shared == len(e.m.Shared) {
				return bad(forgery, "it quotes nothing more, and has %+v", p)
			}
			if f := x.quoted(p, e.m.Shared[shared]); f != nil {
				return f
			}
			shared++
		case logformtest.Withheld:
			if shared == len(e.m.Shared) || x.quoteLane(e.m.Shared[shared]) != earshot.LaneOut {
				return bad(forgery, "no quote of it is withheld: %+v", p)
			}
			shared++
		case logformtest.File:
			if files == len(e.m.Files) {
				return bad(forgery, "it has no file more, and has %+v", p)
			}
			if f := filed(p, e.m.Files[files]); f != nil {
				return f
			}
			files++
		case logformtest.ThreadName, logformtest.Tags:
			if !x.calls(p, e.m.Subject) {
				return bad(forgery, "its thread goes by %+v, not by %+v", e.m.Subject, p)
			}
		case logformtest.Reactions:
			if reactions++; len(e.m.Reactions) == 0 {
				return bad(forgery, "nobody reacted: %+v", p)
			}
			if f := x.reacted(p, e.m); f != nil {
				return f
			}
		case logformtest.GivenBefore, logformtest.GivenTwice:
			if m.Block != logformtest.Question || !x.isFile(p.Value) || p.Count > len(x.w.in.Conversation.Turns) {
				return bad(forgery, "no file was given before: %+v", p)
			}
		case logformtest.GoesBy:
			for id, name := range x.w.heads {
				if skeleton(name) == skeleton(p.Value) || skeleton(p.Value) == skeleton(self.Name) {
					return bad(misnamed, "%s goes by %+q, which is %s's", e.m.Author.ID, p.Value, id)
				}
			}
			if short, _, _ := strings.Cut(p.Value, " ("); !within(core(short), core(e.m.Author.Name)) && core(short) != core(string(e.m.Author.ID)) && short != "unknown" {
				return bad(forgery, "%s, who is %+q, goes by %+q", e.m.Author.ID, e.m.Author.Name, p.Value)
			}
		case logformtest.RepliesNotShown:
			if p.Value != "" && p.Value != string(e.m.ID) && p.Value != string(e.m.Root()) {
				return bad(plusLine, "replies of another thread: %+v", p)
			}
		case logformtest.MoreCharacters:
			if e.row.Verdict != earshot.Cut {
				return bad(plusLine, "%d characters of a text that is %s", p.Count, e.row.Verdict)
			}
			if f := x.missing(m, p, e); f != nil {
				return f
			}
		}
	}
	whole := e.row.Verdict == earshot.Full
	if len(e.m.Reactions) > 0 && reactions != 1 && whole {
		return bad(plusLine, "its reactions are not told: %+v", e.m.Reactions)
	}
	if whole && (shared != len(e.m.Shared) || files != len(e.m.Files)) {
		return bad(plusLine, "%d of %d quotes and %d of %d files are told", shared, len(e.m.Shared), files, len(e.m.Files))
	}
	return nil
}

// news checks that what is told as new of a message is its own.
func (x *reading) news(m logformtest.Message, e *entry) *fault {
	if len(m.Plus) == 0 {
		return bad(plusLine, "nothing is new of it")
	}
	for _, p := range m.Plus {
		ok := true
		switch p.Kind {
		case logformtest.TextNow:
			ok = fits(seen(p.Quote), x.w.want[e.m.ID]) || x.isCut(seen(uncut(p.Quote))+"…", x.w.want[e.m.ID])
		case logformtest.Withheld:
			ok = slices.ContainsFunc(e.m.Shared, func(s earshot.SharedContent) bool { return x.quoteLane(s) == earshot.LaneOut })
		case logformtest.Forwarded, logformtest.LinkPreview, logformtest.QuotedByApp:
			ok = slices.ContainsFunc(e.m.Shared, func(s earshot.SharedContent) bool { return x.quoted(p, s) == nil })
		case logformtest.File:
			ok = slices.ContainsFunc(e.m.Files, func(f earshot.File) bool { return filed(p, f) == nil })
		case logformtest.ThreadNow, logformtest.TagsNow:
			ok = x.calls(p, e.m.Subject)
		case logformtest.ReactionsNow:
			if p.Value != "none" || len(e.m.Reactions) > 0 {
				if f := x.reacted(p, e.m); f != nil {
					return f
				}
			}
		}
		if !ok {
			return bad(forgery, "it has nothing such: %+v", p)
		}
	}
	return nil
}

// reacted checks a line of reactions: emoji, counts, and who gave them. A name holds
// neither comma nor colon, so what stands between two of them is told apart.
func (x *reading) reacted(p logformtest.Plus, m earshot.Message) *fault {
	var all strings.Builder
	var given []earshot.Reactor
	if m.Reactors != nil {
		given = m.Reactors.List
	}
	names := map[earshot.AuthorID]string{}
	if x.res.Next.Epoch == x.w.in.Conversation.Epoch {
		for _, n := range x.w.in.Conversation.Names {
			names[n.ID] = n.Name
		}
	}
	for _, n := range x.res.Next.Names {
		names[n.ID] = n.Name
	}
	for _, r := range m.Reactions {
		fmt.Fprintf(&all, "%s%d", r.Name, r.Count)
	}
	var counts strings.Builder
	for i, one := range strings.Split(p.Value, ", :") {
		if i == 0 {
			one = strings.TrimPrefix(one, ":")
		}
		emoji, rest, _ := strings.Cut(one, ": ")
		count, list, named := strings.Cut(rest, " (")
		counts.WriteString(emoji + count)
		if !named {
			continue
		}
		who := strings.Split(strings.TrimSuffix(list, ")"), ", ")
		if fmt.Sprint(len(who)) != count {
			return bad(forgery, "%s persons of %+q", count, who)
		}
		for _, name := range who {
			i := slices.IndexFunc(given, func(r earshot.Reactor) bool {
				// A name that is cut in an entity, "&lt", is no entity any more.
				begins := strings.HasPrefix(core(r.Emoji), core(emoji)) || strings.HasPrefix(core(strings.ReplaceAll(r.Emoji, "&", " ")), core(emoji))
				return begins && (name == "you" && self.Is(r.ID) || names[r.ID] == name)
			})
			if i < 0 {
				return bad(misnamed, "%+q did not react: %+q, %+v, %+q", name, p.Value, given, names)
			}
			if r := given[i]; name != "you" {
				if before, ok := x.w.heads[r.ID]; ok && before != name {
					return bad(misnamed, "%s goes by %+q and by %+q", r.ID, before, name)
				} else if x.w.heads[r.ID] = name; !ok && slices.Contains(x.res.Next.Names, earshot.SessionName{ID: r.ID, Name: name}) {
					if f := x.newName(name, earshot.Author{ID: r.ID, Name: r.Name}); f != nil {
						return f
					}
				}
			}
		}
	}
	if !within(core(counts.String()), core(all.String())) {
		return bad(plusLine, "the reactions are %+q, want %+v", p.Value, m.Reactions)
	}
	return nil
}

// missing checks the count of characters that a cut left out.
func (x *reading) missing(m logformtest.Message, p logformtest.Plus, e *entry) *fault {
	want, got := x.w.want[e.m.ID], m.Text
	if strings.ContainsFunc(want, func(r rune) bool { return r >= 0x7F && r != '行' && r != '…' || r < 0x20 && r != '\n' }) || strings.Count(got, "…") != 1 {
		return nil
	}
	head, tail, _ := strings.Cut(got, "…")
	n, shown := len([]rune(want)), len([]rune(strings.TrimSpace(head)))+len([]rune(strings.TrimSpace(tail)))
	if d := n - shown - p.Count; d < -16 || d > 16 { // white space at the cuts may be counted, or not
		return bad(plusLine, "%d characters are said to be missing, want %d", p.Count, n-shown)
	}
	return nil
}

func (x *reading) quoted(p logformtest.Plus, s earshot.SharedContent) *fault {
	kind := map[earshot.SharedKind]string{earshot.Forward: logformtest.Forwarded, earshot.Link: logformtest.LinkPreview, earshot.AppQuote: logformtest.QuotedByApp}[s.Kind]
	if p.Kind != kind {
		return bad(forgery, "%+v tells of a %s", p, s.Kind)
	}
	lane := x.quoteLane(s)
	if lane == earshot.LaneOut {
		return bad(forgery, "what it quotes is withheld: %+q", p.Quote)
	}
	want, got := seen(s.Text), seen(p.Quote)
	if got != want && (!cutMark.MatchString(got) || !strings.HasPrefix(want, strings.TrimSpace(uncut(got)))) {
		return bad(altered, "what it quotes\ngot  %+q\nwant %+q", got, want)
	}
	parts := strings.Split(p.Middle, ", ")
	if p.Middle == "" {
		parts = nil
	}
	if n := len(parts); kind == logformtest.Forwarded && n > 1 && parts[n-1] == "inert" {
		if lane != earshot.LaneInert {
			return bad(forgery, "a quote of %s is said to be inert: %+q", s.ID, p.Middle)
		}
		parts = parts[:n-1]
	} else if lane == earshot.LaneInert {
		return bad(lost, "a quote of %s is not said to be inert: %+q", s.ID, p.Middle)
	}
	if kind == logformtest.Forwarded && s.Time != 0 {
		day, clock := stamp(s.Time, x.w.in.Zone)
		at := []string{
			fmt.Sprintf("%s %d %s %s", day.Weekday, day.Day, day.Month.String()[:3], clock),
			fmt.Sprintf("%s %d %s %d %s", day.Weekday, day.Day, day.Month.String()[:3], day.Year, clock),
		}
		if len(parts) == 0 || !slices.Contains(at, parts[0]) {
			return bad(plusLine, "%+q was said %q", p.Middle, at[0])
		}
		parts = parts[1:]
	}
	if len(parts) > 1 {
		return bad(plusLine, "a comma in what stands in the middle: %+q", p.Middle)
	}
	if len(parts) == 1 && p.Middle != "a page" && !isSource(strings.TrimPrefix(parts[0], "from "), s) {
		return bad(plusLine, "%+q tells of author %+q in %+q", p.Middle, s.Author, s.Place)
	}
	return nil
}

// isSource reports whether s is "author in place", split at one of its " in ". An
// author with an id may have the session's name.
func isSource(from string, s earshot.SharedContent) bool {
	author := func(got string) bool {
		return s.ID != "" || got == "somebody" || got == "unknown" || within(core(got), core(s.Author))
	}
	for i := 0; i < len(from); i++ {
		if strings.HasPrefix(from[i:], " in ") && author(from[:i]) && within(core(from[i+len(" in "):]), core(s.Place)) {
			return true
		}
	}
	return author(from) || within(core(from), core(s.Place))
}

// halfEscape is the part of an &amp; or &lt; that a cut leaves.
var halfEscape = regexp.MustCompile(`(&amp;)*(&[a-z]*)?$`)

// isFile reports whether a file of the message has that name.
func (x *reading) isFile(name string) bool {
	for _, m := range x.w.in.Messages {
		for _, f := range m.Files {
			if filed(logformtest.Plus{Middle: string(f.ID), Value: name}, f) == nil {
				return true
			}
		}
	}
	return false
}

func filed(p logformtest.Plus, f earshot.File) *fault {
	id, _, _ := strings.Cut(p.Middle, ", ")
	if id != string(f.ID) {
		return bad(plusLine, "the file %s is told as %+q", f.ID, p.Middle)
	}
	want, got := seenLine(f.Name), seenLine(halfEscape.ReplaceAllString(p.Value, ""))
	if got != want && got != string(f.ID) && !strings.HasPrefix(want, strings.TrimSpace(strings.TrimSuffix(got, "…"))) {
		return bad(plusLine, "the file's name is %+q, want %+q", p.Value, f.Name)
	}
	return nil
}
