package history

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search/index"
)

// A scan answers what a store for messages alone does not, from all that it has of a
// channel: that is enough for what one agent remembers.
type scan struct{ Store }

// Coverage returns nothing: no stretch is known to be missing.
func (scan) Coverage(context.Context, earshot.Scope) ([]earshot.Coverage, error) { return nil, nil }

// Authors returns nothing: what is known of an author stands in the messages.
func (scan) Authors(context.Context, earshot.Platform, earshot.WorkspaceID, ...earshot.AuthorID) ([]earshot.Author, error) {
	return nil, nil
}

// readAll returns a part up to a position.
func (s scan) readAll(ctx context.Context, at earshot.Scope, part earshot.ChannelPart, upTo earshot.Position) ([]earshot.Message, error) {
	return s.Newest(ctx, at, part, upTo, math.MaxInt)
}

func (s scan) Range(ctx context.Context, at earshot.Scope, part earshot.ChannelPart, from, to earshot.Position) iter.Seq2[earshot.Message, error] {
	return func(yield func(earshot.Message, error) bool) {
		list, err := s.readAll(ctx, at, part, to)
		if err != nil {
			yield(earshot.Message{}, err)
		}
		for _, m := range list {
			if m.Position().Compare(from) >= 0 && !yield(m, nil) {
				return
			}
		}
	}
}

func (s scan) Replying(ctx context.Context, at earshot.Scope, upTo earshot.Position, ids ...earshot.MessageID) ([]earshot.Message, error) {
	list, err := s.readAll(ctx, at, earshot.Whole(), upTo)
	return slices.DeleteFunc(list, func(m earshot.Message) bool { return m.ReplyTo == "" || !slices.Contains(ids, m.ReplyTo) }), err
}

func (s scan) Count(ctx context.Context, at earshot.Scope, part earshot.ChannelPart, upTo earshot.Position) (earshot.Count, error) {
	list, err := s.readAll(ctx, at, part, upTo)
	if err != nil || len(list) == 0 {
		return earshot.Count{}, err
	}
	return earshot.Count{Count: len(list), From: list[0].Time, To: list[len(list)-1].Time}, nil
}

func (s scan) Activity(ctx context.Context, at earshot.Scope, upTo earshot.Position, roots ...earshot.MessageID) (map[earshot.MessageID]earshot.Activity, error) {
	const hour = 3600 * 1_000_000
	list, err := s.readAll(ctx, at, earshot.Whole(), upTo)
	out := map[earshot.MessageID]earshot.Activity{}
	for _, m := range list {
		if root := m.Root(); root != "" && slices.Contains(roots, root) {
			a := out[root]
			a.Count, a.Last = a.Count+1, m.Time
			if !upTo.IsZero() && m.Time >= upTo.Time-hour {
				a.LastHour++
			}
			out[root] = a
		}
	}
	return out, err
}

func (s scan) Terms(ctx context.Context, at earshot.Scope, seq int64) iter.Seq2[earshot.Terms, error] {
	return func(yield func(earshot.Terms, error) bool) {
		list, err := s.Since(ctx, at, seq, 0)
		if err != nil {
			yield(earshot.Terms{}, err)
		}
		for i := range list {
			if !yield(searchTerms(&list[i]), nil) {
				return
			}
		}
	}
}

// searchTerms returns what is searched of a message. What an app attaches without a name
// counts as its own text.
func searchTerms(m *earshot.Message) earshot.Terms {
	t := earshot.Terms{
		ID: m.ID, Seq: m.Seq, Time: m.Time, Author: m.Author.ID, Name: m.Author.Name, Thread: m.Root(), ReplyTo: m.ReplyTo,
		Deleted: m.Deleted, System: m.Author.Kind == earshot.System, Terms: index.Terms(m.Text),
	}
	for _, x := range m.Shared {
		q := earshot.Quote{Author: x.ID, Name: x.Author, Terms: index.Terms(x.Text)}
		if x.Kind == earshot.AppQuote {
			q.Author = "" // an app can claim any
		}
		if q.Author == "" && q.Name == "" {
			t.Terms = append(t.Terms, q.Terms...)
		} else {
			t.Quoted = append(t.Quoted, q)
		}
	}
	return t
}
