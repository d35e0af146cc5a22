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
	var out rule.StoredDraft
	err = s.engine.Apply(ctx, "open a draft", func(ctx context.Context, t *Tx) error {
		o := rule.DraftOpening{Now: s.stamp()}
		var c Conversation
		t.Exclusive(id.Scope) // another conversation may claim the same anchor
		t.CreateBare(id, o.Now)
		c.Ask(t, id, t.SQL.Lock)
		t.askDeleted(id.Scope, d.Prompt.Shows, &o.Gone)
		askClaims(t, d, d.Replaces, rule.OpenedAt(d, o.Now), &o.Claims)
		if err := t.Send(ctx); err != nil {
			return err
		}
		o.Epoch, o.Turns = c.Epoch, c.Turns
		if d.Replaces != 0 {
			old, err := t.draft(ctx, d.Replaces)
			if err != nil {
				return err
			}
			o.Replaced = &old
		}
		var ended *rule.StoredDraft
		if out, ended, err = rule.OpenDraft(d, o); err != nil {
			return err
		}
		t.Ask(t.SQL.NextTurn, nil, ScanOne(new(bool), &out.ID))
		if err := t.Send(ctx); err != nil {
			return err
		}
		if ended != nil {
			t.Write(`UPDATE approval SET turn = $2 WHERE turn = $1`, int64(ended.ID), int64(out.ID))
			if err := t.endDraft(*ended); err != nil {
				return err
			}
		}
		t.Rows(`draft_reading (platform, workspace, channel, draft, message)`, Args(id.Scope, int64(out.ID)), idRows(d.Prompt.Shows))
		return t.putDraft(out)
	})
	if err != nil {
		return earshot.Draft{}, err
	}
	return out.Export(), nil
}

// ofAnchor bounds a statement to what an agent has for a message in the tables turn and
// draft; what follows counts its parameters from $6.
const ofAnchor = OfAgent + ` AND anchor = $5`

// askClaims asks who else has to do with a draft's anchor at a time, besides the draft
// not.
func askClaims(a Asker, d earshot.Draft, not earshot.TurnID, now earshot.Time, c *rule.Claims) {
	id := d.Conversation
	*c = rule.Claims{}
	a.Ask(`SELECT number FROM turn`+ofAnchor+` LIMIT 1`, AgentParams(id, string(d.Anchor)), ScanOne(&c.Done, new(int)))
	a.Ask(`SELECT id, state FROM queued_turn`+queuedFor+` AND NOT `+rule.RefusedSQL+` ORDER BY again LIMIT 1`, Args(id.Scope, string(d.Anchor), string(id.Agent)), func(row Row) error {
		c.Queued = &earshot.QueuedTurn{}
		return row.Scan(&c.Queued.ID, &c.Queued.State)
	})
	a.Ask(`SELECT id, expires FROM draft`+ofAnchor+` AND state = 'open' AND id <> $6 AND expires >= $7 ORDER BY id DESC LIMIT 1`, AgentParams(id, string(d.Anchor), int64(not), int64(now)), func(row Row) error {
		c.Held = &earshot.Draft{}
		return row.Scan(&c.Held.ID, &c.Held.Expires)
	})
}

// Claimed implements [earshot.Drafts].
func (s *Store) Claimed(ctx context.Context, d earshot.Draft) error {
	var c rule.Claims
	err := s.engine.Read(ctx, "read a claim", func(a Asker) { askClaims(a, d, d.Replaces, rule.OpenedAt(d, s.stamp()), &c) })
	if err != nil {
		return err
	}
	return c.Taken(d)
}

