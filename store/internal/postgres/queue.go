package postgres

import (
	"context"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/jackc/pgx/v5"
)

// queuedColumns are those of queued_turn that a read loads, in the order of
// queued.dest. The input follows where it is wanted.
const queuedColumns = `id, agent, platform, workspace, channel, conversation, anchor, state, why, tries, opened, updated, from_epoch, epoch, number, hash`

// A queued is a row of queued_turn. from is the conversation's epoch when it
// began; that and Epoch are -1 before.
type queued struct {
	earshot.QueuedTurn
	from  int
	found bool
}

func (q *queued) dest() []any {
	s := &q.Conversation.Scope
	return []any{
		&q.ID, &q.Conversation.Agent, &s.Platform, &s.Workspace, &s.Channel, &q.Conversation.Name, &q.Anchor, &q.State, &q.Why,
		&q.Tries, &q.Opened, &q.Updated, &q.from, &q.Epoch, &q.Number, &q.Hash,
	}
}

func scanQueued(rows pgx.Rows, q *queued) error {
	q.found = true
	return rows.Scan(q.dest()...)
}

// scanWhole reads a row of queuedColumns with the input.
func scanWhole(rows pgx.Rows, out *earshot.QueuedTurn) error {
	var q queued
	err := rows.Scan(append(q.dest(), &q.Input)...)
	*out = q.export()
	return err
}

func (q *queued) export() earshot.QueuedTurn {
	out := q.QueuedTurn
	out.Epoch = max(out.Epoch, 0)
	out.Input = orNil(out.Input)
	return out
}

