package picture

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
)

// A Stretch is something that lasts from From to To.
type Stretch struct {
	From, To earshot.Time // zero is open: the axis's own end
	Class    string       // known, missing, stale, s1…s8 …
	Label    string       // is written in the stretch where it fits
}

// A Row is a line of stretches. Later stretches are drawn over earlier ones.
type Row struct {
	Label     string
	Stretches []Stretch
}

// states are the classes that a legend under an axis explains.
var states = []string{"known", "missing", "stale", "full", "cut", "snippet", "out"}

// Axis draws rows of stretches over time, between two instants. Where from is 0, times
// are durations from the beginning, as those of the steps of a turn. Stretches outside
// are not drawn.
func Axis(title string, from, to earshot.Time, rows []Row) Picture {
	if to <= from {
		to = from + 1
	}
	t := timescale{from, to}
	return drawBoth(title, t.inWords(rows), func(c *canvas) {
		gutter, rowHeight, bar := 4.0, 34.0, 18.0
		if !c.narrow {
			for _, r := range rows {
				gutter = max(gutter, min(widthOf(r.Label, textSize)+12, 190))
			}
		} else {
			rowHeight = 44
		}
		width := c.w - gutter - 6
		x := func(at earshot.Time) float64 {
			return gutter + width*float64(min(max(at, from), to)-from)/float64(to-from)
		}
		bottom := 10 + rowHeight*float64(len(rows))
		free := 0.0 // from where on a tick's text has room
		for _, at := range t.ticks(int(c.pick(6, 4))) {
			c.line(x(at), 4, x(at), bottom, "grid")
			free = c.tickAt(x(at), bottom+16, t.text(at), free)
		}
		for i, r := range rows {
			y := 10 + rowHeight*float64(i) + (rowHeight-bar)/2
			if c.narrow {
				y += 8
				c.text(0, y-5, begin, "label", r.Label, c.w)
			} else {
				c.text(0, y+bar/2+5, begin, "label", r.Label, gutter-8)
			}
			c.WriteString(`<rect` + rectAttrs(gutter, y, width, bar) + ` class="c-none"/>` + "\n")
			for _, s := range r.Stretches {
				what := t.words(r.Label, s)
				s = t.closed(s)
				if s.To < from || s.From > to || s.To < s.From {
					continue
				}
				at, w := x(s.From), max(x(s.To)-x(s.From), 2)
				c.rect(min(at, gutter+width-2), y, w, bar, s.Class, what)
				// Letters stand on a plate of their own: textures would cut through them.
				if room := w - 12; s.Label != "" && widthOf(s.Label, smallSize) <= room {
					c.WriteString(`<rect` + rectAttrs(at+3, y+1.5, widthOf(s.Label, smallSize)+6, bar-3) + ` rx="2" class="ground"/>`)
					c.text(at+6, y+bar/2+4, begin, "value", s.Label, 0)
				}
			}
		}
		c.h = bottom + 24
		if used := legendOf(rows); len(used) > 0 {
			c.h = c.legend(used, 0, c.h+14) + 8
		}
	})
}

// tickAt writes a tick's text, moved inwards at the ends of the axis, if it does not
// touch the one before. It returns from where on there is room.
func (c *canvas) tickAt(x, y float64, s string, free float64) float64 {
	width := widthOf(s, smallSize)
	left := min(max(x-width/2, 0), c.w-width)
	if left < free {
		return free
	}
	switch left {
	case 0:
		c.text(0, y, begin, "tick", s, 0)
	case c.w - width:
		c.text(c.w, y, end, "tick", s, 0)
	default:
		c.text(x, y, middle, "tick", s, 0)
	}
	return left + width + 8
}

// legendOf explains the classes with a meaning that stretches have.
func legendOf(rows []Row) []entry {
	var out []entry
	for _, class := range states {
		if slices.ContainsFunc(rows, func(r Row) bool {
			return slices.ContainsFunc(r.Stretches, func(s Stretch) bool { return s.Class == class })
		}) {
			out = append(out, entry{name: class, class: class})
		}
	}
	return out
}

// A timescale is the time between two instants, or a duration where from is 0.
type timescale struct{ from, to earshot.Time }

// span is how long the axis is, at most the longest duration.
func (t timescale) span() time.Duration {
	if n := t.to - t.from; n > 0 && n < math.MaxInt64/earshot.Time(time.Microsecond) {
		return time.Duration(n) * time.Microsecond
	}
	return math.MaxInt64
}

