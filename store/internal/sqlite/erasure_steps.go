package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// An eraser is the writer's transaction as [rule.Eraser]. Whatever deletes or
// changes text calls needScrub.
type eraser struct{ *tx }

// How many rows of messages, and of other tables, one piece of an erasure looks at.
const (
	scrubbedMessages = 1000
	scrubbedRows     = 200
)

// NextChannel implements [rule.Eraser].
func (e eraser) NextChannel(_ context.Context, p earshot.Platform, w earshot.WorkspaceID, after earshot.ChannelID) (id earshot.ChannelID, found bool, err error) {
	at := args(earshot.Scope{Platform: p, Workspace: w, Channel: after})
	found, err = e.one(`SELECT id FROM channel WHERE platform = ? AND workspace = ? AND id > ? ORDER BY id LIMIT 1`, at, []any{&id})
	if err != nil {
		return id, found, err
	}
	var other earshot.ChannelID // of a conversation without messages
	more, err := e.one(`SELECT channel FROM conversation WHERE platform = ? AND workspace = ? AND channel > ? ORDER BY channel LIMIT 1`, at, []any{&other})
	if more && (!found || other < id) {
		id, found = other, true
	}
	return id, found, err
}

// Channel implements [rule.Eraser].
func (e eraser) Channel(_ context.Context, s earshot.Scope) (c earshot.Channel, err error) {
	_, err = e.one(`SELECT kind, name, purpose FROM channel`+ofChannel, args(s), []any{&c.Kind, &c.Name, &c.Purpose})
	return c, err
}

// Author implements [rule.Eraser].
func (e eraser) Author(_ context.Context, p earshot.Platform, w earshot.WorkspaceID, id earshot.AuthorID) (a earshot.Author, err error) {
	_, err = e.one(`SELECT name, full_name FROM author WHERE platform = ? AND workspace = ? AND id = ?`,
		[]any{string(p), string(w), string(id)}, []any{&a.Name, &a.FullName})
	return a, err
}

// Spoken implements [rule.Eraser].
func (e eraser) Spoken(_ context.Context, s earshot.Scope, author earshot.AuthorID, until earshot.Time, limit int) ([]earshot.MessageID, error) {
	by, a := ``, args(s)
	if author != "" {
		by, a = ` AND author = ?`, append(a, string(author))
	}
	return all(e.tx, `SELECT id FROM message`+inPlace+by+` AND deleted = 0 AND time <= ? ORDER BY time LIMIT ? + 0`, append(a, int64(until), limit), scanID[earshot.MessageID])
}

func scanID[T ~string](rows *sql.Rows, id *T) error { return rows.Scan(id) }

// DeleteMessages implements [rule.Eraser].
func (e eraser) DeleteMessages(_ context.Context, s earshot.Scope, ids []earshot.MessageID) ([]earshot.AuthorID, error) {
	var authors []earshot.AuthorID
	found, err := e.messages(byID, s, ids)
	if err != nil {
		return nil, err
	}
	for _, m := range found {
		if !m.Deleted {
			authors = append(authors, m.Author.ID)
		}
	}
	return authors, e.bury(s, rule.Tombstones(ids))
}

// Purge implements [rule.Eraser].
func (e eraser) Purge(_ context.Context, s earshot.Scope, until earshot.Time, limit int) (bool, error) {
	gone, err := all(e.tx, `DELETE FROM message WHERE no IN (SELECT no FROM message`+inPlace+` AND deleted = 1 AND time <= ? LIMIT ? + 0) RETURNING id`,
		args(s, int64(until), limit), scanID[earshot.MessageID])
	if err != nil {
		return false, err
	}
	for _, id := range gone {
		if err := e.exec(`DELETE FROM reading`+in+` AND message = ?`, args(s, string(id))...); err != nil {
			return false, err
		}
	}
	return len(gone) == limit, nil
}

