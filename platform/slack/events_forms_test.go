package slack_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/simulate"
)

// postForm posts a form as Slack does; an empty key leaves it unsigned.
func postForm(t *testing.T, h http.Handler, key, method, kind, body string) *httptest.ResponseRecorder {
	t.Helper()
	target := "/slack/events"
	if method == http.MethodGet {
		target += "?" + body
		body = ""
	}
	r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	r.Header.Set("Content-Type", kind)
	if key != "" {
		q := genuine(key, time.Now(), body)
		r.Header.Set("X-Slack-Request-Timestamp", q.stamp)
		r.Header.Set("X-Slack-Signature", q.signature)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const urlencoded = "application/x-www-form-urlencoded"

func TestWhatIsNoEventIsAnswered(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	key := x.slack.App().SigningSecret
	payload := func(kind string) string {
		return "payload=" + url.QueryEscape(`{"type":"`+kind+`","token":"simulated-verification-token","user":{"id":"U1"},"message":{"text":"said in private"}}`)
	}
	const command = "token=simulated-verification-token&team_id=T1&command=%2Fweather&text=94070+said+in+private&response_url=https%3A%2F%2Fx.io"
	for name, tt := range map[string]struct {
		key, method, kind, body string
		status                  int
		answer                  string
	}{
		"a button":                    {key, "POST", urlencoded, payload("block_actions"), 200, ""},
		"a modal":                     {key, "POST", urlencoded, payload("view_submission"), 200, ""},
		"a shortcut":                  {key, "POST", urlencoded + "; charset=utf-8", payload("shortcut"), 200, ""},
		"an interaction of no JSON":   {key, "POST", urlencoded, "payload=%7B", 200, ""},
		"a slash command":             {key, "POST", urlencoded, command, 200, "no slash commands"},
		"a check of the certificate":  {key, "POST", urlencoded, "ssl_check=1&token=simulated-verification-token", 200, ""},
		"one that is not signed":      {"", "POST", urlencoded, "ssl_check=1&token=simulated-verification-token", 200, ""},
		"one by GET":                  {"", "GET", "", "ssl_check=1&token=simulated-verification-token", 200, ""},
		"a forged button":             {"another" + key, "POST", urlencoded, payload("block_actions"), 401, "not signed"},
		"an unsigned slash command":   {"", "POST", urlencoded, command, 401, "not signed"},
		"one that claims to check":    {"", "POST", urlencoded, "ssl_check=1&" + command, 401, "not signed"},
		"a form of something else":    {key, "POST", urlencoded, "a=b", 400, "without payload, command or ssl_check"},
		"an event that is a form":     {key, "POST", urlencoded, hello, 400, "events are JSON"},
		"a form that is an event":     {key, "POST", "text/plain", "payload=x", 400, `broken JSON at byte 0; content type "text/plain"`},
		"an event that is nested on":  {key, "POST", "application/json", strings.Repeat("[", 1<<19) + strings.Repeat("]", 1<<19), 400, "nested too deep"},
		"an event that is a list":     {key, "POST", "application/json", "[]", 400, "not an object"},
		"an event that is too large":  {key, "POST", "application/json", strings.Repeat(" ", 1<<20+1), 413, "more than 1048576 bytes"},
		"what is asked for, not told": {"", "GET", "", "", 405, "posted"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			taken := 0
			w := postForm(t, x.platform.Handler(counting(&taken)), tt.key, tt.method, tt.kind, tt.body)
			got := w.Body.String()
			if w.Code != tt.status || !strings.Contains(got, tt.answer) || tt.answer == "" && got != "" || taken != 0 {
				t.Errorf("got %d %q and %d taken, want %d %q", w.Code, got, taken, tt.status, tt.answer)
			}
		})
	}
	t.Cleanup(func() { hides(t, x.log.String(), "said in private") })
}

// A slash command's answer is for whoever used it alone.
func TestASlashCommandIsAnsweredInPrivate(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	taken := 0
	w := postForm(t, x.platform.Handler(counting(&taken)), x.slack.App().SigningSecret, "POST", urlencoded, "command=%2Fweather&text=x")
	var answer map[string]string
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Fatalf("%v in %q", err, w.Body)
	}
	if kind := w.Header().Get("Content-Type"); answer["response_type"] != "ephemeral" || answer["text"] == "" || !strings.HasPrefix(kind, "application/json") {
		t.Errorf("got %q %v", kind, answer)
	}
	for _, kind := range []string{"block_actions", "shortcut"} {
		w := postForm(t, x.platform.Handler(counting(&taken)), x.slack.App().SigningSecret, "POST", urlencoded, "payload="+url.QueryEscape(`{"type":"`+kind+`"}`))
		if w.Code != http.StatusOK || w.Body.Len() != 0 {
			t.Errorf("%s is answered %d %q, want 200 and nothing", kind, w.Code, w.Body)
		}
	}
	if log := x.log.String(); strings.Contains(log, "cannot be read") || strings.Contains(log, "no JSON") {
		t.Errorf("what Slack rightly sent is complained of:\n%s", log)
	}
}

// By socket both are acknowledged at once, a slash command with its answer
// where Slack takes one.
func TestASocketAcknowledgesWhatIsNoEvent(t *testing.T) {
	t.Parallel()
	acks := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "apps.connections.open"):
			fmt.Fprintf(w, `{"ok":true,"url":"ws://%s/link/?ticket=t"}`, r.Host)
		case strings.HasPrefix(r.URL.Path, "/api/"):
			fmt.Fprint(w, `{"ok":true,"user":"earshot","user_id":"U0","team_id":"T1","bot_id":"B0","bot":{"app_id":"A0"}}`)
		default:
			conn, err := (&websocket.Upgrader{}).Upgrade(w, r, nil)
			if err != nil {
				return
			}
			defer conn.Close()
			for _, e := range []string{
				`{"type":"hello"}`,
				`{"type":"interactive","envelope_id":"e1","accepts_response_payload":true,"payload":{"type":"block_actions"}}`,
				`{"type":"slash_commands","envelope_id":"e2","accepts_response_payload":true,"payload":{"command":"/weather"}}`,
				`{"type":"slash_commands","envelope_id":"e3","accepts_response_payload":false,"payload":{"command":"/weather"}}`,
			} {
				if conn.WriteMessage(websocket.TextMessage, []byte(e)) != nil {
					return
				}
			}
			for {
				_, data, err := conn.ReadMessage()
				if err != nil {
					return
				}
				acks <- strings.TrimSpace(string(data))
			}
		}
	}))
	defer server.Close()
	x := listenTo(t, func(_ *simulate.SlackOptions, o *slack.Options) { o.Sockets = 1 })
	p := opening(t, x, server.URL+"/api/")
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.Listen(ctx, x.bot.Handle) }()
	var got []string
	for range 3 {
		select {
		case a := <-acks:
			got = append(got, a)
		case <-time.After(hang):
			t.Fatalf("waited in vain for an acknowledgement after %q", got)
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("Listen ended with %v", err)
	}
	for i, want := range []string{`{"envelope_id":"e1"}`, `{"envelope_id":"e2","payload":{"response_type":"ephemeral","text":"`, `{"envelope_id":"e3"}`} {
		if !strings.HasPrefix(got[i], want) {
			t.Errorf("acknowledgement %d: got %q, want it to begin with %q", i, got[i], want)
		}
	}
}
