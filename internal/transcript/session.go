package transcript

import (
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
)

// session reads a message of the session, "user media=F1: text", and the + lines
// below it, which are an assistant's calls:
//
//	session assistant: Let me look.
//	  + call c1 channel_context: {"intent":"deploys"}
//	session tool call=c1: {"results":[]}
func (r *reader) session(x *scanner, e entry) {
	x.spaces()
	s := earshot.SessionEntry{Role: earshot.Role(x.word("a role"))}
	for x.err == nil && !strings.HasPrefix(x.left(), ":") {
		if !x.spaces() {
			x.fail("a colon is missing before the text at %q", x.left())
		}
		switch {
		case x.accept("media="):
			s.Media = typed[earshot.ArtifactID](x.words("a file's id"))
		case x.accept("call="):
			s.Call = x.word("a call's id")
		case x.accept("failed"):
			s.Failed = true
		default:
			x.fail("not understood: %q; behind a role stand media= call= failed, then a colon", x.left())
		}
	}
	s.Text = x.text(e.more)
	x.extras(e, func(y *scanner, kind string, more []string) {
		switch kind {
		case "call":
			y.spaces()
			c := earshot.Call{ID: y.word("a call's id")}
			y.spaces()
			c.Name = y.word("a tool's name")
			c.Args = y.maybeText(more)
			s.Calls = append(s.Calls, c)
		case "opaque":
			if s.Opaque != "" {
				y.fail("opaque stands twice")
			}
			s.Opaque = y.text(more)
		default:
			y.fail("not understood: %q; a + line of a session is a call or opaque", kind+y.left())
		}
	})
	r.in.Conversation.Session = append(r.in.Conversation.Session, s)
}

// attached reads "F1 turn=3 tokens=1105 sha256=ab12".
func (r *reader) attached(x *scanner, _ entry) {
	x.spaces()
	a := earshot.Attached{ID: earshot.ArtifactID(x.word("a file's id"))}
	x.fields(map[string]func(){
		"turn":   func() { a.Turn = int(x.integer("turn")) },
		"tokens": func() { a.Tokens = int(x.integer("tokens")) },
		"sha256": func() { a.SHA256 = x.word("a hash") },
	})
	r.in.Conversation.Attached = append(r.in.Conversation.Attached, a)
}

// named reads an author's id and the name that the session uses.
func (r *reader) named(x *scanner, _ entry) {
	x.spaces()
	n := earshot.Named{ID: earshot.AuthorID(x.word("an author's id"))}
	x.spaces()
	n.Name = x.word("a name")
	r.in.Conversation.Names = append(r.in.Conversation.Names, n)
}

// session writes a message of the session.
func (f *formatter) session(s earshot.SessionEntry) {
	b := f.b
	b.WriteString("session " + word(string(s.Role)))
	if len(s.Media) > 0 {
		b.WriteString(" media=" + words(s.Media))
	}
	if s.Call != "" {
		b.WriteString(" call=" + word(s.Call))
	}
	if s.Failed {
		b.WriteString(" failed")
	}
	writeLines(b, s.Text)
	for _, c := range s.Calls {
		fmt.Fprintf(b, "  + call %s %s", word(c.ID), word(c.Name))
		writeExtra(b, c.Args)
	}
	if s.Opaque != "" {
		b.WriteString("  + opaque")
		writeExtra(b, s.Opaque)
	}
}

// attached writes a file of the manifest.
func (f *formatter) attached(a earshot.Attached) {
	f.b.WriteString("attached " + word(string(a.ID)))
	f.number(" turn=", int64(a.Turn))
	f.number(" tokens=", int64(a.Tokens))
	if a.SHA256 != "" {
		f.b.WriteString(" sha256=" + word(a.SHA256))
	}
	f.b.WriteByte('\n')
}
