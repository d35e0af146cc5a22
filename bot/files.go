package bot

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/gather"
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

// Bounds of what one request may carry besides its prompt: what providers take
// in one request (20 MB, in base64), and texts that leave room for the answer.
const (
	maxAttached = 14 << 20
	maxInlined  = 64 << 10
)

// What the model is told of files that it is not given.
const (
	whyUnread  = "it could not be fetched"
	whyCrowded = "the files of this message are too large together"
)

// A shared is a file with the message that it was shared by.
type shared struct {
	earshot.File
	of earshot.MessageID
}

// A satchel is what a turn has loaded of files.
type satchel struct {
	media map[earshot.ArtifactID]llm.Media
	sums  map[earshot.ArtifactID]string
	why   map[earshot.ArtifactID]string // of those that cannot be given
}

func newSatchel() satchel {
	return satchel{map[earshot.ArtifactID]llm.Media{}, map[earshot.ArtifactID]string{}, map[earshot.ArtifactID]string{}}
}

// attach loads the files that the turn shows, where the policy has a place for
// them, and gathers again with them: what a file is like decides whether it was
// there before. A file that cannot be loaded is no reason not to answer.
func (t *turn) attach(ctx context.Context, req gather.Request, in assemble.Input, res assemble.Result) (assemble.Input, assemble.Result, error) {
	section, ok := mediaOf(in.Policy)
	if !ok || t.Files == nil || t.bare {
		return in, res, nil
	}
	wanted := wantedFiles(in, res, section.Files)
	if len(wanted) == 0 {
		return in, res, nil
	}
	var fetch []shared
	for _, f := range wanted {
		req.Attach = append(req.Attach, f.ID)
		if !holds(in.Conversation, f.ID) {
			fetch = append(fetch, f)
		}
	}
	t.load(ctx, fetch)
	req.Sums = t.files.sums
	return gather.Turn(ctx, t.Store, req)
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

// wantedFiles returns the files that a turn may attach: the anchor's, then
// those of the conversation's messages that the prompt shows whole, the newest
// first, at most so many; and those that were attached before, to be referred
// to. What stands around the conversation gives none; a DM has nothing around.
func wantedFiles(in assemble.Input, res assemble.Result, most int) []shared {
	shown := map[earshot.MessageID]bool{}
	for _, row := range res.Ledger {
		around := row.Section == string(assemble.Window) && in.Channel.Kind != earshot.KindDM
		shown[row.ID] = !around && (row.Verdict == earshot.Full || row.Verdict == earshot.Cut)
	}
	messages := slices.Clone(in.Messages)
	slices.SortFunc(messages, func(x, y earshot.Message) int {
		if (x.ID == in.Anchor) != (y.ID == in.Anchor) {
			if x.ID == in.Anchor {
				return -1
			}
			return 1
		}
		return y.Position().Compare(x.Position())
	})
	var out []shared
	for _, m := range messages {
		for _, f := range m.Files {
			known := slices.ContainsFunc(out, func(s shared) bool { return s.ID == f.ID })
			if m.Deleted || known || len(out) == most || !shown[m.ID] && !holds(in.Conversation, f.ID) {
				continue
			}
			out = append(out, shared{f, m.ID})
		}
	}
	return out
}

// holds reports whether a conversation was given a file.
func holds(c assemble.Conversation, id earshot.ArtifactID) bool {
	return slices.ContainsFunc(c.Attached, func(a earshot.Attached) bool { return a.ID == id })
}

// load loads files at the same time, within the time that there is for it, and
// notes for each what came of it.
func (t *turn) load(ctx context.Context, list []shared) {
	section, _ := mediaOf(t.Policy)
	ctx, cancel := context.WithTimeout(ctx, t.Limits.Files)
	defer cancel()
	media, sums, errs := make([]llm.Media, len(list)), make([]string, len(list)), make([]error, len(list))
	var loading sync.WaitGroup
	for i, f := range list {
		if t.Files == nil {
			errs[i] = errNoFiles
			continue
		}
		loading.Go(func() {
			media[i], sums[i], errs[i] = t.Files.Load(ctx, t.lease.Conversation.Scope, f.of, f.File, section.Bytes)
		})
	}
	loading.Wait()
	for i, f := range list {
		why := ""
		if errs[i] != nil {
			why = reasonOf(errs[i])
			t.Log.Warn("file", append(about(t.lease.Conversation), "turn", t.queued.ID, "message", f.of, "file", f.ID, "err", errs[i])...)
		} else if !t.files.fits(media[i]) {
			why = whyCrowded
		}
		if why != "" {
			t.files.why[f.ID] = why
			continue
		}
		t.files.media[f.ID], t.files.sums[f.ID] = media[i], sums[i]
	}
}

// errNoFiles is why files of a turn that was begun elsewhere cannot be loaded.
var errNoFiles = errors.New("this bot loads no files")

// fits reports whether a request may carry one more file.
func (s satchel) fits(m llm.Media) bool {
	bytes, words := 0, 0
	for _, o := range s.media {
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
