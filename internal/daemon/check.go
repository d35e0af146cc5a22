package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/providers"
	"github.com/earshot-ai/earshot/store"
)

// Check looks at all that a bot needs as it is configured, and calls tell with each
// finding: versions, the store and its disk, retention, the models, the platform and
// the clock. It changes nothing but a note in the store that it removes again, and
// posts in the channels that are named.
func Check(ctx context.Context, o Options, channels []string, tell func(Finding)) {
	c := beginCheck(ctx, o, tell)
	c.model(ctx)
	c.embeddings(ctx)
	c.ownTools(ctx)
	c.platform(ctx, channels)
	c.clock()
}

// beginCheck looks at what is on this machine: settings, versions, the store and its disk.
func beginCheck(ctx context.Context, o Options, tell func(Finding)) *checker {
	c := &checker{options: o.withDefaults(), tell: tell}
	for _, g := range o.Config.Gone {
		c.say("settings", Poor, g, "it counts for nothing", "")
	}
	c.store(ctx)
	c.disk()
	return c
}

// CheckModels asks the models for a token each, and calls tell with each finding.
func CheckModels(ctx context.Context, o Options, tell func(Finding)) {
	(&checker{options: o.withDefaults(), tell: tell}).model(ctx)
}

// A checker is one run of Check.
type checker struct {
	options Options
	tell    func(Finding)
	times   serverTimes
}

func (c *checker) say(what string, state FindingState, found, costs, remedy string) {
	c.tell(Finding{What: what, State: state, Found: found, Costs: costs, Remedy: remedy})
}

// store looks at the versions, the store and retention. A store of an older schema is
// not opened, because that would bring it up to date.
func (c *checker) store(ctx context.Context) {
	spec := c.options.Config.Store
	name := store.RedactSpec(spec)
	program := fmt.Sprintf("earshot %s, %s, %s/%s", c.options.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	stored, known, err := store.Version(ctx, spec)
	switch {
	case err != nil:
		c.say("versions", Good, program, "", "")
		c.say("store", Bad, name+" cannot be read: "+err.Error(), "the bot does not start", "see that it is there and that this user may use it")
		return
	case stored > known:
		c.say("versions", Bad, fmt.Sprintf("%s; the schema of the store is %d, and this program knows %d", program, stored, known), "the bot does not start", "use the newer program that wrote the store")
		return
	case spec == "memory:":
		c.say("versions", Good, program, "", "")
		c.say("store", Poor, name, "all that was said is forgotten when the bot ends", "set store (EARSHOT_DB) to a file or to PostgreSQL")
		c.retention(nil, nil)
		return
	case stored == 0:
		c.say("versions", Good, fmt.Sprintf("%s; the schema is to be %d", program, known), "", "")
		c.newStore(spec, name)
		c.retention(nil, nil)
		return
	case stored < known:
		c.say("versions", Poor, fmt.Sprintf("%s; the schema of the store is %d", program, stored), fmt.Sprintf("the next start brings it to %d, and an older program does not open it then", known), "make a copy of the store before")
		c.say("store", Unknown, name+" was not written to, because that would bring its schema up to date", "", "")
		return
	}
	st, err := store.Open(ctx, spec, nil)
	if err != nil {
		c.say("store", Bad, err.Error(), "the bot does not start", "")
		return
	}
	defer st.Close()
	c.versions(ctx, st, fmt.Sprintf("%s; the schema of the store is %d", program, stored))
	began := time.Now()
	if err := newStoreWatch(c.options, st).begin(ctx); err != nil {
		c.say("store", Bad, err.Error(), "nothing can be kept, so every event is refused, and the bot does not start", "")
	} else {
		c.say("store", Good, fmt.Sprintf("%s can be read and written to; 256 KiB took %s", name, time.Since(began).Round(time.Millisecond)), "", "")
	}
	channels, err := st.Channels(ctx)
	if err != nil {
		c.say("retention", Bad, err.Error(), "", "")
		return
	}
	was, err := RulesOf(ctx, st)
	if err != nil {
		c.say("retention", Bad, err.Error(), "", "")
		return
	}
	c.retention(channels, was)
}

// newStore looks whether a store that is not there yet can be made.
func (c *checker) newStore(spec, name string) {
	path, file := store.File(spec)
	if !file {
		c.say("store", Good, name+" is empty; the first start makes its tables", "", "")
		return
	}
	f, err := os.CreateTemp(nearestFolder(filepath.Dir(path)), ".earshot-check-")
	if err == nil {
		err = errors.Join(f.Close(), os.Remove(f.Name()))
	}
	if err != nil {
		c.say("store", Bad, fmt.Sprintf("%s is not there, and cannot be made: %v", name, err), "the bot does not start", "give this user the right to write to the folder, or choose another path")
		return
	}
	c.say("store", Good, name+" is not there yet; the first start makes it", "", "")
}

// nearestFolder returns the nearest folder above a path that is there, or the path.
func nearestFolder(folder string) string {
	for {
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) || filepath.Dir(folder) == folder {
			return folder
		}
		folder = filepath.Dir(folder)
	}
}

