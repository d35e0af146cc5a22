package transcript_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/transcript"
	"github.com/earshot-ai/earshot/tokens"
)

// secretWord returns a word of letters that no placeholder has.
func secretWord(n int) string {
	const letters = "bdghsy"
	word := "bgdhyb"
	for ; n > 0; n /= len(letters) {
		word += letters[n%len(letters) : n%len(letters)+1]
	}
	return word
}

// hide puts secrets into every text of a value, by reflection: a field that is new
// is filled too.
func hide(v reflect.Value, n *int) {
	switch v.Kind() {
	case reflect.String:
		*n++
		s := secretWord(*n)
		v.SetString(strings.NewReplacer("SECRET", s, "Secret", strings.ToUpper(s[:1])+s[1:]).Replace(
			[]string{"SECRET", "Secret SECRET.SECRET@SECRET.com", "`SECRET`\n```\nSECRET_12\n```", "<@SECRET|Secret> <#SECRET|SECRET> <!subteam^SECRET|@SECRET>",
				"https://u:SECRET@SECRET.example/SECRET?SECRET=1#SECRET ftp://SECRET/x", `{"SECRET":"SECRET","text":["<@SECRET>",{"id":"SECRET"},12]}`,
				"SECRET.SECRET", ":SECRET:", "a\u0301SECRET\u200dSECRET"}[*n%9]))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		hide(v.Elem(), n)
	case reflect.Struct:
		for i := range v.NumField() {
			hide(v.Field(i), n)
		}
	case reflect.Slice:
		const several = 10 // so that every form of a secret stands in every field
		v.Set(reflect.MakeSlice(v.Type(), several, several))
		for i := range several {
			hide(v.Index(i), n)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		hide(key, n)
		hide(value, n)
		v.SetMapIndex(key, value)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Bool:
		v.SetBool(true)
	}
}

// found returns three letters of a secret that stand in a text; "" for none.
func found(text string) string {
	text = strings.ToLower(text)
	for i := 0; i+3 <= len(text); i++ {
		if strings.Trim(text[i:i+3], "bdghsy") == "" {
			return text[i : i+3]
		}
	}
	return ""
}

func TestNothingOfAnyFieldSurvivesRedaction(t *testing.T) {
	t.Parallel()
	for from := range 9 { // each field gets each form of a secret once
		var in assemble.Input
		n := from
		hide(reflect.ValueOf(&in).Elem(), &n)
		if n < 400 {
			t.Fatalf("only %d texts were filled", n)
		}
		texts := 0
		var walk func(path string, v reflect.Value)
		walk = func(path string, v reflect.Value) {
			switch v.Kind() {
			case reflect.String:
				texts++
				if s := found(v.String()); s != "" {
					t.Errorf("%s has %q of a secret: %q", path, s, v.String())
				}
			case reflect.Pointer, reflect.Interface:
				if !v.IsNil() {
					walk(path, v.Elem())
				}
			case reflect.Struct:
				for i := range v.NumField() {
					walk(path+"."+v.Type().Field(i).Name, v.Field(i))
				}
			case reflect.Slice:
				for i := range v.Len() {
					walk(path, v.Index(i))
				}
			case reflect.Map:
				for _, k := range v.MapKeys() {
					walk(path+"[key]", k)
					walk(path, v.MapIndex(k))
				}
			}
		}
		redacted := transcript.Redact(in)
		walk("Input", reflect.ValueOf(redacted))
		if texts != n-from {
			t.Errorf("%d texts became %d", n-from, texts)
		}
		if s := found(string(transcript.Format(transcript.Case{Input: redacted}))); s != "" {
			t.Errorf("the written case has %q of a secret", s)
		}
	}
}

func TestWhatRedactionKeeps(t *testing.T) {
	t.Parallel()
	alice := earshot.Author{ID: "U07ALICE", Name: "Alice", Kind: earshot.Human, Zone: "Europe/Berlin"}
	counter, err := tokens.For("")
	if err != nil {
		t.Fatal(err)
	}
	in := assemble.Input{
		Counter: counter, Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"}, Anchor: "1772442060.5",
		Messages: []earshot.Message{
			{ID: "1772442060.5", Time: 1772442060500000, Author: alice, Thread: "1772442000.1", Mentions: []earshot.AuthorID{"U0BOT"},
				Text: "<@U0BOT> Why did build 812 FAIL, <@U07ALICE|Alice>?\n```\nmake: *** [all] Error 2\n```\nsee https://ci.corp.example/job/812?tab=log"},
			{ID: "1772442000.1", Time: 1772442000100000, Author: earshot.Author{ID: "B1", Name: "CI", Kind: earshot.Bot}, Text: "Пример и 例え",
				Files: []earshot.File{{ID: "F1", Name: "Q3 numbers.PDF", Type: "application/pdf", Size: 99, SHA256: "ab"}}},
		},
	}
	was := fmt.Sprint(in)
	out := transcript.Redact(in)
	if fmt.Sprint(in) != was {
		t.Error("the input was changed")
	}
	m, root := out.Messages[0], out.Messages[1]
	if m.ID != out.Anchor || m.Thread != root.ID || root.ID >= m.ID || m.Mentions[0] != out.Identity.ID || m.Time != in.Messages[0].Time {
		t.Errorf("the structure changed: %+v", out)
	}
	if m.Author.Name != "Person A" || root.Author.Name != "App B" || out.Identity.Name != "App A" || m.Author.Zone != "Etc/GMT-1" {
		t.Errorf("names: %q, %q, %q, zone %q", m.Author.Name, root.Author.Name, out.Identity.Name, m.Author.Zone)
	}
	if f := root.Files[0]; f.Name != "file-1.pdf" || f.Type != "application/pdf" || f.Size != 99 || len(f.SHA256) != 64 {
		t.Errorf("file: %+v", f)
	}
	if strings.Join(strings.FieldsFunc(m.Text, func(c rune) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }), "") !=
		"<@3>    000 , <@2| >?\n```\n: *** []  0\n```\n ://.//000?=" {
		t.Errorf("the text is %q", m.Text)
	}
	if !strings.Contains(m.Text, "https://example.invalid/") || !strings.Contains(m.Text, "000 ") || !strings.Contains(m.Text, "|Person A>") {
		t.Errorf("the text is %q", m.Text)
	}
	if got, want := counter.Count(m.Text), counter.Count(in.Messages[0].Text); got < want-6 || got > want+6 {
		t.Errorf("the text has %d tokens, it had %d: %q", got, want, m.Text)
	}
	if root.Text != "Аааааа а 字か" {
		t.Errorf("other scripts: %q", root.Text)
	}
	if diff := cmp.Diff(transcript.Format(transcript.Case{Input: transcript.Redact(in)}), transcript.Format(transcript.Case{Input: out})); diff != "" {
		t.Errorf("a second time it is another one: %s", diff)
	}
}

