package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// queuedColumns are those of queued_turn that a read loads, in the order of
// queued.dest. The input follows where it is wanted.
const queuedColumns = `id, agent, platform, workspace, channel, conversation, anchor, state, why, tries, opened, updated, from_epoch, epoch, number, hash`

// A queued is a row of queued_turn. from is the conversation's epoch when it
// began; that and Epoch are -1 before.
type queued struct {
	earshot.QueuedTurn
	from int
}

func (q *queued) dest() []any {
	s := &q.Conversation.Scope
	return []any{
		&q.ID, &q.Conversation.Agent, &s.Platform, &s.Workspace, &s.Channel, &q.Conversation.Name, &q.Anchor, &q.State, &q.Why,
		&q.Tries, &q.Opened, &q.Updated, &q.from, &q.Epoch, &q.Number, &q.Hash,
	}
}

func (q *queued) export() earshot.QueuedTurn {
	out := q.QueuedTurn
	out.Epoch = max(out.Epoch, 0)
	if len(out.Input) == 0 {
		out.Input = nil
	}
	return out
}

// Accept implements [earshot.Queue].
func (s *Store) Accept(ctx context.Context, scope earshot.Scope, e earshot.Event, ask *earshot.ConversationID) (earshot.Accepted, error) {
	scope, e, id, err := rule.CheckAccept(scope, e, ask)
	if err != nil {
		return earshot.Accepted{}, err
	}
	prepared, err := rule.Prepare(ctx, []earshot.Message{e.Message})
	if err != nil {
		return earshot.Accepted{}, err
	}
	e.Message = prepared[0].Message
	var out earshot.Accepted
	err = s.apply(ctx, "accept", func(t *tx) (err error) {
		out, err = t.accept(scope, e, prepared[0], ask != nil, id, earshot.TimeOf(s.now()))
		return err
	})
	if err != nil {
		return earshot.Accepted{}, err
	}
	return out, nil
}

func (t *tx) accept(scope earshot.Scope, e earshot.Event, m rule.Message, asked bool, id earshot.ConversationID, now earshot.Time) (earshot.Accepted, error) {
	var out earshot.Accepted
	if e.Delivery != "" {
		var one int
		known, err := t.one(`SELECT 1 FROM event`+in+` AND delivery = ? AND delivery <> ''`, args(scope, e.Delivery), []any{&one})
		if err != nil {
			return out, err
		}
		out.Duplicate = known
	}
	gone := false // the message is a tombstone
	if out.Duplicate {
		out.Recorded = earshot.Recorded{ID: m.ID, Change: earshot.Same}
		if _, err := t.one(`SELECT seq FROM message`+inID, args(scope, string(m.ID)), []any{&out.Seq}); err != nil {
			return out, err
		}
	} else {
		r := &recording{scope: scope, messages: []rule.Message{m}, outcomes: make([]earshot.Recorded, 1)}
		if err := t.record([]*recording{r}); err != nil {
			return out, err
		}
		out.Recorded = r.outcomes[0]
		deleted, err := t.deleted(scope, rule.Quotes(m.Message))
		if err != nil {
			return out, err
		}
		gone = slices.Contains(deleted, m.ID)
		if err := t.putEvent(scope, e, len(deleted) > 0); err != nil {
			return out, err
		}
	}
	if !asked {
		return out, nil
	}
	found, err := t.one(`SELECT id FROM queued_turn`+in+` AND anchor = ? AND agent = ?`, args(scope, string(m.ID), string(id.Agent)), []any{&out.Turn})
	if err != nil || found || out.Duplicate || !rule.MayOpen(e, out.Change, gone) {
		return out, err
	}
	twice, err := t.sentTwice(id, e)
	if err != nil || twice {
		return out, err
	}
	out.Turn, err = t.enqueue(id, e, now)
	out.Opened = err == nil
	return out, err
}

// putEvent keeps an event; bare says that its bytes must not be kept.
func (t *tx) putEvent(scope earshot.Scope, e earshot.Event, bare bool) error {
	if bare {
		e.Raw = nil
	}
	if e.Delivery == "" && len(e.Raw) == 0 {
		return nil
	}
	return t.exec(`INSERT INTO event (platform, workspace, channel, delivery, message, client, received, raw) VALUES `+marks(8, 1),
		args(scope, e.Delivery, string(e.Message.ID), e.Client, int64(e.Received), blob(e.Raw))...)
}

// blob returns b as a parameter that is never NULL.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// sentTwice reports whether the sender sent the message under another id
// already, and that one has a turn.
func (t *tx) sentTwice(id earshot.ConversationID, e earshot.Event) (bool, error) {
	if e.Client == "" {
		return false, nil
	}
	var one int
	return t.one(`SELECT 1 FROM queued_turn`+ofAgent+` AND author = ? AND client = ? AND client <> '' AND said >= ? AND said <= ? LIMIT 1`,
		own(id, string(e.Message.Author.ID), e.Client, int64(e.Message.Time-rule.ClientWindow), int64(e.Message.Time+rule.ClientWindow)), []any{&one})
}

