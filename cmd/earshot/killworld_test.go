package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

// killToken is the token of the HTTP front.
const killToken = "a-token-for-tests"

// A killWorld is a store, a program that is started over it again and again, and
// people who repeat what was not acknowledged.
type killWorld struct {
	killSetting
	binary, db string
	environ    []string
	talks      []*killConversation
	kills      int
	lease      time.Duration // of the program that is started next
	rand       *rand.Rand
}

// A killConversation is one person who says one thing after another in one
// conversation.
type killConversation struct {
	channel, person string
	text            string
	root            string   // the thread, once it is known
	acknowledged    []string // ids, in order
	said            int      // the one that is not acknowledged included
}

// hang is when a program hangs: no speed of a machine needs so long.
const hang = 5 * time.Minute

// killFolder is the folder of the built program; "" until it is built.
var killFolder string

// built is the real program, built once.
var built = sync.OnceValues(func() (path string, err error) {
	if killFolder, err = os.MkdirTemp("", "earshot-kill-"); err != nil {
		return "", err
	}
	path = filepath.Join(killFolder, "earshot")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w: %s", err, out)
	}
	return path, nil
})

// program returns the path of the real program, for tests that kill it.
func program(t *testing.T) string {
	t.Helper()
	if testing.Short() || raceDetector {
		t.Skip("kills the program again and again; runs without -short and -race")
	}
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func newKillWorld(t *testing.T, binary string, s killSetting) *killWorld {
	t.Helper()
	home := t.TempDir()
	db := filepath.Join(home, "kill.db")
	if s.spec != nil {
		db = s.spec(t)
	}
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-kill.seed=%d", seed)
	return &killWorld{
		killSetting: s, binary: binary, db: db, lease: time.Second, rand: rand.New(rand.NewPCG(seed, 1)),
		environ: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + home, "EARSHOT_LOCAL_TOKEN=" + killToken, "EARSHOT_LOG_LEVEL=warn",
			fmt.Sprintf("EARSHOT_ANSWER_EACH=%v", s.each), fmt.Sprintf("EARSHOT_LOCAL_PLACEHOLDER=%v", s.placeholder),
		},
		talks: []*killConversation{
			{channel: "general", person: "alice", text: "@earshot are the workers running?"},
			{channel: "general", person: "bob", text: "@earshot what was said about the release?"},
			{channel: "ops", person: "carol", text: "@earshot who knows the runbook?"},
			{channel: "dm-dave", person: "dave", text: "what is new?"},
		},
	}
}

// A killProcess is the program while it runs.
type killProcess struct {
	cmd     *exec.Cmd
	address string
	gone    chan struct{} // closed when it has ended

	mu     sync.Mutex // guards stderr
	stderr bytes.Buffer
}

// Write takes the program's log.
func (p *killProcess) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.Write(b)
}

func (p *killProcess) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.gone
}

func (p *killProcess) errors() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stderr.String()
}

// The leases of programs: the default, and the longest of one that is killed.
const (
	defaultLease = 7 * time.Second
	longestLease = time.Minute
)

// start starts the program, which kills itself at the point fault ("": never),
// and waits until it listens. Its lease is short, since the next program waits for
// it, but so long that the program keeps it however slow the machine is: a multiple
// of the longest start so far. A lease that runs out during a turn counts as the end
// of a process, and too many of them end the turn.
func (w *killWorld) start(t *testing.T, fault string, environ ...string) *killProcess {
	t.Helper()
	p := &killProcess{gone: make(chan struct{})}
	p.cmd = exec.Command(w.binary, "serve", "--platform", "local", "--listen", "127.0.0.1:0", "--json", "--db", w.db)
	lease := fmt.Sprintf("EARSHOT_LEASE_SECONDS=%.0f", w.lease.Seconds())
	p.cmd.Env = append(append(slices.Clone(w.environ), lease, "EARSHOT_FAULT="+fault), environ...)
	began := time.Now()
	p.cmd.Stderr = p
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var hello struct {
		Address string `json:"address"`
	}
	read := bufio.NewReader(out)
	failed := json.NewDecoder(read).Decode(&hello)
	go func() {
		defer close(p.gone)
		_, _ = io.Copy(io.Discard, read)
		_ = p.cmd.Wait() // the error says that it was killed
	}()
	t.Cleanup(p.kill)
	if failed != nil {
		t.Fatalf("the program did not say where it listens: %v: %s", failed, p.errors())
	}
	p.address = hello.Address
	w.lease = max(w.lease, min(4*time.Since(began).Round(time.Second), longestLease))
	return p
}

