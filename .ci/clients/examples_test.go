package main

import (
	"context"
	"encoding/json"
	"fmt"
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

	"github.com/earshot-ai/earshot/simulate"
)

// A model is a scripted model behind an OpenAI-compatible API. It answers "answer 1",
// "answer 2" and so on, and remembers what it was asked.
type model struct {
	url   string
	mu    sync.Mutex // guards asked
	asked []string   // the prompts: all texts of a request
}

func newModel(t *testing.T) *model {
	t.Helper()
	m := &model{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/chat/completions" || len(in.Messages) == 0 {
			http.Error(w, "no chat", http.StatusBadRequest)
			return
		}
		var prompt strings.Builder
		for _, x := range in.Messages {
			fmt.Fprintf(&prompt, "<%s>\n%s\n", x.Role, x.Content)
		}
		m.mu.Lock()
		m.asked = append(m.asked, prompt.String())
		n := len(m.asked)
		m.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":"answer %d"}}]}`, n)
	}))
	t.Cleanup(srv.Close)
	m.url = srv.URL
	return m
}

func (m *model) prompts() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.asked...)
}

// An example is a bot in two versions, before Earshot and after.
type example struct {
	folder string
	before string
	after  string
	bySock bool                                                 // events go by Socket Mode
	start  func(t *testing.T, file string, env []string) string // returns the URL for events, "" by Socket Mode
}

func examples() map[string]example {
	return map[string]example{
		"Bolt-JS": {"bolt-js", "before.js", "after.js", true, startBolt},
		"Python":  {"python-bot", "before.py", "after.py", false, startPython},
	}
}

func startBolt(t *testing.T, file string, env []string) string {
	t.Helper()
	node := newNode(t)
	bolt := peer(t, "@slack", "bolt")
	dir := t.TempDir()
	copyFile(t, file, filepath.Join(dir, filepath.Base(file)))
	write(t, filepath.Join(dir, "package.json"), `{"type":"module"}`)
	if err := os.MkdirAll(filepath.Join(dir, "node_modules", "@slack"), 0o755); err != nil { //nolint:gosec // of the test
		t.Fatal(err)
	}
	if err := os.Symlink(bolt, filepath.Join(dir, "node_modules", "@slack", "bolt")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(typescriptClient(t), filepath.Join(dir, "node_modules", "earshot")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, filepath.Base(file)) //nolint:gosec // the example
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	start(t, cmd).waitFor(t, "the bot is listening")
	return ""
}

func startPython(t *testing.T, file string, env []string) string {
	t.Helper()
	cmd := exec.Command(program(t, "python3"), file) //nolint:gosec // the example
	cmd.Env = append(append(os.Environ(), env...), "PORT=0", pythonPath(t), "PYTHONDONTWRITEBYTECODE=1")
	line := start(t, cmd).waitFor(t, "the bot is listening on port")
	return "http://127.0.0.1:" + line[strings.LastIndex(line, " ")+1:]
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(from) //nolint:gosec // an example
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, to, string(raw))
}

// A scene is a channel with two people and a bot.
type scene struct {
	slack       *simulate.Slack
	model       *model
	general     string
	mara, jonas string
	bot         string
}

// play starts a fake Slack, a model and the bot that a file is.
func play(t *testing.T, e example, file string, env ...string) *scene {
	t.Helper()
	slack, err := simulate.NewSlack(&simulate.SlackOptions{SocketMode: e.bySock, Tier: simulate.TierUnlimited})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = slack.Close() })
	s := &scene{slack: slack, model: newModel(t), bot: slack.App().UserID}
	s.mara = slack.AddUser(simulate.User{Name: "mara"})
	s.jonas = slack.AddUser(simulate.User{Name: "jonas"})
	s.general = slack.AddChannel(simulate.Channel{Name: "general", Members: []string{s.mara, s.jonas, s.bot}})
	app := slack.App()
	env = append(env, "SLACK_API_URL="+slack.URL()+"/api/", "SLACK_BOT_TOKEN="+app.BotToken, "SLACK_APP_TOKEN="+app.AppToken,
		"SLACK_SIGNING_SECRET="+app.SigningSecret, "MODEL_URL="+s.model.url, "MODEL_KEY=none", "OPENAI_BASE_URL="+s.model.url)
	if at := e.start(t, filepath.Join(module, "examples", e.folder, file), env); at != "" {
		if err := slack.Subscribe(t.Context(), at); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestTheBotsBeforeEarshotAnswer shows that the bots work as they are, and what
// they lack.
func TestTheBotsBeforeEarshotAnswer(t *testing.T) {
	t.Parallel()
	for name, e := range examples() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := play(t, e, e.before)
			root := s.say(t, s.mara, "the deploy of import-2 hangs at 40 %", "")
			s.say(t, s.jonas, "<@"+s.bot+"> what hangs?", root)
			s.answered(t, root, 1)
			if p := s.model.prompts()[0]; strings.Contains(p, "40 %") {
				t.Errorf("the bot knows of the thread, which it should not yet:\n%s", p)
			}
		})
	}
}

