package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
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

var (
	killCycles = flag.Int("kill.cycles", 20, "how often each kill test kills its bot")
	killSeed   = flag.Uint64("kill.seed", 0, "what the kill tests' chances come from; 0: another one each time")
)

// TestKillBots kills bots of both clients at random moments while people ask them in a
// fake Slack. With what finds a post, each question has one reply and one turn in the end;
// without, no question has two replies, and each that has no turn is told of.
func TestKillBots(t *testing.T) {
	t.Parallel()
	for language, command := range map[string]func(*testing.T) func() *exec.Cmd{"Python": pythonKillBot, "TypeScript": typescriptKillBot} {
		for name, find := range map[string]string{"finds its posts": "yes", "cannot find its posts": ""} {
			t.Run(language+" "+name, func(t *testing.T) {
				t.Parallel()
				newBotKill(t, command(t), find).run(t)
			})
		}
	}
}

func pythonKillBot(t *testing.T) func() *exec.Cmd {
	python := program(t, "python3")
	client, err := filepath.Abs(filepath.Join(module, "clients", "python"))
	if err != nil {
		t.Fatal(err)
	}
	return func() *exec.Cmd {
		cmd := exec.Command(python, filepath.Join("testdata", "kill-bot.py")) //nolint:gosec // the test's own
		cmd.Env = append(os.Environ(), "PYTHONPATH="+client, "PYTHONDONTWRITEBYTECODE=1")
		return cmd
	}
}

func typescriptKillBot(t *testing.T) func() *exec.Cmd {
	node, client, dir := program(t, "node"), typescriptClient(t), t.TempDir()
	copyFile(t, filepath.Join("testdata", "kill-bot.mjs"), filepath.Join(dir, "bot.mjs"))
	if err := os.Mkdir(filepath.Join(dir, "node_modules"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(client, filepath.Join(dir, "node_modules", "earshot")); err != nil {
		t.Fatal(err)
	}
	return func() *exec.Cmd {
		cmd := exec.Command(node, filepath.Join(dir, "bot.mjs")) //nolint:gosec // the test's own
		cmd.Env = os.Environ()
		return cmd
	}
}

// A botKill is a bot that is killed again and again, and what it is asked.
type botKill struct {
	command func() *exec.Cmd
	env     []string
	find    bool
	car     *sidecar
	slack   *simulate.Slack
	mara    string
	general string
	chance  *rand.Rand
	asked   []string       // the questions
	killed  map[string]int // kills, by what the bot had said last

	mu    sync.Mutex          // guards what the processes have said
	last  string              // the stage
	told  map[string]bool     // of the process that runs: the questions that it called interrupted
	stage map[string][]string // by question
}

func newBotKill(t *testing.T, command func() *exec.Cmd, find string) *botKill {
	t.Helper()
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-kill.seed=%d", seed)
	again := slices.Repeat([]time.Duration{100 * time.Millisecond}, 3000) // as long as nobody listens
	slack, err := simulate.NewSlack(&simulate.SlackOptions{Tier: simulate.TierUnlimited, Retries: again, Senders: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = slack.Close() })
	k := &botKill{
		command: command, find: find != "", car: newSidecar(t), slack: slack, mara: slack.AddUser(simulate.User{Name: "mara"}),
		chance: rand.New(rand.NewPCG(seed, 3)), killed: map[string]int{}, stage: map[string][]string{},
	}
	k.general = slack.AddChannel(simulate.Channel{Name: "general", Members: []string{k.mara, slack.App().UserID}})
	k.env = []string{
		"EARSHOT_URL=" + k.car.url, "EARSHOT_KEY=" + k.car.key(t, "--name", "bot", "--workspace", "T0SIMULATE"),
		"SLACK_API_URL=" + slack.URL() + "/api/", "SLACK_BOT_TOKEN=" + slack.App().BotToken, "FIND=" + find,
	}
	return k
}

// run kills the bot at random moments, some time after a question or two, now and then
// long enough for it to take over what the one before it had claimed. The last process
// answers what is left.
func (k *botKill) run(t *testing.T) {
	for n := range *killCycles {
		kill := k.start(t)
		for range 1 + k.chance.IntN(2) {
			if k.waiting() < 4 { // however slow the machine is
				k.ask()
			}
		}
		// But for some that are killed at their start, something is under way in each process.
		for end := time.Now().Add(patience); n%5 > 0 && !k.saysSomething(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("the bot does nothing")
			}
		}
		longest := 700
		if n%4 == 3 {
			longest = 4000
		}
		time.Sleep(time.Duration(k.chance.IntN(longest)) * time.Millisecond) // the random moment of the kill
		k.killed[kill()]++
	}
	kill := k.start(t)
	defer kill()
	var turns map[string]int
	for end := time.Now().Add(patience); ; time.Sleep(100 * time.Millisecond) {
		turns = k.turns(t)
		if k.over(turns) {
			break
		}
		if time.Now().After(end) {
			t.Error("there are questions that the bot does not come to an end with")
			break
		}
	}
	k.check(t, turns)
}

// waiting returns how many questions nobody has posted an answer to, as far as the bot said.
func (k *botKill) waiting() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := 0
	for _, q := range k.asked {
		if !slices.ContainsFunc(k.stage[q], func(stage string) bool { return stage != "asking" && stage != "posting" }) {
			n++
		}
	}
	return n
}

