package gemini

import (
	"strings"

	"github.com/earshot-ai/earshot/model"
)

// FileTokens returns what a model charges for a file; 0 for a type that has no
// formula. It is pure.
//
// From Gemini 3 on a picture costs 1,120 tokens and a page of a PDF 560
// (https://ai.google.dev/gemini-api/docs/media-resolution, the default). Before,
// a picture of at most 384 × 384 pixels costs 258, and a larger one as much for
// each of its tiles, whose side is two thirds of its shorter edge
// (https://ai.google.dev/gemini-api/docs/image-understanding); a page of a PDF
// 258 (https://ai.google.dev/gemini-api/docs/document-processing). A second of a
// recording costs 32 (https://ai.google.dev/gemini-api/docs/audio).
func FileTokens(name string, f model.File) int {
	old := strings.Contains(name, "gemini-1") || strings.Contains(name, "gemini-2")
	switch {
	case strings.HasPrefix(f.Type, "image/") && old:
		return countTiles(f.Width, f.Height) * tile
	case strings.HasPrefix(f.Type, "image/"):
		return 1120
	case f.Type == "application/pdf" && old:
		return max(1, f.Pages) * tile
	case f.Type == "application/pdf":
		return max(1, f.Pages) * 560
	case strings.HasPrefix(f.Type, "audio/"):
		return f.Seconds() * 32
	}
	return 0
}

const (
	tile = 258
	// maxTiles bounds a picture's tiles: pan and scan adds about 2,048 tokens.
	maxTiles = 9
)

// countTiles returns how many tiles a picture is cut into.
func countTiles(width, height int) int {
	if width <= 384 && height <= 384 {
		return 1
	}
	side := max(1, min(width, height)*2/3)
	up := func(pixels int) int { return (pixels + side - 1) / side }
	return min(up(width)*up(height), maxTiles)
}
