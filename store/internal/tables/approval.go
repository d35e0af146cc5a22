package tables

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

func scanApproval(row Row, a *earshot.Approval) error { return rule.ScanApproval(row.Scan, a) }

// askApproval queries one approval. It sets out to nil where there is none.
func askApproval(a Asker, which string, args []any, out **earshot.Approval) {
	*out = nil
	a.Ask(`SELECT `+rule.ApprovalColumns+` FROM approval`+which, args, func(row Row) error {
		*out = &earshot.Approval{}
		return scanApproval(row, *out)
	})
}

// approvalWithID selects an approval.
const approvalWithID = ` WHERE id = $1`

// AskApproval implements [earshot.Approvals].
func (s *Store) AskApproval(ctx context.Context, l earshot.Lease, a earshot.Approval) (out earshot.Approval, err error) {
	if a, err = rule.CheckApproval(a); err != nil {
		return earshot.Approval{}, err
	}
	var same *earshot.Approval
	taken := false
	err = s.under(ctx, "ask for an approval", l, a.Turn, func(t *Tx) {
		taken = false
		askApproval(t, ` WHERE turn = $1 AND call = $2 AND call <> ''`, []any{int64(a.Turn), a.Call}, &same)
		t.Ask(`SELECT 1 FROM approval`+approvalWithID, []any{string(a.ID)}, ScanOne(&taken, new(int)))
	}, func(h rule.LeasedTurn) (c rule.Change, err error) {
		out, c, err = rule.DecideAsk(h, a, same, taken)
		return c, err
	})
	if err != nil {
		return earshot.Approval{}, err
	}
	return out, nil
}

// askOpen queries whether an approval of a turn is open, besides that with the id not.
func (t *Tx) askOpen(id earshot.TurnID, not earshot.ApprovalID, open *bool) {
	*open = false
	t.Ask(`SELECT 1 FROM approval WHERE turn = $1 AND id <> $2 AND `+t.SQL.NoIndex+rule.OpenSQL+` LIMIT 1`, []any{int64(id), string(not)}, ScanOne(open, new(int)))
}

// AwaitApprovals implements [earshot.Approvals].
func (s *Store) AwaitApprovals(ctx context.Context, l earshot.Lease, id earshot.TurnID) (waits bool, err error) {
	open := false
	err = s.under(ctx, "wait for approvals", l, id, func(t *Tx) { t.askOpen(id, "", &open) }, func(h rule.LeasedTurn) (c rule.Change, err error) {
		c, waits, err = rule.DecideAwait(h, open)
		return c, err
	})
	return waits && err == nil, err
}

// DecideApproval implements [earshot.Approvals]. What was decided against d is committed
// too.
func (s *Store) DecideApproval(ctx context.Context, id earshot.ApprovalID, d earshot.Decision) (earshot.Approval, error) {
	d, err := rule.CheckDecision(d)
	if err != nil {
		return earshot.Approval{}, err
	}
	at, err := s.Approval(ctx, id) // for its turn, which never changes
	if err != nil {
		return earshot.Approval{}, err
	}
	var out earshot.Approval
	var refused error
	err = s.engine.Apply(ctx, "decide an approval", func(ctx context.Context, t *Tx) error {
		var a *earshot.Approval
		var q rule.StoredTurn
		more := false
		t.Shared(at.Conversation.Scope)
		t.LockLeases(at.Conversation) // of two decisions one comes first
		askApproval(t, approvalWithID, []any{string(at.ID)}, &a)
		askQueued(t, at.Turn, &q)
		t.askOpen(at.Turn, at.ID, &more)
		if err := t.Send(ctx); err != nil {
			return err
		}
		if a == nil { // erased meanwhile
			return rule.NoApproval(at.ID)
		}
		now := s.stamp()
		var c rule.Change
		out, c, refused = rule.DecideApproval(*a, d, q, more, now)
		return t.Change(q, c, now)
	})
	if err != nil {
		return earshot.Approval{}, err
	}
	return out, refused
}

// NoteApproval implements [earshot.Approvals].
func (s *Store) NoteApproval(ctx context.Context, l earshot.Lease, id earshot.ApprovalID, result string) error {
	at, err := s.Approval(ctx, id) // for its turn, which never changes
	if err != nil {
		return err
	}
	result = rule.CheckResult(result)
	var a *earshot.Approval
	return s.under(ctx, "note what came of an approval", l, at.Turn, func(t *Tx) { askApproval(t, approvalWithID, []any{string(at.ID)}, &a) },
		func(h rule.LeasedTurn) (rule.Change, error) {
			if a == nil { // erased meanwhile
				return rule.Change{}, rule.NoApproval(at.ID)
			}
			return rule.DecideNote(h, *a, result)
		})
}

