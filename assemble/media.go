package assemble

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
)

// The section media attaches files: their content, not only their names.
var mediaSection = sectionKind{
	name:     Media,
	look:     SectionLook{Means: "files that are attached", Hue: 6, ANSI: 5},
	limits:   Section{Files: 8, Bytes: 20 << 20},
	hasOwn:   true,
	fillRank: 20,
	fit: func(t *turn, s Section, p *fitPlan, room int) int {
		return t.fitMedia(&p.media, s, room)
	},
	render: func(t *turn, _ *sectionKind, w *prompt, p *fitPlan) { t.renderMedia(w, &p.media) },
}

// A mediaPlan is which files the turn attaches, and the lines about those that
// the model has already.
type mediaPlan struct {
	attach []earshot.ArtifactID
	added  []earshot.AttachedFile
	lines  []string // references to files that were attached before
	again  int      // how many of the files a new epoch attaches again
	cost   int      // tokens of the files
}

// A wantedFile is one that the turn may attach.
type wantedFile struct {
	earshot.File
	asked bool // opted in, so that a note says why it is not attached
	refer bool // where the model has it, a line says so
	again bool // a new epoch attaches it again
}

// fitMedia decides for each wanted file whether it is attached or referred to:
// what the manifest has, by id or by content, is not attached again. It returns
// what files and lines cost.
func (t *turn) fitMedia(p *mediaPlan, s Section, room int) int {
	used := 0
	for _, f := range t.wantedFiles(s) {
		note := func(format string, args ...any) {
			if f.asked {
				t.notes = append(t.notes, Note{NoteOmitted, "media: " + fmt.Sprintf(format, args...)})
			}
		}
		if f.Size > s.Bytes {
			note("%s has %d bytes; the limit is %d", FileName(f.File), f.Size, s.Bytes)
			continue
		}
		if a, here, ok := t.attachedBefore(f.File, p.added); ok {
			line := t.reference(f.File, a, here)
			if n := t.tok(line) + 1; f.refer && used+n <= room && !slices.Contains(p.lines, line) {
				used += n
				p.lines = append(p.lines, line)
			}
			continue
		}
		cost, line := t.fileCost(f.File), 0
		if f.again && p.again == 0 {
			line = t.tok(reattachHeader(s.Files)) + 1
		}
		switch {
		case len(p.attach) == s.Files:
			note("%s is over the limit of %d files", FileName(f.File), s.Files)
			continue
		case used+cost+line > room:
			note("%s costs %d tokens; there is no room for it in the budget", FileName(f.File), cost)
			continue
		}
		used += cost + line
		p.cost += cost
		if f.again {
			p.again++
		}
		p.attach = append(p.attach, f.ID)
		p.added = append(p.added, earshot.AttachedFile{ID: f.ID, SHA256: f.SHA256, Turn: t.turnNumber(), Tokens: cost})
	}
	return used
}

// wantedFiles returns the files that the turn may attach: with [Section.Own]
// those of the question, of the message that it replies to and of its thread's root, then those that were opted in,
// then those of the conversation that the epoch before had.
func (t *turn) wantedFiles(s Section) []wantedFile {
	var out []wantedFile
	add := func(f wantedFile) {
		if i := slices.IndexFunc(out, func(o wantedFile) bool { return o.ID == f.ID }); i < 0 {
			out = append(out, f)
		} else {
			out[i].asked = out[i].asked || f.asked
			out[i].again = out[i].again || f.again
		}
	}
	if s.Own {
		for _, f := range t.anchor.Files {
			if isReadable(f) {
				add(wantedFile{File: f, refer: true})
			}
		}
		if m := t.repliedTo(); m != nil {
			for _, f := range m.Files {
				if isReadable(f) {
					add(wantedFile{File: f, refer: true})
				}
			}
		}
		if root := t.root(); root != nil && !t.isolated && !t.later {
			for _, f := range root.Files {
				if isReadable(f) {
					add(wantedFile{File: f})
				}
			}
		}
	}
	for _, id := range t.in.Attach {
		if f, ok := t.file(id); ok {
			add(wantedFile{File: f, asked: true, refer: t.sharedAgain(id)})
		} else {
			t.notes = append(t.notes, Note{NoteOmitted, fmt.Sprintf("media: file %q is in none of the messages", oneLine(string(id), maxFileName))})
		}
	}
	if t.givesAgain() {
		mine := t.conversation()
		for _, m := range t.live {
			for _, f := range m.Files {
				if mine(m) && slices.ContainsFunc(t.in.Conversation.Attached, func(a earshot.AttachedFile) bool { return a.ID == f.ID }) {
					add(wantedFile{File: f, again: true})
				}
			}
		}
	}
	return out
}

