package earshot

import "context"

// A PostState is how far a post has come. Planned and Sending are written before
// the platform is called. A post that a restarted process finds as Sending
// becomes Ambiguous.
type PostState string

// The states of a post.
const (
	PostPlanned   PostState = "planned"
	PostSending   PostState = "sending"
	PostSent      PostState = "sent"
	PostAmbiguous PostState = "ambiguous"
	PostFailed    PostState = "failed"
)

// A Post is one visible message of a turn. (Turn, Chunk) identifies it.
type Post struct {
	Turn    TurnID
	Chunk   int    // from 0
	Key     string // opaque, unique within the channel; sent to the platform as metadata or nonce
	Text    string // "" when it was erased
	State   PostState
	Message MessageID // the platform's id, once it was sent
	Tries   int
	Updated Time // by the store's clock
}

// An Arrival is one of the agent's own messages as the platform shows it, with
// the key of the post that became it.
type Arrival struct {
	Key     string
	Message Message
}

// An Outbox records each post before the platform is called, so that a restarted
// process knows what may be visible.
type Outbox interface {
	// PutPost writes a post's state. The turn's first post moves the turn to
	// Posting. ErrConflict when a post that was sent would get another state, key
	// or message; its text may change, because a placeholder's does. A caller may
	// post once Sending was written without error.
	PutPost(ctx context.Context, l Lease, p Post) error
	// Posts returns a turn's posts by chunk.
	Posts(ctx context.Context, id TurnID) ([]Post, error)
	// Confirm records that the platform shows the post with this key as message
	// id. The post becomes Sent whatever its state was. Confirm needs no lease
	// because it records a fact. ErrNotFound when there is no such post,
	// ErrConflict when it was sent as another message.
	Confirm(ctx context.Context, s Scope, key string, id MessageID) error
	// Posted returns the turn whose post became this message, or ErrNotFound.
	Posted(ctx context.Context, s Scope, id MessageID) (QueuedTurn, error)
}