// Approval implements [earshot.Approvals].
func (s *Store) Approval(ctx context.Context, id earshot.ApprovalID) (earshot.Approval, error) {
	id = rule.ID(id)
	return readFirst(ctx, s.engine, "read an approval", `SELECT `+rule.ApprovalColumns+` FROM approval`+approvalWithID, []any{string(id)}, rule.NoApproval(id), scanApproval)
}

// Approvals implements [earshot.Approvals]. Each way to ask has its index, in which the
// newest come first; it is one statement, as [Store.QueuedTurns] is.
func (s *Store) Approvals(ctx context.Context, q earshot.ApprovalQuery) ([]earshot.Approval, error) {
	q = rule.CheckApprovalQuery(q)
	var p params
	var by, and string
	is := func(column string, v any) string { return ` AND ` + column + ` = ` + p.add(v) }
	other := s.sql.NoIndex // before a column that is not looked up
	switch {
	case q.Turn != 0:
		by = is(`turn`, int64(q.Turn))
		if q.Scope != nil {
			and = is(other+`platform`, string(q.Scope.Platform)) + is(other+`workspace`, string(q.Scope.Workspace)) + is(other+`channel`, string(q.Scope.Channel))
		}
	case q.Scope != nil:
		by = is(`platform`, string(q.Scope.Platform)) + is(`workspace`, string(q.Scope.Workspace)) + is(`channel`, string(q.Scope.Channel))
	}
	if q.Agent != "" {
		and += is(other+`agent`, string(q.Agent))
	}
	if q.Due != 0 {
		and += ` AND ` + other + `expires <= ` + p.add(int64(q.Due))
	}
	if q.Before != "" {
		and += ` AND n < (SELECT n FROM approval WHERE id = ` + p.add(string(q.Before)) + `)`
	} else {
		and += ` AND n < ` + p.add(int64(math.MaxInt64))
	}
	limit := ` ORDER BY n DESC LIMIT ` + p.add(q.Limit) + ` + 0`
	which := ` WHERE true` + by + and
	switch {
	case len(q.States) == 0:
		which += limit
	case by != "":
		which += ` AND ` + other + `state IN (` + p.addAll(Texts(q.States)) + `)` + limit
	default:
		var first []string // of each state
		for _, state := range q.States {
			first = append(first, s.sql.Among(`n`, `SELECT n FROM approval WHERE state = `+p.add(string(state))+and+limit))
		}
		which = ` WHERE ` + strings.Join(first, ` OR `)
	}
	type numbered struct {
		earshot.Approval
		n int64
	}
	found, err := List(ctx, s.engine, "list approvals", `SELECT `+rule.ApprovalColumns+`, n FROM approval`+which, p, func(row Row, a *numbered) error {
		return rule.ScanApproval(func(dest ...any) error { return row.Scan(append(dest, &a.n)...) }, &a.Approval)
	})
	slices.SortFunc(found, func(a, b numbered) int { return cmp.Compare(b.n, a.n) })
	var out []earshot.Approval
	for _, a := range found[:min(len(found), q.Limit)] {
		out = append(out, a.Approval)
	}
	return out, err
}