func TestARedactedReportSaysWhatDiffers(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../testdata/cases/delta-newest-win.txtar")
	if err != nil {
		t.Fatal(err)
	}
	c, err := transcript.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	if c.Input.Counter, err = tokens.For(c.Counter); err != nil {
		t.Fatal(err)
	}
	res, err := assemble.Turn(c.Input)
	if err != nil {
		t.Fatal(err)
	}
	report, err := transcript.RedactedReport("turn 42", c.Input, res)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("turn 42\nRedacted. All %d messages have the verdict that they had.", len(res.Ledger)); !strings.HasPrefix(report.Comment, want) {
		t.Errorf("the comment is %q, want it to begin with %q", report.Comment, want)
	}
	read, err := transcript.Parse(transcript.Format(report))
	if err != nil {
		t.Fatal(err)
	}
	read.Input.Counter = c.Input.Counter
	again, err := assemble.Turn(read.Input)
	if err != nil {
		t.Fatal(err)
	}
	if got := transcript.Prompt(again); got != read.Prompt || got == transcript.Prompt(res) {
		t.Errorf("the case has the prompt %q and gives %q", read.Prompt, got)
	}
	res.Ledger[0].Verdict, res.Ledger[1].Verdict = "other", "other"
	report, err = transcript.RedactedReport("turn 42", c.Input, res)
	if want := fmt.Sprintf("2 of %d messages have another verdict", len(res.Ledger)); err != nil || !strings.Contains(report.Comment, want) {
		t.Errorf("the comment is %q, %v, want %q in it", report.Comment, err, want)
	}
}

// TestRedactedCasesAssembleAlike redacts the assembler's cases, and compares the
// verdicts.
func TestRedactedCasesAssembleAlike(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../testdata/cases/*.txtar")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	same, rows, alike := 0, 0, 0
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		c, err := transcript.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if c.Input.Counter, err = tokens.For(c.Counter); err != nil {
			t.Fatal(err)
		}
		before, err := assemble.Turn(c.Input)
		if err != nil {
			continue // a case of an error
		}
		redacted := transcript.Redact(c.Input)
		written := transcript.Format(transcript.Case{Input: redacted, Counter: c.Counter})
		read, err := transcript.Parse(written)
		if err != nil {
			t.Fatalf("%s: %v\n%s", file, err, written)
		}
		read.Input.Counter = redacted.Counter
		after, err := assemble.Turn(read.Input)
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
			continue
		}
		if len(after.Ledger) != len(before.Ledger) {
			t.Errorf("%s: the ledger has %d rows, had %d", filepath.Base(file), len(after.Ledger), len(before.Ledger))
			continue
		}
		differ := 0
		for i, row := range before.Ledger {
			if after.Ledger[i].Verdict != row.Verdict || after.Ledger[i].Section != row.Section {
				differ++
			}
		}
		if rows, alike = rows+len(before.Ledger), alike+len(before.Ledger)-differ; differ == 0 {
			same++
		} else {
			t.Logf("%s: %d of %d verdicts differ", filepath.Base(file), differ, len(before.Ledger))
		}
	}
	t.Logf("%d of %d cases have the same verdicts, %d of %d rows", same, len(files), alike, rows)
	if same*10 < len(files)*9 || alike*100 < rows*95 {
		t.Error("too few")
	}
}
