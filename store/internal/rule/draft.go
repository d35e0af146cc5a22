package rule

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
)

// A StoredDraft is a draft as a store keeps it.
type StoredDraft struct {
	earshot.Draft
	Erased bool // something that it holds was deleted since: it has no contents and cannot be committed
}

// draftKept is how long a draft stays after its contents are gone.
const draftKept = earshot.Time(24 * time.Hour / time.Microsecond)

// DraftGone returns the time before which a draft has to have expired that a prune
// up to before removes with its row.
func DraftGone(before earshot.Time) earshot.Time { return before - draftKept }

// CheckDraft checks and normalises a draft that is to be opened. The result shares
// nothing with d. Anchor, epoch and hash of its turn are those of the draft.
func CheckDraft(d earshot.Draft) (earshot.Draft, error) {
	d.ID, d.State = 0, earshot.DraftOpen
	var err error
	if d.Conversation, _, err = CheckConversation(d.Conversation, ""); err != nil {
		return d, err
	}
	d.Anchor, d.Opener, d.Asked = text(d.Anchor), Text(d.Opener), slices.Clone(d.Asked)
	switch {
	case d.Anchor == "":
		return d, fmt.Errorf("%w: the draft has no anchor", earshot.ErrInvalid)
	case len(d.Opener) > MaxID:
		return d, tooLong("opener", len(d.Opener))
	case d.Turns < 0:
		return d, fmt.Errorf("%w: the draft follows %d turns", earshot.ErrInvalid, d.Turns)
	}
	if d.Prompt, err = CheckPrompt(d.Prompt); err != nil {
		return d, err
	}
	d.Prompt.Keeps = false
	d.Prompt.Shows = IDs(append(d.Prompt.Shows, d.Anchor))
	for _, id := range d.Prompt.Shows {
		if len(id) > MaxID {
			return d, tooLong("message", len(id))
		}
	}
	d.Turn, err = draftTurn(d.Turn, d)
	return d, err
}

// draftTurn checks and normalises the turn of a draft. What it shares with the draft
// is the draft's.
func draftTurn(t earshot.Turn, d earshot.Draft) (earshot.Turn, error) {
	t.Answer.Anchor, t.Epoch, t.Hash = d.Anchor, d.Prompt.Epoch, d.Prompt.Hash
	t, err := CheckTurn(t)
	t.Answer.Replies, t.Shown, t.Attached = nonEmpty(t.Answer.Replies), nonEmpty(t.Shown), nonEmpty(t.Attached)
	t.Names, t.Session, t.Ledger = nonEmpty(t.Names), nonEmpty(t.Session), nonEmpty(t.Ledger)
	metadata := maps.Clone(t.Metadata)
	for k, v := range metadata {
		if v != nil {
			clean := Text(*v)
			metadata[k] = &clean
		}
	}
	t.Metadata = metadata
	return t, err
}

// A DraftOpening is what [earshot.Drafts.OpenDraft] depends on, of a draft that
// CheckDraft has checked.
type DraftOpening struct {
	Epoch, Turns int          // the conversation's; zero where there is none
	Gone         bool         // something that the prompt shows is deleted
	Claims       Claims       // Held is not the one that is replaced
	Replaced     *StoredDraft // the one that is replaced; nil: there is none
	Now          earshot.Time // the store's
}

// Claims are who else has to do with a draft's anchor.
type Claims struct {
	Done   bool                // the agent has committed a turn for the anchor
	Queued *earshot.QueuedTurn // its first queued turn for the anchor: id and state; nil: none
	Held   *earshot.Draft      // the newest open draft for the anchor, besides this one, that has not expired: id and Expires; nil: none
}

// Taken returns the [*earshot.Claimed] of opening a draft, or nil.
func (c Claims) Taken(d earshot.Draft) error {
	if held := c.taken(); held != nil && !d.Again {
		return held
	}
	return nil
}

// taken returns the claim that stands in the way of a draft.
func (c Claims) taken() *earshot.Claimed {
	switch {
	case c.Queued != nil:
		return &earshot.Claimed{Turn: c.Queued.ID, Answered: c.Queued.State.Final()}
	case c.Done:
		return &earshot.Claimed{Answered: true}
	case c.Held != nil:
		return &earshot.Claimed{Turn: c.Held.ID, Until: c.Held.Expires}
	}
	return nil
}

