package bot

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// A Store is where a bot keeps everything.
type Store = earshot.Store

// Options are what a bot is made of. Store, Model or Agent, Platform, Identity.ID and
// Counter, or Count in its place, are required; zero values of the rest mean the
// defaults.
type Options struct {
	Store Store
	Model llm.Model
	// Agent answers in Model's place: it is told whose question it is ([llm.Request].Turn),
	// gets no tools, and may ask the person who is answered. Package agent has some.
	Agent     llm.Model
	agentName string // see [ChannelOptions]
	// Access gives an agent a way to look further in the channel up to a position; nil: it
	// has none.
	Access   func(ctx context.Context, of earshot.ConversationID, at earshot.Position) (*llm.Access, error)
	Platform Platform
	Identity earshot.Identity
	Counter  assemble.Counter // of every prompt
	// Count returns the counter of the turn that begins. Default: always Counter.
	// It is safe for concurrent use.
	Count func() assemble.Counter

	Policy       assemble.Policy   // default: standard
	Budget       assemble.Budget   // default: [assemble.DefaultBudget]
	Instructions string            // the operator's own system text
	MaxTokens    int               // of one answer; default: [llm.DefaultMaxTokens]
	NoTools      bool              // the model gets no tools, neither of the channel nor of Tools
	Tools        []toolbox.Toolbox // tools of one's own, beside those of the channel
	// ToolTokens is how many tokens the descriptions of Tools may have; above that the
	// model searches them. Default: [DefaultToolTokens].
	ToolTokens int
	Approve    Approve  // who agrees to calls of Tools that need a person's yes
	Ask        Ask      // where the model may ask who asked it
	SendFile   SendFile // where the model may send files
	Answer     Answer
	Limits     Limits
	Day        DayLimits // of what models use
	Spending   Spending  // what they cost
	Files      Files     // loads what people share; nil: nothing is attached
	// Search finds what the section recall and the tools show. It is over Store.
	// Default: one of the bot's own.
	Search *search.Searcher
	// FileTokens returns what the model is charged for a file, by its provider's
	// formula; 0 where that is unknown. Texts are counted as prompts are.
	FileTokens func(llm.Media) int
	Links      []string // hosts whose links stay clickable in replies, with their subdomains
	// Ambient says where the agent reads along.
	Ambient Ambient
	// MayMention says whom a reply may mention. Default: [MentionAsker].
	MayMention MayMention
	// Trust says whose words the model is shown, and how; AllowList tells whom the list of
	// who is answered does not name, and is asked where Trust has a lane for them.
	Trust     earshot.Trust
	AllowList earshot.AllowList
	// Rules returns what holds in a channel, given what holds in all; nil: the same everywhere.
	// It is asked for each event and once for each turn, with what is known of the channel,
	// must not block, and is safe for concurrent use. It changes nothing that all refers to.
	Rules  func(c earshot.Channel, all ChannelOptions) ChannelOptions
	mayAsk []string // see [ChannelOptions]

	// Language is that of the bot's own sentences: en, de, es, fr, ja or pt. Default: en.
	// Words are sentences in its operator's own words, by the keys of docs/language.md.
	Language string
	Words    map[string]string

	// Zone is the IANA name of the time zone in which times are shown to somebody
	// whose own is unknown. Default: UTC.
	Zone string

	// Placeholder is what a reply says until there is an answer, such as "…", where
	// the platform is an [Updater]. "" posts replies once they are whole.
	Placeholder string

	// Owner names this process among the replicas of one store; default: a random
	// name. Two processes must never have the same.
	Owner string
	// NewKey makes the opaque key of a post: unique, at most 24 letters and digits.
	// Default: random.
	NewKey func() string
	// Jitter spreads the tries of turns that wait for a platform: at least 0, less
	// than 1. Default: random. It is safe for concurrent use.
	Jitter func() float64
	// Now is the clock; default: the store's ([earshot.Clock]), or time.Now.
	Now func() earshot.Time
	Log *slog.Logger // nil discards

	// NoAwayNotice tells nobody that their question was too old when its turn came.
	NoAwayNotice bool
	// DryRun posts nothing: what would be said is in the report, and the turn is
	// dropped.
	DryRun bool
	// Done is called with every turn that ends here, by the turn's goroutine; nil is
	// fine.
	Done func(Report)
	// Trace is called when a part of the work on a turn begins. The part is done under
	// the context that it returns, and what it returns besides is called at the part's
	// end, with its error. It is safe for concurrent use; nil is fine.
	Trace func(ctx context.Context, p Part) (context.Context, func(error))
	// Fault is called at each of [FaultPoints], for tests; nil does nothing. [KillAt]
	// makes one.
	Fault func(point string)
	// Refused is called once for each message that names the agent and opens no turn; nil
	// is fine.
	Refused func(why earshot.Refusal)
}

// ChannelOptions are the options that may differ between channels: but for MayAsk they are
// those of [Options], with the same defaults.
//
// A turn keeps those that held when it began. Where the policy's name or the instructions are
// others than the session's, an epoch begins.
type ChannelOptions struct {
	Policy       assemble.Policy
	Budget       assemble.Budget
	Instructions string
	Answer       Answer
	Ambient      Ambient
	Ask          Ask
	SendFile     SendFile
	Day          DayLimits
	Links        []string
	MayMention   MayMention
	// MayAsk are the ids of those who may ask: people, and where the platform is a
	// [GroupReader] user groups or roles. None: everybody. Others are refused
	// ([earshot.RefusedAuthor]).
	MayAsk []string
	// AgentName tells agents apart: a conversation that another one answered begins an epoch.
	Model     llm.Model
	Agent     llm.Model
	AgentName string
	Language  string
	Words     map[string]string
}

