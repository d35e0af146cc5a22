// Package explain reads what happened and why, for people: turns with their prompts
// beside the messages that were considered, what another policy would have shown,
// conversations, what was spent, what is known of a channel's history, and the messages
// themselves.
//
// Start with [New], [Reader] and [Turn]. The inspector's pages, the command line, the
// reading tools of MCP and the read routes of the HTTP API print what a Reader says and
// read no store of their own, so that they cannot say different things of one turn.
// Every method takes the caller, an [access.Principal], and reads the store as that
// caller sees it (package visible). Nothing is written but for [Reader.Retry],
// [Reader.Discard], [Reader.Stop] and [Reader.Decide], with which an operator answers what was read, and
// for what people think of answers ([Reader.PutFeedback]).
package explain

import (
	"log/slog"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/contexts"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
)

// Options are the settings of a Reader. Zero fields mean the defaults.
type Options struct {
	Maker *contexts.Maker // of contexts, over the same store; default: one with default settings
	Log   *slog.Logger    // nil discards
	// ApproveBy says who may agree to calls of tools, as [bot.Approve].By does. Default: who
	// asked the question.
	ApproveBy []string
	Now       func() time.Time // default: the store's clock, else time.Now
}

// A Reader reads one store. It is safe for concurrent use.
type Reader struct {
	store    earshot.Store
	searcher *search.Searcher
	maker    *contexts.Maker
	log      *slog.Logger

	approveBy []string
	now       func() time.Time
}

// New returns a Reader of a store. The searcher is one over the same store.
func New(st earshot.Store, searcher *search.Searcher, o Options) *Reader {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Maker == nil {
		o.Maker = contexts.New(st, searcher, contexts.Options{Log: o.Log})
	}
	if o.Now == nil {
		o.Now = earshot.ClockOf(st, time.Now)
	}
	if len(o.ApproveBy) == 0 {
		o.ApproveBy = []string{bot.ApproveAsker}
	}
	return &Reader{store: st, searcher: searcher, maker: o.Maker, log: o.Log, approveBy: slices.Clone(o.ApproveBy), now: o.Now}
}

// To returns the store as a caller sees it.
func (r *Reader) To(p access.Principal) *visible.View { return visible.To(r.store, p) }

// Hold counts a request for a channel, and returns a [*contexts.Busy] where there are
// too many of them. The Reader asks it itself for contexts; a transport asks before it
// reads. Ask it only for channels that the caller sees.
func (r *Reader) Hold(at earshot.Scope) error { return r.maker.Hold(at) }
