// Package sidecar is what Earshot does for bots of any make, whatever the
// transport: it records what they tell, makes contexts, opens and commits turns,
// and reads channels for them.
//
// Start with [New], [Service], and [Refusal], which is how it says no. Each subject
// has a file of its own. Every method takes the caller, an [access.Principal], and
// reaches nothing that the caller may not see: that does not exist for it.
//
// Package api offers a Service over HTTP, and package mcp over the Model Context
// Protocol.
package sidecar

import (
	"context"
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/access"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/tools"
)

// Options are the settings of a Service. Zero fields mean the defaults.
type Options struct {
	OpenFor time.Duration    // how long a turn that was opened can be committed; default: 15 minutes
	Policy  assemble.Policy  // where a request names none; default: [assemble.Standard]
	Budget  assemble.Budget  // where a request has none; default: [assemble.DefaultBudget]
	Counter assemble.Counter // where a request names none; default: o200k
	// Count is asked for the counter of each context, in place of Counter; nil is fine.
	Count        func() assemble.Counter
	Committed    func()           // is called after each commit; nil is fine
	Instructions string           // where a request has none
	Zone         string           // as in [gather.Request.DefaultZone]
	Log          *slog.Logger     // nil discards
	Now          func() time.Time // default: time.Now

	// AllowChannel reports whether one channel may be asked for once more, and when
	// it may if not; see [Service.Hold]. nil allows everything. An *[access.Gate] has one.
	AllowChannel func(earshot.Scope) (retryAfter time.Duration, ok bool)
}

// A Minter makes capabilities. An *[access.Gate] is one.
type Minter interface {
	Mint(ctx context.Context, p access.Principal, f access.Fixed) (string, error)
}

// A Service is a sidecar over one store. It is safe for concurrent use.
type Service struct {
	store    earshot.Store
	searcher *search.Searcher
	index    *tools.Index
	minter   Minter
	options  Options
	reacted  atomic.Int64  // when the last reaction without a time was told, in microseconds
	working  chan struct{} // holds one for each context that is being made
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
	if counter := o.Counter; o.Count == nil {
		o.Count = func() assemble.Counter { return counter }
	}
	if o.Committed == nil {
		o.Committed = func() {}
	}
	return &Service{store: st, searcher: searcher, index: tools.NewIndex(searched{st, searcher}, 0), minter: minter, options: o, working: make(chan struct{}, 8*runtime.GOMAXPROCS(0))}
}

// Now is the time of this service's clock.
func (s *Service) Now() earshot.Time { return earshot.TimeOf(s.options.Now()) }

func (s *Service) now() earshot.Time { return s.Now() }

// searched is a store with the search over it. The tools find the search by its
// method and keep no index of their own.
type searched struct {
	earshot.Store
	*search.Searcher
}

// A Busy is the error for a channel that all callers together ask for too often.
type Busy struct{ RetryAfter time.Duration }

// Error implements error.
func (*Busy) Error() string { return "too many requests for this channel; wait a moment" }

// Hold counts a request for a channel, and returns a [*Busy] where there are too many
// of them. The Service asks it itself for contexts, tools and events; a transport
// asks before it reads. Ask it only for channels that the caller sees.
func (s *Service) Hold(sc earshot.Scope) error {
	if s.options.AllowChannel == nil {
		return nil
	}
	if wait, ok := s.options.AllowChannel(sc); !ok {
		return &Busy{wait}
	}
	return nil
}

// work waits until a context may be made; done says that it is. Making one is mostly
// computing, with some waiting for the database: many more at once than there are
// processors would only take memory, and make all of them late.
func (s *Service) work(ctx context.Context) (done func(), err error) {
	select {
	case s.working <- struct{}{}:
		return func() { <-s.working }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
