package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
)

// A handed is what became of a file that a turn attaches, as the journal has it:
// never its content.
type handed struct {
	ID     earshot.ArtifactID `json:"id"`
	Name   string             `json:"name"`
	Type   string             `json:"type,omitempty"` // as the model was given it
	Bytes  int                `json:"bytes,omitempty"`
	SHA256 string             `json:"sha256,omitempty"`
	Why    string             `json:"why,omitempty"` // it was not given
}

// hand gives the request the files that the prompt attaches, and journals which
// those are, once. After a restart they are loaded again; which of them could be
// given stands in the journal then.
func (t *turn) hand(ctx context.Context, o *llm.Options) error {
	list := t.attached()
	if len(list) == 0 {
		return nil
	}
	before, err := t.told()
	if err != nil {
		return err
	}
	var again []shared
	for _, f := range list {
		if g := before[f.ID]; g.Why != "" {
			t.files.why[f.ID] = g.Why
		}
		if _, ok := t.files.media[f.ID]; !ok && t.files.why[f.ID] == "" {
			again = append(again, f)
		}
	}
	t.load(ctx, again)
	o.Media, o.Missing = t.files.media, map[earshot.ArtifactID]string{}
	var of []earshot.MessageID
	var now []handed
	for _, f := range list {
		h := handed{ID: f.ID, Name: assemble.FileName(f.File), Why: t.files.why[f.ID]}
		if h.Why != "" {
			o.Missing[f.ID] = notAttached(f.File, h.Why)
		} else {
			m := t.files.media[f.ID]
			h.Type, h.Bytes, h.SHA256 = m.Type, len(m.Data), t.files.sums[f.ID]
		}
		now, of = append(now, h), append(of, f.of)
	}
	if before != nil {
		return nil
	}
	return t.journalJSON(ctx, stepFiles, now, of...)
}

// notAttached is the line in the place of a file that is not given.
func notAttached(f earshot.File, why string) string {
	return fmt.Sprintf("[%s was not attached: %s]", assemble.FileName(f), why)
}

// attached returns the files that the prompt attaches.
func (t *turn) attached() []shared {
	var out []shared
	for _, m := range t.result.Messages {
		for _, id := range m.Media {
			out = append(out, t.sharedFile(id))
		}
	}
	return out
}

// sharedFile finds a file by its id among what the turn has read.
func (t *turn) sharedFile(id earshot.ArtifactID) shared {
	for _, m := range slices.Backward(t.input.Messages) {
		for _, f := range m.Files {
			if f.ID == id {
				return shared{f, m.ID}
			}
		}
	}
	return shared{File: earshot.File{ID: id}}
}

// told returns what the journal says of the turn's files, the last word on
// each; nil where it says nothing.
func (t *turn) told() (map[earshot.ArtifactID]handed, error) {
	var out map[earshot.ArtifactID]handed
	for _, s := range t.steps {
		if s.Kind != stepFiles {
			continue
		}
		var list []handed
		if err := json.Unmarshal(s.Data, &list); err != nil {
			return nil, fmt.Errorf("journal entry %d: %w", s.N, err)
		}
		if out == nil {
			out = map[earshot.ArtifactID]handed{}
		}
		for _, g := range list {
			out[g.ID] = g
		}
	}
	return out, nil
}

// whyDeclined is what the model is told of files that went with a refused
// request.
const whyDeclined = "the model's provider does not take it"

// without takes the files out of a request that the provider has refused, so
// that the question is answered all the same. It returns nil when that may be
// asked; err where there were no files, or the refusal is not of them.
func (t *turn) without(ctx context.Context, r *llm.Request, err error) error {
	var e *llm.Error
	if !errors.As(err, &e) || !e.TooLarge && !slices.Contains(refusals, e.Status) {
		return err
	}
	var now []handed
	var of []earshot.MessageID
	messages := slices.Clone(r.Messages)
	for i, m := range messages {
		messages[i].Parts = slices.Clone(m.Parts)
		for j, p := range m.Parts {
			if p.Media == nil {
				continue
			}
			f := t.sharedFile(p.Media.ID)
			messages[i].Parts[j] = llm.Text(notAttached(f.File, whyDeclined))
			now, of = append(now, handed{ID: f.ID, Name: assemble.FileName(f.File), Why: whyDeclined}), append(of, f.of)
		}
	}
	if len(now) == 0 {
		return err
	}
	t.Log.Warn("the model's provider refused the request: it is asked without files", append(about(t.lease.Conversation), "turn", t.queued.ID, "err", err)...)
	r.Messages, t.bare = messages, true
	return t.journalJSON(ctx, stepFiles, now, of...)
}

// refusals are the statuses by which providers refuse a file: of a type that
// they do not read, or that they find broken. OpenRouter answers 404 where a
// model takes no pictures: https://github.com/openclaw/openclaw/issues/99078.
var refusals = []int{
	http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
}

// given returns what of the manifest's additions the model was really given.
func (t *turn) given(added []earshot.Attached) ([]earshot.Attached, error) {
	told, err := t.told()
	if err != nil {
		return nil, err
	}
	var out []earshot.Attached
	for _, a := range added {
		if g, ok := told[a.ID]; ok && g.Why == "" {
			a.SHA256 = g.SHA256
			out = append(out, a)
		}
	}
	return out, nil
}
