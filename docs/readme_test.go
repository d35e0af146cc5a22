package docs_test

import (
	"os"
	"strings"
	"testing"
)

// The README's Go code is a part of an example that CI compiles and runs.
func TestTheReadmesGoCodeIsAnExamples(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	example, err := os.ReadFile("../examples/assemble/main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, code, found := strings.Cut(string(readme), "```go\n")
	code, _, closed := strings.Cut(code, "```")
	if !found || !closed || strings.Count(code, "\n") < 10 {
		t.Fatalf("the README has no block of Go code, or a short one: %q", code)
	}
	var dedented strings.Builder
	for line := range strings.Lines(string(example)) {
		dedented.WriteString(strings.TrimPrefix(line, "\t"))
	}
	if !strings.Contains(dedented.String(), code) {
		t.Errorf("examples/assemble/main.go does not have the README's code:\n%s", code)
	}
}
