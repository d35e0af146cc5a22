package daemon_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/store"
)

const thereScript = `{"fixtures": [
	{"match": {"userMessage": "Are you there?"}, "response": {"content": "Yes"}},
	{"match": {"userMessage": "?"}, "response": {"content": "Noted."}}
]}`

// answering is a provider that answers everything with a status.
func answering(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// checked returns what a check finds of one thing.
func checked(t *testing.T, environ []string, what string) []daemon.Finding {
	t.Helper()
	c, err := config.Load("", environ)
	if err != nil {
		t.Fatal(err)
	}
	var out []daemon.Finding
	daemon.Check(t.Context(), daemon.Options{Config: c, Version: "1.2.3"}, nil, func(f daemon.Finding) {
		if f.What == what {
			out = append(out, f)
		}
	})
	return out
}

// A check asks the model: what would fail the first question is said before it.
func TestACheckSaysWhyTheModelWouldNotAnswer(t *testing.T) {
	t.Parallel()
	status := func(n int) string {
		return answering(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(n) })
	}
	there := modeltest.StartScripted(t, thereScript)
	for name, c := range map[string]struct {
		environ []string
		state   daemon.FindingState
		found   string
		remedy  string
	}{
		"it answers":            {[]string{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + there + "/v1"}, daemon.Good, "(OPENAI_API_KEY is set) answers, in ", ""},
		"a key that is refused": {[]string{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + status(401)}, daemon.Bad, "status 401", "compare the key with the provider's page: OPENAI_API_KEY"},
		"no such model":         {[]string{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + status(404)}, daemon.Bad, "status 404", "compare the model's name"},
		"no credit":             {[]string{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + status(429)}, daemon.Bad, "status 429", "quota"},
		"nobody there":          {[]string{"OPENAI_API_KEY=k", "OPENAI_BASE_URL=http://127.0.0.1:1"}, daemon.Bad, "no connection", "reaches the provider"},
		"a key that is missing": {[]string{"EARSHOT_MODEL_PROVIDER=gemini"}, daemon.Bad, "GEMINI_API_KEY is not set", "set what is missing"},
		"none, on Slack":        {[]string{"EARSHOT_PLATFORM=slack"}, daemon.Bad, "no key and no base URL of a model is set", "EARSHOT_MODEL_PROVIDER=offline"},
		"none, by name":         {[]string{"EARSHOT_MODEL_PROVIDER=offline"}, daemon.Poor, "which is built in", "set the key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := checked(t, append(c.environ, "EARSHOT_DB=memory:"), "model")
			if len(got) != 1 || got[0].State != c.state || !strings.Contains(got[0].Found, c.found) || !strings.Contains(got[0].Remedy, c.remedy) {
				t.Errorf("got %+v, want %s, %q and %q", got, c.state, c.found, c.remedy)
			}
		})
	}
	t.Run("the fallback and the one that summarises", func(t *testing.T) {
		t.Parallel()
		got := checked(t, []string{
			"EARSHOT_DB=memory:", "OPENAI_API_KEY=k", "OPENAI_BASE_URL=" + there + "/v1", "ANTHROPIC_BASE_URL=" + status(500), "ANTHROPIC_API_KEY=k", "EARSHOT_MODEL_PROVIDER=openai",
			"EARSHOT_FALLBACK_PROVIDER=anthropic", "EARSHOT_SUMMARY_PROVIDER=anthropic",
		}, "model")
		if len(got) != 3 || got[0].State != daemon.Good || got[1].State != daemon.Poor || got[2].State != daemon.Poor {
			t.Errorf("got %+v, want one that answers and two that do not", got)
		}
	})
}

