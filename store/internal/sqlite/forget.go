package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// A forgotten is a message that has just become a tombstone, with the epochs that
// have read it and, if there are any, its words.
type forgotten struct {
	earshot.Message
	scope    earshot.Scope
	readings []reading
	summed   []earshot.ConversationID // whose summary was made of it
	drafted  []earshot.ConversationID // of the open drafts that show it
	words    rule.Words
}

// forgotten deletes the older revisions of messages that become tombstones in b, and
// loads what forget needs to know of them.
func (t *tx) forgotten(scope earshot.Scope, b *rule.Batch, gone []earshot.Message) ([]forgotten, error) {
	var out []forgotten
	for _, m := range gone {
		f := forgotten{Message: m, scope: scope}
		var err error
		if f.readings, err = t.readings(scope, m.ID); err != nil {
			return nil, err
		}
		if f.summed, err = t.summarised(scope, m.ID); err != nil {
			return nil, err
		}
		if f.drafted, err = t.drafted(scope, m.ID); err != nil {
			return nil, err
		}
		if _, stored := b.Stored(m.ID); stored && len(f.readings)+len(f.summed)+len(f.drafted) > 0 {
			past, err := t.messages(pastByID, scope, []earshot.MessageID{m.ID})
			if err != nil {
				return nil, err
			}
			f.words = b.Words(m.ID, past)
		}
		n, err := t.affected(`DELETE FROM revision`+inID, args(scope, string(m.ID))...)
		if err != nil {
			return nil, err
		}
		t.tally.Messages++
		t.tally.Revisions += n
		out = append(out, f)
	}
	return out, nil
}

// forget erases all other copies of the text of messages that have just become
// tombstones: raw events, prompts, sessions, summaries, and the replies that quote
// them.
func (t *tx) forget(scope earshot.Scope, gone []forgotten) error {
	now := earshot.TimeOf(t.now())
	quoting, err := t.forgetSummaries(gone, now)
	if err != nil {
		return err
	}
	for _, m := range gone {
		quotes, err := t.forgetOne(scope, m, now)
		if err != nil {
			return fmt.Errorf("erase message %q: %w", m.ID, err)
		}
		quoting.Add(quotes)
	}
	if len(quoting) == 0 {
		return nil
	}
	t.tally.Replies += len(quoting)
	return t.bury(scope, quoting.Tombstones())
}

// bury records tombstones.
func (t *tx) bury(scope earshot.Scope, tombstones []rule.Message) error {
	return t.record([]*recording{{scope: scope, messages: tombstones, outcomes: make([]earshot.Recorded, len(tombstones))}})
}

func (t *tx) forgetOne(scope earshot.Scope, m forgotten, now earshot.Time) (rule.Quoting, error) {
	id := string(m.ID)
	const raw = `UPDATE event SET raw = x''` + inPlace + ` AND raw <> x'' AND message `
	if err := t.eraseRaws(raw+`= ?`, args(scope, id)...); err != nil {
		return nil, err
	}
	for _, quoting := range []string{`thread = ?`, `reply_to = ? AND reply_to <> ''`} {
		err := t.eraseRaws(raw+`IN (SELECT id FROM message`+inPlace+` AND `+quoting+` AND deleted = 0)`, append(args(scope), args(scope, id)...)...)
		if err != nil {
			return nil, err
		}
	}
	if err := t.dropAnchored(scope, m.ID, now); err != nil {
		return nil, err
	}
	return t.forgetReaders(m, now)
}

// forgetSummaries drops the summaries that were made of the messages, each once, after
// all of the messages were looked for in the replies of the epochs that may have read
// it. It returns the replies that quote one of them.
func (t *tx) forgetSummaries(gone []forgotten, now earshot.Time) (rule.Quoting, error) {
	quoting := rule.Quoting{}
	var drop []earshot.ConversationID
	for _, m := range gone {
		for _, id := range m.summed {
			x, err := t.summed(id)
			if err != nil {
				return nil, err
			}
			from, to := x.Dropped()
			quotes, err := t.quotes(id, from, to+1, m.words)
			if err = errors.Join(err, t.unquote(id, m.words, now)); err != nil {
				return nil, err
			}
			quoting.Add(quotes)
			if !slices.Contains(drop, id) {
				drop = append(drop, id)
			}
		}
	}
	for _, id := range drop {
		if err := t.dropSummary(id, now); err != nil {
			return nil, fmt.Errorf("drop the summary of %q: %w", id.Name, err)
		}
		t.tally.Summaries++
	}
	return quoting, nil
}

// forgetReaders erases the text of the epochs and drafts that have read a message, and
// returns their replies that quote it.
func (t *tx) forgetReaders(m forgotten, now earshot.Time) (rule.Quoting, error) {
	quoting := rule.Quoting{}
	for _, id := range m.drafted {
		if err := t.unquote(id, m.words, now); err != nil {
			return nil, err
		}
	}
	if len(m.drafted) > 0 {
		if err := t.eraseDraftsReading(m.scope, m.ID); err != nil {
			return nil, err
		}
	}
	for _, r := range m.readings {
		quotes, err := t.quotes(r.id, r.epoch, r.epoch, m.words)
		if err := errors.Join(err, t.unquote(r.id, m.words, now), t.eraseEpochs(r.id, r.epoch, r.epoch, now)); err != nil {
			return nil, err
		}
		quoting.Add(quotes)
	}
	return quoting, nil
}

