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
	// Terms reads at most limit entries with after < Seq <= upTo, in the order
	// of Seq.
	Terms(ctx context.Context, after, upTo int64, limit int) ([]earshot.Terms, error)
	// LastSeq returns the channel's greatest sequence, 0 without any message.
	LastSeq(ctx context.Context) (int64, error)
}

const (
	// termPage is how many rows, or sequences, are read at a time.
	termPage = 512
	// maxAhead bounds the concurrent reads of one caller, so that other callers
	// get their turn.
	maxAhead = 4
)

// AllTerms implements [earshot.Messages.Terms] with r. The first page is read
// alone: to bring an index up to date it is mostly the only one. The pages after
// it are read concurrently, a range of sequences each, and yielded in order. No
// connection is held between two reads; a message that changes meanwhile comes
// again under its new sequence.
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
			for list, err := range readAhead(ctx, r, seq, last) {
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

// readAhead yields the entries with after < Seq <= upTo, a page at a time, and reads
// the next pages meanwhile. All reads have ended when it returns.
func readAhead(ctx context.Context, r TermReader, after, upTo int64) iter.Seq2[[]earshot.Terms, error] {
	type page struct {
		list []earshot.Terms
		err  error
	}
	return func(yield func([]earshot.Terms, error) bool) {
		reading, cancel := context.WithCancel(ctx)
		var readers sync.WaitGroup
		defer readers.Wait()
		defer cancel()
		// The pages that are being read. The consumer's own page is not in it.
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
