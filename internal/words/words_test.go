package words

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the tables of docs/language.md")

// Every language says every sentence, with the places that English has; what stands on a button
// fits there; and no text has two meanings that are told apart.
func TestLanguagesAreWhole(t *testing.T) {
	t.Parallel()
	if len(Languages()) < 6 {
		t.Errorf("there are only %v", Languages())
	}
	for code, l := range languages {
		for _, k := range Keys() {
			if err := Check(k, l.Sentences[k]); err != nil {
				t.Errorf("%s: %s: %v", code, k, err)
			}
			if got := keys[l.Sentences[k]]; slices.Contains(notices, k) && got != k {
				t.Errorf("%s: %s is also %s", code, k, got)
			}
		}
		if len(l.Sentences) != len(Keys()) || l.Name == "" {
			t.Errorf("%s has %d sentences, and there are %d; its name is %q", code, len(l.Sentences), len(Keys()), l.Name)
		}
		for what, list := range l.Said {
			for _, text := range list {
				if text != strings.ToLower(text) || !Means(text+"!", what) {
					t.Errorf("%s: %q is not understood as %s", code, text, what)
				}
			}
		}
	}
	for _, text := range said[SaidYes] {
		if Means(text, SaidNo) || Means(text, SaidStop) {
			t.Errorf("%q is a yes and something else", text)
		}
	}
}

// Every key of keys.go has a sentence, and every sentence a key.
func TestKeysAreThoseOfTheTable(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("keys.go")
	if err != nil {
		t.Fatal(err)
	}
	var declared []Key
	for _, m := range regexp.MustCompile(`Key\s+= "([a-z_]+)"`).FindAllStringSubmatch(string(source), -1) {
		declared = append(declared, Key(m[1]))
	}
	if slices.Sort(declared); !slices.Equal(declared, Keys()) {
		t.Errorf("keys.go has %v\nthe table has %v", declared, Keys())
	}
}

func TestSentences(t *testing.T) {
	t.Parallel()
	own := In("de", map[string]string{"stopped": "(Basta.)", "agreed": "no place", "nonsense": "x"})
	for got, want := range map[string]string{
		own.Say(Stopped): "(Basta.)",
		own.Say(TooLong): "Entschuldigung, das konnte ich nicht rechtzeitig beantworten.",
		own.Say(Agreed, "who", "{result} & {who}"): "{result} & {who} hat zugestimmt.",
		In("xx", nil).Say(Stop):                    "Stop",
		Table{}.Say(Minutes, "number", "5"):        "5 minutes",
		string(own.KeyOf("(Basta.)")):              "stopped",
		string(own.KeyOf("(Arrêté.)")):             "stopped",
		string(own.KeyOf("hello")):                 "",
		fmt.Sprint(own.Notices()):                  "[(Basta.)]",
		fmt.Sprint(IsNotice("(Detenido.)", nil), IsNotice("Stop", nil), IsNotice("", nil)): "true false false",
		fmt.Sprint(IsNotice(own.Say(LimitAll, "time", "00:00 UTC"), nil), IsNotice("Ask again after 00:00 UTC.", nil), IsNotice("Genug bis morgen um 9!", []string{"Genug bis {time}!"}), IsNotice("Genug.", []string{"Genug bis {time}!"})): "true false true false",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestWordsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		key       Key
		text, why string
	}{
		{"nonsense", "x", "no such sentence"}, {LimitPerson, "bis {time}", "something besides the time"}, {Failed, " \n", "empty"}, {Failed, strings.Repeat("x", 1001), "longer than 1000 bytes"},
		{Do, strings.Repeat("ä", 41), "stands on a button"}, {Agreed, "Yes.", `has to have ["who"]`}, {Failed, "Ask {who}.", `the places ["who"]`},
		{Agreed, "{who} and {who} agreed", "each once"}, {Agreed, "{who", ""},
	} {
		if err := Check(c.key, c.text); c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why)) {
			t.Errorf("%s %q: got %v", c.key, c.text, err)
		}
	}
	if err := CheckLanguage("xx"); err == nil || !strings.Contains(err.Error(), "de, en, es") || CheckLanguage("") != nil {
		t.Errorf("got %v", err)
	}
}

// The tables of docs/language.md are the files.
func TestTheDocumentHasTheSentences(t *testing.T) {
	t.Parallel()
	const path, mark = "../../docs/language.md", "<!-- The tables: go test ./internal/words -update -->\n"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, after, ok := strings.Cut(string(text), mark)
	if !ok {
		t.Fatal("the mark is missing")
	}
	var b strings.Builder
	b.WriteString("\n| key | English |\n|---|---|\n")
	for _, k := range Keys() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", k, strings.ReplaceAll(Table{}.Standing(k), "\n", "<br>"))
	}
	b.WriteString("\n| code | language | yes | no | stop |\n|---|---|---|---|---|\n")
	for _, code := range Languages() {
		l := languages[code]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", code, l.Name, strings.Join(l.Said[SaidYes], ", "), strings.Join(l.Said[SaidNo], ", "), strings.Join(l.Said[SaidStop], ", "))
	}
	if b.String() == after {
		return
	}
	if !*update {
		t.Fatal("docs/language.md is old: go test ./internal/words -update")
	}
	if err := os.WriteFile(path, []byte(before+mark+b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