// repliedTo returns the message that the question replies to by reference, nil where it
// may not be shown: "what does this error mean?" is about that one's picture.
func (t *turn) repliedTo() *msg {
	m := t.find(t.anchor.ReplyTo)
	if m == nil || t.isolated || m == t.anchor || m.Deleted || m.withheld || t.afterEnd(m) || t.in.Identity.Is(m.Author.ID) {
		return nil
	}
	return m
}

// givesAgain reports whether the turn is the first of an epoch: the prompt has no
// session, and so none of the files that were given before.
func (t *turn) givesAgain() bool { return t.in.Policy.Session && !t.later && !t.isolated }

// sharedAgain reports whether a message that the model has not read has the
// file.
func (t *turn) sharedAgain(id earshot.ArtifactID) bool {
	return slices.ContainsFunc(t.upTo, func(m *msg) bool {
		_, held := t.shown[m.ID]
		return !held && !m.Deleted && slices.ContainsFunc(m.Files, func(f earshot.File) bool { return f.ID == id })
	})
}

// isReadable reports whether some model reads a file: by its type, or as text that it is
// converted to.
func isReadable(f earshot.File) bool {
	switch mediaType := bareType(f.Type); mediaType {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "application/json", "application/vnd.slack-docs", "quip":
		return true
	default:
		return strings.HasPrefix(mediaType, "text/") || strings.HasPrefix(mediaType, "audio/") || documentKind(f) != ""
	}
}

// bareType returns a media type in lower case, without its parameters.
func bareType(mediaType string) string {
	mediaType, _, _ = strings.Cut(strings.ToLower(mediaType), ";")
	return strings.TrimSpace(mediaType)
}

// documentKind returns what an office document is, whose text models are given; "" for
// another file. Where the type says nothing, the name does.
func documentKind(f earshot.File) string {
	kind := bareType(f.Type)
	if kind == "" || kind == "application/octet-stream" || kind == "application/zip" {
		kind = path.Ext(strings.ToLower(f.Name))
	}
	_, kind, _ = strings.Cut(kind, ".")
	switch {
	case strings.HasPrefix(kind, "openxmlformats-officedocument.spreadsheetml"), strings.HasPrefix(kind, "oasis.opendocument.spreadsheet"), strings.HasPrefix(kind, "ms-excel."), kind == "xlsx", kind == "xlsm", kind == "ods":
		return "spreadsheet"
	case strings.HasPrefix(kind, "openxmlformats-officedocument.wordprocessingml"), strings.HasPrefix(kind, "oasis.opendocument.text"), strings.HasPrefix(kind, "ms-word."), kind == "docx", kind == "docm", kind == "odt":
		return "document"
	case strings.HasPrefix(kind, "openxmlformats-officedocument.presentationml"), strings.HasPrefix(kind, "oasis.opendocument.presentation"), strings.HasPrefix(kind, "ms-powerpoint."), kind == "pptx", kind == "pptm", kind == "odp":
		return "presentation"
	}
	return ""
}

// What files cost, in tokens, where the input does not say: about what providers
// charge for a large image, and for a page of a PDF with its picture.
const (
	imageTokens   = 1600
	pdfPageTokens = 2000
	pdfPageBytes  = 100_000
	bytesAToken   = 4
	unknownTokens = 2000
	bytesAudio    = 500      // a token
	documentText  = 32 << 10 // bytes of the text of an office document
)

