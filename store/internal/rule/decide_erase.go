package rule

import (
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
)

// MayBeVisible reports whether a post in this state may have arrived.
func MayBeVisible(s earshot.PostState) bool {
	return s == earshot.PostSending || s == earshot.PostSent || s == earshot.PostAmbiguous
}

// DropAnchored decides about an unfinished turn whose anchor was just deleted: it is
// dropped, unless one of its posts may be visible.
func DropAnchored(q Queued, posts []earshot.PostState, now earshot.Time) Change {
	var c Change
	if !q.State.Final() && !slices.ContainsFunc(posts, MayBeVisible) {
		c.end(q, earshot.TurnDropped, AnchorDeleted, now)
	}
	return c
}

// ErasedTo returns the last epoch whose text is erased when a message that epoch
// has read is deleted. covered says that the summary covers the message: then
// the summary is deleted, and so is the text of all epochs up to the current
// one, since they may have read the summary. The erased epochs end.
func ErasedTo(epoch, current int, covered bool) int {
	if covered {
		return max(epoch, current)
	}
	return epoch
}

// Covers reports whether a summary may contain what was said at a time.
func Covers(s earshot.Summary, at earshot.Time) bool {
	return (s.From == 0 || s.From <= at) && (s.To == 0 || at <= s.To)
}

// SummaryOutdated is the error for a summary that covers a message which was
// deleted after what the summary was made of.
func SummaryOutdated(gone earshot.MessageID) error {
	return fmt.Errorf("the summary covers message %q, which is deleted: %w", gone, earshot.ErrConflict)
}

// Read returns the messages whose text a committed turn holds: those that it
// shows, and those of its ledger that are not out, if only as a snippet.
func Read(t earshot.Turn) []earshot.MessageID {
	ids := []earshot.MessageID{t.Answer.Anchor}
	for _, s := range t.Shown {
		ids = append(ids, s.ID)
	}
	for _, r := range t.Ledger {
		if r.Verdict != earshot.Out {
			ids = append(ids, r.ID)
		}
	}
	return slices.DeleteFunc(IDs(ids), func(id earshot.MessageID) bool { return id == "" })
}
