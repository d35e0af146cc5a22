package tables

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// React implements [earshot.Messages].
func (s *Store) React(ctx context.Context, scope earshot.Scope, x earshot.ReactionEvent) (out earshot.RecordResult, err error) {
	if scope, err = rule.CheckScope(scope); err != nil {
		return out, err
	}
	if x, err = rule.CheckReacted(x); err != nil {
		return out, err
	}
	err = s.engine.Apply(ctx, "record a reaction", func(ctx context.Context, t *Tx) error {
		b, err := t.Batch(ctx, scope, []rule.Message{rule.Stub(x)}, nil)
		if err != nil {
			return err
		}
		if out, err = b.React(x); err != nil {
			return err
		}
		return t.WriteBatch(ctx, scope, b)
	})
	return out, err
}

// askGave queries who reacted to messages.
func (t *Tx) askGave(s earshot.Scope, messages []earshot.MessageID, out *[]rule.Gave) {
	if len(messages) == 0 {
		return
	}
	t.Ask(`SELECT `+gaveColumns+` FROM reaction`+t.SQL.MessagesIn+` AND `+t.SQL.Any(`message`, 4), Args(s, t.list(messages)), Gather(out, func(row Row, g *rule.Gave) error {
		var given int64
		err := row.Scan(&g.Message, &g.Emoji, &g.Author, &g.First, &g.Was, &given, &g.At)
		g.Given = given != 0
		return err
	}))
}

// gaveColumns are the columns of a reaction behind its channel.
const gaveColumns = `message, emoji, author, first, was, given, at`

// Reactors implements [earshot.Messages].
func (s *Store) Reactors(ctx context.Context, scope earshot.Scope, ids ...earshot.MessageID) (map[earshot.MessageID][]earshot.Reactor, error) {
	type reacted struct {
		id earshot.MessageID
		earshot.Reactor
	}
	list, err := List(ctx, s.engine, "read who reacted", `SELECT message, emoji, author, at FROM reaction r`+s.sql.MessagesIn+` AND `+s.sql.Any(`message`, 4)+` AND given = 1
		AND EXISTS (SELECT 1 FROM message`+s.sql.MessagesIn+` AND id = r.message) ORDER BY message, emoji, author`,
		Args(rule.Scope(scope), s.sql.List(Texts(rule.IDs(ids)))), func(row Row, r *reacted) error { return row.Scan(&r.id, &r.Emoji, &r.ID, &r.At) })
	out := map[earshot.MessageID][]earshot.Reactor{}
	for _, r := range list {
		out[r.id] = append(out[r.id], r.Reactor)
	}
	return out, err
}

// WriteReactions queues what b changes of who reacted.
func (t *Tx) WriteReactions(s earshot.Scope, b *rule.Batch) {
	if buried := b.Buried(); len(buried) > 0 {
		t.Write(`DELETE FROM reaction`+t.SQL.MessagesIn+` AND `+t.SQL.Any(`message`, 4), Args(s, t.list(buried))...)
	}
	t.putReactions(s, b.Gave)
	if at := b.Awaited(); at != 0 {
		t.Write(`UPDATE channel SET early = `+t.SQL.Greatest+`(early, $4)`+OfChannel, Args(s, int64(at))...)
	}
}

// putReactions queues the changes that a function returns: the rows to be written, and
// those to be deleted.
func (t *Tx) putReactions(s earshot.Scope, changes func() (write, drop []rule.Gave)) {
	write, drop := changes()
	for _, g := range write {
		given := int64(0)
		if g.Given {
			given = 1
		}
		t.Write(`INSERT INTO reaction (`+t.SQL.Channel+`, `+gaveColumns+`) VALUES (`+t.SQL.ChannelValues+`, $4, $5, $6, $7, $8, $9, $10)
			ON CONFLICT (`+t.SQL.Channel+`, message, emoji, author) DO UPDATE SET first = excluded.first, was = excluded.was, given = excluded.given, at = excluded.at`,
			Args(s, string(g.Message), g.Emoji, string(g.Author), int64(g.First), g.Was, given, int64(g.At))...)
	}
	for _, g := range drop {
		t.Write(`DELETE FROM reaction`+t.SQL.MessagesIn+` AND message = $4 AND emoji = $5 AND author = $6`, Args(s, string(g.Message), g.Emoji, string(g.Author))...)
	}
}

// ForgetReactions implements [rule.Eraser].
func (e Eraser) ForgetReactions(ctx context.Context, s earshot.Scope, id earshot.AuthorID, until earshot.Time) (bool, error) {
	var messages []earshot.MessageID
	e.Exclusive(s)
	e.Ask(`SELECT DISTINCT message FROM reaction`+e.SQL.MessagesIn+` AND author = $4 AND author <> '' AND at <= $5 LIMIT $6 + 0`, Args(s, string(id), int64(until), scrubbedRows), Gather(&messages, Scan[earshot.MessageID]))
	if err := e.Send(ctx); err != nil || len(messages) == 0 {
		return false, err
	}
	var gave []rule.Gave
	e.askGave(s, messages, &gave)
	if err := e.Send(ctx); err != nil {
		return false, err
	}
	of := map[earshot.MessageID][]rule.Gave{}
	for _, g := range gave {
		of[g.Message] = append(of[g.Message], g)
	}
	for _, message := range messages {
		r := rule.NewReactions(of[message])
		r.Forget(id, until, e.now())
		e.putReactions(s, func() (write, drop []rule.Gave) { return r.Changes(message) })
	}
	e.Erased()
	return len(messages) == scrubbedRows, e.Send(ctx)
}

// ForgetChannel implements [rule.Eraser].
func (e Eraser) ForgetChannel(ctx context.Context, s earshot.Scope) error {
	e.Exclusive(s)
	e.Write(`UPDATE channel SET name = '', topic = '', purpose = ''`+OfChannel, Args(s)...)
	e.dropEarly(s, rule.Forever)
	return e.Send(ctx)
}

// dropEarly queues the deletion of the reactions of before a time to messages of a
// channel that are not stored.
func (t *Tx) dropEarly(s earshot.Scope, before earshot.Time) {
	t.Write(`DELETE FROM reaction`+t.SQL.MessagesIn+` AND at < $4 AND NOT EXISTS (SELECT 1 FROM message`+t.SQL.MessagesIn+` AND id = reaction.message)`, Args(s, int64(before))...)
	t.Write(`UPDATE channel SET early = 0`+OfChannel+` AND early < $4`, Args(s, int64(before))...)
	t.Erased()
}

// pruneEarly does dropEarly in one channel after another.
func (s *Store) pruneEarly(ctx context.Context, before earshot.Time) error {
	scopes, err := List(ctx, s.engine, "prune reactions", `SELECT platform, workspace, id FROM channel WHERE early <> 0`+s.sql.AllEarly, nil,
		func(row Row, x *earshot.Scope) error { return row.Scan(&x.Platform, &x.Workspace, &x.Channel) })
	if err != nil {
		return err
	}
	for _, scope := range scopes {
		err := s.engine.Apply(ctx, "prune reactions", func(_ context.Context, t *Tx) error {
			t.Exclusive(scope)
			t.dropEarly(scope, before)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
