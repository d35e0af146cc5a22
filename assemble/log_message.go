package assemble

import (
	"strconv"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/earshot-ai/earshot"
)

// What the log form writes of one message: a head, its text, and a line with a
// plus for each thing that its author did not write.

const (
	logIndent = "    " // before everything that people wrote, beyond a first line
	logReply  = "↳ "
	logAgain  = "· "
	logPlus   = "+ "
)

// askerCut is how many tokens are shown of the asker's last message before the
// question, which is often what the question is about.
const askerCut = 1200

// indentLog indents the further lines of a text, empty ones too.
func indentLog(s string) string { return strings.ReplaceAll(s, "\n", "\n"+logIndent) }

// A logEntry is a message as the log form writes it under one limit.
type logEntry struct {
	text  string // cut where it had to be
	plus  string // its lines with a plus, each with a line break before it
	cost  int    // all of it with a full head
	whole bool   // nothing is cut

	tokens int // of the text, uncut
}

// A limitedEntry is kept, because planning asks for the same limits many times.
type limitedEntry struct {
	limit int
	logEntry
}

// entry returns m with at most limit tokens of its text; 0 is no limit. What it
// quotes has at most as many, all together.
func (t *turn) entry(m *msg, limit int) *logEntry {
	w := t.writtenOf(m)
	if limit == 0 && w.uncut.whole {
		return &w.uncut
	}
	if limit > 0 {
		if all := t.entry(m, 0); all.tokens <= limit && len(m.Shared) == 0 && len(m.Files) <= maxFileLines {
			return all
		}
	}
	for i := range w.entries {
		if w.entries[i].limit == limit {
			return &w.entries[i].logEntry
		}
	}
	e := t.makeEntry(m, limit)
	if !e.whole { // where cutting saves nothing, it is left whole
		if all := t.entry(m, 0); all.cost <= e.cost {
			e = *all
		}
	}
	if limit == 0 {
		w.uncut = e
		return &w.uncut
	}
	w.entries = append(w.entries, limitedEntry{limit, e})
	return &w.entries[len(w.entries)-1].logEntry
}

// makeEntry writes m with at most limit tokens of its text; 0 is no limit.
func (t *turn) makeEntry(m *msg, limit int) logEntry {
	w := t.writtenOf(m)
	e := logEntry{text: w.body, whole: true}
	tokens, known := t.in.Counter.Stored(m.Tokens)
	if !known || m.Tokens <= 0 || w.body != m.Text {
		tokens = t.in.Counter.Count(w.body)
	}
	e.tokens = tokens
	missing := 0
	if limit > 0 && tokens > limit {
		e.text, missing, tokens = t.cutLog(w.body, limit, m == t.askersLast)
	}
	var plus strings.Builder
	if missing > 0 {
		plus.WriteString("\n+ " + formatThousands(missing) + " more characters, not shown")
	}
	if subjectSays(m.Message) && !t.placeNames(m) {
		plus.WriteString(t.subjectLines(m, ""))
	}
	quotes, whole := t.quotes(m.Shared, limit)
	plus.WriteString(quotes)
	for _, l := range t.linkedBy(m) {
		head, text := t.linkHead(l)
		plus.WriteString("\n" + logPlus + head)
		if text != "" {
			plus.WriteString(":\n" + logIndent + indentLog(text))
		}
	}
	files := m.Files
	if limit > 0 && len(files) > maxFileLines {
		files = files[:maxFileLines]
	}
	for _, f := range files {
		plus.WriteString("\n" + logPlus + fileLine(f))
	}
	if left := len(m.Files) - len(files); left > 0 {
		whole = false
		plus.WriteString("\n+ " + formatThousands(left) + " more files, not shown")
	}
	if len(m.Reactions) > 0 {
		plus.WriteString("\n+ reactions: " + t.reactionsLine(m.Message))
	}
	if name := t.names.renamed[authorKey(m.Author)]; name != "" && t.newestOf[authorKey(m.Author)] == m {
		plus.WriteString("\n+ goes by " + name + " now")
	}
	e.plus, e.whole = plus.String(), whole && missing == 0
	e.cost = t.headCost(m) + tokens + strings.Count(e.text, "\n") + 1
	if e.plus != "" {
		e.cost += t.countLines(e.plus[1:])
	}
	return e
}

// cutLog cuts s to limit tokens: to its beginning, or where around is set to its
// beginning and its end. It returns how many characters are missing and what is
// left costs.
func (t *turn) cutLog(s string, limit int, around bool) (cut string, missing, tokens int) {
	end := t.in.Counter.Prefix(s, limit-1)
	if around {
		end = t.in.Counter.Prefix(s, limit*2/3)
	}
	head, missing := splitGraphemes(s, end)
	if missing == 0 {
		return s, 0, t.in.Counter.Count(s)
	}
	cut = head + "…"
	if around {
		tail := t.tailOf(s[len(head):], limit-limit*2/3-4)
		missing -= uniseg.GraphemeClusterCount(tail)
		cut += "\n… " + tail
	}
	return cut, missing, t.in.Counter.Count(cut)
}

