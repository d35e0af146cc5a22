package tokens_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/tiktoken-go/tokenizer/codec"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/tokens"
)

func TestFor(t *testing.T) {
	t.Parallel()
	type counter struct {
		Name   string
		Stored bool // o200k's count tells this one's
		Count  int  // of "hello world", two tokens of o200k in 11 bytes
	}
	of := func(c assemble.Counter) counter {
		n := c.Count("hello world")
		stored, ok := c.Stored(tokens.Base("hello world"))
		if ok && stored != n {
			t.Errorf("%s counts %d, and %d of what is stored", c.Name(), n, stored)
		}
		return counter{c.Name(), ok, n}
	}
	for _, c := range []struct {
		name, spec string
		want       counter
	}{
		{"no spec is o200k", "", counter{"o200k", true, 2}},
		{"o200k by name", "o200k", counter{"o200k", true, 2}},
		{"a quarter of the bytes, rounded up", "bytes4", counter{"bytes4", false, 3}},
		{"a factor rounds up", "o200k*1.15", counter{"o200k*1.15", true, 3}},
		{"a factor that fits exactly adds nothing", "o200k*1.5", counter{"o200k*1.5", true, 3}},
		{"a factor loses its zeros", "o200k*01.150", counter{"o200k*1.15", true, 3}},
		{"a factor of one is o200k", "o200k*1.0", counter{"o200k", true, 2}},
		{"a small factor", "o200k*0.000001", counter{"o200k*0.000001", true, 1}},
		{"the largest factor", "o200k*10", counter{"o200k*10", true, 20}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := tokens.For(c.spec)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(of(got), c.want); diff != "" {
				t.Errorf("-got +want\n%s", diff)
			}
			again, err := tokens.For(got.Name())
			if err != nil || again.Name() != got.Name() {
				t.Errorf("For(%q) is not the same counter: %v", got.Name(), err)
			}
		})
	}
}

func TestForRefuses(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{
		"gpt", "O200K", " o200k", "o200k*", "o200k*0", "o200k*0.0", "o200k*-1", "o200k*10.000001", "o200k*11",
		"o200k*1e1", "o200k*1.", "o200k*.5", "o200k*1.1234567", "o200k*NaN", "o200k*+1", "bytes4*2", "bytes",
	} {
		c, err := tokens.For(spec)
		if !errors.Is(err, tokens.ErrUnknown) {
			t.Errorf("For(%q) = %v, %v; want ErrUnknown", spec, c, err)
			continue
		}
		if !strings.Contains(err.Error(), spec) || !strings.Contains(err.Error(), "o200k*1.15") {
			t.Errorf("the error for %q does not say what exists: %v", spec, err)
		}
	}
}

// Known counts, as OpenAI's tokenizer gives them.
func TestBase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"nothing", "", 0},
		{"two words", "hello world", 2},
		{"a contraction belongs to its word", "don't", 1},
		{"lines of white space between line breaks are one piece", "\n \n", 1},
		{"a control character counts", "\x7f", 1},
	} {
		if got := tokens.Base(c.text); got != c.want {
			t.Errorf("%s: Base(%q) = %d, want %d", c.name, c.text, got, c.want)
		}
	}
}

// rule is the published rule of o200k. The group around its last alternative
// changes nothing but keeps the engine from taking the code that was generated
// for the library, which is not the same.
var rule = regexp2.MustCompile(`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|`+
	`[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|`+
	`\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|(\s+)`, regexp2.None)

var library = codec.NewO200kBase()

var ranks = sync.OnceValue(func() map[string]int {
	m := map[string]int{}
	for id := range uint(200_000) {
		if token, err := library.Decode([]uint{id}); err == nil {
			m[token] = int(id)
		}
	}
	return m
})

