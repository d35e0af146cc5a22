package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// An eraser is a transaction as [rule.Eraser]. What looks for text in a channel takes
// the channel's lock first: writers that had not seen the erasure's bar have committed
// then.
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
func (e eraser) Spoken(ctx context.Context, s earshot.Scope, author earshot.AuthorID, until earshot.Time, limit int) (ids []earshot.MessageID, err error) {
	which, a := bySpeaker(earshot.ErasureOf{Platform: s.Platform, Workspace: s.Workspace, Channel: s.Channel, User: author})
	n := len(a)
	e.Shared(s)
	e.Ask(`SELECT id FROM message`+which+fmt.Sprintf(` AND time <= $%d ORDER BY time LIMIT $%d`, n+1, n+2), append(a, int64(until), limit), tables.Gather(&ids, tables.Scan[earshot.MessageID]))
	err = e.Send(ctx)
	return ids, err
}

// DeleteMessages implements [rule.Eraser].
func (e eraser) DeleteMessages(ctx context.Context, s earshot.Scope, ids []earshot.MessageID) ([]earshot.AuthorID, error) {
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
	return authors, e.bury(ctx, s, rule.Tombstones(ids))
}

// Purge implements [rule.Eraser].
func (e eraser) Purge(ctx context.Context, s earshot.Scope, until earshot.Time, limit int) (bool, error) {
	var gone []earshot.MessageID
	e.Exclusive(s)
	e.Ask(`DELETE FROM message`+in+` AND id = ANY(ARRAY(SELECT id FROM message`+in+` AND deleted = 1 AND author = '' AND time <= $4 LIMIT $5)) RETURNING id`,
		tables.Args(s, int64(until), limit), tables.Gather(&gone, tables.Scan[earshot.MessageID]))
	if err := e.Send(ctx); err != nil {
		return false, err
	}
	e.Write(`DELETE FROM reading`+in+` AND message = ANY($4)`, tables.Args(s, texts(gone))...)
	return len(gone) == limit, e.Send(ctx)
}

// ScrubMessages implements [rule.Eraser]. The cursor is a sequence, and then "r" and
// the id of a message whose revisions were looked at.
func (e eraser) ScrubMessages(ctx context.Context, s earshot.Scope, id earshot.AuthorID, b rule.Bars, after string) (string, bool, error) {
	labelled, quoted := rule.Needles(id)
	e.Shared(s)
	if past, ok := strings.CutPrefix(after, "r"); ok {
		return e.scrubRevisions(ctx, s, past, b, labelled, quoted)
	}
	from, _ := strconv.ParseInt(after, 10, 64)
	to := from + scrubbedMessages
	var last int64
	var ids []earshot.MessageID
	e.Ask(`SELECT seq FROM channel`+tables.OfChannel, tables.Args(s), tables.One(new(bool), &last))
	e.Ask(`SELECT id FROM message`+in+` AND seq > 0 AND seq > $4 AND seq <= $5 AND deleted = 0
		AND (strpos(text, $6) > 0 OR strpos(lists, $6) > 0 OR strpos(lists, $7) > 0)`, tables.Args(s, from, to, labelled, quoted), tables.Gather(&ids, tables.Scan[earshot.MessageID]))
	if err := e.Send(ctx); err != nil {
		return "", false, err
	}
	next := strconv.FormatInt(to, 10)
	if to >= last {
		next = "r"
	}
	return next, true, e.scrub(ctx, s, ids, b)
}

func (e eraser) scrubRevisions(ctx context.Context, s earshot.Scope, after string, b rule.Bars, labelled, quoted string) (string, bool, error) {
	var last earshot.MessageID // whose other revisions may lie beyond the limit
	var ids []earshot.MessageID
	n := 0
	e.Ask(`SELECT id, strpos(text, $5) > 0 OR strpos(lists, $5) > 0 OR strpos(lists, $6) > 0 FROM revision`+in+` AND id > $4 ORDER BY id, edited LIMIT $7`,
		tables.Args(s, after, labelled, quoted, scrubbedRows), func(rows tables.Row) error {
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
func (e eraser) scrub(ctx context.Context, s earshot.Scope, ids []earshot.MessageID, bars rule.Bars) error {
	if len(ids) == 0 {
		return nil
	}
	stubs := make([]rule.Message, len(ids))
	for i, id := range ids {
		stubs[i].ID = id
	}
	var past []earshot.Message
	b, err := e.batchOf(ctx, s, stubs, func() {
		e.Ask(`SELECT `+columns+` FROM revision`+in+` AND id = ANY($4)`, tables.Args(s, texts(ids)), tables.Gather(&past, scanMessage))
	})
	if err != nil {
		return err
	}
	b.Load(past)
	changed := b.Scrub(bars)
	if len(changed) == 0 {
		return nil
	}
	if err := e.writeBatch(ctx, s, b); err != nil {
		return err
	}
	x := &forgetting{scope: s, now: earshot.TimeOf(e.store.now())}
	for _, id := range changed {
		m, _ := b.Stored(id)
		x.gone = append(x.gone, m)
	}
	e.Count(&e.tx.Tally.Events, `UPDATE event SET raw = ''`+in+` AND raw <> '' AND message = ANY($4)`, tables.Args(s, texts(changed))...)
	x.askReaders(e.tx)
	if err := e.Send(ctx); err != nil {
		return err
	}
	return x.conversations(ctx, e.tx)
}

// ScrubEvents implements [rule.Eraser]. The cursor is a message's id and the row's.
func (e eraser) ScrubEvents(ctx context.Context, s earshot.Scope, id earshot.AuthorID, after string) (string, bool, error) {
	message, no, err := rule.CutCursor(after)
	if err != nil {
		return "", false, err
	}
	from, _ := strconv.ParseInt(no, 10, 64)
	var last int64
	var found []int64
	n := 0
	e.Shared(s)
	has := rule.Tells(id)
	e.Ask(`SELECT message, id, raw FROM event`+in+` AND (message, id) > ($4, $5) ORDER BY message, id LIMIT $6`,
		tables.Args(s, message, from, scrubbedRows), func(rows tables.Row) error {
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
	e.Count(&e.tx.Tally.Events, `UPDATE event SET raw = '' WHERE id = ANY($1)`, found)
	return rule.Cursor(message, strconv.FormatInt(last, 10)), n == scrubbedRows, e.Send(ctx)
}

// ForgetAuthors implements [rule.Eraser].
func (e eraser) ForgetAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids []earshot.AuthorID) error {
	e.Count(&e.tx.Tally.Names, `DELETE FROM author a WHERE platform = $1 AND workspace = $2 AND id = ANY($3)
		AND NOT EXISTS (SELECT 1 FROM message m WHERE m.platform = $1 AND m.workspace = $2 AND m.author = a.id AND m.deleted = 0 AND m.author <> '')`,
		string(p), string(w), texts(ids))
	return e.Send(ctx)
}

// ForgetChannel implements [rule.Eraser].
func (e eraser) ForgetChannel(ctx context.Context, s earshot.Scope) error {
	e.Exclusive(s)
	e.Write(`UPDATE channel SET name = '', topic = '', purpose = ''`+tables.OfChannel, tables.Args(s)...)
	e.dropEarly(s, rule.Forever)
	return e.Send(ctx)
}