func (k *botKill) saysSomething() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last != "starting"
}

// ask asks in a new thread, or in one that there is.
func (k *botKill) ask() {
	said := simulate.PostedMessage{Channel: k.general, User: k.mara, Text: fmt.Sprintf("<@%s> question %d", k.slack.App().UserID, len(k.asked))}
	if n := len(k.asked); n > 0 && k.chance.IntN(3) > 0 {
		said.Thread = k.slack.Messages(k.general)[0].TS
	}
	k.asked = append(k.asked, k.slack.Post(said))
}

// start starts the bot, and returns what kills it and says how far it was.
func (k *botKill) start(t *testing.T) func() string {
	t.Helper()
	cmd := k.command()
	cmd.Env = append(cmd.Env, k.env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	k.mu.Lock()
	k.last, k.told = "starting", map[string]bool{}
	k.mu.Unlock()
	if !lines.Scan() {
		_ = cmd.Wait()
		t.Fatalf("the bot ended: %s", &errs)
	}
	k.slack.Deliver("http://127.0.0.1:" + strings.TrimPrefix(lines.Text(), "ready "))
	read := make(chan struct{})
	go func() {
		defer close(read)
		for lines.Scan() {
			k.heard(lines.Text())
		}
	}()
	kill := sync.OnceValue(func() string {
		_ = cmd.Process.Kill()
		<-read
		_ = cmd.Wait() // it was killed
		if errs.Len() > 0 {
			t.Errorf("the bot says %s", &errs)
		}
		return k.last
	})
	t.Cleanup(func() { kill() })
	return kill
}

// heard takes what a bot says of a question.
func (k *botKill) heard(line string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	stage, question, _ := strings.Cut(line, " ")
	k.last = stage
	k.stage[question] = append(k.stage[question], stage)
	if stage == "interrupted" {
		k.told[question] = true
	}
}

// turns counts the committed turns, by question.
func (k *botKill) turns(t *testing.T) map[string]int {
	t.Helper()
	out, err := exec.Command(k.car.bin, "--json", "turns", "--db", k.car.db, "--limit", "10000").Output() //nolint:gosec // the program under test
	if err != nil {
		t.Fatal(err)
	}
	var list []struct{ Anchor, State string }
	if err := json.Unmarshal(out, &list); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	turns := map[string]int{}
	for _, turn := range list {
		if turn.State == "done" {
			turns[turn.Anchor]++
		}
	}
	return turns
}

// over reports whether the bot has come to an end with each question.
func (k *botKill) over(turns map[string]int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !slices.ContainsFunc(k.asked, func(q string) bool { return turns[q] == 0 && !k.told[q] })
}

// check says what has become of the questions.
func (k *botKill) check(t *testing.T, turns map[string]int) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	posts := k.slack.PostsByMetadata("question")
	replies := [3]int{}
	committed, told := 0, 0
	for _, q := range k.asked {
		n := len(posts[q])
		replies[min(n, 2)]++
		committed += min(turns[q], 1)
		if k.told[q] {
			told++
		}
		if n > 1 || turns[q] > 1 || k.find && (n != 1 || turns[q] != 1) || turns[q] == 1 && n != 1 {
			t.Errorf("question %s has %d replies and %d turns, after %s", q, n, turns[q], strings.Join(k.stage[q], ", "))
		}
	}
	t.Logf("%d kills %v, %d questions, %d/%d/%d with 0/1/2 replies, %d committed, %d told as interrupted",
		*killCycles, k.killed, len(k.asked), replies[0], replies[1], replies[2], committed, told)
	if k.find && told > 0 || len(k.asked) < *killCycles/4 {
		t.Errorf("%d questions, %d told as interrupted", len(k.asked), told)
	}
}
