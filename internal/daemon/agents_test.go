package daemon_test

import (
	"bytes"
	"cmp"
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

// An agentKind is a kind of agent, made with its protocol's own packages.
type agentKind struct {
	kind, program, mode string
	path                string // below its address
	asks                bool   // whether it can ask the person
	takesUp             bool   // whether a task that has begun is taken up again
	namesNoPicture      bool   // whether its protocol has no name of a picture
}

// The agents of other makes, as other programs.
var agentKinds = map[string]agentKind{
	"a2a 1.0":      {kind: config.AgentA2A, program: "a2a", mode: "1.0", asks: true, takesUp: true},
	"a2a 0.3":      {kind: config.AgentA2A, program: "a2a", mode: "0.3", asks: true, takesUp: true},
	"a2a 1.0-poll": {kind: config.AgentA2A, program: "a2a", mode: "1.0-poll", asks: true, takesUp: true},
	"a2a 0.3-poll": {kind: config.AgentA2A, program: "a2a", mode: "0.3-poll", asks: true, takesUp: true},
	"ag-ui":        {kind: config.AgentAGUI, program: "agui", mode: "1.0", asks: true},

	"langgraph over http":   {kind: config.AgentHTTP, program: "langgraph-agent", mode: "http", path: "turn", asks: true},
	"langgraph over openai": {kind: config.AgentOpenAI, program: "langgraph-agent", mode: "openai", path: "v1", namesNoPicture: true},
}

// A peerAgent is such an agent.
type peerAgent struct {
	agentKind
	t    *testing.T
	log  string
	url  string
	stop func()
}

// An agentLine is a line of its log: what it was called with, or did.
type agentLine struct {
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

func startPeer(t *testing.T, k agentKind) *peerAgent {
	t.Helper()
	a := &peerAgent{agentKind: k, t: t, log: filepath.Join(t.TempDir(), "agent.jsonl")}
	a.url, a.stop = modeltest.Agent(t, k.program, k.mode, a.log, "0")
	return a
}

// again starts it again where it was: it knows what it has done, and none of its tasks.
func (a *peerAgent) again() {
	a.t.Helper()
	u, err := url.Parse(a.url)
	if err != nil {
		a.t.Fatal(err)
	}
	_, a.stop = modeltest.Agent(a.t, a.program, a.mode, a.log, u.Port())
}

// lines are those of its log that are chosen.
func (a *peerAgent) lines(chosen func(agentLine) bool) (list []agentLine) {
	a.t.Helper()
	data, err := os.ReadFile(a.log)
	if err != nil && !os.IsNotExist(err) {
		a.t.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		var x agentLine
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

func (a *peerAgent) asked() []agentLine {
	return a.lines(func(x agentLine) bool { return x.Asked != "" })
}

// calls are how often methods were called, as either version names them.
func (a *peerAgent) calls(methods ...string) int {
	return len(a.lines(func(x agentLine) bool { return slices.Contains(methods, x.Call) }))
}

// goOn lets slow answers go on.
func (a *peerAgent) goOn() {
	a.t.Helper()
	r, err := http.Post(a.url+"go", "", nil)
	if err != nil {
		a.t.Fatal(err)
	}
	_ = r.Body.Close()
}

// settings are the settings of a bot whose agent it is.
func (a *peerAgent) settings(more ...string) []string {
	return append([]string{"EARSHOT_AGENT_KIND=" + a.kind, "EARSHOT_AGENT_URL=" + a.url + a.path, "EARSHOT_AGENT_KEY=the-key-of-the-agent", "EARSHOT_AGENT_HISTORY=theirs", "EARSHOT_API=127.0.0.1:0"}, more...)
}

// A conversation with an agent of each kind: a file, a question of the agent's, an outage and a
// stop.
func TestAnAgentOfAnotherMakeAnswersOnSlack(t *testing.T) {
	t.Parallel()
	for name, k := range agentKinds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := startPeer(t, k)
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
				return len(a.lines(func(l agentLine) bool { return l.Canceled == a.asked()[0].Task })) == 1
			})

			root := x.Say(x.general, x.ann, x.at("what broke?"))
			report := x.ends(earshot.TurnDone)
			if u := report.Models["mine-1"]; u.Input != 70 || u.Output != 5 {
				t.Errorf("it used %+v", report.Models)
			}
			x.Post(simulate.PostedMessage{Channel: x.general, Thread: root, User: x.bob, Text: x.at("and this?"), Files: []string{x.AddFile(simulate.File{Name: "plan.png", Data: picture.Bytes()})}})
			x.ends(earshot.TurnDone)
			x.Reply(x.general, root, x.ann, x.at("please restart it"))
			if a.asks {
				ask := x.withButton(root, "production")
				x.Click(x.general, ask.TS, x.ann, "production")
			}
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
func (a *peerAgent) wantConversation(x *slackWorld, root string) {
	a.t.Helper()
	asked := a.asked()[1:] // without the one that was stopped
	requests := 4
	if a.asks {
		requests++
	}
	if len(asked) != requests {
		a.t.Fatalf("asked %d times", len(asked))
	}
	turn := func(i int) string { return fmt.Sprintf("That is turn %d.", asked[i].Meta.Turn) }
	seen := asked[1].Parts[0].File
	name := "plan.png"
	if a.namesNoPicture {
		name = ""
	}
	if seen == nil || seen.Name != name || seen.Type != "image/png" || seen.Bytes == 0 {
		a.t.Fatalf("it was sent %+v", asked[1].Parts)
	}
	said := []string{turn(0), turn(1) + fmt.Sprintf(" I see %s of %d bytes.", cmp.Or(name, "a file"), seen.Bytes)}
	if a.asks {
		said = append(said, "<@"+x.ann+">, Which one?\n<@"+x.ann+">: `production`", "Then I take production.")
	} else {
		said = append(said, turn(2))
	}
	x.wantSaid(root, append(said, turn(len(asked)-1))...)
	ids := map[string]bool{}
	for i, one := range asked {
		if ids[one.Asked] = true; one.Asked != one.Meta.Key || one.Context != one.Meta.Conversation || one.Context != asked[0].Context || one.Meta.Place.Channel != x.general {
			a.t.Errorf("asked %+v", one)
		}
		if goesOn := a.asks && i == 3; one.GoesOn != goesOn || (one.Meta.Answer != nil) != goesOn {
			a.t.Errorf("message %d: goes on %t, with %+v", i, one.GoesOn, one.Meta.Answer)
		}
	}
	if len(ids) != requests || a.takesUp && asked[3].Task != asked[2].Task || asked[1].Meta.Asker.Name != "Bob" || asked[1].Meta.New == 0 || asked[0].Meta.MCP == nil || asked[0].Meta.Instructions == "" {
		a.t.Errorf("asked %+v", asked)
	}
	if a.kind != config.AgentA2A {
		return
	}
	for _, c := range a.lines(func(l agentLine) bool { return l.Call != "" }) {
		if want, _, _ := strings.Cut(a.mode, "-"); c.Version != want || c.Extensions == "" {
			a.t.Errorf("called %+v", c)
		}
	}
}

// Wherever the process is killed, people see one answer, and the agent acts once. A task that it
// has begun is taken up again where its protocol has that; else it is asked again, under the same
// key.
func TestAKilledBotTakesUpTheTaskOfItsAgent(t *testing.T) {
	t.Parallel()
	for name, k := range agentKinds {
		if name == "a2a 0.3-poll" {
			continue // as 1.0-poll
		}
		for _, point := range []string{"after_placeholder", "after_step", "after_answer", "before_post", "after_post", "after_update"} {
			t.Run(name+" "+point, func(t *testing.T) {
				t.Parallel()
				a := startPeer(t, k)
				again := append([]time.Duration{0}, slices.Repeat([]time.Duration{time.Second}, 300)...)
				x := newSlackWorld(t, "", bySocket, &simulate.SlackOptions{Retries: again}, a.settings("EARSHOT_LEASE_SECONDS=4")...)
				begins := point == "after_step" && a.takesUp // the task's name is a step
				if !begins {
					a.goOn()
				}
				end := killAt(t, point, x.environ)
				x.eventually("the process listens", func() bool { return x.Connections() > 0 })
				root := x.Say(x.general, x.bob, x.at("slowly, what broke?"))
				end()
				x.start()
				if begins { // it has begun, and goes on only now
					x.eventually("the task is looked at", func() bool { return a.calls("GetTask", "tasks/get") > 0 })
					a.goOn()
				}
				x.over(1)
				x.wantSaid(root, "It runs.")
				asked, did := a.asked(), a.lines(func(l agentLine) bool { return l.Did != "" })
				for _, one := range asked {
					if one.Asked != asked[0].Asked {
						t.Errorf("asked as %s and %s", asked[0].Asked, one.Asked)
					}
				}
				if a.takesUp && len(asked) != 1 || len(asked) > 2 || len(did) != 1 {
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
	a := startPeer(t, agentKinds["a2a 1.0"])
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
	a := startPeer(t, agentKinds["a2a 0.3"])
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
	if n := len(a.lines(func(l agentLine) bool { return l.Call != "" })); n != 0 {
		t.Errorf("it was called %d times", n)
	}
}
