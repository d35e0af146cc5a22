package rule

import (
	"context"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
)

// A PreparedBatch is a batch ready to be stored.
type PreparedBatch struct {
	Scope    earshot.Scope
	Messages []Message
}

// PrepareBatches is [CheckScope] and [Prepare] for many batches. The messages of
// all batches are prepared together, so that all processors are used even where
// each batch holds one message.
func PrepareBatches(ctx context.Context, list []earshot.Batch) ([]PreparedBatch, error) {
	out := make([]PreparedBatch, len(list))
	n := 0
	for _, b := range list {
		n += len(b.Messages)
	}
	all := make([]Message, n)
	rest := all
	for i, b := range list {
		scope, err := CheckScope(b.Scope)
		if err != nil {
			return nil, fmt.Errorf("batches[%d]: %w", i, err)
		}
		n := len(b.Messages)
		out[i].Scope, out[i].Messages, rest = scope, rest[:n:n], rest[n:]
		for j, m := range b.Messages {
			if err := normaliseMessage(&out[i].Messages[j], m); err != nil {
				return nil, fmt.Errorf("batches[%d].messages[%d]: %w", i, j, err)
			}
			out[i].Messages[j].Told = b.Told
		}
	}
	if err := measureAll(ctx, all); err != nil {
		return nil, err
	}
	return out, nil
}

// CheckChannels is [CheckChannel] for each of list.
func CheckChannels(list []earshot.Channel) ([]earshot.Channel, error) {
	out := slices.Clone(list)
	for i, c := range out {
		var err error
		if out[i], err = CheckChannel(c); err != nil {
			return nil, fmt.Errorf("channels[%d]: %w", i, err)
		}
	}
	return out, nil
}

// Outcomes allocates the outcomes of each of list.
func Outcomes(list []PreparedBatch) [][]earshot.RecordResult {
	out := make([][]earshot.RecordResult, len(list))
	for i, b := range list {
		out[i] = make([]earshot.RecordResult, len(b.Messages))
	}
	return out
}
