package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/caarlos0/env/v11"

	"github.com/earshot-ai/earshot/internal/daemon/providers"
	"github.com/earshot-ai/earshot/secret"
)

// Load returns the defaults, overridden by the file at path ("": none) and by the
// environment, in the form of os.Environ. An empty variable counts as not set, and
// white space around a secret does not count. The
// error joins every problem, each in one line with its key and the remedy; the
// settings that could be read are returned too.
func Load(path string, environ []string) (Config, error) {
	c, _, err := LoadSources(path, environ)
	return c, err
}

// Sources say where settings come from, by their keys: a place in the file (file:line) or a
// variable. Keys that they do not have are those with the default.
type Sources map[string]string

// LoadSources is [Load], and says where each setting comes from.
func LoadSources(path string, environ []string) (Config, Sources, error) {
	c, sources := Default(), Sources{}
	var problems []error
	if path != "" {
		data, err := os.ReadFile(path)
		if err != nil {
			return c, sources, fmt.Errorf("read the configuration: %w", err)
		}
		problems = readYAML(path, data, &c, sources)
	}
	vars := map[string]string{}
	for _, kv := range environ {
		if k, v, ok := strings.Cut(kv, "="); ok && v != "" {
			vars[k] = v
		}
	}
	for _, g := range gone {
		if vars[g.variable] != "" {
			c.Gone = append(c.Gone, fmt.Sprintf("%s %s", g.variable, g))
		}
	}
	problems = append(problems, readSecretFiles(vars)...)
	problems = append(problems, trimSecrets(vars)...)
	problems = append(problems, readEnv(vars, &c)...)
	sources.addVariables("", reflect.TypeFor[Config](), vars)
	c.Keys.Providers = providerKeys(vars)
	problems = append(problems, readNamed(&c.Tools, vars)...)
	return c, sources, errors.Join(append(problems, c.Check()...)...)
}

// addVariables adds the settings whose variables are set.
func (s Sources) addVariables(path string, t reflect.Type, vars map[string]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		key := f.Tag.Get("yaml")
		if name := f.Tag.Get("env"); name != "" && vars[name] != "" {
			s[joinPath(path, key)] = name
		} else if f.Type.Kind() == reflect.Struct && key != "-" {
			s.addVariables(joinPath(path, key), f.Type, vars)
		}
	}
}

// readEnv sets the fields whose variables are set.
func readEnv(vars map[string]string, c *Config) []error {
	err := env.ParseWithOptions(c, env.Options{Environment: vars})
	if err == nil {
		return nil
	}
	var all env.AggregateError
	if !errors.As(err, &all) {
		return []error{err}
	}
	var problems []error
	names := envVariables()
	for _, err := range all.Errors {
		var p env.ParseError
		if !errors.As(err, &p) {
			problems = append(problems, err)
			continue
		}
		// The error's text has the value, which may be a secret in the wrong place.
		problems = append(problems, fmt.Errorf("%s: must be %s", names[p.Name+" "+p.Type.String()], kindWord(p.Type)))
	}
	return problems
}

// providerKeys returns the keys and URLs of providers that are set; nil for none.
func providerKeys(vars map[string]string) map[string]ProviderKey {
	var keys map[string]ProviderKey
	for _, p := range providers.All {
		k := ProviderKey{Key: secret.New(vars[p.Key]), URL: vars[p.URL]}
		if k == (ProviderKey{}) {
			continue
		}
		if keys == nil {
			keys = map[string]ProviderKey{}
		}
		keys[p.Name] = k
	}
	return keys
}

// secretVariables are the variables that hold secrets.
func secretVariables() []string {
	names := providers.KeyVariables()
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Keys]()) {
		if f.Type == reflect.TypeFor[secret.Secret]() {
			names = append(names, f.Tag.Get("env"))
		}
	}
	return names
}

// envVariables maps a field's name and type to its variable, or to several where
// fields have the same name.
func envVariables() map[string]string {
	names := map[string]string{}
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		for i := range t.NumField() {
			f := t.Field(i)
			if name := f.Tag.Get("env"); name != "" {
				key := f.Name + " " + f.Type.String()
				if names[key] != "" {
					name = names[key] + " or " + name
				}
				names[key] = name
			} else if f.Type.Kind() == reflect.Struct {
				walk(f.Type)
			}
		}
	}
	walk(reflect.TypeFor[Config]())
	return names
}

// kindWord describes the values of a type.
func kindWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a block of keys"
	}
	return "a text"
}

// trimSecrets removes the white space around secrets, such as the line break that echo
// adds, and refuses a service's key that has more in it than itself.
func trimSecrets(vars map[string]string) []error {
	var problems []error
	for _, name := range secretVariables() {
		if vars[name] == "" {
			continue
		}
		if vars[name] = strings.TrimSpace(vars[name]); vars[name] == "" {
			delete(vars, name)
			continue
		}
		if strings.HasPrefix(name, "EARSHOT_") && strings.HasSuffix(name, "_TOKEN") { // of the operator's own choice
			continue
		}
		alone := strings.TrimPrefix(vars[name], "Bot ") // of which CheckDiscordKeys says more
		if flaw := secret.New(alone).Flaw(); flaw != "" {
			remedy := "set it to the key alone, as the service shows it"
			if name == otelHeaders {
				remedy = "write a space as %20, and name=value,name=value without quotes"
			}
			problems = append(problems, fmt.Errorf("%s: %s; %s", name, flaw, remedy))
		}
	}
	return problems
}

// readSecretFiles reads the secrets whose variable with _FILE appended names a
// file.
func readSecretFiles(vars map[string]string) []error {
	var problems []error
	for _, name := range secretVariables() {
		path, ok := vars[name+"_FILE"]
		if !ok {
			continue
		}
		if vars[name] != "" {
			problems = append(problems, fmt.Errorf("%s: %s_FILE is set too; unset one of them", name, name))
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			problems = append(problems, fmt.Errorf("%s_FILE: %w", name, err))
			continue
		}
		vars[name] = strings.TrimSpace(string(text))
		if vars[name] == "" {
			problems = append(problems, fmt.Errorf("%s_FILE: %s is empty", name, path))
		}
	}
	return problems
}
