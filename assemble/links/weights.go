package links

import (
	_ "embed"
	"strconv"
	"strings"
)

//go:embed weights.txt
var weightsText string

// weights holds a hundredth of what each feature adds to a score, in the order of blocks:
// learned by train_test.go, see docs/decisions/082-links.md.
var weights = func() []int16 {
	var out []int16
	for line := range strings.Lines(weightsText) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for field := range strings.FieldsSeq(line) {
			n, err := strconv.ParseInt(field, 10, 16)
			if err != nil {
				panic(err) // TestTune writes whole numbers
			}
			out = append(out, int16(n))
		}
	}
	return out
}()
