package bot

import (
	"context"
)

// Choose takes what somebody chose at a message of the bot. It returns once that is durable,
// and what they alone are told: "" where they see it by the message itself. The same choice
// again changes nothing.
//
// An error means that nothing is known to be stored; the person may choose again.
func (b *Bot) Choose(ctx context.Context, c Chosen) (private string, err error) {
	return "", nil
}
