package archive

import (
	"context"

	"github.com/earshot-ai/earshot"
)

// bulkImport is what an import writes with.
type bulkImport = earshot.Bulk

// groupSize is how many channels or authors are stored at once.
const groupSize = 1000

// bulkOf returns s itself where it can write much at once.
func bulkOf(s Sink) bulkImport {
	if b, ok := s.(bulkImport); ok {
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

func (o oneByOne) RecordBatches(ctx context.Context, list ...earshot.Batch) ([][]earshot.RecordResult, error) {
	out := make([][]earshot.RecordResult, len(list))
	for i, b := range list {
		var err error
		if out[i], err = o.store.Record(ctx, b.Scope, b.Messages...); err != nil {
			return nil, err
		}
	}
	return out, nil
}
