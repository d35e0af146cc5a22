package sqlite

import (
	"context"
	"slices"
	"strings"

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
		h.Known, err = t.one(`SELECT 1 FROM event`+inPlace+` AND delivery = ? AND delivery <> ''`, tables.Args(scope, e.Delivery), []any{&one})
		if err != nil {
			return earshot.Accepted{}, err
		}
	}
	if h.Known {
		_, err = t.one(`SELECT seq FROM message`+inID, tables.Args(scope, string(m.ID)), []any{&h.Record.Seq})
	} else {
		err = t.hear(scope, &h, m)
	}
	if err != nil {
		return earshot.Accepted{}, err
	}
	if h.Asked {
		_, err := t.one(`SELECT id FROM queued_turn`+tables.QueuedFor, tables.Args(scope, string(m.ID), string(h.ID.Agent)), []any{&h.Turn})
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
	if a.Resume != nil {
		t.PutResume(scope.Platform, a.Resume)
	}
	return a.Accepted, t.did(err)
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
		tables.Own(h.ID, string(m.Author.ID), h.Event.Client, int64(m.Time-rule.ClientWindow), int64(m.Time+rule.ClientWindow)), []any{&one})
	return err
}

// putEvent stores an event.
func (t *tx) putEvent(scope earshot.Scope, e earshot.Event) error {
	return t.exec(`INSERT INTO event (place, delivery, message, client, received, raw) VALUES (`+placeOf+`, ?, ?, ?, ?, ?)`,
		tables.Args(scope, e.Delivery, string(e.Message.ID), e.Client, int64(e.Received), tables.Blob(e.Raw))...)
}

// enqueue opens a turn and returns its id.
func (t *tx) enqueue(q rule.Queued, e earshot.Event) (earshot.TurnID, error) {
	id := q.Conversation
	t.CreateBare(id, q.Updated)
	err := t.did(nil)
	if err != nil {
		return 0, err
	}
	_, err = t.one(`INSERT INTO queued_turn (id, agent, platform, workspace, channel, conversation, anchor, client, author, said,
			state, why, tries, opened, updated, from_epoch, epoch, number, hash, input)
		VALUES (`+nextTurn+`,
			?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, x'') RETURNING id`,
		tables.Own(id, id.Name, string(q.Anchor), e.Client, string(e.Message.Author.ID), int64(e.Message.Time),
			string(q.State), q.Why, q.Tries, int64(q.Opened), int64(q.Updated), q.From, q.Epoch, q.Number, q.Hash), []any{&q.ID})
	if err != nil {
		return 0, err
	}
	return q.ID, t.exec(`INSERT INTO lease (agent, platform, workspace, channel, conversation, owner, fence, until, next)
		VALUES (?, ?, ?, ?, ?, '', 0, 0, ?)
		ON CONFLICT (agent, platform, workspace, channel, conversation) DO UPDATE SET next = excluded.next WHERE lease.next = 0`,
		tables.Own(id, id.Name, int64(q.ID))...)
}

// QueuedTurns implements [earshot.Queue]. Each way to ask has its index, and is one
// statement: a turn that changes its state meanwhile would be missed by one
// statement for each state.
func (s *Store) QueuedTurns(ctx context.Context, q earshot.TurnQuery) ([]earshot.QueuedTurn, error) {
	q = rule.CheckTurnQuery(q)
	end := ` AND id < ?` + rule.TurnOrder(q) + ` LIMIT ? + 0`
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
		return s.queuedTurns(ctx, in+agent+` AND +state IN `+marks(len(states), 1)+end, slices.Concat(tables.Args(*q.Scope), of, states, bound)...)
	case q.Scope != nil:
		return s.queuedTurns(ctx, in+agent+end, slices.Concat(tables.Args(*q.Scope), of, bound)...)
	case len(q.States) == 0:
		return s.queuedTurns(ctx, ` WHERE true`+agent+end, slices.Concat(of, bound)...)
	}
	var first []string // of each state
	var a []any
	for _, state := range q.States {
		first = append(first, `id IN (SELECT id FROM queued_turn WHERE state = ?`+agent+end+`)`)
		a = slices.Concat(a, []any{string(state)}, of, bound)
	}
	found, err := s.queuedTurns(ctx, ` WHERE `+strings.Join(first, ` OR `), a...)
	return rule.FirstTurns(found, q), err
}

func (s *Store) queuedTurns(ctx context.Context, where string, a ...any) ([]earshot.QueuedTurn, error) {
	return tables.List(ctx, s, "list turns", `SELECT `+rule.QueuedColumns+` FROM queued_turn`+where, a, tables.ScanTurn)
}
