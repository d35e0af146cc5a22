package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// A killAgent is an agent outside of the programs that are killed. It knows under which keys it
// was asked what.
type killAgent struct {
	mu    sync.Mutex                 // guards turns
	turns map[string]map[string]bool // the keys of each question
	asked int
}

func (a *killAgent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var x struct {
		Key          string
		Turn         int64
		Conversation string
	}
	if json.NewDecoder(r.Body).Decode(&x) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	a.note(fmt.Sprint(x.Conversation, " ", x.Turn), x.Key)
	w.Header().Set("Content-Type", "text/event-stream")
	for _, event := range []string{"event: status\ndata: {\"text\":\"at work\"}\n\n", "event: text\ndata: {\"text\":\"It \"}\n\n", "event: text\ndata: {\"text\":\"runs.\"}\n\nevent: done\ndata: {}\n\n"} {
		if _, err := w.Write([]byte(event)); err != nil {
			return // who asked was killed
		}
		w.(http.Flusher).Flush()
		time.Sleep(100 * time.Millisecond)
	}
}

// note notes that a question was asked under a key.
func (a *killAgent) note(question, key string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.turns[question] == nil {
		a.turns[question] = map[string]bool{}
	}
	a.turns[question][key] = true
	a.asked++
}

// TestKillWhileAnAgentAnswers kills a bot whose agent is outside, again and again, at random and at
// each point. Each question gets one visible answer, and the agent is asked it under one key, and
// under no other.
func TestKillWhileAnAgentAnswers(t *testing.T) {
	t.Parallel()
	for name, cycle := range map[string]func(*testing.T, *killWorld, int){"at random": atRandom, "at every point": atPoint} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &killAgent{turns: map[string]map[string]bool{}}
			web := httptest.NewServer(a)
			t.Cleanup(web.Close)
			s := killSetting{each: true, placeholder: true}
			w := newKillWorld(t, program(t), s)
			w.environ = append(w.environ, "EARSHOT_AGENT_KIND=http", "EARSHOT_AGENT_URL="+web.URL)
			for n := range max(*killCycles/2, len(s.points())) {
				if s.points()[n%len(s.points())] == "after_tools" {
					continue // an agent has none
				}
				cycle(t, w, n)
				w.killed(t)
			}
			w.check(t)
			a.check(t, w)
		})
	}
}

// check looks at the keys of all questions.
func (a *killAgent) check(t *testing.T, w *killWorld) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	questions := 0
	for _, k := range w.talks {
		questions += len(k.acknowledged)
	}
	of := map[string][]string{} // the questions of each key
	for question, keys := range a.turns {
		if len(keys) != 1 {
			t.Errorf("question %s was asked under %d keys", question, len(keys))
		}
		for key := range keys {
			of[key] = append(of[key], question)
		}
	}
	for key, list := range of {
		if slices.Sort(list); len(list) != 1 {
			t.Errorf("key %s is of the questions %q", key, list)
		}
	}
	if len(a.turns) != questions {
		t.Errorf("%d of %d questions were asked", len(a.turns), questions)
	}
	t.Logf("%d kills, %d questions, asked %d times", w.kills, questions, a.asked)
}
