package assemble_test

import (
	"testing"

	"github.com/earshot-ai/earshot/assemble"
)

// `policy show standard` once printed threads: 5, which the log form has no use
// for.
func TestWithDefaultsSpellsOutLimitsThatHaveAnEffect(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"standard": 0, "window": 5} {
		p, ok := assemble.ByName(name)
		if !ok {
			t.Fatalf("there is no policy %s", name)
		}
		p = p.WithDefaults()
		for _, s := range append(p.First, p.Later...) {
			if s.Section == assemble.Window && s.Threads != want {
				t.Errorf("%s: got threads: %d, want %d", name, s.Threads, want)
			}
		}
	}
}
