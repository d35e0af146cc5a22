package bot

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
)

// A told is what a tool said to a call, with the files that it gave. The journal
// has it without their content.
type told struct {
	llm.Result
	Shows []earshot.MessageID `json:"shows,omitempty"` // whose text or file is in it
	Files []handed            `json:"files,omitempty"`
}

// bared returns results without the content of files.
func bared(results []told) []told {
	out := slices.Clone(results)
	for i, r := range out {
		out[i].Parts = llm.Bare(r.Parts)
	}
	return out
}

// openFile gives a tool the content of a file. The error tells the model why
// there is none.
func (t *turn) openFile(ctx context.Context, of earshot.MessageID, f earshot.File) (llm.Media, error) {
	call, cancel := context.WithTimeout(ctx, t.Limits.Files)
	defer cancel()
	got := t.fetched(call, shared{f, of}, "")
	if ctx.Err() != nil {
		return llm.Media{}, context.Cause(ctx)
	}
	if got.why != "" {
		return llm.Media{}, &noFile{got.why}
	}
	got.ID, got.Name = f.ID, assemble.FileName(f)
	t.files.of[f.ID] = of
	t.files.opened[f.ID] = got.sum
	return got.Media, nil
}

// A noFile is why the model is not given a file.
type noFile struct{ why string }

func (e *noFile) Error() string  { return "file not given: " + e.why }
func (e *noFile) Reason() string { return e.why }

// giveByTool adds a file to what a tool said, unless the model has it already,
// or one request may not carry it too: then a line says so.
func (t *turn) giveByTool(r *told, m llm.Media) {
	f := shared{earshot.File{ID: m.ID, Name: m.Name, Type: m.Type}, t.files.of[m.ID]}
	sum := t.files.opened[m.ID]
	line := ""
	switch {
	case t.files.given(m.ID, sum):
		line = fmt.Sprintf("[%s was attached before: look above]", assemble.FileName(f.File))
	case t.bare:
		line = notAttached(f.File, whyDeclined)
	case t.files.size(nil)+len(m.Data) > maxAttached:
		line = notAttached(f.File, whyFull)
	}
	if line != "" {
		r.Parts = append(r.Parts, llm.Text(line))
		return
	}
	kind, ok := llm.KindOf(m.Type)
	if !ok {
		r.Parts = append(r.Parts, llm.Text(notAttached(f.File, whyUnread)))
		return
	}
	t.files.media[m.ID], t.files.sums[m.ID] = m, sum
	t.files.tools = append(t.files.tools, m.ID)
	r.Parts = append(r.Parts, llm.Part{Kind: kind, Media: &m})
	r.Files = append(r.Files, t.handed(f))
}

// given reports whether the request holds a file, or one of the same bytes.
func (x turnFiles) given(id earshot.ArtifactID, sum string) bool {
	for _, set := range []map[earshot.ArtifactID]llm.Media{x.media, x.held} {
		for other := range maps.Keys(set) {
			if other == id || sum != "" && x.sums[other] == sum {
				return true
			}
		}
	}
	return false
}

// refill gives results of the journal the content of their files again, the
// same bytes; a line stands in place of one that is not there any more.
func (t *turn) refill(ctx context.Context, results []told) {
	after, err := t.toldOf()
	if err != nil {
		t.Log.Warn("read the journal's files", append(about(t.lease.Conversation), "turn", t.queued.ID, "err", err)...)
	}
	for i, r := range results {
		for _, g := range r.Files {
			f := shared{earshot.File{ID: g.ID, Name: g.Name, Type: g.Type}, g.Of}
			why := after[g.ID].Why // the provider refused it later
			var got content
			if why == "" {
				got = t.contents(ctx, []shared{f}, map[earshot.ArtifactID]string{g.ID: g.SHA256})[0]
				why = got.why
			}
			t.files.of[g.ID] = g.Of
			at := slices.IndexFunc(r.Parts, func(p llm.Part) bool { return p.Media != nil && p.Media.ID == g.ID })
			switch {
			case at < 0:
			case why != "":
				results[i].Parts[at] = llm.Text(notAttached(f.File, why))
			default:
				got.ID, got.Name = g.ID, g.Name
				results[i].Parts[at].Media = &got.Media
				t.files.media[g.ID], t.files.sums[g.ID] = got.Media, got.sum
				t.files.tools = append(t.files.tools, g.ID)
			}
		}
	}
}
