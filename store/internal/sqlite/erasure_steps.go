package sqlite

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// An eraser is the writer's transaction as [rule.Eraser]. Whatever deletes or
// changes text calls needScrub.
type eraser struct {
	tables.Eraser
	*tx
}

// How many rows of messages, and of other tables, one piece of an erasure looks at.
const (
	scrubbedMessages = 1000
	scrubbedRows     = 200
)

// Spoken implements [rule.Eraser].
func (e eraser) Spoken(_ context.Context, s earshot.Scope, author earshot.AuthorID, until earshot.Time, limit int) ([]earshot.MessageID, error) {
	by, a := ``, tables.Args(s)
	if author != "" {
		by, a = ` AND author = ?`, append(a, string(author))
	}
	return all(e.tx, `SELECT id FROM message`+inPlace+by+` AND deleted = 0 AND time <= ? ORDER BY time LIMIT ? + 0`, append(a, int64(until), limit), tables.Scan[earshot.MessageID])
}

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
		tables.Args(s, int64(until), limit), tables.Scan[earshot.MessageID])
	if err != nil {
		return false, err
	}
	for _, id := range gone {
		if err := e.exec(`DELETE FROM reading`+in+` AND message = ?`, tables.Args(s, string(id))...); err != nil {
			return false, err
		}
	}
	return len(gone) == limit, nil
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
	if _, err := e.one(`SELECT seq FROM channel`+ofChannel, tables.Args(s), []any{&last}); err != nil {
		return "", false, err
	}
	to := from + scrubbedMessages
	ids, err := all(e.tx, `SELECT id FROM message`+bySeq+` AND +deleted = 0 AND (instr(text, ?) > 0 OR instr(lists, ?) > 0 OR instr(lists, ?) > 0)`,
		seqArgs(s, from, to, labelled, labelled, quoted), tables.Scan[earshot.MessageID])
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
		append([]any{labelled, labelled, quoted}, tables.Args(s, string(after), scrubbedRows)...), func(rows tables.Row, r *row) error { return rows.Scan(&r.id, &r.has) })
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
	now := earshot.TimeOf(e.tx.Now())
	for _, id := range changed {
		m, _ := b.Stored(id)
		if err := e.eraseRaws(`UPDATE event SET raw = x''`+inPlace+` AND raw <> x'' AND message = ?`, tables.Args(s, string(id))...); err != nil {
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
		tables.Args(s, message, from, scrubbedRows), func(rows tables.Row, r *row) error { return rows.Scan(&r.message, &r.id, &r.raw) })
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

// ForgetAuthors implements [rule.Eraser].
func (e eraser) ForgetAuthors(_ context.Context, p earshot.Platform, w earshot.WorkspaceID, ids []earshot.AuthorID) error {
	for _, id := range ids {
		last, err := e.LastSpoken(context.Background(), earshot.ErasureOf{Platform: p, Workspace: w, User: id})
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
		e.tx.Tally.Names += n
	}
	return nil
}

// ForgetChannel implements [rule.Eraser].
func (e eraser) ForgetChannel(_ context.Context, s earshot.Scope) error {
	var place int64
	found, err := e.one(`UPDATE channel SET name = '', topic = '', purpose = ''`+ofChannel+` RETURNING place`, tables.Args(s), []any{&place})
	if err != nil || !found {
		return err
	}
	_, err = e.dropEarly(place, rule.Forever)
	return errors.Join(err, e.needScrub())
}
