package assemble_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contract"
)

// FuzzTurn reads bytes as the contract's JSON and checks the result against those
// laws that need one result only.
func FuzzTurn(f *testing.F) {
	for seed := range uint64(12) {
		in, _ := lawInput(newSeededDice(seed))
		if data, err := contract.EncodeInput(in); err == nil {
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := contract.Decode(data)
		if err != nil {
			return
		}
		if r, ok := mustTurn(t, in); ok {
			checkLaws(t, in, r)
		}
	})
}

// FuzzLaws lets the fuzzer make the choices of the generators, because JSON is
// hard to find by chance: an input for the laws, a transcript to read back, and a
// conversation of several turns.
func FuzzLaws(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte(strings.Repeat("the choices of a generator ", 20)))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, _ := lawInput(&bytesDice{data})
		if r, ok := mustTurn(t, in); ok {
			checkLaws(t, in, r)
		}
		in, g := transcriptOf(&bytesDice{data})
		if r, ok := mustTurn(t, in); ok {
			if err := compare(in, r, g.want, true); err != nil {
				t.Fatalf("policy %s: %v\n%s", in.Policy.Name, err, prompt(r))
			}
		}
		simulate(t, &bytesDice{data})
	})
}

func checkLaws(t *testing.T, in assemble.Input, r assemble.Result) {
	t.Helper()
	checkBudget(t, in, r)
	checkLedger(t, in, r)
	checkNext(t, in, r)
	checkUTF8(t, r)
	checkPassages(t, r)
	again, ok := mustTurn(t, in)
	if !ok {
		t.Fatal("an error the second time")
	}
	sameResult(t, "run again", again, r)
	if data, err := contract.Encode(r); err != nil || !utf8.Valid(data) || strings.Count(string(data), "\n") != 1 {
		t.Fatalf("the result cannot be written on one line: %v", err)
	}
}

// unchanged are sequences that need their joiners, selectors or tags.
var unchanged = []string{
	"👩‍👩‍👧‍👦", "👩🏽‍💻", "🏳️‍🌈", "🏴‍☠️", "❤️‍🔥", "🐻‍❄️", "👁️‍🗨️", "🧑🏻‍❤️‍💋‍🧑🏿", "🇯🇵", "1️⃣", "☎︎",
	"🏴\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F", "🏴\U000E0075\U000E0073\U000E0074\U000E0078\U000E007F",
	"می\u200Cخواهم", "نامه\u200Cها", "क्\u200Dष", "क्\u200Cष", "ශ්\u200Dරී", "ന്\u200D", "র\u200D্য",
}

// FuzzClean asks a question made of the fuzzer's text, in its middle a sequence
// that must stay.
func FuzzClean(f *testing.F) {
	for _, list := range [][]atom{plainAtoms, forgedAtoms, hiddenAtoms, markupAtoms} {
		for i, a := range list {
			f.Add(a.raw, i)
		}
	}
	f.Add("\u200D\u200C\uFE0F\u200D", 1)
	f.Add("🏴\U000E0067\U000E0062\u200D🏴", 2)
	f.Fuzz(func(t *testing.T, s string, n int) {
		keep := unchanged[(n%len(unchanged)+len(unchanged))%len(unchanged)]
		got, ok := cleaned(t, "a"+s+" a"+keep+"b "+s)
		if !ok {
			return
		}
		if !strings.Contains(got, "a"+keep+"b") && !strings.Contains(s, "<") {
			t.Fatalf("%+q did not stay in %+q", keep, got)
		}
		if why := impure(got); why != "" {
			t.Fatalf("%s in %+q", why, got)
		}
		if strings.ContainsAny(got, "<&") {
			return // what is written for these is undone by a reader, not by a second cleaning
		}
		if again, _ := cleaned(t, got); again != got {
			t.Fatalf("cleaned again\n%+q becomes\n%+q", got, again)
		}
	})
}

