package earshot

import (
	"context"
	"errors"
	"time"
)

// ErrFenced is returned for a write under a lease that another replica has
// taken over. The caller stops and posts nothing.
var ErrFenced = errors.New("the lease was taken over")

// A Lease is the right to answer in one conversation until a time. Each claim
// raises the fence, and every write of a turn carries it.
type Lease struct {
	Conversation ConversationID
	Owner        string
	Fence        int64
	Until        Time
}

// Leases let one replica at a time answer in a conversation.
type Leases interface {
	// Claim takes the lease of one conversation and returns its unfinished turns, but
	// those that wait, in order; the first of them becomes Claimed, and is the next one of
	// the conversation (see Queue). Of the agent's conversations whose lease nobody holds
	// at now (not even this owner), it takes the one whose next turn is the oldest. A lease that ends more than half
	// an hour after now + hold counts as free: it was written by a clock that has
	// been set back since. ErrNotFound when there is nothing to do.
	Claim(ctx context.Context, agent AgentID, owner string, now Time, hold time.Duration) (Lease, []QueuedTurn, error)
	// Renew extends the lease until now + hold.
	Renew(ctx context.Context, l Lease, now Time, hold time.Duration) (Lease, error)
	// Release gives the lease back. Nobody can claim the conversation before
	// notBefore; zero means at once. Releasing a lease that another owner has
	// taken over is no error.
	Release(ctx context.Context, l Lease, notBefore Time) error
}
