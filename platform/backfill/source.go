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
// Each call makes one request of the platform and decodes the answer.
// A refusal is a [*LimitError], a [*ScopeError] or wraps [ErrNotThere]; other
// errors count as failures that may pass. No error may hold a token or a URL. A
// Source must not wait for rate limits: [Options.Tier] says how often it is
// called, and after a LimitError it is not called for that long.
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
// and never zero. What does not fit the limit is read with the cursor of the page
// and the same window.
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
	Messages []HistoryMessage
	// Beside are messages from outside the window that came with it. What is new of
	// those that are stored is taken over: edits, and reactions taken back, that were
	// missed. The others are left out, since nothing is known of what stands between.
	Beside []HistoryMessage
	// NewestFirst says that the window's first page has its newest messages.
	// Slack's replies begin with the oldest ([RootSource]), all other history with
	// the newest. It must be set on an empty page too.
	NewestFirst bool
	// Cursor leads to the window's next page; "" when there is none.
	Cursor string
	// More says that the window has messages that the page does not show, also where
	// there is no cursor to them. A cursor says so too.
	More bool
	// Hidden says that the platform does not show older messages, as with Slack's
	// free plan (is_limited): what is not on the page may exist.
	Hidden bool
}

// A HistoryMessage is one message of history.
type HistoryMessage struct {
	// Event has the message and, in Raw, its JSON as it came; Client where the
	// platform has it. Delivery, Received and Past are set by backfill.
	// Message.Replies is set on a root that has replies; what the platform does not
	// tell of them is 0.
	earshot.Event
	// Key is the post's key that our own message carries; "" where the platform
	// does not show it.
	Key string
	// Whole says that our own message has its final text, and is not a placeholder
	// that still waits for its answer.
	Whole bool
	// Unread says that the message exists but could not be decoded, or is of a
	// kind that is not stored. Only its id and time are used.
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

// A RootSource is a [Source] whose pages of replies begin with the oldest. It can show
// a thread's root by itself, at the cost of one call of History: Message.Replies shows
// how many replies there are and when the last was said, and so from where the newest
// are to be asked for. Without these methods pages must begin with the newest.
type RootSource interface {
	Root(ctx context.Context, c earshot.Channel, root earshot.MessageID) (Page, error)
	// RootTime returns when a root was said, by its id; 0 where ids do not tell.
	RootTime(root earshot.MessageID) earshot.Time
}
