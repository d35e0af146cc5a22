package postgres

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/jackc/pgx/v5"
)

// An eraser is a transaction as [rule.Eraser]. What looks for text in a channel takes
// the channel's lock first: writers that had not seen the erasure's bar have committed
// then.
type eraser struct{ *tx }

// How many rows of messages, and of other tables, one piece of an erasure looks at.
const (
	scrubbedMessages = 1000
	scrubbedRows     = 200
)

// NextChannel implements [rule.Eraser].
func (e eraser) NextChannel(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, after earshot.ChannelID) (id earshot.ChannelID, found bool, err error) {
	e.ask(`(SELECT id FROM channel WHERE platform = $1 AND workspace = $2 AND id > $3 ORDER BY id LIMIT 1)
		UNION (SELECT channel FROM conversation WHERE platform = $1 AND workspace = $2 AND channel > $3 ORDER BY channel LIMIT 1) ORDER BY id LIMIT 1`,
		args(earshot.Scope{Platform: p, Workspace: w, Channel: after}), one(&found, &id)) // a conversation may have no message
	err = e.send(ctx)
	return id, found, err
}

// Channel implements [rule.Eraser].
func (e eraser) Channel(ctx context.Context, s earshot.Scope) (c earshot.Channel, err error) {
	e.ask(`SELECT kind, name, purpose FROM channel`+ofChannel, args(s), one(new(bool), &c.Kind, &c.Name, &c.Purpose))
	err = e.send(ctx)
	return c, err
}

// Author implements [rule.Eraser].
func (e eraser) Author(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, id earshot.AuthorID) (a earshot.Author, err error) {
	e.ask(`SELECT name, full_name FROM author WHERE platform = $1 AND workspace = $2 AND id = $3`,
		[]any{string(p), string(w), string(id)}, one(new(bool), &a.Name, &a.FullName))
	err = e.send(ctx)
	return a, err
}

// Spoken implements [rule.Eraser].
func (e eraser) Spoken(ctx context.Context, s earshot.Scope, author earshot.AuthorID, until earshot.Time, limit int) (ids []earshot.MessageID, err error) {
	which, a := bySpeaker(earshot.ErasureOf{Platform: s.Platform, Workspace: s.Workspace, Channel: s.Channel, User: author})
	n := len(a)
	e.shared(s)
	e.ask(`SELECT id FROM message`+which+fmt.Sprintf(` AND time <= $%d ORDER BY time LIMIT $%d`, n+1, n+2), append(a, int64(until), limit), gather(&ids, scanID))
	err = e.send(ctx)
	return ids, err
}

func scanID(rows pgx.Rows, id *earshot.MessageID) error { return rows.Scan(id) }

// DeleteMessages implements [rule.Eraser].
func (e eraser) DeleteMessages(ctx context.Context, s earshot.Scope, ids []earshot.MessageID) ([]earshot.AuthorID, error) {
	var authors []earshot.AuthorID
	e.exclusive(s)
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
	e.exclusive(s)
	e.ask(`DELETE FROM message`+in+` AND id = ANY(ARRAY(SELECT id FROM message`+in+` AND deleted = 1 AND author = '' AND time <= $4 LIMIT $5)) RETURNING id`,
		args(s, int64(until), limit), gather(&gone, scanID))
	if err := e.send(ctx); err != nil {
		return false, err
	}
	e.write(`DELETE FROM reading`+in+` AND message = ANY($4)`, args(s, texts(gone))...)
	return len(gone) == limit, e.send(ctx)
}