// reference counts by the rule, step by step.
func reference(t testing.TB, text string) int {
	t.Helper()
	n := 0
	m, err := rule.FindStringMatch(text)
	for ; m != nil && err == nil; m, err = rule.FindNextMatch(m) {
		piece := m.String()
		if _, ok := ranks()[piece]; ok {
			n++
			continue
		}
		parts := strings.Split(piece, "")
		parts = parts[:0]
		for i := range len(piece) {
			parts = append(parts, piece[i:i+1])
		}
		for {
			best, lowest := -1, 1<<30
			for i := range len(parts) - 1 {
				if r, ok := ranks()[parts[i]+parts[i+1]]; ok && r < lowest {
					best, lowest = i, r
				}
			}
			if best < 0 {
				break
			}
			parts[best] += parts[best+1]
			parts = append(parts[:best+1], parts[best+2:]...)
		}
		n += len(parts)
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

var blank = regexp.MustCompile(`\s*[\r\n]\s*`)

// plain is text in which the library follows the rule.
func plain(text string) string {
	return strings.ReplaceAll(blank.ReplaceAllString(text, "\n"), "\x7f", "")
}

func checkCount(t *testing.T, text string) {
	t.Helper()
	if got, want := tokens.Base(text), reference(t, text); got != want {
		t.Errorf("Base(%q) = %d, the rule gives %d", text, got, want)
	}
	text = plain(text)
	want, err := library.Count(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := tokens.Base(text); got != want {
		t.Errorf("Base(%q) = %d, the library gives %d", text, got, want)
	}
}

func TestBaseKnowsCharactersOfAllKinds(t *testing.T) {
	t.Parallel()
	for r := range rune(0x20000) {
		if r > 0x3100 && r%31 != 0 {
			continue // of the large blocks some are enough
		}
		c := string(r)
		for _, s := range []string{"a" + c + "B", " " + c + "A ", c + c + "\n", "1" + c + "'s\n"} {
			want, err := library.Count(plain(s))
			if err != nil {
				t.Fatal(err)
			}
			if got := tokens.Base(plain(s)); got != want {
				t.Errorf("%U in %q: %d, the library gives %d", r, s, got, want)
			}
		}
	}
}

// letters are what the rule tells apart.
var letters = []string{
	"a", "b", "Z", "ll", "s", "'", "'LL", "’s", "ǅ", "ʰ", "日", "の", "é", "e\u0301", "\u0301", "ß", "1", "9", "٣", "½",
	" ", " ", "  ", "\t", "\n", "\r\n", "\r", "\u00a0", "\u2028", "\u3000", ".", "/", "//", "-", "_", "<", "|", ">", "@", "🚫", "👩‍👩‍👧", "\u200d", "\x00", "the", "Earshot", "ing", "MIX", "wORD",
}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(40) {
		b.WriteString(letters[r.IntN(len(letters))])
	}
	return b.String()
}

func TestBaseFollowsTheRule(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 4_000 {
		checkCount(t, randomText(r))
	}
	for _, s := range letters {
		for _, n := range []int{2, 63, 64, 65, 66, 127, 128, 129, 500} {
			checkCount(t, strings.Repeat(s, n))
		}
	}
}

func TestBaseFollowsTheRuleOnNaughtyStrings(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join(sharedData(t), "spec", "naughty", "blns.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	if len(list) < 500 {
		t.Fatalf("only %d strings", len(list))
	}
	for _, s := range list {
		checkCount(t, s)
		checkPrefix(t, s)
	}
}

// sharedData returns the folder of the real data, or skips the test. In CI it
// must be there.
func sharedData(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("EARSHOT_TEST_DATA")
	if dir == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("EARSHOT_TEST_DATA is not set")
		}
		t.Skip("SKIPPED: EARSHOT_TEST_DATA names no folder with the shared data")
	}
	return dir
}

// checkPrefix checks that prefixes fit, are nearly as long as they can be, and
// end at characters.
func checkPrefix(t *testing.T, text string) {
	t.Helper()
	for _, spec := range []string{"o200k", "o200k*1.15", "o200k*0.3", "bytes4"} {
		c, err := tokens.For(spec)
		if err != nil {
			t.Fatal(err)
		}
		all := c.Count(text)
		for _, max := range []int{-1, 0, 1, 2, 3, 5, 8, 13, 300, all - 1, all, all + 1, 1 << 62} {
			n := c.Prefix(text, max)
			if n < 0 || n > len(text) {
				t.Fatalf("%s: Prefix(%q, %d) = %d", spec, text, max, n)
			}
			if max >= 0 && c.Count(text[:n]) > max {
				t.Errorf("%s: Prefix(%q, %d) = %d, which has %d tokens", spec, text, max, n, c.Count(text[:n]))
			}
			if max >= all && n != len(text) {
				t.Errorf("%s: Prefix(%q, %d) = %d, but all of it fits", spec, text, max, n)
			}
			if utf8.ValidString(text) && !utf8.ValidString(text[:n]) {
				t.Errorf("%s: Prefix(%q, %d) = %d, inside a character", spec, text, max, n)
			}
		}
	}
}

