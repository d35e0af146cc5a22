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

// ErasedTo returns up to which epoch a conversation's text is erased when
// something that epoch has read is deleted. A summary that covers it goes too,
// and later epochs may have read that. The epochs that are erased end.
func ErasedTo(epoch, current int, covered bool) int {
	if covered {
		return max(epoch, current)
	}
	return epoch
}

// Covers reports whether a summary may tell of what was said at a time.
func Covers(s earshot.Summary, at earshot.Time) bool {
	return (s.From == 0 || s.From <= at) && (s.To == 0 || at <= s.To)
}

// SummaryOutdated is the error for a summary that covers a message which was
// deleted after what the summary was made of.
func SummaryOutdated(gone earshot.MessageID) error {
	return fmt.Errorf("the summary covers message %q, which is deleted: %w", gone, earshot.ErrConflict)
}

// Read returns the messages whose text a committed turn holds: what it shows,
// and what its ledger says is seen, if only as a snippet.
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
