package slackmsg

import (
	"github.com/earshot-ai/earshot/platform/internal/tolerant"
)

// MaxBytes is the size of the largest JSON that is decoded, in bytes.
const MaxBytes = tolerant.MaxBytes

// What is malformed in Slack's JSON costs itself only.
type value = tolerant.Value

// parse reads one JSON value. The error is ErrTooLarge or ErrSyntax, with the place.
func parse(raw []byte) (v value, deep bool, err error) {
	return tolerant.ParseAs(raw, ErrTooLarge, ErrSyntax)
}
