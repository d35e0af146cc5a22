package assemble

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/earshot-ai/earshot"
)

// A mediaPlan is which files the turn attaches, and the lines about those that
// the model has already.
type mediaPlan struct {
	attach []earshot.ArtifactID
	added  []earshot.Attached
	lines  []string
}

// fitMedia decides for each file that was opted in whether it is attached or
// referred to: what the manifest holds, by id or by content, is not sent
// again. It returns what the lines cost.
func (t *turn) fitMedia(p *mediaPlan, s Section, room int) int {
	used := 0
	note := func(format string, args ...any) {
		t.notes = append(t.notes, Note{NoteOmitted, "media: " + fmt.Sprintf(format, args...)})
	}
	var asked []earshot.ArtifactID
	for _, id := range t.in.Attach {
		if slices.Contains(asked, id) {
			continue
		}
		asked = append(asked, id)
		f, ok := t.file(id)
		switch {
		case !ok:
			note("file %q is in none of the messages", oneLine(string(id), maxFileName))
			continue
		case f.Size > s.Bytes:
			note("%s has %d bytes; the limit is %d", FileName(f), f.Size, s.Bytes)
			continue
		}
		if a, here, ok := t.attachedBefore(f, p.added); ok {
			line := "[" + FileName(f) + " was attached in turn " + strconv.Itoa(a.Turn) + "]"
			if here {
				line = "[" + FileName(f) + " is the same file as one attached here]"
			}
			if n := t.tok(line) + 1; used+n <= room {
				used += n
				p.lines = append(p.lines, line)
			}
			continue
		}
		if len(p.attach) == s.Files {
			note("%s is over the limit of %d files", FileName(f), s.Files)
			continue
		}
		p.attach = append(p.attach, f.ID)
		p.added = append(p.added, earshot.Attached{ID: f.ID, SHA256: f.SHA256, Turn: t.turnNumber()})
	}
	return used
}

// turnNumber counts this conversation's turns from 1.
func (t *turn) turnNumber() int { return len(t.in.Conversation.Turns) + 1 }

// file finds a file among what was said up to the anchor.
func (t *turn) file(id earshot.ArtifactID) (earshot.File, bool) {
	for _, m := range slices.Backward(t.upto) {
		if m.Deleted || t.isolated && m != t.anchor {
			continue
		}
		for _, f := range m.Files {
			if f.ID == id {
				return f, true
			}
		}
	}
	return earshot.File{}, false
}

// attachedBefore finds a file in the manifest or, here, among what this turn
// adds. An epoch that starts here has attached nothing.
func (t *turn) attachedBefore(f earshot.File, added []earshot.Attached) (a earshot.Attached, here, ok bool) {
	same := func(a earshot.Attached) bool { return a.ID == f.ID || a.SHA256 != "" && a.SHA256 == f.SHA256 }
	if i := slices.IndexFunc(t.in.Conversation.Attached, same); i >= 0 && !t.broken && !t.isolated {
		return t.in.Conversation.Attached[i], false, true
	}
	if i := slices.IndexFunc(added, same); i >= 0 {
		return added[i], true, true
	}
	return a, false, false
}

// Inlined returns the text of a file as it may stand in a prompt: cleaned as
// what people say is, every line indented, so that none of it is taken for a
// label, a header or a delimiter.
func Inlined(text string) string { return "  " + indent(escapeTags(clean(text))) }
