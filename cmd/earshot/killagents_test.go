package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/earshot-ai/earshot/model/modeltest"
)

// TestKillWhileAnAgentBehindAgent2AgentAnswers does what TestKillWhileAnAgentAnswers does, with an
// agent made with the SDK of Agent2Agent. By the agent's own log each question came under one id
// and no other, nothing was done twice, and tasks that had begun were taken up again.
func TestKillWhileAnAgentBehindAgent2AgentAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		version string
		cycle   func(*testing.T, *killWorld, int)
		atPoint bool
	}{"1.0 at random": {"1.0", atRandom, false}, "0.3 at every point": {"0.3", atPoint, true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			binary := program(t)
			log := filepath.Join(t.TempDir(), "agent.jsonl")
			url, _ := modeltest.A2A(t, c.version, log, "0")
			s := killSetting{each: true, placeholder: true}
			w := newKillWorld(t, binary, s)
			w.environ = append(w.environ, "EARSHOT_AGENT_KIND=a2a", "EARSHOT_AGENT_URL="+url, "EARSHOT_AGENT_KEY=the-key-of-the-agent")
			for n := range max(*killCycles/2, len(s.points())) {
				if s.points()[n%len(s.points())] == "after_tools" {
					continue // an agent has none
				}
				c.cycle(t, w, n)
				w.killed(t)
			}
			w.check(t)
			a := readA2ALog(t, log)
			a.check(t, w)
			if a.looks == 0 && c.atPoint { // by chance none may be killed while a task is under way
				t.Error("no task was taken up again")
			}
		})
	}
}

// An a2aLog is what an agent behind Agent2Agent says of how it was asked.
type a2aLog struct {
	killAgent
	looks int            // at tasks
	did   map[string]int // by the ids of messages
}

func readA2ALog(t *testing.T, file string) *a2aLog {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a := &a2aLog{killAgent: killAgent{turns: map[string]map[string]bool{}}, did: map[string]int{}}
	for line := range bytes.Lines(data) {
		var x struct {
			Asked, Did, Message, Call, Fault string
			Meta                             struct {
				Turn         int64
				Conversation string
			}
		}
		if err := json.Unmarshal(line, &x); err != nil || x.Fault != "" {
			t.Fatalf("%s: %v", line, err)
		}
		switch {
		case x.Asked != "":
			a.note(fmt.Sprint(x.Meta.Conversation, " ", x.Meta.Turn), x.Asked)
		case x.Did != "":
			a.did[x.Message]++
		case x.Call == "GetTask" || x.Call == "tasks/get":
			a.looks++
		}
	}
	return a
}

func (a *a2aLog) check(t *testing.T, w *killWorld) {
	t.Helper()
	a.killAgent.check(t, w)
	for message, times := range a.did {
		if times != 1 {
			t.Errorf("what message %s asks for was done %d times", message, times)
		}
	}
	t.Logf("tasks were looked at %d times, %d things were done", a.looks, len(a.did))
}
