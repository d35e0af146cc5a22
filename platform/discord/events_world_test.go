package discord_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/platform/discord"
	"github.com/earshot-ai/earshot/secret"
	fake "github.com/earshot-ai/earshot/simulate/discord"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
)

// An ear is a bot with a store that listens to a fake Discord. Unless it runs, it
// opens turns and answers none.
type ear struct {
	t       *testing.T
	fake    *fake.Discord
	store   earshot.Store
	p       *discord.Platform
	bot     *bot.Bot
	options discord.Options

	mara, sam, probe string // people
	general, dm      string // channels

	mu    sync.Mutex // guards what follows
	heard []heard
	wake  chan struct{} // closed when something is heard
	lost  []time.Time
	left  []earshot.Scope
	came  []earshot.WorkspaceID
	log   strings.Builder
	fails func(bot.Event) error // what the handling of an event fails with

	stop func()
}

// A heard is an event that the platform passed on, with what came of it.
type heard struct {
	bot.Event
	bot.Outcome
}

// listen starts a fake Discord and an ear. setup is called before the ear listens.
func listen(t *testing.T, setup func(x *ear, f *fake.Options, o *discord.Options)) *ear {
	t.Helper()
	fo := fake.Options{Unlimited: true, IdentifyEvery: -1}
	x := &ear{t: t, wake: make(chan struct{})}
	var err error
	if x.store, err = store.Open(t.Context(), "memory:", nil); err != nil {
		t.Fatal(err)
	}
	x.options = discord.Options{
		Store: x.store,
		Missed: func(from, _ time.Time) {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.lost = append(x.lost, from)
			x.signal()
		},
		Left: func(_ context.Context, s earshot.Scope) error {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.left = append(x.left, s)
			x.signal()
			return nil
		},
		Joined: func(_ context.Context, w earshot.WorkspaceID) error {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.came = append(x.came, w)
			return nil
		},
		Log: slog.New(slog.NewTextHandler(x, nil)),
	}
	if setup != nil {
		setup(x, &fo, &x.options)
	}
	if x.fake, err = fake.New(&fo); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		x.close()
		if err := errors.Join(x.fake.Close(), x.store.Close()); err != nil {
			t.Error(err)
		}
	})
	x.mara = x.fake.AddUser(fake.User{Name: "mara", GlobalName: "Mara"})
	x.sam = x.fake.AddUser(fake.User{Name: "sam", GlobalName: "Samuel", Nick: "Sam"})
	x.probe = x.fake.AddUser(fake.User{Name: "probe"})
	x.general = x.fake.AddChannel(fake.Channel{Name: "general", Topic: "talk"})
	x.dm = x.fake.OpenDM(x.probe)
	x.options.APIURL, x.options.Token = x.fake.APIURL(), secret.New(x.fake.App().Token)
	return x
}

// Write takes the log.
func (x *ear) Write(b []byte) (int, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	defer x.signal()
	return x.log.Write(b)
}

// start begins to listen, and with a model to answer.
func (x *ear) start(model llm.Model, placeholder string) {
	x.t.Helper()
	var err error
	if x.p, err = discord.Open(x.t.Context(), x.options); err != nil {
		x.t.Fatal(err)
	}
	counter, err := tokens.For("o200k")
	if err != nil {
		x.t.Fatal(err)
	}
	o := bot.Options{Store: x.store, Model: model, Platform: x.p, Counter: counter, Identity: x.p.Identity(), Placeholder: placeholder, Done: func(bot.Report) {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.signal()
	}}
	if model == nil {
		o.Model = llm.Offline{}
	}
	x.bot = bot.New(o)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := x.p.Listen(ctx, x.handle); err != nil {
			x.t.Errorf("Listen: %v", err)
		}
	})
	if model != nil {
		running.Go(func() {
			if err := x.bot.Run(ctx); err != nil {
				x.t.Errorf("Run: %v", err)
			}
		})
	}
	x.stop = func() {
		cancel()
		running.Wait()
	}
	if err := x.fake.Until(x.t.Context(), func() bool { return x.fake.Connections() > 0 && x.fake.Identifies() > 0 }); err != nil {
		x.t.Fatal(err)
	}
}

// close stops listening.
func (x *ear) close() {
	if x.stop != nil {
		x.stop()
		x.stop = nil
	}
}

