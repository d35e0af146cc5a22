package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/erasure"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/secret"
)

// SlackSpaces are the workspaces that have installed the app, each with an adapter and a
// bot of its own. The store says which there are: a workspace that is installed or
// uninstalled by way of another process begins or ends here too.
type slackSpaces struct {
	sharedParts
	keys     *secret.Keyring
	installs *slack.Installations
	door     *slack.Door
	wake     chan struct{} // the store has news

	syncing chan struct{}  // a semaphore of one, held while the spaces are made those of the store
	running sync.WaitGroup // of the spaces

	mu   sync.Mutex      // guards what follows
	life context.Context //nolint:containedctx // of Run, nil before it: a space that begins ends with it
	list map[earshot.WorkspaceID]*slackSpace
}

// Times of the workspaces that have installed the app.
const (
	lookForInstalls = 5 * time.Second // how often the store is asked at least
	spaceRetry      = time.Minute     // after which a space that has ended begins again
	scrubWait       = 10 * time.Second
)

// openSlackSpaces opens Slack for all workspaces that have installed the app, and for those
// that will.
func openSlackSpaces(ctx context.Context, s sharedParts) (platform, error) {
	c := s.options.Config
	keys, err := c.Keys.TokenKeys()
	if err != nil {
		return platform{}, err
	}
	x := &slackSpaces{
		sharedParts: s, keys: keys, installs: slack.NewInstallations(keys, s.store),
		wake: make(chan struct{}, 1), syncing: make(chan struct{}, 1), list: map[earshot.WorkspaceID]*slackSpace{},
	}
	settings := slackSettings(c)
	installer, err := slack.NewInstaller(slack.InstallerOptions{
		URL: c.Slack.Install.URL, ClientID: c.Keys.SlackClientID, ClientSecret: c.Keys.SlackClientSecret, Keys: keys, Store: s.store,
		APIURL: settings.APIURL, Installed: func(slack.Installation) { x.look() }, HTTPClient: s.options.Outside.Client, Log: s.options.Log,
	})
	if err != nil {
		return platform{}, err
	}
	x.door = slack.NewDoor(slack.DoorOptions{
		APIURL: settings.APIURL, AppToken: settings.AppToken, SigningSecrets: settings.SigningSecrets, Unknown: x.find,
		Acknowledged: s.meters.Acknowledged, Refused: s.noteRefused,
		HTTPClient: s.options.Outside.Client, Dial: s.options.Outside.Dial, Jitter: s.options.Outside.Jitter, Log: s.options.Log,
	})
	s.lists.set(x.notAllowed)
	installed, err := x.installs.List(ctx)
	if err != nil {
		if len(installed) == 0 {
			return platform{}, err
		}
		s.options.Log.Error("a workspace cannot be served", "err", err)
	}
	p := platform{
		name: earshot.Slack, identity: earshot.Identity{Name: c.Agent.Name}, location: x.where(installed),
		connection: x.connection, calls: x.calls, unread: x.unread, forget: x.forget, missed: x.missed,
		listen: c.Slack.Listen, path: slackPath, run: []func(context.Context) error{x.Run, s.summariesOfAgents("")},
	}
	if !c.Keys.SlackAppToken.Empty() {
		p.run = append(p.run, x.door.Listen)
	}
	mux := http.NewServeMux()
	taken := x.door.Handler()
	mux.Handle("POST "+slackPath, taken)
	mux.Handle("POST "+slackInteractions, taken)
	mux.Handle("GET "+slack.InstallPath, installer)
	mux.Handle("GET "+slack.RedirectPath, installer)
	probes{store: s.store, disk: s.disk, connection: x.connection, log: s.options.Log}.addTo(mux)
	p.handler = mux
	return p, nil
}

// link is where people install the app.
func (x *slackSpaces) link() string { return installLink(x.options.Config) }

func installLink(c config.Config) string {
	return strings.TrimSuffix(c.Slack.Install.URL, "/") + slack.InstallPath
}

// where says in which workspaces the bot is, for people.
func (x *slackSpaces) where(list []slack.Installation) string {
	link := x.link()
	const named = 5
	var names []string
	for _, i := range list[:min(named, len(list))] {
		names = append(names, i.Name)
	}
	switch {
	case len(list) == 0:
		return "it is in no Slack workspace yet; install the app at " + link
	case len(list) > named:
		return fmt.Sprintf("it is in %d Slack workspaces: %s and others; more install the app at %s", len(list), strings.Join(names, ", "), link)
	}
	return "it is in the Slack workspaces " + strings.Join(names, ", ") + "; more install the app at " + link
}

