package slackmsg

import (
	"slices"
	"strconv"
	"strings"
)

// Bounds of a message's parts. Slack allows 50 blocks and 100 attachments;
// what is beyond these bounds is left out with a note.
const (
	maxParts    = 2000 // paragraphs of blocks, and pieces of attachments
	maxElements = 20000
)

// A reader collects the paragraphs of a message in Slack's form.
type reader struct {
	names    Names
	elements int
	pieces   int
	notes    []string
}

func (r *reader) note(s string) {
	if len(r.notes) < 20 {
		r.notes = append(r.notes, s)
	}
}

// more counts an element, and reports false once there are too many.
func (r *reader) more() bool {
	r.elements++
	if r.elements == maxElements {
		r.note("blocks: more than " + strconv.Itoa(maxElements) + " elements")
	}
	return r.elements < maxElements
}

// piece counts a piece of an attachment, and reports false once there are too
// many: each is compared with all that was said before.
func (r *reader) piece() bool {
	r.pieces++
	if r.pieces == maxParts {
		r.note("attachments: more than " + strconv.Itoa(maxParts) + " pieces of text")
	}
	return r.pieces < maxParts
}

// A paragraph is one piece of text in Slack's form.
type paragraph struct {
	text string
	kind string // the type of the block it is from, where this version does not know that type
}

// plainly makes paragraphs of texts, without the blank ones.
func plainly(texts ...string) []paragraph {
	var out []paragraph
	for _, s := range texts {
		if strings.TrimSpace(s) != "" {
			out = append(out, paragraph{text: s})
		}
	}
	return out
}

// joinParagraphs joins paragraphs, one a line. Those of a block of unknown type stand
// together in a mark that names the type.
func joinParagraphs(list []paragraph) string {
	var lines []string
	for i := 0; i < len(list); {
		kind := list[i].kind
		end := i + 1
		for kind != "" && end < len(list) && list[end].kind == kind {
			end++
		}
		said := strings.Join(texts(list[i:end]), "\n")
		if kind != "" {
			said = "[block " + kind + ": " + said + "]"
		}
		lines = append(lines, said)
		i = end
	}
	return strings.Join(lines, "\n")
}

// texts returns what paragraphs say, without their marks.
func texts(list []paragraph) []string {
	out := make([]string, len(list))
	for i, p := range list {
		out[i] = p.text
	}
	return out
}

// blocks returns the paragraphs of Block Kit blocks, in order.
func (r *reader) blocks(blocks value) []paragraph {
	if !blocks.Absent() && !blocks.Array() {
		r.note("blocks: not a list")
	}
	var out []paragraph
	for i, b := range blocks.List {
		if !r.more() {
			break
		}
		if !b.Object() {
			r.note("blocks[" + strconv.Itoa(i) + "]: not an object")
			continue
		}
		out = append(out, r.block(b)...)
		if len(out) > maxParts {
			r.note("blocks: more than " + strconv.Itoa(maxParts) + " paragraphs")
			return out[:maxParts]
		}
	}
	return out
}

// block returns what a block shows: the fields of its layout, in their order,
// and what its other fields hold in text objects, so that a field which Slack
// adds is not lost.
func (r *reader) block(b value) []paragraph { return r.blockOf(b.At("type"), b) }

func (r *reader) blockOf(kind string, b value) []paragraph {
	shape, known := layouts[kind]
	if !known {
		return r.unknown(b)
	}
	var out []paragraph
	for _, name := range shape.fields {
		out = append(out, r.field(kind, name, b)...)
	}
	for _, m := range b.Members {
		if !slices.Contains(shape.fields, m.Name) && !slices.Contains(shape.silent, m.Name) && !hiddenField(m.Name) {
			out = append(out, r.visible(m.Value, false)...)
		}
	}
	return out
}

// object reads a text object, or a text given as a bare string.
func object(v value) string {
	if v.Object() {
		if v.At("type") == "mrkdwn" {
			return v.At("text")
		}
		return escape(v.At("text"))
	}
	return escape(v.Str())
}
