package adapter

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot/llm"
)

// Finish returns an answer in which there are calls if and only if it stops for
// them: calls of an answer that was cut off are left out, and so are calls that
// name no tool.
func Finish(r llm.Response) llm.Response {
	r.Parts = withoutParts(r.Parts, func(p llm.Part) bool { return p.Kind == llm.KindCall && p.Call.Name == "" })
	calls := len(r.Calls()) > 0
	switch {
	case calls && r.Stop == llm.StopEnd:
		r.Stop = llm.StopCalls
	case !calls && r.Stop == llm.StopCalls:
		r.Stop = llm.StopEnd
	case calls && r.Stop != llm.StopCalls:
		r.Parts = withoutParts(r.Parts, func(p llm.Part) bool { return p.Kind == llm.KindCall })
	}
	return r
}

// withoutParts returns the parts that are not dropped; nil where none is left.
func withoutParts(parts []llm.Part, dropped func(llm.Part) bool) []llm.Part {
	if !slices.ContainsFunc(parts, dropped) {
		return parts
	}
	var kept []llm.Part
	for _, p := range parts {
		if !dropped(p) {
			kept = append(kept, p)
		}
	}
	return kept
}

// Arguments returns a call's arguments as the model wrote them, and an empty
// object where it wrote none.
func Arguments(written string) string {
	if s := strings.TrimSpace(written); s != "" && s != "null" {
		return s
	}
	return "{}"
}

// SendEvent passes an event to stream, unless there is none or nothing in it.
func SendEvent(stream func(llm.Event), e llm.Event) {
	if stream != nil && e != (llm.Event{}) {
		stream(e)
	}
}
