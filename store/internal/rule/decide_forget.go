package rule

import (
	"slices"

	"github.com/earshot-ai/earshot"
)

// MayBeVisible reports whether a post in this state may have arrived.
func MayBeVisible(s earshot.PostState) bool {
	return s == earshot.PostSending || s == earshot.PostSent || s == earshot.PostAmbiguous
}

// DropAnchored decides about an unfinished turn whose anchor was just deleted: it is
// dropped, unless one of its posts may be visible.
func DropAnchored(q StoredTurn, posts []earshot.PostState, now earshot.Time) Change {
	var c Change
	if !q.State.Final() && !slices.ContainsFunc(posts, MayBeVisible) {
		c.end(q, earshot.TurnDropped, AnchorDeleted, now)
	}
	return c
}

// MessagesRead returns the messages whose text a committed turn holds: those that it
// shows, and those of its ledger that are not out, if only as a snippet.
func MessagesRead(t earshot.Turn) []earshot.MessageID {
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