// versions compares this program with those that run over the store.
func (c *checker) versions(ctx context.Context, st earshot.Notes, program string) {
	list, err := Presences(ctx, st)
	now := earshot.TimeOf(earshot.ClockOf(st, time.Now)())
	var others []string
	for _, p := range list {
		if p.Running(now) && p.Version != c.options.Version && !slices.Contains(others, p.Version) {
			others = append(others, p.Version)
		}
	}
	switch {
	case err != nil:
		c.say("versions", Bad, program+"; "+err.Error(), "", "")
	case len(others) > 0:
		c.say("versions", Poor, program+"; over the store runs "+strings.Join(others, " and "), "processes of different versions may answer differently", "run one version everywhere")
	default:
		c.say("versions", Good, program, "", "")
	}
}

// Room that a disk should have.
const (
	leastRoom  = 64 << 20
	enoughRoom = 1 << 30
)

// disk looks at the room for the store's file.
func (c *checker) disk() {
	spec := c.options.Config.Store
	path, file := store.File(spec)
	if !file {
		if spec != "memory:" {
			c.say("disk", Unknown, "it is the database server's and cannot be seen from here", "", "watch the server's own disk")
		}
		return
	}
	free, known := freeBytes(nearestFolder(filepath.Dir(path)))
	if !known {
		c.say("disk", Unknown, "how much room there is cannot be seen on this system", "", "")
		return
	}
	var size int64
	if info, err := os.Stat(path); err == nil {
		size = info.Size()
	}
	found := fmt.Sprintf("%s free, the store has %s", formatMegabytes(free), formatMegabytes(size))
	switch {
	case free < leastRoom:
		c.say("disk", Bad, found, "the disk is full soon: then every event is refused", "make room")
	case free < max(enoughRoom, 2*size):
		c.say("disk", Poor, found, "an upgrade of the schema needs twice the size of the store, and messages add up", "make room")
	default:
		c.say("disk", Good, found, "", "")
	}
}

func formatMegabytes(n int64) string {
	if n >= 10<<30 {
		return fmt.Sprintf("%d GB", n>>30)
	}
	return fmt.Sprintf("%d MB", (n+1<<20-1)>>20)
}

// retention says what is kept, and what a start with these rules erases.
func (c *checker) retention(channels []earshot.ChannelInfo, was *Rules) {
	rules := c.options.Config.Retention
	if was == nil {
		was = &Rules{}
	}
	gone := 0
	for _, ch := range channels {
		if rules.Of(ch.Scope()).None && !was.Retention.Of(ch.Scope()).None {
			gone++
		}
	}
	if found := "messages are kept " + formatRetention(rules); gone > 0 {
		c.say("retention", Poor, found, fmt.Sprintf("the next start erases what is stored of %d channels", gone), "export them before, if that is not meant (earshot export)")
	} else {
		c.say("retention", Good, found, "", "")
	}
}

