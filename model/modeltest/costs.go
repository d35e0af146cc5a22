package modeltest

import (
	"testing"

	"github.com/earshot-ai/earshot/model"
)

// A Cost is what a provider's documentation says that a file costs a model, in
// tokens.
type Cost struct {
	model string
	file  model.File
	want  int
}

// Costs returns the cost of a file for a model, in tokens.
func Costs(model string, f model.File, tokens int) Cost { return Cost{model, f, tokens} }

// Picture returns a PNG of a size in pixels.
func Picture(width, height int) model.File {
	return model.File{Type: "image/png", Width: width, Height: height}
}

// FileTokens tests a provider's formula: it must be within 15 % of the documented
// costs, give 0 for a text, which is counted instead, and between 1 and 20,000
// tokens for files of which little is known.
func FileTokens(t *testing.T, tokens func(model string, f model.File) int, documented ...Cost) {
	t.Helper()
	for _, c := range documented {
		got := tokens(c.model, c.file)
		if off := float64(got)/float64(c.want) - 1; off > 0.15 || off < -0.15 {
			t.Errorf("%s: %+v costs %d tokens, the documentation says %d", c.model, c.file, got, c.want)
		}
	}
	if got := tokens("m", model.File{Type: "text/plain", Bytes: 1000}); got != 0 {
		t.Errorf("a text costs %d by a formula; it is counted", got)
	}
	for _, f := range []model.File{Picture(0, 0), Picture(1, 100_000), Picture(100_000, 1), {Type: "application/pdf"}, {Type: "audio/ogg"}} {
		if got := tokens("m", f); got <= 0 || got > 20_000 {
			t.Errorf("%+v costs %d tokens", f, got)
		}
	}
}
