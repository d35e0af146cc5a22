package earshot

import "context"

// A Batch is what a [Bulk] store records of one channel.
type Batch struct {
	Scope    Scope
	Messages []Message
}

// Bulk is what a [Store] may offer to imports besides: much at once, of many
// channels. Both methods write in as many transactions as they like, so that
// what somebody waits for need not wait for all of it: after an error a part is
// stored, and to do the same again is right. An import falls back on PutChannel
// and Record where a store is no Bulk.
type Bulk interface {
	// PutChannels is [Messages.PutChannel] for each of list.
	PutChannels(ctx context.Context, list ...Channel) error
	// RecordBatches is [Messages.Record] for each of list, in its order, and
	// returns the outcomes of each. Nothing is stored when one of the messages is
	// invalid.
	RecordBatches(ctx context.Context, list ...Batch) ([][]Recorded, error)
}
