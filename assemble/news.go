package assemble

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// The section news shows what became known about messages that the session shows, and
// is no edit: link previews, reactions, a new name of its thread, files that were not there yet, and which of these
// are gone. Edits are the delta's, which shows the message anew.
var newsSection = sectionKind{
	name:      News,
	look:      SectionLook{Means: "what is new about messages that the session shows", Shown: "something about it is new", Hue: 4, ANSI: 9},
	limits:    Section{Tokens: 200, Cut: 60},
	allowed:   func(p Policy) bool { return p.Frame == Log },
	laterOnly: true,
	fillRank:  35,
	source:    SourceShown,
	choose:    (*turn).chooseNews,
	title:     func(*turn) string { return newAbout },
	log:       newsLog{},
}

// newAbout is the block's title.
const newAbout = "new about messages above"

// newsWords is how many characters (graphemes) of a message's text say which one it is.
const newsWords = 40

// chooseNews picks the messages that the session shows with less than is known of them
// now.
func (t *turn) chooseNews(b *block) {
	for _, m := range t.upTo {
		if m == t.anchor || m.Deleted || m.taken || !t.isSpoken(m) || !t.inSession(m) && m.reason != reasonBlank || t.newsOf(m).isNone() {
			continue
		}
		if m.verdict == isOut { // a section before this one has found nothing to show anew
			m.verdict, m.reason, m.section = undecided, noReason, nil
		}
		if t.within(b.Section, m) {
			b.take(m)
		} else {
			m.taken = true
			b.refuse(m)
		}
	}
	b.total += len(b.cands)
}

// A messageNews is what the model does not know yet of a message that the session shows.
type messageNews struct {
	text      bool
	quotes    []earshot.SharedContent
	files     []earshot.File
	reactions bool
	subject   bool

	// How many of those that stand above are gone. What takes the place of another counts
	// among quotes and files alone.
	quotesGone, filesGone int
}

func (x messageNews) isNone() bool {
	return !x.text && len(x.quotes)+len(x.files) == 0 && !x.reactions && !x.subject && x.quotesGone+x.filesGone <= 0
}

// newsOf returns what is new of m. Where the state in which it was shown is not known,
// or m is of an older revision, nothing is. Of the agent's own answers only reactions can be new: the text, and what
// comes with it, is its own.
func (t *turn) newsOf(m *msg) messageNews {
	x, ok := t.shown[m.ID]
	if !ok || x.number < 0 || m.Edited < x.revision {
		return messageNews{}
	}
	was, now := x.parts, partsOf(m.Message)
	n := messageNews{reactions: was.reactions != now.reactions, subject: m.Subject != nil && was.subject != now.subject}
	if was.text == "" {
		return n
	}
	n.text = was.text != now.text
	for i, q := range now.quotes {
		if !slices.Contains(was.quotes, q) {
			n.quotes = append(n.quotes, m.Shared[i])
		}
	}
	for i, f := range now.files {
		if !slices.Contains(was.files, f) {
			n.files = append(n.files, m.Files[i])
		}
	}
	n.quotesGone = countGone(was.quotes, now.quotes) - len(n.quotes)
	n.filesGone = countGone(was.files, now.files) - len(n.files)
	return n
}

// countGone returns how many of was are not among now.
func countGone(was, now []string) int {
	n := 0
	for _, x := range was {
		if !slices.Contains(now, x) {
			n++
		}
	}
	return n
}

// goneLine says how many of a message's parts are gone and how many are left; "" where
// none is gone.
func goneLine(n int, what string, left int) string {
	switch {
	case n <= 0:
		return ""
	case left > 0:
		return "\n+ removed: " + formatThousands(n) + " " + what + ", " + formatThousands(left) + " left"
	}
	return "\n+ removed: " + formatThousands(n) + " " + what + ", none left"
}

