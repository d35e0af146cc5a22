package index_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search"
)

// A question that speaks of "me" is about whoever asks it.
func TestWhoAsksIsPartOfTheQuestion(t *testing.T) {
	t.Parallel()
	by := func(seq int64, id, author, text string) earshot.Terms {
		m := said(seq, id, int(seq)*200, strings.ToLower(author), text)
		m.Name = author
		return m
	}
	dora := said(6, "m6", 1200, "u7", "I promise a report in a week")
	dora.Name = "Dora"
	x := indexOf(
		dora,
		by(1, "m1", "Ana Ilić", "I promise the report for Friday"),
		by(2, "m2", "Bo", "I promise the report too, for Monday"),
		by(3, "m3", "Ana Ruiz", "I promise a report"),
		by(4, "m4", "Cleo", "@bo do you promise a report on the harbour?"),
		by(5, "m5", "Cleo", "nobody reads any of this"),
	)
	ana, bo := earshot.Author{ID: "ana ilić", Name: "Ana"}, earshot.Author{ID: "bo", Name: "Bo"}
	for _, c := range []struct {
		text  string
		asker earshot.Author
		want  []string // among the first, in any order
	}{
		{"which report did I promise?", ana, []string{"m1"}}, // and not the other Ana
		{"which report did I promise?", bo, []string{"m2", "m4"}},
		{"which report did I promise?", earshot.Author{ID: "u7"}, []string{"m6"}}, // the caller knows no name
		{"which report was promised to me?", bo, []string{"m2", "m4"}},
		{"welk report heb ik aan jullie promise?", bo, []string{"m2", "m4"}},
		{"ktorý report som promise, a kedy mi ho daj môj?", bo, []string{"m2", "m4"}},
		{"僕 の report は promise いつ?", bo, []string{"m2", "m4"}},
	} {
		first := map[string]bool{}
		for _, h := range x.Search(search.Query{Text: c.text, Asker: c.asker, Limit: len(c.want)}) {
			first[string(h.ID)] = true
		}
		for _, id := range c.want {
			if !first[id] {
				t.Errorf("%q by %s: %s is not among the first: %v", c.text, c.asker.Name, id, first)
			}
		}
	}
	// Whoever asks of somebody else, or in another language's look-alike, asks as anybody.
	for _, text := range []string{"which report did Cleo promise?", "il report i promise che è di Cleo", "je report, dat jullie promise"} {
		nobody := x.Search(search.Query{Text: text})
		if diff := cmp.Diff(nobody, x.Search(search.Query{Text: text, Asker: bo})); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}

// A word in Katakana is one word, however many pairs of characters it is cut into.
func TestAWordInKatakanaIsOneWord(t *testing.T) {
	t.Parallel()
	x := indexOf(
		said(1, "m1", 0, "a", "スポンサーシップの話はもうない"),
		said(2, "m2", 200, "b", "会場の費用を払った人"),
		said(3, "m3", 400, "c", "昼ごはん"),
	)
	hits := x.Search(search.Query{Text: "スポンサーシップ会場費用"})
	if got := ids(hits); got != "m2 m1" {
		t.Errorf("two words of the question stand behind one: got %s, want m2 m1", got)
	}
	if got := ids(x.Search(search.Query{Text: "サーバーのスポンサー"})); got != "m1" {
		t.Errorf("a word that a longer one has: got %q, want m1", got)
	}
}

// What was said lately does not stand before what has more of the words.
func TestRecencyIsNoWord(t *testing.T) {
	t.Parallel()
	x := indexOf(said(1, "all", 0, "a", "anchor crane quay insurance permit"))
	for i := range 20_000 {
		x.Add(said(int64(i+2), fmt.Sprint("m", i), i+1, "b", "lunch is at noon"))
	}
	x.Add(said(30_000, "three", 30_000, "c", "permit crane anchor"))
	q := search.Query{Text: "quay permit crane insurance anchor", At: minutes(30_001), Limit: 2}
	if got := ids(x.Search(q)); got != "all three" {
		t.Errorf("got %s, want what has all the words first", got)
	}
}
