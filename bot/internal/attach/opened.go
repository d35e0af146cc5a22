package attach

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
)

// Open fetches a file for a tool. The error tells the model why it cannot be
// opened.
func (x *FileSet) Open(ctx context.Context, of earshot.MessageID, f earshot.File) (llm.Media, error) {
	call, cancel := context.WithTimeout(ctx, x.source.Timeout)
	defer cancel()
	got := x.fetch(call, File{File: f, Of: of}, "")
	if ctx.Err() != nil {
		return llm.Media{}, context.Cause(ctx)
	}
	if got.why != "" {
		return llm.Media{}, &notOpened{got.why}
	}
	got.ID, got.Name = f.ID, assemble.FileName(f)
	x.of[f.ID] = of
	x.opened[f.ID] = got.sum
	return got.Media, nil
}

// A notOpened is why the model is not given a file.
type notOpened struct{ why string }

func (e *notOpened) Error() string  { return "file not opened: " + e.why }
func (e *notOpened) Reason() string { return e.why }

// SharedBy returns the message that shared a file of this turn.
func (x *FileSet) SharedBy(id earshot.ArtifactID) earshot.MessageID { return x.of[id] }

// Has reports whether the request contains a file, or one with the same bytes;
// sum may be "" where the set knows it.
func (x *FileSet) Has(id earshot.ArtifactID, sum string) bool {
	if sum == "" {
		sum = x.sums[id]
	}
	return x.has(id, sum)
}

func (x *FileSet) has(id earshot.ArtifactID, sum string) bool {
	for _, set := range []map[earshot.ArtifactID]llm.Media{x.media, x.session} {
		for other := range maps.Keys(set) {
			if other == id || sum != "" && x.sums[other] == sum {
				return true
			}
		}
	}
	return false
}

// AddOpened adds a file that a tool opened to the request. It returns the part
// that stands in the tool's result, and what to record. A file that the request
// has already, or that is too much for it, becomes a line and no record.
func (x *FileSet) AddOpened(m llm.Media) (llm.Part, *Record) {
	f := File{File: earshot.File{ID: m.ID, Name: m.Name, Type: m.Type}, Of: x.of[m.ID]}
	sum := x.opened[m.ID]
	kind, known := llm.KindOf(m.Type)
	switch {
	case x.has(m.ID, sum):
		return llm.Text(fmt.Sprintf("[%s was attached before: look above]", assemble.FileName(f.File))), nil
	case x.none:
		return llm.Text(notAttached(f.File, whyDeclined)), nil
	case x.bytes(nil)+len(m.Data) > maxBytes:
		return llm.Text(notAttached(f.File, whyFull)), nil
	case !known:
		return llm.Text(notAttached(f.File, whyUnread)), nil
	}
	x.media[m.ID], x.sums[m.ID] = m, sum
	x.noteTool(m.ID)
	record := x.Record(f)
	return llm.Part{Kind: kind, Media: &m}, &record
}

// noteTool notes a file that a tool added, for the manifest, which has what the session keeps.
func (x *FileSet) noteTool(id earshot.ArtifactID) {
	if !isShown(id) {
		x.byTool = append(x.byTool, id)
	}
}

// Lost returns the names of files that could not be loaded with the bytes that they
// had.
func (x *FileSet) Lost() []string { return x.lost }

// ReloadOpened loads the files of a tool's result again after a restart, the same
// bytes, and puts them into its parts. A line replaces a file that is gone, or
// that the provider refused after the tool returned it: later are the records of
// that.
func (x *FileSet) ReloadOpened(ctx context.Context, parts []llm.Part, files []Record, later map[earshot.ArtifactID]Record) {
	for _, r := range files {
		f := File{File: earshot.File{ID: r.ID, Name: r.Name, Type: r.Type}, Of: r.Of}
		why := later[r.ID].Why
		var got fileContent
		if why == "" {
			got = x.contents(ctx, []File{f}, map[earshot.ArtifactID]string{r.ID: r.SHA256})[0]
			if why = got.why; why != "" {
				x.lost = append(x.lost, assemble.FileName(f.File))
			}
		}
		x.of[r.ID] = r.Of
		at := slices.IndexFunc(parts, func(p llm.Part) bool { return p.Media != nil && p.Media.ID == r.ID })
		switch {
		case at < 0:
		case why != "":
			parts[at] = llm.Text(notAttached(f.File, why))
		default:
			got.ID, got.Name = r.ID, r.Name
			parts[at].Media = &got.Media
			x.media[r.ID], x.sums[r.ID] = got.Media, got.sum
			x.noteTool(r.ID)
		}
	}
}
