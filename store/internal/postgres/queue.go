package postgres

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
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
	err = s.apply(ctx, "accept", func(ctx context.Context, t *tx) error {
		h := rule.Heard{Event: e, Asked: ask != nil, ID: id, Now: earshot.TimeOf(s.now())}
		b, err := t.batchOf(ctx, scope, prepared, func() { t.askHeard(scope, &h) })
		if err != nil {
			return err
		}
		if !h.Known {
			h.Record = b.Add(prepared[0])
			if err := t.WriteBatch(ctx, scope, b); err != nil {
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
			t.PutResume(scope.Platform, r)
		}
		return nil
	})
	if err != nil {
		return earshot.Accepted{}, err
	}
	return out, nil
}

// askHeard queries what Accept depends on.
func (t *tx) askHeard(scope earshot.Scope, h *rule.Heard) {
	m := h.Event.Message
	if h.Event.Delivery != "" {
		t.Ask(`SELECT 1 FROM event`+in+` AND delivery = $4 AND delivery <> ''`, tables.Args(scope, h.Event.Delivery), tables.One(&h.Known, new(int)))
	}
	t.AskDeleted(scope, rule.Quotes(m), &h.Quoted)
	if !h.Asked {
		return
	}
	t.Ask(`SELECT id FROM queued_turn`+tables.QueuedFor, tables.Args(scope, string(m.ID), string(h.ID.Agent)), tables.One(new(bool), &h.Turn))
	if h.Event.Client != "" {
		t.Ask(`SELECT 1 FROM queued_turn`+tables.OfAgent+` AND client = $5 AND client <> '' AND author = $6 AND said >= $7 AND said <= $8 LIMIT 1`,
			tables.Own(h.ID, h.Event.Client, string(m.Author.ID), int64(m.Time-rule.ClientWindow), int64(m.Time+rule.ClientWindow)),
			tables.One(&h.Twice, new(int)))
	}
}

// putEvent stores an event.
func (t *tx) putEvent(scope earshot.Scope, e earshot.Event) {
	t.Write(`INSERT INTO event (platform, workspace, channel, delivery, message, client, received, raw) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
		tables.Args(scope, e.Delivery, string(e.Message.ID), e.Client, int64(e.Received), tables.Blob(e.Raw))...)
}

// enqueue opens a turn; send sets turn to its id.
func (t *tx) enqueue(q rule.Queued, e earshot.Event, turn *earshot.TurnID) {
	id := q.Conversation
	t.CreateBare(id, q.Updated)
	t.Ask(`WITH opened AS (
			INSERT INTO queued_turn (agent, platform, workspace, channel, conversation, anchor, client, author, said,
				state, why, tries, opened, updated, from_epoch, epoch, number, hash, input)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, '') RETURNING id),
		next AS (
			INSERT INTO lease (agent, platform, workspace, channel, conversation, owner, fence, until, next)
			SELECT $1, $2, $3, $4, $5, '', 0, 0, id FROM opened
			ON CONFLICT (agent, platform, workspace, channel, conversation) DO UPDATE SET next = excluded.next WHERE lease.next = 0)
		SELECT id FROM opened`,
		tables.Own(id, id.Name, string(q.Anchor), e.Client, string(e.Message.Author.ID), int64(e.Message.Time),
			string(q.State), q.Why, q.Tries, int64(q.Opened), int64(q.Updated), q.From, q.Epoch, q.Number, q.Hash),
		func(rows tables.Row) error { return rows.Scan(turn) })
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
	first := func(where string) string {
		if q.Agent != "" {
			where += ` AND agent = ` + param(string(q.Agent))
		}
		return `SELECT ` + rule.QueuedColumns + ` FROM queued_turn WHERE ` + where + ` AND id < ` + param(int64(q.Before)) + rule.TurnOrder(q) + ` LIMIT ` + param(q.Limit)
	}
	var query string
	switch {
	case q.Scope != nil:
		a = tables.Args(*q.Scope)
		where := `platform = $1 AND workspace = $2 AND channel = $3`
		if len(q.States) > 0 {
			where += ` AND state = ANY(` + param(tables.Texts(q.States)) + `)`
		}
		query = first(where)
	case len(q.States) == 0:
		query = first(`true`)
	default:
		query = `SELECT ` + rule.QueuedColumns + ` FROM unnest(` + param(tables.Texts(q.States)) + `::text[]) AS wanted, LATERAL (` + first(`state = wanted`) + `) AS found`
	}
	found, err := tables.List(ctx, s, "list turns", query, a, tables.ScanTurn)
	return rule.FirstTurns(found, q), err
}