// OpenedAt is when a draft is opened; now is the store's time.
func OpenedAt(d earshot.Draft, now earshot.Time) earshot.Time {
	if d.Opened == 0 {
		return now
	}
	return d.Opened
}

// OpenDraft decides about [earshot.Drafts.OpenDraft]. The second is the replaced draft
// as it is stored from then on, nil where it stays as it is.
func OpenDraft(d earshot.Draft, o DraftOpening) (StoredDraft, *StoredDraft, error) {
	d.Opened, d.Replaces, d.Posting = OpenedAt(d, o.Now), 0, 0
	if err := o.Claims.Taken(d); err != nil {
		return StoredDraft{}, nil, err
	}
	epoch, turns := o.Epoch, o.Turns
	switch {
	case d.Prompt.From != epoch:
		return StoredDraft{}, nil, fmt.Errorf("the draft was gathered in epoch %d, the conversation is in %d: %w", d.Prompt.From, epoch, earshot.ErrConflict)
	case d.Turns != turns:
		return StoredDraft{}, nil, fmt.Errorf("the draft follows %d turns, the conversation has %d: %w", d.Turns, turns, earshot.ErrConflict)
	case o.Gone:
		return StoredDraft{}, nil, fmt.Errorf("the draft shows what is deleted: %w", earshot.ErrConflict)
	}
	if o.Replaced == nil {
		return StoredDraft{Draft: d}, nil, nil
	}
	ended, ok := AbortDraft(*o.Replaced)
	if !ok {
		return StoredDraft{Draft: d}, nil, nil
	}
	d.Posting = o.Replaced.Posting
	return StoredDraft{Draft: d}, &ended, nil
}

// RenewDraft decides about [earshot.Drafts.RenewDraft]. Nothing is written where ok is
// false.
func RenewDraft(d StoredDraft, c Claims, now, expires earshot.Time, posting bool) (_ StoredDraft, ok bool, _ error) {
	if d.State != earshot.DraftOpen {
		return d, false, nil
	}
	if held := c.taken(); held != nil && d.Expires < now && !d.Again {
		return d, false, held
	}
	d.Expires = expires
	if posting && d.Posting == 0 {
		d.Posting = now
	}
	return d, true, nil
}

// A DraftEnd is a call of [earshot.Drafts.CommitDraft] with what it depends on.
type DraftEnd struct {
	Turn     earshot.Turn
	Now      earshot.Time // the caller's
	Stored   earshot.Time // the store's
	Answered CommitState
	Queued   bool // the agent has a turn in the queue for the anchor
	Busy     bool // a turn of the conversation is in one of the states of [BusySQL]
}

// BusySQL selects the queued turns that somebody is answering, as [IsAnswering] does.
const BusySQL = `state IN ('claimed', 'generating', 'posting')`

// IsAnswering reports whether somebody is answering a turn in this state.
func IsAnswering(s earshot.TurnState) bool {
	return s == earshot.TurnClaimed || s == earshot.TurnGenerating || s == earshot.TurnPosting
}

// A DraftCommit is what committing a draft writes.
type DraftCommit struct {
	Draft  StoredDraft // replaces the stored one, without its messages
	Commit Commit
	Queued StoredTurn // stored as a new row, with its input
}

