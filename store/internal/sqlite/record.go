package sqlite

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// A recording is one call of Record: what is to be stored, and the outcomes.
type recording struct {
	scope    earshot.Scope
	messages []rule.Message
	outcomes []earshot.Recorded
}

// Record implements [earshot.Messages].
func (s *Store) Record(ctx context.Context, scope earshot.Scope, list ...earshot.Message) ([]earshot.Recorded, error) {
	scope, err := rule.CheckScope(scope)
	if err != nil {
		return nil, err
	}
	prepared, err := rule.Prepare(ctx, list)
	if err != nil || len(prepared) == 0 {
		return nil, err
	}
	r := &recording{scope: scope, messages: prepared, outcomes: make([]earshot.Recorded, len(prepared))}
	if err := s.writer.do(ctx, &job{record: r}); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return r.outcomes, nil
}

// record stores what all recordings hold, those of one scope as one batch.
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
		b := &batch{tx: t, scope: scope, entries: map[earshot.MessageID]*entry{}, threads: map[earshot.MessageID]int64{}}
		if err := b.run(batches[scope]); err != nil {
			return fmt.Errorf("store messages: %w", err)
		}
	}
	return nil
}

// A batch stores messages of one scope: it loads what is stored of them,
// decides in memory, and writes each changed row once.
type batch struct {
	tx      *tx
	scope   earshot.Scope
	entries map[earshot.MessageID]*entry
	order   []*entry          // those that changed, in the order of their first change
	gone    []earshot.Message // those that became tombstones, stored before

	seq      int64 // the channel's counters
	messages int64
	top      int64
	replied  int64                       // threads with replies
	threads  map[earshot.MessageID]int64 // what is to be added to a thread's replies
}

// An entry is a message before and after.
type entry struct {
	before, after *rule.Message // before is nil when it is not stored
	changed       bool
}

func (b *batch) run(recordings []*recording) error {
	if err := b.load(recordings); err != nil {
		return err
	}
	for _, r := range recordings {
		for i := range r.messages {
			out, err := b.one(r.messages[i])
			if err != nil {
				return err
			}
			r.outcomes[i] = out
		}
	}
	if len(b.order) == 0 {
		return nil
	}
	b.count()
	for _, step := range []func() error{b.insert, b.update, b.counters} {
		if err := step(); err != nil {
			return err
		}
	}
	return b.tx.forget(b.scope, b.gone)
}

// load reads the channel's counters and what is stored of the messages.
func (b *batch) load(recordings []*recording) error {
	const query = `SELECT seq, messages, top, threads FROM channel` + ofChannel
	known, err := b.tx.one(query, args(b.scope), []any{&b.seq, &b.messages, &b.top, &b.replied})
	if err == nil && !known {
		if err = b.tx.exec(openChannel, args(b.scope)...); err == nil {
			_, err = b.tx.one(query, args(b.scope), []any{&b.seq, &b.messages, &b.top, &b.replied})
		}
	}
	if err != nil {
		return err
	}
	var ids []earshot.MessageID
	for _, r := range recordings {
		for i := range r.messages {
			id := r.messages[i].ID
			if b.entries[id] == nil {
				b.entries[id] = &entry{}
				ids = append(ids, id)
			}
		}
	}
	if !known {
		return nil
	}
	for q := range byIDQueries(b.scope, ids) {
		rows, err := b.tx.query(q.text, q.args...)
		found, err := messages(rows, err, q.ids)
		if err != nil {
			return err
		}
		for _, m := range found {
			e := b.entries[m.ID]
			e.before = &rule.Message{Message: m}
			e.after = e.before
		}
	}
	return nil
}

// one decides about one copy of a message.
func (b *batch) one(in rule.Message) (earshot.Recorded, error) {
	e := b.entries[in.ID]
	o := rule.Revise(e.after, in)
	out := earshot.Recorded{ID: in.ID, Change: o.Change}
	switch o.Change {
	case earshot.Same:
		out.Seq = e.after.Seq
		return out, nil
	case earshot.Late:
		changed, err := b.remember(*o.Past)
		if !changed {
			out.Change = earshot.Same
		}
		out.Seq = e.after.Seq
		return out, err
	case earshot.Edited:
		if _, err := b.remember(*o.Past); err != nil {
			return out, err
		}
	case earshot.Gone:
		if e.after != nil {
			if err := b.tx.exec(`DELETE FROM revision`+in4, args(b.scope, string(in.ID))...); err != nil {
				return out, err
			}
			if err := b.tx.erase(); err != nil {
				return out, err
			}
			b.gone = append(b.gone, o.Next.Message)
		}
	}
	b.seq++
	next := o.Next
	next.Seq = b.seq
	if !e.changed {
		e.changed = true
		b.order = append(b.order, e)
	}
	e.after = &next
	out.Seq = b.seq
	return out, nil
}