// A MayMention says whom a reply may mention, by <@id> or by @ and a name. Everybody else
// is a name there; groups and everybody at once are never mentioned.
type MayMention string

// The values of MayMention.
const (
	MentionAsker   MayMention = "asker"   // the person who is answered
	MentionThread  MayMention = "thread"  // and who wrote in the thread, or what the question replies to
	MentionChannel MayMention = "channel" // and who wrote what the model was shown
)

// An Answer says what is answered besides mentions and direct messages.
type Answer struct {
	// Roots answers every message of a person that begins a thread.
	Roots bool
	// OwnedThreads answers replies without a mention in conversations that the agent
	// owns: where it was the last agent to answer, for 24 hours. Who names somebody
	// else, or replies to them by reference, is not answered.
	OwnedThreads bool
	// Bots answers other bots that mention the agent.
	Bots bool
	// BotTurns is how many turns bots may have within BotWindow, in one
	// conversation and with one bot in one channel. Default: 3.
	BotTurns int
	// BotWindow is over how long turns of bots and of forms are counted. Default: ten
	// minutes.
	BotWindow time.Duration
	// NoForms does not answer forms that mention the agent: what a person filled into a
	// workflow's form, and a program posted ([earshot.Event].Form).
	NoForms bool
	// FormTurns is how many turns one form may have within BotWindow in one channel.
	// Default: 20.
	FormTurns int
	// EditWindow is for how long after a message was posted an edit that adds a mention
	// asks. Default: five minutes; below 0 none does.
	EditWindow time.Duration
	// Each answers every one of several waiting messages, instead of the last for all
	// of them.
	Each bool
	// PreviewWait is how long after it was said a question with a link waits for the
	// link's preview. Default: 0, it does not wait.
	PreviewWait time.Duration
	// Place says where a message at a channel's top level is answered.
	Place AnswerPlace
	// Feedback asks below each answer what people think of it, where the platform is a
	// [Chooser].
	Feedback bool
	// Cite lets the model cite messages that it was shown: its reply has their
	// permalinks, where the platform is a [Linker].
	Cite bool
}

// An Ambient says where the agent reads along: a model is asked there about messages that
// people address to nobody, and decides whether to say something. The zero Ambient is
// nowhere. An error, or a doubt, is silence.
type Ambient struct {
	Channels []earshot.ChannelID
	// Speak lets it answer in words; else it may only give emoji ([Reactor]).
	Speak bool
	// Hourly is how many answers and emoji it gives within an hour in one channel.
	// Default: 3. The model is asked [AsksPerAnswer] times as often at most.
	Hourly int
	// Model decides. Default: [Options].Model, which also answers.
	Model llm.Model
}

// AsksPerAnswer is how often the model that decides is asked within an hour, for each of
// [Ambient].Hourly: it bounds what a busy channel costs.
const AsksPerAnswer = 10

// in reports whether the agent reads along in a channel.
func (a Ambient) in(c earshot.ChannelID) bool { return slices.Contains(a.Channels, c) }

// Limits bound a turn. Zero fields mean the defaults.
type Limits struct {
	Fresh    time.Duration // a message that is older when its turn comes is not answered; default 10 min
	Post     time.Duration // how long an answer waits for the platform to take it, and then as long an apology; default 15 min
	Patience time.Duration // how long a turn waits for a model that cannot be reached; default 2 min
	Generate time.Duration // of asking the model, tools included; default 120 s
	History  time.Duration // of asking the platform for history; default 3 s
	Call     time.Duration // of one call of a tool of one's own; default 60 s
	Files    time.Duration // of loading the files that a turn attaches; default 5 s
	Lease    time.Duration // how long a conversation is leased; renewed at a third of it; default 7 s
	Look     time.Duration // between two looks for a post that may have arrived; default 2 s
	Poll     time.Duration // between two looks for work of other processes; default 1 s
	Backoff  time.Duration // before the second try; doubles up to 2 min; default 2 s
	Rounds   int           // calls of tools in a row; default 8
	Result   int           // bytes of a tool's result; default 64 KiB
	Tries    int           // how often a turn is tried, crashes included, before it is given up; default 10
	Parallel int           // conversations at a time, those that wait for the platform not counted; default 64
}

func (l Limits) withDefaults() Limits {
	for _, d := range []struct {
		limit    *time.Duration
		standard time.Duration
	}{
		{&l.Fresh, 10 * time.Minute}, {&l.Post, 15 * time.Minute}, {&l.Patience, 2 * time.Minute}, {&l.Generate, 120 * time.Second}, {&l.History, 3 * time.Second}, {&l.Call, time.Minute}, {&l.Files, 5 * time.Second},
		{&l.Lease, 7 * time.Second}, {&l.Look, 2 * time.Second}, {&l.Poll, time.Second}, {&l.Backoff, 2 * time.Second},
	} {
		if *d.limit <= 0 {
			*d.limit = d.standard
		}
	}
	for _, d := range []struct {
		limit    *int
		standard int
	}{{&l.Rounds, 8}, {&l.Result, 64 << 10}, {&l.Tries, 10}, {&l.Parallel, 64}} {
		if *d.limit <= 0 {
			*d.limit = d.standard
		}
	}
	return l
}
