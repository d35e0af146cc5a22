package gemini_test

import (
	"testing"

	"github.com/earshot-ai/earshot/internal/model"
	"github.com/earshot-ai/earshot/internal/model/gemini"
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
		{"gemini-2.5-flash", picture(384, 384), 258},
		{"gemini-2.5-flash", picture(960, 540), 6 * 258},
		{"gemini-2.5-pro", model.File{Type: "application/pdf", Pages: 10}, 2580},
		{"gemini-3.8-flash", picture(1024, 1024), 1120},
		{"gemini-3.8-flash", model.File{Type: "application/pdf", Pages: 10}, 5600},
		{"gemini-3.8-flash", model.File{Type: "audio/mpeg", Bytes: 60 * 16_000}, 1920},
	} {
		got := gemini.FileTokens(c.model, c.file)
		if off := float64(got)/float64(c.want) - 1; off > 0.15 || off < -0.15 {
			t.Errorf("%s: %+v costs %d tokens, the documentation says %d", c.model, c.file, got, c.want)
		}
	}
	if got := gemini.FileTokens("m", model.File{Type: "text/plain", Bytes: 1000}); got != 0 {
		t.Errorf("a text costs %d by a formula; it is counted", got)
	}
	for _, f := range []model.File{picture(0, 0), picture(1, 100_000), picture(100_000, 1), {Type: "application/pdf"}, {Type: "audio/ogg"}} {
		if got := gemini.FileTokens("m", f); got <= 0 || got > 20_000 {
			t.Errorf("%+v costs %d tokens", f, got)
		}
	}
}
