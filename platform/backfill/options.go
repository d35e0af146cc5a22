package backfill

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"github.com/earshot-ai/earshot"
)

// A Store is what backfill needs of an [earshot.Store].
type Store interface {
	Accept(ctx context.Context, s earshot.Scope, e earshot.Event, ask *earshot.ConversationID) (earshot.AcceptResult, error)
	PutCoverage(ctx context.Context, s earshot.Scope, list ...earshot.Coverage) error
	Coverage(ctx context.Context, s earshot.Scope) ([]earshot.Coverage, error)
	FindChannels(ctx context.Context, q earshot.ChannelQuery) ([]earshot.ChannelInfo, error)
	Channel(ctx context.Context, s earshot.Scope) (earshot.Channel, error)
	Activity(ctx context.Context, s earshot.Scope, upTo earshot.Position, roots ...earshot.MessageID) (map[earshot.MessageID]earshot.Activity, error)
	Count(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, upTo earshot.Position) (earshot.Count, error)
	Newest(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, upTo earshot.Position, limit int) ([]earshot.Message, error)
	Range(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, from, to earshot.Position) iter.Seq2[earshot.Message, error]
	Message(ctx context.Context, s earshot.Scope, id earshot.MessageID) (earshot.Message, error)
	ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
}

// Options configure a [Filler]. Store, Source and Platform are required; zero
// values of the rest mean the defaults.
type Options struct {
	Store  Store
	Source Source
	// Platform and Workspace say whose channels Source reads.
	Platform  earshot.Platform
	Workspace earshot.WorkspaceID

	// Handle is called with a message that was said when nobody listened and that
	// is either fresh enough to be answered or a post of our own. Past is set in
	// its event. The same message may come twice, and may also arrive as an event.
	// It must record the message. nil: the message is recorded like all others,
	// and not answered.
	Handle func(ctx context.Context, c earshot.Channel, f HistoryMessage) error
	// Fresh is how old such a message may be. Default: 10 minutes.
	Fresh time.Duration

	Tier Tier // default: [Internal]
	// Degrade says that a turn does not wait when the rate is used up. Otherwise
	// it waits as long as its context allows.
	Degrade bool
	// StaleServeTTL is for how long after events were missed the coverage is
	// Stale and not Missing. Default: 10 minutes; negative: it is Missing at once.
	StaleServeTTL time.Duration
	// Refresh is how long a thread in which messages may have been missed is not
	// fetched again, and how long a request that the platform refused is not
	// repeated. Default: 5 minutes.
	Refresh time.Duration

	// Want is how many of a thread's newest messages a turn needs, and
	// Neighbours how many of the channel's top level. Default: 200 and 100.
	Want, Neighbours int
	// ThreadsAlone says that a turn in a thread needs nothing of the channel's top
	// level.
	ThreadsAlone bool
	// ThreadDepth and ChannelDepth are how many messages of a thread and of a
	// channel's top level are stored before the background stops fetching older
	// ones. Default: 5,000 and 1,000.
	ThreadDepth, ChannelDepth int
	// Active is how recent the last message of a channel or thread must be for
	// what was missed there to be fetched in advance. Default: 72 hours; negative:
	// it is fetched only when a turn needs it.
	Active time.Duration

	// Floor returns the time before which nothing of a channel is kept, 0 where all
	// is: what is older is missing, and the platform is not asked for it. It must not
	// fall. Default: 0 for all.
	Floor func(s earshot.Scope) earshot.Time

	Now func() earshot.Time // default: time.Now
	Log *slog.Logger        // nil discards
}

func (o Options) withDefaults() Options {
	if o.Floor == nil {
		o.Floor = func(earshot.Scope) earshot.Time { return 0 }
	}
	for _, d := range []struct {
		v   *time.Duration
		def time.Duration
	}{{&o.Fresh, 10 * time.Minute}, {&o.StaleServeTTL, 10 * time.Minute}, {&o.Refresh, 5 * time.Minute}, {&o.Active, 72 * time.Hour}} {
		if *d.v == 0 {
			*d.v = d.def
		}
	}
	for _, d := range []struct {
		v   *int
		def int
	}{{&o.Want, 200}, {&o.Neighbours, 100}, {&o.ThreadDepth, 5000}, {&o.ChannelDepth, 1000}} {
		if *d.v == 0 {
			*d.v = d.def
		}
	}
	if o.Tier.PerMinute <= 0 {
		o.Tier = Internal
	}
	o.Tier.Burst, o.Tier.Objects = max(1, o.Tier.Burst), max(2, o.Tier.Objects)
	o.Tier.Most = max(o.Tier.Most, o.Tier.Objects)
	if o.Now == nil {
		o.Now = func() earshot.Time { return earshot.TimeOf(time.Now()) }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}
