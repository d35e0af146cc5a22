package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pgtest"
)

func TestConnectionsThatAreCutCostAnErrorEachAtMost(t *testing.T) {
	t.Parallel()
	spec := pgtest.Spec(t)
	s, other := opened(t, pgtest.With(spec, "application_name", "cut")), opened(t, spec)
	acknowledged, failed := 0, 0
	for i := range 40 {
		if i%4 == 2 {
			exec(t, other, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cut' AND usename = current_user`)
		}
		if _, err := s.Record(t.Context(), scope, said(earshot.MessageID(fmt.Sprint("m", i)), earshot.Time(i+1), "x")); err != nil {
			failed++
		} else {
			acknowledged++
		}
	}
	if n := stored(t, other); n < acknowledged || failed > 10 {
		t.Errorf("stored %d of %d that were acknowledged; %d calls failed in 10 cuts", n, acknowledged, failed)
	}
}

// Nothing was committed by a transaction whose connection ended before COMMIT was sent, so
// that it runs again, and writes once.
func TestAConnectionThatEndsBeforeCommitIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := opened(t, pgtest.Spec(t))
	tries := 0
	check(t, s.inTx(t.Context(), "test", func(ctx context.Context, tx *tx) error {
		tries++
		tx.Write(`INSERT INTO note (key, data) VALUES ('once', '')`)
		if tries == 1 {
			tx.Write(`SELECT pg_terminate_backend(pg_backend_pid())`)
		}
		return tx.Send(ctx)
	}))
	if tries != 2 {
		t.Errorf("tried %d times", tries)
	}
}

// A server that is killed and starts again has everything that it
// acknowledged, and the store goes on by itself.
func TestAServerThatCrashesLosesNothingAndIsFoundAgain(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	s := opened(t, server.Schema(t))
	var mu sync.Mutex
	acknowledged := map[earshot.MessageID]bool{}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				id := earshot.MessageID(fmt.Sprint(w, "-", n))
				_, err := s.Record(t.Context(), scope, said(id, earshot.Time(n+1), "x"))
				mu.Lock()
				acknowledged[id] = err == nil
				mu.Unlock()
			}
		})
	}
	count := func() (n int) {
		mu.Lock()
		defer mu.Unlock()
		for _, ok := range acknowledged {
			if ok {
				n++
			}
		}
		return n
	}
	for round := range 2 {
		eventually(t, func() bool { return count() > 200*(round+1) })
		server.Kill(t)
		if _, err := s.Newest(t.Context(), scope, earshot.Whole(), earshot.Position{}, 1); err == nil {
			t.Error("a killed server answers")
		}
		server.Restart(t)
		before := count()
		eventually(t, func() bool { return count() > before })
	}
	close(stop)
	wg.Wait()
	there := map[earshot.MessageID]bool{}
	seqs := map[int64]bool{}
	for m, err := range s.Range(t.Context(), scope, earshot.Whole(), earshot.Position{}, earshot.Position{}) {
		check(t, err)
		there[m.ID], seqs[m.Seq] = true, true
	}
	for id, ok := range acknowledged {
		if ok && !there[id] {
			t.Errorf("%s was acknowledged and is lost", id)
		}
	}
	if len(seqs) != len(there) || stored(t, s) != len(there) {
		t.Errorf("%d messages have %d sequences and are counted as %d", len(there), len(seqs), stored(t, s))
	}
}

// eventually waits until ok. No speed of a machine needs the time after which it gives up.
func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(5 * time.Minute); !ok(); {
		if time.Now().After(end) {
			t.Fatal("it did not come to pass within five minutes")
		}
		select {
		case <-time.After(5 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal(t.Context().Err())
		}
	}
}