// CommitDraft decides about [earshot.Drafts.CommitDraft]. Prompt.Shows of d are the
// messages that are stored of it. Nothing is written where the result is nil.
func CommitDraft(d StoredDraft, e DraftEnd) (*DraftCommit, error) {
	c := e.Answered.Conversation
	switch {
	case d.State == earshot.DraftCommitted:
		return nil, nil
	case d.State == earshot.DraftAborted:
		return nil, fmt.Errorf("draft %d was aborted: %w", d.ID, earshot.ErrExpired)
	case d.Expires < e.Now:
		return nil, fmt.Errorf("draft %d: %w", d.ID, earshot.ErrExpired)
	case d.Erased:
		return nil, fmt.Errorf("draft %d shows what is deleted: %w", d.ID, earshot.ErrConflict)
	case c.Epoch != d.Prompt.From:
		return nil, fmt.Errorf("draft %d was gathered in epoch %d, the conversation is in %d: %w", d.ID, d.Prompt.From, c.Epoch, earshot.ErrConflict)
	case e.Answered.Turns != d.Turns:
		return nil, fmt.Errorf("draft %d follows %d turns, the conversation has %d: %w", d.ID, d.Turns, e.Answered.Turns, earshot.ErrConflict)
	case (e.Answered.Taken || e.Queued) && !d.Again:
		return nil, AnsweredAlready(d.Anchor)
	case e.Busy: // its prompt does not have the draft's turn, and would not follow it
		return nil, fmt.Errorf("draft %d: a turn of the conversation is being answered: %w", d.ID, earshot.ErrConflict)
	}
	done := appendTurn(e.Turn, e.Answered, e.Answered.Gone, e.Stored)
	input := d.Prompt.Input
	if e.Answered.Gone { // found by a tool: the prompt itself shows nothing that is deleted
		input = nil
	} else {
		done.Read = IDs(slices.Concat(done.Read, d.Prompt.Shows))
	}
	q := StoredTurn{From: d.Prompt.From, QueuedTurn: earshot.QueuedTurn{
		ID: d.ID, Conversation: d.Conversation, Anchor: d.Anchor, State: earshot.TurnDone, Opened: d.Opened, Updated: e.Stored,
		Epoch: d.Prompt.Epoch, Input: input, Hash: d.Prompt.Hash, Began: d.Prompt.Began, Number: done.Turn.Number,
	}}
	if d.Again {
		done.Again, q.Again = done.Turn.Number+1, int(d.ID)
	}
	d = d.ended(earshot.DraftCommitted)
	d.Turn.Number, d.Turn.Sum, done.Turn.Sum = done.Turn.Number, e.Turn.Sum, ""
	return &DraftCommit{Draft: d, Commit: done, Queued: q}, nil
}

// DraftTurn checks and normalises the turn that commits a draft, and clones it.
func DraftTurn(d StoredDraft, t earshot.Turn) (earshot.Turn, error) {
	return draftTurn(CloneTurn(t), d.Draft)
}

// AskDraft decides about [earshot.Drafts.AskDraft]. same is the approval of the draft for the
// same call, nil where there is none; taken reports whether another one has the id. Nothing
// is written where ask is false.
func AskDraft(d StoredDraft, a earshot.Approval, same *earshot.Approval, taken bool) (_ earshot.Approval, ask bool, _ error) {
	switch {
	case same != nil:
		return *same, false, nil
	case d.State != earshot.DraftOpen || d.Expires < a.Asked:
		return a, false, fmt.Errorf("draft %d: %w", d.ID, earshot.ErrExpired)
	case d.Erased:
		return a, false, fmt.Errorf("draft %d shows what is deleted: %w", d.ID, earshot.ErrConflict)
	case taken:
		return a, false, fmt.Errorf("the id of approval %q is taken: %w", a.ID, earshot.ErrConflict)
	}
	a.Conversation, a.Anchor = d.Conversation, d.Anchor
	return a, true, nil
}

// NoteDraft decides about [earshot.Drafts.NoteDraft].
func NoteDraft(d StoredDraft, a earshot.Approval, result string) (earshot.Approval, error) {
	if a.State != earshot.ApprovalAgreed || d.State == earshot.DraftAborted {
		return a, fmt.Errorf("approval %q is %s, its draft is %s: %w", a.ID, a.State, d.State, earshot.ErrConflict)
	}
	if d.Erased || a.Args == nil && a.SHA256 != noArgs { // its texts were erased
		result = ""
	}
	a.Result = result
	return a, nil
}

// noArgs is the sum of no arguments.
var noArgs = hashOf(nil)

// AbortDraft decides about [earshot.Drafts.AbortDraft]. Nothing is written where ok is
// false.
func AbortDraft(d StoredDraft) (_ StoredDraft, ok bool) {
	if d.State != earshot.DraftOpen {
		return d, false
	}
	return d.ended(earshot.DraftAborted), true
}

// ended returns a draft without its contents.
func (d StoredDraft) ended(state earshot.DraftState) StoredDraft {
	d.State = state
	return d.WithoutContents()
}

// WithoutText returns a draft of which something was deleted. How its context was
// asked for stays, so that it can be made anew. EraseDraftSQL sets the same in a row.
func (d StoredDraft) WithoutText() StoredDraft {
	d.Erased, d.Prompt.Input, d.Prompt.Shows, d.Turn = true, nil, nil, earshot.Turn{}
	return d
}

// EraseDraftSQL is what [StoredDraft.WithoutText] does to a row, ErasableDraftSQL selects
// the rows that hold something.
const (
	EraseDraftSQL    = `input = '', record = '', erased = 1`
	ErasableDraftSQL = `state = 'open' AND erased = 0`
)

