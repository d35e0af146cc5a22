package transcript

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// defaultDate is the day of a time that is written without one.
const defaultDate = "2026-03-02"

// defaultIdentity is the agent of a case without an identity line.
const defaultIdentity = "earshot"

// A reader makes an input of entries.
type reader struct {
	c       *Case
	in      *assemble.Input
	date    string
	self    string // the identity's handle
	authors map[string]earshot.Author
	seq     int64
	once    map[string]bool
	// cursor may be a message's id, so it is resolved after all messages are read.
	cursor     string
	cursorLine int
}

// parseGiven reads the section given: the input.
func parseGiven(s section, c *Case) error {
	list, err := groupEntries(s)
	if err != nil {
		return err
	}
	r := &reader{
		c: c, in: &c.Input, date: defaultDate, self: defaultIdentity,
		authors: map[string]earshot.Author{}, once: map[string]bool{},
	}
	r.in.Identity = earshot.Identity{ID: defaultIdentity, Name: defaultIdentity}
	// The identity first: authors' marks depend on it, wherever its line stands.
	for pass := range 2 {
		for _, e := range list {
			x := &scanner{line: e.line, s: e.head}
			if isIdentity := strings.HasPrefix(e.head, "identity "); isIdentity == (pass == 0) {
				r.entry(x, e)
			}
			if x.err != nil {
				return x.err
			}
		}
	}
	if r.cursor != "" {
		return r.resolveCursor()
	}
	return nil
}

// entry reads one entry.
func (r *reader) entry(x *scanner, e entry) {
	if c := e.head[0]; '0' <= c && c <= '9' || c == '-' || c == '@' {
		r.message(x, e)
		return
	}
	key := x.take(func(c rune) bool { return 'a' <= c && c <= 'z' || c == '_' })
	read, ok := keys[key]
	if !ok {
		x.fail("a line begins with a time (a message) or with one of %s; this begins with %q", keyNames(), firstWord(e.head))
		return
	}
	if !read.many && r.once[key] {
		x.fail("%s stands twice", key)
	}
	r.once[key] = true
	if len(e.more) > 0 && !read.text {
		x.fail("%s has no text, and indented lines follow it", key)
	}
	if len(e.extras) > 0 && !read.extras {
		x.fail("%s has no + lines", key)
	}
	if x.err == nil {
		read.line(r, x, e)
	}
	if !x.atEnd() {
		x.fail("something is left at the end of the line: %q", x.remaining())
	}
}

// A keywordParser is how a line that begins with a key word is read; other lines are
// messages.
type keywordParser struct {
	line   func(*reader, *scanner, entry)
	many   bool // may stand more than once
	text   bool // ends in a text, which may have further lines
	extras bool // may have + lines below it
}

// keys are all keys. They are set in init because reading a key uses them.
var keys map[string]keywordParser

func init() {
	keys = map[string]keywordParser{
		"policy":       {line: (*reader).policy},
		"budget":       {line: (*reader).budget},
		"counter":      {line: func(r *reader, x *scanner, _ entry) { r.c.Counter = x.readRest() }},
		"instructions": {line: func(r *reader, x *scanner, e entry) { r.in.Instructions = x.text(e.more) }, text: true},
		"zone":         {line: func(r *reader, x *scanner, _ entry) { x.spaces(); r.in.Zone = x.wordWith("a zone", "/") }},
		"asker_zone":   {line: func(r *reader, x *scanner, _ entry) { x.spaces(); r.in.AskerZone = x.wordWith("a zone", "/") }},
		"asked_by": {line: func(r *reader, x *scanner, _ entry) {
			x.spaces()
			var at earshot.Time
			by := x.reactor(map[string]func(){"time": func() { at = x.time(r.date) }})
			r.in.AskedBy = assemble.EmojiAsker{Emoji: by.Emoji, ID: by.ID, Name: by.Name, Time: at}
		}},
		"mentioned":   {line: (*reader).readMentioned, many: true},
		"trust":       {line: (*reader).trust},
		"notice":      {line: func(r *reader, x *scanner, e entry) { r.in.Notices = append(r.in.Notices, x.text(e.more)) }, many: true, text: true},
		"identity":    {line: (*reader).identity},
		"channel":     {line: (*reader).channel},
		"topic":       {line: func(r *reader, x *scanner, e entry) { r.in.Channel.Topic = x.text(e.more) }, text: true},
		"purpose":     {line: func(r *reader, x *scanner, e entry) { r.in.Channel.Purpose = x.text(e.more) }, text: true},
		"author":      {line: (*reader).author, many: true},
		"date":        {line: (*reader).day, many: true},
		"state":       {line: (*reader).state, many: true},
		"summary":     {line: (*reader).summary, text: true},
		"session":     {line: (*reader).session, many: true, text: true, extras: true},
		"named":       {line: (*reader).readName, many: true},
		"attached":    {line: (*reader).readAttached, many: true},
		"stored":      {line: (*reader).readStored, many: true},
		"coverage":    {line: (*reader).coverage, many: true, text: true},
		"attach":      {line: (*reader).attach},
		"file_tokens": {line: (*reader).fileTokens},
		"recalled":    {line: (*reader).readRecalled},
		"anchor":      {line: func(r *reader, x *scanner, _ entry) { x.spaces(); r.in.Anchor = earshot.MessageID(x.readWord("an id")) }},
	}
}

// keyNames lists the keys, for an error.
func keyNames() string {
	var names []string
	for k := range keys {
		names = append(names, k)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func firstWord(s string) string {
	w, _, _ := strings.Cut(s, " ")
	return w
}

func (r *reader) day(x *scanner, _ entry) {
	x.spaces()
	d := x.readWord("a date")
	if _, err := earshot.ParseTime(d + "T00:00:00Z"); err != nil || len(d) != len(defaultDate) {
		x.fail("%q is no date; write 2026-03-02", d)
		return
	}
	r.date = d
}
