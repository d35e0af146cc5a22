// Package voice names recordings that people make in a chat. Platforms give them all the
// same file name; what tells them apart is how long they are.
package voice

import (
	"fmt"
	"time"
)

// maxLength is what a length is believed to be at most.
const maxLength = 24 * time.Hour

// Name returns what a recording is called: "voice message, 0:14". A length of 0 is not
// known.
func Name(length time.Duration) string {
	if length <= 0 || length > maxLength {
		return "voice message"
	}
	s := max(1, int(length.Round(time.Second)/time.Second))
	return fmt.Sprintf("voice message, %d:%02d", s/60, s%60)
}
