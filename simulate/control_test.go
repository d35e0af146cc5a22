package simulate_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"github.com/earshot-ai/earshot/simulate"
)

// order sends an order as a script of any language would.
func order(t *testing.T, s *simulate.Slack, method, path, body, kind string) map[string]any {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL()+"/simulate/"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", kind)
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var answer map[string]any
	if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestPeopleAreOrderedAboutOverHTTP(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{App: simulate.App{AgentView: true}})
	e := listen(t, w.Slack)
	do := func(act, body string) map[string]any {
		t.Helper()
		answer := order(t, w.Slack, http.MethodPost, act, body, "application/json")
		if answer["ok"] != true {
			t.Errorf("%s: %v", act, answer)
		}
		return answer
	}
	root, _ := do("say", `{"channel":"#general","user":"mara","text":"hello"}`)["ts"].(string)
	if root == "" {
		t.Fatal("nothing was said")
	}
	do("say", `{"channel":"general","user":"sam","text":"hi","thread":"`+root+`"}`)
	do("say", `{"channel":"@mara","user":"mara","text":"in private"}`)
	do("upload", `{"channel":"general","user":"mara","name":"a.txt","content":"text"}`)
	do("edit", `{"channel":"general","ts":"`+root+`","text":"hello all"}`)
	do("react", `{"channel":"general","ts":"`+root+`","user":"sam","emoji":"wave"}`)
	do("unreact", `{"channel":"general","ts":"`+root+`","user":"sam","emoji":"wave"}`)
	do("unfurl", `{"channel":"general","ts":"`+root+`","url":"https://example.com","name":"Example","text":"a page"}`)
	do("forward", `{"channel":"general","user":"mara","text":"see","from":"#general","ts":"`+root+`"}`)
	do("name", `{"user":"sam","name":"Samuel"}`)
	do("look", `{"user":"mara","channel":"general"}`)
	do("delete", `{"channel":"general","ts":"`+root+`"}`)
	do("leave", `{"channel":"general","user":"sam.l"}`)
	do("join", `{"channel":"general","user":"sam.l"}`)
	do("rename", `{"channel":"general","name":"lobby"}`)
	do("open", `{"user":"mara"}`)
	do("inject", `{"fault":"rate_limit@auth.test,times=1,wait=3s"}`)
	if _, err := w.api.AuthTestContext(t.Context()); err == nil {
		t.Error("the fault was not injected")
	}
	do("heal", `{}`)
	do("settle", `{}`)
	want := []string{
		"message", "message", "message", "message.file_share", "message.message_changed", "reaction_added", "reaction_removed",
		"message.message_changed", "message", "user_change", "app_context_changed", "message.message_changed", "message.channel_leave", "member_left_channel", "message.channel_join", "member_joined_channel",
		"channel_rename", "app_home_opened",
	}
	if diff := cmp.Diff(kinds(e.heard(t, w.Slack)), want); diff != "" {
		t.Errorf("events (-got +want):\n%s", diff)
	}
	for path, n := range map[string]int{
		"messages?channel=lobby": 6, "messages?channel=lobby&thread=" + root: 2, "calls": 1, "deliveries": 18, "ephemerals": 0,
		"users": 4, "channels": 3,
	} {
		got, _ := order(t, w.Slack, http.MethodGet, path, "", "")["list"].([]any)
		if len(got) != n {
			t.Errorf("%s: %d, want %d", path, len(got), n)
		}
	}
}

func TestAnOrderThatIsNotUnderstoodSaysWhy(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	for _, c := range []struct{ name, path, body, kind, want string }{
		{"an act that there is not", "dance", `{}`, "application/json", `there is no act "dance"`},
		{"a form, as a page in a browser can send it", "say", `channel=general`, "application/x-www-form-urlencoded", "application/json"},
		{"a field that there is not", "say", `{"chanel":"general"}`, "application/json", "chanel"},
		{"nobody", "say", `{"channel":"general","user":"nobody","text":"x"}`, "application/json", "nobody"},
		{"nowhere", "say", `{"channel":"nowhere","user":"mara","text":"x"}`, "application/json", "nowhere"},
		{"a fault that there is not", "inject", `{"fault":"storm"}`, "application/json", "storm"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := order(t, w.Slack, http.MethodPost, c.path, c.body, c.kind)
			if text, _ := got["error"].(string); got["ok"] != false || !strings.Contains(text, c.want) {
				t.Errorf("got %v, want an error that names %s", got, c.want)
			}
		})
	}
}

func TestFaultsAreReadFromText(t *testing.T) {
	t.Parallel()
	got, err := simulate.ParseFault("failed_late@chat.*,times=3,skip=1,chance=0.5,wait=2s,status=502,error=fatal_error")
	want := simulate.Fault{Kind: simulate.FailedLate, On: "chat.*", Times: 3, Skip: 1, Chance: 0.5, Wait: 2e9, Status: 502, Error: "fatal_error"}
	if diff := cmp.Diff(got, want); diff != "" || err != nil {
		t.Errorf("got %v (-got +want):\n%s", err, diff)
	}
	for _, text := range []string{"", "storm", "rate_limit,times=x", "rate_limit,often=1"} {
		if f, err := simulate.ParseFault(text); err == nil {
			t.Errorf("%q was read as %+v", text, f)
		}
	}
}

