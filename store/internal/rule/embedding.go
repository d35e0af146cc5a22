package rule

import (
	"fmt"

	"github.com/earshot-ai/earshot"
)

// CheckEmbeddings reports whether embeddings can be stored.
func CheckEmbeddings(model string, list []earshot.Embedding) error {
	if model == "" || len(model) > MaxID {
		return fmt.Errorf("%w: the name of an embedding's model has 1 to %d bytes", earshot.ErrInvalid, MaxID)
	}
	for _, e := range list {
		if len(e.Vector) > earshot.MaxDimensions {
			return fmt.Errorf("%w: the embedding of message %q has %d dimensions, more than %d", earshot.ErrInvalid, e.ID, len(e.Vector), earshot.MaxDimensions)
		}
	}
	return nil
}

// VectorBytes returns a vector as it is stored, a byte to a number.
func VectorBytes(v []int8) []byte {
	out := make([]byte, len(v))
	for i, x := range v {
		out[i] = byte(x)
	}
	return out
}

// VectorOf reads what VectorBytes wrote.
func VectorOf(stored []byte) []int8 {
	if len(stored) == 0 {
		return nil
	}
	out := make([]int8, len(stored))
	for i, x := range stored {
		out[i] = int8(x) //nolint:gosec // a byte is a number from -128 to 127
	}
	return out
}