// look has Run look at the store soon.
func (x *slackSpaces) look() {
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// Run serves the workspaces until ctx ends, and returns once all have come to rest.
func (x *slackSpaces) Run(ctx context.Context) error {
	x.mu.Lock()
	x.life = ctx
	x.mu.Unlock()
	defer x.running.Wait()
	// What was uninstalled may be erased once every process has had time to see that.
	every := min(lookForInstalls, x.options.Confirm/4)
	for {
		if err := x.sync(ctx); err != nil && ctx.Err() == nil {
			x.options.Log.Error("the workspaces that are installed are not all served", "err", err)
		}
		if err := x.eraseEnded(ctx); err != nil && ctx.Err() == nil {
			x.options.Log.Error("a workspace that was uninstalled is not erased yet", "err", err)
		}
		if waitFor(ctx, x.wake, every) != nil {
			return nil
		}
	}
}

// find begins to serve workspaces that another process has seen installed.
func (x *slackSpaces) find(ctx context.Context, teams []earshot.WorkspaceID) error {
	for _, w := range teams {
		switch _, ok, err := x.installs.Of(ctx, w); {
		case err != nil:
			return err
		case ok:
			return x.sync(ctx)
		}
	}
	return nil
}

// sync makes the spaces those that the store says are installed.
func (x *slackSpaces) sync(ctx context.Context) error {
	select {
	case x.syncing <- struct{}{}:
		defer func() { <-x.syncing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	x.mu.Lock()
	life := x.life
	x.mu.Unlock()
	if life == nil {
		return errors.New("the bot has not begun yet")
	}
	installed, err := x.installs.List(ctx)
	if err != nil && len(installed) == 0 {
		return err // what is served goes on
	}
	for _, old := range x.spaces() {
		same := slices.ContainsFunc(installed, func(i slack.Installation) bool { return i.Workspace == old.of.Workspace && i.Same(old.of) })
		if !same || old.again.Load() {
			x.stop(ctx, old, !same)
		}
	}
	problems := []error{err}
	for _, i := range installed {
		if x.space(i.Workspace) == nil {
			problems = append(problems, x.start(life, i))
		}
	}
	return errors.Join(problems...)
}

// start begins to serve a workspace, until ctx ends.
func (x *slackSpaces) start(ctx context.Context, i slack.Installation) error {
	service, err := newSlackService(x.sharedParts, func(o slack.Options) slack.Options {
		o.BotToken, o.Workspace = i.Token, i.Workspace
		o.Rotation.RefreshToken, o.Rotation.Keys = i.Refresh, x.keys
		o.Uninstalled = func(ctx context.Context) error { return x.uninstalled(ctx, x.space(i.Workspace)) }
		return o
	})
	if err != nil {
		return fmt.Errorf("workspace %s: %w", i.Workspace, err)
	}
	ctx, stop := context.WithCancel(ctx)
	s := &slackSpace{of: i, look: x.look, service: service, stop: stop, ended: make(chan struct{})}
	s.detach = x.door.Attach(i.Workspace, service.adapter, service.events.Handle)
	x.mu.Lock()
	x.list[i.Workspace] = s
	x.mu.Unlock()
	x.running.Go(func() {
		defer close(s.ended)
		s.run(ctx)
	})
	x.options.Log.Info("a workspace is served", "workspace", i.Workspace)
	return nil
}

// stop ends the serving of a workspace, and where its installation has ended, removes what
// was kept for its tokens.
func (x *slackSpaces) stop(ctx context.Context, s *slackSpace, gone bool) {
	s.detach()
	s.stop()
	<-s.ended
	x.mu.Lock()
	delete(x.list, s.of.Workspace)
	x.mu.Unlock()
	if !gone {
		return
	}
	if err := s.service.adapter.ForgetTokens(ctx); err != nil {
		x.options.Log.Warn("what was kept for tokens that have ended stays", "workspace", s.of.Workspace, "err", err)
	}
	x.options.Log.Info("a workspace is served no more", "workspace", s.of.Workspace)
}

// uninstalled takes that the workspace of a space has removed the app.
func (x *slackSpaces) uninstalled(ctx context.Context, s *slackSpace) error {
	if s == nil {
		return nil // it is served no more
	}
	if err := s.service.adapter.ForgetTokens(ctx); err != nil {
		return err
	}
	if err := x.installs.End(ctx, s.of.Workspace, earshot.TimeOf(x.options.Outside.clock())); err != nil {
		return err
	}
	x.look()
	return nil
}

// eraseEnded erases what is stored of workspaces that were uninstalled, once no process
// serves them any more.
func (x *slackSpaces) eraseEnded(ctx context.Context) error {
	list, err := x.installs.Ended(ctx)
	if err != nil {
		return err
	}
	var problems []error
	for _, e := range list {
		if x.space(e.Workspace) != nil || x.options.Outside.clock().Sub(e.At.UTC()) < x.options.Confirm {
			continue
		}
		problems = append(problems, x.erase(ctx, e.Workspace))
	}
	return errors.Join(problems...)
}

// erase erases a workspace, or where it is to be kept, that it was uninstalled.
func (x *slackSpaces) erase(ctx context.Context, w earshot.WorkspaceID) error {
	erased := x.options.Config.Slack.Install.OnUninstall == config.LeavePurge
	if erased {
		if may, err := x.installs.BeginErasing(ctx, w); err != nil || !may {
			return err
		}
	}
	if err := slack.ForgetSelf(ctx, x.store, w); err != nil {
		return err
	}
	if erased {
		if err := x.store.EraseWorkspace(ctx, earshot.Slack, w); err != nil {
			return err
		}
		x.caches.clear()
	} else if err := x.installs.Forget(ctx, w); err != nil {
		return err
	}
	x.options.Log.Info("a workspace has removed the app: its tokens are gone", "workspace", w, "erased", erased)
	return erasure.Scrub(ctx, x.store, scrubWait)
}

// spaces returns all spaces, by workspace.
func (x *slackSpaces) spaces() []*slackSpace {
	x.mu.Lock()
	defer x.mu.Unlock()
	var out []*slackSpace
	for _, s := range x.list {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *slackSpace) int { return strings.Compare(string(a.of.Workspace), string(b.of.Workspace)) })
	return out
}

// space returns that of a workspace; nil where there is none.
func (x *slackSpaces) space(w earshot.WorkspaceID) *slackSpace {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.list[w]
}
