package daemon_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/simulate"
)

// An ownAgent is an agent of somebody's own, outside of the daemon: it keeps the keys under which
// it was asked.
type ownAgent struct {
	t   *testing.T
	URL string

	mu    sync.Mutex // guards what follows
	turns []ownTurn
}

// An ownTurn is what it is sent of a turn.
type ownTurn struct {
	Key, Conversation string
	Asker             struct{ ID, Name string }
	Place             struct{ Channel, Name, Thread string }
	Messages          []struct {
		Role  string
		Parts []struct{ Type, Text, Name string }
	}
	New    int
	Answer *struct {
		Text  string
		Given bool
		State map[string]string
	}
	MCP *struct{ URL, Token string }
}

// newest is the last line of what is asked.
func (t ownTurn) newest() string {
	last := t.Messages[len(t.Messages)-1].Parts
	text := last[len(last)-1].Text
	return text[strings.LastIndexByte(strings.TrimSpace(text), '\n')+1:]
}

// startAgent serves an agent that answers by what stands in the question.
func startAgent(t *testing.T) *ownAgent {
	t.Helper()
	a := &ownAgent{t: t}
	web := httptest.NewServer(a)
	t.Cleanup(web.Close)
	a.URL = web.URL
	return a
}

func (a *ownAgent) asked() []ownTurn {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.turns)
}

func (a *ownAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var x ownTurn
	if err := json.NewDecoder(r.Body).Decode(&x); err != nil || r.Header.Get("Idempotency-Key") != x.Key || r.Header.Get("Authorization") != "Bearer the-key-of-the-agent" {
		a.t.Errorf("asked with %v: %v", r.Header, err)
	}
	a.mu.Lock()
	a.turns = append(a.turns, x)
	a.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	say := func(name string, data any) {
		line, _ := json.Marshal(data)
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, line)
		w.(http.Flusher).Flush()
	}
	text := func(s string) { say("text", map[string]string{"text": s}) }
	say("status", map[string]string{"text": "looking into it"})
	switch {
	case x.Answer != nil:
		text("Then I take " + x.Answer.Text + " (" + x.Answer.State["task"] + ").")
	case strings.Contains(x.newest(), "restart"):
		say("question", map[string]any{"question": "Which one?", "options": []string{"staging", "production"}, "state": map[string]string{"task": "t-7"}})
		return
	case strings.Contains(x.newest(), "count"):
		text("one, two, ")
		<-r.Context().Done() // it is stopped
		return
	default:
		text(fmt.Sprintf("That is turn %d.", (len(x.Messages)+1)/2))
	}
	say("usage", map[string]any{"model": "mine-1", "input": 70, "output": 5})
	say("done", struct{}{})
}

// agentSettings are the settings of a bot whose agent it is.
func (a *ownAgent) settings(more ...string) []string {
	return append([]string{"EARSHOT_AGENT_KIND=http", "EARSHOT_AGENT_URL=" + a.URL + "/turn", "EARSHOT_AGENT_KEY=the-key-of-the-agent", "EARSHOT_API=127.0.0.1:0"}, more...)
}

