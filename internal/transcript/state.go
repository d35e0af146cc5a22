package transcript

import (
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// state reads "cursor=m2 epoch=1 form=log shown=m1,m2@09:03:00#0.t1f2e3d4c turns=m2:m3".
func (r *reader) state(x *scanner, _ entry) {
	c := &r.in.Conversation
	once := func(name string, f func()) func() {
		return func() {
			if r.once["state "+name] {
				x.fail("%s stands twice", name)
			}
			r.once["state "+name] = true
			f()
		}
	}
	x.fields(map[string]func(){
		"cursor":    once("cursor", func() { r.cursor, r.cursorLine = x.readWord("a cursor"), x.line }),
		"form":      once("form", func() { c.Form = assemble.Frame(x.readWord("a frame")) }),
		"epoch":     once("epoch", func() { c.Epoch = int(x.integer("epoch")) }),
		"processed": once("processed", func() { c.Processed = x.time(r.date) }),
		"folded":    once("folded", func() { c.Folded = x.integer("folded") == 1 }),
		"shown": once("shown", func() {
			for more := true; more && x.err == nil; more = x.accept(",") {
				s := earshot.ShownRevision{ID: earshot.MessageID(x.readWord("an id"))}
				if x.accept("@") {
					s.Revision = x.time(r.date)
				}
				if x.accept("#") {
					s.Seen = x.readWord("what was shown")
				}
				c.Shown = append(c.Shown, s)
			}
		}),
		"turns": once("turns", func() {
			for more := true; more && x.err == nil; more = x.accept(",") {
				a := earshot.Answer{Anchor: earshot.MessageID(x.readWord("an id"))}
				for x.accept(":") {
					a.Replies = append(a.Replies, earshot.MessageID(x.readWord("an id")))
				}
				c.Turns = append(c.Turns, a)
			}
		}),
	})
}

// resolveCursor reads a cursor: a sequence, or the id of the message that has that
// sequence; of several copies of a message it is the last one's.
func (r *reader) resolveCursor() error {
	if n, err := strconv.ParseInt(r.cursor, 10, 64); err == nil {
		r.in.Conversation.Cursor = n
		return nil
	}
	seq, ok := seqOf(r.in.Messages, r.cursor)
	if !ok {
		return &Error{r.cursorLine, "there is no message " + r.cursor + " for the cursor"}
	}
	r.in.Conversation.Cursor = seq
	return nil
}

// seqOf returns the sequence of the last message of that id.
func seqOf(messages []earshot.Message, id string) (int64, bool) {
	for _, m := range slices.Backward(messages) {
		if string(m.ID) == id {
			return m.Seq, true
		}
	}
	return 0, false
}

// summary reads "from=… to=… turns=12 by=digest: text".
func (r *reader) summary(x *scanner, e entry) {
	s := &earshot.Summary{}
	x.fields(map[string]func(){
		"from":  func() { s.From = x.time(r.date) },
		"to":    func() { s.To = x.time(r.date) },
		"turns": func() { s.Turns = int(x.integer("turns")) },
		"by":    func() { s.By = x.readWord("a model") },
	})
	s.Text = x.text(e.more)
	r.in.Conversation.Summary = s
}

// conversation writes the state of the conversation.
func (f *formatter) conversation(in *assemble.Input) {
	c := &in.Conversation
	var state []string
	if c.Cursor != 0 {
		state = append(state, "cursor="+f.cursor(in))
	}
	if c.Epoch != 0 {
		state = append(state, "epoch="+strconv.Itoa(c.Epoch))
	}
	if c.Processed != 0 {
		state = append(state, "processed="+timeText(c.Processed, f.date))
	}
	if c.Folded {
		state = append(state, "folded=1")
	}
	if c.Form != "" {
		state = append(state, "form="+quoteWord(string(c.Form)))
	}
	if len(c.Shown) > 0 {
		var ids []string
		for _, s := range c.Shown {
			id := quoteWord(string(s.ID))
			if s.Revision != 0 {
				id += "@" + timeText(s.Revision, f.date)
			}
			if s.Seen != "" {
				id += "#" + quoteWord(s.Seen)
			}
			ids = append(ids, id)
		}
		state = append(state, "shown="+strings.Join(ids, ","))
	}
	if len(c.Turns) > 0 {
		var turns []string
		for _, t := range c.Turns {
			s := quoteWord(string(t.Anchor))
			for _, id := range t.Replies {
				s += ":" + quoteWord(string(id))
			}
			turns = append(turns, s)
		}
		state = append(state, "turns="+strings.Join(turns, ","))
	}
	if len(state) > 0 {
		f.b.WriteString("state " + strings.Join(state, " ") + "\n")
	}
	if s := c.Summary; s != nil {
		f.b.WriteString("summary")
		f.time(" from=", s.From)
		f.time(" to=", s.To)
		f.number(" turns=", int64(s.Turns))
		if s.By != "" {
			f.b.WriteString(" by=" + quoteWord(s.By))
		}
		writeLines(f.b, s.Text)
	}
	for _, n := range c.Names {
		f.b.WriteString("named " + quoteWord(string(n.ID)) + " " + quoteWord(n.Name) + "\n")
	}
	for _, e := range c.Session {
		f.session(e)
	}
	for _, a := range c.Attached {
		f.writeAttached(a)
	}
}

// cursor writes the cursor as the id of a message where that is read back as the
// same cursor, else as a number.
func (f *formatter) cursor(in *assemble.Input) string {
	n := in.Conversation.Cursor
	for _, m := range in.Messages {
		id := string(m.ID)
		if m.Seq != n || id == "" || quoteWord(id) != id {
			continue
		}
		if _, err := strconv.ParseInt(id, 10, 64); err == nil {
			continue
		}
		if seq, ok := seqOf(in.Messages, id); ok && seq == n {
			return id
		}
	}
	return strconv.FormatInt(n, 10)
}