func TestPrefix(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 2_000 {
		checkPrefix(t, randomText(r))
	}
	for _, s := range letters {
		checkPrefix(t, strings.Repeat(s, 700))
	}
	words := strings.Repeat("staging is down again ", 1000)
	for max := 1; max < 1000; max += 9 {
		n := assertO200k(t).Prefix(words, max)
		if got := tokens.Base(words[:n]); got < max-1 || got > max {
			t.Fatalf("Prefix(…, %d) has %d tokens", max, got)
		}
	}
}

func assertO200k(t testing.TB) interface{ Prefix(string, int) int } {
	t.Helper()
	c, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Hostile texts must cost about what others of their length cost. The bound ends what
// hangs and promises no time: work that grows with the square takes minutes.
func TestHostileTextIsLinear(t *testing.T) {
	t.Parallel()
	tokens.Base("load")
	for _, s := range []string{"a", "A", " ", "\n", "\r\n", "=", "日", "\u0301", "1", "\xff", "'s", "ab", "\t \n", "aA", "é", "🚫"} {
		text := strings.Repeat(s, 100_000/len(s))
		start := time.Now()
		tokens.Base(text)
		assertO200k(t).Prefix(text, 300)
		if took := time.Since(start); took > time.Minute {
			t.Errorf("100 KB of %q took %v", s, took)
		}
	}
}

func TestCountersAreSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := tokens.Base("hello world"); got != 2 {
				t.Errorf("got %d tokens, want 2", got)
			}
		})
	}
	wg.Wait()
}

func FuzzBase(f *testing.F) {
	for _, s := range []string{"", "don't'LL WAIT'Re", "a  b\n \n c\r\n\t", "日本語のテキスト です", "\xff\xfe a", "x\x7fy", "🚫 👩‍👩‍👧 ok", strings.Repeat("a", 70), "ʰ\u0301Ab ½٣/\n/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 512 {
			return // the reference is quadratic
		}
		checkPrefix(t, text)
		if utf8.ValidString(text) {
			checkCount(t, text)
		}
	})
}

func BenchmarkBase(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"message", "Did anyone look at why the staging deploy of 1.4.2 hangs? I see `migrate: lock timeout` in the log, see https://ci.example.com/builds/812"},
		{"japanese", "このチャンネルでは次のリリースについて話しましょう。ビルドが失敗しています。"},
		{"a 40,000-letter run", strings.Repeat("a", 40_000)},
		{"40,000 spaces", strings.Repeat(" ", 40_000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			tokens.Base("load")
			b.SetBytes(int64(len(c.text)))
			b.ReportAllocs()
			for b.Loop() {
				tokens.Base(c.text)
			}
		})
	}
}

func BenchmarkPrefixOfAMegabyte(b *testing.B) {
	c := assertO200k(b)
	text := strings.Repeat("staging is down again ", 50_000)
	for b.Loop() {
		c.Prefix(text, 300)
	}
}

// On real chat the counts are the library's.
func TestBaseFollowsTheLibraryOnRealChat(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"haskelljp-slack", "meshcore-discord", "gitter"} {
		f, err := os.Open(filepath.Join(sharedData(t), name+".messages.jsonl.gz"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		in := bufio.NewScanner(z)
		in.Buffer(nil, 4<<20)
		n := 0
		for ; in.Scan(); n++ {
			if n%5 != 0 {
				continue
			}
			var m struct{ Text string }
			if err := json.Unmarshal(in.Bytes(), &m); err != nil {
				t.Fatal(err)
			}
			text := plain(m.Text)
			want, err := library.Count(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := tokens.Base(text); got != want {
				t.Errorf("%s, line %d: %d tokens, the library gives %d", name, n+1, got, want)
			}
		}
		if err := in.Err(); err != nil || n < 10_000 {
			t.Fatalf("%s: %d lines, %v", name, n, err)
		}
	}
}
