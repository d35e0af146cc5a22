// Package attach holds the files of one turn's request to the model: those that
// the turn attaches, those that its tools opened, and those that earlier messages
// of the session contain.
//
// [Wanted] says which files a turn attaches. A [FileSet] loads them, from the store
// where it kept them and else from the platform, and knows for each file that
// could not be attached what the model is told instead.
package attach

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/step"
	"github.com/earshot-ai/earshot/llm"
)

// Limits of the files in one request, those of earlier turns included: what
// providers accept in one request (20 MB in base64), and a size of texts that
// leaves room for the answer.
const (
	maxBytes     = 14 << 20
	maxTextBytes = 64 << 10
)

// What the model is told about a file that is not attached.
const (
	whyUnread   = "it could not be fetched"
	whySlow     = "fetching it took too long" // in the words of platform/media
	whyCrowded  = "the files of this message are too large together"
	whyFull     = "the files of this conversation are too large together"
	whyChanged  = "it is not there any more as it was"
	whyDeclined = "the model's provider does not take it"
)

// textType is the type of a file that is sent as text.
const textType = "text/plain"

// A Store keeps the content of files. ByID is for finding the messages that
// shared them.
type Store interface {
	earshot.Blobs
	ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
}

// A Loader fetches a file from the platform, as bot.Files does.
type Loader interface {
	Load(ctx context.Context, s earshot.Scope, of earshot.MessageID, f earshot.File, most int64) (llm.Media, string, error)
}

// A Source says where a turn's files come from.
type Source struct {
	Store   Store
	Loader  Loader // nil: nothing is fetched
	Scope   earshot.Scope
	Most    int64               // bytes of one file
	Keep    bool                // the store keeps what is fetched
	Timeout time.Duration       // of loading the files of one turn
	Refused bool                // the provider refused files before: none is loaded
	Tokens  func(llm.Media) int // what the model is charged for a file; nil where that is unknown
	Texts   assemble.Counter    // counts files that are sent as text; may be nil
	Log     *slog.Logger
}

// A File is a file and the message that shared it.
type File struct {
	earshot.File
	Of earshot.MessageID

	before string // SHA-256 of the bytes that the model was given before; "" when it was not
	again  bool   // it is wanted only because it was given before
}

// A Record says what became of one file, as the journal keeps it: never its
// content.
type Record = step.File

// A FileSet is the files of one request. One goroutine uses it.
type FileSet struct {
	source Source
	none   bool // the provider refused this request's files

	media map[earshot.ArtifactID]llm.Media         // what this turn attaches
	of    map[earshot.ArtifactID]earshot.MessageID // the messages that shared them
	why   map[earshot.ArtifactID]string            // of this turn's files: why they are not attached

	opened map[earshot.ArtifactID]string // SHA-256 of what tools opened
	byTool []earshot.ArtifactID          // of media: what tools added, in order

	session map[earshot.ArtifactID]llm.Media // what the session's messages contain; nil until it is read
	missing map[earshot.ArtifactID]string    // of those: the line in the place of one that is gone

	sums map[earshot.ArtifactID]string // SHA-256 of all that is in media and session
	lost []string                      // names of files that were to be the same bytes again, and are not
}

// NewFileSet returns an empty set. none says that no file is attached at all, because
// the provider refused this turn's files before.
func NewFileSet(s Source, none bool) *FileSet {
	return &FileSet{
		source: s, none: none,
		media: map[earshot.ArtifactID]llm.Media{}, sums: map[earshot.ArtifactID]string{},
		of: map[earshot.ArtifactID]earshot.MessageID{}, why: map[earshot.ArtifactID]string{},
		opened: map[earshot.ArtifactID]string{},
	}
}

// None reports whether the provider refused this request's files.
func (x *FileSet) None() bool { return x.none }

// SessionFiles reports whether the session's messages contain files.
func (x *FileSet) SessionFiles() bool { return len(x.session) > 0 }

// Overfull reports whether the turn's and the session's files are more than one
// request may carry. A file that was attached before with the same bytes does not
// count twice.
func (x *FileSet) Overfull(before []earshot.AttachedFile) bool {
	return len(x.session) > 0 && x.bytes(before) > maxBytes
}

func (x *FileSet) bytes(before []earshot.AttachedFile) int {
	n := 0
	for id, m := range x.media {
		if !slices.ContainsFunc(before, func(a earshot.AttachedFile) bool { return a.SHA256 != "" && a.SHA256 == x.sums[id] }) {
			n += len(m.Data)
		}
	}
	for _, m := range x.session {
		n += len(m.Data)
	}
	return n
}

// fits reports whether the turn may attach one more file.
func (x *FileSet) fits(m llm.Media) bool {
	bytes, texts := 0, 0
	for _, other := range x.media {
		bytes += len(other.Data)
		if other.Type == textType {
			texts += len(other.Data)
		}
	}
	return bytes+len(m.Data) <= maxBytes && (m.Type != textType || texts+len(m.Data) <= maxTextBytes)
}

