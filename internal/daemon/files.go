package daemon

import (
	"net/url"

	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/platform/media"
)

// files fetches the files that people share on a platform; nil where the
// adapter cannot open files. A host that replaces a platform's API may serve the
// platform's files too.
func files(c config.Config, p bot.Platform) bot.Files {
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
