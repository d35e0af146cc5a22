package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// nextTurn is the id of the next turn or draft.
const nextTurn = `1 + max((SELECT coalesce(max(id), 0) FROM queued_turn), (SELECT coalesce(max(id), 0) FROM draft), (SELECT turn FROM erased WHERE one = 1))`

// queuedFor selects an agent's turn for an anchor.
const queuedFor = in + ` AND anchor = ? AND agent = ?`

// busyIn selects a turn of a conversation that somebody is answering.
const busyIn = in + ` AND conversation = ? AND agent = ? AND ` + rule.BusySQL + ` LIMIT 1`

// OpenDraft implements [earshot.Drafts].
func (s *Store) OpenDraft(ctx context.Context, d earshot.Draft) (earshot.Draft, error) {
	d, err := rule.CheckDraft(d)
	if err != nil {
		return earshot.Draft{}, err
	}
	id := d.Conversation
	var out rule.Drafted
	err = s.apply(ctx, "open a draft", func(t *tx) error {
		now := earshot.TimeOf(s.now())
		c, _, err := t.found(id, "name", id.Name)
		if err != nil {
			return err
		}
		gone, err := t.anyDeleted(id.Scope, d.Prompt.Shows...)
		if err != nil {
			return err
		}
		if out, err = rule.OpenDraft(d, c.Epoch, c.Turns, gone, now); err != nil {
			return err
		}
		if _, _, err := t.open(earshot.Conversation{ID: id, Metadata: map[string]string{}}, "", now); err != nil {
			return err
		}
		if _, err := t.one(`SELECT `+nextTurn, nil, []any{&out.ID}); err != nil {
			return err
		}
		if err := t.putDraft(out); err != nil {
			return err
		}
		for _, m := range d.Prompt.Shows {
			err := t.exec(`INSERT INTO draft_reading (platform, workspace, channel, message, draft) VALUES `+marks(5, 1), args(id.Scope, string(m), int64(out.ID))...)
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return earshot.Draft{}, err
	}
	return out.Export(), nil
}

// putDraft stores a draft; it replaces the one with its id.
func (t *tx) putDraft(d rule.Drafted) error {
	v, err := rule.DraftValues(d)
	if err != nil {
		return err
	}
	return t.exec(`INSERT OR REPLACE INTO draft (`+rule.DraftColumns+`) VALUES `+marks(rule.DraftColumnCount, 1), v...)
}

// Draft implements [earshot.Drafts].
func (s *Store) Draft(ctx context.Context, id earshot.TurnID) (earshot.Draft, error) {
	var d rule.DraftRow
	err := s.row(ctx, `SELECT `+rule.DraftColumns+` FROM draft WHERE id = ?`, []any{int64(id)}, d.Fields()...)
	if err == nil {
		err = d.Read()
	}
	if err != nil {
		return earshot.Draft{}, missing(err, "read a draft", rule.NoDraft(id))
	}
	return d.Export(), nil
}

// draft returns one draft, with the messages that it shows.
func (t *tx) draft(id earshot.TurnID) (rule.Drafted, error) {
	var d rule.DraftRow
	found, err := t.one(`SELECT `+rule.DraftColumns+` FROM draft WHERE id = ?`, []any{int64(id)}, d.Fields())
	if err == nil && !found {
		err = rule.NoDraft(id)
	}
	if err == nil {
		err = d.Read()
	}
	if err != nil {
		return d.Drafted, err
	}
	d.Prompt.Shows, err = all(t, `SELECT message FROM draft_reading WHERE draft = ? ORDER BY message`, []any{int64(id)}, scanID[earshot.MessageID])
	return d.Drafted, err
}

// CommitDraft implements [earshot.Drafts].
func (s *Store) CommitDraft(ctx context.Context, id earshot.TurnID, turn earshot.Turn, now earshot.Time, arrived ...earshot.Message) (earshot.Draft, error) {
	messages, err := rule.Prepare(ctx, arrived)
	if err != nil {
		return earshot.Draft{}, err
	}
	var out rule.Drafted
	err = s.apply(ctx, "commit a draft", func(t *tx) error {
		var c *rule.DraftCommit
		if out, c, err = t.decideDraft(id, turn, now); err != nil || c == nil {
			out.Repeated = true
			return err
		}
		if len(messages) > 0 {
			r := &recording{scope: out.Conversation.Scope, messages: messages, outcomes: make([]earshot.Recorded, len(messages))}
			if err := t.record([]*recording{r}); err != nil {
				return err
			}
			if _, c, err = t.decideDraft(id, turn, now); err != nil {
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

// decideDraft loads a draft and what its commit depends on, and decides.
func (t *tx) decideDraft(id earshot.TurnID, turn earshot.Turn, now earshot.Time) (d rule.Drafted, c *rule.DraftCommit, err error) {
	if d, err = t.draft(id); err != nil || d.State == earshot.DraftCommitted {
		return d, nil, err
	}
	e := rule.DraftEnd{Now: now, Stored: earshot.TimeOf(t.now())}
	if e.Turn, err = rule.DraftTurn(d, turn); err != nil {
		return d, nil, err
	}
	in := d.Conversation
	if e.Answered, err = t.answered(in, e.Turn); err != nil {
		return d, nil, err
	}
	var one int
	if e.Queued, err = t.one(`SELECT 1 FROM queued_turn`+queuedFor, args(in.Scope, string(d.Anchor), string(in.Agent)), []any{&one}); err != nil {
		return d, nil, err
	}
	if e.Busy, err = t.one(`SELECT 1 FROM queued_turn`+busyIn, args(in.Scope, in.Name, string(in.Agent)), []any{&one}); err != nil {
		return d, nil, err
	}
	c, err = rule.CommitDraft(d, e)
	return d, c, err
}

// commitDraft writes what a commit of a draft decided.
func (t *tx) commitDraft(c *rule.DraftCommit) error {
	q := c.Queued
	id := q.Conversation
	if err := t.commitTurn(c.Commit); err != nil {
		return err
	}
	err := t.exec(`INSERT INTO queued_turn (id, agent, platform, workspace, channel, conversation, anchor, client, author, said,
			state, why, tries, opened, updated, from_epoch, epoch, number, hash, began, input)
		VALUES (?, ?, ?, ?, ?, ?, ?, '', '', 0, ?, '', 0, ?, ?, ?, ?, ?, ?, ?, ?)`,
		append([]any{int64(q.ID)}, own(id, id.Name, string(q.Anchor), string(q.State), int64(q.Opened), int64(q.Updated),
			q.From, q.Epoch, q.Number, q.Hash, string(q.Began), blob(q.Input))...)...)
	return errors.Join(err, t.endDraft(c.Draft))
}

// endDraft replaces a draft by one that has ended.
func (t *tx) endDraft(d rule.Drafted) error {
	return errors.Join(t.putDraft(d), t.exec(`DELETE FROM draft_reading WHERE draft = ?`, int64(d.ID)), t.needScrub())
}

// AbortDraft implements [earshot.Drafts].
func (s *Store) AbortDraft(ctx context.Context, id earshot.TurnID) (earshot.Draft, error) {
	var out rule.Drafted
	err := s.apply(ctx, "abort a draft", func(t *tx) error {
		d, err := t.draft(id)
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

// PruneDrafts implements [earshot.Drafts].
func (s *Store) PruneDrafts(ctx context.Context, before earshot.Time) (int, error) {
	gone, err := s.prune(ctx, "prune drafts", func(t *tx) (int, error) {
		ids, err := all(t, `DELETE FROM draft WHERE id IN (SELECT id FROM draft WHERE expires < ? ORDER BY expires, id LIMIT ?) RETURNING id`,
			[]any{int64(rule.DraftGone(before)), pruneRows}, scanInt)
		for _, id := range ids {
			err = errors.Join(err, t.exec(`DELETE FROM draft_reading WHERE draft = ?`, id), t.exec(`UPDATE erased SET turn = max(turn, ?) WHERE one = 1`, id))
		}
		return len(ids), err
	})
	if err != nil {
		return gone, err
	}
	emptied, err := s.prune(ctx, "prune drafts", func(t *tx) (int, error) {
		ids, err := all(t, `UPDATE draft SET `+rule.PruneDraftSQL+`
			WHERE id IN (SELECT id FROM draft WHERE expires < ? AND `+rule.DraftContentsSQL+` ORDER BY expires, id LIMIT ?) RETURNING id`,
			[]any{int64(before), pruneRows}, scanInt)
		for _, id := range ids {
			err = errors.Join(err, t.exec(`DELETE FROM draft_reading WHERE draft = ?`, id))
		}
		return len(ids), err
	})
	return gone + emptied, err
}

func scanInt(rows *sql.Rows, n *int64) error { return rows.Scan(n) }

// eraseDraftsOf erases the open drafts of a conversation.
func (t *tx) eraseDraftsOf(id earshot.ConversationID) error {
	return t.eraseDrafts(ofConversation, own(id, id.Name)...)
}

// drafted returns the conversations of the open drafts that show a message, once for
// each draft.
func (t *tx) drafted(scope earshot.Scope, id earshot.MessageID) ([]earshot.ConversationID, error) {
	return all(t, `SELECT agent, conversation FROM draft WHERE id IN (SELECT draft FROM draft_reading`+in+` AND message = ?)`, args(scope, string(id)),
		func(rows *sql.Rows, id *earshot.ConversationID) error {
			id.Scope = scope
			return rows.Scan(&id.Agent, &id.Name)
		})
}

// eraseDraftsReading erases the open drafts that show a message.
func (t *tx) eraseDraftsReading(scope earshot.Scope, id earshot.MessageID) error {
	return t.eraseDrafts(` WHERE id IN (SELECT draft FROM draft_reading`+in+` AND message = ?)`, args(scope, string(id))...)
}

func (t *tx) eraseDrafts(where string, a ...any) error {
	ids, err := all(t, `UPDATE draft SET `+rule.EraseDraftSQL+where+` AND `+rule.ErasableDraftSQL+` RETURNING id`, a, scanInt)
	if err != nil || len(ids) == 0 {
		return err
	}
	for _, id := range ids {
		if err := t.exec(`DELETE FROM draft_reading WHERE draft = ?`, id); err != nil {
			return err
		}
	}
	t.tally.Turns += len(ids)
	return t.needScrub()
}

// draftsAtOnce is how many drafts are looked through for a person at a time.
const draftsAtOnce = 20

// scrubDrafts erases the drafts of a channel that hold something of a person.
func (t *tx) scrubDrafts(scope earshot.Scope, holds func(string) bool) error {
	for last := int64(0); ; {
		page, err := all(t, `SELECT `+rule.DraftColumns+` FROM draft`+in+` AND id > ? ORDER BY id LIMIT ? + 0`, args(scope, last, draftsAtOnce),
			func(rows *sql.Rows, d *rule.DraftRow) error {
				if err := rows.Scan(d.Fields()...); err != nil {
					return err
				}
				return d.Read()
			})
		if err != nil {
			return err
		}
		for _, d := range page {
			last = int64(d.ID)
			if next, some := d.Without(d.TurnText, holds); some {
				if err := t.endDraft(next); err != nil {
					return err
				}
				t.tally.Turns++
			}
		}
		if len(page) < draftsAtOnce {
			return nil
		}
	}
}
