package tools

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/zones"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/search"
)

// The names of the tools.
const (
	ChannelContext     = "channel_context"
	ChannelMessages    = "channel_messages"
	ConversationSearch = "conversation_search"
)

// The defaults of [Options]: MaxBytes and FetchTime.
const (
	DefaultMaxBytes  = 64 << 10
	DefaultFetchTime = 3 * time.Second
)

// An Index finds messages by their words, in the channels of one store. It is
// safe for concurrent use, and made once for all sets over the store.
type Index struct{ search finder }

// A finder finds messages of one channel.
type finder interface {
	Search(ctx context.Context, s earshot.Scope, q search.Query) ([]search.Hit, error)
}

// A Store is what the tools need of an [earshot.Store].
type Store interface {
	Newest(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, upTo earshot.Position, limit int) ([]earshot.Message, error)
	Range(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, from, to earshot.Position) iter.Seq2[earshot.Message, error]
	ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
	Count(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, upTo earshot.Position) (earshot.Count, error)
	Activity(ctx context.Context, s earshot.Scope, upTo earshot.Position, roots ...earshot.MessageID) (map[earshot.MessageID]earshot.Activity, error)
	Coverage(ctx context.Context, s earshot.Scope) ([]earshot.Coverage, error)
}

// An IndexedStore is what an index needs of an [earshot.Store].
type IndexedStore interface {
	Terms(ctx context.Context, s earshot.Scope, seq int64) iter.Seq2[earshot.Terms, error]
	ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
}

// NewIndex returns an index over a store. maxBytes bounds its memory by its own
// estimate; 0 means 256 MiB. Where st has a method Search, as a
// [*search.Searcher] has, the index uses that and keeps nothing of its own.
func NewIndex(st IndexedStore, maxBytes int64) *Index {
	if f, ok := st.(finder); ok {
		return &Index{f}
	}
	return &Index{search.New(st, &search.Options{MaxBytes: maxBytes})}
}

// Options are the settings of a Set. Zero fields mean the defaults.
type Options struct {
	Identity earshot.Identity      // the agent; its messages carry its name
	Known    []earshot.Message     // the messages of the prompt, whose authors keep the names that they have there
	Names    []earshot.SessionName // the names that the conversation has used so far, the prompt included
	Zone     string                // IANA name of the zone of dates in arguments and times in answers; "" means UTC
	MaxBytes int                   // length of an answer; default: [DefaultMaxBytes]

	// Fetcher brings into the store what it lacks; nil means that the store has
	// all that can be had. FetchTime bounds each fetch; default:
	// [DefaultFetchTime].
	Fetcher   Fetcher
	FetchTime time.Duration

	// Media loads a file of a message in a form that a model can be given. Where
	// the error has a method Reason() string, the model is told the reason. nil
	// means that no file can be given.
	Media func(ctx context.Context, of earshot.MessageID, f earshot.File) (llm.Media, error)
	// Given reports whether the model has a file already, by its id or by the
	// hash of its bytes: from the session, the prompt or an earlier call of this
	// turn. It is called before a file is loaded, and again after. nil means that
	// the model has the files that this Set gave it.
	Given func(f earshot.File) bool

	// Lanes returns the lanes of the authors of messages that are not in
	// [earshot.LaneFull], and sets those of what the messages quote, in place. What is out
	// is counted in an answer and not shown; what is inert is marked. nil: all are full.
	Lanes func(ctx context.Context, list []earshot.Message) (map[earshot.AuthorID]earshot.Lane, error)

	// Turns has the turns of Conversation, which conversation_search searches. With
	// nil, or a conversation of another channel, it finds none.
	Turns        Turns
	Conversation earshot.ConversationID
}

// A Fetcher brings history into the store, and records as coverage what it could
// not get. It is called for the Set's channel only, and only for threads of which
// the store has something. An error means that the outcome is not known. A Fetcher
// is safe for concurrent use. platform/backfill's Filler is one.
type Fetcher interface {
	// FetchThread fetches a thread's root and its newest replies, up to a position,
	// unless the store has them.
	FetchThread(ctx context.Context, s earshot.Scope, root earshot.MessageID, upTo earshot.Position) error
	// FetchSince fetches the messages of the channel's top level from a time up to
	// a position, unless the store has them.
	FetchSince(ctx context.Context, s earshot.Scope, since earshot.Time, upTo earshot.Position) error
}