// perRun is how often everyone speaks while the program runs once.
const perRun = 3

// talk lets everyone say a few things. end is called with each acknowledgement and
// when everyone has finished, and stops the program.
func (w *killWorld) talk(t *testing.T, p *killProcess, end func(heard <-chan struct{})) {
	t.Helper()
	heard := make(chan struct{}, perRun*len(w.talks))
	var people sync.WaitGroup
	for _, k := range w.talks {
		people.Go(func() {
			for range perRun {
				if err := k.sayNext(t.Context(), p); err != nil {
					var status *badStatus
					if errors.As(err, &status) {
						t.Errorf("%s: %v", k.person, err)
					}
					return // the program has ended
				}
				heard <- struct{}{}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		people.Wait()
		close(heard)
	}()
	end(heard)
	<-done
}

// sayNext repeats what was not acknowledged, or says something new.
func (k *killConversation) sayNext(ctx context.Context, p *killProcess) error {
	if k.said == 0 && k.channel != "general" {
		open := map[string]string{"name": k.channel}
		if dm, ok := strings.CutPrefix(k.channel, "dm-"); ok {
			open = map[string]string{"dm": dm}
		}
		if err := p.call(ctx, "POST", "/v1/channels", open, nil); err != nil {
			return err
		}
	}
	k.said = len(k.acknowledged) + 1
	var heard struct {
		Message struct {
			ID string `json:"id"`
		} `json:"message"`
		Turn int64 `json:"turn"`
	}
	err := p.call(ctx, "POST", "/v1/channels/"+k.channel+"/messages", map[string]string{
		"as": k.person, "text": k.says(k.said), "thread": k.root, "client": fmt.Sprintf("%s-%d", k.person, k.said),
	}, &heard)
	if err != nil {
		return err
	}
	if heard.Turn == 0 {
		return &badStatus{200, "a question opened no turn"}
	}
	k.acknowledged = append(k.acknowledged, heard.Message.ID)
	if k.root == "" && !strings.HasPrefix(k.channel, "dm-") {
		k.root = heard.Message.ID
	}
	return nil
}

// says is what the person says as the nth.
func (k *killConversation) says(n int) string {
	if strings.Contains(k.text, "%d") {
		return fmt.Sprintf(k.text, n)
	}
	return fmt.Sprintf("%s (%d)", k.text, n)
}

type badStatus struct {
	status int
	body   string
}

func (e *badStatus) Error() string { return fmt.Sprintf("status %d: %s", e.status, e.body) }

func (p *killProcess) call(ctx context.Context, method, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, hang)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+p.address+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+killToken)
	r.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return &badStatus{res.StatusCode, string(text)}
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(text, out)
}

// killsInARow is how often the program is killed before it may finish all turns. It
// is less than [bot.Limits.Tries]: a turn during which processes died more often is
// given up, because it may be the cause.
const killsInARow = 7

// killed counts a kill, and after killsInARow of them lets the program finish every
// turn.
func (w *killWorld) killed(t *testing.T) {
	t.Helper()
	if w.kills++; w.kills%killsInARow == 0 {
		p := w.start(t, "")
		w.settle(t, p)
		p.kill()
	}
}

// settle waits until no turn is unfinished. It asks the store itself: a process
// of `earshot turns` each time would take longer than the turns.
func (w *killWorld) settle(t *testing.T, p *killProcess) {
	t.Helper()
	st, err := store.Open(t.Context(), w.db, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	for end := time.Now().Add(hang); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		open, err := st.QueuedTurns(t.Context(), earshot.TurnQuery{States: unfinished, Limit: 1})
		if err != nil {
			t.Fatal(err)
		}
		if len(open) == 0 {
			return
		}
	}
	p.kill()
	t.Fatalf("turns are still unfinished after %s: %s", hang, p.errors())
}
