package daemon

import (
	"log/slog"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/inspect"
)

// Options configure a daemon. Config is required, with Store set unless
// Options.Store is; zero values of the rest mean the defaults.
type Options struct {
	Config config.Config
	Policy assemble.Policy // default: standard
	// Store is used in place of Config.Store, and not closed.
	Store earshot.Store
	// LocalPlatform and LocalWorkspace name the stored workspace in which people write
	// without a network, where it was imported. Default: local, local.
	LocalPlatform  earshot.Platform
	LocalWorkspace earshot.WorkspaceID
	// Start is the message that the inspector's first page leads to; nil is fine.
	Start *inspect.Start
	// InspectOpen lets everybody into the inspector without a token. It is for a demo:
	// Config.Inspect.Listen must be a loopback address then.
	InspectOpen bool
	DryRun      bool             // nothing is posted
	Version     string           // of the program, for earshot status and the metrics
	Log         *slog.Logger     // nil discards
	Done        func(bot.Report) // is called for every turn that ends; nil is fine
	// Asked is called with how each model answers at the start, when it is asked once
	// for one token. The start does not wait for that. nil: none is asked.
	Asked func(ModelAsked)
	// Patience is how long Open waits for a platform that does not answer,
	// before the daemon runs without it and retries. Default: 10 s.
	Patience time.Duration
	// Confirm is how long after Slack has said that the bot was removed it is
	// asked again, before anything is erased. Default: a minute.
	Confirm time.Duration
	Outside Outside // for tests, and for a demo with a model of its own
}

func (o Options) withDefaults() Options {
	if o.Policy.Name == "" && o.Policy.First == nil {
		o.Policy = assemble.Standard()
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Done == nil {
		o.Done = func(bot.Report) {}
	}
	if o.Outside.Now == nil && o.Config.Clock != "" {
		o.Outside.Now = offBy(o.Config.Clock)
	}
	if o.Patience <= 0 {
		o.Patience = 10 * time.Second
	}
	if o.Confirm <= 0 {
		o.Confirm = time.Minute
	}
	return o
}
