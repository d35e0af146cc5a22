package index_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/search/index"
)

func TestTellingRanksWhatFewMessagesSay(t *testing.T) {
	t.Parallel()
	texts := []string{
		"thanks, that is what we wanted", "the deploy is done", "the deploy is done too", "the deploy of 1.4.2 waits for the lock on invoices", "is it?",
	}
	var terms [][]string
	for _, s := range texts {
		terms = append(terms, index.Terms(s))
	}
	got := index.Telling(terms)
	if best := slices.Index(got, slices.Max(got)); best != 3 {
		t.Errorf("%q is the most telling: %v", texts[best], got)
	}
	if got[4] != 0 {
		t.Errorf("stop words alone tell %v", got[4])
	}
	if got[0] >= got[3] {
		t.Errorf("weak words tell %v, rare ones %v", got[0], got[3])
	}
}

func TestTellingCountsAPasteForHalf(t *testing.T) {
	t.Parallel()
	paste := "panic goroutine running main.go exit status segfault addr pc sp stack heap alloc gc sweep mark idle worker trace dump end"
	said := strings.ReplaceAll(paste, " ", " and the ") // the same words in sentences
	tells := func(text string) float64 {
		return index.Telling([][]string{index.Terms(text), index.Terms("lunch")})[0]
	}
	if got, want := tells(paste), tells(said)/2; got < 0.8*want || got > 1.2*want {
		t.Errorf("the paste tells %v, want %v", got, want)
	}
}

func TestTellingCountsNearCopiesOnce(t *testing.T) {
	t.Parallel()
	terms := [][]string{
		index.Terms("please fill in the quarterly security survey before Friday noon"),
		index.Terms("lunch at the harbour"),
		index.Terms("please fill in the quarterly security survey before Friday noon, again"),
		index.Terms("lunch at the harbour"), // too short to be called a copy
	}
	got := index.Telling(terms)
	if got[0] == 0 || got[1] == 0 || got[2] != 0 || got[3] == 0 {
		t.Errorf("got %v", got)
	}
}