// WithoutContents returns a draft as it is kept after its end.
func (d StoredDraft) WithoutContents() StoredDraft {
	d.Asked, d.Prompt.Input, d.Prompt.Shows, d.Turn = nil, nil, nil, earshot.Turn{}
	return d
}

// Pruned returns a draft as it is kept after its time. PruneDraftSQL sets the same in
// a row.
func (d StoredDraft) Pruned() StoredDraft {
	turn := d.Turn
	open := d.State == earshot.DraftOpen
	if d = d.WithoutContents(); !open {
		d.Turn = turn // of a committed one its number and sum
	}
	d.Erased = d.Erased || open
	return d
}

// PruneDraftSQL is what [StoredDraft.Pruned] does to a row.
const PruneDraftSQL = `asked = '', input = '', record = CASE state WHEN 'open' THEN '' ELSE record END, erased = CASE state WHEN 'open' THEN 1 ELSE erased END`

// Export returns the draft as a caller of the store gets it: with the messages that
// are not read back left out, and an empty input as nil.
func (d StoredDraft) Export() earshot.Draft {
	out := d.Draft
	out.Asked, out.Prompt.Input, out.Prompt.Shows = slices.Clone(nonEmpty(out.Asked)), slices.Clone(nonEmpty(out.Prompt.Input)), nil
	out.Turn = CloneTurn(out.Turn)
	out.Turn.Metadata = maps.Clone(out.Turn.Metadata)
	return out
}

// HasContents reports whether a prune removes something of a draft that expired.
// DraftContentsSQL is the same of a row.
func (d StoredDraft) HasContents() bool {
	return len(d.Asked)+len(d.Prompt.Input) > 0 || d.State == earshot.DraftOpen && d.Turn.Answer.Anchor != ""
}

// DraftContentsSQL is [StoredDraft.HasContents].
const DraftContentsSQL = `(length(asked) > 0 OR length(input) > 0 OR state = 'open' AND record <> '')`

// Without returns a draft without its contents where holds, a function of [HoldsAuthor], is
// true of one of them, and whether that is so. turn is the turn as text.
func (d StoredDraft) Without(turn string, holds func(string) bool) (StoredDraft, bool) {
	if !holds(d.Opener) && !holds(string(d.Asked)) && !holds(string(d.Prompt.Input)) && !holds(turn) {
		return d, false
	}
	if d.State == earshot.DraftOpen {
		d = d.WithoutText()
	}
	d.Asked = nil
	if holds(d.Opener) {
		d.Opener = ""
	}
	return d, true
}

// NoDraft is the error for a draft that is not stored.
func NoDraft(id earshot.TurnID) error { return fmt.Errorf("draft %d: %w", id, earshot.ErrNotFound) }

// DraftColumns are those of draft.
const DraftColumns = `id, agent, platform, workspace, channel, conversation, anchor, opener, state, erased, opened, expires, turns, from_epoch, epoch, hash, began, again, posting, asked, input, record`

// A DraftRow is a draft as a database keeps it.
type DraftRow struct {
	StoredDraft
	TurnText string // the turn as DraftValues writes it

	erased, again int
}

// Fields returns where a row of DraftColumns is scanned to. After that Read is called.
func (d *DraftRow) Fields() []any {
	s := &d.Conversation.Scope
	return []any{
		&d.ID, &d.Conversation.Agent, &s.Platform, &s.Workspace, &s.Channel, &d.Conversation.Name, &d.Anchor, &d.Opener, &d.State, &d.erased,
		&d.Opened, &d.Expires, &d.Turns, &d.Prompt.From, &d.Prompt.Epoch, &d.Prompt.Hash, &d.Prompt.Began, &d.again, &d.Posting,
		&d.Asked, &d.Prompt.Input, &d.TurnText,
	}
}

// Read sets what Fields does not from what was scanned.
func (d *DraftRow) Read() (err error) {
	d.Erased, d.Again = d.erased != 0, d.again != 0
	d.Turn, err = readDraftTurn(d.TurnText)
	return err
}

