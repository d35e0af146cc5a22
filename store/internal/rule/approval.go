package rule

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
)

// CheckApproval checks and normalises an approval that is asked for. The result is open,
// has the sum of its arguments, and shares nothing with a.
func CheckApproval(a earshot.Approval) (earshot.Approval, error) {
	a = earshot.Approval{
		ID: text(a.ID), Turn: a.Turn, Asker: text(a.Asker), Call: Text(a.Call), Tool: Text(a.Tool), Args: nonEmpty(slices.Clone(a.Args)),
		Asked: a.Asked, Expires: a.Expires, State: earshot.ApprovalOpen,
	}
	if a.ID == "" {
		return a, fmt.Errorf("%w: the approval has no id", earshot.ErrInvalid)
	}
	for _, f := range []struct{ name, id string }{{"approval", string(a.ID)}, {"asker", string(a.Asker)}, {"call", a.Call}, {"tool", a.Tool}} {
		if len(f.id) > MaxID {
			return a, tooLong(f.name, len(f.id))
		}
	}
	if len(a.Args) > earshot.ApprovalArgs {
		return a, fmt.Errorf("%w: the arguments have %d bytes, more than %d", earshot.ErrInvalid, len(a.Args), earshot.ApprovalArgs)
	}
	a.SHA256 = hashOf(a.Args)
	return a, nil
}

// hashOf is the sum of arguments.
func hashOf(args []byte) string {
	sum := sha256.Sum256(args)
	return hex.EncodeToString(sum[:])
}

// CheckDecision checks and normalises d.
func CheckDecision(d earshot.Decision) (earshot.Decision, error) {
	d.By, d.Why, d.SHA256 = text(d.By), words(d.Why), Text(d.SHA256)
	switch {
	case d.State == earshot.ApprovalOpen || !slices.Contains(earshot.ApprovalStates(), d.State):
		return d, fmt.Errorf("%w: an approval does not end %q", earshot.ErrInvalid, d.State)
	case d.Time <= 0:
		return d, fmt.Errorf("%w: the decision has no time", earshot.ErrInvalid)
	case len(d.By) > MaxID:
		return d, tooLong("who decided", len(d.By))
	}
	return d, nil
}

// CheckResult normalises what came of a call.
func CheckResult(result string) string { return words(result) }

