package transcript

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// thread reads an optional " >m1".
func (x *scanner) thread() earshot.MessageID {
	if x.accept(" >") {
		return earshot.MessageID(x.readWord("an id"))
	}
	return ""
}

// readStored reads ">m1 count=190 from=… to=…".
func (r *reader) readStored(x *scanner, _ entry) {
	s := assemble.StoredCount{Thread: x.thread()}
	x.fields(map[string]func(){
		"count": func() { s.Count = int(x.integer("count")) },
		"from":  func() { s.From = x.time(r.date) },
		"to":    func() { s.To = x.time(r.date) },
	})
	r.in.Stored = append(r.in.Stored, s)
}

// coverage reads "missing >m1 from=… to=…: why".
func (r *reader) coverage(x *scanner, e entry) {
	x.spaces()
	c := earshot.Coverage{State: earshot.CoverageState(x.readWord("known, missing or stale"))}
	c.Thread = x.thread()
	x.fields(map[string]func(){
		"from": func() { c.From = x.time(r.date) },
		"to":   func() { c.To = x.time(r.date) },
	})
	c.Why = x.maybeText(e.more)
	r.in.Coverage = append(r.in.Coverage, c)
}

// attach reads "F1,F2".
func (r *reader) attach(x *scanner, _ entry) {
	x.spaces()
	r.in.Attach = convertIDs[earshot.ArtifactID](x.readWords("a file's id"))
}

// fileTokens reads "F1=1105,F2=85".
func (r *reader) fileTokens(x *scanner, _ entry) {
	x.spaces()
	r.in.FileTokens = map[earshot.ArtifactID]int{}
	for more := true; more && x.err == nil; more = x.accept(",") {
		id := earshot.ArtifactID(x.readWord("a file's id"))
		if _, ok := r.in.FileTokens[id]; ok {
			x.fail("%s stands twice", id)
		}
		if !x.accept("=") {
			x.fail("a file's tokens are written F1=1105")
		}
		r.in.FileTokens[id] = int(x.integer("a file's tokens"))
	}
}

// readRecalled reads what search found, best first, with score, cover and parts:
// "m3=23.3/0.5(recency=3.3,words=20),m7=12". Without a score it is 0.
func (r *reader) readRecalled(x *scanner, _ entry) {
	x.spaces()
	for more := true; more && x.err == nil; more = x.accept(",") {
		v := assemble.RecalledMessage{ID: earshot.MessageID(x.readWord("an id"))}
		if x.accept("=") {
			v.Score = x.number("a score")
		}
		if x.accept("/") {
			v.Cover = x.number("a share")
		}
		if x.accept("(") {
			v.Parts = map[string]float64{}
			for more := true; more && x.err == nil; more = x.accept(",") {
				name := x.readWord("a part's name")
				if !x.accept("=") {
					x.fail("a part of a score has no value: %q", name)
				}
				v.Parts[name] = x.number("a part")
			}
			if !x.accept(")") {
				x.fail("a ) is missing at %q", x.remaining())
			}
		}
		r.in.Recalled = append(r.in.Recalled, v)
	}
}

// writeRecalled writes what search found, in one line.
func writeRecalled(b *strings.Builder, list []assemble.RecalledMessage) {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for i, v := range list {
		b.WriteString(map[bool]string{true: "recalled ", false: ","}[i == 0] + quoteWord(string(v.ID)))
		if v.Score != 0 {
			b.WriteString("=" + number(v.Score))
		}
		if v.Cover != 0 {
			b.WriteString("/" + number(v.Cover))
		}
		for j, name := range slices.Sorted(maps.Keys(v.Parts)) {
			b.WriteString(map[bool]string{true: "(", false: ","}[j == 0] + quoteWord(name) + "=" + number(v.Parts[name]))
		}
		if len(v.Parts) > 0 {
			b.WriteByte(')')
		}
	}
	if len(list) > 0 {
		b.WriteByte('\n')
	}
}

// fileTokens writes what files cost, in the order of their ids.
func (f *formatter) fileTokens(tokens map[earshot.ArtifactID]int) {
	if len(tokens) == 0 {
		return
	}
	var list []string
	for _, id := range slices.Sorted(maps.Keys(tokens)) {
		list = append(list, quoteWord(string(id))+"="+strconv.Itoa(tokens[id]))
	}
	f.b.WriteString("file_tokens " + strings.Join(list, ",") + "\n")
}
