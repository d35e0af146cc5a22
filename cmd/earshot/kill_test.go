package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
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
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/store"
)

var (
	killCycles = flag.Int("kill.cycles", 20, "how often the kill tests kill the program")
	killSeed   = flag.Uint64("kill.seed", 0, "what the kill tests' chances come from; 0: another one each time")
)

// TestKillAtRandom kills the program at any moment, while several people talk
// to it in several conversations, each message answered by itself.
func TestKillAtRandom(t *testing.T) {
	t.Parallel()
	w := newKillWorld(t, program(t), "EARSHOT_ANSWER_EACH=true")
	for range *killCycles {
		p := w.start(t, "")
		w.talk(t, p, func() {
			time.Sleep(time.Duration(w.chance(250)) * time.Millisecond) // the moment of the kill is chance, nothing waits for it
			p.kill()
		})
		w.killed(t)
	}
	w.check(t, true)
}

// TestKillAtEveryFaultPoint lets the program kill itself at each point of a
// message's line.
func TestKillAtEveryFaultPoint(t *testing.T) {
	t.Parallel()
	binary, points := program(t), bot.FaultPoints()
	for _, each := range []bool{true, false} {
		t.Run(fmt.Sprintf("each %v", each), func(t *testing.T) {
			t.Parallel()
			w := newKillWorld(t, binary, fmt.Sprintf("EARSHOT_ANSWER_EACH=%v", each))
			for i := range max(*killCycles, len(points)) {
				point := points[i%len(points)]
				p := w.start(t, point)
				w.talk(t, p, func() {
					select {
					case <-p.gone:
					case <-time.After(20 * time.Second):
						t.Errorf("the point %s was not reached", point)
						p.kill()
					}
				})
				if code := p.cmd.ProcessState.ExitCode(); code != 137 {
					t.Fatalf("at %s the program ended with status %d: %s", point, code, p.errors())
				}
				w.killed(t)
			}
			w.check(t, each)
		})
	}
}

// killToken is what the HTTP front wants.
const killToken = "a-token-for-tests"

// A killWorld is a store, a program that is started over it again and again,
// and people who say what was not acknowledged again.
type killWorld struct {
	binary, db string
	environ    []string
	talks      []*killTalk
	kills      int

	mu   sync.Mutex // guards what follows
	rand *rand.Rand
}

// A killTalk is one person in one conversation, who says one thing after
// another.
type killTalk struct {
	channel, person string
	text            string
	root            string   // the thread, once it is known
	acknowledged    []string // ids, in order
	said            int      // with the one that is not acknowledged
}

// program builds the real program.
func program(t *testing.T) string {
	t.Helper()
	if testing.Short() || raceDetector {
		t.Skip("kills the program again and again; runs without -short and -race")
	}
	path := filepath.Join(t.TempDir(), "earshot")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v: %s", err, out)
	}
	return path
}

func newKillWorld(t *testing.T, binary string, environ ...string) *killWorld {
	t.Helper()
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-kill.seed=%d", seed)
	dir := t.TempDir()
	return &killWorld{
		binary: binary, db: filepath.Join(dir, "kill.db"), rand: rand.New(rand.NewPCG(seed, 1)),
		environ: append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "EARSHOT_LOCAL_TOKEN=" + killToken, "EARSHOT_LEASE_SECONDS=1", "EARSHOT_LOG_LEVEL=warn"}, environ...),
		talks: []*killTalk{
			{channel: "general", person: "alice", text: "@earshot are the workers running?"},
			{channel: "general", person: "bob", text: "@earshot what was said about the release?"},
			{channel: "ops", person: "carol", text: "@earshot who knows the runbook?"},
			{channel: "dm-dave", person: "dave", text: "what is new?"},
		},
	}
}

func (w *killWorld) chance(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.rand.IntN(n)
}

