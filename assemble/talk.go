package assemble

import (
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// Talk writes messages in the log form for a reader who is told what was said in a
// channel and asked nothing in it, such as somebody who catches up: where it was said,
// then the talk as a window shows it, threads together, gaps and counts of replies
// included. It is a message of the user's with the passages of its messages.
//
// Messages are in any order; deleted and blank ones and joins are left out, and each
// has at most limit tokens of text (0: all of it). Of in only Messages, Channel, Zone,
// Counter, Stored, Coverage and Policy.Bots are used: the agent is one of the bots. The
// error is an [*InputError].
func Talk(in Input, limit int) (Message, error) {
	if err := checkIDs(in.Messages); err != nil {
		return Message{}, err
	}
	in.Identity, in.Trust = earshot.Identity{}, earshot.Trust{}
	t, err := newReader(in)
	if err != nil {
		return Message{}, err
	}
	after := &earshot.Message{} // stands for a question that comes after all of them
	if n := len(t.msgs); n > 0 {
		after.Time = t.msgs[n-1].Time + 1
	}
	t.anchor, t.upTo, t.end = &msg{Message: after}, t.msgs, after.Position()
	t.when.year = t.when.local(after.Time).Year()
	b := &block{kind: &windowSection}
	for _, m := range t.msgs {
		switch {
		case m.Deleted:
			m.out(nil, reasonDeleted)
		case len(m.Files)+len(m.Shared) == 0 && isBlank(m.Text):
			m.out(nil, reasonBlank)
		case !t.isSpoken(m):
			m.out(nil, reasonSystem)
		default:
			t.keepEntry(b, m, t.entry(m, limit))
			t.live, b.kept = append(t.live, m), append(b.kept, m)
		}
	}
	t.blocks = []*block{b}
	t.chooseGaps()
	for _, s := range t.in.Stored {
		if s.Thread == "" {
			b.unloaded = max(0, s.Count-len(t.msgs))
		}
	}
	w := &prompt{tokens: map[SectionName]int{}}
	w.add(earshot.User, Place, nextBlock, t.placeLog(), 0)
	title := "nothing was said"
	if len(b.kept) > 0 {
		last := b.kept[len(b.kept)-1].Time
		title = fmt.Sprintf("what was said until %s %s", t.when.local(last).Format("Mon 2 Jan 2006 15:04"), t.when.name)
	}
	t.writeLog(w, Window, logHeader(title, b.unloaded), b.gaps, t.treeLines(b))
	w.close()
	return w.messages[0], nil
}

// WithIDs returns the text with a line below each message of chat that says its id,
// such as "+ id 1772442420.000100", for a reader who looks further by ids: a prompt has
// none but those of threads and files. What a session has and what the assistant says is
// indented, since it may be anything: in the first column nothing but a message's head
// is anybody else's than Earshot's. The typed JSON of the form [JSON] has its ids already
// and stays as it is.
func (m Message) WithIDs() string {
	indent := ""
	if m.Role != earshot.User || slices.Contains(m.Sections, SessionPart) {
		indent = logIndent
	}
	var b strings.Builder
	piece := func(s string) { b.WriteString(strings.ReplaceAll(s, "\n", "\n"+indent)) }
	b.WriteString(indent)
	from := 0
	for _, p := range m.Passages {
		if p.To < len(m.Text) && m.Text[p.To] != '\n' || !isWord(string(p.Message)) {
			continue // within JSON, or an id that only the log form refuses
		}
		piece(m.Text[from:p.To])
		b.WriteString("\n" + logPlus + "id " + string(p.Message))
		from = p.To
	}
	piece(m.Text[from:])
	return b.String()
}
