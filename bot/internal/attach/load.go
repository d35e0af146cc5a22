package attach

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
)

// Load loads those of the files that the set does not have yet, at the same time
// and within the source's timeout. A file that cannot be loaded is replaced by a
// line. records are what an earlier process noted about this turn's files: what it
// could not attach is not attached now, nor is a file with other bytes.
func (x *FileSet) Load(ctx context.Context, list []File, records map[earshot.ArtifactID]Record) {
	sums := map[earshot.ArtifactID]string{}
	for _, f := range list {
		r := records[f.ID]
		sums[f.ID] = cmp.Or(r.SHA256, f.before)
		if r.Why != "" {
			x.why[f.ID] = r.Why
		}
	}
	list = slices.DeleteFunc(slices.Clone(list), func(f File) bool {
		_, ok := x.media[f.ID]
		return ok || x.why[f.ID] != ""
	})
	if x.none || x.source.Refused {
		for _, f := range list {
			x.of[f.ID], x.why[f.ID] = f.Of, whyDeclined
		}
		return
	}
	for i, c := range x.contents(ctx, list, sums) {
		f := list[i]
		x.of[f.ID] = f.Of
		if c.why == "" && !x.fits(c.Media) {
			c.why = whyCrowded
		}
		if c.why != "" {
			if x.why[f.ID] = c.why; sums[f.ID] != "" {
				x.lost = append(x.lost, assemble.FileName(f.File))
			}
			continue
		}
		x.media[f.ID], x.sums[f.ID] = c.Media, c.sum
	}
}

// A fileContent is a file as the model is given it, or why it is not.
type fileContent struct {
	llm.Media
	sum string // SHA-256 of the bytes that were shared
	why string
}

// maxLoads is how many files are loaded at the same time.
const maxLoads = 4

// contents loads files at the same time, within the source's timeout.
func (x *FileSet) contents(ctx context.Context, list []File, sums map[earshot.ArtifactID]string) []fileContent {
	return x.each(ctx, list, func(ctx context.Context, f File) fileContent {
		if c := x.kept(ctx, f, sums[f.ID]); c.why == "" {
			return c
		}
		return x.fetch(ctx, f, sums[f.ID])
	})
}

// each calls load for each file of a list, a few at the same time.
func (x *FileSet) each(ctx context.Context, list []File, load func(context.Context, File) fileContent) []fileContent {
	ctx, cancel := context.WithTimeout(ctx, x.source.Timeout)
	defer cancel()
	out := make([]fileContent, len(list))
	slots := make(chan struct{}, maxLoads)
	var loading sync.WaitGroup
	for i, f := range list {
		loading.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			out[i] = load(ctx, f)
		})
	}
	loading.Wait()
	return out
}

// kept reads a file that the store kept. sum is the hash of its bytes; without
// one nothing is found.
func (x *FileSet) kept(ctx context.Context, f File, sum string) fileContent {
	if sum == "" {
		return fileContent{why: whyChanged}
	}
	b, err := x.source.Store.Blob(ctx, x.source.Scope, sum)
	if err != nil {
		if !errors.Is(err, earshot.ErrNotFound) {
			x.source.Log.Warn("read a file that was kept", "message", f.Of, "file", f.ID, "err", err)
		}
		return fileContent{why: whyChanged}
	}
	return fileContent{Media: llm.Media{ID: f.ID, Name: assemble.FileName(f.File), Type: b.Type, Data: b.Data}, sum: sum}
}

// fetch loads a file from the platform and has the store keep it. Where sum is
// set, bytes with another hash are not accepted.
func (x *FileSet) fetch(ctx context.Context, f File, sum string) fileContent {
	switch {
	case isShown(f.ID):
		return fileContent{why: whyNotKept}
	case x.source.Loader == nil:
		return fileContent{why: whyUnread}
	}
	m, got, err := x.source.Loader.Load(ctx, x.source.Scope, f.Of, f.File, x.source.Most)
	switch {
	case err != nil:
		x.source.Log.Warn("file", "message", f.Of, "file", f.ID, "err", err)
		return fileContent{why: reasonOf(err)}
	case sum != "" && got != sum:
		return fileContent{why: whyChanged}
	}
	if x.source.Keep && got != "" {
		b := earshot.Blob{SHA256: got, Type: m.Type, Name: m.Name, Data: m.Data}
		if err := x.source.Store.PutBlob(ctx, x.source.Scope, f.Of, f.ID, b); err != nil {
			x.source.Log.Warn("keep a file", "message", f.Of, "file", f.ID, "err", err)
		}
	}
	return fileContent{Media: m, sum: got}
}

// reasonOf returns what the model is told about an error of a Loader.
func reasonOf(err error) string {
	var r interface{ Reason() string }
	if errors.As(err, &r) {
		return r.Reason()
	}
	return whyUnread
}
