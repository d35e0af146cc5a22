package transcript

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
)

// message reads "09:00:40 m2 bob >m1: wait, the migration" and the lines below.
func (r *reader) message(x *scanner, e entry) {
	var m earshot.Message
	m.Time = x.time(r.date)
	x.spaces()
	m.ID = earshot.MessageID(x.readWord("an id"))
	x.spaces()
	m.Author = r.readAuthor(x)
	m.Seq = nextSeq(r.seq, len(r.in.Messages) == 0)
	for x.err == nil && !strings.HasPrefix(x.remaining(), ":") {
		if !x.spaces() {
			x.fail("a colon is missing before the text at %q", x.remaining())
		}
		r.mark(x, &m)
	}
	m.Text = x.text(e.more)
	x.extras(e, func(y *scanner, kind string, more []string) { r.extra(y, &m, kind, more) })
	r.seq = m.Seq
	r.in.Messages = append(r.in.Messages, m)
}

// extras reads the + lines of an entry. read gets a scanner behind the line's first
// word, which is kind, and the further lines of the text.
func (x *scanner) extras(e entry, read func(y *scanner, kind string, more []string)) {
	for _, extra := range e.extras {
		y := &scanner{line: extra.line, s: extra.s}
		kind := y.take(func(c rune) bool { return 'a' <= c && c <= 'z' })
		read(y, kind, extra.more)
		if !y.atEnd() {
			y.fail("something is left at the end of the line: %q", y.remaining())
		}
		if y.err != nil && x.err == nil {
			x.err = y.err
		}
	}
}

// nextSeq is the sequence of a message that does not say its own: one more than the
// message above has, or 0 (unknown) where that one's is unknown.
func nextSeq(last int64, first bool) int64 {
	if last == 0 && !first {
		return 0
	}
	return last + 1
}

// mark reads one of the fields behind a message's author.
func (r *reader) mark(x *scanner, m *earshot.Message) {
	switch {
	case x.accept(">"):
		m.Thread = earshot.MessageID(x.readWord("a thread's id"))
	case x.accept("~"):
		m.ReplyTo = earshot.MessageID(x.readWord("an id"))
	case x.accept("edited="):
		m.Edited = x.time(r.date)
	case x.accept("deleted"):
		m.Deleted = true
	case x.accept("seq="):
		m.Seq = x.integer("seq")
	case x.accept("tokens="):
		m.Tokens = int(x.integer("tokens"))
	case x.accept("mentions="):
		m.Mentions = convertIDs[earshot.AuthorID](x.readWords("an id"))
	case x.accept("reactions="):
		m.Reactions = nil
		for more := true; more && x.err == nil; more = x.accept(",") {
			v := earshot.Reaction{Name: x.readWord("a reaction"), Count: 1}
			if x.accept("*") {
				v.Count = int(x.integer("a count"))
			}
			m.Reactions = append(m.Reactions, v)
		}
	default:
		x.fail("not understood: %q; behind an author stand >thread ~reply edited= deleted seq= tokens= mentions= reactions=, then a colon", x.remaining())
	}
}

// extra reads what stands behind the first word of a + line:
// "file a.png id=F1 type=image/png size=1234", "replies 3 last=09:05:00",
// "gave eyes id=U1 name=Bob", or what the message shares.
func (r *reader) extra(x *scanner, m *earshot.Message, kind string, more []string) {
	switch kind {
	case "forward", "link", "app":
		m.Shared = append(m.Shared, r.readShared(x, earshot.SharedKind(kind), more))
		return
	case "shared":
		x.spaces()
		own := earshot.SharedKind(x.readWord("a kind"))
		m.Shared = append(m.Shared, r.readShared(x, own, more))
		return
	}
	if len(more) > 0 {
		x.fail("%s has no text, and indented lines follow it", kind)
	}
	x.spaces()
	switch kind {
	case "file":
		f := earshot.File{Name: x.readWord("a file's name")}
		f.ID = earshot.ArtifactID(f.Name)
		x.fields(map[string]func(){
			"id":     func() { f.ID = earshot.ArtifactID(x.readWord("an id")) },
			"type":   func() { f.Type = x.wordWith("a media type", "/") },
			"size":   func() { f.Size = x.integer("size") },
			"sha256": func() { f.SHA256 = x.readWord("a hash") },
		})
		m.Files = append(m.Files, f)
	case "replies":
		if m.Replies != nil {
			x.fail("replies stands twice")
		}
		a := &earshot.Activity{Count: int(x.integer("a count"))}
		x.fields(map[string]func(){
			"last_hour": func() { a.LastHour = int(x.integer("last_hour")) },
			"last":      func() { a.Last = x.time(r.date) },
		})
		m.Replies = a
	case "thread":
		if m.Subject != nil {
			x.fail("thread stands twice")
		}
		s := &earshot.Subject{Name: x.readWord("a thread's name")}
		x.fields(map[string]func(){
			"tags": func() { s.Tags = x.readWords("a tag") },
			"post": func() { s.Post = x.readWord("yes") == "yes" },
		})
		m.Subject = s
	case "gave":
		if m.Reactors == nil {
			m.Reactors = &earshot.Reactors{}
		}
		m.Reactors.List = append(m.Reactors.List, x.reactor(nil))
	default:
		x.fail("not understood: %q; a + line is a file or replies, what the thread is called, who gave a reaction, or a forward, link or app that is quoted", kind+x.remaining())
	}
}

