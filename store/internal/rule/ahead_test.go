package rule_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// rows are the sequences of a channel, ascending.
type rows struct {
	seqs   []int64
	broken int64 // the read that would give this sequence fails
	under  atomic.Int32
}

var errBroken = errors.New("broken")

func (r *rows) Terms(ctx context.Context, after, upTo int64, limit int) ([]earshot.Terms, error) {
	r.under.Add(1)
	defer r.under.Add(-1)
	var out []earshot.Terms
	for _, seq := range r.seqs {
		if seq > after && seq <= upTo && len(out) < limit {
			if seq == r.broken {
				return nil, errBroken
			}
			out = append(out, earshot.Terms{Seq: seq})
		}
	}
	return out, ctx.Err()
}

func (r *rows) LastSeq(context.Context) (int64, error) { return r.seqs[len(r.seqs)-1], nil }

func TestTermsAreReadAheadInOrder(t *testing.T) {
	t.Parallel()
	dense, holes := &rows{}, &rows{}
	for i := range int64(5000) {
		dense.seqs = append(dense.seqs, i+1)
		holes.seqs = append(holes.seqs, 1+7*i)
	}
	for name, r := range map[string]*rows{"dense": dense, "with holes": holes} {
		for _, from := range []int{0, 1, 511, 512, 513, 4000, 4488, 5000} {
			at := from
			seq := int64(0)
			if from > 0 {
				seq = r.seqs[from-1]
			}
			for got, err := range rule.AllTerms(t.Context(), r, seq) {
				if err != nil {
					t.Fatal(err)
				}
				if got.Seq != r.seqs[at] {
					t.Fatalf("%s from %d: got sequence %d, want %d", name, from, got.Seq, r.seqs[at])
				}
				at++
			}
			if at != len(r.seqs) {
				t.Errorf("%s from %d: got up to %d, want %d", name, from, at, len(r.seqs))
			}
		}
	}
}

func TestNobodyReadsAheadOnceTheReadIsOver(t *testing.T) {
	t.Parallel()
	r := &rows{}
	for i := range int64(9000) {
		r.seqs = append(r.seqs, i+1)
	}
	n := 0
	for range rule.AllTerms(t.Context(), r, 0) {
		if n++; n == 1500 {
			break
		}
	}
	if got := r.under.Load(); got != 0 {
		t.Errorf("%d reads are under way after a break", got)
	}

	r.broken = 3000
	n = 0
	var failed error
	for _, err := range rule.AllTerms(t.Context(), r, 0) {
		if failed = err; err == nil {
			n++
		}
	}
	if !errors.Is(failed, errBroken) || n >= 3000 || n < 2000 || r.under.Load() != 0 {
		t.Errorf("got %v after %d of 2999 rows with %d reads under way", failed, n, r.under.Load())
	}

	r.broken = 0
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n = 0
	for _, err := range rule.AllTerms(ctx, r, 0) {
		if failed = err; err == nil {
			if n++; n == 700 {
				cancel()
			}
		}
	}
	if !errors.Is(failed, context.Canceled) || r.under.Load() != 0 {
		t.Errorf("got %v after the end of ctx, with %d reads under way", failed, r.under.Load())
	}
}