// putDraft queues the row of a draft; it replaces the one with its id.
func (t *Tx) putDraft(d rule.StoredDraft) error {
	v, err := rule.DraftValues(d)
	if err != nil {
		return err
	}
	t.Write(`INSERT INTO draft (`+rule.DraftColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)
		ON CONFLICT (id) DO UPDATE SET opener = excluded.opener, state = excluded.state, erased = excluded.erased,
			expires = excluded.expires, posting = excluded.posting, asked = excluded.asked, input = excluded.input, record = excluded.record`, v...)
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
	d, err := readFirst(ctx, s.engine, "read a draft", `SELECT `+rule.DraftColumns+` FROM draft WHERE id = $1`, []any{int64(id)}, rule.NoDraft(id), scanDraft)
	if err != nil {
		return earshot.Draft{}, err
	}
	return d.Export(), nil
}

// headColumns are those of a draft without what OpenDrafts leaves out.
const headColumns = `id, agent, platform, workspace, channel, conversation, anchor, opener, state, erased, opened, expires, turns, from_epoch, epoch, hash, began, again, posting, asked, '' AS input, '' AS record`

// OpenDrafts implements [earshot.Drafts].
func (s *Store) OpenDrafts(ctx context.Context, opener string, now earshot.Time, expired bool, limit int) ([]earshot.Draft, error) {
	which := `expires >= $2`
	if expired {
		which = `(expires >= $2 OR NOT EXISTS (SELECT 1 FROM draft later WHERE later.agent = draft.agent AND later.platform = draft.platform
			AND later.workspace = draft.workspace AND later.channel = draft.channel AND later.anchor = draft.anchor
			AND later.id > draft.id AND later.state <> 'aborted'))`
	}
	return s.heads(ctx, ` WHERE opener = $1 AND state = 'open' AND `+which+` ORDER BY id DESC LIMIT $3 + 0`, rule.Text(opener), int64(now), limitParam(limit))
}

// LastDraft implements [earshot.Drafts].
func (s *Store) LastDraft(ctx context.Context, of earshot.ConversationID, anchor earshot.MessageID, not earshot.TurnID, posting bool) (earshot.Draft, error) {
	which := ` AND id <> $6`
	if posting {
		which += ` AND state = 'open' AND posting <> 0`
	}
	found, err := s.heads(ctx, ofAnchor+which+` ORDER BY id DESC LIMIT 1`, AgentParams(of, string(anchor), int64(not))...)
	if err == nil && len(found) == 0 {
		err = rule.NoDraft(0)
	}
	if err != nil {
		return earshot.Draft{}, err
	}
	return found[0], nil
}

func (s *Store) heads(ctx context.Context, which string, args ...any) ([]earshot.Draft, error) {
	return List(ctx, s.engine, "read drafts", `SELECT `+headColumns+` FROM draft`+which, args, func(row Row, d *earshot.Draft) error {
		var r rule.DraftRow
		err := scanDraft(row, &r)
		*d = r.Export()
		return err
	})
}

// RenewDraft implements [earshot.Drafts].
func (s *Store) RenewDraft(ctx context.Context, id earshot.TurnID, now, expires earshot.Time, posting bool) (earshot.Draft, error) {
	at, err := s.Draft(ctx, id) // for what never changes
	if err != nil {
		return earshot.Draft{}, err
	}
	var out rule.StoredDraft
	err = s.engine.Apply(ctx, "renew a draft", func(ctx context.Context, t *Tx) error {
		if at.Expires < now {
			t.Exclusive(at.Conversation.Scope) // as when one is opened
		}
		if _, err := t.Locked(ctx, at.Conversation); err != nil {
			return err
		}
		d, err := t.draft(ctx, id)
		if err != nil {
			return err
		}
		var c rule.Claims
		askClaims(t, d.Draft, id, now, &c)
		if err := t.Send(ctx); err != nil {
			return err
		}
		next, ok, err := rule.RenewDraft(d, c, now, expires, posting)
		if out = next; err != nil || !ok {
			return err
		}
		return t.putDraft(next)
	})
	if err != nil {
		return earshot.Draft{}, err
	}
	return out.Export(), nil
}

// draft returns one draft, which it locks, with the messages that it shows.
func (t *Tx) draft(ctx context.Context, id earshot.TurnID) (rule.StoredDraft, error) {
	var found []rule.DraftRow
	var shows []earshot.MessageID
	t.Ask(`SELECT `+rule.DraftColumns+` FROM draft WHERE id = $1`+t.SQL.Lock, []any{int64(id)}, Gather(&found, scanDraft))
	t.Ask(`SELECT message FROM draft_reading WHERE draft = $1 ORDER BY message`, []any{int64(id)}, Gather(&shows, Scan[earshot.MessageID]))
	if err := t.Send(ctx); err != nil {
		return rule.StoredDraft{}, err
	}
	if len(found) == 0 {
		return rule.StoredDraft{}, rule.NoDraft(id)
	}
	d := found[0].StoredDraft
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
	var out rule.StoredDraft
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
func (t *Tx) decideDraft(ctx context.Context, in earshot.ConversationID, id earshot.TurnID, turn earshot.Turn, now earshot.Time) (rule.StoredDraft, *rule.DraftCommit, error) {
	c, err := t.Locked(ctx, in)
	if err != nil {
		return rule.StoredDraft{}, nil, err
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
	t.Ask(`SELECT 1 FROM queued_turn`+queuedFor+` AND NOT `+rule.RefusedSQL, Args(in.Scope, string(d.Anchor), string(in.Agent)), ScanOne(&e.Queued, new(int)))
	t.Ask(`SELECT 1 FROM queued_turn`+busyIn, Args(in.Scope, in.Name, string(in.Agent)), ScanOne(&e.Busy, new(int)))
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
	t.removeRefused(id, q.Anchor)
	t.Write(`INSERT INTO queued_turn (agent, platform, workspace, channel, conversation, id, anchor, client, author, said,
			state, why, tries, opened, updated, from_epoch, epoch, number, hash, began, input, again)`+t.SQL.OwnID+`
		VALUES ($1, $2, $3, $4, $5, $6, $7, '', '', 0, $8, '', 0, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
		AgentParams(id, id.Name, int64(q.ID), string(q.Anchor), string(q.State), int64(q.Opened), int64(q.Updated),
			q.From, q.Epoch, q.Number, q.Hash, string(q.Began), Blob(q.Input), q.Again)...)
	return t.endDraft(c.Draft)
}

// endDraft queues what ends a draft.
func (t *Tx) endDraft(d rule.StoredDraft) error {
	t.Write(`DELETE FROM draft_reading WHERE draft = $1`, int64(d.ID))
	if d.State == earshot.DraftCommitted { // the texts are the turn's from now on
		t.withdraw(`turn = $1`, int64(d.ID))
	} else {
		t.endAsks(`turn = $1`, int64(d.ID))
	}
	t.Erased()
	return t.putDraft(d)
}

// AbortDraft implements [earshot.Drafts].
func (s *Store) AbortDraft(ctx context.Context, id earshot.TurnID) (earshot.Draft, error) {
	var out rule.StoredDraft
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
