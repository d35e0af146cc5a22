package postgres

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/jackc/pgx/v5"
)

// OpenDraft implements [earshot.Drafts].
func (s *Store) OpenDraft(ctx context.Context, d earshot.Draft) (earshot.Draft, error) {
	d, err := rule.CheckDraft(d)
	if err != nil {
		return earshot.Draft{}, err
	}
	id := d.Conversation
	var out rule.Drafted
	err = s.apply(ctx, "open a draft", func(ctx context.Context, t *tx) error {
		now := earshot.TimeOf(s.now())
		var c conversation
		gone := false
		t.shared(id.Scope)
		t.createBare(id, now)
		t.ask(`SELECT `+rule.ConversationColumns+` FROM conversation`+named+` FOR UPDATE`, own(id, id.Name), c.into(id))
		t.askDeleted(id.Scope, d.Prompt.Shows, &gone)
		if err := t.send(ctx); err != nil {
			return err
		}
		if out, err = rule.OpenDraft(d, c.Epoch, c.Turns, gone, now); err != nil {
			return err
		}
		t.ask(`SELECT nextval(pg_get_serial_sequence('queued_turn', 'id'))`, nil, func(rows pgx.Rows) error { return rows.Scan(&out.ID) })
		if err := t.send(ctx); err != nil {
			return err
		}
		t.write(`INSERT INTO draft_reading (platform, workspace, channel, message, draft) SELECT $1::text, $2::text, $3::text, unnest($4::text[]), $5::bigint`,
			args(id.Scope, texts(d.Prompt.Shows), int64(out.ID))...)
		return t.putDraft(out)
	})
	if err != nil {
		return earshot.Draft{}, err
	}
	return out.Export(), nil
}

