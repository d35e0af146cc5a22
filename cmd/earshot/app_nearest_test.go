package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestNearestNames(t *testing.T) {
	t.Parallel()
	names := []string{"general", "deploys", "incidents", "import-workers", "Büro"}
	for _, c := range []struct {
		name, want string
		near       []string
	}{
		{"one letter is wrong", "generel", []string{"general"}},
		{"two letters are swapped", "deplyos", []string{"deploys"}},
		{"case does not matter", "INCIDENTS", []string{"incidents"}},
		{"a part of the name", "workers", []string{"import-workers"}},
		{"a letter counts once, whatever its bytes", "büros", []string{"Büro"}},
		{"another word", "kitchen", nil},
		{"nothing", "", nil},
	} {
		if diff := cmp.Diff(nearestNames(c.want, names), c.near); diff != "" {
			t.Errorf("%s: -got +want\n%s", c.name, diff)
		}
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		x, y string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"flaw", "lawn", 2}, {"same", "same", 0}, {"über", "uber", 1}} {
		if got, back := editDistance(c.x, c.y), editDistance(c.y, c.x); got != c.want || back != c.want {
			t.Errorf("%q and %q: got %d, backwards %d, want %d", c.x, c.y, got, back, c.want)
		}
	}
}
