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

// Opening is the user's first message where a context begins with the
// assistant's words, as a transcript may: providers want the user's first.
const Opening = "[this conversation goes on]"

// DefaultMaxTokens bounds an answer where nothing else is said.
const DefaultMaxTokens = 4096

// Options are what a request has besides a context. Zero fields mean the
// defaults; nothing of it is kept or changed.
type Options struct {
	Tools     []Tool
	MaxTokens int // default: [DefaultMaxTokens]
	// Media holds the content of each file that the context attaches.
	Media map[earshot.ArtifactID]Media
	// Missing has, for each of these files that cannot be given after all, the
	// line that stands in its place and says so.
	Missing map[earshot.ArtifactID]string
}

// FromResult makes a request of an assembled context, text for text: nothing
// is added to it but [Opening], and nothing left out. A message's files stand
// before its text; where they are several, each behind its name, since not every
// provider has a place for that (for a text's they all do). Marked for caching are the ends of the system text, of the
// messages that were there in the turn before, and of the whole. What the session
// holds becomes the messages that it was recorded of ([Record]).
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
	held := -1 // the last message that is the session's alone
	for i := 0; i < len(result.Messages); {
		m := result.Messages[i]
		n := run(result.Messages[i:])
		var parts []Part
		var err error
		switch m.Role {
		case earshot.Assistant:
			parts = answer(m)
		case earshot.ToolRole:
			var called []Part
			if k := len(r.Messages); k > 0 {
				called = r.Messages[k-1].Parts
			}
			parts, err = results(result.Messages[i:i+n], called, o)
			m.Role = earshot.User
		default:
			parts, err = question(m, o)
		}
		if err != nil {
			return Request{}, err
		}
		i += n
		if len(parts) == 0 {
			continue
		}
		if ofSession(m) {
			held = len(r.Messages)
		}
		r.Messages = append(r.Messages, Message{Role: m.Role, Parts: parts})
	}
	if held >= 0 {
		r.Messages[held].Cache = true
	}
	if n := len(r.Messages); n > 0 {
		r.Messages[n-1].Cache = true
	}
	return r, r.Check()
}

// attached returns the parts of files.
func attached(ids []earshot.ArtifactID, o *Options) ([]Part, error) {
	var parts []Part
	for _, id := range ids {
		p, err := file(id, o)
		if err != nil {
			return nil, err
		}
		if p.Media != nil && len(ids) > 1 && named(*p.Media) {
			parts = append(parts, Text("["+p.Media.Name+"]"))
		}
		parts = append(parts, p)
	}
	return parts, nil
}

// file returns the part of a file, or of the line that stands in its place.
func file(id earshot.ArtifactID, o *Options) (Part, error) {
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

// KindOf returns the kind of part that a media type is given as; false when
// models read no such file. A type's parameters do not matter.
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
