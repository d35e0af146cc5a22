package daemon_test

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	_ "modernc.org/sqlite" // for the errors of SQLite itself

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/platform/local"
	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/simulate/discord"
	"github.com/earshot-ai/earshot/store"
)

// A failing store is a real one whose writes fail while an error is set. spares names
// what it goes on to write.
type failingStore struct {
	earshot.Store
	err    atomic.Pointer[error]
	spares string // the beginning of the keys of notes
}

func (s *failingStore) fail(err error) { s.err.Store(&err) }
func (s *failingStore) heal()          { s.err.Store(nil) }

func (s *failingStore) write() error {
	if err := s.err.Load(); err != nil {
		return fmt.Errorf("write: %w", *err)
	}
	return nil
}

func (s *failingStore) Accept(ctx context.Context, at earshot.Scope, e earshot.Event, ask *earshot.ConversationID) (earshot.AcceptResult, error) {
	if err := s.write(); err != nil {
		return earshot.AcceptResult{}, err
	}
	return s.Store.Accept(ctx, at, e, ask)
}

func (s *failingStore) PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors ...earshot.Author) error {
	if err := s.write(); err != nil {
		return err
	}
	return s.Store.PutAuthors(ctx, p, w, authors...)
}

func (s *failingStore) PutChannel(ctx context.Context, c earshot.Channel) error {
	if err := s.write(); err != nil {
		return err
	}
	return s.Store.PutChannel(ctx, c)
}

func (s *failingStore) PutNote(ctx context.Context, n earshot.Note) error {
	if err := s.write(); err != nil && (s.spares == "" || !strings.HasPrefix(n.Key, s.spares)) {
		return err
	}
	return s.Store.PutNote(ctx, n)
}

func (s *failingStore) AddCalls(ctx context.Context, counts ...earshot.CallCount) error {
	if err := s.write(); err != nil {
		return err
	}
	return s.Store.AddCalls(ctx, counts...)
}

// failing returns a failing store over a SQLite file.
func failing(t *testing.T) *failingStore {
	t.Helper()
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "bot.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return &failingStore{Store: st}
}

