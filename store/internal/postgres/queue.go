package postgres

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/jackc/pgx/v5"
)

func scanQueued(rows pgx.Rows, q *rule.Queued) error { return rows.Scan(rule.QueuedFields(q)...) }

// scanWhole reads a row of rule.QueuedColumns with the input.
func scanWhole(rows pgx.Rows, out *earshot.QueuedTurn) error {
	var q rule.Queued
	err := rows.Scan(append(rule.QueuedFields(&q), &q.Input)...)
	*out = q.Export()
	return err
}

// orNil returns b, or nil if b is empty.
func orNil(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b
}

// blob returns b as a parameter that is not NULL, even if b is nil.
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
		h := rule.Heard{Event: e, Asked: ask != nil, ID: id, Now: earshot.TimeOf(s.now())}
		b, err := t.batchOf(ctx, scope, prepared, func() { t.askHeard(scope, &h) })
		if err != nil {
			return err
		}
		added = 0
		if !h.Known {
			h.Record = b.Add(prepared[0])
			added = len(b.Inserts())
			if err := t.writeBatch(ctx, scope, b); err != nil {
				return err
			}
		}
		h.Gone = b.Deleted(e.Message.ID)
		if h.Known {
			h.Record.Seq = b.Seq(e.Message.ID)
		}
		a := rule.Accept(h)
		out = a.Accepted
		if a.Event != nil {
			t.putEvent(scope, *a.Event)
		}
		if a.Open != nil {
			t.enqueue(*a.Open, e, &out.Turn)
		}
		if r := a.Resume; r != nil { // last, since events of other channels write the same row
			t.write(`INSERT INTO resume (platform, key, state) VALUES ($1, $2, $3) ON CONFLICT (platform, key) DO UPDATE SET state = excluded.state`,
				string(scope.Platform), r.Key, blob(r.State))
		}
		return nil
	})
	if err != nil {
		return earshot.Accepted{}, err
	}
	s.stats.grown(added)
	return out, nil
}

// askHeard queries what Accept depends on.
func (t *tx) askHeard(scope earshot.Scope, h *rule.Heard) {
	m := h.Event.Message
	if h.Event.Delivery != "" {
		t.ask(`SELECT 1 FROM event`+in+` AND delivery = $4 AND delivery <> ''`, args(scope, h.Event.Delivery), one(&h.Known, new(int)))
	}
	t.askDeleted(scope, rule.Quotes(m), &h.Quoted)
	if !h.Asked {
		return
	}
	t.ask(`SELECT id FROM queued_turn`+queuedFor, args(scope, string(m.ID), string(h.ID.Agent)), one(new(bool), &h.Turn))
	if h.Event.Client != "" {
		t.ask(`SELECT 1 FROM queued_turn`+ofAgent+` AND client = $5 AND client <> '' AND author = $6 AND said >= $7 AND said <= $8 LIMIT 1`,
			own(h.ID, h.Event.Client, string(m.Author.ID), int64(m.Time-rule.ClientWindow), int64(m.Time+rule.ClientWindow)),
			one(&h.Twice, new(int)))
	}
}

