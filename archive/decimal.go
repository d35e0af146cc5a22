package archive

import (
	"errors"
	"strings"

	"github.com/earshot-ai/earshot"
)

var errSeconds = errors.New("not a time in seconds")

// seconds reads a decimal number of seconds since 1970 exactly, digit by
// digit: as a float64 the last digits of a microsecond would be rounded. What
// is finer than a microsecond is dropped. Years beyond 9999 are refused.
func seconds(s string) (earshot.Time, error) {
	mantissa, exp := s, 0
	if i := strings.IndexAny(s, "eE"); i >= 0 {
		mantissa = s[:i]
		n, sign, digits := 0, 1, s[i+1:]
		if digits != "" && (digits[0] == '-' || digits[0] == '+') {
			if digits[0] == '-' {
				sign = -1
			}
			digits = digits[1:]
		}
		if digits == "" || len(digits) > 3 {
			return 0, errSeconds
		}
		for _, c := range []byte(digits) {
			if c < '0' || c > '9' {
				return 0, errSeconds
			}
			n = n*10 + int(c-'0')
		}
		exp = sign * n
	}
	whole, frac, _ := strings.Cut(mantissa, ".")
	if whole == "" || len(whole)+len(frac) > 400 {
		return 0, errSeconds
	}
	const limit = 253402300800 * 1_000_000 // the year 10000
	var v int64
	point := len(whole) + exp + 6 // digits that count, in microseconds
	for i, c := range []byte(whole + frac) {
		if c < '0' || c > '9' {
			return 0, errSeconds
		}
		if i < point {
			if v = v*10 + int64(c-'0'); v >= limit {
				return 0, errSeconds
			}
		}
	}
	for i := len(whole) + len(frac); i < point && v > 0; i++ {
		if v *= 10; v >= limit {
			return 0, errSeconds
		}
	}
	return earshot.Time(v), nil
}