// DropConversation implements [rule.Eraser]. It locks as Erase does.
func (e eraser) DropConversation(ctx context.Context, s earshot.Scope) (bool, error) {
	id := earshot.ConversationID{Scope: s}
	found := false
	e.exclusive(s)
	e.ask(`SELECT agent, name FROM conversation`+in+` ORDER BY agent, name LIMIT 1`, args(s), one(&found, &id.Agent, &id.Name))
	if err := e.send(ctx); err != nil || !found {
		return false, err
	}
	a := own(id, id.Name)
	e.write(`SELECT 1 FROM lease`+ofConversation+` FOR UPDATE`, a...)
	e.write(`SELECT 1 FROM conversation`+named+` FOR UPDATE`, a...)
	e.write(`SELECT 1 FROM queued_turn`+ofConversation+` ORDER BY id FOR UPDATE`, a...)
	e.ask(`SELECT count(DISTINCT epoch) FROM turn`+ofConversation, a, func(rows pgx.Rows) error {
		var n int
		err := rows.Scan(&n)
		e.tally.Sessions += n
		return err
	})
	e.write(`DELETE FROM draft_reading WHERE draft = ANY(ARRAY(SELECT id FROM draft`+ofConversation+`))`, a...)
	e.write(`DELETE FROM draft`+ofConversation, a...)
	for _, table := range []string{"journal", "outbox"} {
		e.write(`DELETE FROM `+table+` WHERE turn = ANY(ARRAY(SELECT id FROM queued_turn`+ofConversation+`))`, a...)
	}
	e.counted(&e.tally.Turns, `DELETE FROM queued_turn`+ofConversation, a...)
	for _, table := range agentTables {
		n := new(int)
		if table == "summary" {
			n = &e.tally.Summaries
		}
		e.counted(n, `DELETE FROM `+table+ofConversation, a...)
	}
	e.write(`DELETE FROM conversation`+named, a...)
	return true, e.send(ctx)
}

