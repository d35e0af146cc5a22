package backfill

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
)

// A Source is a platform's history. It is safe for concurrent use.
//
// It makes one request of the platform for each call, and decodes what comes.
// The error is a [*LimitError], a [*ScopeError] or [ErrNotThere] where it is
// one of these, and holds neither a token nor a URL. A Source need not wait for
// limits: [Options] says how often it is asked, and a LimitError how long it is
// left alone.
type Source interface {
	// Replies reads the replies of the thread that root begins, within the
	// window. The root itself may stand in any page, also outside of the
	// window, and is not counted: Slack's conversations.replies puts it there.
	Replies(ctx context.Context, c earshot.Channel, root earshot.MessageID, w Window) (Page, error)
	// History reads what stands at the channel's top level within the window:
	// roots, with Message.Replies where they have replies, and no replies but
	// those that the platform shows in both places (Slack's thread_broadcast).
	History(ctx context.Context, c earshot.Channel, w Window) (Page, error)
}

// A Window is a stretch of history that is asked for. Both ends are inclusive
// and never zero. What is between them and does not fit the limit is reached by
// the cursor that a page gives, with the same window.
type Window struct {
	Oldest earshot.Time
	Latest earshot.Time
	Cursor string // "" for the first page
	Limit  int    // messages of a page at most; the platform may give fewer
}

// A Page is what one request brought.
type Page struct {
	// Messages are those of the page, in the order of Position or against it;
	// a thread's root may be anywhere.
	Messages []Found
	// NewestFirst says from which end of the window pages come: Slack's
	// replies begin with the oldest, all other history with the newest. It is
	// set on an empty page too.
	NewestFirst bool
	// Cursor leads to the window's next page; "" when there is none.
	Cursor string
	// Hidden says that the platform keeps older messages to itself, as Slack's
	// free plan does (is_limited): what is not in the page may exist.
	Hidden bool
}

// A Found is one message of history.
type Found struct {
	// Event has the message and, in Raw, its JSON as it came; Client where the
	// platform tells it. Delivery, Received and Past are set by backfill.
	// Message.Replies tells of a root's replies.
	earshot.Event
	// Key is that of the post that our own message carries; "" when the
	// platform does not say.
	Key string
	// Whole says that our own message has its last text, which is not to be
	// taken from a placeholder that still waits for its answer.
	Whole bool
	// Unread says that the message exists and could not be read, or is none
	// that is kept. Only its id and time are looked at.
	Unread bool
}

// A LimitError is a refusal because of a rate limit.
type LimitError struct {
	Wait time.Duration // until the method may be called again
	Err  error
}

func (e *LimitError) Error() string { return fmt.Sprintf("limited for %s: %v", e.Wait, e.Err) }
func (e *LimitError) Unwrap() error { return e.Err }

// A ScopeError is a refusal because the app lacks a permission.
type ScopeError struct {
	Scope string // what would permit it, such as channels:history
	Err   error
}

func (e *ScopeError) Error() string {
	if e.Scope == "" { // the platform did not name it
		return fmt.Sprintf("a scope is missing: %v", e.Err)
	}
	return fmt.Sprintf("the scope %s is missing: add it to the app and install the app again: %v", e.Scope, e.Err)
}
func (e *ScopeError) Unwrap() error { return e.Err }

// ErrNotThere says that the channel or the thread does not exist, or that the
// agent is no member.
var ErrNotThere = errors.New("not there, or the agent is no member")
