package transcript

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// The marks behind an author's handle say what the author is.
const (
	markSelf   = "*" // the agent itself
	markBot    = "^"
	markSystem = "!"
)

// handle reads a handle and its mark.
func (x *scanner) handle() (handle, mark string) {
	handle = x.readWord("an author")
	for _, m := range []string{markSelf, markBot, markSystem} {
		if x.accept(m) {
			return handle, m
		}
	}
	return handle, ""
}

// plainAuthor is the author of a handle that has no author line.
func plainAuthor(handle, mark string, self earshot.Identity) earshot.Author {
	a := earshot.Author{ID: earshot.AuthorID(handle), Name: nameOfHandle(handle), Kind: earshot.Human}
	switch mark {
	case markSelf:
		a = earshot.Author{ID: self.ID, Name: self.Name, Kind: earshot.Bot}
	case markBot:
		a.Kind = earshot.Bot
	case markSystem:
		a.Kind = earshot.System
	}
	return a
}

// author reads an author line: "alice id=U1 full_name=\"Alice Maier\"".
func (r *reader) author(x *scanner, _ entry) {
	x.spaces()
	handle, mark := x.handle()
	if _, ok := r.authors[handle]; ok {
		x.fail("%s has an author line already", handle)
	}
	a := plainAuthor(handle, mark, r.in.Identity)
	x.fields(map[string]func(){
		"id":        func() { a.ID = earshot.AuthorID(x.readWord("an id")) },
		"name":      func() { a.Name = x.readWord("a name") },
		"full_name": func() { a.FullName = x.readWord("a name") },
		"kind":      func() { a.Kind = earshot.AuthorKind(x.readWord("a kind")) },
		"zone":      func() { a.Zone = x.wordWith("a zone", "/") },
		"standing":  func() { a.Standing = earshot.Standing(x.readWord("a standing")) },
		"team":      func() { a.Team = x.readWord("a name") },
		"allowed":   func() { a.NotAllowed = x.readWord("no") == "no" },
	})
	r.authors[handle] = a
}

// readMentioned reads somebody who is mentioned: U9 "Erin V." full_name="Erin Vogt".
func (r *reader) readMentioned(x *scanner, _ entry) {
	x.spaces()
	p := assemble.MentionedPerson{ID: earshot.AuthorID(x.readWord("an author's id"))}
	x.spaces()
	p.Name = x.readWord("a name")
	x.fields(map[string]func(){"full_name": func() { p.FullName = x.readWord("a name") }})
	r.in.Mentioned = append(r.in.Mentioned, p)
}

// mentioned writes those who are mentioned and wrote nothing.
func (f *formatter) mentioned(list []assemble.MentionedPerson) {
	for _, p := range list {
		f.b.WriteString("mentioned " + quoteWord(string(p.ID)) + " " + quoteWord(p.Name))
		if p.FullName != "" {
			f.b.WriteString(" full_name=" + quoteWord(p.FullName))
		}
		f.b.WriteByte('\n')
	}
}

// readAuthor reads the handle of a message's author.
func (r *reader) readAuthor(x *scanner) earshot.Author {
	handle, mark := x.handle()
	a, explained := r.authors[handle]
	switch {
	case !explained && mark == markSelf && handle != r.self:
		x.fail("%s* is marked as the agent itself, which is %s", handle, r.self)
	case !explained:
		a = plainAuthor(handle, mark, r.in.Identity)
	case mark != "" && mark != markOf(a, r.in.Identity):
		x.fail("the mark of %s%s is not what its author line says", handle, mark)
	}
	return a
}

// markOf is the mark of a.
func markOf(a earshot.Author, self earshot.Identity) string {
	switch {
	case self.Is(a.ID):
		return markSelf
	case a.Kind == earshot.Bot:
		return markBot
	case a.Kind == earshot.System:
		return markSystem
	}
	return ""
}

// authors gives every author a handle and a mark, and writes an author line where
// these do not say everything.
func (f *formatter) authors(in *assemble.Input, self string) {
	f.handles = map[earshot.Author]string{}
	taken := map[string]bool{}
	for _, m := range in.Messages {
		a := m.Author
		if f.handles[a] != "" {
			continue
		}
		mark := markOf(a, in.Identity)
		handle := freeHandle(a, mark, self, in.Identity, taken)
		taken[handle] = true
		f.handles[a] = handle + mark
		plain := plainAuthor(handle, mark, in.Identity)
		if a == plain && (mark != markSelf || handle == self) {
			continue
		}
		f.b.WriteString("author " + handle + mark)
		if a.ID != plain.ID {
			f.b.WriteString(" id=" + quoteWord(string(a.ID)))
		}
		if a.Name != plain.Name {
			f.b.WriteString(" name=" + quoteWord(a.Name))
		}
		if a.FullName != "" {
			f.b.WriteString(" full_name=" + quoteWord(a.FullName))
		}
		if a.Kind != plain.Kind {
			f.b.WriteString(" kind=" + quoteWord(string(a.Kind)))
		}
		if a.Zone != "" {
			f.b.WriteString(" zone=" + wordWith(a.Zone, "/"))
		}
		if a.Standing != "" {
			f.b.WriteString(" standing=" + quoteWord(string(a.Standing)))
		}
		if a.Team != "" {
			f.b.WriteString(" team=" + quoteWord(a.Team))
		}
		if a.NotAllowed {
			f.b.WriteString(" allowed=no")
		}
		f.b.WriteByte('\n')
	}
}

// freeHandle returns a handle for a that nobody else has: one that needs no author
// line if there is such a handle, else one made of the name.
func freeHandle(a earshot.Author, mark, self string, id earshot.Identity, taken map[string]bool) string {
	if mark == markSelf && a == plainAuthor(self, mark, id) && !taken[self] {
		return self
	}
	h := string(a.ID)
	if h == "" || wordWith(h, "") != h || nameOfHandle(h) != a.Name {
		h = handleOf(a.Name)
	}
	free := h
	for i := 2; taken[free]; i++ {
		free = h + strconv.Itoa(i)
	}
	return free
}

// handleOf makes a short lower-case word of a name.
func handleOf(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case r == ' ' || r == '-' || r == '_' || r == '.':
			b.WriteByte('-')
		}
		if b.Len() >= 24 {
			break
		}
	}
	if h := strings.Trim(b.String(), "-"); h != "" {
		return h
	}
	return "someone"
}

// nameOfHandle returns the name of an author who has only a handle: the handle with a capital,
// so that ids and names differ in a case.
func nameOfHandle(handle string) string {
	r, n := utf8.DecodeRuneInString(handle)
	return string(unicode.ToUpper(r)) + handle[n:]
}
