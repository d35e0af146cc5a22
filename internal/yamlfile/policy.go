package yamlfile

import (
	"errors"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/earshot-ai/earshot/assemble"
)

// Policy reads the text of a policy file, YAML or JSON, and checks it. The error has
// every problem of the policy, each on a line of its own.
func Policy(text []byte) (assemble.Policy, error) {
	if err := Check(text); err != nil {
		return assemble.Policy{}, err
	}
	var w assemble.WrittenPolicy
	if err := yaml.UnmarshalWithOptions(text, &w, yaml.Strict()); err != nil {
		what, _, _ := strings.Cut(err.Error(), "\n") // an excerpt of the text follows
		return assemble.Policy{}, errors.New(what)
	}
	p := w.Read()
	return p, errors.Join(p.Check()...)
}
