package transcript

import (
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// defaultDate is the day of a time that is written without one.
const defaultDate = "2026-03-02"

// defaultIdentity is the agent where a case does not say.
const defaultIdentity = "earshot"

// A reader turns entries into an input.
type reader struct {
	c       *Case
	in      *assemble.Input
	date    string
	self    string // the identity's handle
	authors map[string]earshot.Author
	seq     int64
	once    map[string]bool
	// cursor is looked up when all messages are known.
	cursor     string
	cursorLine int
}

// parseGiven reads what a context is made of.
func parseGiven(s section, c *Case) error {
	list, err := entries(s)
	if err != nil {
		return err
	}
	r := &reader{
		c: c, in: &c.Input, date: defaultDate, self: defaultIdentity,
		authors: map[string]earshot.Author{}, once: map[string]bool{},
	}
	r.in.Identity = earshot.Identity{ID: defaultIdentity, Name: defaultIdentity}
	// Who the agent is decides how an author's mark reads, wherever it stands.
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
	if !x.done() {
		x.fail("something is left at the end of the line: %q", x.left())
	}
}

// A key is a line that is no message.
type key struct {
	line   func(*reader, *scanner, entry)
	many   bool // may stand more than once
	text   bool // ends in a text, which may have further lines
	extras bool // may have + lines below it
}

// keys are filled below, since reading them needs them.
var keys map[string]key

func init() {
	keys = map[string]key{
		"policy":       {line: (*reader).policy},
		"budget":       {line: (*reader).budget},
		"counter":      {line: func(r *reader, x *scanner, _ entry) { r.c.Counter = x.rest() }},
		"instructions": {line: func(r *reader, x *scanner, e entry) { r.in.Instructions = x.text(e.more) }, text: true},
		"zone":         {line: func(r *reader, x *scanner, _ entry) { x.spaces(); r.in.Zone = x.wordWith("a zone", "/") }},
		"identity":     {line: (*reader).identity},
		"channel":      {line: (*reader).channel},
		"topic":        {line: func(r *reader, x *scanner, e entry) { r.in.Channel.Topic = x.text(e.more) }, text: true},
		"purpose":      {line: func(r *reader, x *scanner, e entry) { r.in.Channel.Purpose = x.text(e.more) }, text: true},
		"author":       {line: (*reader).author, many: true},
		"date":         {line: (*reader).day, many: true},
		"state":        {line: (*reader).state, many: true},
		"summary":      {line: (*reader).summary, text: true},
		"session":      {line: (*reader).session, many: true, text: true, extras: true},
		"named":        {line: (*reader).named, many: true},
		"attached":     {line: (*reader).attached, many: true},
		"stored":       {line: (*reader).stored, many: true},
		"coverage":     {line: (*reader).coverage, many: true, text: true},
		"attach":       {line: (*reader).attach},
		"file_tokens":  {line: (*reader).fileTokens},
		"recalled":     {line: (*reader).recalled},
		"anchor":       {line: func(r *reader, x *scanner, _ entry) { x.spaces(); r.in.Anchor = earshot.MessageID(x.word("an id")) }},
	}
}

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

// text reads ": text" to the end of the line; more are its further lines.
func (x *scanner) text(more []string) string {
	if !x.accept(":") {
		x.fail("a colon and a text are missing at %q", x.left())
		return ""
	}
	lines := []string{x.rest()}
	return strings.Join(append(lines, more...), "\n")
}

// maybeText is text where there need not be one.
func (x *scanner) maybeText(more []string) string {
	if strings.HasPrefix(x.left(), ":") {
		return x.text(more)
	}
	if len(more) > 0 {
		x.fail("a colon is missing before the text")
	}
	return ""
}

// fields reads "key=value" pairs up to a colon or the end of the line.
func (x *scanner) fields(read map[string]func()) {
	seen := map[string]bool{}
	for x.err == nil && !strings.HasPrefix(x.left(), ":") && !x.done() {
		if !x.spaces() {
			x.fail("a space is missing at %q", x.left())
			return
		}
		name := x.take(func(c rune) bool { return 'a' <= c && c <= 'z' || c == '_' || '0' <= c && c <= '9' })
		f, ok := read[name]
		switch {
		case !ok || !x.accept("="):
			x.fail("not understood: %q", name+x.left())
		case seen[name]:
			x.fail("%s stands twice", name)
		default:
			seen[name] = true
			f()
		}
	}
}

func (r *reader) policy(x *scanner, _ entry) {
	x.spaces()
	if !strings.HasPrefix(x.left(), "{") {
		name := x.rest()
		p, ok := assemble.ByName(name)
		if !ok {
			x.fail("there is no built-in policy %q", name)
		}
		r.in.Policy = p
		return
	}
	l := x.left()
	x.at = len(x.s)
	var p assemble.WrittenPolicy
	if err := json.Unmarshal([]byte(l), &p, json.RejectUnknownMembers(true)); err != nil {
		x.fail("not a policy: %v", err)
	}
	r.in.Policy = p.Read()
}

// budget reads the limits that differ from the default.
func (r *reader) budget(x *scanner, _ entry) {
	b := &r.in.Budget
	*b = assemble.DefaultBudget()
	x.fields(map[string]func(){
		"tokens":  func() { b.Tokens = int(x.integer("tokens")) },
		"session": func() { b.Session = int(x.integer("session")) },
		"limit":   func() { b.Limit = int(x.integer("limit")) },
	})
}

func (r *reader) identity(x *scanner, _ entry) {
	x.spaces()
	r.self = x.word("a name")
	id := &r.in.Identity
	*id = earshot.Identity{ID: earshot.AuthorID(r.self), Name: r.self}
	x.fields(map[string]func(){
		"id":      func() { id.ID = earshot.AuthorID(x.word("an id")) },
		"name":    func() { id.Name = x.word("a name") },
		"aliases": func() { id.Aliases = typed[earshot.AuthorID](x.words("an id")) },
	})
}

func (r *reader) channel(x *scanner, _ entry) {
	x.spaces()
	c := &r.in.Channel
	c.Platform = earshot.Platform(x.word("a platform"))
	if !x.accept("/") {
		x.fail("a channel is written platform/workspace/id")
	}
	c.Workspace = earshot.WorkspaceID(x.word("a workspace"))
	if !x.accept("/") {
		x.fail("a channel is written platform/workspace/id")
	}
	c.ID = earshot.ChannelID(x.word("a channel's id"))
	c.Kind = earshot.KindChannel
	for x.err == nil && !x.done() {
		x.spaces()
		switch {
		case x.accept("#"):
			c.Name = x.word("a channel's name")
		case x.accept("kind="):
			c.Kind = earshot.ChannelKind(x.word("a kind"))
		case x.accept("dm"):
			c.Kind = earshot.KindDM
		case x.accept("group"):
			c.Kind = earshot.KindGroup
		default:
			x.fail("not understood: %q; a channel has a #name, and dm or group where it is one", x.left())
		}
	}
}

// A mark stands behind a handle and says what kind of author it is.
const (
	markSelf   = "*"
	markBot    = "^"
	markSystem = "!"
)

// handle reads a handle and its mark.
func (x *scanner) handle() (handle, mark string) {
	handle = x.word("an author")
	for _, m := range []string{markSelf, markBot, markSystem} {
		if x.accept(m) {
			return handle, m
		}
	}
	return handle, ""
}

// plainAuthor is who is meant by a handle that no author line explains.
func plainAuthor(handle, mark string, self earshot.Identity) earshot.Author {
	a := earshot.Author{ID: earshot.AuthorID(handle), Name: named(handle), Kind: earshot.Human}
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

func (r *reader) author(x *scanner, _ entry) {
	x.spaces()
	handle, mark := x.handle()
	if _, ok := r.authors[handle]; ok {
		x.fail("%s has an author line already", handle)
	}
	a := plainAuthor(handle, mark, r.in.Identity)
	x.fields(map[string]func(){
		"id":        func() { a.ID = earshot.AuthorID(x.word("an id")) },
		"name":      func() { a.Name = x.word("a name") },
		"full_name": func() { a.FullName = x.word("a name") },
		"kind":      func() { a.Kind = earshot.AuthorKind(x.word("a kind")) },
		"zone":      func() { a.Zone = x.wordWith("a zone", "/") },
	})
	r.authors[handle] = a
}

// who reads the author of a message.
func (r *reader) who(x *scanner) earshot.Author {
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

// markOf is the mark that shows what a is.
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

func (r *reader) day(x *scanner, _ entry) {
	x.spaces()
	d := x.word("a date")
	if _, err := earshot.ParseTime(d + "T00:00:00Z"); err != nil || len(d) != len(defaultDate) {
		x.fail("%q is no date; write 2026-03-02", d)
		return
	}
	r.date = d
}

// state reads "cursor=m2 epoch=1 form=log shown=m1,m2@09:03:00 turns=m2:m3".
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
		"cursor": once("cursor", func() { r.cursor, r.cursorLine = x.word("a cursor"), x.line }),
		"form":   once("form", func() { c.Form = assemble.Frame(x.word("a frame")) }),
		"epoch":  once("epoch", func() { c.Epoch = int(x.integer("epoch")) }),
		"shown": once("shown", func() {
			for more := true; more && x.err == nil; more = x.accept(",") {
				s := earshot.Shown{ID: earshot.MessageID(x.word("an id"))}
				if x.accept("@") {
					s.Revision = x.time(r.date)
				}
				c.Shown = append(c.Shown, s)
			}
		}),
		"turns": once("turns", func() {
			for more := true; more && x.err == nil; more = x.accept(",") {
				a := earshot.Answer{Anchor: earshot.MessageID(x.word("an id"))}
				for x.accept(":") {
					a.Replies = append(a.Replies, earshot.MessageID(x.word("an id")))
				}
				c.Turns = append(c.Turns, a)
			}
		}),
	})
}

