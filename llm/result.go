package llm

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// ErrMedia is in the chain of [FromResult]'s error when a file that the
// context attaches was not given, or is of a type that no model reads.
var ErrMedia = errors.New("file cannot be attached")

// Opening is put before a context that begins with a message of the assistant's:
// providers demand that the user's comes first. Those of package assemble have it.
const Opening = assemble.Opening

// DefaultMaxTokens bounds an answer where [Options] do not.
const DefaultMaxTokens = 4096

// Options are the parts of a request that are not in the context. Zero fields
// mean the defaults. [FromResult] neither keeps nor changes them.
type Options struct {
	Tools     []Tool
	MaxTokens int // default: [DefaultMaxTokens]
	// Media holds the content of each file that the context attaches.
	Media map[earshot.ArtifactID]Media
	// Missing holds, for each of these files that cannot be given after all, a
	// line that the model reads in its place.
	Missing map[earshot.ArtifactID]string
}

// FromResult makes a request of an assembled context. It changes no text, leaves
// nothing out, and adds nothing but [Opening] and the names of files.
//
// A message's files stand before its text. Where there are several, a line with
// its name stands before each, except text files: not every provider has a field
// for the name of a picture. Marked for caching are the ends of the system text,
// of the messages that the turn before had, and of the whole. Entries of the
// session become the messages from which [Record] made them. Messages of the user's
// that follow one another become parts of one: not every provider takes several.
func FromResult(result assemble.Result, o *Options) (Request, error) {
	if o == nil {
		o = &Options{}
	}
	r := Request{System: result.System, Tools: slices.Clone(o.Tools), MaxTokens: o.MaxTokens, Cache: result.System != "" || len(o.Tools) > 0}
	if r.MaxTokens == 0 {
		r.MaxTokens = DefaultMaxTokens
	}
	if len(result.Messages) > 0 && result.Messages[0].Role == earshot.Assistant {
		r.Messages = append(r.Messages, Message{Role: earshot.User, Parts: []Part{Text(Opening)}})
	}
	earlier := -1 // the last message that is of the session alone
	for i := 0; i < len(result.Messages); {
		m := result.Messages[i]
		n := countMerged(result.Messages[i:])
		var parts []Part
		var err error
		switch m.Role {
		case earshot.Assistant:
			parts = answerParts(m)
		case earshot.ToolRole:
			var called []Part
			if k := len(r.Messages); k > 0 {
				called = r.Messages[k-1].Parts
			}
			parts, err = resultParts(result.Messages[i:i+n], called, o)
			m.Role = earshot.User
		default:
			parts, err = questionParts(m, o)
		}
		if err != nil {
			return Request{}, err
		}
		i += n
		if len(parts) == 0 {
			continue
		}
		if k := len(r.Messages); k > 0 && r.Messages[k-1].Role == earshot.User && m.Role == earshot.User && !ofSession(m) && earlier < k-1 {
			before := r.Messages[k-1].Parts
			if last := &before[len(before)-1]; last.Kind == KindText && parts[0].Kind == KindText {
				last.Text += "\n\n" // some providers put parts together as they are
			}
			r.Messages[k-1].Parts = append(before, parts...)
			continue
		}
		if ofSession(m) {
			earlier = len(r.Messages)
		}
		r.Messages = append(r.Messages, Message{Role: m.Role, Parts: parts})
	}
	if earlier >= 0 {
		r.Messages[earlier].Cache = true
	}
	if n := len(r.Messages); n > 0 {
		r.Messages[n-1].Cache = true
	}
	return r, r.Check()
}

// fileParts returns the parts of files.
func fileParts(ids []earshot.ArtifactID, o *Options) ([]Part, error) {
	var parts []Part
	for _, id := range ids {
		p, err := filePart(id, o)
		if err != nil {
			return nil, err
		}
		if p.Media != nil && len(ids) > 1 && hasNameLine(*p.Media) {
			parts = append(parts, Text("["+p.Media.Name+"]"))
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// filePart returns the part of a file, or of the line in its place.
func filePart(id earshot.ArtifactID, o *Options) (Part, error) {
	if line, ok := o.Missing[id]; ok {
		return Text(line), nil
	}
	m, ok := o.Media[id]
	if !ok {
		return Part{}, fmt.Errorf("%w: the content of %s was not given", ErrMedia, id)
	}
	kind, ok := KindOf(m.Type)
	if !ok {
		return Part{}, fmt.Errorf("%w: %s is of type %q", ErrMedia, id, m.Type)
	}
	m.ID = id
	return Part{Kind: kind, Media: &m}, nil
}

// KindOf returns the kind of the part that a file of a media type becomes; false
// for a type that models do not read. Parameters of the type are ignored.
func KindOf(mediaType string) (Kind, bool) {
	mediaType, _, _ = strings.Cut(mediaType, ";")
	mediaType = strings.ToLower(strings.TrimSpace(mediaType))
	switch {
	case slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, mediaType):
		return KindImage, true
	case strings.HasPrefix(mediaType, "audio/"):
		return KindAudio, true
	case strings.HasPrefix(mediaType, "text/"), mediaType == "application/pdf", mediaType == "application/json":
		return KindDocument, true
	}
	return "", false
}
