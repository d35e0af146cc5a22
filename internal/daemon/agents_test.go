package daemon_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/simulate"
)

// An a2aAgent is an agent made with the SDK of Agent2Agent, as another program.
type a2aAgent struct {
	t            *testing.T
	version, log string
	url          string
	stop         func()
}

// An a2aLine is a line of its log: what it was called with, or did.
type a2aLine struct {
	Fault string // nothing of the kind may come
	Call  string // a method
	Asked string // the id of a message, which began a task or went on with it
	Did   string
	// What these have.
	Message, Task, Context, Version, Extensions, Canceled string

	GoesOn bool
	Parts  []struct {
		Text, Kind string
		File       *struct {
			Name, Type string
			Bytes      int
		}
	}
	Meta struct {
		Key, Conversation, Instructions string
		Turn                            int
		New                             int
		Asker                           struct{ ID, Name string }
		Place                           struct{ Channel, Name string }
		MCP                             *struct{ URL, Token string }
		Answer                          *struct {
			Text  string
			Given bool
		}
	}
}

func startA2A(t *testing.T, version string) *a2aAgent {
	t.Helper()
	a := &a2aAgent{t: t, version: version, log: filepath.Join(t.TempDir(), "agent.jsonl")}
	a.url, a.stop = modeltest.A2A(t, version, a.log, "0")
	return a
}

// again starts it again where it was: it knows what it has done, and none of its tasks.
func (a *a2aAgent) again() {
	a.t.Helper()
	u, err := url.Parse(a.url)
	if err != nil {
		a.t.Fatal(err)
	}
	_, a.stop = modeltest.A2A(a.t, a.version, a.log, u.Port())
}

// lines are those of its log that are chosen.
func (a *a2aAgent) lines(chosen func(a2aLine) bool) (list []a2aLine) {
	a.t.Helper()
	data, err := os.ReadFile(a.log)
	if err != nil && !os.IsNotExist(err) {
		a.t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var x a2aLine
		if err := json.Unmarshal(line, &x); err != nil {
			if bytes.HasSuffix(line, []byte("\n")) {
				a.t.Fatalf("%s: %v", line, err)
			}
			continue // it is being written
		}
		if x.Fault != "" {
			a.t.Error(x.Fault)
		}
		if chosen(x) {
			list = append(list, x)
		}
	}
	return list
}

func (a *a2aAgent) asked() []a2aLine {
	return a.lines(func(x a2aLine) bool { return x.Asked != "" })
}

// calls are how often methods were called, as either version names them.
func (a *a2aAgent) calls(methods ...string) int {
	return len(a.lines(func(x a2aLine) bool { return slices.Contains(methods, x.Call) }))
}

// goOn lets slow answers go on.
func (a *a2aAgent) goOn() {
	a.t.Helper()
	r, err := http.Post(a.url+"go", "", nil)
	if err != nil {
		a.t.Fatal(err)
	}
	_ = r.Body.Close()
}

// settings are the settings of a bot whose agent it is.
func (a *a2aAgent) settings(more ...string) []string {
	return append([]string{"EARSHOT_AGENT_KIND=a2a", "EARSHOT_AGENT_URL=" + a.url, "EARSHOT_AGENT_KEY=the-key-of-the-agent", "EARSHOT_AGENT_HISTORY=theirs", "EARSHOT_API=127.0.0.1:0"}, more...)
}

// A conversation with an agent behind Agent2Agent, in each version and with one that does not
// stream: a file, a question of the agent's, an outage and a stop.
func TestAnAgentBehindAgent2AgentAnswersOnSlack(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1.0", "0.3", "1.0-poll", "0.3-poll"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			a := startA2A(t, version)
			x := newSlackWorld(t, "", bySocket, nil, a.settings()...)
			x.knows()
			x.start()
			var picture bytes.Buffer
			if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 40, 40))); err != nil {
				t.Fatal(err)
			}
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
			x.eventually("the task is canceled", func() bool {
				return len(a.lines(func(l a2aLine) bool { return l.Canceled == a.asked()[0].Task })) == 1
			})

			root := x.Say(x.general, x.ann, x.at("what broke?"))
			report := x.ends(earshot.TurnDone)
			if u := report.Models["mine-1"]; u.Input != 70 || u.Output != 5 {
				t.Errorf("it used %+v", report.Models)
			}
			x.Post(simulate.PostedMessage{Channel: x.general, Thread: root, User: x.bob, Text: x.at("and this?"), Files: []string{x.AddFile(simulate.File{Name: "plan.png", Data: picture.Bytes()})}})
			x.ends(earshot.TurnDone)
			x.Reply(x.general, root, x.ann, x.at("please restart it"))
			ask := x.withButton(root, "production")
			x.Click(x.general, ask.TS, x.ann, "production")
			x.ends(earshot.TurnDone)

			a.stop()
			x.Reply(x.general, root, x.ann, x.at("and now?"))
			x.eventually("the agent is missed", func() bool {
				list, err := x.daemon.Store.QueuedTurns(t.Context(), earshot.TurnQuery{Limit: 10})
				return err == nil && slices.ContainsFunc(list, func(q earshot.QueuedTurn) bool { return !q.State.Final() && q.Tries > 0 })
			})
			a.again()
			x.ends(earshot.TurnDone)
			a.wantConversation(x, root)
		})
	}
}

