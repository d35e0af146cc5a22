package daemon_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate"
)

// serve runs a daemon by this process's environment until it is killed.
func serve() error {
	ctx, stop := context.WithTimeout(context.Background(), enough)
	defer stop()
	c, err := config.Load("", os.Environ())
	if err != nil {
		return err
	}
	d, err := daemon.Open(ctx, daemon.Options{Config: c})
	if err != nil {
		return err
	}
	return errors.Join(d.Run(ctx), d.Close())
}

// TestSlackFaults injects faults on Slack's side and kills the daemon.
func TestSlackFaults(t *testing.T) {
	t.Parallel()
	server := modeltest.StartScripted(t, script, slackScript)
	for _, c := range []struct {
		name string
		test func(t *testing.T, server string, by transport)
	}{
		{"doubled, late and reordered events open one turn each", disorder},
		{"answers to posts are lost, and each reply is seen once", lostAnswers},
		{"the slow tier shows the newest replies, and says what is missing", slowTier},
		{"the slow tier shows the end of a thread that was silent for days", slowSilent},
		{"a channel that it is removed from is erased", removed},
		{"calls and refusals are counted in the store", counted},
	} {
		t.Run(c.name, func(t *testing.T) {
			transports(t, func(t *testing.T, by transport) { c.test(t, server, by) })
		})
	}
	t.Run("messages that come while no socket is up are read afterwards", func(t *testing.T) {
		t.Parallel()
		gap(t, server)
	})
	t.Run("a socket that Slack renews loses nothing", func(t *testing.T) {
		t.Parallel()
		renewal(t, server)
	})
	for _, point := range slices.Concat(bot.FaultPoints(), bot.PlaceholderFaultPoints()) {
		t.Run("killed "+point, func(t *testing.T) {
			t.Parallel()
			killed(t, server, point)
		})
	}
}

// killed runs the daemon in a process that is killed at a point, and then another
// over the same store: the question gets one answer.
func killed(t *testing.T, server, point string) {
	// Slack sends an event again at once, after a minute and after five. Here it comes each
	// second for five minutes, so that the second process gets it, however long it takes
	// to start.
	again := append([]time.Duration{0}, slices.Repeat([]time.Duration{time.Second}, 300)...)
	x := newSlackWorld(t, server, bySocket, &simulate.SlackOptions{Retries: again}, "EARSHOT_LEASE_SECONDS=4")
	x.Post(simulate.PostedMessage{Channel: x.general, User: x.ann, Text: "staging is on port 4242", Mute: true})
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(slices.Clone(x.environ), "EARSHOT_TEST_SERVE=1", "EARSHOT_FAULT="+point, "HOME="+t.TempDir())
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	x.eventually("the process listens", func() bool { return x.Connections() > 0 })
	root := x.Say(x.general, x.bob, x.at("which port is it?"))
	err := cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 137 {
		t.Fatalf("it ended with status %d, %v, want it killed at %s: %s", code, err, point, out.String())
	}
	x.start()
	x.over(1)
	x.wantSaid(root, "Staging is on port 4242.")
}

// over waits until there are n turns and all have been answered.
func (x *slackWorld) over(n int) {
	x.t.Helper()
	x.settled()
	var depth map[earshot.TurnState]int
	x.t.Cleanup(func() {
		if x.t.Failed() {
			x.t.Logf("the turns were last %v", depth)
		}
	})
	x.eventually(fmt.Sprintf("%d turns are done", n), func() bool {
		var err error
		if depth, err = x.daemon.Store.Depth(x.t.Context()); err != nil {
			x.t.Fatal(err)
		}
		return len(depth) == 1 && depth[earshot.TurnDone] == n
	})
}

func disorder(t *testing.T, server string, by transport) {
	x := newSlackWorld(t, server, by, nil, "EARSHOT_POLICY=delta", "EARSHOT_ANSWER_EACH=true")
	x.start()
	x.Inject(
		simulate.Fault{Kind: simulate.RenewEvent, Chance: 0.4},
		simulate.Fault{Kind: simulate.SwapEvent, Chance: 0.3},
		simulate.Fault{Kind: simulate.LateEvent, Chance: 0.2, Wait: 50 * time.Millisecond},
	)
	const questions = 10
	var roots []string
	for i := range questions {
		x.Say(x.general, x.ann, fmt.Sprintf("remark %d", i))
		roots = append(roots, x.Say(x.general, x.bob, x.at(fmt.Sprintf("question %d?", i))))
	}
	x.Heal()
	x.Release()
	x.over(questions)
	for _, root := range roots {
		x.wantSaid(root, "Noted.")
	}
}

