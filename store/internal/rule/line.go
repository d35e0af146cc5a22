package rule

import (
	"fmt"

	"github.com/earshot-ai/earshot"
)

// The queue is decided here, and nowhere else. A store loads the little that a
// decision takes, calls the function that is named like the method of
// [earshot.Queue], and applies the [Change] that it returns, all in one
// transaction. [earshot.ErrConflict] and [earshot.ErrFenced] are made here only.
//
// What a store writes for many rows at once stays SQL of its own: claims, and
// the erasure of what is deleted. What it means stands here too, as a function
// that the memory store uses and as the SQL that the others share.

// The states of a turn as conditions. UnfinishedSQL is, word for word, the
// condition of the index queued_turn_unfinished.
const (
	UnfinishedSQL = `state IN ('open', 'claimed', 'generating', 'posting')`
	BegunSQL      = `state IN ('generating', 'posting')`
	FinalSQL      = `state IN ('done', 'failed', 'parked', 'dropped')`
)

// Begun reports whether a turn in this state has its prompt and is not final.
func Begun(s earshot.TurnState) bool {
	return s == earshot.TurnGenerating || s == earshot.TurnPosting
}

// A Queued is a turn as a store keeps it. From is the conversation's epoch when
// the turn began, Epoch the one in which it will be committed; both are -1
// before. A store may leave Input out of what it loads.
type Queued struct {
	earshot.QueuedTurn
	From int
}

// Export returns the turn as a caller sees it.
func (q Queued) Export() earshot.QueuedTurn {
	out := q.QueuedTurn
	out.Epoch = max(out.Epoch, 0)
	if len(out.Input) == 0 {
		out.Input = nil
	}
	return out
}

// Outdated reports whether the turn began in an epoch that has ended since, in
// a conversation that is in epoch now. No text of such a turn is kept.
func (q Queued) Outdated(now int) bool { return q.From >= 0 && q.From < now }

// KeepsPosts reports whether the texts of the turn's posts stay when the rest of
// its text is erased: it is still about to post them.
func (q Queued) KeepsPosts() bool { return Begun(q.State) }

// final returns [earshot.ErrConflict] for a turn that is final.
func (q Queued) final() error {
	if !q.State.Final() {
		return nil
	}
	return fmt.Errorf("turn %d is %s: %w", q.ID, q.State, earshot.ErrConflict)
}

// A Line is a conversation's lease as it is stored, with the lowest of its
// unfinished turns. The zero Line is that of a conversation without a lease.
type Line struct {
	Owner  string // "" when nobody holds the lease; then nobody takes it before Until
	Fence  int64
	Until  earshot.Time
	Lowest earshot.TurnID // 0 when every turn is final
}

// Held returns [earshot.ErrFenced] unless lease is the one that is stored. One
// that ran out and that nobody took is.
func (x Line) Held(lease earshot.Lease) error {
	if lease.Owner != "" && x.Owner == lease.Owner && x.Fence == lease.Fence {
		return nil
	}
	return fmt.Errorf("conversation %q: %w", lease.Conversation.Name, earshot.ErrFenced)
}

// A Held is what every write under a lease is decided on.
type Held struct {
	Lease earshot.Lease // as the caller has it, see [Lease]
	Line  Line          // as it is stored
	ID    earshot.TurnID
	Turn  Queued       // the stored one; zero when there is none
	Epoch int          // of the conversation
	Now   earshot.Time // by the store's clock
}

// good checks the lease, and that the turn is of its conversation.
func (h Held) good() error {
	if err := h.Line.Held(h.Lease); err != nil {
		return err
	}
	if h.Turn.ID == 0 || h.Turn.Conversation != h.Lease.Conversation {
		return NoTurn(h.ID)
	}
	return nil
}

// next returns [earshot.ErrConflict] unless the turn is its conversation's
// lowest unfinished one.
func (h Held) next() error {
	if err := h.Turn.final(); err != nil {
		return err
	}
	if h.Line.Lowest != h.Turn.ID {
		return fmt.Errorf("turn %d is not the first of its conversation: %w", h.Turn.ID, earshot.ErrConflict)
	}
	return nil
}

// A Change is what a decision writes. A store applies its parts in this order.
// The zero Change writes nothing.
type Change struct {
	Restart bool                // the turn's journal is emptied
	Blank   bool                // the texts of the turn's posts are erased
	Read    []earshot.MessageID // Epoch of the conversation holds their text from now on
	Leave   bool                // Epoch of the conversation ends, and those before it
	Epoch   int                 // which Read and Leave are about
	Step    *earshot.Step       // is appended to the turn's journal
	Posts   []earshot.Post      // are stored in the place of those of the same turn and chunk
	Commit  *Commit
	Turns   []Queued       // their rows from now on
	Touched bool           // of Turns only Updated differs from what is stored
	Input   bool           // the Input of Turns is written too
	Parts   earshot.TurnID // the turns that were merged into this one are open again, see [Parted]
	Erase   bool           // the turn's input and journal are erased, with its posts' texts unless KeepsPosts
	Advance bool           // which turn is the conversation's lowest is to be looked up again
}