// sqliteErrors returns what SQLite itself says of a full database and of one that
// may not be written to.
func sqliteErrors(t *testing.T) map[string]error {
	t.Helper()
	out := map[string]error{}
	for name, pragma := range map[string]string{"full": "max_page_count = 2", "read-only": "query_only = 1"} {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "x.db"))
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		for _, q := range []string{"CREATE TABLE x (y)", "PRAGMA " + pragma} {
			if _, err := db.ExecContext(t.Context(), q); err != nil {
				t.Fatal(err)
			}
		}
		if _, out[name] = db.ExecContext(t.Context(), "INSERT INTO x VALUES (zeroblob(1000000))"); out[name] == nil {
			t.Fatalf("a database that is %s was written to", name)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// A store that cannot be written to ends the start with its own name: the platform
// answers, and asking it again mends nothing.
func TestAStoreThatFailsAtTheStartIsNotTakenForThePlatform(t *testing.T) {
	t.Parallel()
	for name, full := range sqliteErrors(t) {
		for _, spares := range []string{"", "health/"} { // the second fails after the start's own probe
			t.Run(fmt.Sprintf("%s, spared %q", name, spares), func(t *testing.T) {
				t.Parallel()
				x := newSlackWorld(t, "http://127.0.0.1:1", byHTTP, nil, "EARSHOT_DB=/data/bot.db")
				y := newDiscordWorld(t, "http://127.0.0.1:1", nil, "EARSHOT_DB=/data/bot.db")
				for platform, environ := range map[string][]string{"slack": x.environ, "discord": y.environ} {
					c, err := config.Load("", environ)
					if err != nil {
						t.Fatal(err)
					}
					st := failing(t)
					st.spares = spares
					st.fail(full)
					_, err = daemon.Open(t.Context(), daemon.Options{Config: c, Store: st})
					if err == nil || !strings.Contains(err.Error(), "the store sqlite:/data/bot.db") || !strings.Contains(err.Error(), full.Error()) {
						t.Errorf("%s: got %v, want what fails, and why", platform, err)
					}
				}
			})
		}
	}
}

// What the platform says at last cannot be stored: that is said of the store, and the
// bot answers once it can be written to again.
func TestAStoreThatFailsWhenThePlatformAnswersAtLastIsNotTakenForThePlatform(t *testing.T) {
	t.Parallel()
	x := newSlackWorld(t, modeltest.StartScripted(t, slackScript), byHTTP, nil, "EARSHOT_HEALTH=127.0.0.1:0")
	st, log := failing(t), &lines{}
	x.options.Store, x.options.Log = st, slog.New(slog.NewTextHandler(log, nil))
	x.options.Patience = 50 * time.Millisecond
	x.Inject(simulate.Fault{Kind: simulate.ServerError})
	x.start()
	st.fail(sqliteErrors(t)["full"])
	x.Heal()
	x.eventually("the probe names the store", func() bool {
		status, body := fetched(t, x.daemon, "/readyz")
		return status == http.StatusServiceUnavailable && strings.HasPrefix(body, "the store sqlite:"+x.db+" cannot be written to since ")
	})
	x.eventually("slack is within reach", func() bool { return strings.Contains(log.String(), "the store cannot be written to") })
	st.heal()
	x.eventually("it is ready", func() bool { status, _ := fetched(t, x.daemon, "/readyz"); return status == http.StatusOK })
	root := x.Say(x.general, x.ann, x.at("is it raining?"))
	x.ends(earshot.TurnDone)
	x.wantSaid(root, "Noted.")
}

// deafens breaks the store of a daemon that runs, has something said, and sees that it
// is told and counted, that nothing of it says that the platform is at fault, and that
// the bot comes back by itself.
func deafens(t *testing.T, x *botWorld, st interface {
	fail(error)
	heal()
}, log *lines, full error, say func(), platform string) {
	t.Helper()
	began := len(log.String()) // on a busy machine the platform may have answered late before
	st.fail(full)
	say()
	x.eventually("a refused event is counted", func() bool { return valueOf(scraped(t, x.daemon), "earshot_events_refused_total") > 0 })
	status, body := fetched(t, x.daemon, "/readyz")
	if want := "the store sqlite:" + x.db + " cannot be written to since "; status != http.StatusServiceUnavailable || !strings.HasPrefix(body, want) || !strings.Contains(body, platform+": reachable") {
		t.Errorf("readyz: %d %q, want 503, %q and that the platform is within reach", status, body, want)
	}
	if status, _ := fetched(t, x.daemon, "/healthz"); status != http.StatusOK {
		t.Errorf("healthz: %d, want 200: a restart makes no room", status)
	}
	x.eventually("the event was refused several times", func() bool { return valueOf(scraped(t, x.daemon), "earshot_events_refused_total") >= 2 })
	since := log.String()[began:]
	said := strings.Count(since, "level=ERROR") + strings.Count(since, "level=WARN")
	if said != 1 || strings.Count(since, `msg="the store cannot be written to; events are refused until it can" store=sqlite:`+x.db) != 1 {
		t.Errorf("the log has %d lines, want one, about the store: %s", said, since)
	}
	st.heal()
	x.eventually("it is ready", func() bool { status, _ := fetched(t, x.daemon, "/readyz"); return status == http.StatusOK })
	x.ends(earshot.TurnDone) // what was refused comes again, or is read from history
}

func TestOnSlackAFullDiskIsToldAndCountedAndOverByItself(t *testing.T) {
	slackOnAFullDisk(t, slices.Repeat([]time.Duration{100 * time.Millisecond}, 600), func(*slackWorld) {}) // it sends again until there is room
}

// What Slack gave up sending before there was room is read from history.
func TestWhatSlackGaveUpSendingToAFullDiskIsReadFromHistory(t *testing.T) {
	slackOnAFullDisk(t, []time.Duration{0, 50 * time.Millisecond}, (*slackWorld).settled)
}

// slackOnAFullDisk breaks the store until a question was refused and meanwhile has returned.
func slackOnAFullDisk(t *testing.T, retries []time.Duration, meanwhile func(*slackWorld)) {
	server, full := modeltest.StartScripted(t, slackScript), sqliteErrors(t)["full"]
	transports(t, func(t *testing.T, by transport) {
		o := &simulate.SlackOptions{Retries: retries}
		x := newSlackWorld(t, server, by, o, "EARSHOT_HEALTH=127.0.0.1:0")
		st, log := failing(t), &lines{}
		x.options.Store, x.options.Log = st, slog.New(slog.NewTextHandler(log, nil))
		x.start()
		x.Say(x.general, x.bob, "a channel that is known")
		x.settled()
		deafens(t, &x.botWorld, st, log, full, func() {
			x.Say(x.general, x.ann, x.at("is it raining?"))
			meanwhile(x)
		}, "slack")
	})
}

// A deafStore takes no events while an error is set, and all else.
type deafStore struct{ *failingStore }

func (s *deafStore) PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors ...earshot.Author) error {
	return s.Store.PutAuthors(ctx, p, w, authors...)
}
func (s *deafStore) PutChannel(ctx context.Context, c earshot.Channel) error {
	return s.Store.PutChannel(ctx, c)
}
func (s *deafStore) PutNote(ctx context.Context, n earshot.Note) error {
	return s.Store.PutNote(ctx, n)
}
func (s *deafStore) AddCalls(ctx context.Context, counts ...earshot.CallCount) error {
	return s.Store.AddCalls(ctx, counts...)
}

