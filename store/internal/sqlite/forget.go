package sqlite

import (
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
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
		n, err := t.affected(`DELETE FROM revision`+inID, tables.Args(scope, string(m.ID))...)
		if err != nil {
			return nil, err
		}
		t.Tally.Messages++
		t.Tally.Revisions += n
		out = append(out, f)
	}
	return out, nil
}

// forget erases all other copies of the text of messages that have just become
// tombstones: raw events, prompts, sessions, summaries, and the replies that quote
// them.
func (t *tx) forget(scope earshot.Scope, gone []forgotten) error {
	now := earshot.TimeOf(t.Now())
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
	t.Tally.Replies += len(quoting)
	return t.bury(scope, quoting.Tombstones())
}

// bury records tombstones.
func (t *tx) bury(scope earshot.Scope, tombstones []rule.Message) error {
	return t.record([]*recording{{scope: scope, messages: tombstones, outcomes: make([]earshot.Recorded, len(tombstones))}})
}

func (t *tx) forgetOne(scope earshot.Scope, m forgotten, now earshot.Time) (rule.Quoting, error) {
	id := string(m.ID)
	const raw = `UPDATE event SET raw = x''` + inPlace + ` AND raw <> x'' AND message `
	if err := t.eraseRaws(raw+`= ?`, tables.Args(scope, id)...); err != nil {
		return nil, err
	}
	for _, quoting := range []string{`thread = ?`, `reply_to = ? AND reply_to <> ''`} {
		err := t.eraseRaws(raw+`IN (SELECT id FROM message`+inPlace+` AND `+quoting+` AND deleted = 0)`, append(tables.Args(scope), tables.Args(scope, id)...)...)
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
		x, err := t.summed(id)
		if err == nil {
			t.DropSummary(id, x, now)
			err = t.did(nil)
		}
		if err != nil {
			return nil, fmt.Errorf("drop the summary of %q: %w", id.Name, err)
		}
		t.Tally.Summaries++
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
		if err := errors.Join(err, t.unquote(r.id, m.words, now)); err != nil {
			return nil, err
		}
		t.EraseEpochs(r.id, r.epoch, r.epoch, now)
		if err := t.did(nil); err != nil {
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
	var c tables.Conversation
	c.Ask(t, id, "")
	if err := t.did(nil); err != nil || !c.Found {
		return err
	}
	next, less := rule.Scrubbed{Metadata: c.Metadata, About: c.About}.Without(func(v string) bool { return len(words.In(v)) > 0 })
	if less {
		return t.did(t.PutScrubbed(id, next, now))
	}
	return nil
}

// summed loads what is stored of a conversation's summary.
func (t *tx) summed(id earshot.ConversationID) (x rule.Summed, err error) {
	t.AskSummed(id, &x)
	return x, t.did(nil)
}

// summarised returns the conversations whose summary was made of a message.
func (t *tx) summarised(scope earshot.Scope, message earshot.MessageID) ([]earshot.ConversationID, error) {
	return all(t, `SELECT agent, conversation FROM summarised`+in+` AND message = ?`, tables.Args(scope, string(message)),
		func(rows tables.Row, id *earshot.ConversationID) error {
			id.Scope = scope
			return rows.Scan(&id.Agent, &id.Name)
		})
}

// eraseRaws removes the bytes of deliveries.
func (t *tx) eraseRaws(query string, a ...any) error {
	n, err := t.affected(query, a...)
	t.Tally.Events += n
	return err
}

// dropAnchored drops the turns that would answer a deleted message, unless one of
// their posts may be visible.
func (t *tx) dropAnchored(scope earshot.Scope, anchor earshot.MessageID, now earshot.Time) error {
	query := `SELECT ` + rule.QueuedColumns + ` FROM queued_turn` + in + ` AND anchor = ? AND +` + rule.UnfinishedSQL + ` ORDER BY agent`
	turns, err := all(t, query, tables.Args(scope, string(anchor)), tables.ScanQueued)
	if err != nil {
		return err
	}
	for _, q := range turns {
		states, err := all(t, `SELECT state FROM outbox WHERE turn = ? ORDER BY chunk`, []any{int64(q.ID)}, tables.Scan[earshot.PostState])
		if err != nil {
			return err
		}
		if err := t.did(t.Change(q, rule.DropAnchored(q, states, now), now)); err != nil {
			return err
		}
	}
	return nil
}

// all reads all rows of a query within the transaction, each with scan.
func all[T any](t *tx, query string, args []any, scan func(tables.Row, *T) error) ([]T, error) {
	var out []T
	rows, err := t.query(query, args...)
	if err := eachRow(rows, err, tables.Gather(&out, scan)); err != nil {
		return nil, err
	}
	return out, nil
}

// A reading is an epoch of a conversation that holds a message's text.
type reading struct {
	id    earshot.ConversationID
	epoch int
}

func (t *tx) readings(scope earshot.Scope, id earshot.MessageID) ([]reading, error) {
	return all(t, `SELECT agent, conversation, epoch FROM reading`+in+` AND message = ? ORDER BY agent, conversation, epoch`, tables.Args(scope, string(id)),
		func(rows tables.Row, r *reading) error {
			r.id.Scope = scope
			return rows.Scan(&r.id.Agent, &r.id.Name, &r.epoch)
		})
}

// quotes returns the replies of a conversation's epochs, both ends counted, that
// quote a message by its words.
func (t *tx) quotes(id earshot.ConversationID, from, to int, words rule.Words) (rule.Quoting, error) {
	if len(words) == 0 {
		return nil, nil
	}
	var replies, shown []earshot.MessageID
	a := tables.Own(id, id.Name, from, to)
	turns, err := all(t, `SELECT `+rule.TurnColumns+` FROM turn`+ofConversation+` AND epoch >= ? AND epoch <= ? ORDER BY epoch`, a,
		func(rows tables.Row, x *earshot.Turn) error { return rule.ScanTurn(rows.Scan, x) })
	if err != nil {
		return nil, err
	}
	for _, x := range turns {
		replies, shown = append(replies, x.Answer.Replies...), append(shown, x.Answer.Anchor)
	}
	type post struct{ message, anchor earshot.MessageID }
	posts, err := all(t, `SELECT o.message, q.anchor FROM queued_turn q JOIN outbox o ON o.turn = q.id
		WHERE q.agent = ? AND q.platform = ? AND q.workspace = ? AND q.channel = ? AND q.conversation = ? AND q.epoch >= ? AND q.epoch <= ? AND +o.message <> ''`, a,
		func(rows tables.Row, p *post) error { return rows.Scan(&p.message, &p.anchor) })
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
		more, err := all(t, `SELECT message FROM manifest`+ofConversation+` AND epoch >= ? AND epoch <= ?`, a, tables.Scan[earshot.MessageID])
		if err != nil {
			return nil, err
		}
		return t.messages(byID, id.Scope, rule.IDs(append(shown, more...)))
	})
}

