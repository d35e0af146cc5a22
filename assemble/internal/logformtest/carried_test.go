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
		case logformtest.File:
			if files == len(e.m.Files) {
				return bad(forgery, "it has no file more, and has %+v", p)
			}
			if f := filed(p, e.m.Files[files]); f != nil {
				return f
			}
			files++
		case logformtest.Reactions:
			if reactions++; len(e.m.Reactions) == 0 {
				return bad(forgery, "nobody reacted: %+v", p)
			}
			var all strings.Builder
			for _, r := range e.m.Reactions {
				fmt.Fprintf(&all, "%s%d", r.Name, r.Count)
			}
			if !within(core(p.Value), core(all.String())) {
				return bad(plusLine, "the reactions are %+q, want %+v", p.Value, e.m.Reactions)
			}
		case logformtest.GivenBefore, logformtest.GivenTwice:
			if m.Block != logformtest.Question || !x.isFile(p.Value) || p.Count > len(x.w.in.Conversation.Turns) {
				return bad(forgery, "no file was given before: %+v", p)
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
	want, got := seen(s.Text), seen(p.Quote)
	if got != want && (!cutMark.MatchString(got) || !strings.HasPrefix(want, strings.TrimSpace(uncut(got)))) {
		return bad(altered, "what it quotes\ngot  %+q\nwant %+q", got, want)
	}
	parts := strings.Split(p.Middle, ", ")
	if p.Middle == "" {
		parts = nil
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