// A model that cannot begin with one token is there all the same.
func TestAModelThatNeedsMoreThanATokenIsThere(t *testing.T) {
	t.Parallel()
	calls := 0
	url := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls++; calls == 1 {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"Yes\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
	})
	got := checked(t, []string{"EARSHOT_DB=memory:", "OPENAI_BASE_URL=" + url}, "model")
	if len(got) != 1 || got[0].State != daemon.Good || calls != 2 {
		t.Errorf("got %+v after %d calls", got, calls)
	}
}

func TestACheckLooksAtTheStoreAndItsVersions(t *testing.T) {
	t.Parallel()
	at := filepath.Join(t.TempDir(), "sub", "bot.db")
	environ := []string{"EARSHOT_DB=" + at}
	if got := checked(t, environ, "store"); len(got) != 1 || got[0].State != daemon.Good || !strings.Contains(got[0].Found, "is not there yet") {
		t.Errorf("got %+v of a store that is not there", got)
	}
	if _, known, err := store.Version(t.Context(), at); err != nil || known == 0 {
		t.Fatal(known, err)
	}
	st, err := store.Open(t.Context(), at, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := earshot.Channel{Platform: earshot.Local, Workspace: "local", ID: "C1", Name: "private"}
	if err := st.PutChannel(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if got := checked(t, environ, "store"); len(got) != 1 || got[0].State != daemon.Good || !strings.Contains(got[0].Found, "can be read and written to") {
		t.Errorf("got %+v of a store that works", got)
	}
	if notes, err := st.Notes(t.Context(), "health/", 0); err != nil || len(notes) != 0 {
		t.Errorf("the check left %d notes, %v", len(notes), err)
	}
	if got := checked(t, append(environ, "EARSHOT_RETENTION_DAYS=none"), "retention"); len(got) != 1 || got[0].State != daemon.Poor || !strings.Contains(got[0].Costs, "erases what is stored of 1 channel") {
		t.Errorf("got %+v where a start erases a channel", got)
	}
	if got := checked(t, environ, "versions"); len(got) != 1 || got[0].State != daemon.Good || !strings.Contains(got[0].Found, "earshot 1.2.3") {
		t.Errorf("got %+v of the versions", got)
	}
	if got := checked(t, environ, "disk"); len(got) != 1 || !strings.Contains(got[0].Found, " free, the store has ") {
		t.Errorf("got %+v of the disk", got)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if got := checked(t, []string{"EARSHOT_DB=postgres://nobody@127.0.0.1:1/none?connect_timeout=1"}, "store"); len(got) != 1 || got[0].State != daemon.Bad {
		t.Errorf("got %+v of a server that is not there", got)
	}
}

func TestACheckComparesTheClockWithThatOfTheServers(t *testing.T) {
	t.Parallel()
	for off, want := range map[time.Duration]daemon.FindingState{0: daemon.Good, -time.Minute: daemon.Poor, time.Minute: daemon.Poor, 10 * time.Minute: daemon.Bad, -10 * time.Minute: daemon.Bad} {
		url := answering(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", time.Now().Add(off).UTC().Format(http.TimeFormat))
			w.WriteHeader(http.StatusUnauthorized)
		})
		if got := checked(t, []string{"EARSHOT_DB=memory:", "OPENAI_BASE_URL=" + url}, "clock"); len(got) != 1 || got[0].State != want {
			t.Errorf("%s off: got %+v, want %s", off, got, want)
		}
	}
}

// On a platform with other people the offline model answers only where it is asked for
// by name.
func TestTheOfflineModelIsAskedForByNameWhereOthersAre(t *testing.T) {
	t.Parallel()
	x, y := newSlackWorld(t, "", byHTTP, nil), newDiscordWorld(t, "", nil)
	for _, environ := range [][]string{x.environ, y.environ} {
		environ = slices.DeleteFunc(slices.Clone(environ), func(kv string) bool { return strings.HasPrefix(kv, "ANTHROPIC_") })
		open := func(more ...string) error {
			c, err := config.Load("", append(environ, more...))
			if err != nil {
				t.Fatal(err)
			}
			d, err := daemon.Open(t.Context(), daemon.Options{Config: c})
			if err == nil {
				err = d.Close()
			}
			return err
		}
		if err := open(); err == nil || !strings.Contains(err.Error(), "model.provider: no key and no base URL of a model is set; set ANTHROPIC_API_KEY") {
			t.Errorf("got %v, want what to set", err)
		}
		if err := open("EARSHOT_MODEL_PROVIDER=offline"); err != nil {
			t.Errorf("by name: %v", err)
		}
	}
}

// The model is asked once at the start, and nothing waits for it: events are taken and
// stored before it answers.
func TestAStartAsksTheModelAndDoesNotWaitForIt(t *testing.T) {
	t.Parallel()
	asked, goOn := make(chan struct{}), make(chan struct{})
	url := answering(t, func(w http.ResponseWriter, r *http.Request) {
		select {
		case asked <- struct{}{}:
		case <-r.Context().Done():
		}
		<-goOn
		w.WriteHeader(http.StatusUnauthorized)
	})
	x := newSlackWorld(t, url, byHTTP, nil)
	x.environ = append(x.environ, "ANTHROPIC_BASE_URL="+url)
	told := make(chan daemon.ModelAsked, 10)
	x.options.Asked = func(a daemon.ModelAsked) { told <- a }
	x.start()
	<-asked
	said := x.Say(x.general, x.ann, "it may rain")
	x.settled()
	if _, err := x.daemon.Store.Message(t.Context(), x.scope(), earshot.MessageID(said)); err != nil {
		t.Errorf("while the model is asked nothing is stored: %v", err)
	}
	close(goOn)
	if a := <-told; a.Provider != "anthropic" || a.Err == nil || !strings.Contains(a.Remedy(), "ANTHROPIC_API_KEY") {
		t.Errorf("got %+v, want that the key is refused", a)
	}
	x.stop()
	if len(told) != 0 {
		t.Errorf("it was asked %d times more", len(told))
	}
}

// The calls of each model are counted by result, with their time.
func TestCallsOfModelsAreCounted(t *testing.T) {
	t.Parallel()
	x := newSlackWorld(t, modeltest.StartScripted(t, slackScript), byHTTP, nil, "EARSHOT_HEALTH=127.0.0.1:0")
	x.start()
	x.Say(x.general, x.ann, x.at("is it raining?"))
	x.ends(earshot.TurnDone)
	x.Say(x.general, x.ann, x.at("that is forbidden"))
	x.ends(earshot.TurnFailed)
	f, model := scraped(t, x.daemon), x.daemon.Models[0].Name
	for result, want := range map[string]float64{"ok": 1, "failed": 1, "limited": 0} {
		if got := valueOf(f, "earshot_model_calls_total", model, "anthropic", result); got != want { // labels come by name
			t.Errorf("%s: got %v calls, want %v", result, got, want)
		}
	}
	if got := valueOf(f, "earshot_model_call_seconds", model, "anthropic"); got != 2 {
		t.Errorf("the time of %v calls is measured, want 2", got)
	}
}

// What the platform ignores of who the bot is, a start and a check say.
func TestANameThatThePlatformIgnoresIsSaid(t *testing.T) {
	t.Parallel()
	x := newSlackWorld(t, modeltest.StartScripted(t, slackScript), byHTTP, nil, "EARSHOT_AGENT_NAME=scout")
	log := &lines{}
	x.options.Log = slog.New(slog.NewTextHandler(log, nil))
	x.start()
	x.stop()
	if want := `agent.name \"scout\" of the configuration has no effect: who the bot is, Slack says (earshot); rename it there`; !strings.Contains(log.String(), want) {
		t.Errorf("%q is not in %s", want, log)
	}
	if got := checked(t, x.environ, "agent"); len(got) != 1 || got[0].State != daemon.Poor || !strings.Contains(got[0].Found, `agent.name "scout"`) {
		t.Errorf("the check found %+v", got)
	}
}