// A killProcess is the program while it runs.
type killProcess struct {
	cmd     *exec.Cmd
	address string
	gone    chan struct{} // closed when it has ended
	stderr  *bytes.Buffer // to be read once it has
}

func (p *killProcess) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.gone
}

func (p *killProcess) errors() string {
	<-p.gone
	return p.stderr.String()
}

// start starts the program, which kills itself at the point fault ("": never),
// and waits until it listens.
func (w *killWorld) start(t *testing.T, fault string) *killProcess {
	t.Helper()
	p := &killProcess{gone: make(chan struct{}), stderr: &bytes.Buffer{}}
	p.cmd = exec.Command(w.binary, "serve", "--platform", "local", "--listen", "127.0.0.1:0", "--json", "--db", w.db)
	p.cmd.Env = append(slices.Clone(w.environ), "EARSHOT_FAULT="+fault)
	p.cmd.Stderr = p.stderr
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
		_ = p.cmd.Wait() // that it was killed is what is tested
	}()
	t.Cleanup(p.kill)
	if failed != nil {
		t.Fatalf("the program did not say where it listens: %v: %s", failed, p.errors())
	}
	p.address = hello.Address
	return p
}

// talk lets everyone say a few things, and the end come by end.
func (w *killWorld) talk(t *testing.T, p *killProcess, end func()) {
	t.Helper()
	var people sync.WaitGroup
	for _, k := range w.talks {
		people.Go(func() {
			for range 3 {
				if err := k.sayNext(t.Context(), p); err != nil {
					var status *badStatus
					if errors.As(err, &status) {
						t.Errorf("%s: %v", k.person, err)
					}
					return // it is gone
				}
			}
		})
	}
	end()
	people.Wait()
}

// sayNext says what was not acknowledged, or something new.
func (k *killTalk) sayNext(ctx context.Context, p *killProcess) error {
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
		"as": k.person, "text": fmt.Sprintf("%s (%d)", k.text, k.said), "thread": k.root, "client": fmt.Sprintf("%s-%d", k.person, k.said),
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
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
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

// A visible message, as people see it.
type visible struct {
	ID     string    `json:"id"`
	Time   time.Time `json:"time"`
	Thread string    `json:"thread"`
	Text   string    `json:"text"`
	Author struct {
		ID string `json:"id"`
	} `json:"author"`
}

// check runs the program to the end of everything, and looks at what people
// see and at what the store says: nothing that was acknowledged is lost,
// nothing is answered twice, and the order is kept. each says that every
// question has an answer of its own.
func (w *killWorld) check(t *testing.T, each bool) {
	t.Helper()
	p := w.start(t, "")
	w.talk(t, p, func() {})
	w.settle(t, p)
	seen := map[string][]visible{}
	for _, k := range w.talks {
		var page struct {
			Messages []visible `json:"messages"`
		}
		if err := p.call(t.Context(), "GET", "/v1/channels/"+k.channel+"/messages?limit=1000", nil, &page); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(page.Messages, func(x, y visible) int { return x.Time.Compare(y.Time) })
		seen[k.channel] = page.Messages
	}
	p.kill()

	st := w.openStore(t)
	answers := map[string]string{} // the bot's message, to the question that it answers
	questions := 0
	for _, k := range w.talks {
		questions += len(k.acknowledged)
		w.checkTalk(t, k, seen[k.channel], st, each, answers)
	}
	for channel, list := range seen {
		for _, m := range list {
			if m.Author.ID == "earshot" && answers[m.ID] == "" {
				t.Errorf("in %s the bot said something that no turn knows of: %v", channel, m)
			}
		}
	}
	t.Logf("%d questions, %d answers", questions, len(answers))
}

// killsInARow is how often the program is killed before it may bring to an end
// what waits. It is less than [bot.Limits.Tries]: a turn that a process was
// killed in more often is given up, rightly, because it may be what kills.
const killsInARow = 7

// killed counts a kill, and after killsInARow of them lets the program bring
// every turn to its end.
func (w *killWorld) killed(t *testing.T) {
	t.Helper()
	if w.kills++; w.kills%killsInARow == 0 {
		p := w.start(t, "")
		w.settle(t, p)
		p.kill()
	}
}

// settle waits until no turn is unfinished.
func (w *killWorld) settle(t *testing.T, p *killProcess) {
	t.Helper()
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		out, err := exec.Command(w.binary, "turns", "--open", "--json", "--db", w.db).Output()
		if err != nil {
			t.Fatalf("earshot turns: %v", err)
		}
		if strings.TrimSpace(string(out)) == "[]" {
			return
		}
	}
	p.kill()
	t.Fatalf("turns are still unfinished after a minute: %s", p.errors())
}

