package sqlite

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// A recording is one call of Record, with its outcomes.
type recording struct {
	scope    earshot.Scope
	messages []rule.Message
	outcomes []earshot.RecordResult
}

// Keep implements [tables.Engine].
func (s *Store) Keep(ctx context.Context, scope earshot.Scope, prepared []rule.Message) ([]earshot.RecordResult, error) {
	var err error
	r := &recording{scope: scope, messages: prepared, outcomes: make([]earshot.RecordResult, len(prepared))}
	if len(prepared) > manyRows {
		// One transaction, as Record promises, but it lets jobs go first.
		err = s.writer.runLoad(ctx, []func(*tx) error{func(t *tx) error { return t.record([]*recording{r}) }})
	} else {
		err = s.writer.do(ctx, &job{record: r})
	}
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return r.outcomes, nil
}

// record stores the messages of recordings, those of one scope as one batch.
func (t *tx) record(recordings []*recording) error {
	var scopes []earshot.Scope
	batches := map[earshot.Scope][]*recording{}
	for _, r := range recordings {
		if batches[r.scope] == nil {
			scopes = append(scopes, r.scope)
		}
		batches[r.scope] = append(batches[r.scope], r)
	}
	for _, scope := range scopes {
		if err := t.recordIn(scope, batches[scope]); err != nil {
			return fmt.Errorf("store messages: %w", err)
		}
	}
	return nil
}

func (t *tx) recordIn(scope earshot.Scope, recordings []*recording) error {
	var all []rule.Message
	for _, r := range recordings {
		all = append(all, r.messages...)
	}
	ctx := context.Background()
	b, err := t.Batch(ctx, scope, all, nil)
	if err != nil {
		return err
	}
	for _, r := range recordings {
		for i := range r.messages {
			r.outcomes[i] = b.Add(r.messages[i])
		}
	}
	return t.WriteBatch(ctx, scope, b)
}

// WriteBatch implements [tables.Conn].
func (t *tx) WriteBatch(ctx context.Context, scope earshot.Scope, b *rule.Batch) error {
	var place int64
	if _, err := t.one(`SELECT place FROM channel`+ofChannel, tables.Args(scope), []any{&place}); err != nil {
		return err
	}
	gone, inserts, updates := b.Forgotten(), b.Inserts(), b.Updates()
	forgetting, err := t.Forget(ctx, scope, b, gone)
	if err != nil {
		return err
	}
	for _, m := range b.Kept() {
		v, err := appendParams([]any{place}, &m)
		if err != nil {
			return err
		}
		if err := t.exec(`INSERT OR REPLACE INTO revision (place, `+columns+`) VALUES `+placeholders(1+columnCount, 1), v...); err != nil {
			return err
		}
	}
	if err := t.insert(place, inserts); err != nil {
		return err
	}
	if err := t.update(scope, place, updates); err != nil {
		return err
	}
	if err := t.relist(scope, place, b.Relisted()); err != nil {
		return err
	}
	if t.WriteReactions(scope, b); t.failed != nil {
		return t.did(nil)
	}
	if b.Changed() {
		if err := t.count(place, b.Counters()); err != nil {
			return err
		}
	}
	if err := t.DropFiles(ctx, scope, gone, b.Drops()); err != nil || len(gone) == 0 {
		return err
	}
	if err := t.needScrub(); err != nil {
		return err
	}
	return t.did(forgetting.End(ctx, &t.Tx))
}

// insert writes new rows, many in one statement, which takes a third less time.
func (t *tx) insert(place int64, rows []*rule.Message) error {
	for len(rows) > 0 {
		n := largestChunk(len(rows))
		v := make([]any, 0, n*(2+columnCount+1))
		for _, m := range rows[:n] {
			var err error
			if v, err = appendParams(append(v, messageNumber(place, m.Seq), place), m); err != nil {
				return err
			}
			v = append(v, m.Terms)
		}
		if err := t.exec(`INSERT INTO message (no, place, `+columns+`, terms) VALUES `+placeholders(2+columnCount+1, n), v...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// chunks are the numbers of rows or ids that one statement has. With few sizes, few
// statements are prepared.
var chunks = []int{50, 10, 1}

// largestChunk returns the largest of chunks that is at most n.
func largestChunk(n int) int {
	for _, c := range chunks {
		if n >= c {
			return c
		}
	}
	return 1
}

func (t *tx) update(scope earshot.Scope, place int64, rows []*rule.Message) error {
	query := `UPDATE message SET (no, ` + columns + `, terms) = ` + placeholders(1+columnCount+1, 1) + inID
	for _, m := range rows {
		v, err := appendParams([]any{messageNumber(place, m.Seq)}, m)
		if err != nil {
			return err
		}
		if err := t.exec(query, append(append(v, m.Terms), tables.Args(scope, string(m.ID))...)...); err != nil {
			return err
		}
	}
	return nil
}

// relist writes the lists and the sequences of messages whose other columns did not
// change.
func (t *tx) relist(scope earshot.Scope, place int64, rows []*rule.Message) error {
	for _, m := range rows {
		lists, err := rule.WriteLists(m)
		if err != nil {
			return err
		}
		if err := t.exec(`UPDATE message SET (no, seq, lists) = (?, ?, ?)`+inID, append([]any{messageNumber(place, m.Seq), m.Seq, lists}, tables.Args(scope, string(m.ID))...)...); err != nil {
			return err
		}
	}
	return nil
}

// count writes the changes of the counters of a channel and of its threads.
func (t *tx) count(place int64, c rule.Counters) error {
	const thread = `INSERT INTO thread (place, root, replies) VALUES (?, ?, ?)
		ON CONFLICT (place, root) DO UPDATE SET replies = thread.replies + excluded.replies
		RETURNING replies`
	threads := 0
	for _, root := range slices.Sorted(maps.Keys(c.Replies)) {
		n := c.Replies[root]
		var now int64
		if _, err := t.one(thread, []any{place, string(root), n}, []any{&now}); err != nil {
			return err
		}
		switch {
		case now > 0 && now == n:
			threads++
		case now == 0:
			threads--
		}
	}
	return t.exec(`UPDATE channel SET seq = ?, messages = messages + ?, top = top + ?, threads = threads + ? WHERE place = ?`,
		c.Seq, c.Messages, c.Top, threads, place)
}