// putDraft queues the row of a draft; it replaces the one with its id.
func (t *tx) putDraft(d rule.Drafted) error {
	v, err := rule.DraftValues(d)
	if err != nil {
		return err
	}
	t.write(`INSERT INTO draft (`+rule.DraftColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20)
		ON CONFLICT (id) DO UPDATE SET opener = excluded.opener, state = excluded.state, erased = excluded.erased,
			asked = excluded.asked, input = excluded.input, record = excluded.record`, v...)
	return nil
}

func scanDraft(rows pgx.Rows, d *rule.DraftRow) error {
	if err := rows.Scan(d.Fields()...); err != nil {
		return err
	}
	return d.Read()
}

// Draft implements [earshot.Drafts].
func (s *Store) Draft(ctx context.Context, id earshot.TurnID) (earshot.Draft, error) {
	found, err := list(ctx, s, "read a draft", `SELECT `+rule.DraftColumns+` FROM draft WHERE id = $1`, []any{int64(id)}, scanDraft)
	if err != nil {
		return earshot.Draft{}, err
	}
	if len(found) == 0 {
		return earshot.Draft{}, rule.NoDraft(id)
	}
	return found[0].Export(), nil
}

// askDraft queries a draft with the messages that it shows, and locks it.
func (t *tx) askDraft(id earshot.TurnID, found *[]rule.DraftRow, shows *[]earshot.MessageID) {
	*found, *shows = nil, nil
	t.ask(`SELECT `+rule.DraftColumns+` FROM draft WHERE id = $1 FOR UPDATE`, []any{int64(id)}, gather(found, scanDraft))
	t.ask(`SELECT message FROM draft_reading WHERE draft = $1 ORDER BY message`, []any{int64(id)}, gather(shows, scanID))
}

// draft returns one draft, which it locks, with the messages that it shows.
func (t *tx) draft(ctx context.Context, id earshot.TurnID) (rule.Drafted, error) {
	var found []rule.DraftRow
	var shows []earshot.MessageID
	t.askDraft(id, &found, &shows)
	if err := t.send(ctx); err != nil {
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
	inserted := 0
	err = s.apply(ctx, "commit a draft", func(ctx context.Context, t *tx) error {
		inserted = 0
		if len(messages) > 0 { // takes the channel's exclusive lock, which comes before the others
			t.exclusive(in.Scope)
		} else {
			t.shared(in.Scope)
		}
		var c *rule.DraftCommit
		var err error
		if out, c, err = t.decideDraft(ctx, in, id, turn, now); err != nil || c == nil {
			out.Repeated = true
			return err
		}
		if len(messages) > 0 {
			if inserted, err = t.arrive(ctx, in.Scope, messages); err != nil {
				return err
			}
			if _, c, err = t.decideDraft(ctx, in, id, turn, now); err != nil {
				return err
			}
		}
		out = c.Draft
		return t.commitDraft(c)
	})
	if err = answered(err, at.Anchor); err != nil {
		return earshot.Draft{}, err
	}
	s.stats.grown(inserted)
	return out.Export(), nil
}

// decideDraft loads a draft and what its commit depends on, locks its conversation,
// and decides.
func (t *tx) decideDraft(ctx context.Context, in earshot.ConversationID, id earshot.TurnID, turn earshot.Turn, now earshot.Time) (rule.Drafted, *rule.DraftCommit, error) {
	c, err := t.locked(ctx, in)
	if err != nil {
		return rule.Drafted{}, nil, err
	}
	d, err := t.draft(ctx, id)
	if err != nil || d.State == earshot.DraftCommitted {
		return d, nil, err
	}
	e := rule.DraftEnd{Now: now, Stored: earshot.TimeOf(t.store.now())}
	if e.Turn, err = rule.DraftTurn(d, turn); err != nil {
		return d, nil, err
	}
	t.askAnswered(in, e.Turn, &e.Answered)
	t.ask(`SELECT 1 FROM queued_turn`+queuedFor, args(in.Scope, string(d.Anchor), string(in.Agent)), one(&e.Queued, new(int)))
	t.ask(`SELECT 1 FROM queued_turn`+busyIn,
		args(in.Scope, in.Name, string(in.Agent)), one(&e.Busy, new(int)))
	if err := t.send(ctx); err != nil {
		return d, nil, err
	}
	e.Answered.Conversation, e.Answered.Turns, e.Answered.Weight = c.Conversation, c.Turns, c.Weight
	done, err := rule.CommitDraft(d, e)
	return d, done, err
}

// commitDraft queues what a commit of a draft decided.
func (t *tx) commitDraft(c *rule.DraftCommit) error {
	if err := t.commitTurn(c.Commit); err != nil {
		return err
	}
	q := c.Queued
	id := q.Conversation
	t.write(`INSERT INTO queued_turn (agent, platform, workspace, channel, conversation, id, anchor, client, author, said,
			state, why, tries, opened, updated, from_epoch, epoch, number, hash, began, input) OVERRIDING SYSTEM VALUE
		VALUES ($1, $2, $3, $4, $5, $6, $7, '', '', 0, $8, '', 0, $9, $10, $11, $12, $13, $14, $15, $16)`,
		own(id, id.Name, int64(q.ID), string(q.Anchor), string(q.State), int64(q.Opened), int64(q.Updated),
			q.From, q.Epoch, q.Number, q.Hash, string(q.Began), blob(q.Input))...)
	return t.endDraft(c.Draft)
}

// endDraft queues what ends a draft.
func (t *tx) endDraft(d rule.Drafted) error {
	t.write(`DELETE FROM draft_reading WHERE draft = $1`, int64(d.ID))
	return t.putDraft(d)
}

// AbortDraft implements [earshot.Drafts].
func (s *Store) AbortDraft(ctx context.Context, id earshot.TurnID) (earshot.Draft, error) {
	var out rule.Drafted
	err := s.apply(ctx, "abort a draft", func(ctx context.Context, t *tx) error {
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

// PruneDrafts implements [earshot.Drafts]. It skips rows that another transaction has
// locked; the next call finds them.
func (s *Store) PruneDrafts(ctx context.Context, before earshot.Time) (int, error) {
	step := func(which, change string, a ...any) func(context.Context, *tx) (int, error) {
		return func(ctx context.Context, t *tx) (int, error) {
			var ids []int64
			t.ask(`SELECT id FROM draft WHERE `+which+` ORDER BY expires, id LIMIT $2 FOR UPDATE SKIP LOCKED`, append(a, pruneRows),
				gather(&ids, func(rows pgx.Rows, id *int64) error { return rows.Scan(id) }))
			if err := t.send(ctx); err != nil || len(ids) == 0 {
				return 0, err
			}
			t.write(`DELETE FROM draft_reading WHERE draft = ANY($1)`, ids)
			t.write(change+` WHERE id = ANY($1)`, ids)
			return len(ids), nil
		}
	}
	gone, err := s.prune(ctx, "prune drafts", step(`expires < $1`, `DELETE FROM draft`, int64(rule.DraftGone(before))))
	if err != nil {
		return gone, err
	}
	emptied, err := s.prune(ctx, "prune drafts", step(`expires < $1 AND `+rule.DraftContentsSQL,
		`UPDATE draft SET `+rule.PruneDraftSQL, int64(before)))
	return gone + emptied, err
}

// eraseDraftsOf erases the open drafts of a conversation.
func (t *tx) eraseDraftsOf(id earshot.ConversationID) {
	t.eraseDrafts(`SELECT id FROM draft`+ofConversation, own(id, id.Name)...)
}

// eraseDraftsReading erases the open drafts that show one of the messages.
func (t *tx) eraseDraftsReading(scope earshot.Scope, ids []string) {
	t.eraseDrafts(`SELECT draft FROM draft_reading`+in+` AND message = ANY($4)`, args(scope, ids)...)
}

func (t *tx) eraseDrafts(which string, a ...any) {
	const erase = `WITH gone AS (UPDATE draft SET ` + rule.EraseDraftSQL + ` WHERE id = ANY(ARRAY(%s)) AND ` + rule.ErasableDraftSQL + ` RETURNING id),
		unread AS (DELETE FROM draft_reading WHERE draft IN (SELECT id FROM gone))
		SELECT count(*) FROM gone`
	t.ask(fmt.Sprintf(erase, which), a, func(rows pgx.Rows) error {
		var n int
		err := rows.Scan(&n)
		t.tally.Turns += n
		return err
	})
}

// draftsAtOnce is how many drafts are looked through for a person at a time.
const draftsAtOnce = 20

// scrubDrafts erases the drafts of a channel that hold something of a person.
func (t *tx) scrubDrafts(ctx context.Context, scope earshot.Scope, holds func(string) bool) error {
	for last := int64(0); ; {
		var page []rule.DraftRow
		t.ask(`SELECT `+rule.DraftColumns+` FROM draft`+in+` AND id > $4 ORDER BY id LIMIT $5 FOR UPDATE`, args(scope, last, draftsAtOnce), gather(&page, scanDraft))
		if err := t.send(ctx); err != nil {
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
			return t.send(ctx)
		}
	}
}
