package daemon

import (
	"net/url"

	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/platform/media"
)

// files returns what people share on a platform, nil where the platform does
// not say where that is. A server that stands in for Slack stands in for its
// files.
func files(c config.Config, p bot.Platform) bot.Files {
	o, ok := p.(media.Opener)
	if !ok {
		return nil
	}
	options := media.Options{Cache: int64(c.Limits.FileCacheMB) * 1_000_000}
	if options.Cache == 0 {
		options.Cache = -1
	}
	if u, err := url.Parse(c.Slack.APIURL); err == nil {
		options.Override = u.Host
	}
	return media.New(o, &options)
}
