package index

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "write synonyms_table.txt anew")

// tableOf reads synonyms.txt: what a word leads to, by terms.
func tableOf(text string) map[string][]string {
	table := map[string][]string{}
	lead := func(from, to string) {
		if from, to = wordTerms(from), wordTerms(to); from == "" || to == "" || from == to || slices.Contains(table[from], to) {
			return
		}
		table[from] = append(table[from], to)
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		general, kinds, oneWay := strings.Cut(line, " > ")
		if !oneWay {
			kinds = line
		}
		words := strings.Split(kinds, ",")
		for _, to := range words {
			if phrase(to) {
				continue // its words alone mean other things
			}
			if oneWay {
				lead(general, to)
				continue
			}
			for _, from := range words {
				lead(from, to)
			}
		}
	}
	return table
}

// phrase reports whether a word of the table is several.
func phrase(word string) bool { return strings.ContainsAny(strings.TrimSpace(word), " ") }

// wordTerms returns the terms of a word of the table, or "" where it is not
// looked up: one character of a script without spaces says too much, and of a
// phrase one word is left without its stop words.
func wordTerms(word string) string {
	word = strings.TrimSpace(word)
	terms := Terms(word)
	if len(terms) == 0 || len(terms) > maxSynonymRun {
		return ""
	}
	if !phrase(word) && strings.ContainsAny(terms[0], signs) {
		terms = terms[:1] // e-mail, and not its parts
	}
	r, _ := utf8.DecodeRuneInString(terms[0])
	if len(terms) == 1 && (home.stop[terms[0]] || kindOf(r) == pairs && utf8.RuneCountInString(terms[0]) == 1) {
		return ""
	}
	if said := slices.DeleteFunc(slices.Clone(terms), func(t string) bool { return home.stop[t] }); phrase(word) && len(said) < 2 {
		return ""
	}
	return strings.Join(terms, " ")
}

func TestTheTableOfSynonymsIsMadeOfTheList(t *testing.T) {
	text, err := os.ReadFile("synonyms.txt")
	if err != nil {
		t.Fatal(err)
	}
	table := tableOf(string(text))
	var b bytes.Buffer
	for _, word := range slices.Sorted(maps.Keys(table)) {
		list := strings.Join(table[word], "|")
		fmt.Fprintf(&b, "%s\t%s\n", word, list)
		if got, ok := synonymsOfWord(word); !*update && (!ok || got != list) {
			t.Errorf("%q has the synonyms %q, want %q", word, got, list)
		}
	}
	for _, word := range []string{"", "\x00", "zzzz", "あ"} {
		if got, ok := synonymsOfWord(word); ok {
			t.Errorf("%q has the synonyms %q", word, got)
		}
	}
	want := b.Bytes()
	if *update {
		if err := os.WriteFile("synonyms_table.txt", want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("synonyms_table.txt")
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("synonyms_table.txt is not what synonyms.txt says (%v): go test ./search/index -run TestTheTableOfSynonyms -update", err)
	}
	if len(table) < 3000 {
		t.Errorf("only %d words have synonyms", len(table))
	}
}
