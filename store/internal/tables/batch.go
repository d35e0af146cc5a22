package tables

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// askBars queries the bars that hold for people in a channel.
func (t *Tx) askBars(s earshot.Scope, people []earshot.AuthorID, out *[]rule.Bar) {
	t.Ask(`SELECT author, until, floor FROM barred WHERE platform = $1 AND workspace = $2 AND channel IN ('', $3) AND `+t.SQL.Any(`author`, 4), Args(s, t.SQL.List(Texts(people))),
		Gather(out, func(row Row, x *rule.Bar) error { return row.Scan(&x.Author, &x.Until, &x.Floor) }))
}

// Batch locks a channel exclusively, which it creates where it is not stored, and
// returns a batch with the stored copies of messages. The queries that more queues,
// unless it is nil, are sent along with the batch's own and run after the lock is taken.
func (t *Tx) Batch(ctx context.Context, s earshot.Scope, messages []rule.Message, more func()) (*rule.Batch, error) {
	ids := make([]earshot.MessageID, len(messages))
	for i := range messages {
		ids[i] = messages[i].ID
	}
	var known bool
	var seq, early int64
	var stored, past []earshot.Message
	var bars []rule.Bar
	var gave []rule.Gave
	const last = `SELECT seq, early FROM channel` + OfChannel
	t.Exclusive(s)
	t.Ask(last, Args(s), ScanOne(&known, &seq, &early))
	t.askMessages("message", s, rule.IDs(ids), &stored)
	t.askBars(s, append(rule.People(messages), ""), &bars) // "" is everybody
	if more != nil {
		more()
	}
	if err := t.Send(ctx); err != nil {
		return nil, err
	}
	fresh := !known
	if fresh {
		t.Write(OpenChannel, Args(s)...)
		t.Ask(last, Args(s), ScanOne(&known, &seq, &early))
		if err := t.Send(ctx); err != nil {
			return nil, err
		}
	}
	b := rule.NewBatch(seq, stored)
	b.Bars = rule.NewBars(bars)
	b.New, b.Early = fresh, early != 0
	t.askMessages("revision", s, b.Revised(messages), &past)
	t.askGave(s, b.Reacted(messages), &gave)
	if err := t.Send(ctx); err != nil {
		return nil, err
	}
	b.Load(past)
	b.LoadReactions(gave)
	return b, nil
}
