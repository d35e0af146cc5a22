package tables

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// How many rows of messages, and of other tables, one piece of an erasure looks at.
const (
	scrubbedMessages = 1000
	scrubbedRows     = 200
)

// Spoken implements [rule.Eraser].
func (e Eraser) Spoken(ctx context.Context, s earshot.Scope, author earshot.AuthorID, until earshot.Time, limit int) (ids []earshot.MessageID, err error) {
	by, a := ``, Args(s, int64(until), limit)
	if author != "" {
		by, a = ` AND author = $6 AND author <> ''`, append(a, string(author))
	}
	e.Shared(s)
	e.Ask(`SELECT id FROM message`+e.SQL.MessagesIn+by+` AND deleted = 0 AND time <= $4 ORDER BY time LIMIT $5 + 0`, a, Gather(&ids, Scan[earshot.MessageID]))
	err = e.Send(ctx)
	return ids, err
}

// Purge implements [rule.Eraser].
func (e Eraser) Purge(ctx context.Context, s earshot.Scope, until earshot.Time, limit int) (bool, error) {
	var gone []earshot.MessageID
	e.Exclusive(s)
	which := `SELECT id FROM message` + e.SQL.MessagesIn + ` AND deleted = 1 AND author = '' AND time <= $4 LIMIT $5 + 0`
	e.Ask(`DELETE FROM message`+e.SQL.MessagesIn+` AND `+e.SQL.Among(`id`, which)+` RETURNING id`, Args(s, int64(until), limit), Gather(&gone, Scan[earshot.MessageID]))
	if err := e.Send(ctx); err != nil {
		return false, err
	}
	e.Write(`DELETE FROM reading`+In+` AND `+e.SQL.Any(`message`, 4), Args(s, e.list(gone))...)
	return len(gone) == limit, e.Send(ctx)
}

// DeleteMessages implements [rule.Eraser].
func (e Eraser) DeleteMessages(ctx context.Context, s earshot.Scope, ids []earshot.MessageID) ([]earshot.AuthorID, error) {
	var authors []earshot.AuthorID
	e.Exclusive(s)
	found, err := e.messages(ctx, s, ids)
	if err != nil {
		return nil, err
	}
	for _, m := range found {
		if !m.Deleted {
			authors = append(authors, m.Author.ID)
		}
	}
	return authors, e.keep(ctx, s, rule.Tombstones(ids))
}

// ScrubMessages implements [rule.Eraser]. The cursor is a sequence, and then "r" and
// the id of a message whose revisions were looked at.
func (e Eraser) ScrubMessages(ctx context.Context, s earshot.Scope, id earshot.AuthorID, b rule.Bars, after string) (string, bool, error) {
	labelled, quoted := rule.Needles(id)
	e.Shared(s)
	if past, ok := strings.CutPrefix(after, "r"); ok {
		return e.scrubRevisions(ctx, s, past, b, labelled, quoted)
	}
	from, _ := strconv.ParseInt(after, 10, 64)
	to := from + scrubbedMessages
	var last int64
	var ids []earshot.MessageID
	e.Ask(`SELECT seq FROM channel`+OfChannel, Args(s), ScanOne(new(bool), &last))
	e.Ask(`SELECT id FROM message`+e.SQL.BySeq+` AND `+e.SQL.NoIndex+`deleted = 0
		AND (`+e.has(6)+`)`, Args(s, from, to, labelled, quoted), Gather(&ids, Scan[earshot.MessageID]))
	if err := e.Send(ctx); err != nil {
		return "", false, err
	}
	next := strconv.FormatInt(to, 10)
	if to >= last {
		next = "r"
	}
	return next, true, e.scrub(ctx, s, ids, b)
}

func (e Eraser) scrubRevisions(ctx context.Context, s earshot.Scope, after string, b rule.Bars, labelled, quoted string) (string, bool, error) {
	var last earshot.MessageID // whose other revisions may lie beyond the limit
	var ids []earshot.MessageID
	n := 0
	e.Ask(`SELECT id, `+e.has(5)+` FROM revision`+e.SQL.MessagesIn+` AND id > $4 ORDER BY id, edited LIMIT $7 + 0`,
		Args(s, after, labelled, quoted, scrubbedRows), func(rows Row) error {
			var has bool
			err := rows.Scan(&last, &has)
			if has {
				ids = append(ids, last)
			}
			n++
			return err
		})
	if err := e.Send(ctx); err != nil || n == 0 {
		return "", false, err
	}
	return "r" + string(last), n == scrubbedRows, e.scrub(ctx, s, rule.IDs(append(ids, last)), b)
}

