package bot

import (
	"crypto/rand"
	"log/slog"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/tools"
)

// A Bot answers on one platform as one agent. It is safe for concurrent use.
type Bot struct {
	store    Store
	platform Platform
	identity earshot.Identity
	agent    earshot.AgentID
	limits   Limits
	now      func() earshot.Time
	log      *slog.Logger
	fault    func(point string)
	opts     Options // all of them, with their defaults

	search *search.Searcher // for recall
	index  *tools.Index     // for the tools, over the same search
	wake   chan struct{}    // holds a token when there may be work

	running runningTurns

	mu       sync.Mutex // guards channels
	channels map[earshot.Scope]earshot.Channel
}

// New returns a bot. It copies the options. It panics with the names of all required
// options that are missing, in the order of [Options].
func New(o Options) *Bot {
	if missing := o.missingOptions(); len(missing) > 0 {
		panic("bot.New: required options are missing: " + strings.Join(missing, ", "))
	}
	o = o.withDefaults()
	if _, able := o.Platform.(FileSender); !able && (o.SendFile.All || len(o.SendFile.Channels) > 0) {
		o.Log.Warn("the platform cannot send files: the model does not get the tool", "tool", SendFileTool)
	}
	return &Bot{
		store: o.Store, platform: o.Platform, identity: o.Identity, agent: earshot.AgentID(o.Identity.ID),
		limits: o.Limits, now: o.Now, log: o.Log, fault: o.Fault, opts: o,
		search: o.Search, index: tools.NewIndex(searchedStore{o.Store, o.Search}, 0),
		wake: make(chan struct{}, 1), channels: map[earshot.Scope]earshot.Channel{},
	}
}

// missingOptions names the required options that are not set.
func (o Options) missingOptions() []string {
	var names []string
	for _, required := range []struct {
		name string
		set  bool
	}{
		{"Store", o.Store != nil}, {"Model or Agent", o.Model != nil || o.Agent != nil}, {"Platform", o.Platform != nil},
		{"Identity.ID", o.Identity.ID != ""}, {"Counter or Count", o.Counter != nil || o.Count != nil},
	} {
		if !required.set {
			names = append(names, required.name)
		}
	}
	return names
}

// withDefaults returns a copy in which every option is set that has a default.
func (o Options) withDefaults() Options {
	o.Identity.Aliases, o.Links = slices.Clone(o.Identity.Aliases), slices.Clone(o.Links)
	o.Tools, o.ToolTokens = slices.Clone(o.Tools), defaulted(o.ToolTokens, DefaultToolTokens)
	o.Approve = o.Approve.withDefaults()
	o.Ask.Channels, o.SendFile.Channels = slices.Clone(o.Ask.Channels), slices.Clone(o.SendFile.Channels)
	o.Policy.First, o.Policy.Later = slices.Clone(o.Policy.First), slices.Clone(o.Policy.Later)
	o.Ambient.Channels = slices.Clone(o.Ambient.Channels)
	o.setRuled(o.ruled().withDefaults(o.Model))
	o.Limits = o.Limits.withDefaults()
	if o.Search == nil {
		o.Search = search.New(o.Store, nil)
	}
	if counter := o.Counter; o.Count == nil {
		o.Count = func() assemble.Counter { return counter }
	}
	if o.Owner == "" {
		o.Owner = rand.Text()
	}
	if o.NewKey == nil {
		o.NewKey = func() string { return rand.Text()[:24] }
	}
	if o.Jitter == nil {
		o.Jitter = mathrand.Float64
	}
	if o.Now == nil {
		now := earshot.ClockOf(o.Store, time.Now)
		o.Now = func() earshot.Time { return earshot.TimeOf(now()) }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Done == nil {
		o.Done = func(Report) {}
	}
	if o.Refused == nil {
		o.Refused = func(earshot.Refusal) {}
	}
	if o.Fault == nil {
		o.Fault = func(string) {}
	}
	return o
}

// defaulted returns n, or the default where n is not above 0.
func defaulted[T ~int | ~int64](n, standard T) T {
	if n <= 0 {
		return standard
	}
	return n
}

// ago returns how long ago a time was.
func (b *Bot) ago(at earshot.Time) time.Duration {
	return time.Duration(b.now()-at) * time.Microsecond
}
