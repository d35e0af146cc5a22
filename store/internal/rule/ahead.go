package rule

import (
	"context"
	"fmt"
	"iter"
	"runtime"
	"sync"

	"github.com/earshot-ai/earshot"
)

// A TermReader is how an engine reads the search terms of one channel.
type TermReader interface {
	// Terms reads what stands after one sequence and not after another, in the
	// order of Seq, at most limit.
	Terms(ctx context.Context, after, upTo int64, limit int) ([]earshot.Terms, error)
	// LastSeq returns the channel's greatest sequence, 0 without any message.
	LastSeq(ctx context.Context) (int64, error)
}

const (
	// termPage is how many rows, or sequences, are read at a time.
	termPage = 512
	// maxAhead bounds the reads that one caller has under way: the store has
	// others to serve.
	maxAhead = 4
)

// AllTerms is the Terms of a store that reads with r. A first page is read
// alone: to bring an index up to date it is mostly the only one. What follows
// is read side by side, a stretch of sequences each, and given in order.
// Between two reads it holds nothing; what changes meanwhile comes again under
// its new sequence.
func AllTerms(ctx context.Context, r TermReader, seq int64) iter.Seq2[earshot.Terms, error] {
	return func(yield func(earshot.Terms, error) bool) {
		fail := func(err error) { yield(earshot.Terms{}, fmt.Errorf("read search terms: %w", err)) }
		for {
			list, err := r.Terms(ctx, seq, maxSeq, termPage)
			if err != nil {
				fail(err)
				return
			}
			for _, t := range list {
				if !yield(t, nil) {
					return
				}
			}
			if len(list) < termPage {
				return
			}
			seq = list[len(list)-1].Seq
			last, err := r.LastSeq(ctx)
			if err != nil {
				fail(err)
				return
			}
			for list, err := range ahead(ctx, r, seq, last) {
				if err != nil {
					fail(err)
					return
				}
				for _, t := range list {
					if !yield(t, nil) {
						return
					}
				}
			}
			seq = max(seq, last)
		}
	}
}

const maxSeq = 1<<63 - 1

// ahead yields what stands after one sequence and not after another, a page at
// a time, and has the next pages read meanwhile. When it returns nobody reads
// any more.
func ahead(ctx context.Context, r TermReader, after, upTo int64) iter.Seq2[[]earshot.Terms, error] {
	type page struct {
		list []earshot.Terms
		err  error
	}
	return func(yield func([]earshot.Terms, error) bool) {
		reading, cancel := context.WithCancel(ctx)
		var readers sync.WaitGroup
		defer readers.Wait()
		defer cancel()
		// What waits in it is being read, and the page that the consumer is at
		// has been.
		pages := make(chan chan page, min(runtime.GOMAXPROCS(0), maxAhead)-1)
		readers.Go(func() {
			defer close(pages)
			for from := after; from < upTo; from += termPage {
				p := make(chan page, 1)
				select {
				case pages <- p:
				case <-reading.Done():
					return
				}
				readers.Go(func() {
					list, err := r.Terms(reading, from, min(from+termPage, upTo), termPage)
					p <- page{list, err}
				})
			}
		})
		for p := range pages {
			got := <-p
			if !yield(got.list, got.err) || got.err != nil {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(nil, err)
		}
	}
}
