package slack

import (
	"net/url"
	"strings"

	"github.com/earshot-ai/earshot"
)

// Permalink implements [bot.Linker], in the form that chat.getPermalink returns.
func (p *Platform) Permalink(c earshot.Channel, m earshot.Message) string {
	if p.url == "" {
		return ""
	}
	link := strings.TrimSuffix(p.url, "/") + "/archives/" + url.PathEscape(string(c.ID)) + "/p" + strings.Replace(string(m.ID), ".", "", 1)
	if m.Thread == "" || m.Thread == m.ID {
		return link
	}
	return link + "?thread_ts=" + url.QueryEscape(string(m.Thread)) + "&cid=" + url.QueryEscape(string(c.ID))
}