// resolveCursor reads a cursor: a sequence, or the id of the message that has
// it, which then is the last one of that id.
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

func (r *reader) summary(x *scanner, e entry) {
	s := &earshot.Summary{}
	x.fields(map[string]func(){
		"from":  func() { s.From = x.time(r.date) },
		"to":    func() { s.To = x.time(r.date) },
		"turns": func() { s.Turns = int(x.integer("turns")) },
	})
	s.Text = x.text(e.more)
	r.in.Conversation.Summary = s
}

// thread reads an optional " >m1".
func (x *scanner) thread() earshot.MessageID {
	if x.accept(" >") {
		return earshot.MessageID(x.word("an id"))
	}
	return ""
}

func (r *reader) stored(x *scanner, _ entry) {
	s := assemble.Stored{Thread: x.thread()}
	x.fields(map[string]func(){
		"count": func() { s.Count = int(x.integer("count")) },
		"from":  func() { s.From = x.time(r.date) },
		"to":    func() { s.To = x.time(r.date) },
	})
	r.in.Stored = append(r.in.Stored, s)
}

func (r *reader) coverage(x *scanner, e entry) {
	x.spaces()
	c := earshot.Coverage{State: earshot.CoverageState(x.word("known, missing or stale"))}
	c.Thread = x.thread()
	x.fields(map[string]func(){
		"from": func() { c.From = x.time(r.date) },
		"to":   func() { c.To = x.time(r.date) },
	})
	c.Why = x.maybeText(e.more)
	r.in.Coverage = append(r.in.Coverage, c)
}