const in4 = in + ` AND id = ?`

// remember keeps an older revision and reports whether that changed anything.
func (b *batch) remember(past rule.Message) (bool, error) {
	rows, err := b.tx.query(`SELECT `+columns+` FROM revision`+in4+` AND edited = ?`, args(b.scope, string(past.ID), int64(past.Edited))...)
	found, err := messages(rows, err, 1)
	if err != nil {
		return false, err
	}
	if len(found) > 0 {
		next, changed := rule.Blend(rule.Message{Message: found[0]}, past)
		if !changed {
			return false, nil
		}
		past = next
		if err := b.tx.exec(`DELETE FROM revision`+in4+` AND edited = ?`, args(b.scope, string(past.ID), int64(past.Edited))...); err != nil {
			return false, err
		}
	}
	v, err := values(args(b.scope), &past)
	if err != nil {
		return false, err
	}
	return true, b.tx.exec(`INSERT INTO revision (platform, workspace, channel, `+columns+`) VALUES `+marks(3+columnCount, 1), v...)
}

// count adds up what the changed rows change in the counters.
func (b *batch) count() {
	for _, e := range b.order {
		if m := e.before; m != nil && !m.Deleted {
			b.add(m.Thread, -1)
		}
		if m := e.after; !m.Deleted {
			b.add(m.Thread, +1)
		}
	}
}

func (b *batch) add(thread earshot.MessageID, n int64) {
	b.messages += n
	if thread == "" {
		b.top += n
	} else {
		b.threads[thread] += n
	}
}

// insert writes the new rows, many to a statement: that saves a third of the
// time.
func (b *batch) insert() error {
	var rows []*rule.Message
	for _, e := range b.order {
		if e.before == nil {
			rows = append(rows, e.after)
		}
	}
	for len(rows) > 0 {
		n := chunk(len(rows))
		var v []any
		for _, m := range rows[:n] {
			var err error
			if v, err = values(append(v, args(b.scope)...), m); err != nil {
				return err
			}
			v = append(v, m.Terms)
		}
		if err := b.tx.exec(inserts[n], v...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// chunks are the sizes in which rows are written and ids looked up, so that
// few statements need to be prepared.
var chunks = []int{50, 10, 1}

// chunk returns the largest of chunks that n fills.
func chunk(n int) int {
	for _, c := range chunks {
		if n >= c {
			return c
		}
	}
	return 1
}

var inserts = func() map[int]string {
	m := map[int]string{}
	for _, n := range chunks {
		m[n] = `INSERT INTO message (platform, workspace, channel, ` + columns + `, terms) VALUES ` + marks(3+columnCount+1, n)
	}
	return m
}()

func (b *batch) update() error {
	query := `UPDATE message SET (` + columns + `, terms) = ` + marks(columnCount+1, 1) + in4
	for _, e := range b.order {
		if e.before == nil {
			continue
		}
		v, err := values(nil, e.after)
		if err != nil {
			return err
		}
		v = append(v, e.after.Terms)
		if err := b.tx.exec(query, append(v, args(b.scope, string(e.after.ID))...)...); err != nil {
			return err
		}
	}
	return nil
}

// counters writes the counts of the threads and of the channel.
func (b *batch) counters() error {
	const thread = `INSERT INTO thread (platform, workspace, channel, root, replies) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (platform, workspace, channel, root) DO UPDATE SET replies = thread.replies + excluded.replies
		RETURNING replies`
	for _, root := range slices.Sorted(maps.Keys(b.threads)) {
		n := b.threads[root]
		if n == 0 {
			continue
		}
		var now int64
		if _, err := b.tx.one(thread, args(b.scope, string(root), n), []any{&now}); err != nil {
			return err
		}
		switch {
		case now > 0 && now == n:
			b.replied++
		case now == 0:
			b.replied--
		}
	}
	return b.tx.exec(`UPDATE channel SET seq = ?, messages = ?, top = ?, threads = ?`+ofChannel,
		append([]any{b.seq, b.messages, b.top, b.replied}, args(b.scope)...)...)
}
