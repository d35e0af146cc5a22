package agent

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/earshot-ai/earshot/secret"
)

// provider is the agent's name in answers, errors and kept parts.
const provider = "agent"

// Options say where an agent is, and how it is asked.
type Options struct {
	URL string // required
	// Key is sent as a bearer token; it may be empty.
	Key secret.Secret
	// Theirs: the agent keeps its own history. It is sent what is new: at the first turn of a
	// conversation the whole context, later what was said since.
	Theirs bool
	// Model is the model that an agent behind OpenAI's API is asked for; "" is agent. Other
	// protocols name none.
	Model string
	// HTTPClient sends the requests; nil means one with default settings. Redirects are not
	// followed: the key would go along.
	HTTPClient *http.Client
}

// ErrOptions is in the chain of the errors of [Options.Check].
var ErrOptions = errors.New("the agent cannot be used")

// Check returns what is wrong with the options, or nil. It repeats neither key nor URL.
func (o Options) Check() error {
	if u, err := url.Parse(o.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("%w: its url is not of the form https://host/path", ErrOptions)
	}
	return nil
}
