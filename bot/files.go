package bot

import (
	"context"
	"errors"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/llm"
)

// Files gives the content of what people share. It is safe for concurrent use.
type Files interface {
	// Load returns a file of a message as a model can be given it, and the
	// SHA-256 of its bytes as they were, in lower-case hex. most bounds those
	// bytes. A failure is told to the model: where the error has a method
	// Reason() string, in these words.
	Load(ctx context.Context, s earshot.Scope, of earshot.MessageID, f earshot.File, most int64) (llm.Media, string, error)
	// Forget drops whatever is kept of a message's files, because the message
	// was deleted or changed.
	Forget(s earshot.Scope, of earshot.MessageID)
}

// Bounds of the files in one request, those of earlier turns included: what
// providers take in one request (20 MB, in base64), and texts that leave room
// for the answer.
const (
	maxAttached = 14 << 20
	maxInlined  = 64 << 10
)

// What the model is told of files that it is not given.
const (
	whyUnread  = "it could not be fetched"
	whyCrowded = "the files of this message are too large together"
	whyFull    = "the files of this conversation are too large together"
	whyChanged = "it is not there any more as it was"
)

// A shared is a file with the message that it was shared by.
type shared struct {
	earshot.File
	of earshot.MessageID
}

// turnFiles are the files of a turn's request.
type turnFiles struct {
	media map[earshot.ArtifactID]llm.Media         // what this turn gives
	sums  map[earshot.ArtifactID]string            // SHA-256 of all that is here
	of    map[earshot.ArtifactID]earshot.MessageID // who shared what this turn gives
	why   map[earshot.ArtifactID]string            // of those that cannot be given

	opened map[earshot.ArtifactID]string // SHA-256 of what tools have opened
	tools  []earshot.ArtifactID          // of what this turn gives: what tools gave, in order

	held    map[earshot.ArtifactID]llm.Media // what the session's messages hold
	missing map[earshot.ArtifactID]string    // of those: why they cannot be given again
}

func newTurnFiles() turnFiles {
	return turnFiles{
		media: map[earshot.ArtifactID]llm.Media{}, sums: map[earshot.ArtifactID]string{},
		of: map[earshot.ArtifactID]earshot.MessageID{}, why: map[earshot.ArtifactID]string{},
		opened: map[earshot.ArtifactID]string{},
	}
}

// maxEpochs is how often a turn's files may change whether its session goes on.
const maxEpochs = 3

// attach loads the files that the turn gives, where the policy has a place for
// them, and those that the session holds, and gathers again with them: what a
// file is like decides whether it was there before, and what it costs. A file
// that cannot be loaded is no reason not to answer.
//
// Where the session's files and the turn's are more than a request may carry,
// or the provider has refused files while the session held some, the epoch ends:
// a first turn gives the question's files again, and a prompt never loses from
// its middle what it was made with.
func (t *turn) attach(ctx context.Context, req gather.Request, in assemble.Input, res assemble.Result) (assemble.Input, assemble.Result, error) {
	for range maxEpochs {
		goesOn := llm.Held(res) > 0
		if goesOn {
			t.restore(ctx, in.Conversation)
		}
		wanted := t.wanted(in, res)
		t.load(ctx, wanted, nil)
		if goesOn && (t.anew || len(t.files.held) > 0 && t.files.size(in.Conversation.Attached) > maxAttached) {
			req.Budget.Session, req.NewEpoch = 1, true
		} else if len(wanted) == 0 {
			return in, res, nil
		}
		req.Attach, req.Sums, req.FileTokens = nil, t.files.sums, t.fileTokens()
		for _, f := range wanted {
			req.Attach = append(req.Attach, f.ID)
		}
		var err error
		if in, res, err = gather.Turn(ctx, t.Store, req); err != nil || goesOn == (llm.Held(res) > 0) {
			return in, res, err
		}
	}
	return in, res, nil
}

// mediaOf returns a policy's section of files, with its limits; false where it
// has none, which is how a policy says that nothing is attached.
func mediaOf(p assemble.Policy) (assemble.Section, bool) {
	p = p.WithDefaults()
	for _, s := range slices.Concat(p.First, p.Later) {
		if s.Section == assemble.Media {
			return s, true
		}
	}
	return assemble.Section{}, false
}