func (r *reader) attach(x *scanner, _ entry) {
	x.spaces()
	r.in.Attach = typed[earshot.ArtifactID](x.words("a file's id"))
}

// fileTokens reads "F1=1105,F2=85".
func (r *reader) fileTokens(x *scanner, _ entry) {
	x.spaces()
	r.in.FileTokens = map[earshot.ArtifactID]int{}
	for more := true; more && x.err == nil; more = x.accept(",") {
		id := earshot.ArtifactID(x.word("a file's id"))
		if _, ok := r.in.FileTokens[id]; ok {
			x.fail("%s stands twice", id)
		}
		if !x.accept("=") {
			x.fail("a file's tokens are written F1=1105")
		}
		r.in.FileTokens[id] = int(x.integer("a file's tokens"))
	}
}

// recalled reads "m3=23.3/0.5(recency=3.3,words=20),m7=12": what search found,
// best first. What has no score has 0.
func (r *reader) recalled(x *scanner, _ entry) {
	x.spaces()
	for more := true; more && x.err == nil; more = x.accept(",") {
		v := assemble.Recalled{ID: earshot.MessageID(x.word("an id"))}
		if x.accept("=") {
			v.Score = x.number("a score")
		}
		if x.accept("/") {
			v.Cover = x.number("a share")
		}
		if x.accept("(") {
			v.Parts = map[string]float64{}
			for more := true; more && x.err == nil; more = x.accept(",") {
				name := x.word("a part's name")
				if !x.accept("=") {
					x.fail("a part of a score has no value: %q", name)
				}
				v.Parts[name] = x.number("a part")
			}
			if !x.accept(")") {
				x.fail("a ) is missing at %q", x.left())
			}
		}
		r.in.Recalled = append(r.in.Recalled, v)
	}
}

// typed makes ids of words.
func typed[T ~string](words []string) []T {
	var ids []T
	for _, w := range words {
		ids = append(ids, T(w))
	}
	return ids
}
