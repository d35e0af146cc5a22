package daemon_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/platform/local"
)

// encodes is a server of embeddings to which what is about the outage is alike, whatever
// its words, while it is up.
func encodes(t *testing.T) (url string, up *atomic.Bool) {
	t.Helper()
	up = &atomic.Bool{}
	up.Store(true)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct{ Input []string }
		if !up.Load() || json.NewDecoder(r.Body).Decode(&asked) != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		type vector struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var data []vector
		for i, text := range asked.Input {
			v := vector{i, []float32{0.1, 1}}
			if strings.Contains(text, "outage") || strings.Contains(text, "gateway returned 502") {
				v.Embedding = []float32{1, 0.1}
			}
			data = append(data, v)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	t.Cleanup(s.Close)
	return s.URL + "/v1", up
}

// A bot with an encoder shows the model what a question means though it shares no word
// with it; without the encoder it answers as it does by words.
func TestABotSearchesByMeaning(t *testing.T) {
	t.Parallel()
	url, up := encodes(t)
	cfg := defaults(t)
	cfg.Store = "memory:"
	cfg.Search.Embeddings.URL, cfg.Search.Embeddings.Model = url, "m"
	answers := llmtest.New()
	for range 20 {
		answers.Then(llmtest.Say("hm"))
	}
	d, err := daemon.Open(t.Context(), daemon.Options{Config: cfg, Outside: daemon.Outside{Model: answers}})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	ctx, stop := context.WithTimeout(t.Context(), enough)
	ran := make(chan error, 1)
	go func() { ran <- d.Run(ctx) }()

	const found = "every gateway returned 502 until Kim rolled the certificates back"
	if _, err := d.Chat.Say(ctx, local.NewMessage{Channel: "general", As: "bob", Text: found}); err != nil {
		t.Fatal(err)
	}
	scope := earshot.Scope{Platform: earshot.Local, Workspace: "local", Channel: "general"}
	now := earshot.TimeOf(time.Now())
	var talk []earshot.Message
	for i := range 700 {
		talk = append(talk, earshot.Message{
			ID: earshot.MessageID(fmt.Sprint("talk", i)), Time: now + earshot.Time(i), Author: earshot.Author{ID: "U7", Name: "Eve"},
			Text: fmt.Sprintf("number %d: we walk along the river and look at boats, at ducks and at whoever else is there", i),
		})
	}
	if _, err := d.Store.Record(ctx, scope, talk...); err != nil {
		t.Fatal(err)
	}
	ask := func() (shown bool) {
		heard, err := d.Chat.Say(ctx, local.NewMessage{Channel: "general", As: "bob", Text: "@earshot who ended our outage?"})
		if err == nil {
			err = d.Wait(ctx, heard.Turn)
		}
		if err != nil {
			t.Fatal(err)
		}
		list := answers.Requests()
		text, err := json.Marshal(list[len(list)-1])
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(text), found)
	}
	for shown := false; !shown; shown = ask() { // the background encodes what was searched
		if ctx.Err() != nil {
			t.Fatal("it is never shown")
		}
		answers.Then(llmtest.Say("hm"))
	}
	up.Store(false)
	answers.Then(llmtest.Say("hm"))
	if ask() {
		t.Error("it is shown without an encoder")
	}
	stop()
	if err := <-ran; err != nil {
		t.Error(err)
	}
}

// A check asks the encoder once; that it is away does not keep a bot from starting.
func TestACheckAsksTheEncoder(t *testing.T) {
	t.Parallel()
	url, up := encodes(t)
	environ := []string{"EARSHOT_DB=memory:", "EARSHOT_EMBEDDINGS_MODEL=m", "EARSHOT_EMBEDDINGS_URL=" + url}
	for _, c := range []struct {
		up    bool
		state daemon.FindingState
		found string
	}{{true, daemon.Good, "m answers with 2 dimensions"}, {false, daemon.Poor, "Service Unavailable"}} {
		up.Store(c.up)
		got := checked(t, environ, "embeddings")
		if len(got) != 1 || got[0].State != c.state || !strings.Contains(got[0].Found, c.found) {
			t.Errorf("up %v: %+v", c.up, got)
		}
	}
	if got := checked(t, environ[:1], "embeddings"); got != nil {
		t.Errorf("without an encoder: %+v", got)
	}
}