// wanted returns the files that a turn gives by itself, the question's first, at
// most as many as the policy says, and those that its prompt has chosen besides,
// as a new epoch does. Other files are lines of the prompt, and the model asks
// for them.
func (t *turn) wanted(in assemble.Input, res assemble.Result) []shared {
	var out []shared
	add := func(f shared) {
		if !slices.ContainsFunc(out, func(o shared) bool { return o.ID == f.ID }) {
			out = append(out, f)
		}
	}
	for _, f := range t.own(in, res) {
		add(f)
	}
	for _, m := range res.Messages {
		for _, id := range m.Media {
			if !slices.Contains(m.Sections, assemble.SessionPart) {
				add(sharedIn(in.Messages, id))
			}
		}
	}
	return out
}

// own returns the files of the question, of what is answered together with it,
// and of its thread's root where this turn shows that. In policies that are not
// written as a log, or whose media section has own: false, all files are asked
// for.
func (t *turn) own(in assemble.Input, res assemble.Result) []shared {
	section, ok := mediaOf(in.Policy)
	if !ok || !section.Own || t.Files == nil || t.bare || in.Policy.WithDefaults().Frame != assemble.Log {
		return nil
	}
	shown := map[earshot.MessageID]bool{}
	for _, row := range res.Ledger {
		shown[row.ID] = row.Verdict == earshot.Full || row.Verdict == earshot.Cut
	}
	var out []shared
	give := func(id earshot.MessageID) {
		for _, m := range in.Messages {
			for _, f := range m.Files {
				known := slices.ContainsFunc(out, func(s shared) bool { return s.ID == f.ID })
				if m.ID == id && shown[id] && !m.Deleted && !known && len(out) < section.Files {
					out = append(out, shared{f, m.ID})
				}
			}
		}
	}
	give(in.Anchor)
	for _, id := range slices.Backward(t.together) {
		give(id)
	}
	give(t.place.Anchor.Root())
	return out
}

// sharedIn finds a file by its id.
func sharedIn(messages []earshot.Message, id earshot.ArtifactID) shared {
	for _, m := range slices.Backward(messages) {
		for _, f := range m.Files {
			if f.ID == id {
				return shared{f, m.ID}
			}
		}
	}
	return shared{File: earshot.File{ID: id}}
}

// fileTokens returns what the model is charged for what this turn gives.
func (t *turn) fileTokens() map[earshot.ArtifactID]int {
	out := map[earshot.ArtifactID]int{}
	for id, m := range t.files.media {
		if n := t.tokensOf(m); n > 0 {
			out[id] = n
		}
	}
	return out
}

// tokensOf returns what the model is charged for a file; 0 when that is not
// known.
func (t *turn) tokensOf(m llm.Media) int {
	switch {
	case m.Type == inlined && t.counter != nil:
		return t.counter.Count(string(m.Data))
	case t.FileTokens != nil:
		return t.FileTokens(m)
	}
	return 0
}

// size is how many bytes of files the request would carry with the session's:
// what was given before in the same bytes is not given again.
func (x turnFiles) size(before []earshot.Attached) int {
	n := 0
	for id, m := range x.media {
		if !slices.ContainsFunc(before, func(a earshot.Attached) bool { return a.SHA256 != "" && a.SHA256 == x.sums[id] }) {
			n += len(m.Data)
		}
	}
	for _, m := range x.held {
		n += len(m.Data)
	}
	return n
}

// fits reports whether a turn may give one file more.
func (x turnFiles) fits(m llm.Media) bool {
	bytes, words := 0, 0
	for _, o := range x.media {
		bytes += len(o.Data)
		if o.Type == inlined {
			words += len(o.Data)
		}
	}
	return bytes+len(m.Data) <= maxAttached && (m.Type != inlined || words+len(m.Data) <= maxInlined)
}

// inlined is the type of a file that is given as a text.
const inlined = "text/plain"

// reasonOf returns what may be told of an error.
func reasonOf(err error) string {
	var told interface{ Reason() string }
	if errors.As(err, &told) {
		return told.Reason()
	}
	return whyUnread
}
