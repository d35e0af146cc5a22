package adapter

import (
	"strings"

	"github.com/earshot-ai/earshot/llm"
)

// Finish returns an answer in which there are calls if and only if it stops for
// them: calls of an answer that was cut off are left out.
func Finish(r llm.Response) llm.Response {
	calls := len(r.Calls()) > 0
	switch {
	case calls && r.Stop == llm.StopEnd:
		r.Stop = llm.StopCalls
	case !calls && r.Stop == llm.StopCalls:
		r.Stop = llm.StopEnd
	case calls && r.Stop != llm.StopCalls:
		var kept []llm.Part
		for _, p := range r.Parts {
			if p.Kind != llm.KindCall {
				kept = append(kept, p)
			}
		}
		r.Parts = kept
	}
	return r
}

// Arguments returns a call's arguments as the model wrote them, and an empty
// object where it wrote none.
func Arguments(written string) string {
	if s := strings.TrimSpace(written); s != "" && s != "null" {
		return s
	}
	return "{}"
}

// Tell passes an event to stream, unless there is none or nothing in it.
func Tell(stream func(llm.Event), e llm.Event) {
	if stream != nil && e != (llm.Event{}) {
		stream(e)
	}
}
