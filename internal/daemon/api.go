package daemon

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contexts"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/sidecar/api"
	"github.com/earshot-ai/earshot/internal/sidecar/mcp"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/internal/words"
	"github.com/earshot-ai/earshot/summarize"
	"github.com/earshot-ai/earshot/tokens"
)

// Services are what the HTTP API and the inspector work on, and the gate that knows their
// callers; nil where neither is served.
type services struct {
	sidecar *sidecar.Service
	reader  *explain.Reader
	gate    *access.Gate
}

// openServices makes them.
func (s sharedParts) openServices() (services, error) {
	o, c := s.options, s.options.Config
	if c.API.Listen == "" && c.Inspect.Listen == "" {
		return services{}, nil
	}
	gate, err := access.Open(s.store, gateOptions(o))
	if err != nil {
		return services{}, fmt.Errorf("api: %w", err)
	}
	s.caches.add(s.search.Clear)
	maker := contexts.New(s.store, s.search, contexts.Options{
		AllowChannel: gate.AllowChannel,
		Policy:       limitForSlack(c, o.Policy), Budget: c.Budget.Assemble(), Count: s.responder.counter, Instructions: c.Agent.Instructions,
		Zone: c.Context.Zone, Trust: c.Context.Trust.Rule(), Notices: words.In(c.Answer.Language, c.Answer.Words).Notices(), AllowList: s.lists.ask, Log: o.Log,
	})
	return services{
		sidecar: sidecar.New(s.store, s.search, gate, sidecar.Options{
			Maker: maker, OpenFor: time.Duration(c.API.OpenMinutes) * time.Minute, Committed: s.committed, Log: o.Log, Now: o.Outside.Now,
		}),
		reader: explain.New(s.store, s.search, explain.Options{Maker: maker, Log: o.Log, ApproveBy: c.Approve.By, Now: o.Outside.Now}),
		gate:   gate,
	}, nil
}

// shortPause is how long no sidecar may run without a gap in what it was told: who tells
// events repeats them for longer than that, and a heartbeat is older than beatEvery at
// the most.
const shortPause = 15 * time.Second

// wasAway notes for how long no process with an API ran over the store, where that was
// no short pause. Where no heartbeat tells, each channel's newest message does.
func (s sharedParts) wasAway(ctx context.Context) error {
	if s.sidecar == nil || s.options.DryRun {
		return nil
	}
	list, err := Presences(ctx, s.store)
	if err != nil {
		return err
	}
	var last earshot.Time
	for _, p := range list {
		if p.API != "" {
			last = max(last, p.Seen)
		}
	}
	now := s.sidecar.Now()
	if now-last < earshot.Time(shortPause/time.Microsecond) {
		return nil
	}
	return s.sidecar.Missed(ctx, last, now)
}

// api returns the HTTP front for bots of any make; nil where no address for it is set.
func (s sharedParts) api() http.Handler {
	o, c := s.options, s.options.Config
	if c.API.Listen == "" {
		return nil
	}
	service, reader, gate := s.sidecar, s.reader, s.gate
	answered := func(route string, status int, took time.Duration) {
		s.meters.Request(route, status, took, strings.HasSuffix(route, "/events") && strings.HasPrefix(route, "GET "))
	}
	chat := mcp.New(mcp.Options{
		Service: service, Reader: reader, Gate: gate, URL: c.API.URL, Issuer: gate.Issuer(), Version: o.Version,
		Hosts: c.API.Hosts, Origins: c.API.Origins, Log: o.Log, Answered: answered,
	})
	mux := http.NewServeMux()
	mux.Handle("/", api.New(api.Options{
		Service: service, Reader: reader, Gate: gate, Version: o.Version, URL: c.API.URL, Hosts: c.API.Hosts, Origins: c.API.Origins, Log: o.Log,
		Answered: answered,
	}))
	mux.Handle(mcp.Path, chat)
	mux.Handle(mcp.MetadataPath, chat)
	mux.Handle(mcp.MetadataPath+mcp.Path, chat)
	return mux
}

// expireEvery is how often approvals are looked at whose time is over.
const expireEvery = 5 * time.Second

// expireApprovals ends the approvals whose time is over, where the API or the page is served:
// a bot ends its own, and who asks over the API has no process here.
func (s sharedParts) expireApprovals(ctx context.Context) error {
	if s.sidecar == nil {
		<-ctx.Done()
		return nil
	}
	return runEvery(ctx, expireEvery, func(ctx context.Context) {
		if err := s.sidecar.ExpireApprovals(ctx); err != nil && ctx.Err() == nil {
			s.options.Log.Warn("end what nobody agreed to in time", "err", err)
		}
	})
}

