package postgres

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// connections is the most that a store opens, unless the spec has pool_max_conns. A
// server's default is 100 for all replicas together.
const connections = 16

// A config is a spec as it was parsed.
type config struct {
	pool    *pgxpool.Config
	name    string   // the spec without its secrets
	secrets []string // no error may contain them
}

// ErrURL is the error for a spec that cannot be parsed.
var ErrURL = errors.New("the PostgreSQL URL is not right")

// parse parses a spec. Settings that it leaves out come from the environment (PGHOST
// and so on). The error is [ErrURL] and never repeats the spec.
func parse(spec string) (*config, error) {
	u, err := url.Parse(spec)
	if err != nil {
		return nil, fmt.Errorf("%w: in a user or password write %%, /, ?, #, @ and : as %%25, %%2F, %%3F, %%23, %%40 and %%3A", ErrURL)
	}
	q := u.Query()
	c := &config{}
	for _, s := range []string{q.Get("password"), q.Get("sslpassword")} {
		c.hide(s)
	}
	if p, ok := u.User.Password(); ok {
		c.hide(p)
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if name := u.User.Username(); name != "" {
		shown.User = url.User(name)
	}
	c.name = shown.String()
	if c.pool, err = pgxpool.ParseConfig(spec); err != nil {
		return nil, fmt.Errorf("%w: %s: %s", ErrURL, c.name, c.reason(err))
	}
	c.hide(c.pool.ConnConfig.Password)
	if !q.Has("pool_max_conns") {
		c.pool.MaxConns = connections
	}
	if !q.Has("connect_timeout") {
		c.pool.ConnConfig.ConnectTimeout = 10 * time.Second
	}
	settings := c.pool.ConnConfig.RuntimeParams
	for key, value := range map[string]string{
		"application_name": "earshot",
		// Plan each statement with its values and the present statistics. A generic
		// plan that was made while a table was empty would scan the whole table when
		// it is large.
		"plan_cache_mode": "force_custom_plan",
		// A replica that hangs within a transaction blocks the others only briefly.
		"idle_in_transaction_session_timeout": "5s",
		"lock_timeout":                        "10s",
	} {
		if settings[key] == "" {
			settings[key] = value
		}
	}
	return c, nil
}

// hide adds a secret to those that errors must not contain.
func (c *config) hide(secret string) {
	if secret != "" {
		c.secrets = append(c.secrets, secret, url.QueryEscape(secret), url.PathEscape(secret))
	}
}

// reason returns the text of the innermost error that ParseConfig wrapped. Unlike the
// outer ones it does not repeat the whole spec.
func (c *config) reason(err error) string {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	text := err.Error()
	if strings.HasPrefix(text, "cannot parse `") { // the whole spec, then why
		text = text[strings.LastIndex(text, "`: ")+len("`: "):]
	}
	return c.scrub(text)
}

func (c *config) scrub(text string) string {
	for _, s := range c.secrets {
		text = strings.ReplaceAll(text, s, "***")
	}
	return text
}

// A cleanError is err with another text, without secrets.
type cleanError struct {
	text string
	err  error
}

func (e *cleanError) Error() string        { return e.text }
func (e *cleanError) Is(target error) bool { return errors.Is(e.err, target) }

// clean returns err without secrets, on one line. errors.Is still finds what it wraps;
// nothing can unwrap it to its original text.
func (c *config) clean(err error) error {
	if err == nil {
		return nil
	}
	return &cleanError{fmt.Sprintf("%s: %s", c.name, strings.Join(strings.Fields(c.scrub(err.Error())), " ")), err}
}
