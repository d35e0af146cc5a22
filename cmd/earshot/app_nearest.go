package main

import (
	"slices"
	"strings"
)

// nearestNames returns up to three names that are spelled like want, the most similar
// first: at most a third of the letters differ, or want is a part of the name.
func nearestNames(want string, names []string) []string {
	type near struct {
		name string
		dist int
	}
	var list []near
	want = strings.ToLower(want)
	for _, n := range names {
		low := strings.ToLower(n)
		d := editDistance(want, low)
		if want != "" && strings.Contains(low, want) {
			d = min(d, 1)
		}
		if d <= max(1, len([]rune(want))/3) {
			list = append(list, near{n, d})
		}
	}
	slices.SortStableFunc(list, func(x, y near) int { return x.dist - y.dist })
	var out []string
	for _, n := range list[:min(3, len(list))] {
		out = append(out, n.name)
	}
	return out
}

// editDistance returns the edit distance of two words (Levenshtein).
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diag := row[0]
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			diag, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diag+cost)
		}
	}
	return row[len(y)]
}
