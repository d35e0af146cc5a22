package daemon

import (
	"net/url"
	"strings"

	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/daemon/providers"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/platform/media"
)

var _ bot.FileTaker = (*media.Files)(nil)

// newFiles returns what fetches the files that people share on a platform; nil where the
// adapter cannot open files. A host that replaces a platform's API may serve the
// platform's files too.
func newFiles(c config.Config, p bot.Platform) bot.Files {
	o, ok := p.(media.Opener)
	if !ok {
		return nil
	}
	var options media.Options
	if u, err := url.Parse(kindOf(c).api(c)); err == nil {
		options.Override = u.Host
	}
	return media.New(o, &options)
}

// fileTokens returns the provider's formula for the tokens that a model charges
// for a file; nil for the offline model, which sees no files.
func fileTokens(info ModelInfo) func(llm.Media) int {
	if info.Provider == agentProvider {
		return func(llm.Media) int { return 0 } // nobody knows
	}
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
