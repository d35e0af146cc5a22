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
	s := earshot.SessionEntry{Role: earshot.Role(x.readWord("a role"))}
	for x.err == nil && !strings.HasPrefix(x.remaining(), ":") {
		if !x.spaces() {
			x.fail("a colon is missing before the text at %q", x.remaining())
		}
		switch {
		case x.accept("media="):
			s.Media = convertIDs[earshot.ArtifactID](x.readWords("a file's id"))
		case x.accept("call="):
			s.Call = x.readWord("a call's id")
		case x.accept("failed"):
			s.Failed = true
		default:
			x.fail("not understood: %q; behind a role stand media= call= failed, then a colon", x.remaining())
		}
	}
	s.Text = x.text(e.more)
	x.extras(e, func(y *scanner, kind string, more []string) {
		switch kind {
		case "call":
			y.spaces()
			c := earshot.Call{ID: y.readWord("a call's id")}
			y.spaces()
			c.Name = y.readWord("a tool's name")
			c.Args = y.maybeText(more)
			s.Calls = append(s.Calls, c)
		case "opaque":
			if s.Opaque != "" {
				y.fail("opaque stands twice")
			}
			s.Opaque = y.text(more)
		default:
			y.fail("not understood: %q; a + line of a session is a call or opaque", kind+y.remaining())
		}
	})
	r.in.Conversation.Session = append(r.in.Conversation.Session, s)
}

// readAttached reads "F1 turn=3 tokens=1105 sha256=ab12".
func (r *reader) readAttached(x *scanner, _ entry) {
	x.spaces()
	a := earshot.AttachedFile{ID: earshot.ArtifactID(x.readWord("a file's id"))}
	x.fields(map[string]func(){
		"turn":   func() { a.Turn = int(x.integer("turn")) },
		"tokens": func() { a.Tokens = int(x.integer("tokens")) },
		"sha256": func() { a.SHA256 = x.readWord("a hash") },
	})
	r.in.Conversation.Attached = append(r.in.Conversation.Attached, a)
}

// readName reads an author's id and the name that the session uses.
func (r *reader) readName(x *scanner, _ entry) {
	x.spaces()
	n := earshot.SessionName{ID: earshot.AuthorID(x.readWord("an author's id"))}
	x.spaces()
	n.Name = x.readWord("a name")
	r.in.Conversation.Names = append(r.in.Conversation.Names, n)
}

// session writes a message of the session.
func (f *formatter) session(s earshot.SessionEntry) {
	b := f.b
	b.WriteString("session " + quoteWord(string(s.Role)))
	if len(s.Media) > 0 {
		b.WriteString(" media=" + quoteWords(s.Media))
	}
	if s.Call != "" {
		b.WriteString(" call=" + quoteWord(s.Call))
	}
	if s.Failed {
		b.WriteString(" failed")
	}
	writeLines(b, s.Text)
	for _, c := range s.Calls {
		fmt.Fprintf(b, "  + call %s %s", quoteWord(c.ID), quoteWord(c.Name))
		writeExtra(b, c.Args)
	}
	if s.Opaque != "" {
		b.WriteString("  + opaque")
		writeExtra(b, s.Opaque)
	}
}

// writeAttached writes a file of the manifest.
func (f *formatter) writeAttached(a earshot.AttachedFile) {
	f.b.WriteString("attached " + quoteWord(string(a.ID)))
	f.number(" turn=", int64(a.Turn))
	f.number(" tokens=", int64(a.Tokens))
	if a.SHA256 != "" {
		f.b.WriteString(" sha256=" + quoteWord(a.SHA256))
	}
	f.b.WriteByte('\n')
}
