package tables

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// CommitTurn implements [earshot.Turns].
func (s *Store) CommitTurn(ctx context.Context, id earshot.ConversationID, turn earshot.Turn) (int, error) {
	id = rule.Conversation(id)
	turn, err := rule.CheckTurn(turn)
	if err != nil {
		return 0, err
	}
	number := 0
	err = s.engine.Apply(ctx, "commit turn", func(ctx context.Context, t *Tx) error {
		var a rule.CommitState
		var c Conversation
		t.Shared(id.Scope)
		c.Ask(t, id, t.SQL.Lock)
		t.askAnswered(id, turn, &a)
		if err := c.orNotFound(t.Send(ctx), id); err != nil {
			return err
		}
		a.Conversation, a.Turns, a.Weight = c.Conversation, c.Turns, c.Weight
		done, err := rule.CommitTurn(turn, a, s.stamp())
		if err != nil {
			return err
		}
		number = done.Turn.Number
		return t.commitTurn(done)
	})
	return number, err
}

// askAnswered asks what it takes to commit a turn, besides its conversation, which is
// locked.
func (t *Tx) askAnswered(id earshot.ConversationID, turn earshot.Turn, a *rule.CommitState) {
	*a = rule.CommitState{}
	t.Ask(`SELECT number FROM turn`+ofAnchor+` LIMIT 1`, AgentParams(id, string(turn.Answer.Anchor)), ScanOne(&a.Taken, new(int)))
	t.askDeleted(id.Scope, rule.MessagesRead(turn), &a.Gone)
}

// commitTurn queues the rows of a turn of a conversation that is locked.
func (t *Tx) commitTurn(done rule.Commit) error {
	turn, c := done.Turn, done.Conversation
	t.Answers = turn.Answer.Anchor
	t.hasRead(c.ID, turn.Epoch, done.Read)
	at := func(more ...any) []any { return AgentParams(c.ID, append([]any{c.ID.Name}, more...)...) }
	values, err := rule.TurnValues(turn)
	if err != nil {
		return err
	}
	t.Write(`INSERT INTO turn (agent, platform, workspace, channel, conversation, `+rule.TurnColumns+`, weight, again)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)`,
		at(append(values, done.Weight, done.Again)...)...)
	if err := t.append(turn, at(turn.Epoch, turn.Number)); err != nil {
		return err
	}
	if len(turn.Ledger) > 0 {
		ledger, err := rule.WriteLedger(turn.Ledger)
		if err != nil {
			return err
		}
		t.Write(`INSERT INTO ledger (agent, platform, workspace, channel, conversation, turn, entries) VALUES ($1, $2, $3, $4, $5, $6, $7)`,
			at(turn.Number, ledger)...)
	}
	metadata, err := json.Marshal(c.Metadata)
	if err != nil {
		return err
	}
	t.Write(`UPDATE conversation SET cursor = $6, epoch = $7, turns = $8, weight = $9, metadata = $10, updated = $11`+Named,
		at(c.Cursor, c.Epoch, done.Turns, done.Weight, string(metadata), int64(c.Updated))...)
	return nil
}

