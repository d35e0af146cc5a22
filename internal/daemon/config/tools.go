package config

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/tools/mcpclient"
)

// Tools sets what the bot can do besides reading its channel.
type Tools struct {
	Budget int         `yaml:"budget" env:"EARSHOT_TOOLS_BUDGET" doc:"the most tokens of the descriptions of your own tools in a prompt; above that the model searches them."`
	MCP    []MCPServer `yaml:"mcp" doc:"MCP servers: a list of {name, url or command, args, env, headers, timeout_seconds, allow, deny, approve, channels, users, oauth}. Secrets stand there as ${VARIABLE} only."`
	// Named are the variables that texts of MCP name, as far as they are set.
	Named map[string]secret.Secret `yaml:"-" doc:"of the environment"`
}

// An MCPServer is an MCP server whose tools the bot has. In url, args, env, headers and
// oauth ${NAME} stands for a variable of the environment, or for what the file holds that
// NAME_FILE names.
type MCPServer struct {
	Name           string            `yaml:"name" doc:"stands before the names of its tools: letters, digits, hyphens, single underscores"`
	URL            string            `yaml:"url" doc:"of a server over streamable HTTP"`
	Command        string            `yaml:"command" doc:"of a server that is a program, in place of url; no shell reads it"`
	Args           []string          `yaml:"args" doc:"its arguments"`
	Env            map[string]string `yaml:"env" doc:"its environment, beside PATH, HOME, LANG and TMPDIR"`
	Headers        map[string]string `yaml:"headers" doc:"of each request to url"`
	TimeoutSeconds int               `yaml:"timeout_seconds" doc:"the most seconds of a call; 0: 60"`
	Allow          []string          `yaml:"allow" doc:"the tools that are offered, by the server's names or with *; none: all"`
	Deny           []string          `yaml:"deny" doc:"the tools that are not"`
	Approve        Approve           `yaml:"approve" doc:"default (each that is not marked as reading), always, never, or a list of names"`
	Channels       []string          `yaml:"channels" doc:"the ids of the channels where it is offered; none: all"`
	Users          []string          `yaml:"users" doc:"the ids of the people for whom its tools are called; the model sees them in any case. None: all"`
	OAuth          MCPOAuth          `yaml:"oauth" doc:"client credentials for url"`
}

// An MCPOAuth gets tokens by client credentials.
type MCPOAuth struct {
	TokenURL     string   `yaml:"token_url" doc:"where tokens are had"`
	ClientID     string   `yaml:"client_id" doc:"the client's id"`
	ClientSecret string   `yaml:"client_secret" doc:"its secret, as ${VARIABLE}"`
	Scopes       []string `yaml:"scopes" doc:"what is asked for"`
}

// An Approve is one of the words default, always and never, or names of tools.
type Approve []string

// UnmarshalYAML reads a word or a list of names.
func (a *Approve) UnmarshalYAML(text []byte) error {
	var word string
	if yaml.Unmarshal(text, &word) == nil {
		if w := strings.TrimSpace(word); w != mcpclient.ApproveDefault && w != mcpclient.ApproveAlways && w != mcpclient.ApproveNever {
			return errors.New("no word of approve")
		}
		*a = Approve{strings.TrimSpace(word)}
		return nil
	}
	var names []string
	if err := yaml.Unmarshal(text, &names); err != nil {
		return err
	}
	*a = names
	return nil
}

// variable is how a text names a variable.
var variable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// readNamed reads the variables that the texts of tools.mcp name, from vars or from the
// file that NAME_FILE names.
func readNamed(t *Tools, vars map[string]string) []error {
	var problems []error
	t.Named = nil
	seen := map[string]bool{}
	for i := range t.MCP {
		for _, text := range t.MCP[i].texts(fmt.Sprintf("tools.mcp[%d]", i)) {
			for _, m := range variable.FindAllStringSubmatch(text.value, -1) {
				if seen[m[1]] {
					continue
				}
				seen[m[1]] = true
				value, err := readVariable(m[1], vars)
				if err != nil {
					problems = append(problems, fmt.Errorf("%s: %w", text.key, err))
					continue
				}
				if t.Named == nil {
					t.Named = map[string]secret.Secret{}
				}
				t.Named[m[1]] = secret.New(value)
			}
		}
	}
	return problems
}

