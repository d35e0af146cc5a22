package model

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/earshot-ai/earshot/secret"
)

// Options are what an adapter is made from. Every adapter's New takes them.
type Options struct {
	// Model is the model's name at its provider; required.
	Model string
	// APIKey goes with each request, in a header. Required by providers; a
	// server at another BaseURL may do without.
	APIKey secret.Secret
	// BaseURL is where the API is, instead of at the provider: a gateway, a
	// mock, a server with the same API. It has the form that the provider's own
	// SDK takes (for OpenAI it ends in /v1).
	BaseURL string
	// HTTPClient sends the requests; nil means http.DefaultClient. Its
	// CheckRedirect is not used: redirects are not followed.
	HTTPClient *http.Client
}

// ErrOptions is in the chain of every error of [Options.Check].
var ErrOptions = errors.New("model cannot be used")

// Check returns every problem of the options, joined, or nil: no name, a base
// URL that is none, or no key for the provider itself. keyName says in which
// variable the key is looked for.
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
