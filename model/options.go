package model

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/earshot-ai/earshot/secret"
)

// Options say which model an adapter asks, where, and with which key. Every
// adapter's New takes them.
type Options struct {
	// Model is the model's name at its provider; required.
	Model string
	// Provider is the name in errors and answers; empty means the adapter's own. It is
	// for another service with the same API.
	Provider string
	// APIKey is sent with each request, in a header. It may be empty where
	// BaseURL is set and the server there needs none.
	APIKey secret.Secret
	// BaseURL is the address of a gateway, a mock or another server with the same
	// API; empty means the provider's own. Each adapter's New says which path
	// follows it (OpenAI's ends in /v1). A query in it is kept.
	BaseURL string
	// HTTPClient sends the requests; nil means one with default settings. Its
	// CheckRedirect is not used, since redirects are not followed.
	HTTPClient *http.Client
}

// ErrOptions is in the chain of the errors of [Options.Check] and of the
// adapters' New.
var ErrOptions = errors.New("model cannot be used")

// Check returns every problem of the options, joined, or nil: an empty name, a
// malformed base URL, a missing or malformed key. keyName names the key in the
// error, such as ANTHROPIC_API_KEY. The error holds neither the key nor the URL.
func (o Options) Check(keyName string) error {
	var problems []error
	bad := func(format string, args ...any) {
		problems = append(problems, fmt.Errorf("%w: %s", ErrOptions, fmt.Sprintf(format, args...)))
	}
	if strings.TrimSpace(o.Model) == "" {
		bad("it has no name")
	}
	if o.BaseURL == "" {
		if o.APIKey.Empty() {
			bad("%s is not set", keyName)
		}
	} else if u, err := url.Parse(o.BaseURL); err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" {
		// The URL itself may hold a password.
		bad("its base URL is not of the form https://host/path")
	}
	if strings.ContainsFunc(o.APIKey.Reveal(), func(r rune) bool { return r <= ' ' || r > '~' }) {
		bad("%s holds a space, a line break or another character that no key has", keyName)
	}
	return errors.Join(problems...)
}
