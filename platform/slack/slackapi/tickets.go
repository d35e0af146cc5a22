package slackapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/earshot-ai/earshot"
)

// A turn that could not wait for its post may be continued by another process. The
// moment that is kept for it is therefore stored too: as the moment before which
// nothing can be booked under the ticket's own key.

// ticketRate makes a key hold a moment: what is booked begins at it.
var ticketRate = earshot.Rate{Every: time.Microsecond, Burst: 1}

func (s *sharedRates) ticket(ticket string) string {
	sum := sha256.Sum256([]byte(ticket)) // it can be longer than a key
	return "slack " + s.app + " ticket " + hex.EncodeToString(sum[:16])
}

// remember stores the moment that is kept for a ticket. p.mu is held by the
// caller, and released while the store works.
func (p *callPacer) remember(ctx context.Context, ticket string, at time.Time) {
	key := p.sharing.ticket(ticket)
	// Without it the answer waits again where another replica posts it.
	_ = p.write(ctx, p.sharing, func(ctx context.Context) error {
		return p.sharing.rates.BlockCalls(ctx, key, ticketRate, earshot.TimeOf(at))
	})
}

// recall takes over the moment that another process has stored for a ticket.
// p.mu is held by the caller, and released while the store works.
func (p *callPacer) recall(ctx context.Context, ticket string) {
	key, lost := p.sharing.ticket(ticket), earshot.TimeOf(p.now().Add(-ticketLife))
	var got earshot.Booking
	err := p.write(ctx, p.sharing, func(ctx context.Context) (err error) {
		got, err = p.sharing.rates.BookCalls(ctx, key, ticketRate, 1, lost)
		return err
	})
	if err == nil && got.From > lost {
		p.tickets[ticket] = got.From.UTC()
	}
}