func lostAnswers(t *testing.T, server string, by transport) {
	x := newSlackWorld(t, server, by, nil)
	x.start()
	x.Inject(
		simulate.Fault{On: "chat.postMessage", Kind: simulate.LostResponse, Chance: 0.5},
		simulate.Fault{On: "chat.update", Kind: simulate.ServerError, Chance: 0.3},
	)
	const questions = 6
	var roots []string
	for i := range questions {
		roots = append(roots, x.Say(x.general, x.bob, x.at(fmt.Sprintf("question %d?", i))))
	}
	x.over(questions)
	for _, root := range roots {
		x.wantSaid(root, "Noted.")
	}
}

func slowTier(t *testing.T, server string, by transport) {
	x := newSlackWorld(t, server, by, &simulate.SlackOptions{Tier: simulate.TierDistributed},
		"EARSHOT_POLICY=delta", "EARSHOT_SLACK_TIER=distributed", "EARSHOT_SLACK_OVERFLOW=degrade")
	root := x.Post(simulate.PostedMessage{Channel: x.general, User: x.ann, Text: "the story", Mute: true, At: time.Now().Add(-101 * time.Minute)})
	for i := range 100 {
		x.Post(simulate.PostedMessage{
			Channel: x.general, Thread: root, User: x.ann, Text: fmt.Sprintf("part %d", i), Mute: true,
			At: time.Now().Add(time.Duration(i-100) * time.Minute),
		})
	}
	x.start()
	x.Reply(x.general, root, x.bob, x.at("how does it end?"))
	x.ends(earshot.TurnDone)
	got := x.prompt()
	if !strings.Contains(got, "could not be loaded]") {
		t.Errorf("the gap is not told: %s", got)
	}
	var newest []string // as many as half a page has at least, and all after the first of them
	for i := range 100 {
		if part := fmt.Sprintf("part %d\n", i); len(newest) > 0 || i == 92 || strings.Contains(got, part) {
			newest = append(newest, part)
		}
	}
	for _, part := range newest {
		if !strings.Contains(got, part) {
			t.Errorf("%q, one of the newest replies, is not shown: %s", part, got)
		}
	}
	for _, c := range x.Calls("conversations.replies", "conversations.history") {
		if c.Error != "" {
			t.Errorf("%s was refused: %s", c.Method, c.Error)
		}
	}
}

// slowSilent has a thread that was silent for ten days: one call of replies shows
// its end, and the prompt says what is missing.
func slowSilent(t *testing.T, server string, by transport) {
	x := newSlackWorld(t, server, by, &simulate.SlackOptions{Tier: simulate.TierDistributed},
		"EARSHOT_SLACK_TIER=distributed", "EARSHOT_SLACK_OVERFLOW=degrade")
	begun := time.Now().UTC().Truncate(24 * time.Hour).Add(12*time.Hour - 10*24*time.Hour) // no midnight in between
	root := x.Post(simulate.PostedMessage{Channel: x.general, User: x.ann, Text: "the story", Mute: true, At: begun})
	for i := range 40 {
		x.Post(simulate.PostedMessage{
			Channel: x.general, Thread: root, User: x.ann, Text: fmt.Sprintf("part %d", i), Mute: true, At: begun.Add(time.Duration(i+1) * time.Minute),
		})
	}
	x.start()
	x.Say(x.general, x.bob, x.at("is it raining?"))
	x.ends(earshot.TurnDone)
	x.settled()
	x.Reply(x.general, root, x.bob, x.at("how does it end?"))
	x.ends(earshot.TurnDone)
	got := regexp.MustCompile(`[0-9]{2}:[0-9]{2}`).ReplaceAllString(x.prompt(), "HH:MM")
	got = regexp.MustCompile(`(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [0-9]+ [A-Z][a-z]{2}( [0-9]{4})?`).ReplaceAllString(got, "Day")
	got = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}`).ReplaceAllString(got, "Date")
	x.want("the prompt", got, `[a Slack channel. You are earshot here.]
