package earshot

import "context"

// A Batch is what a [Bulk] store records of one channel.
type Batch struct {
	Scope    Scope
	Messages []Message
	Told     bool // as Tell records them
}

// Bulk is an optional ability of a [Store]: writing many messages of many channels
// at once. Both methods split their work over several transactions, so that other
// writers get their turn between them. After an error a part is stored; calling
// again with the same list is right. Imports use PutChannel and Record on a store
// that is no Bulk.
type Bulk interface {
	// PutChannels does [Messages.PutChannel] for each channel.
	PutChannels(ctx context.Context, list ...Channel) error
	// RecordBatches does [Messages.Record] for each batch, in order, and returns the
	// outcomes of each. Nothing is stored when one of the messages is invalid.
	RecordBatches(ctx context.Context, list ...Batch) ([][]RecordResult, error)
}
