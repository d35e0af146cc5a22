package bot

import (
	"log/slog"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
)

// A Store is what a bot keeps everything in.
type Store interface {
	earshot.Store
	earshot.Queue
}

// Options are what a bot is made of. Store, Model, Platform, Identity and
// Counter, or Count in its place, are required; zero values of the rest mean the
// defaults.
type Options struct {
	Store    Store
	Model    llm.Model
	Platform Platform
	Identity earshot.Identity
	Counter  assemble.Counter // of every prompt
	// Count is asked at the beginning of each turn which counter its prompt is
	// made with. Default: always Counter. It is safe for concurrent use.
	Count func() assemble.Counter

	Policy       assemble.Policy // default: standard
	Budget       assemble.Budget // default: [assemble.DefaultBudget]
	Instructions string          // the operator's own system text
	MaxTokens    int             // of one answer; default: [llm.DefaultMaxTokens]
	NoTools      bool            // the model gets no tools of the channel
	Answer       Answer
	Limits       Limits
	Files        Files // what people share; nil: nothing is attached
	// FileTokens returns what the model is charged for a file, by its provider's
	// formula; 0 where that is not known. Texts are counted as prompts are.
	FileTokens func(llm.Media) int
	Links      []string // hosts whose links stay live in replies, their subdomains too
	// Zone is the IANA name of the time zone in which times are shown where
	// that of the person who asks is not known. Default: UTC.
	Zone string

	// Placeholder is what a reply says until it is there, where the platform is
	// an [Updater], such as "…"; "" posts replies once they are whole.
	Placeholder string

	// Owner names this process among the replicas of one store; default: a
	// random name. Two processes must never have the same.
	Owner string
	// NewKey makes the opaque key of a post: unique, at most 24 letters and
	// digits. Default: random.
	NewKey func() string
	// Jitter spreads the tries of turns that wait for a platform: at least 0,
	// less than 1. Default: random. It is safe for concurrent use.
	Jitter func() float64
	// Now is the clock; default: time.Now.
	Now func() earshot.Time
	Log *slog.Logger // nil discards

	// DryRun posts nothing: what would be said is in the report, and the turn
	// is dropped.
	DryRun bool
	// Done is told of every turn that ends here. It is called by the turn's
	// goroutine; nil is fine.
	Done func(Report)
	// Fault is called at each of [FaultPoints]; nil, which is the default, does
	// nothing. [KillAt] makes one.
	Fault func(point string)
}

// An Answer says what is answered besides mentions and direct messages.
type Answer struct {
	// Roots answers every message of a person that begins a thread.
	Roots bool
	// OwnedThreads answers replies without a mention in threads that the agent
	// owns: where it was the last agent to answer, for 24 hours.
	OwnedThreads bool
	// Bots answers other bots that mention the agent.
	Bots bool
	// BotTurns is how many turns of bots there are in one conversation, or
	// with one bot in one channel, within ten minutes. Default: 3.
	BotTurns int
	// Each answers every one of several messages that wait, not the last for
	// all of them.
	Each bool
}

// Limits bound a turn. Zero fields mean the defaults.
type Limits struct {
	Fresh    time.Duration // what is older when its turn comes is not answered; default 10 min
	Post     time.Duration // how long an answer that exists waits for the platform to take it, and then as long an apology; default 15 min
	Patience time.Duration // how long a turn waits for a model that is down; default 2 min
	Generate time.Duration // of asking the model, tools included; default 120 s
	History  time.Duration // of asking the platform for history; default 3 s
	Files    time.Duration // of loading the files that a turn attaches; default 5 s
	Lease    time.Duration // how long a conversation is held; renewed at a third of it; default 7 s
	Look     time.Duration // between two looks for a post that may have arrived; default 2 s
	Poll     time.Duration // between two looks for work that nobody told of; default 1 s
	Backoff  time.Duration // before the second try; doubles up to 2 min; default 2 s
	Rounds   int           // calls of tools in a row; default 8
	Result   int           // bytes of a tool's result; default 64 KiB
	Tries    int           // of a turn, or processes that end with it and bring it no further, before it is given up; default 10
	Parallel int           // conversations at a time, those that wait for the platform not counted; default 64
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		v   *time.Duration
		def time.Duration
	}{
		{&l.Fresh, 10 * time.Minute}, {&l.Post, 15 * time.Minute}, {&l.Patience, 2 * time.Minute}, {&l.Generate, 120 * time.Second}, {&l.History, 3 * time.Second}, {&l.Files, 5 * time.Second},
		{&l.Lease, 7 * time.Second}, {&l.Look, 2 * time.Second}, {&l.Poll, time.Second}, {&l.Backoff, 2 * time.Second},
	} {
		if *d.v <= 0 {
			*d.v = d.def
		}
	}
	for _, d := range []struct {
		v   *int
		def int
	}{{&l.Rounds, 8}, {&l.Result, 64 << 10}, {&l.Tries, 10}, {&l.Parallel, 64}} {
		if *d.v <= 0 {
			*d.v = d.def
		}
	}
	return l
}

// An Event is one delivery of a platform about one message.
type Event struct {
	earshot.Event
	Channel earshot.Channel
	// Key is that of the post that our own message carries; "" when the
	// platform does not say.
	Key string
}

// An Outcome is what came of an event.
type Outcome struct {
	earshot.Accepted
	// Why says in a word why there is a turn or none: mention, direct, root,
	// owned; not-addressed, self, system, bot, bots-bounded, edit, deletion,
	// silence, other-named.
	Why string
}

// A Report tells how a turn ended.
type Report struct {
	Turn   earshot.QueuedTurn // as it is stored
	Text   string             // what was said, or with DryRun would have been
	Posts  []earshot.Post
	Result assemble.Result // the prompt; zero when there was none
	Usage  earshot.Usage
	Calls  int // of the model, by this process
	Took   time.Duration
}
