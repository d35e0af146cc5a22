package slack_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/simulate"
)

// A request is one that may be Slack's.
type request struct {
	body, stamp, signature string
}

const hello = `{"type":"event_callback","event_id":"Ev1","event":{"type":"message","channel":"C1","channel_type":"channel","user":"U1","text":"hello","ts":"1700000000.000100"}}`

// genuine is one that Slack signed at a moment.
func genuine(key string, at time.Time, body string) request {
	stamp := strconv.FormatInt(at.Unix(), 10)
	return request{body, stamp, simulate.Sign(key, stamp, []byte(body))}
}

func (q request) post(t *testing.T, h http.Handler) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/slack/events", strings.NewReader(q.body))
	if q.stamp != "" {
		r.Header.Set("X-Slack-Request-Timestamp", q.stamp)
	}
	if q.signature != "" {
		r.Header.Set("X-Slack-Signature", q.signature)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// counting counts what is taken, and keeps none of it.
func counting(n *int) slack.Handler {
	return func(context.Context, bot.Event) (bot.Outcome, error) {
		*n++
		return bot.Outcome{}, nil
	}
}

func TestOnlyWhatSlackSignedIsTaken(t *testing.T) {
	t.Parallel()
	now := time.Now()
	x := listenTo(t, func(_ *simulate.SlackOptions, o *slack.Options) { o.Now = func() time.Time { return now } })
	key := x.slack.App().SigningSecret
	for name, tt := range map[string]struct {
		request request
		status  int
	}{
		"a signed event":                 {genuine(key, now, hello), http.StatusOK},
		"one of four minutes ago":        {genuine(key, now.Add(-4*time.Minute), hello), http.StatusOK},
		"a clock that is ahead":          {genuine(key, now.Add(4*time.Minute), hello), http.StatusOK},
		"one of six minutes ago":         {genuine(key, now.Add(-6*time.Minute), hello), http.StatusUnauthorized},
		"one of the future":              {genuine(key, now.Add(6*time.Minute), hello), http.StatusUnauthorized},
		"another secret":                 {genuine("not "+key, now, hello), http.StatusUnauthorized},
		"no signature":                   {request{body: hello, stamp: strconv.FormatInt(now.Unix(), 10)}, http.StatusUnauthorized},
		"no time":                        {request{body: hello, signature: genuine(key, now, hello).signature}, http.StatusUnauthorized},
		"a time that is no number":       {request{hello, "now", simulate.Sign(key, "now", []byte(hello))}, http.StatusUnauthorized},
		"a time in another form":         {request{hello, "+" + strconv.FormatInt(now.Unix(), 10), simulate.Sign(key, "+"+strconv.FormatInt(now.Unix(), 10), []byte(hello))}, http.StatusUnauthorized},
		"an unsigned url_verification":   {request{body: `{"type":"url_verification","challenge":"c"}`}, http.StatusUnauthorized},
		"a signed word that is no event": {genuine(key, now, `hello`), http.StatusBadRequest},
		"nothing, signed":                {genuine(key, now, ``), http.StatusBadRequest},
		"one byte too many":              {genuine(key, now, `"`+strings.Repeat("x", 1<<20)+`"`), http.StatusRequestEntityTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			taken := 0
			if got := tt.request.post(t, x.platform.Handler(counting(&taken))).Code; got != tt.status {
				t.Errorf("got status %d, want %d", got, tt.status)
			}
			if want := tt.status == http.StatusOK; (taken == 1) != want {
				t.Errorf("taken %d times", taken)
			}
		})
	}
}

func TestNoMutatedSignatureIsTaken(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	good := genuine(x.slack.App().SigningSecret, time.Now(), hello)
	taken := 0
	h := x.platform.Handler(counting(&taken))
	rng := rand.New(rand.NewPCG(1, 2))
	const n = 10_000
	for i := range n {
		q := good
		for q == good {
			for range 1 + rng.IntN(3) {
				field := []*string{&q.body, &q.stamp, &q.signature, &q.signature}[rng.IntN(4)]
				*field = mutate(rng, *field)
			}
		}
		if got := q.post(t, h).Code; got/100 == 2 || taken > 0 {
			t.Fatalf("mutation %d was answered with %d: %+v", i, got, q)
		}
	}
	if good.post(t, h).Code != http.StatusOK || taken != 1 {
		t.Error("the genuine one was not taken")
	}
}

// mutate changes, cuts, doubles or swaps a byte, or the case of a text.
func mutate(rng *rand.Rand, s string) string {
	b := []byte(s)
	if len(b) == 0 {
		return "0"
	}
	i, j := rng.IntN(len(b)), rng.IntN(len(b))
	switch rng.IntN(7) {
	case 0:
		b[i] ^= 1 << rng.IntN(7)
	case 1:
		b = append(b[:i], b[i+1:]...)
	case 2:
		b = append(b[:i+1], b[i:]...)
	case 3:
		b[i], b[j] = b[j], b[i]
	case 4:
		b = b[:i]
	case 5:
		b = append(b, b[i])
	case 6:
		b = bytes.ToUpper(b)
	}
	return string(b)
}

