package rule

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
)

// A Reaction adds By, which may be negative, to a message's count of an emoji.
type Reaction struct {
	ID   earshot.MessageID
	Name string
	By   int
}

// errRevised says that a message was edited after it was prepared.
var errRevised = errors.New("the message was edited meanwhile")

// React is the React of every engine. message reads the stored message; write
// runs a transaction that passes the prepared message to [Reaction.Reacted] or
// [Batch.React]. Preparing is costly and is done outside the transaction: if the
// message was edited meanwhile, React starts over.
func React(ctx context.Context, scope earshot.Scope, r Reaction, message func(context.Context, earshot.Scope, earshot.MessageID) (earshot.Message, error),
	write func(earshot.Scope, Message) (earshot.Recorded, error)) (earshot.Recorded, error) {
	scope = Scope(scope)
	for {
		m, err := message(ctx, scope, r.ID)
		if err != nil {
			return earshot.Recorded{}, err
		}
		if m.Deleted {
			return earshot.Recorded{ID: m.ID, Change: earshot.Same, Seq: m.Seq}, nil
		}
		prepared, err := Prepare(ctx, []earshot.Message{m})
		if err != nil {
			return earshot.Recorded{}, err
		}
		out, err := write(scope, prepared[0])
		if err == nil || !errors.Is(err, errRevised) {
			return out, err
		}
	}
}

// Reacted returns prepared with the stored reactions after r was counted.
func (r Reaction) Reacted(stored *Message, prepared Message) (Message, error) {
	switch {
	case stored == nil:
		return Message{}, fmt.Errorf("message %q: %w", r.ID, earshot.ErrNotFound)
	case !stored.Deleted && (stored.Edited != prepared.Edited || stored.Text != prepared.Text || !slices.Equal(stored.Shared, prepared.Shared)):
		return Message{}, errRevised
	}
	// Nil means unknown: the stored lists, which may be newer, stay.
	prepared.Mentions, prepared.Files, prepared.Replies = nil, nil, nil
	prepared.Reactions = counted(stored.Reactions, Text(r.Name), r.By)
	return prepared, nil
}

// counted adds by to the count of an emoji. A count of zero is left out. The list
// is never nil.
func counted(list []earshot.Reaction, name string, by int) []earshot.Reaction {
	out := append([]earshot.Reaction{}, list...)
	i := slices.IndexFunc(out, func(r earshot.Reaction) bool { return r.Name == name })
	if i < 0 {
		i = len(out)
		out = append(out, earshot.Reaction{Name: name})
	}
	out[i].Count += by
	if out[i].Count <= 0 {
		out = slices.Delete(out, i, i+1)
	}
	return out
}

// React counts a reaction to one of the batch's messages.
func (b *Batch) React(r Reaction, prepared Message) (earshot.Recorded, error) {
	var stored *Message
	if e := b.entries[prepared.ID]; e != nil {
		stored = e.after
	}
	m, err := r.Reacted(stored, prepared)
	if err != nil {
		return earshot.Recorded{}, err
	}
	return b.Add(m), nil
}
