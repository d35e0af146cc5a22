package gemini_test

import (
	"testing"

	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/gemini"
	"github.com/earshot-ai/earshot/model/modeltest"
)

// The provider's documentation has these figures.
func TestFilesCostWhatIsDocumented(t *testing.T) {
	t.Parallel()
	modeltest.FileTokens(t, gemini.FileTokens,
		modeltest.Costs("gemini-2.5-flash", modeltest.Picture(384, 384), 258),
		modeltest.Costs("gemini-2.5-flash", modeltest.Picture(960, 540), 6*258),
		modeltest.Costs("gemini-2.5-pro", model.File{Type: "application/pdf", Pages: 10}, 2580),
		modeltest.Costs("gemini-3.8-flash", modeltest.Picture(1024, 1024), 1120),
		modeltest.Costs("gemini-3.8-flash", model.File{Type: "application/pdf", Pages: 10}, 5600),
		modeltest.Costs("gemini-3.8-flash", model.File{Type: "audio/mpeg", Bytes: 60 * 16_000}, 1920),
	)
}
