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

// TestKillWhileAnAgentOfAnotherMakeAnswers does what TestKillWhileAnAgentAnswers does, with agents
// made with the packages of their protocols. By the agent's own log each question came under one
// key and no other, and nothing was done twice; tasks of Agent2Agent that had begun were taken up
// again.
func TestKillWhileAnAgentOfAnotherMakeAnswers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kind, program, mode, path string
		cycle                     func(*testing.T, *killWorld, int)
		takesUp                   bool // for certain: at random none may be killed while a task is under way
	}{
		"a2a 1.0 at random":      {kind: "a2a", program: "a2a", mode: "1.0", cycle: atRandom},
		"a2a 0.3 at every point": {kind: "a2a", program: "a2a", mode: "0.3", cycle: atPoint, takesUp: true},
		"ag-ui at random":        {kind: "ag-ui", program: "agui", mode: "1.0", cycle: atRandom},
		"ag-ui at every point":   {kind: "ag-ui", program: "agui", mode: "1.0", cycle: atPoint},

		"langgraph over http at random":        {kind: "http", program: "langgraph-agent", mode: "http", path: "turn", cycle: atRandom},
		"langgraph over openai at every point": {kind: "openai", program: "langgraph-agent", mode: "openai", path: "v1", cycle: atPoint},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			binary := program(t)
			log := filepath.Join(t.TempDir(), "agent.jsonl")
			url, _ := modeltest.Agent(t, c.program, c.mode, log, "0")
			s := killSetting{each: true, placeholder: true}
			w := newKillWorld(t, binary, s)
			w.environ = append(w.environ, "EARSHOT_AGENT_KIND="+c.kind, "EARSHOT_AGENT_URL="+url+c.path, "EARSHOT_AGENT_KEY=the-key-of-the-agent")
			for n := range max(*killCycles/2, len(s.points())) {
				if s.points()[n%len(s.points())] == "after_tools" {
					continue // an agent has none
				}
				c.cycle(t, w, n)
				w.killed(t)
			}
			w.check(t)
			a := readAgentLog(t, log)
			a.check(t, w)
			if a.looks == 0 && c.takesUp {
				t.Error("no task was taken up again")
			}
		})
	}
}

// An agentLog is what an agent says of how it was asked.
type agentLog struct {
	killAgent
	looks int            // at tasks
	did   map[string]int // by the keys of requests
}

func readAgentLog(t *testing.T, file string) *agentLog {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	a := &agentLog{killAgent: killAgent{turns: map[string]map[string]bool{}}, did: map[string]int{}}
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

func (a *agentLog) check(t *testing.T, w *killWorld) {
	t.Helper()
	a.killAgent.check(t, w)
	for message, times := range a.did {
		if times != 1 {
			t.Errorf("what request %s asks for was done %d times", message, times)
		}
	}
	t.Logf("tasks were looked at %d times, %d things were done", a.looks, len(a.did))
}
