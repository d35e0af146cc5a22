package attach

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
)

// Pictures that tools of one's own return are shown to the model in the turn of the call, and
// kept nowhere: no message shares them, whose deletion would end them. After a restart, and in
// the session, a line stands in the place of each.

const (
	shownPrefix = "tool:"
	whyNotKept  = "it was shown before and is not kept; call the tool again to see it"
)

// A Picture is one that a tool returned, in the form in which a model is given it.
type Picture struct {
	llm.Media
	SHA256 string // of what the tool returned
}

// ShownID is the id of the nth picture of a call.
func ShownID(call string, n int) earshot.ArtifactID {
	return earshot.ArtifactID(shownPrefix + call + "." + string(rune('0'+n)))
}

func isShown(id earshot.ArtifactID) bool { return strings.HasPrefix(string(id), shownPrefix) }

// AddShown adds a picture to the request. It returns the part that stands in the tool's result,
// and what to record; a line and no record where the request has it, or has no room.
func (x *FileSet) AddShown(p Picture) (llm.Part, *Record) {
	x.opened[p.ID] = p.SHA256
	if x.source.Refused {
		return llm.Text(notAttached(earshot.File{ID: p.ID, Name: p.Name}, whyDeclined)), nil
	}
	return x.AddOpened(p.Media)
}

// WithoutShown returns messages as the session keeps them: with a line in the place of each
// picture that a tool returned.
func WithoutShown(messages []llm.Message) []llm.Message {
	return replaceMedia(messages, func(m llm.Media) (llm.Part, bool) {
		return llm.Text(notAttached(earshot.File{ID: m.ID, Name: m.Name}, whyNotKept)), isShown(m.ID)
	})
}

// replaceMedia returns a copy of messages in which files are replaced, those in results too.
func replaceMedia(messages []llm.Message, by func(llm.Media) (llm.Part, bool)) []llm.Message {
	var replace func(parts []llm.Part) []llm.Part
	replace = func(parts []llm.Part) []llm.Part {
		parts = slices.Clone(parts)
		for i, p := range parts {
			if p.Result != nil {
				result := *p.Result
				result.Parts = replace(result.Parts)
				parts[i].Result = &result
			}
			if p.Media == nil {
				continue
			}
			if other, replaced := by(*p.Media); replaced {
				parts[i] = other
			}
		}
		return parts
	}
	out := slices.Clone(messages)
	for i, m := range out {
		out[i].Parts = replace(m.Parts)
	}
	return out
}
