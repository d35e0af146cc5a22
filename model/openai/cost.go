package openai

import (
	"math"
	"strings"

	"github.com/earshot-ai/earshot/model"
)

// FileTokens returns what a model charges for a file; 0 for a type that has no
// formula. It is pure.
//
// Older models cut a picture into tiles of 512 × 512 pixels, once it is scaled to
// 2,048 × 2,048 and a shorter edge of 768, and charge for each, and once for the
// picture. Newer ones cover it with patches of 32 × 32 pixels, at most so many,
// and charge for each a factor of their own
// (https://developers.openai.com/api/docs/guides/images-vision, calculating
// costs). For a PDF the model gets the text and a picture of each page
// (https://developers.openai.com/api/docs/guides/pdf-files); no figure stands
// there, so a page is taken to be 850 × 1,100 pixels and 800 tokens of text. A
// second of a recording costs about 10 tokens
// (https://developers.openai.com/api/docs/guides/realtime-costs).
func FileTokens(name string, f model.File) int {
	switch {
	case strings.HasPrefix(f.Type, "image/"):
		return visionOf(name).cost(f.Width, f.Height)
	case f.Type == "application/pdf":
		return max(1, f.Pages) * (visionOf(name).cost(850, 1100) + 800)
	case strings.HasPrefix(f.Type, "audio/"):
		return f.Seconds() * 10
	}
	return 0
}

// A vision is how a model charges for pictures: by tiles, or by patches where
// most is set.
type vision struct {
	base, tile int
	most       int     // patches
	factor     float64 // tokens a patch
}

// visions are those of the models, by the beginnings of their names; the first
// that fits counts.
var visions = []struct {
	name string
	vision
}{
	{"gpt-4o-mini", vision{base: 2833, tile: 5667}},
	{"gpt-4.1-mini", vision{most: 1536, factor: 1.62}},
	{"gpt-4.1-nano", vision{most: 1536, factor: 2.46}},
	{"o4-mini", vision{most: 1536, factor: 1.72}},
	{"gpt-5-mini", vision{most: 1536, factor: 1.62}},
	{"gpt-5-nano", vision{most: 1536, factor: 2.46}},
	{"gpt-5.4-mini", vision{most: 1536, factor: 1.62}},
	{"gpt-5.4-nano", vision{most: 1536, factor: 2.46}},
	{"gpt-4", vision{base: 85, tile: 170}},
	{"o1", vision{base: 75, tile: 150}},
	{"o3", vision{base: 75, tile: 150}},
	{"gpt-5.1", vision{base: 70, tile: 140}},
	{"gpt-5.2", vision{most: 1536, factor: 1}},
	{"gpt-5.3", vision{most: 1536, factor: 1}},
	{"gpt-5.", vision{most: 2500, factor: 1}},
	{"gpt-5", vision{base: 70, tile: 140}},
	{"gpt-", vision{most: 2500, factor: 1}},
	{"", vision{base: 85, tile: 170}}, // a server's own
}

func visionOf(name string) vision {
	for _, s := range visions {
		if strings.HasPrefix(name, s.name) {
			return s.vision
		}
	}
	return vision{}
}

func (s vision) cost(width, height int) int {
	width, height = max(1, width), max(1, height)
	if s.most > 0 {
		return int(math.Ceil(float64(s.patches(width, height)) * s.factor))
	}
	w, h := float64(width), float64(height)
	if long := max(w, h); long > 2048 {
		w, h = w*2048/long, h*2048/long
	}
	if short := min(w, h); short > 768 {
		w, h = w*768/short, h*768/short
	}
	return s.base + s.tile*int(math.Ceil(w/512)*math.Ceil(h/512))
}

// patches returns how many patches cover a picture, scaled down so that they are
// not too many, to a whole number of them in one direction.
func (s vision) patches(width, height int) int {
	const side = 32.0
	w, h := float64(width)/side, float64(height)/side
	n := math.Ceil(w) * math.Ceil(h)
	if most := float64(s.most); n > most {
		shrink := math.Sqrt(most / (w * h))
		shrink *= min(math.Floor(w*shrink)/(w*shrink), math.Floor(h*shrink)/(h*shrink))
		n = min(math.Ceil(w*shrink-1e-9)*math.Ceil(h*shrink-1e-9), most)
	}
	return max(1, int(n))
}