// tailOf returns the end of s that has at most limit tokens, from a grapheme's
// start.
func (t *turn) tailOf(s string, limit int) string {
	from := 0
	for step := max(1, len(s)/2); ; step = max(1, step/2) {
		switch n := t.in.Counter.Count(s[from:]); {
		case n > limit && from+step < len(s):
			from += step
			continue
		case n > limit:
			return ""
		case step == 1:
		default:
			if from >= step && t.in.Counter.Count(s[from-step:]) <= limit {
				from -= step
			}
			continue
		}
		break
	}
	at, state, rest := 0, -1, s
	for rest != "" && at < from {
		var c string
		c, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		at += len(c)
	}
	_, at = escapeAt(s, at)
	return strings.TrimLeft(s[at:], " \t\n")
}

// quotes writes what a message quotes with at most limit tokens, 0 for no limit, and
// reports whether that is all of it.
func (t *turn) quotes(list []earshot.SharedContent, limit int) (lines string, whole bool) {
	var b strings.Builder
	whole = true
	left := limit
	for i, s := range list {
		if limit > 0 && left < minQuote && i > 0 {
			b.WriteString("\n+ " + formatThousands(len(list)-i) + " more quotes, not shown")
			return b.String(), false
		}
		text := t.renderStored(s.Text)
		if limit > 0 {
			cut, n := t.cutText(text, max(left, minQuote))
			whole = whole && cut == text
			text, left = cut, left-n-minQuote/2
		}
		b.WriteString("\n" + logPlus + t.sharedHead(s))
		if text != "" {
			b.WriteString(":\n" + logIndent + indentLog(text))
		}
	}
	return b.String(), whole
}

// Limits of a message that does not fit whole.
const (
	minQuote     = 24 // the fewest tokens that a quote is worth showing with
	maxFileLines = 10 // how many of its files are named
)

// sharedHead describes a quote: its kind, author and place.
func (t *turn) sharedHead(s earshot.SharedContent) string {
	who := strings.ReplaceAll(cleanName(s.Author), "#", "") // so that a name cannot be taken for a place
	if name, ok := t.names.byID[s.ID]; ok && s.ID != "" {
		who = name
	}
	place := cleanName(t.names.resolveMentions(s.Place))
	switch s.Kind {
	case withheldQuote:
		return "a quote that the operator withholds"
	case earshot.Link:
		return "link preview, " + firstOf(place, "a page")
	case earshot.AppQuote:
		return "quoted by an app"
	}
	head := "forwarded"
	if s.Time != 0 {
		head += ", " + string(t.when.clock([]byte(t.when.date(s.Time)+" "), s.Time))
	}
	head += ", from " + firstOf(who, "somebody")
	if place != "" {
		head += " in " + place
	}
	if s.Lane == earshot.LaneInert {
		head += inertQuote
	}
	return head
}

// inertQuote ends the head of a quote whose author's words are inert. The author and the
// place before it have no comma.
const inertQuote = ", " + string(earshot.LaneInert)

// fileLine describes a file. Its name, which people choose, stands last.
func fileLine(f earshot.File) string {
	s := "file " + firstOf(string(f.ID), "?") + ", " + fileKind(f)
	if f.Size > 0 {
		s += ", " + fileSize(f.Size)
	}
	return s + ": " + FileName(f)
}

// fileKind says in a word what a file is.
func fileKind(f earshot.File) string {
	top, sub, _ := strings.Cut(bareType(f.Type), "/")
	if kind := documentKind(f); kind != "" {
		return kind
	}
	switch {
	case top == "image" || top == "audio" || top == "video" || top == "text":
		return top
	case sub == "pdf":
		return "PDF"
	case sub == "json" || sub == "xml" || sub == "yaml":
		return "text"
	}
	return "file"
}

func fileSize(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10) + " B"
	case n < 999_500:
		return strconv.FormatInt((n+500)/1000, 10) + " KB"
	case n < 999_500_000:
		return strconv.FormatInt((n+500_000)/1_000_000, 10) + " MB"
	}
	return strconv.FormatInt((n+500_000_000)/1_000_000_000, 10) + " GB"
}

// headCost is what stands before a message's text at most, its day not counted.
func (t *turn) headCost(m *msg) int {
	if t.clockCost == 0 {
		t.clockCost = t.in.Counter.Count("00:00 ")
	}
	n := t.clockCost + t.writtenOf(m).label.cost
	if m.Edited != 0 {
		n += t.tok(" (edited)")
	}
	return n
}

// whenOf is the calendar by which m is written: the question's is the asker's.
func (t *turn) whenOf(m *msg) calendar {
	if m == t.anchor {
		return t.asked
	}
	return t.when
}

// head appends the time and the speaker.
func (t *turn) head(b []byte, m *msg) []byte {
	b = append(t.whenOf(m).clock(b, m.Time), ' ')
	l := t.writtenOf(m).label
	if key := authorKey(m.Author); l.text == l.marked || t.named[key] {
		b = append(b, l.text...)
	} else {
		b = append(b, l.marked...)
		t.named[key] = true
	}
	if m.Edited != 0 {
		b = append(b, " (edited)"...)
	}
	return append(b, ": "...)
}

// repliesNotShown is the line below a root that counts replies.
func repliesNotShown(n int, root earshot.MessageID) string {
	if n == 1 {
		return "+ 1 reply not shown, thread " + string(root)
	}
	return "+ " + formatThousands(n) + " replies not shown, thread " + string(root)
}

// formatThousands writes a number with commas between thousands.
func formatThousands(n int) string {
	digits := strconv.Itoa(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
