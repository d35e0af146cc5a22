package daemon

import (
	"strings"

	"github.com/earshot-ai/earshot/internal/daemon/providers"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/platform/media"
)

// fileTokens returns the provider's formula for the tokens that a model charges
// for a file; nil for the offline model, which sees no files.
func fileTokens(info ModelInfo) func(llm.Media) int {
	p, ok := providers.Of(info.Provider)
	if !ok {
		return nil
	}
	return func(m llm.Media) int {
		kind, _, _ := strings.Cut(m.Type, ";")
		size := media.Measure(m)
		return p.FileTokens(info.Name, model.File{
			Type: strings.ToLower(strings.TrimSpace(kind)), Width: size.Width, Height: size.Height, Pages: size.Pages, Bytes: len(m.Data),
		})
	}
}
