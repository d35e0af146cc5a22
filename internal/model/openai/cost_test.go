package openai_test

import (
	"testing"

	"github.com/earshot-ai/earshot/internal/model"
	"github.com/earshot-ai/earshot/internal/model/openai"
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
		{"gpt-4o", picture(1024, 1024), 765},
		{"gpt-4.1", picture(2048, 4096), 1105},
		{"gpt-5", picture(1024, 1024), 70 + 4*140},
		{"gpt-5.2", picture(1024, 1024), 1024},
		{"gpt-5.2", picture(1800, 2400), 1452},
		{"gpt-5.4-mini", picture(1024, 1024), 1024 * 162 / 100},
		{"gpt-4.1-nano", picture(1800, 2400), 1452 * 246 / 100},
		{"o4-mini", picture(1024, 1024), 1024 * 172 / 100},
	} {
		got := openai.FileTokens(c.model, c.file)
		if off := float64(got)/float64(c.want) - 1; off > 0.15 || off < -0.15 {
			t.Errorf("%s: %+v costs %d tokens, the documentation says %d", c.model, c.file, got, c.want)
		}
	}
	if got := openai.FileTokens("m", model.File{Type: "text/plain", Bytes: 1000}); got != 0 {
		t.Errorf("a text costs %d by a formula; it is counted", got)
	}
	for _, f := range []model.File{picture(0, 0), picture(1, 100_000), picture(100_000, 1), {Type: "application/pdf"}, {Type: "audio/ogg"}} {
		if got := openai.FileTokens("m", f); got <= 0 || got > 20_000 {
			t.Errorf("%+v costs %d tokens", f, got)
		}
	}
}
