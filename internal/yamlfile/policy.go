package yamlfile

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/earshot-ai/earshot/assemble"
)

// ReadPolicy reads a policy from a file and checks it, as [Policy] does; an error that is
// the text's names the file.
func ReadPolicy(path string) (assemble.Policy, error) {
	text, err := Read(path)
	if err != nil {
		return assemble.Policy{}, err
	}
	p, err := Policy(text)
	if err != nil {
		return assemble.Policy{}, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}

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
	p, problems := w.Read()
	return p, errors.Join(problems...)
}