// cleaned returns a text as a prompt shows it.
func cleaned(t testing.TB, s string) (string, bool) {
	t.Helper()
	r, err := assemble.Turn(asking("delta", earshot.Message{ID: "q", Author: earshot.Author{ID: "U1", Name: "Alice"}, Text: strings.ReplaceAll(s, "🚫", "")}))
	var bad *assemble.InputError
	switch {
	case errors.As(err, &bad), errors.Is(err, assemble.ErrBudgetTooSmall):
		return "", false
	case err != nil:
		t.Fatal(err)
	}
	lines := strings.Split(r.Messages[0].Text, "\n")
	for i := range lines[1:] {
		rest, ok := strings.CutPrefix(lines[i+1], "  ")
		if !ok {
			t.Fatalf("line %d begins at the start of a line: %+q", i+1, r.Messages[0].Text)
		}
		lines[i+1] = rest
	}
	return strings.TrimSpace(strings.Join(lines, "\n")), true
}

// impure describes a character in a text that nobody can see; "" for none.
func impure(s string) string {
	if !utf8.ValidString(s) {
		return "broken UTF-8"
	}
	rs := []rune(s)
	flag := false // within the tags of a flag
	for i, r := range rs {
		switch {
		case r == '\n' || r == '\t':
		case unicode.Is(unicode.Cc, r):
			return "a control character"
		case unicode.Is(unicode.Bidi_Control, r):
			return "a bidirectional character"
		case r == 0x200B || r == 0x2060 || r == 0xFEFF || r == 0x180E || r == 0xAD:
			return "a zero-width character"
		case r >= 0xE0000 && r <= 0xE007F:
			if !flag && (i == 0 || rs[i-1] != 0x1F3F4) {
				return "a tag character"
			}
			flag = r != 0xE007F
			continue
		case r == 0x200D || r == 0x200C:
			if i == 0 || !unicode.Is(unicode.Mn, rs[i-1]) && (i+1 == len(rs) || rs[i-1] < 0x80 || rs[i+1] < 0x80) {
				return "a joiner that joins nothing"
			}
		}
		if flag {
			return "a flag without an end"
		}
	}
	return ""
}

func TestEmojiAndScriptSequencesStayUnchanged(t *testing.T) {
	t.Parallel()
	for _, s := range unchanged {
		if got, _ := cleaned(t, s); got != s {
			t.Errorf("got %+q, want %+q", got, s)
		}
	}
}

// FuzzDecode checks that decoding is strict: an error is one line with a path, and
// what is accepted can be written and read back.
func FuzzDecode(f *testing.F) {
	in, _ := hostileInput(newSeededDice(3))
	if data, err := contract.EncodeInput(in); err == nil {
		f.Add(data)
	}
	f.Add([]byte(`{"identity":{"id":"U","name":"e"},"channel":{},"anchor":"1","messages":[{"id":"1","time":"1700000005.000100","author":{},"text":"x"}]}`))
	if dir := os.Getenv("EARSHOT_TEST_DATA"); dir != "" {
		files, _ := filepath.Glob(filepath.Join(dir, "spec", "json-suite", "*.json"))
		for _, name := range files {
			if data, err := os.ReadFile(name); err == nil && len(data) < 4096 {
				f.Add(data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := contract.Decode(data)
		var bad *assemble.InputError
		switch {
		case err == nil:
		case !errors.As(err, &bad) || bad.Path == "" || bad.Reason == "" || strings.ContainsAny(err.Error(), "\n\r") || !utf8.ValidString(err.Error()):
			t.Fatalf("an error that is no line with a path: %+q", err)
		default:
			return
		}
		first, err := contract.EncodeInput(in)
		if err != nil {
			t.Fatal(err)
		}
		back, err := contract.Decode(first)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, first)
		}
		if second, err := contract.EncodeInput(back); err != nil || string(second) != string(first) {
			t.Fatalf("written again it differs: %v\n%s\n%s", err, first, second)
		}
	})
}