// enqueue opens a turn.
func (t *tx) enqueue(id earshot.ConversationID, e earshot.Event, now earshot.Time) (earshot.TurnID, error) {
	if _, _, err := t.open(id, "", now); err != nil {
		return 0, err
	}
	opened := e.Received
	if opened == 0 {
		opened = now
	}
	var turn earshot.TurnID
	_, err := t.one(`INSERT INTO queued_turn (id, agent, platform, workspace, channel, conversation, anchor, client, author, said,
			state, why, tries, opened, updated, from_epoch, epoch, number, hash, input)
		VALUES (1 + max((SELECT coalesce(max(id), 0) FROM queued_turn), (SELECT turn FROM erased WHERE one = 1)),
			?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', '', 0, ?, ?, -1, -1, 0, '', x'') RETURNING id`,
		own(id, id.Name, string(e.Message.ID), e.Client, string(e.Message.Author.ID), int64(e.Message.Time), int64(opened), int64(now)), []any{&turn})
	if err != nil {
		return 0, err
	}
	return turn, t.exec(`INSERT INTO lease (agent, platform, workspace, channel, conversation, owner, fence, until, next)
		VALUES (?, ?, ?, ?, ?, '', 0, 0, ?)
		ON CONFLICT (agent, platform, workspace, channel, conversation) DO UPDATE SET next = excluded.next WHERE lease.next = 0`,
		own(id, id.Name, int64(turn))...)
}

// Events implements [earshot.Queue].
func (s *Store) Events(ctx context.Context, scope earshot.Scope, id earshot.MessageID) ([]earshot.Event, error) {
	return list(ctx, s, "list events", `SELECT delivery, message, client, received, raw FROM event`+in+` AND message = ? ORDER BY id`,
		args(rule.Scope(scope), string(rule.ID(id))),
		func(rows *sql.Rows, e *earshot.Event) error {
			err := rows.Scan(&e.Delivery, &e.Message.ID, &e.Client, &e.Received, &e.Raw)
			if len(e.Raw) == 0 {
				e.Raw = nil
			}
			return err
		})
}

// QueuedTurn implements [earshot.Queue].
func (s *Store) QueuedTurn(ctx context.Context, id earshot.TurnID) (earshot.QueuedTurn, error) {
	var q queued
	err := s.row(ctx, `SELECT `+queuedColumns+`, input FROM queued_turn WHERE id = ?`, []any{int64(id)}, append(q.dest(), &q.Input)...)
	if err != nil {
		return earshot.QueuedTurn{}, fmt.Errorf("turn %d: %w", id, orNotFound(err))
	}
	return q.export(), nil
}

// QueuedTurns implements [earshot.Queue]. Each way to ask has its index.
func (s *Store) QueuedTurns(ctx context.Context, q earshot.TurnQuery) ([]earshot.QueuedTurn, error) {
	q = rule.CheckTurnQuery(q)
	const end = ` AND id < ? ORDER BY id DESC LIMIT ? + 0`
	bound := []any{int64(q.Before), q.Limit}
	agent, of := "", []any(nil)
	if q.Agent != "" {
		agent, of = ` AND +agent = ?`, []any{string(q.Agent)}
	}
	if q.Scope != nil {
		a, states := slices.Concat(args(*q.Scope), of), ""
		if len(q.States) > 0 {
			states = ` AND +state IN ` + marks(len(q.States), 1)
			for _, state := range q.States {
				a = append(a, string(state))
			}
		}
		return s.queuedTurns(ctx, in+agent+states+end, append(a, bound...)...)
	}
	if len(q.States) == 0 {
		return s.queuedTurns(ctx, ` WHERE true`+agent+end, append(of, bound...)...)
	}
	var out []earshot.QueuedTurn
	for _, state := range q.States {
		found, err := s.queuedTurns(ctx, ` WHERE state = ?`+agent+end, slices.Concat([]any{string(state)}, of, bound)...)
		if err != nil {
			return nil, err
		}
		out = append(out, found...)
	}
	slices.SortFunc(out, func(a, b earshot.QueuedTurn) int { return int(b.ID - a.ID) })
	return out[:min(len(out), q.Limit)], nil
}

func (s *Store) queuedTurns(ctx context.Context, where string, a ...any) ([]earshot.QueuedTurn, error) {
	return list(ctx, s, "list turns", `SELECT `+queuedColumns+` FROM queued_turn`+where, a,
		func(rows *sql.Rows, out *earshot.QueuedTurn) error {
			var q queued
			err := rows.Scan(q.dest()...)
			*out = q.export()
			return err
		})
}

// Depth implements [earshot.Queue].
func (s *Store) Depth(ctx context.Context, states ...earshot.TurnState) (map[earshot.TurnState]int, error) {
	type row struct {
		state earshot.TurnState
		n     int
	}
	if len(states) == 0 {
		states = rule.TurnStates()
	}
	args := make([]any, len(states))
	for i, state := range states {
		args[i] = string(state)
	}
	query := `SELECT state, count(*) FROM queued_turn WHERE state IN (` + strings.TrimSuffix(strings.Repeat("?, ", len(states)), ", ") + `) GROUP BY state`
	rows, err := list(ctx, s, "count turns", query, args, func(rows *sql.Rows, r *row) error { return rows.Scan(&r.state, &r.n) })
	out := map[earshot.TurnState]int{}
	for _, r := range rows {
		out[r.state] = r.n
	}
	return out, err
}