// gateOptions returns what the gate is told by the settings.
func gateOptions(o Options) access.Options {
	a := o.Config.API
	g := access.Options{
		Rates: access.Rates{Principal: newRate(a.Rates.Caller), Channel: newRate(a.Rates.Caller)},
		Now:   o.Outside.Now, Log: o.Log,
	}
	if a.OIDC.Issuer != "" {
		g.OIDC = &access.OIDC{
			Issuer: a.OIDC.Issuer, Audience: a.OIDC.Audience,
			WorkspacesClaim: a.OIDC.WorkspacesClaim, ChannelsClaim: a.OIDC.ChannelsClaim, AllWorkspaces: a.OIDC.AllWorkspaces,
			ReadScope: a.OIDC.ReadScope, WriteScope: a.OIDC.WriteScope,
		}
	}
	return g
}

// newRate returns a rate of the settings, in which 0 is no bound. Two seconds' worth may come
// at once: a caller's rush when it starts, and still far below what a store takes.
func newRate(perSecond int) access.Rate {
	if perSecond == 0 {
		return access.Rate{PerSecond: -1}
	}
	return access.Rate{PerSecond: float64(perSecond), Burst: 2 * perSecond}
}

// counting returns what a sidecar needs to answer: it asks no model but the one that
// summarises, and so learns no factor of its counter.
func counting(_ context.Context, o Options, _ earshot.Store, _ []ModelInfo) (r responder, err error) {
	spec := o.Config.Counter
	if spec == config.CounterAuto {
		spec = "o200k"
	}
	counter, err := tokens.For(spec)
	if err != nil {
		return responder{}, fmt.Errorf("counter: %w", err)
	}
	r.counter = func() assemble.Counter { return counter }
	r.summariser, err = o.Outside.summariser(o.Config, o.Log)
	return r, err
}

// openAlone is the platform of a sidecar: there is none.
func openAlone(_ context.Context, s sharedParts) (platform, error) {
	return platform{
		connection: func() connection { return connection{known: true} },
		run:        []func(context.Context) error{s.summariesOfAgents("")},
	}, nil
}

// everything is the caller that this process is itself.
var everything = access.Principal{ID: "local:daemon", Name: "daemon", Kind: access.Local}

// enlist makes the bot's own identity an agent of the sidecar, where the API is
// served: its contexts and the bot's are then made alike.
func (s sharedParts) enlist(ctx context.Context, platform earshot.Platform, workspace earshot.WorkspaceID, who earshot.Identity) error {
	if s.sidecar == nil {
		return nil
	}
	if _, err := s.sidecar.PutAgent(ctx, everything, visible.Agent{Identity: who, Platform: platform, Workspace: workspace}); err != nil {
		return fmt.Errorf("name the bot to the API: %w", err)
	}
	return nil
}

// agentsEvery is how often the sidecar looks for agents whose conversations are to be
// summarised.
const agentsEvery = time.Minute

// summariesOfAgents returns what summarises the conversations of the sidecar's
// agents, one agent after another, but for that of the bot, which is summarised
// where its turns are. A dry run writes none.
func (s sharedParts) summariesOfAgents(but earshot.AuthorID) func(context.Context) error {
	if s.sidecar == nil || s.options.DryRun {
		return func(ctx context.Context) error { <-ctx.Done(); return nil }
	}
	return func(ctx context.Context) error {
		for {
			ended := s.ended.next()
			agents, err := s.reader.To(everything).Agents(ctx)
			if err != nil && ctx.Err() == nil {
				s.options.Log.Warn("look for agents whose conversations are to be summarised", "err", err)
			}
			for _, who := range identities(agents) {
				if who.ID != but {
					// What fails is logged, and tried again after a while.
					_ = summarize.New(s.summariesOf(who)).All(ctx)
				}
			}
			if waitFor(ctx, ended, agentsEvery) != nil {
				return nil
			}
		}
	}
}

// identities returns each agent once, with its aliases of all workspaces.
func identities(agents []visible.Agent) []earshot.Identity {
	var out []earshot.Identity
	for _, a := range agents {
		at := slices.IndexFunc(out, func(i earshot.Identity) bool { return i.ID == a.ID })
		if at < 0 {
			out = append(out, earshot.Identity{ID: a.ID, Name: a.Name, Aliases: slices.Clone(a.Aliases)})
			continue
		}
		for _, alias := range a.Aliases {
			if !slices.Contains(out[at].Aliases, alias) {
				out[at].Aliases = append(out[at].Aliases, alias)
			}
		}
	}
	return out
}
