package bot

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
)

// load loads files at the same time, within the time that there is for it, and
// notes for each what came of it. sums are the hashes of those that were loaded
// for this turn before: other bytes are not taken in their place.
func (t *turn) load(ctx context.Context, list []shared, sums map[earshot.ArtifactID]string) {
	list = slices.DeleteFunc(slices.Clone(list), func(f shared) bool {
		_, ok := t.files.media[f.ID]
		return ok || t.files.why[f.ID] != ""
	})
	if t.bare || t.declined {
		for _, f := range list {
			t.files.of[f.ID], t.files.why[f.ID] = f.of, whyDeclined
		}
		return
	}
	got := t.contents(ctx, list, sums)
	for i, f := range list {
		t.files.of[f.ID] = f.of
		why := got[i].why
		if why == "" && !t.files.fits(got[i].Media) {
			why = whyCrowded
		}
		if why != "" {
			t.files.why[f.ID] = why
			continue
		}
		t.files.media[f.ID], t.files.sums[f.ID] = got[i].Media, got[i].sum
	}
}

// A content is a file as a model is given it, or why it is not.
type content struct {
	llm.Media
	sum string // SHA-256 of the bytes as they were shared
	why string
}

// maxReading is how many files are read at a time.
const maxReading = 4

// contents reads files at the same time, within the time that there is for it.
func (t *turn) contents(ctx context.Context, list []shared, sums map[earshot.ArtifactID]string) []content {
	out := make([]content, len(list))
	t.each(ctx, list, func(ctx context.Context, i int) { out[i] = t.content(ctx, list[i], sums[list[i].ID]) })
	return out
}

// each calls f for each of a list at the same time, a few at once.
func (t *turn) each(ctx context.Context, list []shared, f func(ctx context.Context, i int)) {
	ctx, cancel := context.WithTimeout(ctx, t.Limits.Files)
	defer cancel()
	slots := make(chan struct{}, maxReading)
	var reading sync.WaitGroup
	for i := range list {
		reading.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			f(ctx, i)
		})
	}
	reading.Wait()
}

// content reads one file: what the store kept of it where sum says which bytes
// it had, else the platform's.
func (t *turn) content(ctx context.Context, f shared, sum string) content {
	if c := t.kept(ctx, f, sum); c.why == "" {
		return c
	}
	return t.fetched(ctx, f, sum)
}

// kept reads what the store kept of a file.
func (t *turn) kept(ctx context.Context, f shared, sum string) content {
	blobs, able := t.Store.(earshot.Blobs)
	if !able || sum == "" {
		return content{why: whyChanged}
	}
	b, err := blobs.Blob(ctx, t.lease.Conversation.Scope, sum)
	if err != nil {
		if !errors.Is(err, earshot.ErrNotFound) {
			t.Log.Warn("read a file that was kept", t.aboutFile(f, err)...)
		}
		return content{why: whyChanged}
	}
	return content{Media: llm.Media{ID: f.ID, Name: assemble.FileName(f.File), Type: b.Type, Data: b.Data}, sum: sum}
}

// fetched asks the platform for a file, and has the store keep it. Other bytes
// than those that sum is of, where it is set, are not taken.
func (t *turn) fetched(ctx context.Context, f shared, sum string) content {
	scope := t.lease.Conversation.Scope
	section, _ := mediaOf(t.Policy)
	if t.Files == nil {
		return content{why: whyUnread}
	}
	m, got, err := t.Files.Load(ctx, scope, f.of, f.File, section.Bytes)
	switch {
	case err != nil:
		t.Log.Warn("file", t.aboutFile(f, err)...)
		return content{why: reasonOf(err)}
	case sum != "" && got != sum:
		return content{why: whyChanged}
	}
	if blobs, able := t.Store.(earshot.Blobs); able && got != "" && !t.DryRun && !t.alone() {
		err := blobs.PutBlob(ctx, scope, f.of, f.ID, earshot.Blob{SHA256: got, Type: m.Type, Name: m.Name, Data: m.Data})
		if err != nil {
			t.Log.Warn("keep a file", t.aboutFile(f, err)...)
		}
	}
	return content{Media: m, sum: got}
}

func (t *turn) aboutFile(f shared, err error) []any {
	return append(about(t.lease.Conversation), "turn", t.queued.ID, "message", f.of, "file", f.ID, "err", err)
}

// restore reads the files that the session's messages hold, once. Which bytes
// each had stands in the manifest.
func (t *turn) restore(ctx context.Context, c assemble.Conversation) {
	if t.files.held != nil {
		return
	}
	t.files.held, t.files.missing = map[earshot.ArtifactID]llm.Media{}, map[earshot.ArtifactID]string{}
	sums := map[earshot.ArtifactID]string{}
	for _, a := range c.Attached {
		sums[a.ID] = a.SHA256
	}
	var list []shared
	for _, e := range c.Session {
		for _, id := range e.Media {
			if !slices.ContainsFunc(list, func(f shared) bool { return f.ID == id }) {
				list = append(list, shared{File: earshot.File{ID: id}})
			}
		}
	}
	got := make([]content, len(list))
	t.each(ctx, list, func(ctx context.Context, i int) { got[i] = t.kept(ctx, list[i], sums[list[i].ID]) })
	var gone []shared
	for i, f := range list {
		if t.files.held[f.ID], t.files.sums[f.ID] = got[i].Media, got[i].sum; got[i].why != "" {
			delete(t.files.held, f.ID)
			gone = append(gone, f)
		}
	}
	if len(gone) == 0 {
		return
	}
	gone = t.sharers(ctx, c, gone)
	for i, x := range t.contents(ctx, gone, sums) {
		f := gone[i]
		switch {
		case x.why != "":
			t.files.missing[f.ID] = notAttached(f.File, x.why)
		case sums[f.ID] == "":
			t.files.missing[f.ID] = notAttached(f.File, whyChanged)
		default:
			t.files.held[f.ID], t.files.sums[f.ID] = x.Media, x.sum
		}
	}
}

// sharers finds which messages have shared files, among those that the session
// shows. One that is not found has an id alone.
func (t *turn) sharers(ctx context.Context, c assemble.Conversation, files []shared) []shared {
	shown := make([]earshot.MessageID, len(c.Shown))
	for i, s := range c.Shown {
		shown[i] = s.ID
	}
	messages, err := t.Store.ByID(ctx, t.lease.Conversation.Scope, shown...)
	if err != nil {
		t.Log.Warn("find who shared files", append(about(t.lease.Conversation), "turn", t.queued.ID, "err", err)...)
	}
	out := slices.Clone(files)
	for i, x := range out {
		for _, m := range messages {
			for _, f := range m.Files {
				if f.ID == x.ID && !m.Deleted {
					out[i] = shared{f, m.ID}
				}
			}
		}
	}
	return out
}