// fileCost is what the model is charged for a file: as the input says, else an
// estimate by type and size.
func (t *turn) fileCost(f earshot.File) int {
	if n, ok := t.in.FileTokens[f.ID]; ok {
		return n
	}
	top, sub, _ := strings.Cut(strings.ToLower(f.Type), "/")
	switch {
	case top == "image":
		return imageTokens
	case f.Size == 0:
		return unknownTokens
	case sub == "pdf":
		return pdfPageTokens * int(1+f.Size/pdfPageBytes)
	case top == "audio":
		return 1 + int(f.Size/bytesAudio)
	case documentKind(f) != "":
		return 1 + int(min(f.Size, documentText)/bytesAToken)
	}
	return 1 + int(f.Size/bytesAToken)
}

// heldFileCost is what a file costs that the session has.
func (t *turn) heldFileCost(a earshot.AttachedFile) int {
	if a.Tokens > 0 {
		return a.Tokens
	}
	if f, ok := t.file(a.ID); ok {
		return t.fileCost(f)
	}
	return imageTokens
}

// reference is the line in place of a file that the model has; here says that
// this turn attaches it.
func (t *turn) reference(f earshot.File, a earshot.AttachedFile, here bool) string {
	where := "given in turn " + strconv.Itoa(a.Turn)
	if here {
		where = "the same as a file given here"
	}
	if t.isLog() {
		return logPlus + where + ": " + FileName(f)
	}
	return "[attached file, " + where + ": " + FileName(f) + "]"
}

// reattachHeader returns the line before files that a new epoch attaches again.
func reattachHeader(n int) string {
	return "[Post-compaction context recovery: re-attaching " + strconv.Itoa(n) + " media items from this thread]"
}

// renderMedia writes what stands before the question: that files are attached
// again, and except in the log form the references.
func (t *turn) renderMedia(w *prompt, p *mediaPlan) {
	if p.again > 0 {
		line := reattachHeader(p.again)
		w.add(earshot.User, Media, nextBlock, line, t.tok(line)+1)
	}
	if !t.isLog() {
		for _, line := range p.lines {
			w.add(earshot.User, Media, nextLine, line, t.tok(line)+1)
		}
	}
}

// renderReferences writes the references below the question in the log form.
func (t *turn) renderReferences(w *prompt, p *mediaPlan) {
	if t.isLog() {
		for _, line := range p.lines {
			w.add(earshot.User, Media, nextLine, line, t.tok(line)+1)
		}
	}
}

// turnNumber counts this conversation's turns from 1.
func (t *turn) turnNumber() int { return len(t.in.Conversation.Turns) + 1 }

// file finds a file among the messages up to the anchor.
func (t *turn) file(id earshot.ArtifactID) (earshot.File, bool) {
	for _, m := range slices.Backward(t.upTo) {
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

// attachedBefore finds a file, by id or content, in the manifest or among those
// that this turn has added; here says that it is the latter. An epoch that starts
// with this turn gives files again.
func (t *turn) attachedBefore(f earshot.File, added []earshot.AttachedFile) (a earshot.AttachedFile, here, ok bool) {
	same := func(a earshot.AttachedFile) bool { return a.ID == f.ID || a.SHA256 != "" && a.SHA256 == f.SHA256 }
	if i := slices.IndexFunc(t.in.Conversation.Attached, same); i >= 0 && !t.givesAgain() && !t.isolated {
		return t.in.Conversation.Attached[i], false, true
	}
	if i := slices.IndexFunc(added, same); i >= 0 {
		return added[i], true, true
	}
	return a, false, false
}

// InlineText returns the text of a file as it may stand in a prompt: cleaned as
// messages are, every line indented, so that no line of it can be taken for a
// label, a header or a delimiter.
func InlineText(text string) string { return "  " + indentLines(escapeTags(clean(text))) }
