package reply

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// hostile makes texts of pieces that a reader of Markdown may take for code in
// one order and not in another.
func hostile(r *rand.Rand, most int) string {
	pieces := []string{
		"https://evil.example/x", "[x](https://evil.example/z)", "evil.com", "https://evil.example/" + strings.Repeat("y", 400), "word ", strings.Repeat("long ", 30),
		"\n", "\n\n", "\n", "  ", "    ", "\t", "```", "````", "`````\n", "~~~", "`", "``", "\n```\n", "\n````\n", "\n~~~\n", "\n```go\n", "```a`b\n", "\n  ```\n", "\n   ```sh\n",
		"> ", "\n> ```\n", "- ", "\n- ```\n", "\n1. a\n   ```\n", "\\", "| a | b |\n|---|---|\n", "<div>\n", "\n# ", "\n---\n", "|", ".", "x",
	}
	var b strings.Builder
	for range 3 + r.IntN(most) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func TestNoAddressHidesBehindFences(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		text := hostile(r, 12)
		if got := Guard(text, NewLinks(nil), &People{}); liveTargets(t, got) != nil {
			t.Fatalf("%q became %q: %q is live", text, got, liveTargets(t, got))
		}
	}
}

func TestACutMakesNoAddressClickable(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 6_000 {
		text := "x" + hostile(r, 40)
		for i, part := range Split(Guard(text, NewLinks(nil), &People{}), 450) {
			if live := liveTargets(t, part); live != nil {
				t.Fatalf("part %d of %q is %q: %q is live", i, text, part, live)
			}
			if n := utf8.RuneCountInString(part); n > 450 || strings.TrimSpace(part) == "" {
				t.Fatalf("part %d of %q has %d characters", i, text, n)
			}
		}
	}
}

func TestCodeInFencesStaysAsItIs(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"```\ncurl https://evil.example/x\n```\n", "a\n```sh\ncurl https://evil.example/x\n```\nb\n```\nhttps://evil.example/y\n```\n",
		"1. first\n   ```sh\n   curl https://evil.example/x\n\n   done\n   ```\n2. second",
	} {
		if got := Guard(text, NewLinks(nil), &People{}); got != text {
			t.Errorf("got %q, want %q", got, text)
		}
	}
}

func TestSplitKeepsItsForm(t *testing.T) {
	t.Parallel()
	rows := func(from, to int) string {
		var b strings.Builder
		for i := from; i < to; i++ {
			b.WriteString("| " + strings.Repeat("x", 10) + " | y |\n")
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	code := func(n int) string { return strings.TrimSuffix(strings.Repeat("line of code\n", n), "\n") }
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{
			"a table's head is repeated", "| name | n |\n|------|---|\n" + rows(0, 10),
			[]string{"| name | n |\n|------|---|\n" + rows(0, 3), "| name | n |\n|------|---|\n" + rows(3, 6), "| name | n |\n|------|---|\n" + rows(6, 9), "| name | n |\n|------|---|\n" + rows(9, 10)},
		},
		{
			"a fence in a list", "- a\n  ```go\n" + code(8) + "\n  ```\n- b",
			[]string{"- a\n  ```go\n" + code(5) + "\n  ```", "  ```go\n" + code(3) + "\n  ```\n- b"},
		},
		{
			"a fence in a fence", "````md\n" + code(5) + "\n```\n" + code(2) + "\n````",
			[]string{"````md\n" + code(5) + "\n```\n````", "````md\n" + code(2) + "\n````"},
		},
		{
			"a fence of tildes", "~~~\n" + code(9) + "\n~~~",
			[]string{"~~~\n" + code(6) + "\n~~~", "~~~\n" + code(3) + "\n~~~"},
		},
		{
			"nothing but a mark is left", "```\n" + code(6) + "\n```\n" + strings.Repeat("word ", 6) + "end",
			[]string{"```\n" + code(6) + "\n```", strings.Repeat("word ", 6) + "end"},
		},
		{
			"a fence begins where the part ends", strings.Repeat("word ", 15) + "\n```go\n" + code(3) + "\n```",
			[]string{strings.TrimSpace(strings.Repeat("word ", 15)), "```go\n" + code(3) + "\n```"},
		},
		{
			"a numbered list", "1. " + strings.Repeat("a", 40) + "\n2. " + strings.Repeat("b", 40) + "\n3. " + strings.Repeat("c", 40),
			[]string{"1. " + strings.Repeat("a", 40) + "\n2. " + strings.Repeat("b", 40), "3. " + strings.Repeat("c", 40)},
		},
		{
			"code within a line", strings.Repeat("a", 90) + "`" + strings.Repeat("b", 40) + "`",
			[]string{strings.Repeat("a", 90), "`" + strings.Repeat("b", 40) + "`"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Split(c.text, 100); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n=====\n"), strings.Join(c.want, "\n=====\n"))
			}
		})
	}
}

func TestALongAddressIsNotShownWhole(t *testing.T) {
	t.Parallel()
	got := Guard("see https://evil.example/"+strings.Repeat("ü", 3000), NewLinks(nil), &People{})
	if !regexp.MustCompile("^see `https://evil\\.example/ü+…`$").MatchString(got) || len(got) > maxInert+20 || !utf8.ValidString(got) {
		t.Errorf("got %q", got)
	}
}
