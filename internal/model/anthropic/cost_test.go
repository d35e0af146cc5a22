package anthropic_test

import (
	"testing"

	"github.com/earshot-ai/earshot/internal/model"
	"github.com/earshot-ai/earshot/internal/model/anthropic"
)

// The provider's documentation has these figures.
func TestFilesCostWhatIsDocumented(t *testing.T) {
	t.Parallel()
	picture := func(w, h int) model.File { return model.File{Type: "image/png", Width: w, Height: h} }
	for _, c := range []struct {
		model string
		file  model.File
		want  int
	}{
		{"claude-haiku-4-5", picture(1000, 1000), 1296},
		{"claude-haiku-4-5", picture(3840, 2160), 1568},
		{"claude-sonnet-4-20250514", picture(1092, 1092), 1590},
		{"claude-sonnet-5-5", picture(1000, 1000), 1296},
		{"claude-opus-4-7", picture(1920, 1080), 2691},
		{"claude-opus-5", picture(3840, 2160), 4784},
		{"claude-opus-5", model.File{Type: "application/pdf", Pages: 3}, 7000},
	} {
		got := anthropic.FileTokens(c.model, c.file)
		if off := float64(got)/float64(c.want) - 1; off > 0.15 || off < -0.15 {
			t.Errorf("%s: %+v costs %d tokens, the documentation says %d", c.model, c.file, got, c.want)
		}
	}
	if got := anthropic.FileTokens("m", model.File{Type: "text/plain", Bytes: 1000}); got != 0 {
		t.Errorf("a text costs %d by a formula; it is counted", got)
	}
	for _, f := range []model.File{picture(0, 0), picture(1, 100_000), picture(100_000, 1), {Type: "application/pdf"}, {Type: "audio/ogg"}} {
		if got := anthropic.FileTokens("m", f); got <= 0 || got > 20_000 {
			t.Errorf("%+v costs %d tokens", f, got)
		}
	}
}