// putEvent stores an event.
func (t *tx) putEvent(scope earshot.Scope, e earshot.Event) {
	t.write(`INSERT INTO event (platform, workspace, channel, delivery, message, client, received, raw) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		args(scope, e.Delivery, string(e.Message.ID), e.Client, int64(e.Received), blob(e.Raw))...)
}

// createBare creates a conversation of which nothing is said, unless there is one.
func (t *tx) createBare(id earshot.ConversationID, now earshot.Time) {
	t.write(`INSERT INTO conversation (agent, platform, workspace, channel, `+rule.ConversationColumns+`)
		VALUES ($1, $2, $3, $4, $5, '', 0, 0, 0, 0, '{}', '', $6, $6) ON CONFLICT (agent, platform, workspace, channel, name) DO NOTHING`,
		own(id, id.Name, int64(now))...)
}

// queuedFor selects an agent's turn for an anchor.
const queuedFor = in + ` AND anchor = $4 AND agent = $5`

// busyIn selects a turn of a conversation that somebody is answering.
const busyIn = in + ` AND conversation = $4 AND agent = $5 AND ` + rule.BusySQL + ` LIMIT 1`

// enqueue opens a turn; send sets turn to its id.
func (t *tx) enqueue(q rule.Queued, e earshot.Event, turn *earshot.TurnID) {
	id := q.Conversation
	t.createBare(id, q.Updated)
	t.ask(`WITH opened AS (
			INSERT INTO queued_turn (agent, platform, workspace, channel, conversation, anchor, client, author, said,
				state, why, tries, opened, updated, from_epoch, epoch, number, hash, input)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, '') RETURNING id),
		next AS (
			INSERT INTO lease (agent, platform, workspace, channel, conversation, owner, fence, until, next)
			SELECT $1, $2, $3, $4, $5, '', 0, 0, id FROM opened
			ON CONFLICT (agent, platform, workspace, channel, conversation) DO UPDATE SET next = excluded.next WHERE lease.next = 0)
		SELECT id FROM opened`,
		own(id, id.Name, string(q.Anchor), e.Client, string(e.Message.Author.ID), int64(e.Message.Time),
			string(q.State), q.Why, q.Tries, int64(q.Opened), int64(q.Updated), q.From, q.Epoch, q.Number, q.Hash),
		func(rows pgx.Rows) error { return rows.Scan(turn) })
}

// Resume implements [earshot.Queue].
func (s *Store) Resume(ctx context.Context, p earshot.Platform, key string) ([]byte, error) {
	key = rule.Text(key)
	found, err := list(ctx, s, "read a resume state", `SELECT state FROM resume WHERE platform = $1 AND key = $2`, []any{string(rule.ID(p)), key},
		func(rows pgx.Rows, state *[]byte) error { return rows.Scan(state) })
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, rule.NoResume(key)
	}
	return found[0], nil
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
	found, err := list(ctx, s, "read a turn", `SELECT `+rule.QueuedColumns+`, input FROM queued_turn WHERE id = $1`, []any{int64(id)}, scanWhole)
	if err != nil {
		return earshot.QueuedTurn{}, err
	}
	if len(found) == 0 {
		return earshot.QueuedTurn{}, rule.NoTurn(id)
	}
	return found[0], nil
}

// QueuedTurns implements [earshot.Queue]. Each way to ask has its index, and is one
// statement: a turn that changes its state meanwhile would be missed by one
// statement for each state.
func (s *Store) QueuedTurns(ctx context.Context, q earshot.TurnQuery) ([]earshot.QueuedTurn, error) {
	q = rule.CheckTurnQuery(q)
	var a []any
	param := func(v any) string {
		a = append(a, v)
		return fmt.Sprintf("$%d", len(a))
	}
	newest := func(where string) string {
		if q.Agent != "" {
			where += ` AND agent = ` + param(string(q.Agent))
		}
		return `SELECT ` + rule.QueuedColumns + ` FROM queued_turn WHERE ` + where + ` AND id < ` + param(int64(q.Before)) + ` ORDER BY id DESC LIMIT ` + param(q.Limit)
	}
	var query string
	switch {
	case q.Scope != nil:
		a = args(*q.Scope)
		where := `platform = $1 AND workspace = $2 AND channel = $3`
		if len(q.States) > 0 {
			where += ` AND state = ANY(` + param(texts(q.States)) + `)`
		}
		query = newest(where)
	case len(q.States) == 0:
		query = newest(`true`)
	default:
		query = `SELECT ` + rule.QueuedColumns + ` FROM unnest(` + param(texts(q.States)) + `::text[]) AS wanted, LATERAL (` + newest(`state = wanted`) + `) AS found`
	}
	found, err := list(ctx, s, "list turns", query, a, func(rows pgx.Rows, out *earshot.QueuedTurn) error {
		var f rule.Queued
		err := scanQueued(rows, &f)
		*out = f.Export()
		return err
	})
	return rule.NewestTurns(found, q.Limit), err
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
	rows, err := list(ctx, s, "count turns", `SELECT state, count(*) FROM queued_turn WHERE state = ANY($1) GROUP BY state`, []any{texts(states)},
		func(rows pgx.Rows, r *row) error { return rows.Scan(&r.state, &r.n) })
	out := map[earshot.TurnState]int{}
	for _, r := range rows {
		out[r.state] = r.n
	}
	return out, err
}
