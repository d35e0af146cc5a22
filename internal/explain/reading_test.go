package explain_test

import (
	"context"
	"iter"

	"github.com/earshot-ai/earshot"
)

func (r *reading) count(list []earshot.Message, err error) ([]earshot.Message, error) {
	r.read += len(list)
	return list, err
}

func (r *reading) ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error) {
	return r.count(r.Store.ByID(ctx, s, ids...))
}

func (r *reading) Newest(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, upTo earshot.Position, limit int) ([]earshot.Message, error) {
	return r.count(r.Store.Newest(ctx, s, part, upTo, limit))
}

func (r *reading) Since(ctx context.Context, s earshot.Scope, seq int64, limit int) ([]earshot.Message, error) {
	return r.count(r.Store.Since(ctx, s, seq, limit))
}

func (r *reading) Replying(ctx context.Context, s earshot.Scope, upTo earshot.Position, ids ...earshot.MessageID) ([]earshot.Message, error) {
	return r.count(r.Store.Replying(ctx, s, upTo, ids...))
}

func (r *reading) Range(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, from, to earshot.Position) iter.Seq2[earshot.Message, error] {
	r.whole++
	return r.Store.Range(ctx, s, part, from, to)
}

func (r *reading) Terms(ctx context.Context, s earshot.Scope, seq int64) iter.Seq2[earshot.Terms, error] {
	r.whole++
	return r.Store.Terms(ctx, s, seq)
}
