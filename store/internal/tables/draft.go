package tables

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// busyIn selects a turn of a conversation that somebody is answering.
const busyIn = In + ` AND conversation = $4 AND agent = $5 AND ` + rule.BusySQL + ` LIMIT 1`

// OpenDraft implements [earshot.Drafts].
func (s *Store) OpenDraft(ctx context.Context, d earshot.Draft) (earshot.Draft, error) {
	d, err := rule.CheckDraft(d)
	if err != nil {
		return earshot.Draft{}, err
	}
	id := d.Conversation
	var out rule.Drafted
	err = s.engine.Apply(ctx, "open a draft", func(ctx context.Context, t *Tx) error {
		now := s.stamp()
		var c Conversation
		gone := false
		t.Shared(id.Scope)
		t.CreateBare(id, now)
		c.Ask(t, id, t.SQL.Lock)
		t.AskDeleted(id.Scope, d.Prompt.Shows, &gone)
		if err := t.Send(ctx); err != nil {
			return err
		}
		if out, err = rule.OpenDraft(d, c.Epoch, c.Turns, gone, now); err != nil {
			return err
		}
		t.Ask(t.SQL.NextTurn, nil, One(new(bool), &out.ID))
		if err := t.Send(ctx); err != nil {
			return err
		}
		t.Rows(`draft_reading (platform, workspace, channel, draft, message)`, Args(id.Scope, int64(out.ID)), column(d.Prompt.Shows))
		return t.putDraft(out)
	})
	if err != nil {
		return earshot.Draft{}, err
	}
	return out.Export(), nil
}

