package openai_test

import (
	"testing"

	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/model/openai"
)

// The provider's documentation has these figures.
func TestFilesCostWhatIsDocumented(t *testing.T) {
	t.Parallel()
	modeltest.FileTokens(t, openai.FileTokens,
		modeltest.Costs("gpt-4o", modeltest.Picture(1024, 1024), 765),
		modeltest.Costs("gpt-4.1", modeltest.Picture(2048, 4096), 1105),
		modeltest.Costs("gpt-5", modeltest.Picture(1024, 1024), 70+4*140),
		modeltest.Costs("gpt-5.2", modeltest.Picture(1024, 1024), 1024),
		modeltest.Costs("gpt-5.2", modeltest.Picture(1800, 2400), 1452),
		modeltest.Costs("gpt-5.4-mini", modeltest.Picture(1024, 1024), 1024*162/100),
		modeltest.Costs("gpt-4.1-nano", modeltest.Picture(1800, 2400), 1452*246/100),
		modeltest.Costs("o4-mini", modeltest.Picture(1024, 1024), 1024*172/100),
	)
}
