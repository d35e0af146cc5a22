package main

import (
	"os"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/terminal"
	"github.com/earshot-ai/earshot/internal/yamlfile"
)

type policyCmd struct {
	List  policyListCmd  `cmd:"" help:"List the built-in policies."`
	Show  policyShowCmd  `cmd:"" help:"Print a policy with every limit spelled out."`
	Check policyCheckCmd `cmd:"" help:"Check a policy file."`
}

// policyPurposes describes each built-in policy in a line.
var policyPurposes = map[string]string{
	"standard":   "the thread and the channel around it, then only what is new",
	"delta":      "the thread once, then what was said since the last answer",
	"thread":     "the thread's newest messages, rebuilt for every turn",
	"structured": "typed JSON of channel and thread once, then only what is new",
	"window":     "the channel's recent talk as threads, and the reply chain",
	"transcript": "the conversation as turns, addressed ones only",
}

type policyListCmd struct{}

func (c *policyListCmd) Run(a *app) error {
	type row struct {
		Name     string   `json:"name"`
		Purpose  string   `json:"purpose"`
		Sections []string `json:"sections"`
	}
	var rows []row
	for _, p := range assemble.Policies() {
		r := row{Name: p.Name, Purpose: policyPurposes[p.Name]}
		for _, s := range p.First {
			r.Sections = append(r.Sections, string(s.Section))
		}
		rows = append(rows, r)
	}
	if a.json {
		return a.writeJSON(rows)
	}
	t := terminal.NewTable("policy", "what it shows", "sections of a first turn")
	for _, r := range rows {
		t.Row(terminal.Strong(r.Name), r.Purpose, strings.Join(r.Sections, " · "))
	}
	a.printf("%s", t.Render(max(a.width, 140)))
	return nil
}

type policyShowCmd struct {
	Policy string `arg:"" help:"A built-in policy's name, or a file." predictor:"policy"`
}

func (c *policyShowCmd) Run(a *app) error {
	p, err := loadPolicy(c.Policy)
	if err != nil {
		return err
	}
	p = p.WithDefaults()
	if a.json {
		return a.writeJSON(p)
	}
	out, err := yaml.MarshalWithOptions(p, yaml.IndentSequence(true))
	if err != nil {
		return err
	}
	a.printf("%s", out)
	return nil
}

type policyCheckCmd struct {
	File string `arg:"" help:"The policy file, YAML or JSON." type:"path"`
}

func (c *policyCheckCmd) Run(a *app) error {
	p, err := readPolicy(c.File)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(map[string]any{"name": p.Name, "ok": true})
	}
	a.printf("%s: policy %s is fine; use it with `earshot context CHANNEL MESSAGE --policy %s`\n", c.File, p.Name, c.File)
	return nil
}

// loadPolicy returns a built-in policy by name, or reads a file. The empty
// name is the default policy.
func loadPolicy(name string) (assemble.Policy, error) {
	if name == "" {
		return assemble.Standard(), nil
	}
	if p, ok := assemble.ByName(name); ok {
		return p, nil
	}
	if _, err := os.Stat(name); err == nil || strings.ContainsAny(name, "./\\") {
		return readPolicy(name)
	}
	var names []string
	for _, p := range assemble.Policies() {
		names = append(names, p.Name)
	}
	if near := nearestNames(name, names); len(near) > 0 {
		return assemble.Policy{}, usagef("there is no policy %q; did you mean %s?", name, strings.Join(near, " or "))
	}
	return assemble.Policy{}, usagef("there is no policy %q; use one of %s, or a file", name, strings.Join(names, ", "))
}

// readPolicy reads a policy from a YAML or JSON file and checks it. The error has
// every problem of the policy.
func readPolicy(path string) (assemble.Policy, error) {
	p, err := yamlfile.ReadPolicy(path)
	if err != nil {
		return assemble.Policy{}, &usageError{text: err.Error()}
	}
	return p, nil
}