// putDraft queues the row of a draft; it replaces the one with its id.
func (t *Tx) putDraft(d rule.Drafted) error {
	v, err := rule.DraftValues(d)
	if err != nil {
		return err
	}
	t.Write(`INSERT INTO draft (`+rule.DraftColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
		ON CONFLICT (id) DO UPDATE SET opener = excluded.opener, state = excluded.state, erased = excluded.erased,
			asked = excluded.asked, input = excluded.input, record = excluded.record`, v...)
	return nil
}

func scanDraft(row Row, d *rule.DraftRow) error {
	if err := row.Scan(d.Fields()...); err != nil {
		return err
	}
	return d.Read()
}

// Draft implements [earshot.Drafts].
func (s *Store) Draft(ctx context.Context, id earshot.TurnID) (earshot.Draft, error) {
	d, err := first(ctx, s.engine, "read a draft", `SELECT `+rule.DraftColumns+` FROM draft WHERE id = $1`, []any{int64(id)}, rule.NoDraft(id), scanDraft)
	if err != nil {
		return earshot.Draft{}, err
	}
	return d.Export(), nil
}

// draft returns one draft, which it locks, with the messages that it shows.
func (t *Tx) draft(ctx context.Context, id earshot.TurnID) (rule.Drafted, error) {
	var found []rule.DraftRow
	var shows []earshot.MessageID
	t.Ask(`SELECT `+rule.DraftColumns+` FROM draft WHERE id = $1`+t.SQL.Lock, []any{int64(id)}, Gather(&found, scanDraft))
	t.Ask(`SELECT message FROM draft_reading WHERE draft = $1 ORDER BY message`, []any{int64(id)}, Gather(&shows, Scan[earshot.MessageID]))
	if err := t.Send(ctx); err != nil {
		return rule.Drafted{}, err
	}
	if len(found) == 0 {
		return rule.Drafted{}, rule.NoDraft(id)
	}
	d := found[0].Drafted
	d.Prompt.Shows = shows
	return d, nil
}

// CommitDraft implements [earshot.Drafts].
func (s *Store) CommitDraft(ctx context.Context, id earshot.TurnID, turn earshot.Turn, now earshot.Time, arrived ...earshot.Message) (earshot.Draft, error) {
	messages, err := rule.Prepare(ctx, arrived)
	if err != nil {
		return earshot.Draft{}, err
	}
	at, err := s.Draft(ctx, id) // for what never changes
	if err != nil || at.State == earshot.DraftCommitted {
		at.Repeated = err == nil
		return at, err
	}
	in := at.Conversation
	var out rule.Drafted
	err = s.engine.Apply(ctx, "commit a draft", func(ctx context.Context, t *Tx) error {
		if len(messages) > 0 { // takes the channel's exclusive lock, which comes before the others
			t.Exclusive(in.Scope)
		} else {
			t.Shared(in.Scope)
		}
		var c *rule.DraftCommit
		var err error
		if out, c, err = t.decideDraft(ctx, in, id, turn, now); err != nil || c == nil {
			out.Repeated = true
			return err
		}
		if len(messages) > 0 {
			if err := t.keep(ctx, in.Scope, messages); err != nil {
				return err
			}
			if _, c, err = t.decideDraft(ctx, in, id, turn, now); err != nil {
				return err
			}
		}
		out = c.Draft
		return t.commitDraft(c)
	})
	if err != nil {
		return earshot.Draft{}, err
	}
	return out.Export(), nil
}

// decideDraft loads a draft and what its commit depends on, locks its conversation,
// and decides. There is nothing to commit where a draft is committed already.
func (t *Tx) decideDraft(ctx context.Context, in earshot.ConversationID, id earshot.TurnID, turn earshot.Turn, now earshot.Time) (rule.Drafted, *rule.DraftCommit, error) {
	c, err := t.Locked(ctx, in)
	if err != nil {
		return rule.Drafted{}, nil, err
	}
	d, err := t.draft(ctx, id)
	if err != nil || d.State == earshot.DraftCommitted {
		return d, nil, err
	}
	e := rule.DraftEnd{Now: now, Stored: t.now()}
	if e.Turn, err = rule.DraftTurn(d, turn); err != nil {
		return d, nil, err
	}
	t.askAnswered(in, e.Turn, &e.Answered)
	t.Ask(`SELECT 1 FROM queued_turn`+QueuedFor, Args(in.Scope, string(d.Anchor), string(in.Agent)), One(&e.Queued, new(int)))
	t.Ask(`SELECT 1 FROM queued_turn`+busyIn, Args(in.Scope, in.Name, string(in.Agent)), One(&e.Busy, new(int)))
	if err := t.Send(ctx); err != nil {
		return d, nil, err
	}
	e.Answered.Conversation, e.Answered.Turns, e.Answered.Weight = c.Conversation, c.Turns, c.Weight
	done, err := rule.CommitDraft(d, e)
	return d, done, err
}

// commitDraft queues what a commit of a draft decided.
func (t *Tx) commitDraft(c *rule.DraftCommit) error {
	if err := t.commitTurn(c.Commit); err != nil {
		return err
	}
	q := c.Queued
	id := q.Conversation
	t.Write(`INSERT INTO queued_turn (agent, platform, workspace, channel, conversation, id, anchor, client, author, said,
			state, why, tries, opened, updated, from_epoch, epoch, number, hash, began, input)`+t.SQL.OwnID+`
		VALUES ($1, $2, $3, $4, $5, $6, $7, '', '', 0, $8, '', 0, $9, $10, $11, $12, $13, $14, $15, $16)`,
		Own(id, id.Name, int64(q.ID), string(q.Anchor), string(q.State), int64(q.Opened), int64(q.Updated),
			q.From, q.Epoch, q.Number, q.Hash, string(q.Began), Blob(q.Input))...)
	return t.endDraft(c.Draft)
}

// endDraft queues what ends a draft.
func (t *Tx) endDraft(d rule.Drafted) error {
	t.Write(`DELETE FROM draft_reading WHERE draft = $1`, int64(d.ID))
	t.Erased()
	return t.putDraft(d)
}

// AbortDraft implements [earshot.Drafts].
func (s *Store) AbortDraft(ctx context.Context, id earshot.TurnID) (earshot.Draft, error) {
	var out rule.Drafted
	err := s.engine.Apply(ctx, "abort a draft", func(ctx context.Context, t *Tx) error {
		d, err := t.draft(ctx, id)
		if err != nil {
			return err
		}
		ended, ok := rule.AbortDraft(d)
		if out = ended; !ok {
			return nil
		}
		return t.endDraft(ended)
	})
	if err != nil {
		return earshot.Draft{}, err
	}
	return out.Export(), nil
}

// draftsAtOnce is how many drafts are looked through for a person at a time.
const draftsAtOnce = 20

// scrubDrafts erases the drafts of a channel that hold something of a person.
func (t *Tx) scrubDrafts(ctx context.Context, scope earshot.Scope, holds func(string) bool) error {
	for last := int64(0); ; {
		var page []rule.DraftRow
		t.Ask(`SELECT `+rule.DraftColumns+` FROM draft`+In+` AND id > $4 ORDER BY id LIMIT $5 + 0`+t.SQL.Lock, Args(scope, last, draftsAtOnce), Gather(&page, scanDraft))
		if err := t.Send(ctx); err != nil {
			return err
		}
		for _, d := range page {
			last = int64(d.ID)
			if next, some := d.Without(d.TurnText, holds); some {
				if err := t.endDraft(next); err != nil {
					return err
				}
				t.Tally.Turns++
			}
		}
		if len(page) < draftsAtOnce {
			return t.Send(ctx)
		}
	}
}
