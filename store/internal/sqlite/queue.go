package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

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
		out, err = t.accept(scope, rule.Heard{Event: e, Asked: ask != nil, ID: id, Now: earshot.TimeOf(s.now())}, prepared[0])
		return err
	})
	if err != nil {
		return earshot.Accepted{}, err
	}
	return out, nil
}

func (t *tx) accept(scope earshot.Scope, h rule.Heard, m rule.Message) (earshot.Accepted, error) {
	e := h.Event
	var one int
	var err error
	if e.Delivery != "" {
		h.Known, err = t.one(`SELECT 1 FROM event`+inPlace+` AND delivery = ? AND delivery <> ''`, args(scope, e.Delivery), []any{&one})
		if err != nil {
			return earshot.Accepted{}, err
		}
	}
	if h.Known {
		_, err = t.one(`SELECT seq FROM message`+inID, args(scope, string(m.ID)), []any{&h.Record.Seq})
	} else {
		err = t.hear(scope, &h, m)
	}
	if err != nil {
		return earshot.Accepted{}, err
	}
	if h.Asked {
		_, err := t.one(`SELECT id FROM queued_turn`+queuedFor, args(scope, string(m.ID), string(h.ID.Agent)), []any{&h.Turn})
		if err != nil {
			return earshot.Accepted{}, err
		}
	}
	a := rule.Accept(h)
	if a.Event != nil {
		if err := t.putEvent(scope, *a.Event); err != nil {
			return earshot.Accepted{}, err
		}
	}
	if a.Open != nil {
		if a.Accepted.Turn, err = t.enqueue(*a.Open, e); err != nil {
			return earshot.Accepted{}, err
		}
	}
	if r := a.Resume; r != nil {
		err = t.exec(`INSERT INTO resume (platform, key, state) VALUES (?, ?, ?) ON CONFLICT (platform, key) DO UPDATE SET state = excluded.state`,
			string(scope.Platform), r.Key, blob(r.State))
	}
	return a.Accepted, err
}

// hear records the message of an event, and loads what Accept depends on.
func (t *tx) hear(scope earshot.Scope, h *rule.Heard, m rule.Message) error {
	r := &recording{scope: scope, messages: []rule.Message{m}, outcomes: make([]earshot.Recorded, 1)}
	if err := t.record([]*recording{r}); err != nil {
		return err
	}
	h.Record = r.outcomes[0]
	deleted, err := t.deleted(scope, rule.Quotes(m.Message))
	if err != nil {
		return err
	}
	h.Quoted, h.Gone = len(deleted) > 0, slices.Contains(deleted, m.ID)
	if !h.Asked || h.Event.Client == "" {
		return nil
	}
	var one int
	h.Twice, err = t.one(`SELECT 1 FROM queued_turn`+ofAgent+` AND author = ? AND client = ? AND client <> '' AND said >= ? AND said <= ? LIMIT 1`,
		own(h.ID, string(m.Author.ID), h.Event.Client, int64(m.Time-rule.ClientWindow), int64(m.Time+rule.ClientWindow)), []any{&one})
	return err
}

// putEvent stores an event.
func (t *tx) putEvent(scope earshot.Scope, e earshot.Event) error {
	return t.exec(`INSERT INTO event (place, delivery, message, client, received, raw) VALUES (`+placeOf+`, ?, ?, ?, ?, ?)`,
		args(scope, e.Delivery, string(e.Message.ID), e.Client, int64(e.Received), blob(e.Raw))...)
}

