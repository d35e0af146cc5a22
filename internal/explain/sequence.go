package explain

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// Sequence returns the sequence of the newest change of a channel, 0 where nothing is
// stored. It reads single rows of the index, however much is stored. since is a
// sequence at which the channel has been before; 0 will do.
func (r *Reader) Sequence(ctx context.Context, p access.Principal, c earshot.Channel, since int64) (int64, error) {
	if err := visible.Reads(p, c.Scope()); err != nil {
		return 0, err
	}
	// after returns the sequence of the first change after one, 0 where there is none.
	after := func(seq int64) (int64, error) {
		list, err := r.store.Since(ctx, c.Scope(), seq, 1)
		if err != nil || len(list) == 0 {
			return 0, err
		}
		return list[0].Seq, nil
	}
	low, step := since, int64(1)
	for {
		next, err := after(low + step - 1)
		if err != nil {
			return 0, err
		}
		if next == 0 {
			break
		}
		low, step = next, 2*step
	}
	// The newest change lies at low or before low+step.
	for high := low + step - 1; low < high; {
		middle := low + (high-low)/2
		next, err := after(middle)
		if err != nil {
			return 0, err
		}
		if next == 0 {
			high = middle
		} else {
			low = next
		}
	}
	return low, nil
}