// ScrubMessages implements [rule.Eraser]. The cursor is a sequence, and then "r" and
// the id of a message whose revisions were looked at.
func (e eraser) ScrubMessages(ctx context.Context, s earshot.Scope, id earshot.AuthorID, b rule.Bars, after string) (string, bool, error) {
	labelled, quoted := rule.Needles(id)
	e.shared(s)
	if past, ok := strings.CutPrefix(after, "r"); ok {
		return e.scrubRevisions(ctx, s, past, b, labelled, quoted)
	}
	from, _ := strconv.ParseInt(after, 10, 64)
	to := from + scrubbedMessages
	var last int64
	var ids []earshot.MessageID
	e.ask(`SELECT seq FROM channel`+ofChannel, args(s), one(new(bool), &last))
	e.ask(`SELECT id FROM message`+in+` AND seq > 0 AND seq > $4 AND seq <= $5 AND deleted = 0
		AND (strpos(text, $6) > 0 OR strpos(lists, $6) > 0 OR strpos(lists, $7) > 0)`, args(s, from, to, labelled, quoted), gather(&ids, scanID))
	if err := e.send(ctx); err != nil {
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
	e.ask(`SELECT id, strpos(text, $5) > 0 OR strpos(lists, $5) > 0 OR strpos(lists, $6) > 0 FROM revision`+in+` AND id > $4 ORDER BY id, edited LIMIT $7`,
		args(s, after, labelled, quoted, scrubbedRows), func(rows pgx.Rows) error {
			var has bool
			err := rows.Scan(&last, &has)
			if has {
				ids = append(ids, last)
			}
			n++
			return err
		})
	if err := e.send(ctx); err != nil || n == 0 {
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
		e.ask(`SELECT `+columns+` FROM revision`+in+` AND id = ANY($4)`, args(s, texts(ids)), gather(&past, scanMessage))
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
	e.counted(&e.tally.Events, `UPDATE event SET raw = ''`+in+` AND raw <> '' AND message = ANY($4)`, args(s, texts(changed))...)
	x.askReaders(e.tx)
	if err := e.send(ctx); err != nil {
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
	e.shared(s)
	has := rule.Tells(id)
	e.ask(`SELECT message, id, raw FROM event`+in+` AND (message, id) > ($4, $5) ORDER BY message, id LIMIT $6`,
		args(s, message, from, scrubbedRows), func(rows pgx.Rows) error {
			var raw []byte
			err := rows.Scan(&message, &last, &raw)
			if has(raw) {
				found = append(found, last)
			}
			n++
			return err
		})
	if err := e.send(ctx); err != nil || n == 0 {
		return "", false, err
	}
	e.counted(&e.tally.Events, `UPDATE event SET raw = '' WHERE id = ANY($1)`, found)
	return rule.Cursor(message, strconv.FormatInt(last, 10)), n == scrubbedRows, e.send(ctx)
}

// EndNamed implements [rule.Eraser].
func (e eraser) EndNamed(ctx context.Context, s earshot.Scope, id earshot.AuthorID) (bool, error) {
	r := reading{id: earshot.ConversationID{Scope: s}}
	found := false
	e.shared(s)
	e.ask(`SELECT agent, conversation, epoch FROM named`+in+` AND author = $4 LIMIT 1`, args(s, string(id)), one(&found, &r.id.Agent, &r.id.Name, &r.epoch))
	if err := e.send(ctx); err != nil || !found {
		return false, err
	}
	e.write(`SELECT 1 FROM conversation`+named+` FOR UPDATE`, own(r.id, r.id.Name)...)
	e.eraseEpochs(r.id, r.epoch, r.epoch, earshot.TimeOf(e.store.now()))
	return true, e.send(ctx)
}

// ScrubMetadata implements [rule.Eraser]. The cursor is an agent and a conversation's
// name.
func (e eraser) ScrubMetadata(ctx context.Context, s earshot.Scope, holds func(string) bool, after string) (string, bool, error) {
	agent, name, err := rule.CutCursor(after)
	if err != nil {
		return "", false, err
	}
	type row struct {
		id              earshot.ConversationID
		metadata, about string
	}
	if after == "" {
		e.exclusive(s) // drafts are locked before conversations here
		if err := e.scrubDrafts(ctx, s, holds); err != nil {
			return "", false, err
		}
	}
	var rows []row
	e.ask(`SELECT agent, name, metadata, about FROM conversation`+in+` AND (agent, name) > ($4, $5) ORDER BY agent, name LIMIT $6 FOR UPDATE`, args(s, agent, name, scrubbedRows),
		gather(&rows, func(rows pgx.Rows, r *row) error {
			r.id.Scope = s
			return rows.Scan(&r.id.Agent, &r.id.Name, &r.metadata, &r.about)
		}))
	if err := e.send(ctx); err != nil || len(rows) == 0 {
		return "", false, err
	}
	for _, r := range rows {
		have, err := rule.ReadScrubbed(r.metadata, r.about)
		if err != nil {
			return "", false, err
		}
		if next, less := have.Without(holds); less {
			if err := e.putScrubbed(r.id, next, earshot.TimeOf(e.store.now())); err != nil {
				return "", false, err
			}
		}
	}
	last := rows[len(rows)-1].id
	return rule.Cursor(string(last.Agent), last.Name), len(rows) == scrubbedRows, e.send(ctx)
}

// ForgetAuthors implements [rule.Eraser].
func (e eraser) ForgetAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids []earshot.AuthorID) error {
	e.counted(&e.tally.Names, `DELETE FROM author a WHERE platform = $1 AND workspace = $2 AND id = ANY($3)
		AND NOT EXISTS (SELECT 1 FROM message m WHERE m.platform = $1 AND m.workspace = $2 AND m.author = a.id AND m.deleted = 0 AND m.author <> '')`,
		string(p), string(w), texts(ids))
	return e.send(ctx)
}

// ForgetChannel implements [rule.Eraser].
func (e eraser) ForgetChannel(ctx context.Context, s earshot.Scope) error {
	e.exclusive(s)
	e.write(`UPDATE channel SET name = '', topic = '', purpose = ''`+ofChannel, args(s)...)
	e.dropEarly(s, rule.Forever)
	return e.send(ctx)
}
