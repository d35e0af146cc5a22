package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
)

// How much of a timeline is listed. What the prompt shows always is; of what it does
// not, so that a page with thousands of candidates opens at once, a few.
const (
	leastRun  = 4   // fewer in a row are not folded
	runShows  = 30  // of a folded run, its newest
	listedAll = 300 // of all runs together
	runPage   = 200 // of a run that was asked for
)

// An entry of a timeline is one of its three fields.
type entry struct {
	day string
	row *candidate
	run *messageRun
}

// A messageRun is consecutive messages of which a page shows only how many they are.
type messageRun struct {
	count   int
	title   string
	reasons []string // how many for which reason
	rows    []entry
	open    bool
	first   int // index of its first message
	before  int // how many of it stand before rows
	after   int // how many of it stand behind rows
	older   int // where a page of those before rows begins
	newer   int // where one of those behind rows begins
}

// timelineOf makes entries of candidates. Those for which folds is true are folded
// where there are several in a row. From is the index of a candidate: its run is open
// and lists from there; -1 opens none.
func timelineOf(list []candidate, from int, folds func(*candidate) bool, title func(count int, of []candidate) (string, []string)) []entry {
	var out []entry
	var days dayLines
	left := listedAll
	for i := 0; i < len(list); {
		j := i
		for j < len(list) && folds(&list[j]) {
			j++
		}
		if j-i < leastRun {
			j = max(j, i+1)
			for ; i < j; i++ {
				out = days.row(out, &list[i])
			}
			continue
		}
		r := &messageRun{count: j - i, first: i}
		r.title, r.reasons = title(j-i, list[i:j])
		begin, end := max(i, j-min(runShows, left)), j
		if from >= i && from < j {
			r.open = true
			begin, end = from, min(j, from+runPage)
		} else {
			left -= end - begin
		}
		r.before, r.after = begin-i, j-end
		r.older, r.newer = max(i, begin-runPage), end
		var inner dayLines
		for k := begin; k < end; k++ {
			r.rows = inner.row(r.rows, &list[k])
		}
		out = append(out, entry{run: r})
		i = j
	}
	return out
}

// dayLines puts a line before the first message of each day.
type dayLines struct{ last string }

func (d *dayLines) row(out []entry, c *candidate) []entry {
	if day := c.at.Format("Mon 2 Jan 2006"); day != d.last {
		d.last = day
		out = append(out, entry{day: day})
	}
	return append(out, entry{row: c})
}

// notHere reports whether this turn's part of the prompt does not show a message.
func notHere(c *candidate) bool { return c.Verdict == earshot.Out && !c.asked }

// isUnmoved reports whether a message is where it was before the change.
func isUnmoved(c *candidate) bool { return !c.moved() && !c.asked }

// titleOut is the heading of a run of messages that this turn's part of the prompt does
// not show, and how many of them for which reason.
func titleOut(count int, of []candidate) (string, []string) {
	session := 0
	for i := range of {
		if of[i].Seen {
			session++
		}
	}
	title := plain.Count(count, "message") + " left out"
	switch {
	case session == count:
		title = plain.Count(count, "message") + " that the session shows already"
	case session > 0:
		title = fmt.Sprintf("%s: %s in the session already, %s left out", plain.Count(count, "message"), plain.Number(session), plain.Number(count-session))
	}
	return title, reasonCounts(of)
}

// titleSame is the heading of a run of messages that a change does not move.
func titleSame(count int, of []candidate) (string, []string) {
	byVerdict := map[earshot.Verdict]int{}
	for i := range of {
		byVerdict[of[i].Verdict]++
	}
	var parts []string
	for _, v := range []earshot.Verdict{earshot.Full, earshot.Cut, earshot.Snippet, earshot.Out} {
		if n := byVerdict[v]; n > 0 {
			parts = append(parts, plain.Number(n)+" "+string(v))
		}
	}
	return fmt.Sprintf("%s unchanged: %s", plain.Count(count, "message"), strings.Join(parts, ", ")), nil
}

// reasonCounts counts messages by reason, the most frequent first.
func reasonCounts(of []candidate) []string {
	count := map[string]int{}
	var order []string
	for i := range of {
		why := strings.TrimPrefix(of[i].Why, "left out: ")
		if count[why] == 0 {
			order = append(order, why)
		}
		count[why]++
	}
	slices.SortStableFunc(order, func(x, y string) int { return cmp.Compare(count[y], count[x]) })
	for i, why := range order {
		order[i] = plain.Number(count[why]) + " " + why
	}
	return order
}