func TestAnExportIsWhatWasSaidBefore(t *testing.T) {
	t.Parallel()
	s := open(t, simulate.SlackOptions{Export: os.DirFS("../testdata/workspace")})
	api := client(t, s)
	if auth, err := api.AuthTestContext(t.Context()); err != nil || auth.TeamID != "T0HARBOR" || auth.UserID != "U0EARSHOT" {
		t.Errorf("auth.test: %+v, %v", auth, err)
	}
	list, _, err := api.GetConversationsContext(t.Context(), &slack.GetConversationsParameters{Types: []string{"public_channel", "private_channel", "mpim", "im"}})
	if err != nil || len(list) != 7 {
		t.Errorf("the app sees %d conversations, %v; want 5 public ones, a private one and a DM", len(list), err)
	}
	thread, _, _, err := api.GetConversationRepliesContext(t.Context(), &slack.GetConversationRepliesParameters{ChannelID: "C0DEPLOYS", Timestamp: "1773150006.568509"})
	if err != nil {
		t.Fatal(err)
	}
	if len(thread) != 34 || thread[0].ReplyCount != len(thread)-1 || thread[0].LatestReply != thread[len(thread)-1].Timestamp {
		t.Errorf("the root counts %d replies up to %s, and there are %d", thread[0].ReplyCount, thread[0].LatestReply, len(thread)-1)
	}
	if len(s.Deliveries()) != 0 {
		t.Error("the app was told of what was said before")
	}
	if ts := s.Say("C0DEPLOYS", "U0MARA", "now"); ts <= thread[len(thread)-1].Timestamp {
		t.Errorf("what is said now is at %s", ts)
	}
	f, _, _, err := api.GetFileInfoContext(t.Context(), "F0MIGLOG", 0, 0)
	if err != nil || f.Name != "migrate-0142.log" || !strings.HasPrefix(f.URLPrivate, s.URL()) {
		t.Errorf("files.info: %+v, %v", f, err)
	}
}

func TestAFileThatIsNoTextIsUploadedAsBase64(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	answer := order(t, w.Slack, http.MethodPost, "upload", `{"channel":"general","user":"mara","name":"a.png","base64":"iVBORw0KGgr/"}`, "application/json")
	if answer["ok"] != true {
		t.Fatal(answer)
	}
	history, err := w.api.GetConversationHistoryContext(t.Context(), &slack.GetConversationHistoryParameters{ChannelID: w.general, Limit: 1})
	if err != nil || len(history.Messages) != 1 || len(history.Messages[0].Files) != 1 {
		t.Fatalf("got %v, %v", history, err)
	}
	if got, want := history.Messages[0].Files[0].Size, len("\x89PNG\r\n\x1a\n\xff"); got != want {
		t.Errorf("the file has %d bytes, want %d", got, want)
	}
	if got := order(t, w.Slack, http.MethodPost, "upload", `{"channel":"general","user":"mara","name":"a.png","base64":"?"}`, "application/json"); got["ok"] == true {
		t.Error("what is no base64 was taken")
	}
}

// TestANameOfSeveralIsRefusedWithTheirIDs orders people about who have the same name, in
// channels that have the same name.
func TestANameOfSeveralIsRefusedWithTheirIDs(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	for _, id := range []string{"U0KIM1", "U0KIM2"} {
		w.AddUser(simulate.User{ID: id, Name: "kim"})
		w.AddChannel(simulate.Channel{ID: "C" + id, Name: "twins", Members: []string{id}})
	}
	for body, want := range map[string]string{
		`{"channel":"general","user":"kim","text":"x"}`:    `"kim" is the name of 2: U0KIM1, U0KIM2; give one of these ids as "user"`,
		`{"channel":"@kim","user":"mara","text":"x"}`:      `"kim" is the name of 2: U0KIM1, U0KIM2; give one of these ids as "channel"`,
		`{"channel":"#twins","user":"U0KIM1","text":"x"}`:  `"twins" is the name of 2: CU0KIM1, CU0KIM2; give one of these ids as "channel"`,
		`{"channel":"CU0KIM1","user":"U0KIM1","text":"x"}`: "",
	} {
		answer := order(t, w.Slack, http.MethodPost, "say", body, "application/json")
		if got, _ := answer["error"].(string); !strings.HasPrefix(got, want) || (answer["ok"] == true) != (want == "") {
			t.Errorf("%s: got %v, want %q", body, answer, want)
		}
	}
}

// Somebody of another organisation and a guest are ordered by name.
func TestOrdersOfPeopleFromOutside(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	for act, want := range map[string]string{
		"external%20person": `"channel":"general","name":"dana","team":"ACME"`,
		"guest":             `"channel":"general","name":"gil"`,
	} {
		answer := order(t, w.Slack, http.MethodPost, act, "{"+want+"}", "application/json")
		if id, _ := answer["user"].(string); answer["ok"] != true || id == "" {
			t.Errorf("%s: %+v", act, answer)
		}
	}
}