func TestReplicasShareAChannelWithoutDeadlockOrDoubleSequence(t *testing.T) {
	t.Parallel()
	spec := pgtest.Spec(t)
	const replicas, each = 3, 40
	var mu sync.Mutex
	seqs := map[string]int{}
	var wg sync.WaitGroup
	for r := range replicas {
		s := opened(t, spec)
		for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}} {
			wg.Go(func() {
				for n := range each {
					var list []earshot.Message
					for _, k := range order {
						m := said(earshot.MessageID(fmt.Sprint("m", n*3+k)), earshot.Time(n*3+k+1), fmt.Sprint("by ", r))
						m.Thread, m.Edited = earshot.MessageID(fmt.Sprint("m", k)), earshot.Time(r+1)
						list = append(list, m)
					}
					out, err := s.Record(t.Context(), scope, list...)
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					for _, o := range out {
						if o.Change == earshot.New || o.Change == earshot.Edited {
							seqs[fmt.Sprint(o.Seq)]++
						}
					}
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	for seq, n := range seqs {
		if n > 1 {
			t.Errorf("sequence %s was given %d times", seq, n)
		}
	}
	s := opened(t, spec)
	if got := stored(t, s); got != each*3 {
		t.Errorf("counted %d, want %d", got, each*3)
	}
	var rows, top, threads int
	check(t, s.pool.QueryRow(t.Context(), `SELECT messages, top, threads FROM channel`).Scan(&rows, &top, &threads))
	if rows != each*3 || top != 3 || threads != 3 {
		t.Errorf("counters are %d, %d, %d", rows, top, threads)
	}
}

func TestOneRefusedCallOfAGroupSpoilsNoOther(t *testing.T) {
	t.Parallel()
	s := opened(t, pgtest.Spec(t))
	exec(t, s, `ALTER TABLE message ADD CHECK (text <> 'refused')`)
	var wg sync.WaitGroup
	for i := range 60 {
		wg.Go(func() {
			text := "taken"
			if i%3 == 0 {
				text = "refused"
			}
			_, err := s.Record(t.Context(), scope, said(earshot.MessageID(fmt.Sprint("m", i)), earshot.Time(i+1), text))
			if (err != nil) != (text == "refused") {
				t.Errorf("%s: got %v", text, err)
			}
		})
	}
	wg.Wait()
	if got := stored(t, s); got != 40 {
		t.Errorf("stored %d, want 40", got)
	}
}

func TestACallerMayLeaveWhileTheChannelIsBusy(t *testing.T) {
	t.Parallel()
	s := opened(t, pgtest.Spec(t))
	_, err := s.Record(t.Context(), scope, said("m1", 1, "x"))
	check(t, err)
	holder, err := s.pool.Begin(t.Context())
	check(t, err)
	_, err = holder.Exec(t.Context(), `SELECT 1 FROM channel FOR UPDATE`)
	check(t, err)
	first := make(chan error)
	go func() { _, err := s.Record(context.Background(), scope, said("m2", 2, "x")); first <- err }()
	eventually(t, func() bool { // it waits for the lock
		n := 0
		check(t, s.pool.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks WHERE NOT granted`).Scan(&n))
		return n > 0
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := s.Record(ctx, scope, said("m3", 3, "x")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the deadline's", err)
	}
	check(t, holder.Rollback(t.Context()))
	check(t, <-first)
	if got := stored(t, s); got != 2 {
		t.Errorf("stored %d, want 2: whoever left in time has written nothing", got)
	}
}

func TestCommitsWaitForTheDiskWhateverTheDefaultIs(t *testing.T) {
	t.Parallel()
	s := opened(t, pgtest.With(pgtest.Spec(t), "synchronous_commit", "off"))
	var got string
	check(t, s.pool.QueryRow(t.Context(), `SHOW synchronous_commit`).Scan(&got))
	if got != "on" {
		t.Errorf("synchronous_commit is %s", got)
	}
}

func TestTheLongestIDsFitIntoEveryIndex(t *testing.T) {
	t.Parallel()
	s := opened(t, pgtest.Spec(t))
	n := byte(0)
	long := func() string { // 512 bytes that do not compress
		b := make([]byte, 512)
		x := uint32(n) + 1
		for i := range b {
			x = x*1664525 + 1013904223
			b[i] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[x>>26]
		}
		n++
		return string(b)
	}
	at := earshot.Scope{Platform: earshot.Platform(long()), Workspace: earshot.WorkspaceID(long()), Channel: earshot.ChannelID(long())}
	m := said(earshot.MessageID(long()), 1, "x")
	m.Thread, m.ReplyTo, m.Author.ID = earshot.MessageID(long()), earshot.MessageID(long()), earshot.AuthorID(long())
	_, err := s.Record(t.Context(), at, m)
	check(t, err)
	m.Edited = 5
	_, err = s.Record(t.Context(), at, m)
	check(t, err)
	m.Files = []earshot.File{{ID: earshot.ArtifactID(long())}}
	m.Edited++
	_, err = s.Record(t.Context(), at, m)
	check(t, err)
	check(t, s.PutBlob(t.Context(), at, m.ID, m.Files[0].ID, earshot.Blob{SHA256: long(), Type: long(), Name: long()}))
	check(t, s.PutCoverage(t.Context(), at, earshot.Coverage{Thread: m.Thread, State: earshot.Known}))
	id := earshot.ConversationID{Agent: earshot.AgentID(long()), Scope: at, Name: long()}
	_, _, err = s.OpenConversation(t.Context(), id, long())
	check(t, err)
	_, err = s.CommitTurn(t.Context(), id, earshot.Turn{Answer: earshot.Answer{Anchor: m.ID}, Shown: []earshot.ShownRevision{{ID: m.ID}},
		Attached: []earshot.AttachedFile{{ID: "F"}}, Names: []earshot.SessionName{{ID: earshot.AuthorID(long()), Name: long()}}, Session: make([]earshot.SessionEntry, 1), Ledger: make(earshot.Ledger, 1)})
	check(t, err)
	e := earshot.Event{Delivery: long(), Client: long(), Raw: []byte("x"), Message: said(earshot.MessageID(long()), 2, "x")}
	e.Message.Author.ID = m.Author.ID
	out, err := s.Accept(t.Context(), at, e, &id)
	check(t, err)
	l, _, err := s.Claim(t.Context(), id.Agent, long(), 1, time.Hour)
	check(t, err)
	check(t, s.Begin(t.Context(), l, out.Turn, earshot.Prompt{Hash: "h"}))
	check(t, s.PutPost(t.Context(), l, earshot.Post{Turn: out.Turn, Key: long(), State: earshot.PostSent, Message: earshot.MessageID(long())}))
}

func TestNoErrorRepeatsAPassword(t *testing.T) {
	t.Parallel()
	const secret = "hunter2%/canary"
	escaped := url.QueryEscape(secret)
	folder := t.TempDir()
	log := &strings.Builder{}
	for _, spec := range []string{
		"postgres://u:" + escaped + "@localhost:1/db",
		"postgres://u:" + escaped + "@no-such-host.invalid/db",
		"postgres://u:" + escaped + "@" + "localhost:port/db",
		"postgres://u:" + secret + "@localhost/db",
		"postgres://u:hunter2%zzcanary@localhost/db",
		"postgres://u:" + escaped + "@localhost/db?sslmode=wrong",
		"postgres://u:" + escaped + "@localhost/db?pool_max_conns=wrong",
		"postgres://u:" + escaped + "@localhost/db?connect_timeout=wrong",
		"postgres:///db?host=" + folder + "&user=u&password=" + escaped,
		"postgres:///db?host=" + folder + "&user=u&password=hunter2%zzcanary",
		"postgres://u@localhost/db?sslmode=require&sslpassword=" + escaped + "&sslcert=" + filepath.Join(folder, "none") + "&sslkey=" + filepath.Join(folder, "none"),
	} {
		_, openErr := Open(t.Context(), spec, time.Now, slog.New(slog.NewTextHandler(log, nil)))
		_, _, migrateErr := Migrate(t.Context(), spec)
		_, versionErr := Inspect(t.Context(), spec)
		for _, err := range []error{openErr, migrateErr, versionErr} {
			if err == nil {
				t.Fatalf("%s: no error", spec)
			}
			for e := err; e != nil; e = errors.Unwrap(e) {
				if text := fmt.Sprintf("%v %+v %#v", e, e, e.Error()); strings.Contains(text, "hunter2") || strings.Contains(text, "canary") {
					t.Errorf("%s: %s", spec, text)
				}
			}
		}
	}
	if log.Len() > 0 {
		t.Errorf("logged: %s", log)
	}
}

// An error of a store that works names no password either: the server's
// messages are passed on.
func TestNoErrorOfARunningStoreRepeatsAPassword(t *testing.T) {
	t.Parallel()
	spec := pgtest.Spec(t)
	u, err := url.Parse(spec)
	check(t, err)
	p := cuttable(t, u)
	q := u.Query()
	q.Del("host")
	q.Del("port")
	if q.Get("user") == "" {
		q.Set("user", u.User.Username())
	}
	q.Set("password", "hunter2canary")
	if real, ok := u.User.Password(); ok {
		q.Set("password", real)
	}
	u.User, u.Host, u.RawQuery = nil, p.listener.Addr().String(), q.Encode()
	s := opened(t, u.String())
	p.cut()
	_, err = s.Record(t.Context(), scope, said("m1", 1, "x"))
	_, err2 := s.Newest(t.Context(), scope, earshot.Whole(), earshot.Position{}, 1)
	for _, err := range []error{err, err2} {
		if err == nil || strings.Contains(fmt.Sprintf("%+v", err), q.Get("password")) {
			t.Errorf("got %v, want an error without the password", err)
		}
	}
	p.mend()
	_, err = s.Record(t.Context(), scope, said("m1", 1, "x"))
	check(t, err)
}

// A proxy stands between a store and its server, and can be cut.
type proxy struct {
	listener net.Listener
	network  string
	address  string

	mu    sync.Mutex // guards what follows
	down  bool
	conns []net.Conn
}

func cuttable(t *testing.T, u *url.URL) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	p := &proxy{listener: l, network: "tcp", address: u.Host}
	if u.Port() == "" {
		p.address = net.JoinHostPort(u.Hostname(), "5432")
	}
	if host := u.Query().Get("host"); strings.HasPrefix(host, "/") {
		p.network, p.address = "unix", filepath.Join(host, ".s.PGSQL.5432")
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial(p.network, p.address)
			if err != nil || !p.keep(in, out) {
				in.Close()
				if err == nil {
					out.Close()
				}
				continue
			}
			wg.Go(func() { io.Copy(out, in); out.Close() })
			wg.Go(func() { io.Copy(in, out); in.Close() })
		}
	})
	t.Cleanup(func() { l.Close(); p.cut(); wg.Wait() })
	return p
}

func (p *proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		return false
	}
	p.conns = append(p.conns, conns...)
	return true
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = true
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}

func (p *proxy) mend() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
}
