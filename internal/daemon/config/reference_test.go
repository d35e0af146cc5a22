package config_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/daemon/providers"
	"github.com/earshot-ai/earshot/secret"
)

var update = flag.Bool("update", false, "write docs/configuration.md anew")

const referencePath = "../../../docs/configuration.md"

// The page is generated from the struct, so that the two cannot differ.
func TestTheReferenceIsCurrent(t *testing.T) {
	t.Parallel()
	want := reference()
	if *update {
		if err := os.WriteFile(referencePath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(referencePath)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("docs/configuration.md is out of date; run go test ./internal/daemon/config -update\n-got +want\n%s", diff)
	}
}

func TestEverySettingIsDescribed(t *testing.T) {
	t.Parallel()
	var walk func(path string, ty reflect.Type)
	walk = func(path string, ty reflect.Type) {
		for i := range ty.NumField() {
			f := ty.Field(i)
			if f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[secret.Secret]() {
				walk(path+"."+f.Name, f.Type)
			} else if f.Tag.Get("doc") == "" && f.Name != "Fault" && f.Name != "Clock" && f.Name != "Providers" && f.Name != "Gone" { // those are no settings
				t.Errorf("%s.%s has no doc tag", path, f.Name)
			}
		}
	}
	walk("Config", reflect.TypeFor[config.Config]())
}

// A setting that is a URL is refused where it is none, and a number where it is negative.
func TestEachURLAndEachNumberIsChecked(t *testing.T) {
	t.Parallel()
	c := config.Default()
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		for i := range v.NumField() {
			key := v.Type().Field(i).Tag.Get("yaml")
			at, f := strings.TrimPrefix(path+"."+key, "."), v.Field(i)
			was := reflect.ValueOf(f.Interface())
			switch {
			case key == "-":
				continue
			case f.Kind() == reflect.Struct:
				walk(at, f)
				continue
			case strings.HasSuffix(key, "_url"):
				f.SetString("no address")
			case f.Kind() == reflect.Int:
				f.SetInt(-1)
			default:
				continue
			}
			if problems := errors.Join(c.Check()...); problems == nil || !strings.Contains(problems.Error(), at) {
				t.Errorf("%s: %v is not refused", at, f)
			}
			f.Set(was)
		}
	}
	walk("", reflect.ValueOf(&c).Elem())
}

// What can be chosen stands where it is described: the tags and the hand-written page
// are lists that a new platform or provider is easily left out of.
func TestEachChoiceIsNamedWhereItIsDescribed(t *testing.T) {
	t.Parallel()
	named := func(where, text string, choices []string) {
		for _, c := range choices {
			if !strings.Contains(text, c) {
				t.Errorf("%s does not name %s", where, c)
			}
		}
	}
	doc := func(of reflect.Type, field string) string {
		f, _ := of.FieldByName(field)
		return f.Tag.Get("doc")
	}
	named("the setting platform", doc(reflect.TypeFor[config.Config](), "Platform"), config.Platforms)
	named("the setting model.provider", doc(reflect.TypeFor[config.Model](), "Provider"), append(providers.Names(), providers.Offline))
	named("the setting summary.provider", doc(reflect.TypeFor[config.Summary](), "Provider"), providers.Names())
	page, err := os.ReadFile("../../../docs/running.md")
	if err != nil {
		t.Fatal(err)
	}
	named("docs/running.md", string(page), providers.KeyVariables())
	for _, p := range config.Platforms {
		named("docs/running.md", string(page), []string{"earshot serve --platform " + p})
	}
}

func reference() string {
	var b strings.Builder
	b.WriteString(`# Configuration

<!-- Made from internal/daemon/config by: go test ./internal/daemon/config -update -->

Nothing needs to be set. Settings are read from the YAML file that ` + "`--config FILE`" + ` or ` + "`EARSHOT_CONFIG`" + ` names, and from the
environment, which wins over the file. Unknown keys are errors, and every problem is reported at once, with its line.

`)
	def := config.Default()
	var block func(path, about string, v reflect.Value) string
	block = func(path, about string, v reflect.Value) string {
		var rows, below strings.Builder
		for i := range v.NumField() {
			f := v.Type().Field(i)
			key := f.Tag.Get("yaml")
			switch {
			case key == "-":
			case f.Type.Kind() == reflect.Struct:
				below.WriteString(block(strings.TrimPrefix(path+"."+key, "."), f.Tag.Get("doc"), v.Field(i)))
			default:
				fmt.Fprintf(&rows, "| `%s` | %s | %s | %s |\n", strings.TrimPrefix(path+"."+key, "."), code(f.Tag.Get("env")), value(v.Field(i)), f.Tag.Get("doc"))
			}
		}
		if path == "" {
			path, about = "Top level", "keys outside of the blocks"
		} else {
			path = "`" + path + "`"
		}
		return fmt.Sprintf("## %s: %s\n\n| key | variable | default | |\n|---|---|---|---|\n%s\n%s", path, about, rows.String(), below.String())
	}
	b.WriteString(block("", "", reflect.ValueOf(def)))
	b.WriteString("## Secrets and URLs of APIs\n\nThese are read from the environment only. A secret may also be in a file: append `_FILE` to the variable's name and\nset that to the path. Secrets are printed as `***`.\n\n| variable | |\n|---|---|\n")
	row := func(variable, doc string) { fmt.Fprintf(&b, "| `%s` | %s |\n", variable, doc) }
	for _, p := range providers.All {
		row(p.Key, p.KeyDoc)
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[config.Keys]()) {
		if f.Name != "Providers" {
			row(f.Tag.Get("env"), f.Tag.Get("doc"))
		}
	}
	for _, p := range providers.All {
		row(p.URL, p.URLDoc)
	}
	b.WriteString(example)
	return b.String()
}

const example = `
## An example

` + "```yaml" + `
agent:
  name: harbour
  instructions: Answer in one paragraph.
policy: standard
budget: {tokens: 8000}
model:
  provider: anthropic
  fallback: {provider: openai}
  prices:
    claude-sonnet-5-5: {input: 3, output: 15, cache_read: 0.3, cache_write: 3.75}
` + "```" + `

The prices are an example: write what you pay.
`

// The example of the page must be a valid configuration.
func TestTheExampleIsValid(t *testing.T) {
	t.Parallel()
	_, rest, _ := strings.Cut(example, "```yaml\n")
	text, _, _ := strings.Cut(rest, "```")
	c, err := config.Load(write(t, text), nil)
	if err != nil || c.Agent.Name != "harbour" {
		t.Errorf("got %v, %v", c.Agent, err)
	}
}

func code(s string) string {
	if s == "" {
		return ""
	}
	return "`" + s + "`"
}

func value(v reflect.Value) string {
	if v.IsZero() {
		if v.Kind() == reflect.Bool || v.Kind() == reflect.Int {
			return fmt.Sprintf("`%v`", v.Interface())
		}
		return ""
	}
	return fmt.Sprintf("`%v`", v.Interface())
}
