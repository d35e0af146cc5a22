package daemon

import (
	"context"
	"crypto/rand"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/inspect"
	"github.com/earshot-ai/earshot/secret"
)

// An inspector is the web page of a daemon. The zero inspector is not served.
type inspector struct {
	handler http.Handler
	token   secret.Secret // empty where the page is open
}

// inspector makes the web page, over the same reader as the API.
func (s sharedParts) inspector(p platform) inspector {
	o, c := s.options, s.options.Config
	if c.Inspect.Listen == "" {
		return inspector{}
	}
	var x inspector
	open := o.InspectOpen && config.IsLoopback(c.Inspect.Listen)
	if x.token = c.Keys.InspectToken; x.token.Empty() && !open {
		x.token = secret.New(rand.Text())
	}
	if open {
		x.token = secret.Secret{}
	}
	hosts := slices.Clone(c.Inspect.Hosts)
	if u, err := url.Parse(c.Inspect.URL); err == nil && u.Hostname() != "" {
		hosts = append(hosts, u.Hostname())
	}
	x.handler = inspect.New(inspect.Options{
		Reader: s.reader, Gate: s.gate, Token: x.token, Open: open, Hosts: hosts,
		Chat: p.chat, Person: Guest, Identity: p.identity, Start: o.Start, Version: o.Version, Log: o.Log, Now: o.Outside.Now,
		Cost: func(model string, u earshot.Usage) (float64, bool) {
			price, ok := PriceOf(c.Model.Prices, model)
			return Cost(price, u), ok
		},
		Requests: func(ctx context.Context, q earshot.QueuedTurn) iter.Seq2[bot.SentRequest, error] {
			return Requests(ctx, s.store, q)
		},
		Health: func(ctx context.Context) (inspect.Health, error) { return s.health(ctx, p) },
	})
	return x
}

// inspectURL returns the URL at which people reach an inspector, "" where none is
// served.
func inspectURL(c config.Inspect, address string) string {
	if address == "" {
		return ""
	}
	if c.URL != "" {
		return strings.TrimRight(c.URL, "/")
	}
	return "http://" + Reachable(address)
}

// visitLink returns the link that opens an inspector.
func visitLink(at string, token secret.Secret) string {
	if at == "" || token.Empty() {
		return at
	}
	return at + "/?token=" + url.QueryEscape(token.Reveal())
}