+ name: #general
+ topic: what goes on

[recent in this channel]
[Day]
HH:MM Bob: @earshot is it raining?
↳ HH:MM earshot (you): Noted.

[this thread]
[history before Date HH:MM Europe/Amsterdam could not be loaded]
[Day]
HH:MM Ann: the story
+ 29 replies not shown, thread `+root+`
HH:MM Ann: part 29
· part 30
· part 31
· part 32
· part 33
· part 34
· part 35
· part 36
· part 37
· part 38
· part 39

[question, Day, Europe/Amsterdam]
HH:MM Bob: @earshot how does it end?`)
}

func removed(t *testing.T, server string, by transport) {
	x := newSlackWorld(t, server, by, nil, "EARSHOT_SLACK_ON_LEAVE=purge")
	x.options.Confirm = 50 * time.Millisecond
	x.start()
	x.Say(x.general, x.ann, x.at("is it raining?"))
	x.ends(earshot.TurnDone)
	x.Kick(x.general, x.self, x.ann)
	x.settled()
	x.eventually("the channel is erased", func() bool {
		list, err := x.daemon.Store.Channels(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return !slices.ContainsFunc(list, func(c earshot.ChannelInfo) bool { return string(c.ID) == x.general && c.Messages > 0 })
	})
	x.Join(x.general, x.self)
	x.Say(x.general, x.ann, x.at("are you back?"))
	x.ends(earshot.TurnDone)
	if got := x.prompt(); !strings.HasPrefix(got, "[a Slack channel. You are earshot here.]\n+ name: #general\n+ topic: what goes on\n\n") {
		t.Errorf("after it was invited again the model reads: %s", got)
	}
}

func counted(t *testing.T, server string, by transport) {
	x := newSlackWorld(t, server, by, nil)
	x.start()
	x.Inject(simulate.Fault{On: "chat.postMessage", Kind: simulate.RateLimit, Times: 1})
	x.Say(x.general, x.ann, x.at("is it raining?"))
	x.ends(earshot.TurnDone)
	x.settled()
	store := x.daemon.Store
	var counts []earshot.CallCount
	x.eventually("calls are counted", func() (ok bool) {
		var err error
		if counts, err = store.Calls(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(counts, func(c earshot.CallCount) bool {
			return c.Method == "chat.postMessage" && c.Limited == 1 && c.Calls == 2
		})
	})
}

func gap(t *testing.T, server string) {
	x := newSlackWorld(t, server, bySocket, nil, "EARSHOT_POLICY=delta")
	x.start()
	root := x.Say(x.general, x.ann, x.at("shall we begin?"))
	x.ends(earshot.TurnDone)
	x.settled()
	// Mute: Slack keeps nothing for a connection that is not there.
	x.Cut()
	x.Post(simulate.PostedMessage{Channel: x.general, Thread: root, User: x.bob, Text: "we have begun", Mute: true})
	missed := x.Post(simulate.PostedMessage{Channel: x.general, User: x.bob, Text: x.at("did you hear?"), Mute: true})
	x.ends(earshot.TurnDone)
	x.wantSaid(missed, "Noted.")
	x.Reply(x.general, root, x.ann, x.at("are we done?"))
	x.ends(earshot.TurnDone)
	if got := x.prompt(); !strings.Contains(got, "Bob: we have begun\n") {
		t.Errorf("what was said in the gap is not known: %s", got)
	}
}

func renewal(t *testing.T, server string) {
	x := newSlackWorld(t, server, bySocket, &simulate.SlackOptions{DrainFor: 200 * time.Millisecond}, "EARSHOT_ANSWER_EACH=true")
	x.start()
	x.eventually("both sockets are up", func() bool { return x.Connections() == 2 })
	const questions = 8
	var roots []string
	for i := range questions {
		x.Disconnect([]string{"warning", "refresh_requested"}[i%2])
		roots = append(roots, x.Say(x.general, x.bob, x.at(fmt.Sprintf("question %d?", i))))
		x.settled()
	}
	x.over(questions)
	for _, root := range roots {
		x.wantSaid(root, "Noted.")
	}
	if lost := x.Undelivered(); len(lost) > 0 {
		t.Errorf("%d events were given up", len(lost))
	}
}