// closed gives a stretch the ends of the axis where it is open. Durations have no
// open ends.
func (t timescale) closed(s Stretch) Stretch {
	if t.from == 0 {
		return s
	}
	if s.From == 0 {
		s.From = t.from
	}
	if s.To == 0 {
		s.To = t.to
	}
	return s
}

// units are the steps between ticks, up to days.
var units = []time.Duration{
	time.Millisecond, 2 * time.Millisecond, 5 * time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 50 * time.Millisecond,
	100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 5 * time.Second, 10 * time.Second, 15 * time.Second, 30 * time.Second,
	time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, 30 * time.Minute,
	time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour, 2 * 24 * time.Hour, 7 * 24 * time.Hour, 14 * 24 * time.Hour,
}

// ticks returns at most n+1 round instants.
func (t timescale) ticks(n int) []earshot.Time {
	span := t.span()
	var out []earshot.Time
	for _, u := range units {
		if span/u > time.Duration(n) {
			continue
		}
		step, monday := earshot.Time(u.Microseconds()), earshot.Time(0)
		if u%(7*24*time.Hour) == 0 {
			monday = earshot.Time(4 * 24 * time.Hour / time.Microsecond) // 1970-01-05
		}
		for at := monday + (t.from-monday+step-1)/step*step; at <= t.to; at += step {
			out = append(out, at)
		}
		return out
	}
	months := 1
	for _, m := range []int{1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400, 12000} {
		if months = m; span/(time.Duration(m)*30*24*time.Hour) <= time.Duration(n) {
			break
		}
	}
	first := t.from.UTC()
	at := time.Date(first.Year(), 1, 1, 0, 0, 0, 0, time.UTC)
	if months > 12 {
		at = time.Date(first.Year()/(months/12)*(months/12), 1, 1, 0, 0, 0, 0, time.UTC)
	}
	for ; earshot.TimeOf(at) <= t.to && len(out) < 20; at = at.AddDate(0, months, 0) {
		if earshot.TimeOf(at) >= t.from {
			out = append(out, earshot.TimeOf(at))
		}
	}
	return out
}

// text writes a tick, as exact as the axis needs it.
func (t timescale) text(at earshot.Time) string {
	if t.from == 0 {
		return formatElapsed(at)
	}
	switch span := t.span(); {
	case span < 10*time.Second:
		return at.UTC().Format("15:04:05.000")
	case span < 10*time.Minute:
		return at.UTC().Format("15:04:05")
	case span < 36*time.Hour:
		return at.UTC().Format("15:04")
	case span < 8*24*time.Hour:
		return at.UTC().Format("01-02 15:04")
	case span < 180*24*time.Hour:
		return at.UTC().Format("2006-01-02")
	}
	return at.UTC().Format("2006-01")
}

// formatElapsed writes a time since the beginning.
func formatElapsed(t earshot.Time) string {
	switch d := time.Duration(t) * time.Microsecond; {
	case d == 0:
		return "0"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < 2*time.Minute:
		return strconv.FormatFloat(d.Seconds(), 'g', 4, 64) + " s"
	default:
		return d.Round(time.Second).String()
	}
}

// exact writes an instant for the description.
func (t timescale) exact(at earshot.Time) string {
	switch {
	case t.from == 0:
		return formatElapsed(at)
	case t.span() < 36*time.Hour:
		return at.UTC().Format("2006-01-02 15:04:05")
	}
	return at.UTC().Format("2006-01-02 15:04")
}

// words says what a stretch is.
func (t timescale) words(row string, s Stretch) string {
	what := s.Class
	if !slices.Contains(states, what) {
		what = ""
	}
	if s.Label != "" {
		what = strings.TrimPrefix(what+", "+s.Label, ", ")
	}
	when := t.exact(s.From) + " to " + t.exact(s.To)
	if t.from != 0 {
		switch {
		case s.From == 0 && s.To == 0:
			when = "throughout"
		case s.From == 0:
			when = "up to " + t.exact(s.To)
		case s.To == 0:
			when = "from " + t.exact(s.From) + " on"
		}
	}
	return strings.TrimPrefix(row+": "+strings.TrimPrefix(what+", "+when, ", "), ": ")
}

// inWords says what an axis shows.
func (t timescale) inWords(rows []Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "A time axis from %s to %s.", t.exact(t.from), t.exact(t.to))
	for _, r := range rows {
		var list []string
		for _, s := range r.Stretches {
			list = append(list, t.words("", s))
		}
		if len(list) == 0 {
			list = []string{"nothing"}
		}
		fmt.Fprintf(&b, " %s: %s.", r.Label, strings.Join(list, "; "))
	}
	return b.String()
}
