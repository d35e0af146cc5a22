package attach

import (
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// FilesSection returns a policy's section of files, with its limits; false where the
// policy has none, which means that nothing is attached.
func FilesSection(p assemble.Policy) (assemble.Section, bool) {
	p = p.WithDefaults()
	for _, s := range slices.Concat(p.First, p.Later) {
		if s.Section == assemble.Media {
			return s, true
		}
	}
	return assemble.Section{}, false
}

// Wanted returns the files that a turn attaches by itself: those of the messages
// asked, which are the question first, then what is answered together with it and
// the thread's root, and those that the prompt chose, as the first prompt of an
// epoch does: those are loaded with the bytes that they had. The policy limits
// their number. Other files are lines of the prompt, and the model opens them with
// a tool.
func (x *FileSet) Wanted(in assemble.Input, res assemble.Result, asked []earshot.MessageID) []File {
	out := x.own(in, res, asked)
	for _, f := range PromptFiles(in, res) {
		if !slices.ContainsFunc(out, func(o File) bool { return o.ID == f.ID }) {
			f.again = true
			out = append(out, f)
		}
	}
	for i, f := range out {
		for _, a := range in.Conversation.Attached {
			if a.ID == f.ID {
				out[i].before = a.SHA256
			}
		}
	}
	return out
}

// own returns the files of the messages asked that this turn shows, and of those about
// which it tells news the files that are new. It returns
// none in policies that are not written as a log, or whose media section has
// own: false: there the model opens every file with a tool.
func (x *FileSet) own(in assemble.Input, res assemble.Result, asked []earshot.MessageID) []File {
	section, ok := FilesSection(in.Policy)
	if !ok || !section.Own || x.source.Loader == nil || x.none || in.Policy.WithDefaults().Frame != assemble.Log {
		return nil
	}
	shown, news := map[earshot.MessageID]bool{}, map[earshot.MessageID]bool{}
	for _, row := range res.Ledger {
		news[row.ID] = row.Section == string(assemble.News) && row.Verdict != earshot.Out
		shown[row.ID] = news[row.ID] || row.Verdict == earshot.Full || row.Verdict == earshot.Cut
	}
	if n := len(in.Conversation.Turns); n > 0 { // the files of the question before may be there now
		if last := in.Conversation.Turns[n-1].Anchor; news[last] {
			asked = append(slices.Clip(asked), last)
		}
	}
	var out []File
	for _, id := range asked {
		for _, m := range in.Messages {
			if m.ID != id || !shown[id] || m.Deleted {
				continue
			}
			files := m.Files
			if news[id] { // the others were given, or refused
				files = assemble.NewFiles(in.Conversation, &m)
			}
			for _, f := range files {
				known := slices.ContainsFunc(out, func(o File) bool { return o.ID == f.ID })
				if !known && len(out) < section.Files {
					out = append(out, File{File: f, Of: m.ID})
				}
			}
		}
	}
	return out
}

// PromptFiles returns the files that a prompt attaches, without those that the
// session's messages contain.
func PromptFiles(in assemble.Input, res assemble.Result) []File {
	var out []File
	for _, m := range res.Messages {
		if slices.Contains(m.Sections, assemble.SessionPart) {
			continue
		}
		for _, id := range m.Media {
			out = append(out, findFile(in.Messages, id))
		}
	}
	return out
}

// findFile returns a file by its id, as the newest message that shares it has it.
// One that no message shares has nothing but the id.
func findFile(messages []earshot.Message, id earshot.ArtifactID) File {
	for _, m := range slices.Backward(messages) {
		for _, f := range m.Files {
			if f.ID == id {
				return File{File: f, Of: m.ID}
			}
		}
	}
	return File{File: earshot.File{ID: id}}
}
