package anthropic_test

import (
	"testing"

	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/anthropic"
	"github.com/earshot-ai/earshot/model/modeltest"
)

// The provider's documentation has these figures.
func TestFilesCostWhatIsDocumented(t *testing.T) {
	t.Parallel()
	modeltest.FileTokens(t, anthropic.FileTokens,
		modeltest.Costs("claude-haiku-4-5", modeltest.Picture(1000, 1000), 1296),
		modeltest.Costs("claude-haiku-4-5", modeltest.Picture(3840, 2160), 1568),
		modeltest.Costs("claude-sonnet-4-20250514", modeltest.Picture(1092, 1092), 1590),
		modeltest.Costs("claude-sonnet-5-5", modeltest.Picture(1000, 1000), 1296),
		modeltest.Costs("claude-opus-4-7", modeltest.Picture(1920, 1080), 2691),
		modeltest.Costs("claude-opus-5", modeltest.Picture(3840, 2160), 4784),
		modeltest.Costs("claude-opus-5", model.File{Type: "application/pdf", Pages: 3}, 7000),
	)
}