// DropConversation implements [rule.Eraser].
func (e eraser) DropConversation(_ context.Context, s earshot.Scope) (bool, error) {
	id := earshot.ConversationID{Scope: s}
	found, err := e.one(`SELECT agent, name FROM conversation`+in+` ORDER BY agent, name LIMIT 1`, args(s), []any{&id.Agent, &id.Name})
	if err != nil || !found {
		return false, err
	}
	a := own(id, id.Name)
	const turns = `(SELECT id FROM queued_turn` + ofConversation + `)`
	var epochs int
	if _, err := e.one(`SELECT count(DISTINCT epoch) FROM turn`+ofConversation, a, []any{&epochs}); err != nil {
		return false, err
	}
	e.tally.Sessions += epochs
	if err := e.exec(`UPDATE erased SET turn = max(turn, coalesce((SELECT max(id) FROM queued_turn`+ofConversation+`), 0),
			coalesce((SELECT max(id) FROM draft`+ofConversation+`), 0)) WHERE one = 1`, append(a, a...)...); err != nil {
		return false, err
	}
	if err := e.exec(`DELETE FROM draft_reading WHERE draft IN (SELECT id FROM draft`+ofConversation+`)`, a...); err != nil {
		return false, err
	}
	if err := e.exec(`DELETE FROM draft`+ofConversation, a...); err != nil {
		return false, err
	}
	for _, table := range []string{"journal", "outbox"} {
		if err := e.exec(`DELETE FROM `+table+` WHERE turn IN `+turns, a...); err != nil {
			return false, err
		}
	}
	n, err := e.affected(`DELETE FROM queued_turn`+ofConversation, a...)
	if err != nil {
		return false, err
	}
	e.tally.Turns += n
	for _, table := range agentTables {
		n, err := e.affected(`DELETE FROM `+table+ofConversation, a...)
		if err != nil {
			return false, err
		}
		if table == "summary" {
			e.tally.Summaries += n
		}
	}
	return true, errors.Join(e.exec(`DELETE FROM conversation`+ofAgent+` AND name = ?`, a...), e.needScrub())
}

// ScrubMessages implements [rule.Eraser]. The cursor is a sequence, and then "r" and
// the id of a message whose revisions were looked at.
func (e eraser) ScrubMessages(_ context.Context, s earshot.Scope, id earshot.AuthorID, b rule.Bars, after string) (string, bool, error) {
	labelled, quoted := rule.Needles(id)
	if past, ok := strings.CutPrefix(after, "r"); ok {
		return e.scrubRevisions(s, earshot.MessageID(past), b, labelled, quoted)
	}
	from, _ := strconv.ParseInt(after, 10, 64)
	var last int64
	if _, err := e.one(`SELECT seq FROM channel`+ofChannel, args(s), []any{&last}); err != nil {
		return "", false, err
	}
	to := from + scrubbedMessages
	ids, err := all(e.tx, `SELECT id FROM message`+bySeq+` AND +deleted = 0 AND (instr(text, ?) > 0 OR instr(lists, ?) > 0 OR instr(lists, ?) > 0)`,
		seqArgs(s, from, to, labelled, labelled, quoted), scanID[earshot.MessageID])
	if err != nil {
		return "", false, err
	}
	if to >= last {
		return "r", true, e.scrub(s, ids, b)
	}
	return strconv.FormatInt(to, 10), true, e.scrub(s, ids, b)
}

func (e eraser) scrubRevisions(s earshot.Scope, after earshot.MessageID, b rule.Bars, labelled, quoted string) (string, bool, error) {
	type row struct {
		id  earshot.MessageID
		has bool
	}
	rows, err := all(e.tx, `SELECT id, instr(text, ?) > 0 OR instr(lists, ?) > 0 OR instr(lists, ?) > 0 FROM revision`+inPlace+` AND id > ? ORDER BY id, edited LIMIT ? + 0`,
		append([]any{labelled, labelled, quoted}, args(s, string(after), scrubbedRows)...), func(rows *sql.Rows, r *row) error { return rows.Scan(&r.id, &r.has) })
	if err != nil || len(rows) == 0 {
		return "", false, err
	}
	last := rows[len(rows)-1].id // whose other revisions may lie beyond the limit
	ids := []earshot.MessageID{last}
	for _, r := range rows {
		if r.has {
			ids = append(ids, r.id)
		}
	}
	return "r" + string(last), len(rows) == scrubbedRows, e.scrub(s, rule.IDs(ids), b)
}

// scrub applies bars to messages and their older revisions, and erases what has read
// those that it changes.
func (e eraser) scrub(s earshot.Scope, ids []earshot.MessageID, bars rule.Bars) error {
	if len(ids) == 0 {
		return nil
	}
	stubs := make([]rule.Message, len(ids))
	for i, id := range ids {
		stubs[i].ID = id
	}
	place, b, err := e.batchOf(s, stubs)
	if err != nil {
		return err
	}
	past, err := e.messages(pastByID, s, ids)
	if err != nil {
		return err
	}
	b.Load(past)
	changed := b.Scrub(bars)
	if len(changed) == 0 {
		return nil
	}
	if err := errors.Join(e.writeBatch(s, place, b), e.needScrub()); err != nil {
		return err
	}
	now := earshot.TimeOf(e.now())
	for _, id := range changed {
		m, _ := b.Stored(id)
		if err := e.eraseRaws(`UPDATE event SET raw = x''`+inPlace+` AND raw <> x'' AND message = ?`, args(s, string(id))...); err != nil {
			return err
		}
		f := forgotten{Message: m, scope: s}
		if f.readings, err = e.readings(s, id); err != nil {
			return err
		}
		if f.summed, err = e.summarised(s, id); err != nil {
			return err
		}
		if f.drafted, err = e.drafted(s, id); err != nil {
			return err
		}
		_, err := e.forgetSummaries([]forgotten{f}, now)
		if err == nil {
			_, err = e.forgetReaders(f, now)
		}
		if err != nil {
			return fmt.Errorf("erase a name from message %q: %w", id, err)
		}
	}
	return nil
}

