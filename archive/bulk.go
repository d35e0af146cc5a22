package archive

import (
	"context"

	"github.com/earshot-ai/earshot"
)

// bulk is what an import writes with.
type bulk = earshot.Bulk

// groupSize is how many channels or authors are stored at once.
const groupSize = 1000

// bulkOf returns s itself where it can write much at once.
func bulkOf(s Sink) bulk {
	if b, ok := s.(bulk); ok {
		return b
	}
	return oneByOne{s}
}

// oneByOne writes to a store that is no [earshot.Bulk].
type oneByOne struct{ store Sink }

func (o oneByOne) PutChannels(ctx context.Context, list ...earshot.Channel) error {
	for _, c := range list {
		if err := o.store.PutChannel(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (o oneByOne) RecordBatches(ctx context.Context, list ...earshot.Batch) ([][]earshot.Recorded, error) {
	out := make([][]earshot.Recorded, len(list))
	for i, b := range list {
		var err error
		if out[i], err = o.store.Record(ctx, b.Scope, b.Messages...); err != nil {
			return nil, err
		}
	}
	return out, nil
}