func (x *ear) handle(ctx context.Context, e bot.Event) (bot.Outcome, error) {
	x.mu.Lock()
	fails := x.fails
	x.mu.Unlock()
	if fails != nil {
		if err := fails(e); err != nil {
			return bot.Outcome{}, err
		}
	}
	out, err := x.bot.Handle(ctx, e)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.heard = append(x.heard, heard{e, out})
	x.signal()
	return out, err
}

// signal wakes those who wait. x.mu must be held.
func (x *ear) signal() {
	close(x.wake)
	x.wake = make(chan struct{})
}

// until waits until something is so that changes when an event is heard.
func (x *ear) until(is func() bool) {
	x.t.Helper()
	for {
		x.mu.Lock()
		ok, wake := is(), x.wake
		x.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-wake:
		case <-time.After(hang):
			x.mu.Lock()
			defer x.mu.Unlock()
			x.t.Fatalf("it does not come:\n%s", x.log.String())
		}
	}
}

// settle waits until all that happened was handled: what is said after it has come.
func (x *ear) settle() {
	x.t.Helper()
	id := earshot.MessageID(x.fake.Say(x.dm, x.probe, "probe"))
	x.until(func() bool {
		for _, h := range x.heard {
			if h.Message.ID == id {
				return true
			}
		}
		return false
	})
}

// why returns what came of the events about a message, in order.
func (x *ear) why(id string) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var list []string
	for _, h := range x.heard {
		if string(h.Message.ID) == id {
			list = append(list, h.Why)
		}
	}
	return strings.Join(list, " ")
}

// logged returns the log.
func (x *ear) logged() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.log.String()
}

func (x *ear) scope(channel string) earshot.Scope {
	return earshot.Scope{Platform: earshot.Discord, Workspace: earshot.WorkspaceID(x.fake.Guild()), Channel: earshot.ChannelID(channel)}
}

// dump prints the stored messages of the guild's channels, with names for the ids.
func (x *ear) dump(names ...string) string {
	x.t.Helper()
	known := strings.NewReplacer(append(append([]string{}, names...), x.mara, "MARA", x.sam, "SAM", x.fake.App().UserID, "BOT", x.general, "GENERAL")...)
	var b strings.Builder
	channels, err := x.store.Channels(x.t.Context())
	if err != nil {
		x.t.Fatal(err)
	}
	for _, c := range channels {
		if c.Workspace != earshot.WorkspaceID(x.fake.Guild()) {
			continue
		}
		fmt.Fprintf(&b, "%s #%s\n", c.Kind, c.Name)
		list, err := x.store.Since(x.t.Context(), c.Scope(), 0, 0)
		if err != nil {
			x.t.Fatal(err)
		}
		sortByID(list)
		for _, m := range list {
			b.WriteString("  " + known.Replace(line(m)) + "\n")
		}
		coverage, err := x.store.Coverage(x.t.Context(), c.Scope())
		if err != nil {
			x.t.Fatal(err)
		}
		for _, v := range coverage {
			fmt.Fprintf(&b, "  %s: %s\n", v.State, v.Why)
		}
	}
	return b.String()
}

// line prints a message.
func line(m earshot.Message) string {
	var b strings.Builder
	b.WriteString(string(m.ID))
	if m.Thread != "" {
		fmt.Fprintf(&b, " in %s", m.Thread)
	}
	if m.ReplyTo != "" {
		fmt.Fprintf(&b, " to %s", m.ReplyTo)
	}
	if m.Deleted {
		return b.String() + " deleted"
	}
	if m.Author.Kind != earshot.Human {
		fmt.Fprintf(&b, " (%s)", m.Author.Kind)
	}
	fmt.Fprintf(&b, " %s: %q", m.Author.Name, m.Text)
	if m.Edited != 0 {
		b.WriteString(" edited")
	}
	for _, r := range m.Reactions {
		fmt.Fprintf(&b, " %s%d", r.Name, r.Count)
	}
	for _, s := range m.Shared {
		fmt.Fprintf(&b, " [%s %q]", s.Kind, s.Text)
	}
	for _, f := range m.Files {
		fmt.Fprintf(&b, " <%s>", f.Name)
	}
	return b.String()
}

var _ io.Writer = (*ear)(nil)