// A heldWriter is called with what is written to it before it is.
type heldWriter struct {
	*lines
	before func(line string)
}

func (w heldWriter) Write(b []byte) (int, error) {
	w.before(string(b))
	return w.lines.Write(b)
}

// The store works again between the write that failed and the count of what it
// refused: that event too is read from history.
func TestAnEventRefusedAsTheStoreWorksAgainIsReadFromHistory(t *testing.T) {
	t.Parallel()
	x := newSlackWorld(t, modeltest.StartScripted(t, slackScript), byHTTP, &simulate.SlackOptions{Retries: []time.Duration{}}, "EARSHOT_HEALTH=127.0.0.1:0")
	st := &deafStore{failing(t)}
	log := slog.New(slog.NewTextHandler(heldWriter{&lines{}, func(line string) {
		if strings.Contains(line, "the store cannot be written to") {
			st.heal()
			x.eventually("the store is known to work", func() bool { status, _ := fetched(t, x.daemon, "/readyz"); return status == http.StatusOK })
		}
	}}, nil))
	x.options.Store, x.options.Log = st, log
	x.start()
	dm := x.OpenDM(x.ann) // a mention in a channel comes twice
	x.Say(dm, x.ann, "is it raining?")
	x.ends(earshot.TurnDone)
	x.settled()
	st.fail(sqliteErrors(t)["full"])
	x.Say(dm, x.ann, "is it raining?")
	x.ends(earshot.TurnDone)
}

func TestOnDiscordAReadOnlyStoreIsToldAndCountedAndOverByItself(t *testing.T) {
	t.Parallel()
	x := newDiscordWorld(t, modeltest.StartScripted(t, discordScript()), &discord.Options{Unlimited: true}, "EARSHOT_HEALTH=127.0.0.1:0")
	st, log := failing(t), &lines{}
	x.options.Store, x.options.Log = st, slog.New(slog.NewTextHandler(log, nil))
	x.start()
	deafens(t, &x.botWorld, st, log, sqliteErrors(t)["read-only"], func() { x.Say(x.general, x.ann, x.at("is it raining?")) }, "discord")
}

// While the store fails the log has a line a minute, whatever goes on, and when it
// works again one more.
func TestAStoreThatFailsIsALineOfTheLogAMinute(t *testing.T) {
	t.Parallel()
	full := sqliteErrors(t)["full"]
	synctest.Test(t, func(t *testing.T) {
		memory, err := store.Open(t.Context(), "memory:", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer memory.Close()
		st, log := &failingStore{Store: memory}, &lines{}
		d, err := daemon.Open(t.Context(), daemon.Options{Config: config.Default(), Store: st, Log: slog.New(slog.NewTextHandler(log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- d.Run(ctx) }()
		say := func() error {
			_, err := d.Chat.Say(t.Context(), local.NewMessage{Channel: "general", As: "ann", Text: "is it raining?"})
			return err
		}
		if err := say(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		*log = lines{}
		st.fail(full)
		const minutes = 5
		for range minutes*60 - 1 {
			if say() == nil {
				t.Error("a message was taken that cannot be stored")
			}
			time.Sleep(time.Second) // of the bubble's clock
		}
		if n := strings.Count(log.String(), "\n"); n != minutes {
			t.Errorf("%d lines in %d minutes: %s", n, minutes, log)
		}
		st.heal()
		time.Sleep(10 * time.Second)
		if !strings.Contains(log.String(), `msg="the store can be written to again" store="" after=5m0s refused=299`) {
			t.Errorf("it is not said that the store works again: %s", log)
		}
		stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		_ = d.Close()
	})
}
