package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// Keep implements [tables.Engine].
func (s *Store) Keep(ctx context.Context, scope earshot.Scope, messages []rule.Message) ([]earshot.RecordResult, error) {
	r := &recording{messages: messages, outcomes: make([]earshot.RecordResult, len(messages))}
	if err := s.recordQueues.do(ctx, scope, r); err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return r.outcomes, nil
}

// record stores the messages of recordings of one channel in one transaction.
func (s *Store) record(ctx context.Context, scope earshot.Scope, group []*recording) error {
	return s.inTx(ctx, "store messages", func(ctx context.Context, t *tx) error {
		var all []rule.Message
		for _, r := range group {
			all = append(all, r.messages...)
		}
		b, err := t.Batch(ctx, scope, all, nil)
		if err != nil {
			return err
		}
		for _, r := range group {
			for i, m := range r.messages {
				r.outcomes[i] = b.Add(m)
			}
		}
		return t.WriteBatch(ctx, scope, b)
	})
}

// WriteBatch implements [tables.Conn].
func (t *tx) WriteBatch(ctx context.Context, scope earshot.Scope, b *rule.Batch) error {
	gone := b.Forgotten()
	e, err := t.Forget(ctx, scope, b, gone)
	if err != nil {
		return err
	}
	if kept := b.Kept(); len(kept) > 0 {
		var r rows
		for i := range kept {
			if err := r.add(&kept[i]); err != nil {
				return err
			}
		}
		t.Write(keepRevisions, r.args(scope)...)
	}
	inserts, updates := b.Inserts(), b.Updates()
	t.added += len(inserts)
	if len(inserts) > 0 {
		var r rows
		for _, m := range inserts {
			if err := r.add(m); err != nil {
				return err
			}
		}
		t.Write(insertMessages, append(r.args(scope), r.terms)...)
	}
	for _, m := range updates {
		var r rows
		if err := r.add(m); err != nil {
			return err
		}
		t.Write(updateMessages, tables.Args(scope, r.id[0], r.time[0], r.thread[0], r.replyTo[0], r.edited[0], r.deleted[0], r.seq[0], r.tokens[0],
			r.author[0], r.name[0], r.kind[0], r.lists[0], r.text[0], r.terms[0])...)
	}
	for _, m := range b.Relisted() {
		lists, err := rule.WriteLists(m)
		if err != nil {
			return err
		}
		t.Write(`UPDATE message SET lists = $5, seq = $6`+in+` AND id = $4`, tables.Args(scope, string(m.ID), lists, m.Seq)...)
	}
	t.WriteReactions(scope, b)
	if b.Changed() {
		t.count(scope, b.Counters())
	}
	if err := t.DropFiles(ctx, scope, gone, b.Drops()); err != nil {
		return err
	}
	return e.End(ctx, &t.Tx)
}

// count queues the changes of the counters of a channel and of its threads.
func (t *tx) count(scope earshot.Scope, c rule.Counters) {
	a := tables.Args(scope, c.Seq, c.Messages, c.Top)
	if len(c.Replies) == 0 {
		t.Write(`UPDATE channel SET seq = $4, messages = messages + $5, top = top + $6`+tables.OfChannel, a...)
		return
	}
	roots := slices.Sorted(maps.Keys(c.Replies))
	n := make([]int64, len(roots))
	for i, root := range roots {
		n[i] = c.Replies[root]
	}
	t.Write(`WITH change (root, n) AS (SELECT * FROM unnest($7::text[], $8::bigint[])),
		thread_now AS (
			INSERT INTO thread (platform, workspace, channel, root, replies) SELECT $1::text, $2::text, $3::text, root, n FROM change
			ON CONFLICT (platform, workspace, channel, root) DO UPDATE SET replies = thread.replies + excluded.replies
			RETURNING root, replies)
		UPDATE channel SET seq = $4, messages = messages + $5, top = top + $6, threads = threads + (
			SELECT coalesce(sum(CASE thread_now.replies WHEN 0 THEN -1 WHEN change.n THEN 1 ELSE 0 END), 0) FROM thread_now JOIN change USING (root))`+tables.OfChannel,
		append(a, tables.Texts(roots), n)...)
}