// wantConversation checks what people see, and what the agent was sent.
func (a *a2aAgent) wantConversation(x *slackWorld, root string) {
	a.t.Helper()
	asked := a.asked()[1:] // without the one that was stopped
	if len(asked) != 5 {
		a.t.Fatalf("asked %d times", len(asked))
	}
	turn := func(i int) string { return fmt.Sprintf("That is turn %d.", asked[i].Meta.Turn) }
	seen := asked[1].Parts[0].File
	if seen == nil || seen.Name != "plan.png" || seen.Type != "image/png" || seen.Bytes == 0 {
		a.t.Fatalf("it was sent %+v", asked[1].Parts)
	}
	x.wantSaid(root, turn(0), turn(1)+fmt.Sprintf(" I see plan.png of %d bytes.", seen.Bytes),
		"<@"+x.ann+">, Which one?\n<@"+x.ann+">: `production`", "Then I take production.", turn(4))
	ids := map[string]bool{}
	for i, one := range asked {
		if ids[one.Asked] = true; one.Asked != one.Meta.Key || one.Context != one.Meta.Conversation || one.Context != asked[0].Context || one.Meta.Place.Channel != x.general {
			a.t.Errorf("asked %+v", one)
		}
		if one.GoesOn != (i == 3) || (one.Meta.Answer != nil) != (i == 3) {
			a.t.Errorf("message %d: goes on %t, with %+v", i, one.GoesOn, one.Meta.Answer)
		}
	}
	if len(ids) != 5 || asked[3].Task != asked[2].Task || asked[1].Meta.Asker.Name != "Bob" || asked[1].Meta.New == 0 || asked[0].Meta.MCP == nil || asked[0].Meta.Instructions == "" {
		a.t.Errorf("asked %+v", asked)
	}
	calls := a.lines(func(l a2aLine) bool { return l.Call != "" })
	for _, c := range calls {
		if want, _, _ := strings.Cut(a.version, "-"); c.Version != want || c.Extensions == "" {
			a.t.Errorf("called %+v", c)
		}
	}
}

// Wherever the process is killed, people see one answer; the task that the agent has begun is
// taken up again, and the agent acts once, also where it has lost its tasks meanwhile.
func TestAKilledBotTakesUpTheTaskOfItsAgent(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"1.0", "0.3", "1.0-poll"} {
		for _, point := range []string{"after_placeholder", "after_step", "after_answer", "before_post", "after_post", "after_update"} {
			t.Run(version+" "+point, func(t *testing.T) {
				t.Parallel()
				a := startA2A(t, version)
				again := append([]time.Duration{0}, slices.Repeat([]time.Duration{time.Second}, 300)...)
				x := newSlackWorld(t, "", bySocket, &simulate.SlackOptions{Retries: again}, a.settings("EARSHOT_LEASE_SECONDS=4")...)
				if point != "after_step" {
					a.goOn()
				}
				end := killAt(t, point, x.environ)
				x.eventually("the process listens", func() bool { return x.Connections() > 0 })
				root := x.Say(x.general, x.bob, x.at("slowly, what broke?"))
				end()
				x.start()
				if point == "after_step" { // the task has begun, and goes on only now
					x.eventually("the task is looked at", func() bool { return a.calls("GetTask", "tasks/get") > 0 })
					a.goOn()
				}
				x.over(1)
				x.wantSaid(root, "It runs.")
				asked, did := a.asked(), a.lines(func(l a2aLine) bool { return l.Did != "" })
				for _, one := range asked {
					if one.Asked != asked[0].Asked {
						t.Errorf("asked as %s and %s", asked[0].Asked, one.Asked)
					}
				}
				if len(asked) != 1 || len(did) != 1 {
					t.Errorf("asked %d times, did %d things", len(asked), len(did))
				}
			})
		}
	}
}

// An agent that was restarted while the bot was away does not know the task: it is asked again
// under the same id, and answers what it has done.
func TestATaskThatTheAgentHasLostIsAskedForAgain(t *testing.T) {
	t.Parallel()
	a := startA2A(t, "1.0")
	again := append([]time.Duration{0}, slices.Repeat([]time.Duration{time.Second}, 300)...)
	x := newSlackWorld(t, "", bySocket, &simulate.SlackOptions{Retries: again}, a.settings("EARSHOT_LEASE_SECONDS=4")...)
	end := killAt(t, "after_step", x.environ)
	x.eventually("the process listens", func() bool { return x.Connections() > 0 })
	root := x.Say(x.general, x.bob, x.at("slowly, what broke?"))
	end()
	a.stop()
	a.again()
	a.goOn()
	x.start()
	x.over(1)
	x.wantSaid(root, "It runs.")
	if asked := a.asked(); len(asked) != 2 || asked[0].Asked != asked[1].Asked || asked[0].Task == asked[1].Task || a.calls("GetTask") == 0 {
		t.Errorf("asked %+v", asked)
	}
}

// The check says whose card stands at the address, and asks nothing.
func TestTheCheckReadsTheCardOfAnAgent(t *testing.T) {
	t.Parallel()
	a := startA2A(t, "0.3")
	for at, want := range map[string]string{
		a.url: `the agent at agent.url is "Ops", Agent2Agent 0.3`, a.url + "nowhere": "has no agent card", "http://127.0.0.1:1/": "cannot be reached",
	} {
		c := config.Default()
		c.Agent.Kind, c.Agent.URL, c.Keys.AgentKey = config.AgentA2A, at, secret.New("the-key-of-the-agent")
		var said []string
		daemon.CheckModels(t.Context(), daemon.Options{Config: c}, func(f daemon.Finding) { said = append(said, fmt.Sprint(f)) })
		if len(said) != 1 || !strings.Contains(said[0], want) {
			t.Errorf("%s: the check says %q, want %q", at, said, want)
		}
	}
	if n := len(a.lines(func(l a2aLine) bool { return l.Call != "" })); n != 0 {
		t.Errorf("it was called %d times", n)
	}
}