// unquote removes what is said of a conversation that quotes a message by its words.
func (t *tx) unquote(id earshot.ConversationID, words rule.Words, now earshot.Time) error {
	if len(words) == 0 {
		return nil
	}
	c, found, err := t.found(id, "name", id.Name)
	if err != nil || !found {
		return err
	}
	next, less := rule.Scrubbed{Metadata: c.Metadata, About: c.About}.Without(func(v string) bool { return len(words.In(v)) > 0 })
	if less {
		return t.putScrubbed(id, next, now)
	}
	return nil
}

// eraseRaws removes the bytes of deliveries.
func (t *tx) eraseRaws(query string, a ...any) error {
	n, err := t.affected(query, a...)
	t.tally.Events += n
	return err
}

// dropAnchored drops the turns that would answer a deleted message, unless one of
// their posts may be visible.
func (t *tx) dropAnchored(scope earshot.Scope, anchor earshot.MessageID, now earshot.Time) error {
	query := `SELECT ` + rule.QueuedColumns + ` FROM queued_turn` + in + ` AND anchor = ? AND +` + rule.UnfinishedSQL + ` ORDER BY agent`
	turns, err := all(t, query, args(scope, string(anchor)), func(rows *sql.Rows, q *rule.Queued) error { return rows.Scan(rule.QueuedFields(q)...) })
	if err != nil {
		return err
	}
	for _, q := range turns {
		states, err := all(t, `SELECT state FROM outbox WHERE turn = ? ORDER BY chunk`, []any{int64(q.ID)},
			func(rows *sql.Rows, s *earshot.PostState) error { return rows.Scan(s) })
		if err != nil {
			return err
		}
		if err := t.change(q, rule.DropAnchored(q, states, now), now); err != nil {
			return err
		}
	}
	return nil
}

