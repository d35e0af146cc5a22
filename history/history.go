package history

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/tokens"
)

// A Store is what a History needs: a store for messages alone, whose methods keep what
// [earshot.Messages] says of them. It is safe for concurrent use.
//
// Of a store that has the reads of [earshot.Messages] too, a prompt and a search read no
// more than they need; of another they read the channel. A store that has
// [earshot.Conversations], [earshot.Turns] and [earshot.Summaries] too keeps what the
// agent answered and the summaries of older turns; on another an answer is known by its
// ReplyTo, and nothing is summarised. An [earshot.Store] is all of that.
type Store interface {
	// Record stores messages, their newer revisions and tombstones, all or none, and
	// says of each what changed.
	Record(ctx context.Context, s earshot.Scope, messages ...earshot.Message) ([]earshot.RecordResult, error)
	// ByID returns those of the ids that are stored, tombstones too, by Position.
	ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
	// Newest returns the newest messages of a part at or before upTo (zero: no bound),
	// at most limit, by Position, without deleted ones.
	Newest(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, upTo earshot.Position, limit int) ([]earshot.Message, error)
	// Since returns what became known after a sequence, tombstones too, by Seq, at most
	// limit (0: no limit).
	Since(ctx context.Context, s earshot.Scope, seq int64, limit int) ([]earshot.Message, error)
}

// readStore are what gathering and searching read of a store.
type readStore interface {
	gather.Store
	search.Store
}

// A memory keeps what the agent answered, and its summaries.
type memory interface {
	gather.Conversations
	OpenConversation(ctx context.Context, id earshot.ConversationID, idempotencyKey string) (earshot.Conversation, bool, error)
	CommitTurn(ctx context.Context, id earshot.ConversationID, t earshot.Turn) (int, error)
	Turn(ctx context.Context, id earshot.ConversationID, number int) (earshot.Turn, error)
	ClaimSummary(ctx context.Context, agent earshot.AgentID, owner string, over int, now earshot.Time, hold time.Duration) (earshot.SummaryClaim, error)
	PutSummary(ctx context.Context, c earshot.SummaryClaim, s earshot.Summary, of ...earshot.MessageID) error
	ReleaseSummary(ctx context.Context, c earshot.SummaryClaim, notBefore earshot.Time) error
}

// The defaults of [Options].
const (
	DefaultTurns          = 100
	DefaultSummariseAfter = 40
	DefaultBudget         = 3000
	DefaultWriteTime      = 5 * time.Second
)

// Options are the settings of a History. Zero fields mean the defaults.
type Options struct {
	// Everything shows all of a conversation in a prompt. Without it a prompt
	// shows what the agent wrote, what mentions it, and what it answered; in a DM
	// it shows everything anyway.
	Everything bool
	// Minutes is how far a prompt looks back from the question; 0 means no limit.
	Minutes int
	// Turns is how many messages a prompt loads at most; default: [DefaultTurns].
	Turns int
	// SummariseAfter is how many turns there may be before the older half is
	// summarised; a question and its answer are two. Default:
	// [DefaultSummariseAfter]. Below 0 nothing is summarised.
	SummariseAfter int
	// Summarise writes a summary; nil means a digest, which needs no model. See
	// [Summariser].
	Summarise Summariser
	// Budget is what history and summary may cost in a prompt, in tokens; default:
	// [DefaultBudget]. Guide, instructions and the question are not part of it.
	Budget int
	// Limit is what a whole prompt may cost; default: that of
	// [assemble.DefaultBudget]. Where the question and the instructions alone cost
	// more, [History.Prompt] returns [assemble.ErrBudgetTooSmall].
	Limit int
	// Counter counts tokens as the agent's model does; default: o200k.
	Counter assemble.Counter
	// Instructions is the operator's own system text. It is never cut.
	Instructions string

	// WriteTime bounds each write of [History.Capture], so that a store that
	// hangs holds up no answer for longer; default: [DefaultWriteTime].
	WriteTime time.Duration
	// Now is the clock; default: [time.Now].
	Now func() time.Time
	// Log tells what failed where the caller gets no error; nil discards. No
	// text of a message is logged.
	Log *slog.Logger
}

// A History is what one agent remembers, in a store that others may share. It is
// safe for concurrent use. [History.Close] ends what it does in the background.
type History struct {
	store    Store
	reads    readStore // the store, or a scan of it
	memory   memory    // the store; nil where it keeps messages alone
	self     earshot.Identity
	o        Options
	searcher *search.Searcher
	owner    string // of the summaries that are claimed

	jobs sync.WaitGroup // of the background

	mu       sync.Mutex // guards what follows
	failures Failures
	stop     context.CancelFunc // ends the summaries that are being written in the background; nil: there are none
	again    bool               // an answer came while they were being written: look once more before ending
	closed   bool
}

// New returns the history of an agent. self is how its own messages are known: by
// id or by an alias, never by name. o may be nil, and is copied.
//
// New panics if self has no ID: without one, no message could be told to be the
// agent's own.
func New(st Store, self earshot.Identity, o *Options) *History {
	if self.ID == "" {
		panic("history: the agent's identity has no ID")
	}
	h := &History{store: st, self: self, owner: rand.Text()}
	var ok bool
	if h.reads, ok = st.(readStore); !ok {
		h.reads = scan{st}
	}
	h.memory, _ = st.(memory)
	h.searcher = search.New(h.reads, nil)
	if o != nil {
		h.o = *o
	}
	h.o.setDefaults()
	if h.self.Name == "" {
		h.self.Name = string(self.ID)
	}
	return h
}

func (o *Options) setDefaults() {
	if o.Turns <= 0 {
		o.Turns = DefaultTurns
	}
	if o.SummariseAfter == 0 {
		o.SummariseAfter = DefaultSummariseAfter
	}
	if o.Budget <= 0 {
		o.Budget = DefaultBudget
	}
	if o.Limit <= 0 {
		o.Limit = assemble.DefaultBudget().Limit
	}
	if o.Counter == nil {
		o.Counter = base
	}
	if o.WriteTime <= 0 {
		o.WriteTime = DefaultWriteTime
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// base counts by o200k.
var base = func() assemble.Counter {
	c, err := tokens.For("o200k")
	if err != nil {
		panic(err)
	}
	return c
}()

// Author returns the agent as the author of its own messages. Its kind is
// [earshot.Bot], by which the other agents of the store know it as an agent.
func (h *History) Author() earshot.Author {
	return earshot.Author{ID: h.self.ID, Name: h.self.Name, Kind: earshot.Bot}
}

// Close ends the summaries that are being written, and waits for them. The store
// stays open. A History without [Options].Summarise has nothing to close. Close
// may be called twice.
func (h *History) Close() error {
	h.mu.Lock()
	h.closed = true
	if h.stop != nil {
		h.stop()
	}
	h.mu.Unlock()
	h.jobs.Wait()
	return nil
}