// A Pacer is a [Fetcher] that says when the rate of its platform allows the next thread.
type Pacer interface {
	// ThreadsIn returns how long until replies of a channel may be asked for; 0 is now.
	ThreadsIn(s earshot.Scope) time.Duration
}

// Turns is the part of [earshot.Turns] that conversation_search reads.
type Turns interface {
	Turns(ctx context.Context, id earshot.ConversationID, limit int) ([]earshot.Turn, error)
}

// A Set is the tools of one channel, up to one message. It is made for one turn.
// It is safe for concurrent use.
type Set struct {
	scope earshot.Scope
	store Store
	index *Index
	at    earshot.Position
	zone  *time.Location
	o     Options

	mu    sync.Mutex // guards what follows
	given map[earshot.ArtifactID]bool
	files fileScan

	lanesMu sync.Mutex                        // guards what follows; taken by reads of the store, also under mu
	lanes   map[earshot.AuthorID]earshot.Lane // of the authors of what was read
}

// An Answer is what a tool answered to one call.
type Answer struct {
	JSON   string // compact, at most Options.MaxBytes
	Failed bool   // the call failed, and JSON says why
	// Shows are the messages whose text or files are in the answer. When one of
	// them is deleted, the answer must be deleted too.
	Shows []earshot.Message
	// Media are the files that are part of the answer; they follow JSON.
	Media []llm.Media
}

// ForChannel returns the tools of a channel. at is the position of the message
// that is answered: no tool shows a message after it, and no search finds the
// message itself. The zero Position is no bound. o may be nil, and is copied.
func ForChannel(scope earshot.Scope, st Store, index *Index, at earshot.Position, o *Options) *Set {
	s := &Set{scope: scope, store: st, index: index, at: at, zone: time.UTC}
	if o != nil {
		s.o = *o
	}
	if s.o.MaxBytes <= 0 {
		s.o.MaxBytes = DefaultMaxBytes
	}
	if s.o.FetchTime <= 0 {
		s.o.FetchTime = DefaultFetchTime
	}
	if zone, err := zones.Load(s.o.Zone); err == nil {
		s.zone = zone
	}
	if s.o.Lanes != nil {
		s.store = lanedStore{st, s}
	}
	return s
}

// Tools returns the descriptions of the tools for a model. They are the same for
// every Set.
func (s *Set) Tools() []llm.Tool { return Tools() }

// Call runs the tool of a name. args are the arguments as the model wrote them. An
// unknown tool or wrong arguments give a failed Answer, which tells the model what
// to do instead. Errors are the store's and ctx's.
func (s *Set) Call(ctx context.Context, name, args string) (Answer, error) {
	var a Answer
	var err error
	switch name {
	case ChannelContext:
		a, err = s.context(ctx, args)
	case ChannelMessages:
		a, err = s.messages(ctx, args)
	case ConversationSearch:
		a, err = s.past(ctx, args)
	default:
		err = newRefusal("there is no such tool", "use "+ChannelContext+", "+ChannelMessages+" or "+ConversationSearch)
	}
	var r *refusal
	if errors.As(err, &r) {
		return r.answer(s.o.MaxBytes), nil
	}
	if err != nil {
		return Answer{}, fmt.Errorf("tool %s: %w", name, err)
	}
	return a, nil
}

// visible reports whether a message may be seen, and its author's words are shown.
func (s *Set) visible(m earshot.Message) bool { return s.exists(m) && !s.withheld(m) }

// exists reports whether a message may be seen, or counted where its author's words are
// out.
func (s *Set) exists(m earshot.Message) bool {
	return !m.Deleted && (s.at.IsZero() || m.Position().Compare(s.at) <= 0)
}

// ts returns a time in the Set's zone, as RFC 3339; "" for none.
func (s *Set) ts(t earshot.Time) string {
	if t == 0 {
		return ""
	}
	return t.UTC().In(s.zone).Format("2006-01-02T15:04:05.999999Z07:00")
}