// orNil returns what is stored as no bytes as nil.
func orNil(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// blob returns b as a parameter that is never NULL.
func blob(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
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
	added := 0
	err = s.apply(ctx, "accept", func(ctx context.Context, t *tx) error {
		a := acceptance{scope: scope, event: e, prepared: prepared, asked: ask != nil, id: id, now: earshot.TimeOf(s.now())}
		err := a.run(ctx, t)
		out, added = a.out, a.added
		if err == nil && a.opens {
			t.enqueue(id, e, a.now, &out.Turn)
			out.Opened = true
		}
		return err
	})
	if err != nil {
		return earshot.Accepted{}, err
	}
	s.stats.grown(added)
	return out, nil
}

// An acceptance is a call of Accept with what it found.
type acceptance struct {
	scope    earshot.Scope
	event    earshot.Event
	prepared []rule.Message // the event's message
	asked    bool
	id       earshot.ConversationID
	now      earshot.Time

	quotes bool // the event may quote a message that is deleted
	twice  bool // the sender sent it before
	out    earshot.Accepted
	added  int  // messages
	opens  bool // a turn is to be opened
}

func (a *acceptance) run(ctx context.Context, t *tx) error {
	m := a.event.Message
	b, err := t.batchOf(ctx, a.scope, a.prepared, func() { a.ask(t) })
	if err != nil {
		return err
	}
	gone := false // the message is a tombstone
	if a.out.Duplicate {
		a.out.Recorded = earshot.Recorded{ID: m.ID, Change: earshot.Same, Seq: b.Seq(m.ID)}
	} else {
		a.out.Recorded = b.Add(a.prepared[0])
		a.added = len(b.Inserts())
		if err := t.writeBatch(ctx, a.scope, b); err != nil {
			return err
		}
		gone = b.Deleted(m.ID)
		t.putEvent(a.scope, a.event, a.quotes || gone)
	}
	a.opens = a.asked && a.out.Turn == 0 && !a.out.Duplicate && !a.twice && rule.MayOpen(a.event, a.out.Change, gone)
	return nil
}

// ask queues what decides about the event.
func (a *acceptance) ask(t *tx) {
	e := a.event
	if e.Delivery != "" {
		t.ask(`SELECT 1 FROM event`+in+` AND delivery = $4 AND delivery <> ''`, args(a.scope, e.Delivery), one(&a.out.Duplicate, new(int)))
	}
	t.askDeleted(a.scope, rule.Quotes(e.Message), &a.quotes)
	if !a.asked {
		return
	}
	var found bool
	t.ask(`SELECT id FROM queued_turn`+in+` AND anchor = $4 AND agent = $5`, args(a.scope, string(e.Message.ID), string(a.id.Agent)), one(&found, &a.out.Turn))
	if e.Client != "" {
		t.ask(`SELECT 1 FROM queued_turn`+ofAgent+` AND client = $5 AND client <> '' AND author = $6 AND said >= $7 AND said <= $8 LIMIT 1`,
			own(a.id, e.Client, string(e.Message.Author.ID), int64(e.Message.Time-rule.ClientWindow), int64(e.Message.Time+rule.ClientWindow)),
			one(&a.twice, new(int)))
	}
}

// putEvent keeps an event; bare says that its bytes must not be kept.
func (t *tx) putEvent(scope earshot.Scope, e earshot.Event, bare bool) {
	if bare {
		e.Raw = nil
	}
	if e.Delivery == "" && len(e.Raw) == 0 {
		return
	}
	t.write(`INSERT INTO event (platform, workspace, channel, delivery, message, client, received, raw) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		args(scope, e.Delivery, string(e.Message.ID), e.Client, int64(e.Received), blob(e.Raw))...)
}

// enqueue queues the opening of a turn, whose id will be in turn.
func (t *tx) enqueue(id earshot.ConversationID, e earshot.Event, now earshot.Time, turn *earshot.TurnID) {
	t.write(`INSERT INTO conversation (agent, platform, workspace, channel, `+conversationColumns+`)
		VALUES ($1, $2, $3, $4, $5, '', 0, 0, 0, '{}', $6, $6) ON CONFLICT (agent, platform, workspace, channel, name) DO NOTHING`,
		own(id, id.Name, int64(now))...)
	opened := e.Received
	if opened == 0 {
		opened = now
	}
	t.ask(`WITH opened AS (
			INSERT INTO queued_turn (agent, platform, workspace, channel, conversation, anchor, client, author, said,
				state, why, tries, opened, updated, from_epoch, epoch, number, hash, input)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'open', '', 0, $10, $11, -1, -1, 0, '', '') RETURNING id),
		next AS (
			INSERT INTO lease (agent, platform, workspace, channel, conversation, owner, fence, until, next)
			SELECT $1, $2, $3, $4, $5, '', 0, 0, id FROM opened
			ON CONFLICT (agent, platform, workspace, channel, conversation) DO UPDATE SET next = excluded.next WHERE lease.next = 0)
		SELECT id FROM opened`,
		own(id, id.Name, string(e.Message.ID), e.Client, string(e.Message.Author.ID), int64(e.Message.Time), int64(opened), int64(now)),
		func(rows pgx.Rows) error { return rows.Scan(turn) })
}

// Events implements [earshot.Queue].
func (s *Store) Events(ctx context.Context, scope earshot.Scope, id earshot.MessageID) ([]earshot.Event, error) {
	return list(ctx, s, "list events", `SELECT delivery, message, client, received, raw FROM event`+in+` AND message = $4 ORDER BY id`,
		args(rule.Scope(scope), string(rule.ID(id))),
		func(rows pgx.Rows, e *earshot.Event) error {
			err := rows.Scan(&e.Delivery, &e.Message.ID, &e.Client, &e.Received, &e.Raw)
			e.Raw = orNil(e.Raw)
			return err
		})
}

// QueuedTurn implements [earshot.Queue].
func (s *Store) QueuedTurn(ctx context.Context, id earshot.TurnID) (earshot.QueuedTurn, error) {
	found, err := list(ctx, s, "read a turn", `SELECT `+queuedColumns+`, input FROM queued_turn WHERE id = $1`, []any{int64(id)}, scanWhole)
	if err != nil {
		return earshot.QueuedTurn{}, err
	}
	if len(found) == 0 {
		return earshot.QueuedTurn{}, fmt.Errorf("turn %d: %w", id, earshot.ErrNotFound)
	}
	return found[0], nil
}

// QueuedTurns implements [earshot.Queue]. Each way to ask has its index.
func (s *Store) QueuedTurns(ctx context.Context, q earshot.TurnQuery) ([]earshot.QueuedTurn, error) {
	q = rule.CheckTurnQuery(q)
	var found []queued
	err := s.read(ctx, func(t *tx) {
		found = nil
		ask := func(where string, a ...any) {
			n := len(a)
			if q.Agent != "" {
				where += fmt.Sprintf(` AND agent = $%d`, n+1)
				a = append(a, string(q.Agent))
				n++
			}
			where += fmt.Sprintf(` AND id < $%d ORDER BY id DESC LIMIT $%d`, n+1, n+2)
			t.ask(`SELECT `+queuedColumns+` FROM queued_turn WHERE `+where, append(a, int64(q.Before), q.Limit), gather(&found, scanQueued))
		}
		const ofScope = `platform = $1 AND workspace = $2 AND channel = $3`
		switch {
		case q.Scope != nil && len(q.States) > 0:
			ask(ofScope+` AND state = ANY($4)`, args(*q.Scope, texts(q.States))...)
		case q.Scope != nil:
			ask(ofScope, args(*q.Scope)...)
		case len(q.States) == 0:
			ask(`true`)
		}
		if q.Scope == nil {
			for _, state := range q.States {
				ask(`state = $1`, string(state))
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("list turns: %w", err)
	}
	slices.SortFunc(found, func(a, b queued) int { return int(b.ID - a.ID) })
	var out []earshot.QueuedTurn
	for _, f := range found[:min(len(found), q.Limit)] {
		out = append(out, f.export())
	}
	return out, nil
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
	rows, err := list(ctx, s, "count turns", `SELECT state, count(*) FROM queued_turn WHERE state = ANY($1) GROUP BY state`, []any{texts(states)},
		func(rows pgx.Rows, r *row) error { return rows.Scan(&r.state, &r.n) })
	out := map[earshot.TurnState]int{}
	for _, r := range rows {
		out[r.state] = r.n
	}
	return out, err
}
