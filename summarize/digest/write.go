package digest

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/zones"
)

// What a digest is written with, and read back by.
const (
	stamp    = "2 Jan 2006 15:04"
	tookPart = "Took part: "
	bullet   = "- "
	others   = " and others"
)

// maxPeople is how many people are named, in a quarter of the room.
const maxPeople = 12

// before reads the summary that this one continues. A digest's lines compete with
// the new ones; what a model wrote is kept as it is, cut to a part of the room.
func (d *digest) before() {
	b := d.in.Before
	if b.By != earshot.ByDigest || !strings.HasPrefix(b.Text, Head) {
		d.earlier = oneLine(b.Text)
		return
	}
	p, found := telling, false
	for s := range strings.Lines(b.Text) {
		s = strings.TrimSuffix(s, "\n")
		if people, ok := strings.CutPrefix(s, tookPart); ok {
			d.readPeople(people)
			continue
		}
		if earlier, ok := strings.CutPrefix(s, earlierHead); ok {
			d.earlier = earlier
			continue
		}
		for i, h := range headings {
			if s == h.title {
				p, found = part(i), true
			}
		}
		if text, ok := strings.CutPrefix(s, bullet); ok && found {
			d.lines = append(d.lines, line{part: p, text: text, said: afterHead(text), own: strings.HasPrefix(afterStamp(text), d.in.Identity.Name+": ")})
		}
	}
	for i := range d.lines {
		d.lines[i].order = i - len(d.lines)
	}
}

// afterStamp returns what stands behind a line's day and time.
func afterStamp(text string) string {
	fields := strings.SplitN(text, " ", 5)
	if len(fields) < 5 {
		return text
	}
	if _, err := time.Parse(stamp, strings.Join(fields[:4], " ")); err != nil {
		return text
	}
	return fields[4]
}

// afterHead returns what was said in a line. A speaker's name has no colon.
func afterHead(text string) string {
	_, said, _ := strings.Cut(afterStamp(text), ": ")
	return said
}

func (d *digest) readPeople(list string) {
	for p := range strings.SplitSeq(strings.TrimSuffix(list, others), ", ") {
		i := strings.LastIndexByte(p, ' ')
		if n, err := strconv.Atoi(p[i+1:]); err == nil && i > 0 {
			d.people[p[:i]] += n
		}
	}
}

// earlierHead begins the line with what a model wrote before.
const earlierHead = "Earlier, as a model summarised it: "

// earlierShare is the part of the room that a model's summary may have, in
// percent.
const earlierShare = 30

// write writes the digest.
func (d *digest) write(from, to earshot.Time) string {
	head := Head + "\n" + d.span(from, to) + "\n" + tookPart + d.tookPart()
	if d.earlier != "" {
		head += "\n" + earlierHead + cutTokens(d.in.Counter, d.earlier, d.in.Tokens*earlierShare/100)
	}
	taken := d.choose(d.in.Tokens - d.count(head))
	for {
		text := head
		for p, h := range headings {
			list := slices.DeleteFunc(slices.Clone(taken), func(l line) bool { return l.part != part(p) })
			slices.SortFunc(list, func(a, b line) int { return cmp.Compare(a.order, b.order) })
			if len(list) > 0 {
				text += "\n" + h.title
			}
			for _, l := range list {
				text += "\n" + bullet + l.text
			}
		}
		if len(taken) == 0 || d.count(text) <= d.in.Tokens {
			return text
		}
		taken = taken[:len(taken)-1]
	}
}

// count counts a text line by line, as prompts are counted.
func (d *digest) count(text string) int {
	n := 0
	for s := range strings.SplitSeq(text, "\n") {
		n += d.in.Counter.Count(s) + 1
	}
	return n
}

// choose returns the lines that fit into room: of each list the best ones within
// its share, then whatever is best.
func (d *digest) choose(room int) []line {
	list := slices.Clone(d.lines)
	slices.SortStableFunc(list, func(a, b line) int { return cmp.Or(-cmp.Compare(a.score, b.score), cmp.Compare(a.order, b.order)) })
	var taken []line
	used := 0
	var headed [len(headings)]bool
	take := func(l line, limit int, of *int) bool {
		n := l.cost
		if !headed[l.part] {
			n += d.in.Counter.Count(headings[l.part].title) + 1
		}
		if used+n > room || *of+n > limit {
			return false
		}
		headed[l.part] = true
		taken, used, *of = append(taken, l), used+n, *of+n
		return true
	}
	var left []line
	for p, h := range headings {
		of := 0
		for _, l := range list {
			if l.part == part(p) && !take(l, room*h.share/100, &of) {
				left = append(left, l)
			}
		}
	}
	of := 0
	for _, l := range left {
		take(l, room, &of)
	}
	return taken
}

// span says from when to when, and how much was said.
func (d *digest) span(from, to earshot.Time) string {
	zone, err := zones.Load(d.in.Zone)
	if err != nil {
		zone = time.UTC // the zone was checked when the messages were written
	}
	at := func(t earshot.Time) string { return time.UnixMicro(int64(t)).In(zone).Format(stamp) }
	name := d.in.Zone
	if name == "" {
		name = "UTC"
	}
	n := 0
	for _, m := range d.people {
		n += m
	}
	return fmt.Sprintf("%s to %s (%s), %d messages", at(from), at(to), name, n)
}

// tookPart lists who spoke, those who said most first.
func (d *digest) tookPart() string {
	names := make([]string, 0, len(d.people))
	for name := range d.people {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(-cmp.Compare(d.people[a], d.people[b]), cmp.Compare(a, b))
	})
	for n := min(len(names), maxPeople); ; n-- {
		var list []string
		for _, name := range names[:n] {
			list = append(list, name+" "+strconv.Itoa(d.people[name]))
		}
		text := strings.Join(list, ", ")
		if n < len(names) {
			text += others
		}
		if n == 0 || d.in.Counter.Count(text) <= d.in.Tokens/4 {
			return strings.TrimSpace(text)
		}
	}
}
