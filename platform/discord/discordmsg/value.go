package discordmsg

import (
	"github.com/earshot-ai/earshot/platform/internal/tolerant"
)

// MaxBytes is the size of the largest JSON that is decoded, in bytes.
const MaxBytes = tolerant.MaxBytes

// What is malformed in Discord's JSON costs itself only.
type (
	value  = tolerant.Value
	member = tolerant.Member
)

// parseValue reads one JSON value. The error is ErrTooLarge or ErrSyntax, with the place.
func parseValue(raw []byte) (v value, deep bool, err error) {
	return tolerant.ParseAs(raw, ErrTooLarge, ErrSyntax)
}