// newsEntry writes m's head as it stands above, with the first words of its text, and
// below it what is new; texts and quotes have at most limit tokens together, 0 for no
// limit.
func (t *turn) newsEntry(m *msg, limit int) logEntry {
	n := t.newsOf(m)
	var plus strings.Builder
	if n.text {
		text := t.writtenOf(m).body
		if limit > 0 {
			text, _ = t.cutText(text, limit)
		}
		plus.WriteString("\n+ text now:\n" + logIndent + indentLog(text))
	}
	if n.subject {
		plus.WriteString(t.subjectLines(m, " now"))
	}
	quotes, _ := t.quotes(n.quotes, limit)
	plus.WriteString(quotes)
	plus.WriteString(goneLine(n.quotesGone, "preview or quote", len(m.Shared)))
	files := n.files
	if limit > 0 && len(files) > maxFileLines {
		files = files[:maxFileLines]
	}
	for _, f := range files {
		plus.WriteString("\n" + logPlus + fileLine(f))
	}
	if left := len(n.files) - len(files); left > 0 {
		plus.WriteString("\n+ " + formatThousands(left) + " more files, not shown")
	}
	plus.WriteString(goneLine(n.filesGone, "file", len(m.Files)))
	if n.filesGone > 0 && len(n.files) == 0 {
		for _, f := range m.Files[:min(len(m.Files), maxFileLines)] { // which of them are left
			plus.WriteString("\n" + logPlus + fileLine(f))
		}
	}
	if n.reactions {
		plus.WriteString("\n+ reactions now: " + firstOf(t.reactionsLine(m.Message), "none"))
	}
	e := logEntry{plus: plus.String()}
	if !n.text { // the text that stands above is not known any more
		e.text = t.firstWords(m)
	}
	e.cost = t.headCost(m) + t.in.Counter.Count(e.text) + 1 + t.countLines(e.plus[1:])
	return e
}

// firstWords returns the beginning of a message's text, on one line.
func (t *turn) firstWords(m *msg) string { return shortened(t.writtenOf(m).body) }

// shortened returns the beginning of a text, on one line.
func shortened(body string) string {
	line, _, more := strings.Cut(body, "\n")
	head := strings.TrimSpace(firstGraphemes(line, newsWords))
	if more || head != strings.TrimSpace(line) {
		head += "…"
	}
	return head
}

// newsLog writes news in the log form.
type newsLog struct{ logList }

// fill keeps the newest messages whose news fit. Where they do not fit whole, long texts
// and quotes are cut before anything is left out.
func (newsLog) fill(t *turn, b *block, room int) int {
	room = min(room, b.Tokens)
	entries, left, used := t.newestNews(b.cands, room, 0)
	if left > 0 {
		entries, left, used = t.newestNews(b.cands, room, max(b.Cut, room/len(b.cands)-b.Cut))
	}
	if left > 0 {
		entries, left, used = t.newestNews(b.cands, room, b.Cut)
	}
	b.dropOldest(left, reasonBudget)
	for i, m := range b.cands {
		t.keep(b, m, entries[i].cost)
		m.verdict, m.entry = isSnippet, &entries[i]
	}
	b.kept = b.cands
	return used
}

// newestNews returns the entries of the newest messages that fit, in their order, and
// how many older ones do not.
func (t *turn) newestNews(msgs []*msg, room, limit int) (entries []logEntry, left, used int) {
	for i, m := range slices.Backward(msgs) {
		e := t.newsEntry(m, limit)
		n := e.cost
		if i+1 == len(msgs) || t.when.day(msgs[i+1].Time) != t.when.day(m.Time) {
			n += t.dayCost(m)
		}
		if used+n > room {
			left = i + 1
			break
		}
		used += n
		entries = append(entries, e)
	}
	slices.Reverse(entries)
	return entries, left, used
}

func (newsLog) render(t *turn, w *prompt, b *block) {
	if b.nothingKept() {
		t.renderSkipped(w, b)
		return
	}
	header := logHeader(b.kind.title(t), b.countOmitted())
	w.add(earshot.User, News, nextBlock, header, t.countLines(header)+1)
	for i, m := range b.kept {
		if i == 0 || t.when.day(b.kept[i-1].Time) != t.when.day(m.Time) {
			day := "[" + t.when.date(m.Time) + "]"
			w.add(earshot.User, News, nextLine, day, t.tok(day)+1)
		}
		head := t.label(m)
		text := string(append(t.when.clock(nil, m.Time), " "+head+": "+m.entry.text+m.entry.plus...))
		w.show(m, earshot.User, News, nextLine, text, 0, m.entry.cost)
	}
}
