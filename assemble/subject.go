package assemble

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// What threads are called: on platforms that give them names, a name often is the
// question, and its new name the answer. A subject is what people typed, and not what
// the author of the thread's first message says, so it stands apart from the text.

// The section subject says in one line which thread the question stands in, where that
// has a name, unless the place says it.
var subjectSection = sectionKind{
	name: SubjectPart,
	look: SectionLook{Means: "what the question's thread is called", Hue: 6, ANSI: 4},
	reserve: func(t *turn, p *fitPlan, left int) int {
		p.subject = t.subjectLine()
		n := t.countLines(p.subject)
		if n > left {
			t.notes = append(t.notes, Note{NoteOmitted, "subject: no room under the limit"})
			p.subject, n = "", 0
		}
		return n
	},
	render: func(t *turn, _ *sectionKind, w *prompt, p *fitPlan) {
		if p.subject != "" {
			w.add(earshot.User, SubjectPart, nextBlock, p.subject, t.countLines(p.subject))
		}
	},
}

// How much of a subject is shown. Discord allows names of 100 characters, five tags of 20.
const (
	maxSubject = 100 // graphemes
	maxTags    = 8
)

// subjectLine names the question's thread in one line, "" where nobody has named it.
// Thread names may contain anything, so the name stands last.
func (t *turn) subjectLine() string {
	root := t.subjectRoot()
	if _, said := t.has(Place); root == nil || said && t.isLog() {
		return ""
	}
	where := "thread"
	if root.Subject.Post {
		where = "post"
	}
	if c := t.in.Channel; c.Kind != earshot.KindDM && c.Name != "" {
		where += " in #" + cleanName(strings.TrimPrefix(c.Name, "#"))
	}
	if tags := subjectTags(root.Subject); tags != "" {
		where += ", tagged " + tags
	}
	return strings.TrimSpace("[" + strings.NewReplacer("[", "(", "]", ")").Replace(escapeTags(where)) + "] " + t.subjectName(root.Subject))
}

// subjectRoot returns the message that the question's thread begins with, where the
// thread has a name or tags; nil where it has none, or may not be shown.
func (t *turn) subjectRoot() *msg {
	m := t.root()
	if t.anchor.Root() == "" && t.inForum() {
		m = t.anchor // a post's first message asks
	}
	if m == nil || m.Subject == nil || t.subjectName(m.Subject) == "" && len(m.Subject.Tags) == 0 {
		return nil
	}
	return m
}

// subjectName is what a thread is called, on one line.
func (t *turn) subjectName(x *earshot.Subject) string {
	name := oneLine(x.Name, maxSubject)
	if cleanName(name) == "" { // nothing of it can be seen
		return ""
	}
	if len(name) < len(oneLine(x.Name, maxSubject+1)) {
		name += "…"
	}
	return t.renderStored(name)
}

// subjectTags are a thread's tags with commas between them. None contains a comma.
func subjectTags(x *earshot.Subject) string {
	var list []string
	for _, tag := range x.Tags {
		if tag = cleanName(tag); tag != "" && len(list) < maxTags {
			list = append(list, tag)
		}
	}
	return strings.Join(list, ", ")
}

// subjectSays reports whether a subject says more than the text of its message: a thread
// is often called what its first message begins with.
func subjectSays(m *earshot.Message) bool {
	x := m.Subject
	return x != nil && (len(x.Tags) > 0 || x.Name != "" && !beginsWith(m.Text, x.Name))
}

// beginsWith reports whether a text begins with a name, which may be cut.
func beginsWith(text, name string) bool {
	name = strings.TrimSuffix(strings.TrimSuffix(strings.Join(strings.Fields(name), " "), "…"), "...")
	text = strings.Join(strings.Fields(text[:min(len(text), 4*len(name)+64)]), " ")
	return len(text) >= len(name) && strings.EqualFold(text[:len(name)], name)
}

