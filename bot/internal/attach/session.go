package attach

import (
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
)

// LoadSession loads the files that the session's messages contain, once. The
// manifest has the hash of each, so the model sees the same bytes in every turn.
func (x *FileSet) LoadSession(ctx context.Context, c assemble.ConversationState) {
	if x.session != nil {
		return
	}
	x.session, x.missing = map[earshot.ArtifactID]llm.Media{}, map[earshot.ArtifactID]string{}
	sums := map[earshot.ArtifactID]string{}
	for _, a := range c.Attached {
		sums[a.ID] = a.SHA256
	}
	list := sessionFiles(c)
	var lost []File
	for i, got := range x.each(ctx, list, func(ctx context.Context, f File) fileContent { return x.kept(ctx, f, sums[f.ID]) }) {
		f := list[i]
		if got.why != "" {
			lost = append(lost, f)
			continue
		}
		x.session[f.ID], x.sums[f.ID] = got.Media, got.sum
	}
	if len(lost) == 0 {
		return
	}
	lost = x.sharers(ctx, c, lost)
	for i, got := range x.contents(ctx, lost, sums) {
		f := lost[i]
		switch {
		case got.why != "":
			x.missing[f.ID] = notAttached(f.File, got.why)
			x.lost = append(x.lost, assemble.FileName(f.File))
		case sums[f.ID] == "":
			x.missing[f.ID] = notAttached(f.File, whyChanged)
		default:
			x.session[f.ID], x.sums[f.ID] = got.Media, got.sum
		}
	}
}

// sessionFiles lists the ids of the files in a session, each once.
func sessionFiles(c assemble.ConversationState) []File {
	var list []File
	for _, e := range c.Session {
		for _, id := range e.Media {
			if !slices.ContainsFunc(list, func(f File) bool { return f.ID == id }) {
				list = append(list, File{File: earshot.File{ID: id}})
			}
		}
	}
	return list
}

// sharers finds the messages that shared files, among those that the session
// shows. A file that is not found there keeps nothing but its id.
func (x *FileSet) sharers(ctx context.Context, c assemble.ConversationState, files []File) []File {
	shown := make([]earshot.MessageID, len(c.Shown))
	for i, s := range c.Shown {
		shown[i] = s.ID
	}
	messages, err := x.source.Store.ByID(ctx, x.source.Scope, shown...)
	if err != nil {
		x.source.Log.Warn("find who shared files", "err", err)
	}
	out := slices.Clone(files)
	for i, wanted := range out {
		for _, m := range messages {
			for _, f := range m.Files {
				if f.ID == wanted.ID && !m.Deleted {
					out[i] = File{File: f, Of: m.ID}
				}
			}
		}
	}
	return out
}