func (w *killWorld) openStore(t *testing.T) bot.Store {
	t.Helper()
	st, err := store.Open(t.Context(), "sqlite:"+w.db, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st.(bot.Store)
}

// checkTalk checks one conversation.
func (w *killWorld) checkTalk(t *testing.T, k *killTalk, seen []visible, st bot.Store, each bool, answers map[string]string) {
	t.Helper()
	at := map[string]int{}
	for i, m := range seen {
		at[m.ID] = i
	}
	last := -1
	for n, id := range k.acknowledged {
		i, ok := at[id]
		if !ok {
			t.Errorf("%s was told that %s is kept, and it is lost", k.person, id)
			continue
		}
		if want := fmt.Sprintf("(%d)", n+1); !strings.HasSuffix(seen[i].Text, want) || i <= last {
			t.Errorf("%s: message %d stands at %d after %d, and says %q", k.person, n+1, i, last, seen[i].Text)
		}
		last = i
	}
	turns := w.turnsOf(t, st, k)
	if len(turns) != len(k.acknowledged) {
		t.Errorf("%s: %d turns of %d questions", k.person, len(turns), len(k.acknowledged))
	}
	before := -1
	for _, q := range turns {
		posts, err := st.Posts(t.Context(), q.ID)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case q.State == earshot.TurnDropped && !each && strings.HasPrefix(q.Why, "answered with turn"):
			if len(posts) != 0 {
				t.Errorf("turn %d was dropped and has posts: %v", q.ID, posts)
			}
			continue
		case q.State != earshot.TurnDone, len(posts) != 1, posts[0].State != earshot.PostSent:
			t.Errorf("%s: turn %d, claimed %d times, has no answer: it is %s (%s), with the posts %+v", k.person, q.ID, q.Tries, q.State, q.Why, posts)
			continue
		}
		id := string(posts[0].Message)
		i, ok := at[id]
		if !ok || answers[id] != "" {
			t.Errorf("%s: the answer %s of turn %d is not there, or answers twice", k.person, id, q.ID)
		}
		answers[id] = string(q.Anchor)
		if i <= before || i <= at[string(q.Anchor)] {
			t.Errorf("%s: the answer of turn %d stands at %d, the one before at %d, the question at %d", k.person, q.ID, i, before, at[string(q.Anchor)])
		}
		before = i
	}
}

// turnsOf returns the turns of what a person was told is kept, oldest first.
func (w *killWorld) turnsOf(t *testing.T, st bot.Store, k *killTalk) []earshot.QueuedTurn {
	t.Helper()
	var out []earshot.QueuedTurn
	q := earshot.TurnQuery{Limit: 500}
	for {
		list, err := st.QueuedTurns(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range list {
			q.Before = x.ID
			if slices.Contains(k.acknowledged, string(x.Anchor)) {
				out = append(out, x)
			}
		}
		if len(list) < q.Limit {
			break
		}
	}
	slices.Reverse(out)
	for i, x := range out {
		if i < len(k.acknowledged) && string(x.Anchor) != k.acknowledged[i] {
			t.Errorf("%s: turn %d answers %s, want %s", k.person, x.ID, x.Anchor, k.acknowledged[i])
		}
	}
	return out
}
