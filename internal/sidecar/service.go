// Package sidecar is what Earshot does for bots of any make, whatever the transport:
// it records what they tell, makes contexts, opens and commits turns, keeps their
// conversations, and calls the tools of their models.
//
// Start with [New], [Service], and [visible.Refusal], which is how it says no. Each
// subject has a file of its own. Every method takes the caller, an [access.Principal],
// and works on the store as that caller sees it (package visible). What people look at
// afterwards is read by package explain.
//
// Package api offers a Service over HTTP, and package mcp its tools over the Model
// Context Protocol.
package sidecar

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/contexts"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/platform/media"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/tools"
)

// Options are the settings of a Service. Zero fields mean the defaults.
type Options struct {
	Maker     *contexts.Maker  // of contexts, over the same store; default: one with default settings
	OpenFor   time.Duration    // how long a turn that was opened can be committed; default: 15 minutes
	Committed func(Committed)  // is called after each commit; nil is fine
	Log       *slog.Logger     // nil discards
	Now       func() time.Time // default: time.Now
}

// A Committed is a turn that has just been committed.
type Committed struct {
	Draft earshot.Draft
	Took  time.Duration // making its context, before it was opened
	Usage earshot.Usage // as the caller tells it
}

// A Minter makes capabilities. An *[access.Gate] is one.
type Minter interface {
	Mint(ctx context.Context, p access.Principal, f access.CapabilityScope) (string, error)
}

// A Service is a sidecar over one store. It is safe for concurrent use.
type Service struct {
	store   earshot.Store
	index   *tools.Index
	maker   *contexts.Maker
	minter  Minter
	files   *media.Files // only takes what it is given
	options Options
	reacted atomic.Int64 // when the last reaction without a time was told, in microseconds

	covering sync.Mutex // held from reading a channel's coverage to writing it
}

// New returns a Service over a store. The searcher is one over the same store.
func New(st earshot.Store, searcher *search.Searcher, minter Minter, o Options) *Service {
	if o.OpenFor == 0 {
		o.OpenFor = 15 * time.Minute
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Maker == nil {
		o.Maker = contexts.New(st, searcher, contexts.Options{Log: o.Log})
	}
	if o.Committed == nil {
		o.Committed = func(Committed) {}
	}
	return &Service{store: st, index: tools.NewIndex(searchedStore{st, searcher}, 0), maker: o.Maker, minter: minter, files: media.New(nil, nil), options: o}
}

// to is the store as a caller sees it.
func (s *Service) to(p access.Principal) *visible.View { return visible.To(s.store, p) }

// Budget is the budget of requests that have none.
func (s *Service) Budget() assemble.Budget { return s.maker.Budget() }

// Now is the time of this service's clock.
func (s *Service) Now() earshot.Time { return earshot.TimeOf(s.options.Now()) }

func (s *Service) now() earshot.Time { return s.Now() }

// searchedStore is a store with the search over it. The tools find the search by its
// method and keep no index of their own.
type searchedStore struct {
	earshot.Store
	*search.Searcher
}

// Search finds messages, with the names that contexts have.
func (x searchedStore) Search(ctx context.Context, at earshot.Scope, q search.Query) ([]search.Hit, error) {
	hits, err := x.Searcher.Search(ctx, at, q)
	if err != nil {
		return hits, err
	}
	list := make([]earshot.Message, len(hits))
	for i, h := range hits {
		list[i] = h.Message
	}
	err = gather.Named(ctx, x.Store, at, list)
	for i := range hits {
		hits[i].Message = list[i]
	}
	return hits, err
}