// DraftValues returns d as parameters for DraftColumns.
func DraftValues(d StoredDraft) ([]any, error) {
	turn, err := writeDraftTurn(d.Turn)
	if err != nil {
		return nil, err
	}
	flag := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	bytes := func(b []byte) []byte { return append([]byte{}, b...) } // not NULL
	s := d.Conversation.Scope
	return []any{
		int64(d.ID), string(d.Conversation.Agent), string(s.Platform), string(s.Workspace), string(s.Channel), d.Conversation.Name,
		string(d.Anchor), d.Opener, string(d.State), flag(d.Erased), int64(d.Opened), int64(d.Expires), d.Turns, d.Prompt.From, d.Prompt.Epoch,
		d.Prompt.Hash, string(d.Prompt.Began), flag(d.Again), int64(d.Posting), bytes(d.Asked), bytes(d.Prompt.Input), turn,
	}, nil
}

// draftTurnJSON is the turn of a draft. Its anchor, epoch and hash are the draft's.
type draftTurnJSON struct {
	Number   int                     `json:"number,omitempty"`
	Sum      string                  `json:"sum,omitempty"`
	Anchor   earshot.MessageID       `json:"anchor,omitempty"`
	Replies  []earshot.MessageID     `json:"replies,omitempty"`
	Policy   string                  `json:"policy,omitempty"`
	Hash     string                  `json:"hash,omitempty"`
	Cursor   int64                   `json:"cursor,omitempty"`
	Epoch    int                     `json:"epoch,omitempty"`
	Shown    []earshot.ShownRevision `json:"shown,omitempty"`
	Attached []earshot.AttachedFile  `json:"attached,omitempty"`
	Names    []earshot.SessionName   `json:"names,omitempty"`
	Form     string                  `json:"form,omitempty"`
	Zone     string                  `json:"zone,omitempty"`
	Session  []draftEntryJSON        `json:"session,omitempty"`
	Ledger   []ledgerJSON            `json:"ledger,omitempty"`
	Usage    earshot.Usage           `json:"usage"`
	Time     earshot.Time            `json:"time,omitempty"`
	Metadata map[string]*string      `json:"metadata,omitempty"`
}

type draftEntryJSON struct {
	Role earshot.Role `json:"role"`
	Text string       `json:"text,omitempty"`
	More string       `json:"more,omitempty"` // see WriteEntry
}

// writeDraftTurn writes the turn of a draft as text; "" where it has none.
func writeDraftTurn(t earshot.Turn) (string, error) {
	if t.Number == 0 && t.Answer.Anchor == "" && t.Sum == "" {
		return "", nil
	}
	w := draftTurnJSON{
		Number: t.Number, Sum: t.Sum, Anchor: t.Answer.Anchor, Replies: t.Answer.Replies, Policy: t.Policy, Hash: t.Hash, Cursor: t.Cursor, Epoch: t.Epoch,
		Shown: t.Shown, Attached: t.Attached, Names: t.Names, Form: t.Form, Zone: t.Zone, Usage: t.Usage, Time: t.Time, Metadata: t.Metadata,
	}
	for _, e := range t.Session {
		more, err := WriteEntry(e)
		if err != nil {
			return "", err
		}
		w.Session = append(w.Session, draftEntryJSON{e.Role, e.Text, more})
	}
	for _, r := range t.Ledger {
		w.Ledger = append(w.Ledger, ledgerJSON(r))
	}
	b, err := json.Marshal(w)
	if err != nil {
		return "", fmt.Errorf("write the turn of a draft: %w", err)
	}
	return string(b), nil
}

// readDraftTurn reads what writeDraftTurn wrote.
func readDraftTurn(text string) (earshot.Turn, error) {
	if text == "" {
		return earshot.Turn{}, nil
	}
	var w draftTurnJSON
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		return earshot.Turn{}, fmt.Errorf("read the turn of a draft: %w", err)
	}
	t := earshot.Turn{
		Number: w.Number, Sum: w.Sum, Answer: earshot.Answer{Anchor: w.Anchor, Replies: w.Replies}, Policy: w.Policy, Hash: w.Hash, Cursor: w.Cursor, Epoch: w.Epoch,
		Shown: w.Shown, Attached: w.Attached, Names: w.Names, Form: w.Form, Zone: w.Zone, Usage: w.Usage, Time: w.Time, Metadata: w.Metadata,
	}
	for _, e := range w.Session {
		entry := earshot.SessionEntry{Role: e.Role, Text: e.Text}
		if err := ReadEntry(e.More, &entry); err != nil {
			return t, err
		}
		t.Session = append(t.Session, entry)
	}
	for _, r := range w.Ledger {
		t.Ledger = append(t.Ledger, earshot.LedgerRow(r))
	}
	return t, nil
}
