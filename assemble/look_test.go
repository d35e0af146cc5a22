package assemble_test

import (
	"testing"

	"github.com/earshot-ai/earshot/assemble"
)

// A section says itself how people are shown it: no page and no terminal has a list of
// its own.
func TestEachSectionSaysHowItIsShown(t *testing.T) {
	t.Parallel()
	for _, name := range assemble.SectionNames() {
		look, ok := name.Look()
		if !ok || look.Means == "" || look.Hue < 1 || look.Hue > 8 || look.ANSI < 1 || look.ANSI > 15 {
			t.Errorf("%s: got %+v, %t", name, look, ok)
		}
		if name.Source() != assemble.SourceNone && look.Shown == "" {
			t.Errorf("%s shows messages, and does not say why", name)
		}
	}
	if look, ok := assemble.SectionName("none").Look(); ok {
		t.Errorf("of an unknown section: got %+v", look)
	}
}