// model asks the models.
func (c *checker) model(ctx context.Context) {
	if err := CheckModel(c.options.Config); err != nil {
		what, remedy, _ := strings.Cut(err.Error(), "; ")
		c.say("model", Bad, what, "the bot does not start", remedy)
		return
	}
	askModels(ctx, c.options.Config, c.times.client(nil), func(a ModelAsked) {
		name := fmt.Sprintf("%s of %s (%s)", a.Name, a.Provider, a.Why)
		if a.IsAgent() {
			name = strings.TrimSuffix(a.String()+" ("+a.Why+")", " (agent.kind)")
		}
		switch {
		case a.Err != nil && a.Why == Models(c.options.Config)[0].Why:
			c.say("model", Bad, name+" does not answer: "+a.Err.Error(), "no question is answered", a.Remedy())
		case a.Err != nil:
			c.say("model", Poor, name+" does not answer: "+a.Err.Error(), "it is not there when it is needed", a.Remedy())
		case a.Provider == providers.Offline:
			c.say("model", Poor, name+", which is built in", "answers are made without a model: they repeat what was said", "set the key of a provider")
		default:
			c.say("model", Good, fmt.Sprintf("%s, in %s", strings.Replace(a.Says(), a.String(), name, 1), a.Took.Round(time.Millisecond)), "", "")
		}
	})
}

// platform looks at the platform.
func (c *checker) platform(ctx context.Context, channels []string) {
	o := c.options
	o.Outside.Client = c.times.client(o.Outside.Client)
	check := kindOf(o.Config).check
	if check == nil {
		c.say("platform", Good, "local: it needs no network", "", "")
		return
	}
	if err := check(ctx, o, channels, c.tell); err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			c.say("platform", Bad, line, "the bot does not start", "")
		}
		return
	}
	if ignored := IgnoredSettings(o.Config, ""); ignored != "" {
		found, remedy, _ := strings.Cut(ignored, "; ")
		c.say("agent", Poor, found, "", remedy)
	}
}

// How far the clock may be off. Slack's signatures are valid for five minutes; ages of
// messages and leases are compared with other machines' times.
const (
	mostOff = 4 * time.Minute
	muchOff = 10 * time.Second
)

// clock compares the clock with what the servers said that were asked before.
func (c *checker) clock() {
	off, ok := c.times.clockOffset()
	found := fmt.Sprintf("it differs by %s from that of the servers that were asked", off.Round(time.Second))
	switch {
	case !ok:
		c.say("clock", Unknown, "no server was asked that tells the time", "", "")
	case off > mostOff:
		c.say("clock", Bad, found, "requests that Slack has signed are refused, and questions count as old or as not asked yet", "set the clock (NTP)")
	case off > muchOff:
		c.say("clock", Poor, found, "what was said shortly before may count as old", "set the clock (NTP)")
	default:
		c.say("clock", Good, found, "", "")
	}
}

// serverTimes remembers what servers say about the time. It is safe for concurrent use.
type serverTimes struct {
	mu   sync.Mutex // guards what follows
	told bool
	best time.Duration // the smallest difference: what is above it was on the way
}

// client returns a client whose answers tell the time; base may be nil.
func (t *serverTimes) client(base *http.Client) *http.Client {
	c := http.Client{Timeout: askPatience}
	if base != nil {
		c = *base
	}
	next := c.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	c.Transport = dateTransport{next, t}
	return &c
}

// clockOffset returns by how much the clock differs; ok is false where nobody told the time.
func (t *serverTimes) clockOffset() (d time.Duration, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.best, t.told
}

// A dateTransport reads the date of answers.
type dateTransport struct {
	http.RoundTripper
	times *serverTimes
}

// RoundTrip implements [http.RoundTripper].
func (w dateTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	began := time.Now()
	a, err := w.RoundTripper.RoundTrip(r)
	if err != nil {
		return a, err
	}
	if at, err := http.ParseTime(a.Header.Get("Date")); err == nil {
		// The date is in whole seconds, and of a moment during the call.
		off := max(began.Sub(at.Add(time.Second)), time.Until(at), 0)
		w.times.mu.Lock()
		if !w.times.told || off < w.times.best {
			w.times.told, w.times.best = true, off
		}
		w.times.mu.Unlock()
	}
	return a, err
}
