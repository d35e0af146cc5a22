package tables

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Accept implements [earshot.Queue].
func (s *Store) Accept(ctx context.Context, scope earshot.Scope, e earshot.Event, ask *earshot.ConversationID) (earshot.AcceptResult, error) {
	scope, e, id, err := rule.CheckAccept(scope, e, ask)
	if err != nil {
		return earshot.AcceptResult{}, err
	}
	prepared, err := rule.Prepare(ctx, []earshot.Message{e.Message})
	if err != nil {
		return earshot.AcceptResult{}, err
	}
	e.Message = prepared[0].Message
	var out earshot.AcceptResult
	err = s.engine.Apply(ctx, "accept", func(ctx context.Context, t *Tx) error {
		h := rule.AcceptState{Event: e, Asked: ask != nil, ID: id, Now: s.stamp()}
		b, err := t.Batch(ctx, scope, prepared, func() { t.askHeard(scope, &h) })
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
		a := rule.DecideAccept(h)
		out = a.Accepted
		if a.Event != nil {
			t.putEvent(scope, *a.Event)
		}
		if a.Open != nil {
			turn := &out.Turn
			if !out.Opened {
				turn = new(earshot.TurnID)
			}
			if h.Of.Refused {
				t.removeRefused(id, e.Message.ID)
			}
			t.enqueue(*a.Open, e, turn)
		}
		if r := a.Resume; r != nil { // last, since events of other channels write the same row
			t.putResume(scope.Platform, r)
		}
		return nil
	})
	if err != nil {
		return earshot.AcceptResult{}, err
	}
	return out, nil
}

// askHeard queries what Accept depends on.
func (t *Tx) askHeard(scope earshot.Scope, h *rule.AcceptState) {
	m := h.Event.Message
	if h.Event.Delivery != "" {
		t.Ask(`SELECT 1 FROM event`+t.SQL.MessagesIn+` AND delivery = $4 AND delivery <> ''`, Args(scope, h.Event.Delivery), ScanOne(&h.Known, new(int)))
	}
	t.askDeleted(scope, rule.Quotes(m), &h.Quoted)
	if !h.Asked {
		return
	}
	t.Ask(`SELECT id, state, why FROM queued_turn`+queuedFor+` ORDER BY id`, Args(scope, string(m.ID), string(h.ID.Agent)), func(row Row) error {
		var q earshot.QueuedTurn
		err := row.Scan(&q.ID, &q.State, &q.Why)
		h.Of = rule.NewAnchorTurn(q)
		return err
	})
	if h.Event.Client != "" {
		t.Ask(`SELECT 1 FROM queued_turn`+OfAgent+` AND client = $5 AND client <> '' AND author = $6 AND said >= $7 AND said <= $8 AND NOT `+rule.RefusedSQL+` LIMIT 1`,
			AgentParams(h.ID, h.Event.Client, string(m.Author.ID), int64(m.Time-rule.ClientWindow), int64(m.Time+rule.ClientWindow)),
			ScanOne(&h.Twice, new(int)))
	}
}

// putEvent stores an event of a channel that is stored.
func (t *Tx) putEvent(scope earshot.Scope, e earshot.Event) {
	t.Write(`INSERT INTO event (`+t.SQL.Channel+`, delivery, message, client, received, raw) VALUES (`+t.SQL.ChannelValues+`, $4, $5, $6, $7, $8)`,
		Args(scope, e.Delivery, string(e.Message.ID), e.Client, int64(e.Received), Blob(e.Raw))...)
}

// removeRefused removes an agent's turn for an anchor if it was refused. Its id is not
// given again.
func (t *Tx) removeRefused(id earshot.ConversationID, anchor earshot.MessageID) {
	which, of := queuedFor+` AND `+rule.RefusedSQL, Args(id.Scope, string(anchor), string(id.Agent))
	t.RaiseErased(which, of...)
	t.Write(`DELETE FROM feedback WHERE `+t.SQL.Among(`turn`, `SELECT id FROM queued_turn`+which), of...)
	t.Write(`DELETE FROM queued_turn`+which, of...)
}

// enqueue stores a turn. One that is open becomes the next of its conversation if none
// is; Send sets turn to its id.
func (t *Tx) enqueue(q rule.StoredTurn, e earshot.Event, turn *earshot.TurnID) {
	id := q.Conversation
	t.CreateBare(id, q.Updated)
	t.Ask(`INSERT INTO queued_turn (id, agent, platform, workspace, channel, conversation, anchor, client, author, said,
			state, why, tries, opened, updated, from_epoch, epoch, number, hash, again, input)`+t.SQL.OwnID+`
		VALUES ((`+t.SQL.NextTurn+`), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, `+t.SQL.NoBytes+`) RETURNING id`,
		AgentParams(id, id.Name, string(q.Anchor), e.Client, string(e.Message.Author.ID), int64(e.Message.Time),
			string(q.State), q.Why, q.Tries, int64(q.Opened), int64(q.Updated), q.From, q.Epoch, q.Number, q.Hash, q.Again), ScanOne(new(bool), turn))
	if q.State.Final() {
		return
	}
	t.Write(`INSERT INTO lease (agent, platform, workspace, channel, conversation, owner, fence, until, next)
		SELECT agent, platform, workspace, channel, conversation, '', 0, 0, id FROM queued_turn`+queuedFor+` AND again = $6
		ON CONFLICT (agent, platform, workspace, channel, conversation) DO UPDATE SET next = excluded.next WHERE lease.next = 0`,
		Args(id.Scope, string(q.Anchor), string(id.Agent), q.Again)...)
}
