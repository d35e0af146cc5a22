package mcpclient

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/secret"
)

// Options set up a [Client]. Zero fields have the defaults.
type Options struct {
	Servers []Server
	Version string       // of the program, which servers are told
	Log     *slog.Logger // nil discards
	// Called is told of each call when it has ended; nil is fine. It must be safe for
	// concurrent use.
	Called func(Called)
	// Offered reports whether a server's tools are offered in a channel, beside what its
	// Channels say; nil: they are. It must be safe for concurrent use, and not block.
	Offered func(server string, c earshot.Channel) bool
	// Environ is the environment of which a child gets PATH, HOME, LANG and TMPDIR, in
	// the form of os.Environ. Default: this process's.
	Environ []string
	Limits  Limits
	// Backoff is the first wait before a server is connected to again; it doubles to a
	// minute. Default: 1 s.
	Backoff time.Duration
	// Again is how often the list of tools is read from a server that does not say that it
	// has changed. Default: 10 minutes.
	Again time.Duration
}

// Limits bound what servers answer. Zero fields have the defaults.
type Limits struct {
	Answer int // bytes of one message of a server; default 16 MiB
	Text   int // bytes of the text of a result; default 64 KiB
	Media  int // bytes of one image or recording; default 5 MiB
	Medias int // images and recordings of a result; default 4
}

// A Called is a call that has ended.
type Called struct {
	Server, Tool string // as in the configuration, and as the server names it
	Took         time.Duration
	Failed       bool
}

// A Server is an MCP server and what holds for its tools.
type Server struct {
	// Name stands before the names of its tools: letters, digits, hyphens, and single
	// underscores between them, at most 24.
	Name string
	URL  string // of streamable HTTP; or Command
	// Command is run without a shell, and spoken to over its standard input and output.
	Command string
	Args    []string
	Env     map[string]string // of the child, beside PATH, HOME, LANG and TMPDIR
	Headers map[string]string // of each HTTP request; all of them are secrets
	OAuth   *OAuth            // over HTTP; nil: none
	// Secrets are struck out of all that the server says and of what is logged, beside
	// headers, the secret of OAuth and those of Env whose names say that they are secrets.
	Secrets []secret.Secret
	Timeout time.Duration // of a call; default a minute
	Allow   []string      // the server's names of the tools that are offered, or globs with *; none: all
	Deny    []string      // of those that are not, whatever Allow says
	Approve Approve
	// Channels are the ids where its tools are offered, and Users those of the people for
	// whom they are called; none: all.
	Channels []string
	Users    []string
}

// An OAuth gets tokens by client credentials.
type OAuth struct {
	TokenURL string
	ClientID string
	Secret   secret.Secret
	Scopes   []string
}

// An Approve says which tools a person has to agree to each call of: [ApproveDefault],
// [ApproveAlways] or [ApproveNever] alone, or the server's names of tools, or globs.
type Approve []string

// The words of an [Approve].
const (
	ApproveDefault = "default" // those that are not marked as reading; also where nothing is set
	ApproveAlways  = "always"
	ApproveNever   = "never"
)

// needs reports whether a tool needs a person's yes.
func (a Approve) needs(tool string, reads bool) bool {
	if len(a) == 0 {
		return !reads
	}
	if len(a) == 1 {
		switch a[0] {
		case ApproveDefault:
			return !reads
		case ApproveAlways:
			return true
		case ApproveNever:
			return false
		}
	}
	return matchesAny(a, tool)
}

// matchesAny reports whether a name is one of some, in which * stands for any text.
func matchesAny(globs []string, name string) bool {
	for _, g := range globs {
		if matches(g, name) {
			return true
		}
	}
	return false
}

func matches(glob, name string) bool {
	parts := strings.Split(glob, "*")
	if len(parts) == 1 {
		return glob == name
	}
	rest, ok := strings.CutPrefix(name, parts[0])
	if !ok {
		return false
	}
	last := len(parts) - 1
	for _, p := range parts[1:last] {
		_, after, found := strings.Cut(rest, p)
		if !found {
			return false
		}
		rest = after
	}
	return strings.HasSuffix(rest, parts[last])
}

// mostName is how long the name of a server may be.
const mostName = 24

// A server's name has no two underscores in a row and none at its ends, so that what
// stands before the first two underscores of a tool's name is the server.
var serverName = regexp.MustCompile(`^[A-Za-z0-9-]+(_[A-Za-z0-9-]+)*$`)

// Check returns what is wrong with a server, or nil. Each problem begins with the field
// as a configuration has it, and ends with the remedy.
func (s Server) Check() []error {
	var problems []error
	bad := func(field, format string, args ...any) {
		problems = append(problems, fmt.Errorf("%s: %s", field, fmt.Sprintf(format, args...)))
	}
	if !serverName.MatchString(s.Name) || len(s.Name) > mostName {
		bad("name", "%q cannot stand before a tool's name; use letters, digits, hyphens and single underscores between them, at most %d", s.Name, mostName)
	}
	switch {
	case s.URL == "" && s.Command == "":
		bad("url", "is missing; set url, or command for a server that is a program")
	case s.URL != "" && s.Command != "":
		bad("command", "stands beside url; keep one of them")
	case s.URL != "":
		if u, err := url.Parse(s.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			bad("url", "is not of the form https://host/path") // it may hold a secret: it is not repeated
		}
	}
	if s.URL != "" && (len(s.Args) > 0 || len(s.Env) > 0) {
		bad("args", "and env are for command; a server at a url has headers")
	}
	if s.Command != "" && (len(s.Headers) > 0 || s.OAuth != nil) {
		bad("headers", "and oauth are for url; a command has args and env")
	}
	for name, value := range s.Headers {
		if strings.ContainsAny(name, " \t\r\n:") || name == "" || strings.ContainsAny(value, "\r\n") {
			bad("headers", "%q is no header; write one line for each", name)
		}
	}
	if o := s.OAuth; o != nil {
		if u, err := url.Parse(o.TokenURL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			bad("oauth.token_url", "is not of the form https://host/path")
		}
		if o.ClientID == "" || o.Secret.Empty() {
			bad("oauth.client_id", "and oauth.client_secret must both be set")
		}
	}
	if s.Timeout < 0 || s.Timeout > time.Hour {
		bad("timeout_seconds", "is %g; use seconds from 1 to 3600", s.Timeout.Seconds())
	}
	if len(s.Approve) > 1 {
		for _, a := range s.Approve {
			if a == ApproveDefault || a == ApproveAlways || a == ApproveNever {
				bad("approve", "%q stands among names; write it alone, or names only", a)
			}
		}
	}
	return problems
}

// withDefaults returns the options with their defaults, or what is wrong with them.
func (o Options) withDefaults() (Options, error) {
	var problems []error
	seen := map[string]bool{}
	for i, s := range o.Servers {
		for _, p := range s.Check() {
			problems = append(problems, fmt.Errorf("servers[%d].%w", i, p))
		}
		if seen[s.Name] {
			problems = append(problems, fmt.Errorf("servers[%d].name: %q is the name of two servers; give each its own", i, s.Name))
		}
		seen[s.Name] = true
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Backoff <= 0 {
		o.Backoff = time.Second
	}
	if o.Again <= 0 {
		o.Again = 10 * time.Minute
	}
	for _, d := range []struct {
		field    *int
		standard int
	}{{&o.Limits.Answer, 16 << 20}, {&o.Limits.Text, 64 << 10}, {&o.Limits.Media, 5 << 20}, {&o.Limits.Medias, 4}} {
		if *d.field <= 0 {
			*d.field = d.standard
		}
	}
	return o, errors.Join(problems...)
}