// Given returns the files of a list without those that were to be given again and
// could not be loaded: the prompt does not say that it has them.
func (x *FileSet) Given(list []File) []File {
	return slices.DeleteFunc(slices.Clone(list), func(f File) bool { return f.again && x.why[f.ID] != "" })
}

// WithoutLost returns a manifest's files without those that could not be loaded.
func (x *FileSet) WithoutLost(list []earshot.AttachedFile) []earshot.AttachedFile {
	return slices.DeleteFunc(slices.Clone(list), func(a earshot.AttachedFile) bool { return x.why[a.ID] != "" })
}

// Apply writes what loading found into an input: which of the files it attaches,
// their hashes, and their cost.
func (x *FileSet) Apply(in *assemble.Input, files []File) {
	in.Attach, in.FileTokens = nil, map[earshot.ArtifactID]int{}
	for _, f := range files {
		in.Attach = append(in.Attach, f.ID)
	}
	for id, m := range x.media {
		if n := x.tokens(m); n > 0 {
			in.FileTokens[id] = n
		}
	}
	if len(x.sums) == 0 {
		return
	}
	in.Messages = slices.Clone(in.Messages)
	for i, m := range in.Messages {
		in.Messages[i].Files = slices.Clone(m.Files)
		for j, f := range m.Files {
			if f.SHA256 == "" {
				in.Messages[i].Files[j].SHA256 = x.sums[f.ID]
			}
		}
	}
}

// Request returns the content of the files of a request, and the lines in place
// of those that are not there: the session's and the turn's list.
func (x *FileSet) Request(list []File) (media map[earshot.ArtifactID]llm.Media, missing map[earshot.ArtifactID]string) {
	media, missing = map[earshot.ArtifactID]llm.Media{}, map[earshot.ArtifactID]string{}
	maps.Copy(media, x.session)
	maps.Copy(missing, x.missing)
	for _, f := range list {
		if why := x.why[f.ID]; why != "" {
			missing[f.ID] = notAttached(f.File, why)
			continue
		}
		media[f.ID] = x.media[f.ID]
		delete(missing, f.ID)
	}
	return media, missing
}

// Record says what became of a file of this turn.
func (x *FileSet) Record(f File) Record {
	r := Record{ID: f.ID, Name: assemble.FileName(f.File), Of: f.Of, Why: x.why[f.ID]}
	if r.Why == "" {
		m := x.media[f.ID]
		r.Type, r.Bytes, r.SHA256 = m.Type, len(m.Data), x.sums[f.ID]
	}
	return r
}

// Attached returns the manifest's additions with only those that the model was
// really given, by the journal's records, and with what tools added in the turn
// of this number.
func (x *FileSet) Attached(added []earshot.AttachedFile, records map[earshot.ArtifactID]Record, turn int) []earshot.AttachedFile {
	var out []earshot.AttachedFile
	for _, a := range added {
		r, known := records[a.ID]
		if !known || r.Why != "" {
			continue
		}
		a.SHA256 = r.SHA256
		if n := x.tokens(x.media[a.ID]); n > 0 {
			a.Tokens = n
		}
		out = append(out, a)
	}
	for _, id := range x.byTool {
		if records[id].Why == "" {
			out = append(out, earshot.AttachedFile{ID: id, SHA256: x.sums[id], Turn: turn, Tokens: x.tokens(x.media[id])})
		}
	}
	return out
}

// MayPass reports whether a file is not attached for a reason that may be gone in a later
// turn.
func MayPass(r Record) bool { return r.Why == whyUnread || r.Why == whySlow }

// tokens returns what the model is charged for a file; 0 when that is unknown.
func (x *FileSet) tokens(m llm.Media) int {
	switch {
	case m.Type == textType && x.source.Texts != nil:
		return x.source.Texts.Count(string(m.Data))
	case x.source.Tokens != nil:
		return x.source.Tokens(m)
	}
	return 0
}

// Remove replaces every file in the messages of a request by a line, after the
// provider refused the request, and attaches none from now on. It returns the
// messages and what to record of the files; none where the request has no files,
// and then the messages are unchanged.
func (x *FileSet) Remove(messages []llm.Message, known []earshot.Message) ([]llm.Message, []Record) {
	var removed []Record
	out := replaceMedia(messages, func(m llm.Media) (llm.Part, bool) {
		f := findFile(known, m.ID)
		f.Name = cmp.Or(f.Name, m.Name)
		removed = append(removed, Record{ID: f.ID, Name: assemble.FileName(f.File), Of: cmp.Or(x.of[f.ID], f.Of), Why: whyDeclined})
		return llm.Text(notAttached(f.File, whyDeclined)), true
	})
	if len(removed) == 0 {
		return messages, nil
	}
	x.none = true
	return out, removed
}

// notAttached is the line in the place of a file that is not attached.
func notAttached(f earshot.File, why string) string {
	return fmt.Sprintf("[%s was not attached: %s]", assemble.FileName(f), why)
}