// ScrubEvents implements [rule.Eraser]. The cursor is a message's id and the row's.
func (e eraser) ScrubEvents(_ context.Context, s earshot.Scope, id earshot.AuthorID, after string) (string, bool, error) {
	type row struct {
		message string
		id      int64
		raw     []byte
	}
	has := rule.Tells(id)
	message, no, err := rule.CutCursor(after)
	if err != nil {
		return "", false, err
	}
	from, _ := strconv.ParseInt(no, 10, 64)
	rows, err := all(e.tx, `SELECT message, id, raw FROM event`+inPlace+` AND (message, id) > (?, ?) ORDER BY message, id LIMIT ? + 0`,
		args(s, message, from, scrubbedRows), func(rows *sql.Rows, r *row) error { return rows.Scan(&r.message, &r.id, &r.raw) })
	if err != nil || len(rows) == 0 {
		return "", false, err
	}
	for _, r := range rows {
		if has(r.raw) {
			if err := errors.Join(e.eraseRaws(`UPDATE event SET raw = x'' WHERE id = ?`, r.id), e.needScrub()); err != nil {
				return "", false, err
			}
		}
	}
	last := rows[len(rows)-1]
	return rule.Cursor(last.message, strconv.FormatInt(last.id, 10)), len(rows) == scrubbedRows, nil
}

// EndNamed implements [rule.Eraser].
func (e eraser) EndNamed(_ context.Context, s earshot.Scope, id earshot.AuthorID) (bool, error) {
	r := reading{id: earshot.ConversationID{Scope: s}}
	found, err := e.one(`SELECT agent, conversation, epoch FROM named`+in+` AND author = ? LIMIT 1`, args(s, string(id)), []any{&r.id.Agent, &r.id.Name, &r.epoch})
	if err != nil || !found {
		return false, err
	}
	return true, errors.Join(e.eraseEpochs(r.id, r.epoch, r.epoch, earshot.TimeOf(e.now())), e.needScrub())
}

// ScrubMetadata implements [rule.Eraser]. The cursor is an agent and a conversation's
// name.
func (e eraser) ScrubMetadata(_ context.Context, s earshot.Scope, holds func(string) bool, after string) (string, bool, error) {
	type row struct {
		id              earshot.ConversationID
		metadata, about string
	}
	if after == "" {
		if err := e.scrubDrafts(s, holds); err != nil {
			return "", false, err
		}
	}
	agent, name, err := rule.CutCursor(after)
	if err != nil {
		return "", false, err
	}
	rows, err := all(e.tx, `SELECT agent, name, metadata, about FROM conversation`+in+` AND (agent, name) > (?, ?) ORDER BY agent, name LIMIT ? + 0`,
		args(s, agent, name, scrubbedRows), func(rows *sql.Rows, r *row) error {
			r.id.Scope = s
			return rows.Scan(&r.id.Agent, &r.id.Name, &r.metadata, &r.about)
		})
	if err != nil || len(rows) == 0 {
		return "", false, err
	}
	for _, r := range rows {
		have, err := rule.ReadScrubbed(r.metadata, r.about)
		if err != nil {
			return "", false, err
		}
		if next, less := have.Without(holds); less {
			if err := e.putScrubbed(r.id, next, earshot.TimeOf(e.now())); err != nil {
				return "", false, err
			}
		}
	}
	last := rows[len(rows)-1].id
	return rule.Cursor(string(last.Agent), last.Name), len(rows) == scrubbedRows, nil
}

// ForgetAuthors implements [rule.Eraser].
func (e eraser) ForgetAuthors(_ context.Context, p earshot.Platform, w earshot.WorkspaceID, ids []earshot.AuthorID) error {
	for _, id := range ids {
		last, err := e.lastSpoken(earshot.ErasureOf{Platform: p, Workspace: w, User: id})
		if err != nil {
			return err
		}
		if last != 0 {
			continue
		}
		n, err := e.affected(`DELETE FROM author WHERE platform = ? AND workspace = ? AND id = ?`, string(p), string(w), string(id))
		if err := errors.Join(err, e.needScrub()); err != nil {
			return err
		}
		e.tally.Names += n
	}
	return nil
}

// ForgetChannel implements [rule.Eraser].
func (e eraser) ForgetChannel(_ context.Context, s earshot.Scope) error {
	var place int64
	found, err := e.one(`UPDATE channel SET name = '', topic = '', purpose = ''`+ofChannel+` RETURNING place`, args(s), []any{&place})
	if err != nil || !found {
		return err
	}
	_, err = e.dropEarly(place, rule.Forever)
	return errors.Join(err, e.needScrub())
}