func TestBothSecretsAreGoodDuringARotation(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	p, err := slack.Open(t.Context(), slack.Options{
		APIURL: x.slack.URL() + "/api/", BotToken: x.botToken(), Store: x.store,
		SigningSecrets: []secret.Secret{secret.New("the-new-one"), secret.New("the-old-one")},
	})
	if err != nil {
		t.Fatal(err)
	}
	taken := 0
	h := p.Handler(counting(&taken))
	for key, want := range map[string]int{"the-new-one": http.StatusOK, "the-old-one": http.StatusOK, "an-older-one": http.StatusUnauthorized, "": http.StatusUnauthorized} {
		if got := genuine(key, time.Now(), hello).post(t, h).Code; got != want {
			t.Errorf("signed with %q: got status %d, want %d", key, got, want)
		}
	}
}

func TestWithoutASecretNothingIsServed(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	p, err := slack.Open(t.Context(), slack.Options{APIURL: x.slack.URL() + "/api/", BotToken: x.botToken(), Store: x.store, SigningSecrets: make([]secret.Secret, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if r := recover(); r != slack.ErrNoSecret {
			t.Errorf("got %v, want a panic with ErrNoSecret", r)
		}
	}()
	p.Handler(x.bot.Handle)
}

func TestTheRequestURLIsVerified(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	server := httptest.NewServer(x.platform.Handler(x.bot.Handle))
	defer server.Close()
	if err := x.slack.Subscribe(t.Context(), server.URL); err != nil {
		t.Error(err)
	}
}

// The first copy of an event may not have been kept, so that its retry is as
// good as any.
func TestARetryIsTaken(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	q := genuine(x.slack.App().SigningSecret, time.Now(), hello)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/slack/events", strings.NewReader(q.body))
	r.Header = http.Header{
		"X-Slack-Request-Timestamp": {q.stamp}, "X-Slack-Signature": {q.signature},
		"X-Slack-Retry-Num": {"3"}, "X-Slack-Retry-Reason": {"http_timeout"},
	}
	taken, w := 0, httptest.NewRecorder()
	x.platform.Handler(counting(&taken)).ServeHTTP(w, r)
	if w.Code != http.StatusOK || taken != 1 {
		t.Errorf("got status %d, taken %d times", w.Code, taken)
	}
}

// What one workspace says is not another's, whoever delivers it.
func TestAnotherWorkspacesEventsAreNotKept(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	ours := string(x.platform.Workspace())
	x.slack.Say(x.general, x.mara, "hello")
	x.settle()
	for name, tt := range map[string]struct {
		envelope string
		want     int
	}{
		"ours":                                  {`"team_id":"` + ours + `"`, 1},
		"a stranger's words in ours":            {`"team_id":"T9","context_team_id":"` + ours + `","authorizations":[{"team_id":"` + ours + `"}]`, 1},
		"theirs":                                {`"team_id":"T9","context_team_id":"T9","authorizations":[{"team_id":"T9"}]`, 0},
		"theirs, in a channel that we share":    {`"team_id":"T9","authorizations":[{"team_id":"T9"}],"is_ext_shared_channel":true`, 1},
		"theirs, in one that others share":      {`"team_id":"T9","is_ext_shared_channel":true,"other":true`, 0},
		"from an emulator that does not say it": {`"api_app_id":"A1"`, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			channel := x.general
			if strings.Contains(tt.envelope, `"other"`) {
				channel = "C0OTHER"
			}
			body := `{"type":"event_callback","event_id":"Ev1",` + tt.envelope + `,"event":{"type":"message","channel":"` + channel + `","user":"U9","user_team":"T9","text":"hi","ts":"1700000000.000100"}}`
			taken := 0
			h := x.platform.Handler(func(_ context.Context, e bot.Event) (bot.Outcome, error) {
				taken++
				if string(e.Channel.Workspace) != ours {
					t.Errorf("workspace: got %s, want %s", e.Channel.Workspace, ours)
				}
				return bot.Outcome{}, nil
			})
			if got := genuine(x.slack.App().SigningSecret, time.Now(), body).post(t, h).Code; got != http.StatusOK || taken != tt.want {
				t.Errorf("got status %d, taken %d times, want %d", got, taken, tt.want)
			}
		})
	}
}

func TestTheVerificationTokenIsNotStored(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	ts := x.slack.Say(x.general, x.mara, "hello")
	x.settle()
	events, err := x.store.Events(t.Context(), x.scope(x.general), earshot.MessageID(ts))
	if err != nil || len(events) == 0 {
		t.Fatalf("%d events: %v", len(events), err)
	}
	for _, e := range events {
		hides(t, string(e.Raw), "simulated-verification-token")
		if !strings.Contains(string(e.Raw), `"token":"***"`) {
			t.Errorf("the raw event is not as it came: %s", e.Raw)
		}
	}
}

func TestDroppedEventsAreTold(t *testing.T) {
	t.Parallel()
	told := make(chan [2]time.Time, 1)
	x := listenTo(t, func(_ *simulate.SlackOptions, o *slack.Options) {
		o.Missed = func(from, to time.Time) { told <- [2]time.Time{from, to} }
	})
	if got := x.send(`{"type":"app_rate_limited","team_id":"T1","minute_rate_limited":1700000040,"api_app_id":"A1"}`); got != http.StatusOK {
		t.Fatalf("got status %d", got)
	}
	got := <-told
	if got[0].Unix() != 1700000040 || got[1].Unix() != 1700000100 {
		t.Errorf("got %v", got)
	}
}