// subjectLines are the lines of a subject below its message in the log form, each with a
// line break before it; now stands behind their words. Where the text begins with the
// name, only the tags are told, unless the name is news.
func (t *turn) subjectLines(m *msg, now string) string {
	if m.Subject == nil {
		return ""
	}
	var s string
	if name := t.subjectName(m.Subject); name != "" && (now != "" || !beginsWith(m.Text, m.Subject.Name)) {
		s = "\n" + logPlus + "thread" + now + ": " + name
	}
	switch tags := subjectTags(m.Subject); {
	case tags != "":
		s += "\n" + logPlus + "tags" + now + ": " + tags
	case now != "":
		s += "\n" + logPlus + "tags" + now + ": none"
	}
	return s
}

// placeNames reports whether the prompt's place says what m's thread is called.
func (t *turn) placeNames(m *msg) bool {
	if t.later || m.Subject == nil || m != t.subjectRoot() {
		return false
	}
	return slices.ContainsFunc(t.sections, func(s turnSection) bool { return s.kind == &placeSection || s.kind == &subjectSection })
}

// inForum reports whether the question stands in a forum: there everything is said in
// the threads of posts, also where the post's own words are not shown.
func (t *turn) inForum() bool {
	for _, m := range []*msg{t.anchor, t.find(t.anchor.Root())} {
		if m != nil && !t.afterEnd(m) && m.Subject != nil && m.Subject.Post {
			return true
		}
	}
	return false
}

// bestHits is how many of the best hits of a search keep their posts out of a forum's
// window: recall shows these whole.
const bestHits = 8

// ofForum reports whether a window of a forum may name m: other posts, but nothing that
// was said in them. They are named by their titles alone.
func (t *turn) ofForum(m *msg) bool {
	return m.Root() == "" && m.Subject != nil && m.Subject.Post && t.titleOf(m) != "" && !t.isFound(m)
}

// isFound reports whether recall shows messages of a post, as far as that is known
// before it is filled.
func (t *turn) isFound(post *msg) bool {
	if t.block(Recall) == nil {
		return false
	}
	return slices.ContainsFunc(t.in.Recalled[:min(len(t.in.Recalled), bestHits)], func(r RecalledMessage) bool {
		hit := t.find(r.ID)
		return hit != nil && standsIn(hit) == post.ID
	})
}

// titlesOnly says of what a window keeps, where that are a forum's other posts, that the
// model has seen no more than their titles.
func (t *turn) titlesOnly(b *block) {
	if !t.inForum() {
		return
	}
	for _, m := range b.kept {
		m.verdict = isSnippet
	}
}

// titleOf is a post in one line: its name or, where that is unknown, its first words.
func (t *turn) titleOf(m *msg) string {
	if name := t.subjectName(m.Subject); name != "" {
		return name
	}
	return shortened(t.renderStored(m.Text))
}

// titleEntry is a post as a window of a forum names it in the log form.
func (t *turn) titleEntry(m *msg) *logEntry {
	e := logEntry{text: t.titleOf(m)}
	if tags := subjectTags(m.Subject); tags != "" {
		e.plus = "\n" + logPlus + "tags: " + tags
	}
	e.cost = t.headCost(m) + t.in.Counter.Count(e.text) + 1
	if e.plus != "" {
		e.cost += t.countLines(e.plus[1:])
	}
	return &e
}

// titleLine is a post as the text forms name it, on one line.
func (t *turn) titleLine(m *msg) string {
	s := t.titleOf(m)
	if tags := subjectTags(m.Subject); tags != "" {
		s += " [tags: " + tags + "]"
	}
	return s
}

// withSubject adds to a text what its message's thread is called, as the text forms
// have it outside of that thread.
func (t *turn) withSubject(s string, m *msg) string {
	if m == t.anchor || t.in.Identity.Is(m.Author.ID) || !subjectSays(m.Message) || t.placeNames(m) {
		return s
	}
	var facts []string
	if tags := subjectTags(m.Subject); tags != "" {
		facts = append(facts, "tagged "+tags)
	}
	if name := t.subjectName(m.Subject); name != "" && !beginsWith(m.Text, m.Subject.Name) {
		facts = append(facts, "called "+name)
	}
	if len(facts) == 0 {
		return s
	}
	line := "[thread " + strings.Join(facts, ", ") + "]"
	if s == "" {
		return line
	}
	return s + "\n" + line
}
