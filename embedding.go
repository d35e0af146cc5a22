package earshot

import (
	"context"
	"iter"
)

// An Embedding is what an encoder made of a message's text: a vector whose direction
// says what the text is about.
type Embedding struct {
	ID  MessageID
	Seq int64 // the message's sequence when its text was encoded
	// Sum is a checksum of what was encoded: where it is the same, nothing need be
	// encoded again.
	Sum int64
	// Vector is scaled so that its largest number is 127 or -127, and rounded: only its
	// direction is told. It is empty where the message has nothing to encode.
	Vector []int8
}

// Embeddings stores what encoders made of messages. A message's embedding is removed in
// the transaction that changes the message's text, deletes it or erases it: nothing that
// was made of a text outlives the text.
type Embeddings interface {
	// PutEmbeddings stores what a model made of messages, in place of what any model
	// made of them before. Those whose message has another sequence by now, is deleted
	// or is not stored are passed over. ErrInvalid where a vector has more than
	// MaxDimensions numbers, or the model no name or one of more than 512 bytes.
	PutEmbeddings(ctx context.Context, s Scope, model string, list ...Embedding) error
	// Embeddings reads those of a model whose Seq is above after, in the order of Seq.
	Embeddings(ctx context.Context, s Scope, model string, after int64) iter.Seq2[Embedding, error]
	// EmbeddingsOf returns those of the messages that a model has, in the order of
	// ids.
	EmbeddingsOf(ctx context.Context, s Scope, model string, ids ...MessageID) ([]Embedding, error)
}

// MaxDimensions is how many numbers a vector may have.
const MaxDimensions = 4096
