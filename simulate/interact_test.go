package simulate_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"github.com/earshot-ai/earshot/simulate"
)

// A hand is an app's interactivity URL: it verifies each signature, reads what comes by a
// library that nobody here wrote, and keeps it.
type hand struct {
	*httptest.Server
	mu     sync.Mutex // guards what follows
	got    []slack.InteractionCallback
	answer string
	status int
}

func touch(t *testing.T, s *simulate.Slack) *hand {
	t.Helper()
	h := &hand{status: 200}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		v, err := slack.NewSecretsVerifier(r.Header, s.App().SigningSecret)
		if err == nil {
			_, _ = v.Write(body)
			err = v.Ensure()
		}
		form, _ := url.ParseQuery(string(body))
		var x slack.InteractionCallback
		if err == nil {
			err = json.Unmarshal([]byte(form.Get("payload")), &x)
		}
		if err != nil || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
			t.Errorf("what came is %q: %v", body, err)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.got = append(h.got, x)
		w.WriteHeader(h.status)
		_, _ = io.WriteString(w, h.answer)
	}))
	t.Cleanup(h.Close)
	s.Interact(h.URL)
	return h
}

const twoButtons = `[{"type":"section","text":{"type":"mrkdwn","text":"well?"}},{"type":"actions","elements":[
	{"type":"button","action_id":"yes","value":"v1","style":"primary","text":{"type":"plain_text","text":"Go ahead"}},
	{"type":"button","action_id":"no","text":{"type":"plain_text","text":"No"}}]}]`

func (w *team) asks(t *testing.T, thread string) string {
	t.Helper()
	ts, _ := call(t, w.Slack, "chat.postMessage", map[string]string{"channel": w.general, "thread_ts": thread, "text": "well?", "blocks": twoButtons})["ts"].(string)
	if ts == "" {
		t.Fatal("nothing was posted")
	}
	return ts
}

func TestAClickTellsTheAppWhoAndWhere(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	h := touch(t, w.Slack)
	root := w.Say(w.general, w.mara, "root")
	ts := w.asks(t, root)
	if x := w.Click(w.general, ts, w.mara, "Go ahead"); x.Outcome != "acked" || len(x.Answer) != 0 {
		t.Errorf("the click came to %+v", x)
	}
	if len(h.got) != 1 {
		t.Fatalf("%d came", len(h.got))
	}
	x := h.got[0]
	a := x.ActionCallback.BlockActions[0]
	got := []string{string(x.Type), x.User.ID, x.User.Name, x.Team.ID, x.APIAppID, x.Channel.ID, x.Channel.Name, x.Message.Timestamp, x.Message.ThreadTimestamp, x.Message.Text, x.Container.MessageTs, x.Container.ChannelID, a.ActionID, a.Value, a.Text.Text, string(a.Type)}
	want := []string{"block_actions", w.mara, "mara", w.Team().ID, w.App().ID, w.general, "general", ts, root, "well?", ts, w.general, "yes", "v1", "Go ahead", "button"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if a.BlockID == "" || a.BlockID != x.Message.Blocks.BlockSet[1].ID() || x.TriggerID == "" {
		t.Errorf("block %q, trigger %q", a.BlockID, x.TriggerID)
	}
	h.status = 500
	if x := w.Click(w.general, ts, w.mara, "no"); x.Outcome != "http_error" || len(h.got) != 2 {
		t.Errorf("an error came to %+v after %d tries, want one: Slack sends a click once", x, len(h.got))
	}
	w.Kick(w.general, w.sam, w.mara)
	for name, click := range map[string]func(){
		"a button that is not there":  func() { w.Click(w.general, ts, w.mara, "Perhaps") },
		"a message that is not there": func() { w.Click(w.general, "1.000000", w.mara, "No") },
		"a person who is not there":   func() { w.Click(w.general, ts, w.sam, "No") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is clicked", name)
				}
			}()
			click()
		}()
	}
}

const view = `{"type":"modal","callback_id":"form","title":{"type":"plain_text","text":"No"},"submit":{"type":"plain_text","text":"Send"},"private_metadata":"m","blocks":[
	{"type":"input","block_id":"b","optional":true,"label":{"type":"plain_text","text":"Why?"},"element":{"type":"plain_text_input","action_id":"a","max_length":20}}]}`