// scrub applies bars to messages and their older revisions, and erases what has read
// those that it changes.
func (e Eraser) scrub(ctx context.Context, s earshot.Scope, ids []earshot.MessageID, bars rule.Bars) error {
	if len(ids) == 0 {
		return nil
	}
	stubs := make([]rule.Message, len(ids))
	for i, id := range ids {
		stubs[i].ID = id
	}
	var past []earshot.Message
	b, err := e.Batch(ctx, s, stubs, nil)
	if err != nil {
		return err
	}
	e.askMessages("revision", s, ids, &past)
	if err := e.Send(ctx); err != nil {
		return err
	}
	b.Load(past)
	changed := b.Scrub(bars)
	if len(changed) == 0 {
		return nil
	}
	if err := e.WriteBatch(ctx, s, b); err != nil {
		return err
	}
	e.Erased()
	x := &Forgetting{scope: s, now: e.now()}
	for _, id := range changed {
		m, _ := b.Stored(id)
		x.gone = append(x.gone, m)
	}
	e.eraseRaws(e.SQL.Any(`message`, 4), Args(s, e.list(changed)))
	x.askReaders(e.Tx)
	if err := e.Send(ctx); err != nil {
		return err
	}
	return x.conversations(ctx, e.Tx)
}

// ScrubNotes implements [rule.Eraser]. The cursor is a sequence.
func (e Eraser) ScrubNotes(ctx context.Context, s earshot.Scope, holds func(string) bool, after string) (string, bool, error) {
	from, _ := strconv.ParseInt(after, 10, 64)
	to := from + scrubbedMessages
	var last int64
	var stubs []rule.Message
	e.Shared(s)
	e.Ask(`SELECT seq FROM channel`+OfChannel, Args(s), ScanOne(new(bool), &last))
	e.Ask(`SELECT id FROM message`+e.SQL.BySeq+` AND `+e.SQL.NoIndex+`deleted = 0 AND `+e.SQL.Find+`(lists, $6) > 0`,
		Args(s, from, to, rule.HasMetadata), Gather(&stubs, func(row Row, m *rule.Message) error { return row.Scan(&m.ID) }))
	if err := e.Send(ctx); err != nil {
		return "", false, err
	}
	next, more := strconv.FormatInt(to, 10), to < last
	if len(stubs) == 0 {
		return next, more, nil
	}
	b, err := e.Batch(ctx, s, stubs, nil)
	if err != nil || !b.ScrubNotes(holds) {
		return next, more, err
	}
	e.Erased()
	return next, more, e.WriteBatch(ctx, s, b)
}

// ScrubEvents implements [rule.Eraser]. The cursor is a message's id and the row's.
func (e Eraser) ScrubEvents(ctx context.Context, s earshot.Scope, id earshot.AuthorID, after string) (string, bool, error) {
	message, no, err := rule.CutCursor(after)
	if err != nil {
		return "", false, err
	}
	from, _ := strconv.ParseInt(no, 10, 64)
	var last int64
	var found []int64
	n := 0
	e.Shared(s)
	has := rule.MentionsAuthor(id)
	e.Ask(`SELECT message, id, raw FROM event`+e.SQL.MessagesIn+` AND (message, id) > ($4, $5) ORDER BY message, id LIMIT $6 + 0`,
		Args(s, message, from, scrubbedRows), func(rows Row) error {
			var raw []byte
			err := rows.Scan(&message, &last, &raw)
			if has(raw) {
				found = append(found, last)
			}
			n++
			return err
		})
	if err := e.Send(ctx); err != nil || n == 0 {
		return "", false, err
	}
	if len(found) > 0 {
		e.Count(&e.Tally.Events, `UPDATE event SET raw = `+e.SQL.NoBytes+` WHERE `+e.SQL.Any(`id`, 1), e.SQL.List(found))
		e.Erased()
	}
	return rule.Cursor(message, strconv.FormatInt(last, 10)), n == scrubbedRows, e.Send(ctx)
}

// ForgetAsker implements [rule.Eraser]. The cursor is a turn's id.
func (e Eraser) ForgetAsker(ctx context.Context, s earshot.Scope, id earshot.AuthorID, until earshot.Time, after string) (string, bool, error) {
	last, _ := strconv.ParseInt(after, 10, 64)
	asked := rule.AskedByEmoji(id)
	var found []rule.StoredTurn
	n := 0
	e.Exclusive(s)
	e.Ask(`SELECT `+rule.QueuedColumns+`, input FROM queued_turn`+In+` AND id > $4 ORDER BY id LIMIT $5 + 0`, Args(s, last, scrubbedRows), func(row Row) error {
		var q rule.StoredTurn
		err := row.Scan(append(rule.QueuedFields(&q), &q.Input)...)
		if last = int64(q.ID); asked(q) && q.Opened <= until {
			found = append(found, q)
		}
		n++
		return err
	})
	if err := e.Send(ctx); err != nil || n == 0 {
		return "", false, err
	}
	if err := e.changeTurns(ctx, found, rule.ForgetAsker); err != nil {
		return "", false, err
	}
	e.Tally.Turns += len(found)
	return strconv.FormatInt(last, 10), n == scrubbedRows, e.Send(ctx)
}

// has is the condition that a message's text or lists name somebody, by the parameter
// n as a label and n+1 as an id in quotes.
func (e Eraser) has(n int) string {
	return fmt.Sprintf(`%[1]s(text, $%[2]d) > 0 OR %[1]s(lists, $%[2]d) > 0 OR %[1]s(lists, $%[3]d) > 0`, e.SQL.Find, n, n+1)
}