// blob returns b as a parameter that is not NULL, even if b is nil.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// enqueue opens a turn and returns its id.
func (t *tx) enqueue(q rule.Queued, e earshot.Event) (earshot.TurnID, error) {
	id := q.Conversation
	if _, _, err := t.open(earshot.Conversation{ID: id, Metadata: map[string]string{}}, "", q.Updated); err != nil {
		return 0, err
	}
	_, err := t.one(`INSERT INTO queued_turn (id, agent, platform, workspace, channel, conversation, anchor, client, author, said,
			state, why, tries, opened, updated, from_epoch, epoch, number, hash, input)
		VALUES (`+nextTurn+`,
			?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, x'') RETURNING id`,
		own(id, id.Name, string(q.Anchor), e.Client, string(e.Message.Author.ID), int64(e.Message.Time),
			string(q.State), q.Why, q.Tries, int64(q.Opened), int64(q.Updated), q.From, q.Epoch, q.Number, q.Hash), []any{&q.ID})
	if err != nil {
		return 0, err
	}
	return q.ID, t.exec(`INSERT INTO lease (agent, platform, workspace, channel, conversation, owner, fence, until, next)
		VALUES (?, ?, ?, ?, ?, '', 0, 0, ?)
		ON CONFLICT (agent, platform, workspace, channel, conversation) DO UPDATE SET next = excluded.next WHERE lease.next = 0`,
		own(id, id.Name, int64(q.ID))...)
}

// Resume implements [earshot.Queue].
func (s *Store) Resume(ctx context.Context, p earshot.Platform, key string) ([]byte, error) {
	key = rule.Text(key)
	var state []byte
	err := s.row(ctx, `SELECT state FROM resume WHERE platform = ? AND key = ?`, []any{string(rule.ID(p)), key}, &state)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, rule.NoResume(key)
	}
	return state, err
}

// Events implements [earshot.Queue].
func (s *Store) Events(ctx context.Context, scope earshot.Scope, id earshot.MessageID) ([]earshot.Event, error) {
	return list(ctx, s, "list events", `SELECT delivery, message, client, received, raw FROM event`+inPlace+` AND message = ? ORDER BY id`,
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
	var q rule.Queued
	err := s.row(ctx, `SELECT `+rule.QueuedColumns+`, input FROM queued_turn WHERE id = ?`, []any{int64(id)}, append(rule.QueuedFields(&q), &q.Input)...)
	if err != nil {
		return earshot.QueuedTurn{}, missing(err, "read a turn", rule.NoTurn(id))
	}
	return q.Export(), nil
}

// QueuedTurns implements [earshot.Queue]. Each way to ask has its index, and is one
// statement: a turn that changes its state meanwhile would be missed by one
// statement for each state.
func (s *Store) QueuedTurns(ctx context.Context, q earshot.TurnQuery) ([]earshot.QueuedTurn, error) {
	q = rule.CheckTurnQuery(q)
	const end = ` AND id < ? ORDER BY id DESC LIMIT ? + 0`
	bound := []any{int64(q.Before), q.Limit}
	agent, of := "", []any(nil)
	if q.Agent != "" {
		agent, of = ` AND +agent = ?`, []any{string(q.Agent)}
	}
	switch {
	case q.Scope != nil && len(q.States) > 0:
		states := make([]any, len(q.States))
		for i, state := range q.States {
			states[i] = string(state)
		}
		return s.queuedTurns(ctx, in+agent+` AND +state IN `+marks(len(states), 1)+end, slices.Concat(args(*q.Scope), of, states, bound)...)
	case q.Scope != nil:
		return s.queuedTurns(ctx, in+agent+end, slices.Concat(args(*q.Scope), of, bound)...)
	case len(q.States) == 0:
		return s.queuedTurns(ctx, ` WHERE true`+agent+end, slices.Concat(of, bound)...)
	}
	var newest []string // of each state
	var a []any
	for _, state := range q.States {
		newest = append(newest, `id IN (SELECT id FROM queued_turn WHERE state = ?`+agent+end+`)`)
		a = slices.Concat(a, []any{string(state)}, of, bound)
	}
	found, err := s.queuedTurns(ctx, ` WHERE `+strings.Join(newest, ` OR `), a...)
	return rule.NewestTurns(found, q.Limit), err
}

func (s *Store) queuedTurns(ctx context.Context, where string, a ...any) ([]earshot.QueuedTurn, error) {
	return list(ctx, s, "list turns", `SELECT `+rule.QueuedColumns+` FROM queued_turn`+where, a,
		func(rows *sql.Rows, out *earshot.QueuedTurn) error {
			var q rule.Queued
			err := rows.Scan(rule.QueuedFields(&q)...)
			*out = q.Export()
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
		states = earshot.TurnStates()
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
