package rule

import (
	"cmp"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// All decisions of the queue are made in this package. In one transaction an
// engine loads the values that a decision depends on, calls the function with
// the name of the method of [earshot.Queue], and writes the [Change] that it
// returns. [earshot.ErrConflict] and [earshot.ErrFenced] are made only here.
//
// Two operations change many rows by one statement of SQL: claims, and the
// erasure of deleted text. Their rules stand here twice, as a function for the
// memory engine and as SQL for the two databases; a test compares them.

// The states of a turn as conditions. UnfinishedSQL is [InLine], and word for word the
// condition of the index queued_turn_unfinished.
const (
	UnfinishedSQL = `state IN ('open', 'claimed', 'generating', 'posting')`
	BegunSQL      = `state IN ('generating', 'posting')`
	RefusedSQL    = `state = 'refused'`
	FinalSQL      = `state IN ('done', 'failed', 'parked', 'dropped', 'refused')`
)

// InLine reports whether a turn in this state is to be claimed or goes on under a lease.
// One that waits is not in line until it is opened again.
func InLine(s earshot.TurnState) bool { return !s.Final() && s != earshot.TurnWaiting }

// CompareInLine orders the turns in line of a conversation: the one that somebody has
// claimed or begun comes before those that are open, else the lowest comes first. A turn
// that has waited thus disturbs none that is being answered.
func CompareInLine(a, b earshot.QueuedTurn) int {
	open := func(q earshot.QueuedTurn) int {
		if q.State == earshot.TurnOpen {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(open(a), open(b)), cmp.Compare(a.ID, b.ID))
}

// FirstInLineSQL is the id of the first in line of the turns of the conversation of a row
// of lease; 0 where there is none. It is [CompareInLine], in two look-ups by the index.
const FirstInLineSQL = `coalesce((SELECT min(id) FROM queued_turn q` + ofLease + ` AND ` + BusySQL + `), (SELECT min(id) FROM queued_turn q` + ofLease + `), 0)`

const ofLease = ` WHERE q.agent = lease.agent AND q.platform = lease.platform AND q.workspace = lease.workspace AND q.channel = lease.channel
	AND q.conversation = lease.conversation AND ` + UnfinishedSQL

// HasBegun reports whether a turn in this state has its prompt and is being answered.
func HasBegun(s earshot.TurnState) bool {
	return s == earshot.TurnGenerating || s == earshot.TurnPosting
}

// A StoredTurn is a turn as a store keeps it. From is the conversation's epoch when
// the turn began, Epoch the one in which it will be committed; both are -1
// until the turn begins. An engine may load a turn without its Input.
type StoredTurn struct {
	earshot.QueuedTurn
	From  int
	Again int // tells it from the agent's other turns for its anchor; 0 of the first
}

// Export returns the turn as a caller of the store gets it: without internal
// values, an empty input as nil.
func (q StoredTurn) Export() earshot.QueuedTurn {
	out := q.QueuedTurn
	out.Epoch = max(out.Epoch, 0)
	if len(out.Input) == 0 {
		out.Input = nil
	}
	return out
}

// Outdated reports whether the turn began in an epoch that has ended since, in
// a conversation that is in epoch now. No text of such a turn is kept.
func (q StoredTurn) Outdated(now int) bool { return q.From >= 0 && q.From < now }

// KeepsPosts reports whether the texts of the turn's posts stay when the rest of
// its text is erased: it is still about to post them.
func (q StoredTurn) KeepsPosts() bool { return HasBegun(q.State) }

// checkUnfinished returns [earshot.ErrConflict] for a turn that is final.
func (q StoredTurn) checkUnfinished() error {
	if !q.State.Final() {
		return nil
	}
	return fmt.Errorf("turn %d is %s: %w", q.ID, q.State, earshot.ErrConflict)
}

// A StoredLease is a conversation's lease as it is stored, with the first of its turns in
// line, see [CompareInLine]. The zero StoredLease is that of a conversation without a lease.
type StoredLease struct {
	Owner  string // "" when nobody holds the lease; then nobody takes it before Until
	Fence  int64
	Until  earshot.Time
	Lowest earshot.TurnID // 0 when no turn is in line
}

// Check returns [earshot.ErrFenced] unless lease is the stored one. A lease that
// ran out stays valid until somebody else claims it.
func (x StoredLease) Check(lease earshot.Lease) error {
	if lease.Owner != "" && x.Owner == lease.Owner && x.Fence == lease.Fence {
		return nil
	}
	return fmt.Errorf("conversation %q: %w", lease.Conversation.Name, earshot.ErrFenced)
}

// A LeasedTurn is a turn with the lease of whoever writes to it: what every
// write under a lease is decided on.
type LeasedTurn struct {
	Lease  earshot.Lease // as the caller has it, see [Lease]
	Stored StoredLease   // as it is stored
	ID     earshot.TurnID
	Turn   StoredTurn   // the stored one; zero when there is none
	Epoch  int          // of the conversation
	Now    earshot.Time // by the store's clock
}

// checkLease checks the lease, and that the turn is of its conversation.
func (h LeasedTurn) checkLease() error {
	if err := h.Stored.Check(h.Lease); err != nil {
		return err
	}
	if h.Turn.ID == 0 || h.Turn.Conversation != h.Lease.Conversation {
		return NoTurn(h.ID)
	}
	return nil
}

// checkLowest returns [earshot.ErrConflict] unless the turn is the first in line of its
// conversation.
func (h LeasedTurn) checkLowest() error {
	if err := h.Turn.checkUnfinished(); err != nil {
		return err
	}
	if h.Stored.Lowest != h.Turn.ID {
		return fmt.Errorf("turn %d is not the first of its conversation: %w", h.Turn.ID, earshot.ErrConflict)
	}
	return nil
}

// A Change is what a decision writes. An engine writes its fields in this order.
// The zero Change writes nothing.
type Change struct {
	EmptyJournal bool                // delete the turn's journal
	DropCalls    bool                // its approvals are of no call any more
	ErasePosts   bool                // erase the texts of the turn's posts, approvals and feedback
	Read         []earshot.MessageID // note that Epoch of the conversation holds their text
	CopyRead     bool                // note that Epoch holds the text too that CopyFrom holds
	CopyFrom     int                 // an epoch
	EndEpoch     bool                // end Epoch of the conversation, and those before it
	Epoch        int                 // which Read, CopyRead and EndEpoch are about
	Step         *earshot.Step       // append it to the turn's journal
	Posts        []earshot.Post      // store them; each replaces the post of the same turn and chunk
	Ask          *earshot.Approval   // store it as a new one
	Approval     *earshot.Approval   // update its row
	Withdraw     []earshot.TurnID    // the open approvals of these turns are withdrawn, see [Withdrawn]
	Commit       *Commit
	Turns        []StoredTurn   // update their rows
	OnlyUpdated  bool           // only the field Updated of Turns has changed
	Input        bool           // write the Input of Turns too
	Unmerge      earshot.TurnID // open the turns again that were merged into this one, see [ReopenMerged]; 0: none
	Erase        bool           // erase the turn's input and journal, and its posts' texts unless KeepsPosts
	FindLowest   bool           // look up again which turn of the conversation is the first in line
	Free         bool           // the conversation's lease can be claimed at once, unless somebody holds it
}
