package agent

import (
	"cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/llm"
)

// maxTokens bounds what an agent says that it has used.
const maxTokens = 1_000_000_000

// A usageEvent is what an agent says that an answer has used.
type usageEvent struct {
	Model      string `json:"model"`
	Input      int    `json:"input"`
	Output     int    `json:"output"`
	CacheRead  int    `json:"cache_read"`
	CacheWrite int    `json:"cache_write"`
}

// response makes the response that an answer's text and usage are.
func (u usageEvent) response(text string) llm.Response {
	r := llm.Response{Stop: llm.StopEnd, Provider: provider, Model: cmp.Or(plain.Line(u.Model, 80), provider), Usage: earshot.Usage{
		Input: bounded(u.Input), Output: bounded(u.Output), CacheRead: bounded(u.CacheRead), CacheWrite: bounded(u.CacheWrite),
	}}
	if text != "" {
		r.Parts = append(r.Parts, llm.Text(text))
	}
	return r
}

// asking makes the response that is an answer's text and a question.
func (u usageEvent) asking(text string, question llm.Part) llm.Response {
	r := u.response(text)
	r.Stop = llm.StopCalls
	r.Parts = append(r.Parts, question)
	return r
}

func bounded(tokens int) int { return min(max(0, tokens), maxTokens) }
