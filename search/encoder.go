package search

import (
	"context"
	"math"

	"github.com/earshot-ai/earshot"
)

// An Encoder turns texts into vectors: the closer the meaning of two texts, the closer
// the directions of their vectors. Package model/embed has one that asks a server.
type Encoder interface {
	// Name names the model and its dimensions. Vectors under different names are not
	// compared; what is stored under another name is made again.
	Name() string
	// Encode returns a vector for each text, in their order, all of one length, at most
	// [earshot.MaxDimensions]. A nil vector stands for a text that it refuses for good.
	// Some models want to know whether texts are queries.
	Encode(ctx context.Context, texts []string, queries bool) ([][]float32, error)
}

// quantise returns a vector's direction as [earshot.Embedding] has it; nil for one without
// a direction, or of more than [earshot.MaxDimensions] numbers. Numbers of a unit vector
// of many dimensions are small: scaled by the largest, more is left of the small ones.
func quantise(v []float32) []int8 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) || len(v) > earshot.MaxDimensions {
		return nil
	}
	most := 0.0
	for _, x := range v {
		most = max(most, math.Abs(float64(x)))
	}
	out := make([]int8, len(v))
	for i, x := range v {
		out[i] = int8(math.Round(float64(x) / most * 127))
	}
	return out
}

// alike returns the cosine of the angle between two vectors; 0 where their lengths
// differ.
func alike(a, b []int8) float64 {
	if len(a) != len(b) {
		return 0
	}
	var dot, aa, bb int64
	for i := range a {
		x, y := int64(a[i]), int64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return float64(dot) / math.Sqrt(float64(aa)*float64(bb))
}