// readVariable returns a variable's value, or what stands in the file of NAME_FILE.
func readVariable(name string, vars map[string]string) (string, error) {
	path := vars[name+"_FILE"]
	value := strings.TrimSpace(vars[name])
	switch {
	case value != "" && path != "":
		return "", fmt.Errorf("%s and %s_FILE are both set; unset one of them", name, name)
	case value != "":
		return value, nil
	case path == "":
		return "", fmt.Errorf("the variable %s is not set; set it, or %s_FILE to a file that holds it", name, name)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("%s_FILE: %w", name, err)
	}
	if value = strings.TrimSpace(string(text)); value == "" {
		return "", fmt.Errorf("%s_FILE: %s is empty", name, path)
	}
	return value, nil
}

// A keyedText is a text of the configuration with its key.
type keyedText struct{ key, value string }

// texts returns the texts in which a variable may be named.
func (m MCPServer) texts(at string) []keyedText {
	list := []keyedText{{at + ".url", m.URL}, {at + ".oauth.token_url", m.OAuth.TokenURL}, {at + ".oauth.client_id", m.OAuth.ClientID}, {at + ".oauth.client_secret", m.OAuth.ClientSecret}}
	for i, a := range m.Args {
		list = append(list, keyedText{fmt.Sprintf("%s.args[%d]", at, i), a})
	}
	for _, name := range slices.Sorted(maps.Keys(m.Env)) {
		list = append(list, keyedText{at + ".env." + name, m.Env[name]})
	}
	for _, name := range slices.Sorted(maps.Keys(m.Headers)) {
		list = append(list, keyedText{at + ".headers." + name, m.Headers[name]})
	}
	return list
}

// secretWords are what the names of headers and variables with secrets contain.
var secretWords = []string{"authorization", "cookie", "key", "token", "secret", "password", "credential"}

// checkTools checks the settings of tools.
func (c Config) checkTools(bad problemReport) {
	names := map[string]int{}
	for i, m := range c.Tools.MCP {
		at := fmt.Sprintf("tools.mcp[%d]", i)
		for _, p := range c.Tools.server(m).Check() {
			key, text, _ := strings.Cut(p.Error(), ": ")
			bad(at+"."+key, "%s", text)
		}
		if first, ok := names[m.Name]; ok {
			bad(at+".name", "%q is the name of tools.mcp[%d] too; give each its own", m.Name, first)
		} else {
			names[m.Name] = i
		}
		if m.TimeoutSeconds < 0 || m.TimeoutSeconds > 3600 {
			bad(at+".timeout_seconds", "is %d; use seconds from 1 to 3600, or leave it out for 60", m.TimeoutSeconds)
		}
		for _, text := range m.texts(at) {
			if !variable.MatchString(text.value) && text.value != "" && (text.key == at+".oauth.client_secret" || m.holdsSecret(strings.TrimPrefix(text.key, at+"."))) {
				bad(text.key, "a secret is not read from this file: write ${NAME}, and set the variable NAME or NAME_FILE")
			}
		}
	}
}

// holdsSecret reports whether the value of a key is a secret by its name.
func (m MCPServer) holdsSecret(key string) bool {
	block, name, ok := strings.Cut(strings.ToLower(key), ".")
	if !ok || block != "headers" && block != "env" || strings.HasSuffix(name, "_file") {
		return false
	}
	return slices.ContainsFunc(secretWords, func(w string) bool { return strings.Contains(name, w) })
}

// Servers returns the MCP servers, with what the variables hold.
func (t Tools) Servers() []mcpclient.Server {
	var list []mcpclient.Server
	for _, m := range t.MCP {
		list = append(list, t.server(m))
	}
	return list
}

func (t Tools) server(m MCPServer) mcpclient.Server {
	var used []secret.Secret
	expand := func(text string) string {
		return variable.ReplaceAllStringFunc(text, func(s string) string {
			value, ok := t.Named[s[2:len(s)-1]]
			if !ok {
				return s
			}
			used = append(used, value)
			return value.Reveal()
		})
	}
	all := func(texts map[string]string) map[string]string {
		out := map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			out[name] = expand(texts[name])
		}
		return out
	}
	s := mcpclient.Server{
		Name: m.Name, URL: expand(m.URL), Command: m.Command, Env: all(m.Env), Headers: all(m.Headers), Timeout: time.Duration(max(m.TimeoutSeconds, 0)) * time.Second,
		Allow: m.Allow, Deny: m.Deny, Approve: mcpclient.Approve(m.Approve), Channels: m.Channels, Users: m.Users,
	}
	for _, a := range m.Args {
		s.Args = append(s.Args, expand(a))
	}
	if o := m.OAuth; o.TokenURL != "" || o.ClientID != "" || o.ClientSecret != "" {
		s.OAuth = &mcpclient.OAuth{TokenURL: expand(o.TokenURL), ClientID: expand(o.ClientID), Secret: secret.New(expand(o.ClientSecret)), Scopes: o.Scopes}
	}
	s.Secrets = used
	return s
}