func TestAFormIsOpenedAndSent(t *testing.T) {
	t.Parallel()
	now := time.Now()
	w := small(t, simulate.SlackOptions{Tier: simulate.TierUnlimited, Now: func() time.Time { return now }})
	h := touch(t, w.Slack)
	ts := w.asks(t, "")
	trigger := func() string {
		w.Click(w.general, ts, w.mara, "No")
		return h.got[len(h.got)-1].TriggerID
	}
	open := func(trigger, view string) any {
		answer := call(t, w.Slack, "views.open", map[string]string{"trigger_id": trigger, "view": view})
		if answer["ok"] == true {
			return "opened"
		}
		return answer["error"]
	}
	late := trigger()
	now = now.Add(4 * time.Second)
	once := trigger()
	long := func(n int) string { return strings.Repeat("m", n) }
	for _, c := range []struct{ name, trigger, view, want string }{
		{"a trigger of four seconds ago", late, view, "expired_trigger_id"},
		{"a trigger that there is not", "1.2.3", view, "invalid_trigger_id"},
		{"no trigger", "", view, "invalid_arguments"},
		{"no view", once, "", "invalid_arguments"},
		{"a title that is too long", once, strings.Replace(view, `"No"`, `"`+long(25)+`"`, 1), "invalid_arguments"},
		{"no way to send it", once, strings.Replace(view, `"submit"`, `"other"`, 1), "invalid_arguments"},
		{"metadata that is too long", once, strings.Replace(view, `"m"`, `"`+long(3001)+`"`, 1), "invalid_arguments"},
		{"a bound that is too large", once, strings.Replace(view, `20}`, `3001}`, 1), "invalid_arguments"},
		{"a view as it should be", once, view, "opened"},
		{"the same trigger", once, view, "exchanged_trigger_id"},
	} {
		if got := open(c.trigger, c.view); got != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
	forms := w.Forms()
	if len(forms) != 1 || forms[0].User != w.mara || forms[0].Title != "No" || forms[0].Label != "Why?" || !forms[0].Optional {
		t.Fatalf("forms: %+v", forms)
	}
	h.answer = `{"response_action":"errors","errors":{"b":"not so"}}`
	if x := w.Submit(w.mara, "because"); x.Outcome != "acked" || len(w.Forms()) != 1 || w.Forms()[0].Errors["b"] != "not so" {
		t.Errorf("sent: %+v, forms %+v", x, w.Forms())
	}
	h.answer = ""
	w.Submit(w.mara, "because")
	x := h.got[len(h.got)-1]
	if x.Type != "view_submission" || x.User.ID != w.mara || x.View.CallbackID != "form" || x.View.PrivateMetadata != "m" || x.View.State.Values["b"]["a"].Value != "because" || len(w.Forms()) != 0 {
		t.Errorf("sent: %+v, forms %+v", x, w.Forms())
	}
}

func TestPeopleClickOnOrder(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	h := touch(t, w.Slack)
	ts := w.asks(t, "")
	do := func(act, body string) map[string]any {
		return order(t, w.Slack, http.MethodPost, act, body, "application/json")
	}
	do("interactivity", `{"url":"`+h.URL+`/other"}`)
	if got := do("click", `{"channel":"general","ts":"`+ts+`","user":"mara","button":"No"}`); got["ok"] != true || got["outcome"] != "acked" {
		t.Errorf("click: %v", got)
	}
	if got := do("click", `{"channel":"general","ts":"`+ts+`","user":"mara","button":"Perhaps"}`); got["ok"] != false {
		t.Errorf("a button that there is not: %v", got)
	}
	if got := do("submit", `{"user":"mara","text":"because"}`); got["ok"] != false {
		t.Errorf("a form that there is not: %v", got)
	}
	call(t, w.Slack, "views.open", map[string]string{"trigger_id": h.got[0].TriggerID, "view": view})
	forms, _ := order(t, w.Slack, http.MethodGet, "forms", "", "")["list"].([]any)
	if len(forms) != 1 {
		t.Errorf("forms: %v", forms)
	}
	h.answer = `{"response_action":"clear"}`
	got := do("submit", `{"user":"mara","text":"because"}`)
	if answer, _ := got["answer"].(map[string]any); got["ok"] != true || answer["response_action"] != "clear" {
		t.Errorf("submit: %v", got)
	}
	messages, _ := order(t, w.Slack, http.MethodGet, "messages?channel=general", "", "")["list"].([]any)
	if m, _ := messages[0].(map[string]any); len(messages) != 1 || len(m["buttons"].([]any)) != 2 {
		t.Errorf("messages: %v", messages)
	}
}