// changeApprovals queues what c changes of approvals; id is its turn.
func (t *Tx) changeApprovals(id earshot.TurnID, c rule.Change, now earshot.Time) {
	if c.DropCalls {
		t.Write(`UPDATE approval SET call = '' WHERE turn = $1 AND call <> ''`, int64(id))
	}
	if c.Ask != nil {
		t.Write(`INSERT INTO approval (`+rule.ApprovalColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`,
			rule.ApprovalValues(*c.Ask)...)
	}
	if a := c.Approval; a != nil {
		operator := 0
		if a.Operator {
			operator = 1
		}
		t.Write(`UPDATE approval SET state = $2, decider = $3, operator = $4, why = $5, decided = $6, result = $7`+approvalWithID,
			string(a.ID), string(a.State), string(a.By), operator, a.Why, int64(a.Decided), a.Result)
	}
	for _, turn := range c.Withdraw {
		t.Write(`UPDATE approval SET `+rule.WithdrawSQL+`, decided = $2 WHERE turn = $1 AND `+t.SQL.NoIndex+rule.OpenSQL, int64(turn), int64(now))
	}
}

// AskDraft implements [earshot.Drafts].
func (s *Store) AskDraft(ctx context.Context, a earshot.Approval) (out earshot.Approval, err error) {
	if a, err = rule.CheckApproval(a); err != nil {
		return earshot.Approval{}, err
	}
	err = s.underDraft(ctx, "ask for an approval", a.Turn, func(t *Tx, d rule.StoredDraft) func() error {
		var same *earshot.Approval
		taken := false
		askApproval(t, ` WHERE turn = $1 AND call = $2 AND call <> ''`, []any{int64(a.Turn), a.Call}, &same)
		t.Ask(`SELECT 1 FROM approval`+approvalWithID, []any{string(a.ID)}, ScanOne(&taken, new(int)))
		return func() error {
			next, ask, err := rule.AskDraft(d, a, same, taken)
			if out = next; err == nil && ask {
				t.changeApprovals(a.Turn, rule.Change{Ask: &next}, 0)
			}
			return err
		}
	})
	if err != nil {
		return earshot.Approval{}, err
	}
	return out, nil
}

// NoteDraft implements [earshot.Drafts].
func (s *Store) NoteDraft(ctx context.Context, id earshot.ApprovalID, result string) error {
	at, err := s.Approval(ctx, id)
	if err != nil {
		return err
	}
	result = rule.CheckResult(result)
	return s.underDraft(ctx, "note what came of an approval", at.Turn, func(t *Tx, d rule.StoredDraft) func() error {
		var a *earshot.Approval
		askApproval(t, approvalWithID, []any{string(at.ID)}, &a)
		return func() error {
			if a == nil { // erased meanwhile
				return rule.NoApproval(at.ID)
			}
			next, err := rule.NoteDraft(d, *a, result)
			if err == nil {
				t.changeApprovals(at.Turn, rule.Change{Approval: &next}, 0)
			}
			return err
		}
	})
}

// underDraft decides something about a draft, which is locked: load queues what the
// decision depends on besides.
func (s *Store) underDraft(ctx context.Context, what string, id earshot.TurnID, load func(*Tx, rule.StoredDraft) (decide func() error)) error {
	at, err := s.Draft(ctx, id) // for what never changes
	if err != nil {
		return err
	}
	return s.engine.Apply(ctx, what, func(ctx context.Context, t *Tx) error {
		t.Shared(at.Conversation.Scope) // an erasure that this does not see waits for its end
		if _, err := t.Locked(ctx, at.Conversation); err != nil {
			return err
		}
		d, err := t.draft(ctx, id)
		if err != nil {
			return err
		}
		decide := load(t, d)
		if err := t.Send(ctx); err != nil {
			return err
		}
		return decide()
	})
}

// withdraw queues that nobody is asked any more for the turns that which selects.
func (t *Tx) withdraw(which string, a ...any) {
	t.Write(fmt.Sprintf(`UPDATE approval SET %s, decided = $%d WHERE %s AND %s%s`, rule.WithdrawSQL, len(a)+1, which, t.SQL.NoIndex, rule.OpenSQL), append(slices.Clone(a), int64(t.now()))...)
}

// endAsks is withdraw, and erases the texts of what was asked.
func (t *Tx) endAsks(which string, a ...any) {
	t.withdraw(which, a...)
	t.eraseWords(which, a...)
}

// eraseWords erases the texts of the approvals and the feedback that which selects.
func (t *Tx) eraseWords(which string, a ...any) {
	t.Write(`UPDATE approval SET `+rule.WithoutWordsSQL(t.SQL.NoBytes)+` WHERE `+which+` AND `+rule.WordsSQL(t.SQL.NoBytes), a...)
	t.Write(`UPDATE feedback SET reason = '' WHERE `+which+` AND reason <> ''`, a...)
}

// ForgetDeeds implements [rule.Eraser].
func (e Eraser) ForgetDeeds(ctx context.Context, s earshot.Scope, id earshot.AuthorID, until earshot.Time) error {
	a := Args(s, string(id), int64(until))
	e.Exclusive(s)
	e.Write(`UPDATE approval SET `+rule.WithoutDeciderSQL+In+` AND decider = $4 AND decider <> '' AND decided <= $5`, a...)
	e.Write(`UPDATE approval SET `+rule.WithoutAskerSQL+In+` AND asker = $4 AND asker <> '' AND asked <= $5`, a...)
	e.Write(`UPDATE queued_turn SET stopped_by = ''`+In+` AND stopped_by = $4 AND stopped_by <> '' AND stopped <= $5`, a...)
	e.Write(`DELETE FROM feedback`+In+` AND author = $4 AND time <= $5`, a...)
	e.Erased()
	return e.Send(ctx)
}