// A conversation with an agent of one's own: a second turn, a question back, a look further by our
// MCP endpoint, and a stop.
func TestAnAgentOfOnesOwnAnswersOnSlack(t *testing.T) {
	transports(t, func(t *testing.T, by transport) {
		a := startAgent(t)
		x := newSlackWorld(t, "", by, nil, a.settings()...)
		x.knows()
		private := x.AddChannel(simulate.Channel{Name: "private", Members: []string{x.ann, x.self}})
		x.start()
		x.Say(private, x.ann, "the password is hunter2")
		x.Say(x.general, x.bob, "the importer broke at noon")
		counts := x.Say(x.general, x.ann, x.at("count to a million"))
		growing := x.withButton(counts, "Stop")
		x.eventually("the answer grows", func() bool {
			said := x.said(counts)
			return len(said) == 1 && strings.HasPrefix(said[0], "one, two,")
		})
		x.Click(x.general, growing.TS, x.ann, "Stop")
		x.ends(earshot.TurnDropped)
		if said := x.said(counts); len(said) != 1 || !strings.HasPrefix(said[0], "one, two,") || !strings.HasSuffix(said[0], "(Stopped.)") {
			t.Errorf("said %q", said)
		}
		root := x.Say(x.general, x.ann, x.at("what broke?"))
		x.ends(earshot.TurnDone)
		x.Reply(x.general, root, x.bob, x.at("and now?"))
		x.ends(earshot.TurnDone)
		x.Reply(x.general, root, x.ann, x.at("please restart it"))
		ask := x.withButton(root, "production")
		x.Click(x.general, ask.TS, x.ann, "production")
		x.ends(earshot.TurnDone)
		x.wantSaid(root, "That is turn 1.", "That is turn 2.", "<@"+x.ann+">, Which one?\n<@"+x.ann+">: `production`", "Then I take production (t-7).")
		turns := a.asked()[1:] // without the one that was stopped
		if len(turns) != 4 {
			t.Fatalf("asked %d times", len(turns))
		}
		var keys []string
		for _, one := range turns {
			if keys = append(keys, one.Key); one.Conversation != turns[0].Conversation || one.Place.Channel != x.general || one.Place.Name != "general" {
				t.Errorf("asked %+v", one)
			}
		}
		if slices.Sort(keys); len(slices.Compact(keys)) != 4 || turns[0].Asker.Name != "Ann" || turns[1].Asker.Name != "Bob" || turns[1].New != 2 {
			t.Errorf("asked %+v", turns)
		}
		a.looksFurther(turns[1])

		list, err := x.daemon.Store.QueuedTurns(t.Context(), earshot.TurnQuery{Limit: 10})
		if err != nil || len(list) != 4 {
			t.Errorf("%d turns, %v", len(list), err)
		}
	})
}

// looksFurther reads the channel of a turn with what the agent was given, and nothing else.
func (a *ownAgent) looksFurther(x ownTurn) {
	a.t.Helper()
	if x.MCP == nil {
		a.t.Fatal("it was given no way to look further")
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil)
	s, err := c.Connect(a.t.Context(), &mcp.StreamableClientTransport{Endpoint: x.MCP.URL, HTTPClient: &http.Client{Transport: bearer(x.MCP.Token)}}, nil)
	if err != nil {
		a.t.Fatal(err)
	}
	defer s.Close()
	for word, want := range map[string]bool{"importer": true, "hunter2": false} {
		r, err := s.CallTool(a.t.Context(), &mcp.CallToolParams{Name: "channel_context", Arguments: map[string]any{"intent": word}})
		if err != nil {
			a.t.Fatal(err)
		}
		said, _ := json.Marshal(r.Content)
		if found := strings.Contains(string(said), "broke at noon") || strings.Contains(string(said), "the password is"); found != want {
			a.t.Errorf("search for %s: %s", word, said)
		}
	}
}

type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// Wherever the process is killed, the agent is asked under the same key again and never under
// another, and people see one answer.
func TestAKilledBotAsksItsAgentUnderTheSameKey(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"after_placeholder", "after_step", "after_answer", "before_post", "after_post", "after_update"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			a := startAgent(t)
			again := append([]time.Duration{0}, slices.Repeat([]time.Duration{time.Second}, 300)...)
			x := newSlackWorld(t, "", bySocket, &simulate.SlackOptions{Retries: again}, a.settings("EARSHOT_LEASE_SECONDS=4")...)
			end := killAt(t, point, x.environ)
			x.eventually("the process listens", func() bool { return x.Connections() > 0 })
			root := x.Say(x.general, x.bob, x.at("what broke?"))
			end()
			x.start()
			x.over(1)
			x.wantSaid(root, "That is turn 1.")
			turns := a.asked()
			for _, one := range turns {
				if one.Key != turns[0].Key {
					t.Errorf("asked under %s and %s", turns[0].Key, one.Key)
				}
			}
			if len(turns) == 0 || len(turns) > 2 {
				t.Errorf("asked %d times", len(turns))
			}
		})
	}
}

