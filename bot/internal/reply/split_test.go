package reply

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rivo/uniseg"
	"pgregory.net/rapid"
)

// splitPieces are what hostile texts are made of.
var splitPieces = []string{
	"word ", "Sentence. ", "x", strings.Repeat("x", 130), "\n", "\n\n", "\r\n", "\r\n\r\n", " ", strings.Repeat(" ", 120), strings.Repeat("\n", 60), "\t",
	"`", "``", "```", "\n```\n", "\n```go\n", "\n````\n", "\n`````md\n", "\n~~~\n", "\n~~~~ python\n", "~~~", strings.Repeat("`", 150), strings.Repeat("`\n", 9), strings.Repeat("~", 9),
	"\n```" + strings.Repeat("i", 60) + "\n", "\n" + strings.Repeat(" ", 90) + "```\n", "\n      ```sh\n", "\n- a\n  ```\n", "\n- ```go\n", "\n1. 2) ~~~\n", "\n> ```\n", "```a```",
	"\n| a | b |\n|---|---|\n", "| c | d |\n", "|", "| " + strings.Repeat("w", 140) + " |\n",
	"👩‍👩‍👧‍👦", "🏳️‍🌈", "🇩🇪", "e\u0301", " \u0301", "a" + strings.Repeat("\u0301", 400), "각", "日本語。", "नि", "\u200d", "\x00", "\xff", "`https://evil.example/" + strings.Repeat("y", 80) + "`",
}

func TestPartsKeepTheTextWithinTheBound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(splitPieces), 0, 40).Draw(t, "pieces"), "")
		text = strings.Repeat(text, rapid.IntRange(1, 5).Draw(t, "times"))
		checkSplit(t, text, rapid.IntRange(-1, 400).Draw(t, "most"))
	})
}

func FuzzSplit(f *testing.F) {
	for i, p := range splitPieces {
		f.Add(strings.Repeat(p+splitPieces[(i*7)%len(splitPieces)], 30), 100+i)
	}
	f.Fuzz(func(t *testing.T, text string, most int) { checkSplit(t, text, min(most, 5000)) })
}

// lost is what may stand between two parts: white space, or the line that ends a block
// which the first part has closed already.
var lost = regexp.MustCompile("^[\\s\u0085\u00a0\u2000-\u200a\u2028\u2029\u3000\v]*(?:[`~]{3,8}\\s*)?$")

// checkSplit holds the parts of one text to what is true of all.
func checkSplit(t interface {
	Fatalf(format string, args ...any)
}, text string, most int,
) {
	parts, bound := split(text, max(most, leastMost)), max(most, leastMost)
	shown := Split(text, most)
	if len(parts) != len(shown) {
		t.Fatalf("%d and %d parts", len(parts), len(shown))
	}
	at := 0
	for i, p := range parts {
		if n := utf8.RuneCountInString(shown[i]); n > bound {
			t.Fatalf("part %d has %d characters of %d: %q", i, n, bound, shown[i])
		}
		if strings.TrimSpace(p.body) == "" {
			t.Fatalf("part %d is blank: %q", i, shown[i])
		}
		if open := fenceAfter("", shown[i]); open != "" {
			t.Fatalf("part %d leaves %q open: %q", i, open, shown[i])
		}
		end := p.from + len(p.body)
		if p.from < at || end > len(text) || text[p.from:end] != p.body {
			t.Fatalf("part %d is not the text from %d: %q", i, p.from, p.body)
		}
		if gap := text[at:p.from]; !lost.MatchString(gap) {
			t.Fatalf("between parts %d and %d %q is lost", i-1, i, gap)
		}
		if i > 0 && (torn(text, at, bound/4) || torn(text, p.from, bound/4)) {
			t.Fatalf("part %d tears a character: %q, then %q", i, parts[i-1].body, p.body)
		}
		at = end
		checkAdded(t, i, p)
	}
	if !lost.MatchString(text[at:]) {
		t.Fatalf("%q is lost at the end", text[at:])
	}
}

// checkAdded holds what is added around a part to what may be added.
func checkAdded(t interface {
	Fatalf(format string, args ...any)
}, i int, p replyPart,
) {
	_, opens := markOf(p.head)
	_, closes := markOf(strings.TrimPrefix(p.tail, "\n"))
	if p.head != "" && opens == "" && !strings.HasPrefix(p.head, "|") || p.tail != "" && closes == "" {
		t.Fatalf("part %d: %q and %q are added", i, p.head, p.tail)
	}
}

// torn reports whether an offset lies within a character that a reader sees as one,
// and that is not longer than most runes.
func torn(text string, at, most int) bool {
	from, state := 0, -1
	for rest := text; rest != "" && from < at; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if from += len(cluster); from > at {
			return utf8.RuneCountInString(cluster) <= most
		}
	}
	return false
}

func TestACutIsWhereAReaderPauses(t *testing.T) {
	t.Parallel()
	a, b := strings.Repeat("a", 70), strings.Repeat("b", 70)
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"between paragraphs", a + "\n\nc. c\nc " + b, []string{a, "c. c\nc " + b}},
		{"between lines", a + "\nc. c " + b, []string{a, "c. c " + b}},
		{"between sentences", a + "! c " + b, []string{a + "!", "c " + b}},
		{"between sentences without spaces", a + "。" + b, []string{a + "。", b}},
		{"between words", a + " " + b, []string{a, b}},
		{"between paragraphs of another kind", a + "\r\n\r\nc\r\n" + b, []string{a, "c\r\n" + b}},
		{"between characters of several parts", strings.Repeat("x", 98) + "👩‍👩‍👧" + a, []string{strings.Repeat("x", 98), "👩‍👩‍👧" + a}},
		{"between accents", strings.Repeat("e\u0301", 60), []string{strings.Repeat("e\u0301", 50), strings.Repeat("e\u0301", 10)}},
		{"where a character is longer than a part", "a" + strings.Repeat("\u0301", 120), []string{"a" + strings.Repeat("\u0301", 99), strings.Repeat("\u0301", 21)}},
		{"a block that is not closed", "```go\n" + a + "\n" + b, []string{"```go\n" + a + "\n```", "```go\n" + b + "\n```"}},
		{"a block in a list's item", "- ```go\n  x\n  ```\nafter", []string{"- ```go\n  x\n  ```\nafter"}},
		{"a block in a list's item that is cut", "- ```go\n  " + a + "\n  " + b + "\n  ```\nafter", []string{"- ```go\n  " + a + "\n  ```", "  ```go\n  " + b + "\n  ```\nafter"}},
		{"a block in a quote", "> ```go\n> x\n> ```\nafter", []string{"> ```go\n> x\n> ```\nafter"}},
		{"not within a fence's mark", a + "\n" + strings.Repeat("c", 16) + "\n```go\n" + b + "\n```", []string{a + "\n" + strings.Repeat("c", 16), "```go\n" + b + "\n```"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := Split(c.text, 100)
			if strings.Join(got, "\n=====\n") != strings.Join(c.want, "\n=====\n") {
				t.Errorf("got\n%q\nwant\n%q", got, c.want)
			}
		})
	}
}
