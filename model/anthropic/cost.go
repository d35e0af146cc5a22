package anthropic

import (
	"strings"

	"github.com/earshot-ai/earshot/model"
)

// FileTokens returns what a model charges for a file; 0 for a type that has no
// formula. It is pure.
//
// A picture costs a token for each patch of 28 × 28 pixels, after it was scaled
// down to the model's bounds: 1,568 pixels and tokens, or 2,576 pixels and 4,784
// tokens from Claude 4.7 on
// (https://platform.claude.com/docs/en/build-with-claude/vision). Before, the
// same page had (width × height) / 750. A page of a PDF is a picture and its
// text; three cost about 7,000 tokens
// (https://platform.claude.com/docs/en/build-with-claude/pdf-support). Of a
// recording the model gets a line.
func FileTokens(name string, f model.File) int {
	switch {
	case strings.HasPrefix(f.Type, "image/"):
		edge, most := 2576, 4784
		if isStandardResolution(name) {
			edge, most = 1568, 1568
		}
		return countPatches(f.Width, f.Height, edge, most)
	case f.Type == "application/pdf":
		return max(1, f.Pages) * 7000 / 3
	case strings.HasPrefix(f.Type, "audio/"):
		return 30
	}
	return 0
}

// isStandardResolution reports whether a model sees pictures in the lower resolution. Of
// names that are not known here the dearer is assumed.
func isStandardResolution(name string) bool {
	for _, s := range []string{"claude-2", "claude-3", "-4-0", "-4-1", "-4-5", "-4-6", "opus-4-2", "sonnet-4-2"} {
		if strings.Contains(name, s) {
			return true
		}
	}
	return false
}

// countPatches returns how many patches cover a picture that was scaled down until
// its longer edge and their number are within bounds.
func countPatches(width, height, edge, most int) int {
	const side = 28
	if width <= 0 || height <= 0 {
		return most
	}
	up := func(pixels float64) int { return max(1, (int(pixels)+side-1)/side) }
	scale := min(1, float64(edge)/float64(max(width, height)))
	for {
		n := up(float64(width)*scale) * up(float64(height)*scale)
		if n <= most {
			return n
		}
		scale *= 0.998
	}
}