// AddReply implements [earshot.Turns].
func (s *Store) AddReply(ctx context.Context, id earshot.ConversationID, number int, have []earshot.MessageID, reply earshot.ShownRevision) error {
	id = rule.Conversation(id)
	return s.engine.Apply(ctx, "add a reply", func(ctx context.Context, t *Tx) error {
		a := rule.Addition{Have: have, Reply: reply}.Clean()
		var c Conversation
		var turn earshot.Turn
		found := false
		t.Shared(id.Scope)
		c.Ask(t, id, t.SQL.Lock)
		t.Ask(`SELECT `+rule.TurnColumns+` FROM turn`+OfConversation+` AND number = $6`, AgentParams(id, id.Name, number), func(row Row) error {
			found = true
			return scanTurn(row, &turn)
		})
		t.askDeleted(id.Scope, []earshot.MessageID{a.Reply.ID}, &a.Gone)
		if err := c.orNotFound(t.Send(ctx), id); err != nil {
			return err
		}
		if !found {
			return rule.NoCommitted(id, number)
		}
		shown := 0
		t.Ask(`SELECT count(*) FROM manifest`+OfConversation+` AND epoch = $6 AND turn = $7`, AgentParams(id, id.Name, turn.Epoch, number), ScanOne(new(bool), &shown))
		t.Ask(`SELECT 1 FROM manifest`+OfConversation+` AND epoch = $6 AND message = $7 LIMIT 1`, AgentParams(id, id.Name, turn.Epoch, string(a.Reply.ID)), ScanOne(&a.Shown, new(int)))
		if err := t.Send(ctx); err != nil {
			return err
		}
		turn, err := a.To(turn)
		if err != nil {
			return err
		}
		values, err := rule.TurnValues(turn)
		if err != nil {
			return err
		}
		t.Write(`UPDATE turn SET replies = $6`+OfConversation+` AND number = $7`, AgentParams(id, id.Name, values[2], number)...)
		t.Rows(`manifest (agent, platform, workspace, channel, conversation, epoch, turn, n, message, revision, seen)`, AgentParams(id, id.Name, turn.Epoch, number),
			[][]any{{shown, string(a.Reply.ID), int64(a.Reply.Revision), a.Reply.Seen}})
		t.hasRead(id, turn.Epoch, []earshot.MessageID{a.Reply.ID})
		return t.Send(ctx)
	})
}

// Turns implements [earshot.Turns].
func (s *Store) Turns(ctx context.Context, id earshot.ConversationID, limit int) ([]earshot.Turn, error) {
	limit = limitParam(limit)
	id = rule.Conversation(id)
	out, err := List(ctx, s.engine, "read turns", `SELECT `+rule.TurnColumns+` FROM turn`+OfConversation+` ORDER BY number DESC LIMIT $6 + 0`,
		AgentParams(id, id.Name, limit), scanTurn)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	slices.Reverse(out)
	// Epochs never go back, so the wanted stretch of the manifest is one of
	// its index.
	var m manifest
	err = s.engine.Read(ctx, "read the manifest", func(a Asker) {
		m.ask(a, id, `(epoch, turn) >= ($6, $7) AND (epoch, turn) <= ($8, $9)`,
			out[0].Epoch, out[0].Number, out[len(out)-1].Epoch, out[len(out)-1].Number)
	})
	if err != nil {
		return nil, err
	}
	m.share(out)
	return out, nil
}

// Turn implements [earshot.Turns].
func (s *Store) Turn(ctx context.Context, id earshot.ConversationID, number int) (earshot.Turn, error) {
	id = rule.Conversation(id)
	found, err := List(ctx, s.engine, "read turns", `SELECT `+rule.TurnColumns+` FROM turn`+OfConversation+` AND number = $6`, AgentParams(id, id.Name, number), scanTurn)
	if err != nil {
		return earshot.Turn{}, err
	}
	if len(found) == 0 {
		return earshot.Turn{}, rule.NoCommitted(id, number)
	}
	turn := &found[0]
	var m manifest
	err = s.engine.Read(ctx, "read a turn", func(a Asker) {
		const which = `epoch = $6 AND turn = $7`
		m.ask(a, id, which, turn.Epoch, number)
		turn.Session, turn.Ledger = nil, nil
		askSession(a, id, which, &turn.Session, turn.Epoch, number)
		a.Ask(`SELECT entries FROM ledger`+OfConversation+` AND turn = $6`, AgentParams(id, id.Name, number), func(row Row) (err error) {
			var entries string
			if err = row.Scan(&entries); err == nil {
				turn.Ledger, err = rule.ReadLedger(entries)
			}
			return err
		})
	})
	if err != nil {
		return earshot.Turn{}, err
	}
	m.share(found)
	return *turn, nil
}

func scanTurn(row Row, t *earshot.Turn) error { return rule.ScanTurn(row.Scan, t) }