// words normalises s and cuts it to [earshot.ApprovalWords] bytes.
func words(s string) string {
	s = Text(s)
	if len(s) <= earshot.ApprovalWords {
		return s
	}
	end := earshot.ApprovalWords
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// CheckApprovalQuery normalises q and sets its default: 50 approvals.
func CheckApprovalQuery(q earshot.ApprovalQuery) earshot.ApprovalQuery {
	q.Agent, q.Before = text(q.Agent), text(q.Before)
	if q.Scope != nil {
		s := Scope(*q.Scope)
		q.Scope = &s
	}
	if q.Limit <= 0 {
		q.Limit = 50
	}
	q.States = slices.Clone(q.States)
	slices.Sort(q.States)
	q.States = slices.Compact(q.States)
	return q
}

// DecideAsk decides about [earshot.Approvals.AskApproval]. same is the approval of the turn
// for the same call, nil where there is none; taken reports whether another one has the id.
func DecideAsk(h LeasedTurn, a earshot.Approval, same *earshot.Approval, taken bool) (earshot.Approval, Change, error) {
	if err := h.checkLease(); err != nil {
		return a, Change{}, err
	}
	if same != nil {
		return *same, Change{}, nil
	}
	if err := h.checkBegun(); err != nil {
		return a, Change{}, err
	}
	if taken {
		return a, Change{}, fmt.Errorf("the id of approval %q is taken: %w", a.ID, earshot.ErrConflict)
	}
	a.Conversation, a.Anchor = h.Turn.Conversation, h.Turn.Anchor
	if h.Turn.Outdated(h.Epoch) { // as its journal
		a.Args = nil
	}
	return a, Change{Ask: &a}, nil
}

// checkBegun returns [earshot.ErrConflict] for a turn that is not being answered.
func (h LeasedTurn) checkBegun() error {
	if err := h.Turn.checkUnfinished(); err != nil {
		return err
	}
	if !HasBegun(h.Turn.State) || h.Turn.From < 0 {
		return fmt.Errorf("turn %d has not begun: %w", h.Turn.ID, earshot.ErrConflict)
	}
	return nil
}

// DecideAwait decides about [earshot.Approvals.AwaitApprovals]. open reports whether one of
// the turn's approvals is open.
func DecideAwait(h LeasedTurn, open bool) (Change, bool, error) {
	if err := h.checkLease(); err != nil {
		return Change{}, false, err
	}
	t := h.Turn
	if t.State == earshot.TurnWaiting {
		return Change{}, true, nil
	}
	if err := h.checkBegun(); err != nil {
		return Change{}, false, err
	}
	if err := h.checkLowest(); err != nil {
		return Change{}, false, err
	}
	if !open || t.Stopped != 0 {
		return Change{}, false, nil
	}
	t.State, t.Tries, t.Ends, t.Updated = earshot.TurnWaiting, 0, 0, h.Now
	// What an erasure had left of it was about to be posted.
	return Change{Turns: []StoredTurn{t}, FindLowest: true, Erase: t.Outdated(h.Epoch)}, true, nil
}

// waits is the error for a turn that cannot be merged because it waits.
func waits(id earshot.TurnID) error {
	return fmt.Errorf("turn %d waits for an approval: %w", id, earshot.ErrConflict)
}

// DecideApproval decides about [earshot.Approvals.DecideApproval]. q is the approval's turn,
// and more reports whether another approval of it is open. The change is written also beside
// an error, and the approval is as it is stored then.
func DecideApproval(a earshot.Approval, d earshot.Decision, q StoredTurn, more bool, now earshot.Time) (earshot.Approval, Change, error) {
	late := d.Time >= a.Expires
	says := d.State == earshot.ApprovalAgreed || d.State == earshot.ApprovalRefused
	var err error
	switch {
	case a.State != earshot.ApprovalOpen:
		return a, Change{}, fmt.Errorf("approval %q is %s: %w", a.ID, a.State, earshot.ErrConflict)
	case says && late:
		d = earshot.Decision{State: earshot.ApprovalExpired, Time: d.Time}
		err = fmt.Errorf("approval %q has expired: %w", a.ID, earshot.ErrConflict)
	case d.State == earshot.ApprovalAgreed && d.SHA256 != a.SHA256:
		return a, Change{}, fmt.Errorf("approval %q is for other arguments: %w", a.ID, earshot.ErrConflict)
	case d.State == earshot.ApprovalExpired && !late:
		return a, Change{}, fmt.Errorf("approval %q has not expired: %w", a.ID, earshot.ErrConflict)
	}
	a.State, a.By, a.Operator, a.Why, a.Decided = d.State, d.By, d.Operator, d.Why, d.Time
	c := Change{Approval: &a}
	if q.State == earshot.TurnWaiting && !more {
		c.wake(q, now)
	}
	return a, c, err
}

// wake opens a turn that waits. What it was told so far stays.
func (c *Change) wake(q StoredTurn, now earshot.Time) {
	q.State, q.Updated = earshot.TurnOpen, now
	c.Turns = append(c.Turns, q)
	c.FindLowest, c.Free = true, true
}

// DecideNote decides about [earshot.Approvals.NoteApproval].
func DecideNote(h LeasedTurn, a earshot.Approval, result string) (Change, error) {
	if err := h.checkLease(); err != nil {
		return Change{}, err
	}
	if h.Turn.Outdated(h.Epoch) {
		result = ""
	}
	if a.Result == result {
		return Change{}, nil
	}
	if err := h.Turn.checkUnfinished(); err != nil {
		return Change{}, err
	}
	if a.State != earshot.ApprovalAgreed {
		return Change{}, fmt.Errorf("approval %q is %s: %w", a.ID, a.State, earshot.ErrConflict)
	}
	a.Result = result
	return Change{Approval: &a}, nil
}

// Withdrawn returns an approval after its turn ended or began anew. In SQL, WithdrawSQL is
// set in the rows of a turn that OpenSQL selects, and decided besides.
func Withdrawn(a earshot.Approval, now earshot.Time) earshot.Approval {
	if a.State == earshot.ApprovalOpen {
		a.State, a.Decided = earshot.ApprovalWithdrawn, now
	}
	return a
}

// See [Withdrawn].
const (
	WithdrawSQL = `state = 'withdrawn'`
	OpenSQL     = `state = 'open'`
)

// WithoutWords returns an approval after the journal of its turn was erased. In SQL,
// WithoutWordsSQL is set in the rows that WordsSQL selects, where empty is a blob of no
// bytes.
func WithoutWords(a earshot.Approval) earshot.Approval {
	a.Args, a.Why, a.Result = nil, "", ""
	return a
}

// WithoutWordsSQL is what [WithoutWords] sets in a row.
func WithoutWordsSQL(empty string) string { return `args = ` + empty + `, why = '', result = ''` }

// WordsSQL is the condition of a row of which [WithoutWords] removes something.
func WordsSQL(empty string) string {
	return `(args <> ` + empty + ` OR why <> '' OR result <> '')`
}

// WithoutPerson returns an approval after a person was erased, with what they did up to a
// time. WithoutDeciderSQL and WithoutAskerSQL set the same in the rows of one who decided or
// asked.
func WithoutPerson(a earshot.Approval, id earshot.AuthorID, until earshot.Time) earshot.Approval {
	if a.By == id && a.Decided <= until {
		a.By, a.Why = "", ""
	}
	if a.Asker == id && a.Asked <= until {
		a.Asker = ""
	}
	return a
}

// See [WithoutPerson].
const (
	WithoutDeciderSQL = `decider = '', why = ''`
	WithoutAskerSQL   = `asker = ''`
)

// NoApproval is the error for an approval that is not stored.
func NoApproval(id earshot.ApprovalID) error {
	return fmt.Errorf("approval %q: %w", id, earshot.ErrNotFound)
}

// ApprovalColumns are those of approval.
const ApprovalColumns = `id, turn, agent, platform, workspace, channel, conversation, anchor, asker, call, tool, args, sha256, asked, expires, state, decider, operator, why, decided, result`

// ScanApproval reads a row of ApprovalColumns into a with the Scan of a row.
func ScanApproval(scan func(...any) error, a *earshot.Approval) error {
	operator, s := 0, &a.Conversation.Scope
	err := scan(&a.ID, &a.Turn, &a.Conversation.Agent, &s.Platform, &s.Workspace, &s.Channel, &a.Conversation.Name, &a.Anchor, &a.Asker, &a.Call, &a.Tool,
		&a.Args, &a.SHA256, &a.Asked, &a.Expires, &a.State, &a.By, &operator, &a.Why, &a.Decided, &a.Result)
	a.Operator, a.Args = operator != 0, nonEmpty(a.Args)
	return err
}

// ApprovalValues returns a as parameters for ApprovalColumns.
func ApprovalValues(a earshot.Approval) []any {
	operator, s := 0, a.Conversation.Scope
	if a.Operator {
		operator = 1
	}
	return []any{
		string(a.ID), int64(a.Turn), string(a.Conversation.Agent), string(s.Platform), string(s.Workspace), string(s.Channel), a.Conversation.Name,
		string(a.Anchor), string(a.Asker), a.Call, a.Tool, append([]byte{}, a.Args...), a.SHA256, int64(a.Asked), int64(a.Expires),
		string(a.State), string(a.By), operator, a.Why, int64(a.Decided), a.Result,
	}
}