// The agents of the examples answer, ask back, and go on with the answer.
func TestTheAgentsOfTheExamplesAnswer(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("..", "..", "examples", "agent-http")
	for _, name := range []string{"agent.py", "agent.ts"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(source), "\n"); n > 30 {
				t.Errorf("it has %d lines", n)
			}
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			address := l.Addr().String()
			_, port, _ := net.SplitHostPort(address)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			runExample(t, filepath.Join(folder, name), port)
			x := newSlackWorld(t, "", bySocket, nil, "EARSHOT_AGENT_KIND=http", "EARSHOT_AGENT_URL=http://"+address+"/")
			x.knows()
			x.eventually("the agent listens", func() bool {
				conn, err := net.Dial("tcp", address)
				if err == nil {
					_ = conn.Close()
				}
				return err == nil
			})
			x.start()
			root := x.Say(x.general, x.ann, x.at("hi"))
			x.ends(earshot.TurnDone)
			x.Reply(x.general, root, x.ann, x.at("please deploy it"))
			ask := x.withButton(root, "staging")
			x.Click(x.general, ask.TS, x.ann, "staging")
			x.ends(earshot.TurnDone)
			x.wantSaid(root, "Hello Ann, in turn 1 of this bot.", "<@"+x.ann+">, Where to?\n<@"+x.ann+">: `staging`", "Deploying to staging.")
		})
	}
}

// runExample runs a program in Python or TypeScript with an argument until the test ends.
func runExample(t *testing.T, file, argument string) {
	t.Helper()
	lack := func(what string) {
		t.Helper()
		if os.Getenv("CI") == "true" {
			t.Fatalf("NOT TESTED: %s", what)
		}
		t.Skipf("NOT TESTED: %s", what)
	}
	program := "python3"
	if strings.HasSuffix(file, ".ts") {
		program = "node"
		modules, err := filepath.Abs(filepath.Join("..", "..", ".ci", "peers", "node_modules"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(modules, ".bin", "tsc")); err != nil {
			lack("TypeScript is not installed: run `npm ci` in .ci/peers")
		}
		out := t.TempDir()
		compile := exec.CommandContext(t.Context(), filepath.Join(modules, ".bin", "tsc"), "--strict", "--target", "es2022", "--module", "nodenext", "--types", "node",
			"--typeRoots", filepath.Join(modules, "@types"), "--outDir", out, file)
		if said, err := compile.CombinedOutput(); err != nil {
			t.Fatalf("it does not compile: %v\n%s", err, said)
		}
		file = filepath.Join(out, strings.TrimSuffix(filepath.Base(file), ".ts")+".js")
	}
	path, err := exec.LookPath(program)
	if err != nil {
		lack(program + " is not installed")
	}
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, path, file, argument)
	cmd.Stderr = t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // it was killed, and says so
	})
}

// The check looks whether something listens, and asks nothing: an agent might do something.
func TestTheCheckAsksNoAgent(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	for url, want := range map[string]string{a.URL: "the agent at agent.url listens", "http://127.0.0.1:1/": "nothing listens at agent.url"} {
		c := config.Default()
		c.Agent.Kind, c.Agent.URL = config.AgentHTTP, url
		var said []string
		daemon.CheckModels(t.Context(), daemon.Options{Config: c}, func(f daemon.Finding) { said = append(said, fmt.Sprint(f)) })
		if len(said) != 1 || !strings.Contains(said[0], want) {
			t.Errorf("%s: the check says %q", url, said)
		}
	}
	if n := len(a.asked()); n != 0 {
		t.Errorf("it was asked %d times", n)
	}
}
