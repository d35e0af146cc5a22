package archive

import (
	"errors"
	"math/big"
	"regexp"

	"github.com/earshot-ai/earshot"
)

var errSeconds = errors.New("not a time in seconds")

// decimalForm bounds the exponent, so that a number stays small in memory.
var decimalForm = regexp.MustCompile(`^[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]{1,3})?$`)

// year10000 is the first microsecond that is refused.
var year10000 = big.NewInt(253402300800 * 1_000_000)

// parseSeconds reads a decimal number of seconds since 1970 exactly: as a float64 the last
// digits of a microsecond would be rounded. What is finer than a microsecond is
// dropped. Years beyond 9999 are refused.
func parseSeconds(s string) (earshot.Time, error) {
	if len(s) > 400 || !decimalForm.MatchString(s) {
		return 0, errSeconds
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return 0, errSeconds
	}
	r.Mul(r, big.NewRat(1_000_000, 1))
	v := new(big.Int).Quo(r.Num(), r.Denom())
	if v.Cmp(year10000) >= 0 {
		return 0, errSeconds
	}
	return earshot.Time(v.Int64()), nil
}
