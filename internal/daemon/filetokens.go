package daemon

import (
	"strings"

	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/anthropic"
	"github.com/earshot-ai/earshot/model/gemini"
	"github.com/earshot-ai/earshot/model/openai"
	"github.com/earshot-ai/earshot/platform/media"
)

// fileTokens returns the provider's formula for the tokens that a model charges
// for a file; nil for the offline model, which sees no files.
func fileTokens(info ModelInfo) func(llm.Media) int {
	formula := map[string]func(string, model.File) int{
		config.Anthropic: anthropic.FileTokens, config.Gemini: gemini.FileTokens, config.OpenAI: openai.FileTokens,
	}[info.Provider]
	if formula == nil {
		return nil
	}
	return func(m llm.Media) int {
		kind, _, _ := strings.Cut(m.Type, ";")
		size := media.Measure(m)
		return formula(info.Name, model.File{
			Type: strings.ToLower(strings.TrimSpace(kind)), Width: size.Width, Height: size.Height, Pages: size.Pages, Bytes: len(m.Data),
		})
	}
}
