package rule

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"pgregory.net/rapid"

	"github.com/earshot-ai/earshot"
)

func finder(t interface{ Fatal(...any) }, text string) Finder {
	f, err := NewFinder(text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestATextIsFoundHoweverAWriterOfJSONSpellsIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, in string }{
		{"café", `{"text":"caf\u00E9"}`},
		{"café", `{"text":"caf\u00e9"}`},
		{"café", `{"text":"\u0063afé"}`},
		{"a\u007fb", `{"text":"a\u007Fb"}`},
		{"a\u007fb", "{\"text\":\"a\u007fb\"}"},
		{"<@U1>", `{"text":"\u003C@U1\u003e"}`},
		{"a & b", `{"text":"a &amp; b"}`},
		{"a & b", `{"text":"a \u0026amp; b"}`},
		{"https://x/y", `{"text":"https:\/\/x\/y"}`},
		{"😀!", `{"text":"\uD83D\uDe00!"}`},
		{"say \"é\"", `{"payload":"{\"text\":\"say \\\"\\u00E9\\\"\"}"}`},
		{"é", `{"payload":"{\"text\":\"\u005Cu00e9\"}"}`},
		{"two\nlines", `{"text":"two\u000alines"}`},
		{`C:\new`, `C:\new`},
		{`C:\new`, `{"text":"C:\\new"}`},
		{"nora", `{"text":"\\nora"}`},
		{"x\uFFFDy", `{"text":"x\ud800y"}`},
		{"bb", `\bbb`},
	} {
		if !finder(t, c.text).In([]byte(c.in)) {
			t.Errorf("%q is not found in %s", c.text, c.in)
		}
	}
	for _, c := range []struct{ text, in string }{
		{"café", `{"text":"cafe\u0301"}`}, {"é", `\u00e`}, {"é", `\u00ea`}, {"Café", `caf\u00e9`}, {"😀", `\ud83d`}, {"ab", `a\nb`},
	} {
		if finder(t, c.text).In([]byte(c.in)) {
			t.Errorf("%q is found in %s", c.text, c.in)
		}
	}
	if _, err := NewFinder(""); !errors.Is(err, earshot.ErrInvalid) {
		t.Errorf("an empty text: %v", err)
	}
}

// A writer that chooses a spelling for each character is read back, at each level of
// nesting, and what json.Unmarshal reads is the judge.
func TestEverySpellingOfATextIsFound(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(1, 12, -1).Filter(func(s string) bool { return Text(s) == s }).Draw(t, "text")
		spelled := text
		for range rapid.IntRange(1, levels-1).Draw(t, "levels") {
			var b strings.Builder
			for _, r := range `{"` + spelled + `"}` {
				hex := rapid.SampledFrom([]string{"%04x", "%04X"}).Draw(t, "hex")
				switch escaped := rapid.Bool().Draw(t, "escaped"); {
				case escaped && r > 0xFFFF:
					high, low := utf16.EncodeRune(r)
					fmt.Fprintf(&b, `\u`+hex+`\u`+hex, high, low)
				case escaped || r < ' ' || r == '"' || r == '\\':
					fmt.Fprintf(&b, `\u`+hex, r)
				default:
					b.WriteRune(r)
				}
			}
			var back string
			if err := json.Unmarshal([]byte(`"`+b.String()+`"`), &back); err != nil || back != `{"`+spelled+`"}` {
				t.Fatalf("the writer is wrong: %q, %v", back, err)
			}
			spelled = b.String()
		}
		if f := finder(t, text); !f.In([]byte(spelled)) || len(spelled) > f.Longest()+100*longest {
			t.Fatalf("%q is not found in %q", text, spelled)
		}
	})
}

// FuzzFinder holds a Finder to what encoding/json reads.
func FuzzFinder(f *testing.F) {
	f.Add("é", `"caf\u00E9"`)
	f.Fuzz(func(t *testing.T, text, in string) {
		var s string
		if text == "" || json.Unmarshal([]byte(in), &s) != nil {
			return
		}
		if strings.Contains(s, text) && !finder(t, text).In([]byte(in)) {
			t.Errorf("%q is not found in %s", text, in)
		}
	})
}