// TestTheBotsWithEarshotKnowWhatWasSaid plays the same in every example: a question
// in a thread, talk in the thread and beside it, and a second question.
func TestTheBotsWithEarshotKnowWhatWasSaid(t *testing.T) {
	t.Parallel()
	for name, e := range examples() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			car := newSidecar(t)
			s := play(t, e, e.after, "EARSHOT_URL="+car.url, "EARSHOT_KEY="+car.key(t, "--name", name, "--workspace", "T0SIMULATE"))
			said := []string{"the deploy of import-2 hangs at 40 %", "what hangs there?", "it goes on since runner 3 was restarted", "lunch is at noon", "and where is it now?"}
			root := s.say(t, s.mara, said[0], "")
			s.say(t, s.jonas, "<@"+s.bot+"> "+said[1], root)
			s.answered(t, root, 1)
			s.committed(t, car, 1)
			s.say(t, s.mara, said[2], root)
			s.say(t, s.mara, said[3], "")
			s.say(t, s.jonas, "<@"+s.bot+"> "+said[4], root)
			s.answered(t, root, 2)
			s.committed(t, car, 2)

			prompts := s.model.prompts()
			if len(prompts) != 2 {
				t.Fatalf("the model was asked %d times, want twice", len(prompts))
			}
			for i, known := range [][]string{said[:2], append(said[:5:5], "answer 1")} {
				for _, text := range known {
					if n := strings.Count(prompts[i], text); n != 1 {
						t.Errorf("prompt %d has %q %d times, want once:\n%s", i+1, text, n, prompts[i])
					}
				}
			}
			if !strings.Contains(prompts[0], "mara: "+said[0]) || !strings.Contains(prompts[1], "jonas: @earshot "+said[4]) {
				t.Errorf("the prompts do not say who said it:\n%s", prompts[1])
			}
			if !strings.HasPrefix(prompts[1], strings.TrimSuffix(prompts[0], "\n")) {
				t.Errorf("the second prompt does not begin with the first:\n%s\n%s", prompts[0], prompts[1])
			}
			if got, want := s.replies(root), []string{"answer 1", "answer 2"}; !slices.Equal(got, want) {
				t.Errorf("the thread has the answers %q, want %q", got, want)
			}
			if lost := s.slack.Undelivered(); len(lost) > 0 {
				t.Errorf("events were not taken: %v", lost)
			}
		})
	}
}

// committed waits until the sidecar has n committed turns.
func (s *scene) committed(t *testing.T, car *sidecar, n int) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		out, err := exec.Command(car.bin, "--json", "turns", "--db", car.db).Output() //nolint:gosec // the program under test
		if err == nil && strings.Count(string(out), `"done"`) >= n {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("there are no %d committed turns: %v\n%s", n, err, out)
		}
	}
}

// say posts a message, and waits until the bot has acknowledged its events.
func (s *scene) say(t *testing.T, user, text, thread string) string {
	t.Helper()
	ts := s.slack.Post(simulate.PostedMessage{Channel: s.general, User: user, Text: text, Thread: thread})
	if err := s.slack.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	return ts
}

// answered waits until the bot has posted n answers in a thread.
func (s *scene) answered(t *testing.T, thread string, n int) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	if err := s.slack.Until(ctx, func() bool { return len(s.replies(thread)) >= n }); err != nil {
		t.Fatalf("%d answers of %d: %v", len(s.replies(thread)), n, err)
	}
}

// replies are the bot's posts in a thread.
func (s *scene) replies(thread string) []string {
	var out []string
	for _, m := range s.slack.Thread(s.general, thread) {
		if m.Bot != "" {
			out = append(out, m.Text)
		}
	}
	return out
}

// typescriptClient is the compiled client, as a package.
func typescriptClient(t *testing.T) string {
	t.Helper()
	program(t, "node")
	peer(t, "typescript", "bin", "tsc")
	dir, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// compiled compiles the TypeScript client once.
var compiled = sync.OnceValues(func() (string, error) {
	client := filepath.Join(module, "clients", "typescript")
	tsc := filepath.Join(module, ".ci", "peers", "node_modules", "typescript", "bin", "tsc")
	dir, err := scratch("typescript")
	if err != nil {
		return "", err
	}
	if out, err := exec.Command("node", tsc, "-p", client, "--outDir", filepath.Join(dir, "dist")).CombinedOutput(); err != nil {
		return "", fmt.Errorf("tsc: %w\n%s", err, out)
	}
	raw, err := os.ReadFile(filepath.Join(client, "package.json")) //nolint:gosec // of this module
	if err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "package.json"), raw, 0o600)
})

func TestTheExamplesChangeFewLines(t *testing.T) {
	t.Parallel()
	for name, e := range examples() {
		before, after := lines(t, e.folder, e.before), lines(t, e.folder, e.after)
		same := common(before, after)
		removed, added := len(before)-same, len(after)-same
		t.Logf("%s: %d lines, %d removed, %d added", name, len(before), removed, added)
		if n := removed + added; n == 0 || n >= 20 {
			t.Errorf("%s: %d changed lines, want 1 to 19", name, n)
		}
	}
}

func lines(t *testing.T, folder, file string) []string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(module, "examples", folder, file)) //nolint:gosec // an example
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
}

// common returns the length of the longest common subsequence of two files: the
// lines that stay.
func common(a, b []string) int {
	row := make([]int, len(b)+1)
	for _, x := range a {
		before := 0 // of the line above and the column before
		for j, y := range b {
			above := row[j+1]
			if x == y {
				row[j+1] = before + 1
			} else {
				row[j+1] = max(above, row[j])
			}
			before = above
		}
	}
	return row[len(b)]
}
