package bot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
)

// A handed is what became of a file that a turn gives, as the journal has it:
// never its content.
type handed struct {
	ID     earshot.ArtifactID `json:"id"`
	Name   string             `json:"name"`
	Type   string             `json:"type,omitempty"` // as the model was given it
	Bytes  int                `json:"bytes,omitempty"`
	SHA256 string             `json:"sha256,omitempty"`
	Of     earshot.MessageID  `json:"message,omitempty"` // which shared it
	Why    string             `json:"why,omitempty"`     // it was not given
}

// hand gives the request the files that the session holds and those that the
// prompt attaches, and journals which the latter are, once. After a restart they
// are read again, the same bytes; which of them could be given stands in the
// journal then.
func (t *turn) hand(ctx context.Context, o *llm.Options) error {
	if llm.Held(t.result) > 0 {
		t.restore(ctx, t.input.Conversation)
	}
	o.Media, o.Missing = map[earshot.ArtifactID]llm.Media{}, map[earshot.ArtifactID]string{}
	maps.Copy(o.Media, t.files.held)
	maps.Copy(o.Missing, t.files.missing)
	list := t.attached()
	if len(list) == 0 {
		return nil
	}
	before, err := t.toldOf()
	if err != nil {
		return err
	}
	sums := map[earshot.ArtifactID]string{}
	for _, f := range list {
		g := before[f.ID]
		sums[f.ID] = g.SHA256
		if g.Why != "" {
			t.files.why[f.ID] = g.Why
		}
	}
	t.load(ctx, list, sums)
	var of []earshot.MessageID
	var now []handed
	for _, f := range list {
		h := t.handed(f)
		if h.Why != "" {
			o.Missing[f.ID] = notAttached(f.File, h.Why)
		} else {
			o.Media[f.ID] = t.files.media[f.ID]
			delete(o.Missing, f.ID)
		}
		now, of = append(now, h), append(of, f.of)
	}
	if before != nil {
		return nil
	}
	return t.journalJSON(ctx, stepFiles, now, of...)
}

// handed says what became of a file.
func (t *turn) handed(f shared) handed {
	h := handed{ID: f.ID, Name: assemble.FileName(f.File), Of: f.of, Why: t.files.why[f.ID]}
	if h.Why == "" {
		m := t.files.media[f.ID]
		h.Type, h.Bytes, h.SHA256 = m.Type, len(m.Data), t.files.sums[f.ID]
	}
	return h
}

// notAttached is the line in the place of a file that is not given.
func notAttached(f earshot.File, why string) string {
	return fmt.Sprintf("[%s was not attached: %s]", assemble.FileName(f), why)
}

// attached returns the files that the prompt attaches, without the session's.
func (t *turn) attached() []shared {
	var out []shared
	for _, m := range t.result.Messages {
		if slices.Contains(m.Sections, assemble.SessionPart) {
			continue
		}
		for _, id := range m.Media {
			out = append(out, sharedIn(t.input.Messages, id))
		}
	}
	return out
}

// toldOf returns what the journal says of the turn's files, the last word on
// each; nil where it says nothing.
func (t *turn) toldOf() (map[earshot.ArtifactID]handed, error) {
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
// asked; err where there were no files, or the refusal is not of them, or where
// the session holds files: [turn.withoutSession].
func (t *turn) without(ctx context.Context, r *llm.Request, err error) error {
	if !isRefusal(err) || t.sessionHolds() {
		return err
	}
	var now []handed
	var of []earshot.MessageID
	var bare func(parts []llm.Part) []llm.Part
	bare = func(parts []llm.Part) []llm.Part {
		parts = slices.Clone(parts)
		for i, p := range parts {
			if p.Result != nil {
				result := *p.Result
				result.Parts = bare(result.Parts)
				parts[i].Result = &result
			}
			if p.Media == nil {
				continue
			}
			f := sharedIn(t.input.Messages, p.Media.ID)
			f.Name = cmp.Or(f.Name, p.Media.Name)
			parts[i] = llm.Text(notAttached(f.File, whyDeclined))
			now = append(now, handed{ID: f.ID, Name: assemble.FileName(f.File), Why: whyDeclined})
			of = append(of, cmp.Or(t.files.of[f.ID], f.of))
		}
		return parts
	}
	messages := slices.Clone(r.Messages)
	for i, m := range messages {
		messages[i].Parts = bare(m.Parts)
	}
	if len(now) == 0 {
		return err
	}
	t.Log.Warn("the model's provider refused the request: it is asked without files", append(about(t.lease.Conversation), "turn", t.queued.ID, "err", err)...)
	r.Messages, t.bare = messages, true
	return t.journalJSON(ctx, stepFiles, now, of...)
}

// withoutSession reports whether a turn is made anew, as the first of an epoch
// and without any file, because the provider has refused a request in which the
// session's files stood. To leave them out of their messages would change the
// prompt in its middle, in each turn that follows.
func (t *turn) withoutSession(err error) bool {
	if !isRefusal(err) || !t.sessionHolds() || t.declined {
		return false
	}
	t.Log.Warn("the model's provider refused the session's files: the epoch ends", append(about(t.lease.Conversation), "turn", t.queued.ID, "err", err)...)
	t.anew, t.declined = true, true
	return true
}

// sessionHolds reports whether files of the session's are in the request.
func (t *turn) sessionHolds() bool { return llm.Held(t.result) > 0 && len(t.files.held) > 0 }

// isRefusal reports whether an error may be about the request's files.
func isRefusal(err error) bool {
	var e *llm.Error
	return errors.As(err, &e) && (e.TooLarge || slices.Contains(refusals, e.Status))
}

// refusals are the statuses by which providers refuse a file: of a type that
// they do not read, or that they find broken. OpenRouter answers 404 where a
// model takes no pictures: https://github.com/openclaw/openclaw/issues/99078.
var refusals = []int{
	http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity,
}

// given returns what the model was really given: of the manifest's additions,
// and by tools.
func (t *turn) given(added []earshot.Attached) ([]earshot.Attached, error) {
	told, err := t.toldOf()
	if err != nil {
		return nil, err
	}
	var out []earshot.Attached
	for _, a := range added {
		if g, ok := told[a.ID]; ok && g.Why == "" {
			a.SHA256 = g.SHA256
			if n := t.tokensOf(t.files.media[a.ID]); n > 0 {
				a.Tokens = n
			}
			out = append(out, a)
		}
	}
	turn := len(t.input.Conversation.Turns) + 1
	for _, id := range t.files.tools {
		if told[id].Why == "" {
			out = append(out, earshot.Attached{ID: id, SHA256: t.files.sums[id], Turn: turn, Tokens: t.tokensOf(t.files.media[id])})
		}
	}
	return out, nil
}
