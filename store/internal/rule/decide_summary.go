package rule

import (
	"fmt"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
)

// weighing is how many bytes of a session count as one turn: about 500 tokens.
const weighing = 2_000

// Weight returns what a turn counts when it is decided whether its conversation
// is to be summarised: one for each 2,000 bytes of what was said in it, at least
// one. Of a turn that begins an epoch (first) only the answer counts: its prompt
// repeats what earlier turns said.
func Weight(t earshot.Turn, first bool) int {
	bytes := 0
	for _, e := range t.Session {
		if e.Role == earshot.Assistant || e.Role == earshot.User && !first {
			bytes += len(e.Text)
		}
	}
	return max(1, bytes/weighing)
}

// A SummaryState is what is stored of a conversation's summary, besides its text.
type SummaryState struct {
	Claim  StoredLease // of the summary; Lowest is not used
	Before earshot.Summary
	Turns  int // of the conversation
	Weight int // what the conversation's turns count
	Summed int // what those count that the summary covers
	Epoch  int // of the conversation
	Since  int // the first epoch that may have read the summary, or one that it continues
}

// Due reports whether the conversation is to be summarised and can be claimed. Of
// several an engine claims the one whose Weight - Summed is greatest. The engines
// ask for the same in SQL.
func (x SummaryState) Due(over int, now earshot.Time, hold time.Duration) bool {
	return x.Weight-x.Summed > over && (x.Claim.Until <= now || x.Claim.Until > MisdatedBound(now, hold))
}

// Half returns what the turns count together that the next summary covers: at
// least half of those that no summary covers.
func (x SummaryState) Half() int { return x.Summed + (x.Weight-x.Summed+1)/2 }

// Claimed returns the claim of a conversation whose stored claim is x.Claim by now.
// next is the number of turns that count Half together, or less.
func (x SummaryState) Claimed(id earshot.ConversationID, next int) earshot.SummaryClaim {
	return earshot.SummaryClaim{
		Lease:  earshot.Lease{Conversation: id, Owner: x.Claim.Owner, Fence: x.Claim.Fence, Until: x.Claim.Until},
		Before: x.Before, Turns: x.Turns, Next: min(max(next, x.Before.Turns+1), x.Turns),
	}
}

// CheckOver checks the threshold of ClaimSummary.
func CheckOver(over int) error {
	if over < 0 {
		return fmt.Errorf("%w: a summary is due past %d turns", earshot.ErrInvalid, over)
	}
	return nil
}

// CheckSummary checks and normalises the arguments of PutSummary.
func CheckSummary(c earshot.SummaryClaim, s earshot.Summary, of []earshot.MessageID) (earshot.SummaryClaim, earshot.Summary, []earshot.MessageID, error) {
	c.Lease = Lease(c.Lease)
	s.Text, s.By = strings.TrimSpace(Text(s.Text)), Text(s.By)
	of = IDs(of)
	for _, id := range of {
		if id == "" || len(id) > MaxID {
			return c, s, of, fmt.Errorf("%w: a summary is made of message %q", earshot.ErrInvalid, id[:min(len(id), MaxID)])
		}
	}
	switch {
	case s.Text == "":
		return c, s, of, fmt.Errorf("%w: the summary is blank", earshot.ErrInvalid)
	case s.Turns <= c.Before.Turns:
		return c, s, of, fmt.Errorf("%w: the summary covers %d turns, as many as the one before or less", earshot.ErrInvalid, s.Turns)
	case s.To != 0 && s.To < s.From:
		return c, s, of, fmt.Errorf("%w: the summary ends before it begins", earshot.ErrInvalid)
	}
	return c, s, of, nil
}

// PutSummary decides about [earshot.Summaries.PutSummary]. gone reports whether a
// message that the summary was made of is deleted, weight what the turns count
// together that it covers. It returns what is stored from then on.
func PutSummary(x SummaryState, c earshot.SummaryClaim, s earshot.Summary, gone bool, weight int) (SummaryState, error) {
	switch err := x.Claim.Check(c.Lease); {
	case err != nil:
		return x, err
	case gone:
		return x, fmt.Errorf("the summary of conversation %q is made of what is deleted: %w", c.Conversation.Name, earshot.ErrConflict)
	case x.Before.Turns != c.Before.Turns:
		return x, fmt.Errorf("the summary of conversation %q continues one that was dropped: %w", c.Conversation.Name, earshot.ErrConflict)
	case s.Turns > x.Turns:
		return x, fmt.Errorf("%w: the summary covers %d turns of %d", earshot.ErrInvalid, s.Turns, x.Turns)
	}
	if x.Before.Turns == 0 {
		x.Since = x.Epoch
	}
	// A turn from before weights were stored counts one.
	x.Before, x.Summed = s, max(weight, s.Turns)
	x.Claim.Owner, x.Claim.Until = "", 0
	return x, nil
}

// ReleaseSummary decides about [earshot.Summaries.ReleaseSummary]. ok is false when
// nothing is to be written.
func ReleaseSummary(x StoredLease, c earshot.SummaryClaim, notBefore earshot.Time) (_ StoredLease, ok bool) {
	return DecideRelease(x, Lease(c.Lease), notBefore)
}

// Dropped says what a conversation loses when a message that its summary was made
// of is deleted: the text of the epochs from and to included, which may have read
// the summary, and of a turn that is about to begin the epoch after them. The
// epochs end.
func (x SummaryState) Dropped() (from, to int) { return min(x.Since, x.Epoch), x.Epoch }