// eraseTurnsOf erases the text of the turns of a conversation's epochs, both ends
// counted, and that of the conversation's drafts, which may have read the same.
func (t *tx) eraseTurnsOf(id earshot.ConversationID, from, to int) error {
	if err := t.eraseDraftsOf(id); err != nil {
		return err
	}
	turns, err := all(t, `SELECT id FROM queued_turn`+ofConversation+` AND epoch >= ? AND epoch <= ? ORDER BY epoch, id`, tables.Own(id, id.Name, from, to), tables.Scan[earshot.TurnID])
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
	t.Tally.Turns += some
	return t.needScrub()
}

const erasePosts = `UPDATE outbox SET text = '' WHERE turn = ? AND text <> ''`

// deleted returns those of the messages that are tombstones.
func (t *tx) deleted(scope earshot.Scope, ids []earshot.MessageID) ([]earshot.MessageID, error) {
	var out []earshot.MessageID
	for len(ids) > 0 {
		n := chunk(len(ids))
		a := tables.Args(scope)
		for _, id := range ids[:n] {
			a = append(a, string(id))
		}
		found, err := all(t, `SELECT id FROM message`+inPlace+` AND id IN `+marks(n, 1)+` AND +deleted = 1`, a, tables.Scan[earshot.MessageID])
		if err != nil {
			return nil, err
		}
		out, ids = append(out, found...), ids[n:]
	}
	return out, nil
}
