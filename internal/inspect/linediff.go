package inspect

import "slices"

// The signs of a line in a diff.
const (
	diffSame    = ' '
	diffAdded   = '+'
	diffRemoved = '-'
)

// A diffLine is a line of a diff: the index of the line in the old text, in the new
// text, or both. Where it is not in one of them, that index is -1.
type diffLine struct {
	Sign     rune
	Was, Now int
}

// maxDiff bounds the work of a diff: so many lines that were added or removed, beyond
// the common beginning and end, are looked for. Past it the rest is said to be
// replaced as a whole, so that two texts of any size take little time.
const maxDiff = 1000

// diffOf compares two texts line by line. It finds the fewest added and removed lines
// (Myers) as long as they are at most maxDiff.
func diffOf(was, now []string) []diffLine {
	begin := 0
	for begin < len(was) && begin < len(now) && was[begin] == now[begin] {
		begin++
	}
	end := 0
	for end < len(was)-begin && end < len(now)-begin && was[len(was)-1-end] == now[len(now)-1-end] {
		end++
	}
	out := make([]diffLine, 0, max(len(was), len(now)))
	for i := range begin {
		out = append(out, diffLine{diffSame, i, i})
	}
	for _, l := range middleDiff(was[begin:len(was)-end], now[begin:len(now)-end]) {
		if l.Was >= 0 {
			l.Was += begin
		}
		if l.Now >= 0 {
			l.Now += begin
		}
		out = append(out, l)
	}
	for i := end; i > 0; i-- {
		out = append(out, diffLine{diffSame, len(was) - i, len(now) - i})
	}
	return out
}

// middleDiff compares what is left between the common beginning and end. Furthest has,
// for each number of changes, how far into was each diagonal comes with that many.
func middleDiff(was, now []string) []diffLine {
	n, m := len(was), len(now)
	bound := min(n+m, maxDiff)
	reach := make([]int, 2*bound+2) // by diagonal: index in was minus index in now, plus bound
	var furthest [][]int
	for changes := 0; changes <= bound; changes++ {
		furthest = append(furthest, slices.Clone(reach[bound-changes:bound+changes+1]))
		for d := -changes; d <= changes; d += 2 {
			x := stepTo(reach, bound, d, changes)
			for x < n && x-d < m && was[x] == now[x-d] {
				x++
			}
			reach[bound+d] = x
			if x >= n && x-d >= m {
				return walkBack(furthest, n, m)
			}
		}
	}
	out := make([]diffLine, 0, n+m)
	for i := range was {
		out = append(out, diffLine{diffRemoved, i, -1})
	}
	for i := range now {
		out = append(out, diffLine{diffAdded, -1, i})
	}
	return out
}

// stepTo returns how far into the old text diagonal d comes with one change more: by a
// line that is removed, from the diagonal below, or one that is added, from above.
func stepTo(reach []int, at, d, changes int) int {
	if changes == 0 {
		return 0
	}
	if d == -changes || d != changes && reach[at+d-1] < reach[at+d+1] {
		return reach[at+d+1] // added
	}
	return reach[at+d-1] + 1 // removed
}

// walkBack reads the path that was found from its end.
func walkBack(furthest [][]int, n, m int) []diffLine {
	var out []diffLine
	x, y := n, m
	for changes := len(furthest) - 1; changes >= 0; changes-- {
		reach, d := furthest[changes], x-y // reach[i] is diagonal i-changes
		added := d == -changes || d != changes && reach[d-1+changes] < reach[d+1+changes]
		px, py := 0, 0
		if changes > 0 {
			if added {
				px = reach[d+1+changes]
				py = px - (d + 1)
			} else {
				px = reach[d-1+changes]
				py = px - (d - 1)
			}
		}
		bx, by := px, py // where the lines begin that are the same after the change
		if changes > 0 {
			if added {
				by++
			} else {
				bx++
			}
		}
		for x > bx && y > by {
			x, y = x-1, y-1
			out = append(out, diffLine{diffSame, x, y})
		}
		if changes == 0 {
			break
		}
		if added {
			out = append(out, diffLine{diffAdded, -1, py})
		} else {
			out = append(out, diffLine{diffRemoved, px, -1})
		}
		x, y = px, py
	}
	slices.Reverse(out)
	return out
}