// all reads all rows of a query within the transaction, each with scan.
func all[T any](t *tx, query string, args []any, scan func(*sql.Rows, *T) error) ([]T, error) {
	rows, err := t.query(query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		var v T
		if err := scan(rows, &v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, errors.Join(rows.Err(), rows.Close())
}

// A reading is an epoch of a conversation that holds a message's text.
type reading struct {
	id    earshot.ConversationID
	epoch int
}

func (t *tx) readings(scope earshot.Scope, id earshot.MessageID) ([]reading, error) {
	return all(t, `SELECT agent, conversation, epoch FROM reading`+in+` AND message = ? ORDER BY agent, conversation, epoch`, args(scope, string(id)),
		func(rows *sql.Rows, r *reading) error {
			r.id.Scope = scope
			return rows.Scan(&r.id.Agent, &r.id.Name, &r.epoch)
		})
}

// putScrubbed replaces what is said of a conversation, of which something was removed.
func (t *tx) putScrubbed(id earshot.ConversationID, x rule.Scrubbed, now earshot.Time) error {
	metadata, about, err := x.Columns()
	if err != nil {
		return err
	}
	err = t.exec(`UPDATE conversation SET metadata = ?, about = ?, updated = ?`+ofAgent+` AND name = ?`,
		append([]any{metadata, about, int64(now)}, own(id, id.Name)...)...)
	return errors.Join(err, t.needScrub())
}

// quotes returns the replies of a conversation's epochs, both ends counted, that
// quote a message by its words.
func (t *tx) quotes(id earshot.ConversationID, from, to int, words rule.Words) (rule.Quoting, error) {
	if len(words) == 0 {
		return nil, nil
	}
	var replies, shown []earshot.MessageID
	a := own(id, id.Name, from, to)
	turns, err := all(t, `SELECT `+rule.TurnColumns+` FROM turn`+ofConversation+` AND epoch >= ? AND epoch <= ? ORDER BY epoch`, a,
		func(rows *sql.Rows, x *earshot.Turn) error { return rule.ScanTurn(rows.Scan, x) })
	if err != nil {
		return nil, err
	}
	for _, x := range turns {
		replies, shown = append(replies, x.Answer.Replies...), append(shown, x.Answer.Anchor)
	}
	type post struct{ message, anchor earshot.MessageID }
	posts, err := all(t, `SELECT o.message, q.anchor FROM queued_turn q JOIN outbox o ON o.turn = q.id
		WHERE q.agent = ? AND q.platform = ? AND q.workspace = ? AND q.channel = ? AND q.conversation = ? AND q.epoch >= ? AND q.epoch <= ? AND +o.message <> ''`, a,
		func(rows *sql.Rows, p *post) error { return rows.Scan(&p.message, &p.anchor) })
	if err != nil {
		return nil, err
	}
	for _, p := range posts {
		replies, shown = append(replies, p.message), append(shown, p.anchor)
	}
	said, err := t.messages(byID, id.Scope, rule.IDs(replies))
	if err != nil {
		return nil, err
	}
	return rule.QuotedBy(words, said, func() ([]earshot.Message, error) {
		more, err := all(t, `SELECT message FROM manifest`+ofConversation+` AND epoch >= ? AND epoch <= ?`, a,
			func(rows *sql.Rows, m *earshot.MessageID) error { return rows.Scan(m) })
		if err != nil {
			return nil, err
		}
		return t.messages(byID, id.Scope, rule.IDs(append(shown, more...)))
	})
}

// eraseEpochs removes the text that the epochs of a conversation hold, both
// ends counted, and ends them.
func (t *tx) eraseEpochs(id earshot.ConversationID, from, to int, now earshot.Time) error {
	for _, table := range []string{"session", "named"} {
		if err := t.exec(`DELETE FROM `+table+ofConversation+` AND epoch >= ? AND epoch <= ?`, own(id, id.Name, from, to)...); err != nil {
			return err
		}
	}
	if err := t.eraseTurnsOf(id, from, to); err != nil {
		return err
	}
	return t.endEpoch(id, to, now)
}

// eraseTurnsOf erases the text of the turns of a conversation's epochs, both ends
// counted, and that of the conversation's drafts, which may have read the same.
func (t *tx) eraseTurnsOf(id earshot.ConversationID, from, to int) error {
	if err := t.eraseDraftsOf(id); err != nil {
		return err
	}
	turns, err := all(t, `SELECT id FROM queued_turn`+ofConversation+` AND epoch >= ? AND epoch <= ? ORDER BY epoch, id`, own(id, id.Name, from, to),
		func(rows *sql.Rows, id *earshot.TurnID) error { return rows.Scan(id) })
	if err != nil {
		return err
	}
	for _, turn := range turns {
		if err := t.eraseTurn(turn); err != nil {
			return err
		}
	}
	return nil
}

// eraseTurn erases the text of a turn. The texts of its posts stay while the turn is
// about to post them, until it ends or begins again.
func (t *tx) eraseTurn(id earshot.TurnID) error {
	some := 0
	for _, query := range []string{
		`UPDATE queued_turn SET input = x'' WHERE id = ? AND input <> x''`,
		`UPDATE journal SET data = x'', erased = 1 WHERE turn = ? AND erased = 0`,
		erasePosts + ` AND NOT EXISTS (SELECT 1 FROM queued_turn WHERE id = turn AND +` + rule.BegunSQL + `)`,
	} {
		n, err := t.affected(query, int64(id))
		if err != nil {
			return err
		}
		some = max(some, min(n, 1))
	}
	t.tally.Turns += some
	return t.needScrub()
}

const erasePosts = `UPDATE outbox SET text = '' WHERE turn = ? AND text <> ''`

// endEpoch ends a conversation's epoch and those before it.
func (t *tx) endEpoch(id earshot.ConversationID, epoch int, now earshot.Time) error {
	n, err := t.affected(`UPDATE conversation SET epoch = ?, updated = ?`+ofAgent+` AND name = ? AND epoch <= ?`,
		append([]any{epoch + 1, int64(now)}, own(id, id.Name, epoch)...)...)
	t.tally.Sessions += n
	return err
}

// deleted returns those of the messages that are tombstones.
func (t *tx) deleted(scope earshot.Scope, ids []earshot.MessageID) ([]earshot.MessageID, error) {
	var out []earshot.MessageID
	for len(ids) > 0 {
		n := chunk(len(ids))
		a := args(scope)
		for _, id := range ids[:n] {
			a = append(a, string(id))
		}
		found, err := all(t, `SELECT id FROM message`+inPlace+` AND id IN `+marks(n, 1)+` AND +deleted = 1`, a,
			func(rows *sql.Rows, id *earshot.MessageID) error { return rows.Scan(id) })
		if err != nil {
			return nil, err
		}
		out, ids = append(out, found...), ids[n:]
	}
	return out, nil
}

// anyDeleted reports whether one of the messages is a tombstone.
func (t *tx) anyDeleted(scope earshot.Scope, ids ...earshot.MessageID) (bool, error) {
	found, err := t.deleted(scope, ids)
	return len(found) > 0, err
}

// hasRead records that a conversation's epoch holds the text of messages.
func (t *tx) hasRead(id earshot.ConversationID, epoch int, ids []earshot.MessageID) error {
	for len(ids) > 0 {
		n := chunk(len(ids))
		var a []any
		for _, m := range ids[:n] {
			a = append(a, args(id.Scope, string(m), string(id.Agent), id.Name, epoch)...)
		}
		err := t.exec(`INSERT INTO reading (platform, workspace, channel, message, agent, conversation, epoch) VALUES `+marks(7, n)+` ON CONFLICT DO NOTHING`, a...)
		if err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}