// readShared reads `author=Erin id=U9 place=#support time=17:20: text`.
func (r *reader) readShared(x *scanner, kind earshot.SharedKind, more []string) earshot.SharedContent {
	s := earshot.SharedContent{Kind: kind}
	x.fields(map[string]func(){
		"author": func() { s.Author = x.readWord("a name") },
		"id":     func() { s.ID = earshot.AuthorID(x.readWord("an id")) },
		"place":  func() { s.Place = x.wordWith("a place", placeSigns) },
		"time":   func() { s.Time = x.time(r.date) },
		"trust":  func() { s.Lane = earshot.Lane(x.readWord("a lane")) },
	})
	s.Text = x.maybeText(more)
	return s
}

// placeSigns are the characters besides those of words that a place may have
// without quotes.
const placeSigns = "#/"

// message writes m with the lines below it.
func (f *formatter) message(m *earshot.Message) {
	b := f.b
	if d, ok := dateOf(m.Time); ok && d != f.date {
		f.date = d
		fmt.Fprintf(b, "date %s\n", d)
	}
	fmt.Fprintf(b, "%s %s %s", timeText(m.Time, f.date), quoteWord(string(m.ID)), f.handles[m.Author])
	if m.Thread != "" {
		b.WriteString(" >" + quoteWord(string(m.Thread)))
	}
	if m.ReplyTo != "" {
		b.WriteString(" ~" + quoteWord(string(m.ReplyTo)))
	}
	f.time(" edited=", m.Edited)
	if m.Deleted {
		b.WriteString(" deleted")
	}
	if m.Seq != nextSeq(f.seq, f.first) {
		fmt.Fprintf(b, " seq=%d", m.Seq)
	}
	f.seq, f.first = m.Seq, false
	f.number(" tokens=", int64(m.Tokens))
	if len(m.Mentions) > 0 {
		b.WriteString(" mentions=" + quoteWords(m.Mentions))
	}
	for i, v := range m.Reactions {
		b.WriteString(map[bool]string{true: " reactions=", false: ","}[i == 0] + quoteWord(v.Name))
		if v.Count != 1 {
			b.WriteString("*" + strconv.Itoa(v.Count))
		}
	}
	writeLines(b, m.Text)
	for _, v := range m.Shared {
		f.writeShared(v)
	}
	for _, v := range m.Files {
		b.WriteString("  + file " + quoteWord(v.Name))
		if string(v.ID) != v.Name {
			b.WriteString(" id=" + quoteWord(string(v.ID)))
		}
		if v.Type != "" {
			b.WriteString(" type=" + wordWith(v.Type, "/"))
		}
		f.number(" size=", v.Size)
		if v.SHA256 != "" {
			b.WriteString(" sha256=" + quoteWord(v.SHA256))
		}
		b.WriteByte('\n')
	}
	if m.Reactors != nil {
		for _, v := range m.Reactors.List {
			b.WriteString("  + gave " + reactor(v) + "\n")
		}
	}
	if v := m.Replies; v != nil {
		fmt.Fprintf(b, "  + replies %d", v.Count)
		f.number(" last_hour=", int64(v.LastHour))
		f.time(" last=", v.Last)
		b.WriteByte('\n')
	}
	if v := m.Subject; v != nil {
		b.WriteString("  + thread " + quoteWord(v.Name))
		if len(v.Tags) > 0 {
			b.WriteString(" tags=" + quoteWords(v.Tags))
		}
		if v.Post {
			b.WriteString(" post=yes")
		}
		b.WriteByte('\n')
	}
}

// writeShared writes what a message quotes.
func (f *formatter) writeShared(s earshot.SharedContent) {
	switch s.Kind {
	case earshot.Forward, earshot.Link, earshot.AppQuote:
		f.b.WriteString("  + " + string(s.Kind))
	default:
		f.b.WriteString("  + shared " + quoteWord(string(s.Kind)))
	}
	if s.Author != "" {
		f.b.WriteString(" author=" + quoteWord(s.Author))
	}
	if s.ID != "" {
		f.b.WriteString(" id=" + quoteWord(string(s.ID)))
	}
	if s.Place != "" {
		f.b.WriteString(" place=" + wordWith(s.Place, placeSigns))
	}
	f.time(" time=", s.Time)
	if s.Lane != "" {
		f.b.WriteString(" trust=" + quoteWord(string(s.Lane)))
	}
	writeExtra(f.b, s.Text)
}

// reactor writes "eyes id=U2 name=Ann".
func reactor(v earshot.Reactor) string {
	s := quoteWord(v.Emoji) + " id=" + quoteWord(string(v.ID))
	if v.Name != "" {
		s += " name=" + quoteWord(v.Name)
	}
	return s
}

// reactor reads what the function of that name writes, and more fields.
func (x *scanner) reactor(more map[string]func()) earshot.Reactor {
	who := earshot.Reactor{Emoji: x.readWord("a reaction")}
	fields := map[string]func(){
		"id":   func() { who.ID = earshot.AuthorID(x.readWord("an author's id")) },
		"name": func() { who.Name = x.readWord("a name") },
	}
	maps.Copy(fields, more)
	x.fields(fields)
	return who
}
