package simulate_test

import (
	"bytes"
	stdcmp "cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"
	"go.uber.org/goleak"

	"github.com/earshot-ai/earshot/simulate"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// open starts a fake Slack that ends with the test.
func open(t *testing.T, o simulate.SlackOptions) *simulate.Slack {
	t.Helper()
	s, err := simulate.NewSlack(&o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// A team is a small world: two people of one name, a channel that the app is
// in, and one that it is not.
type team struct {
	*simulate.Slack
	mara, sam, sam2  string
	general, private string
	api              *slack.Client
}

func small(t *testing.T, o simulate.SlackOptions) *team {
	t.Helper()
	s := open(t, o)
	w := &team{Slack: s}
	w.mara = s.AddUser(simulate.User{Name: "mara", RealName: "Mara Vos"})
	w.sam = s.AddUser(simulate.User{Name: "sam", RealName: "Sam", DisplayName: "Sam"})
	w.sam2 = s.AddUser(simulate.User{Name: "sam.l", RealName: "Sam", DisplayName: "Sam"})
	w.general = s.AddChannel(simulate.Channel{Name: "general", Members: []string{w.mara, w.sam, w.sam2, s.App().UserID}})
	w.private = s.AddChannel(simulate.Channel{Name: "secret", Kind: simulate.Private, Members: []string{w.mara}})
	w.api = client(t, s)
	return w
}

// client is a client of Slack's API that nobody here wrote.
func client(t *testing.T, s *simulate.Slack) *slack.Client {
	t.Helper()
	tr := &http.Transport{}
	t.Cleanup(tr.CloseIdleConnections)
	return slack.New(s.App().BotToken, slack.OptionAPIURL(s.URL()+"/api/"), slack.OptionAppLevelToken(s.App().AppToken), slack.OptionHTTPClient(&http.Client{Transport: tr}))
}

// mention addresses the app.
func (w *team) mention(text string) string { return "<@" + w.App().UserID + "> " + text }

// An ear is a bot's event URL: it verifies each signature and keeps what came.
type ear struct {
	*httptest.Server
	mu     sync.Mutex // guards what follows
	got    []heard
	answer func(h heard, w http.ResponseWriter) // nil is 200
}

type heard struct {
	Outer   string `json:"type"`
	EventID string `json:"event_id"`
	Event   struct {
		Type    string
		Subtype string
		Text    string
		TS      string
		Channel any
		Hidden  bool
		Message struct {
			Text, Subtype string
			ReplyCount    int `json:"reply_count"`
		}
	}
	retry, reason string
}

func listen(t *testing.T, s *simulate.Slack) *ear {
	t.Helper()
	e := &ear{}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		v, err := slack.NewSecretsVerifier(r.Header, s.App().SigningSecret)
		if err == nil {
			_, _ = v.Write(body)
			err = v.Ensure()
		}
		if err != nil {
			t.Errorf("signature: %v", err)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var challenge struct{ Type, Challenge string }
		if json.Unmarshal(body, &challenge) == nil && challenge.Type == "url_verification" {
			_, _ = io.WriteString(w, challenge.Challenge)
			return
		}
		h := heard{retry: r.Header.Get("X-Slack-Retry-Num"), reason: r.Header.Get("X-Slack-Retry-Reason")}
		if err := json.Unmarshal(body, &h); err != nil {
			t.Errorf("event: %v", err)
		}
		e.mu.Lock()
		e.got = append(e.got, h)
		e.mu.Unlock()
		if e.answer != nil {
			e.answer(h, w)
		}
	}))
	t.Cleanup(e.Close)
	if err := s.Subscribe(t.Context(), e.URL); err != nil {
		t.Fatal(err)
	}
	return e
}

// heard waits until all events are delivered and returns what came.
func (e *ear) heard(t *testing.T, s *simulate.Slack) []heard {
	t.Helper()
	if err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.got)
}

func kinds(list []heard) []string {
	var out []string
	for _, h := range list {
		k := stdcmp.Or(h.Event.Type, h.Outer)
		if h.Event.Subtype != "" {
			k += "." + h.Event.Subtype
		}
		out = append(out, k)
	}
	return out
}

func TestAMentionArrivesTwiceUnderDifferentEventIDs(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	e := listen(t, w.Slack)
	ts := w.Say(w.general, w.mara, w.mention("what is the berth count?"))
	got := e.heard(t, w.Slack)
	if diff := cmp.Diff(slices.Sorted(slices.Values(kinds(got))), []string{"app_mention", "message"}); diff != "" {
		t.Fatalf("events (-got +want):\n%s", diff)
	}
	if got[0].EventID == got[1].EventID {
		t.Errorf("both have the event id %s", got[0].EventID)
	}
	if got[0].Event.TS != ts || got[1].Event.TS != ts {
		t.Errorf("got ts %s and %s, want %s twice", got[0].Event.TS, got[1].Event.TS, ts)
	}
}

func TestWhatPeopleDoIsTold(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{App: simulate.App{AgentView: true}})
	webhook := w.AddBot(simulate.Bot{Name: "alerts"})
	file := w.AddFile(simulate.File{Name: "plan.txt", Data: []byte("plan")})
	root := w.Post(simulate.PostedMessage{Channel: w.general, User: w.mara, Text: "before", Mute: true})
	reply := w.Post(simulate.PostedMessage{Channel: w.general, User: w.sam, Thread: root, Text: "a reply", Mute: true})
	inPrivate := w.Post(simulate.PostedMessage{Channel: w.private, User: w.mara, Text: "secret", Mute: true})
	for _, c := range []struct {
		name string
		act  func()
		want []string
	}{
		{"a message", func() { w.Say(w.general, w.mara, "hello") }, []string{"message"}},
		{"a reply", func() { w.Reply(w.general, root, w.sam, "yes") }, []string{"message"}},
		{"a reply that the channel sees too", func() { w.Broadcast(w.general, root, w.sam, "all") }, []string{"message.thread_broadcast"}},
		{"a file", func() { w.Upload(w.general, w.mara, "see", file) }, []string{"message.file_share"}},
		{"a webhook's alert", func() { w.Say(w.general, webhook, "disk full") }, []string{"message.bot_message"}},
		{"an edit", func() { w.Edit(w.general, root, "after") }, []string{"message.message_changed"}},
		{"a deleted file", func() { w.DeleteFile(file) }, []string{"message.message_changed"}},
		{"too many events", func() { w.LimitEvents() }, []string{"app_rate_limited"}},
		{"an unfurl", func() { w.UnfurlEdit(w.general, root, "https://example.com", "Example", "text") }, []string{"message.message_changed"}},
		{"an app's unfurl", func() {
			w.UnfurlAs(webhook, w.general, root, "https://example.com/1", "Mara", "approved")
		}, []string{"message.message_changed"}},
		{"a forward", func() { w.Forward(w.general, w.sam, "see", w.private, inPrivate) }, []string{"message"}},
		{"a deleted reply", func() { w.Delete(w.general, reply) }, []string{"message.message_deleted"}},
		{"a deleted root", func() { w.DeleteRoot(w.general, root) }, []string{"message.message_changed"}},
		{"a reaction", func() { w.React(w.general, root, w.sam, "eyes") }, []string{"reaction_added"}},
		{"a reaction taken back", func() { w.Unreact(w.general, root, w.sam, "eyes") }, []string{"reaction_removed"}},
		{"a rename", func() { w.Rename(w.general, "lobby") }, []string{"channel_rename"}},
		{"a person leaves", func() { w.Leave(w.general, w.sam2) }, []string{"message.channel_leave", "member_left_channel"}},
		{"a person joins", func() { w.Join(w.general, w.sam2) }, []string{"message.channel_join", "member_joined_channel"}},
		{"a new name", func() { w.ChangeUser(w.sam, "Samuel", "") }, []string{"user_change"}},
		{"a DM", func() { w.Say(w.OpenDM(w.mara), w.mara, w.mention("psst")) }, []string{"message"}},
		{"a home", func() { w.OpenHome(w.mara) }, []string{"app_home_opened"}},
		{"what a person looks at", func() { w.LookAt(w.mara, w.general) }, []string{"app_context_changed"}},
		{"where the app is not", func() { w.Say(w.private, w.mara, w.mention("secret")) }, nil},
		{"put out", func() { w.Kick(w.general, w.App().UserID, w.mara) }, []string{"channel_left"}},
		{"uninstalled", func() { w.Uninstall() }, []string{"tokens_revoked", "app_uninstalled"}},
	} {
		// In order: what is done stays.
		t.Run(c.name, func(t *testing.T) {
			e := listen(t, w.Slack)
			c.act()
			if diff := cmp.Diff(kinds(e.heard(t, w.Slack)), c.want); diff != "" {
				t.Errorf("events (-got +want):\n%s", diff)
			}
		})
	}
}

// What is shared and unfurled has the fields that Slack gives it.
func TestWhatIsSharedLooksAsSlackMakesIt(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	tracker := w.AddBot(simulate.Bot{Name: "tracker"})
	root := w.Say(w.general, w.mara, "root")
	reply := w.Reply(w.general, root, w.sam, "down *again*")
	inPrivate := w.Say(w.private, w.mara, "secret")
	w.Forward(w.general, w.mara, "", w.general, reply)
	w.Forward(w.general, w.mara, "look", w.private, inPrivate)
	w.UnfurlEdit(w.general, root, "https://example.org/a", "Title", "text")
	w.UnfurlAs(tracker, w.general, root, "https://example.org/b", "Mara", "approved")
	list, _ := call(t, w.Slack, "conversations.history", map[string]string{"channel": w.general})["messages"].([]any)
	slices.Reverse(list)
	var got []map[string]any
	for _, m := range list {
		attachments, _ := m.(map[string]any)["attachments"].([]any)
		for _, a := range attachments {
			brief := map[string]any{}
			for _, k := range []string{"is_share", "is_msg_unfurl", "is_reply_unfurl", "is_app_unfurl", "ts", "channel_id", "author_id", "author_name", "author_subname", "text", "title", "footer", "from_url", "bot_id"} {
				if v, ok := a.(map[string]any)[k]; ok {
					brief[k] = v
				}
			}
			got = append(got, brief)
		}
	}
	link := func(channel, ts string) string {
		return call(t, w.Slack, "chat.getPermalink", map[string]string{"channel": channel, "message_ts": ts})["permalink"].(string)
	}
	want := []map[string]any{
		{"from_url": "https://example.org/a", "title": "Title", "text": "text"},
		{"from_url": "https://example.org/b", "is_app_unfurl": true, "bot_id": tracker, "author_name": "Mara", "text": "approved"},
		{"is_share": true, "is_msg_unfurl": true, "is_reply_unfurl": true, "ts": reply, "channel_id": w.general, "author_id": w.sam, "author_name": "Sam", "author_subname": "Sam",
			"text": "down *again*", "footer": "Thread in #general", "from_url": link(w.general, reply)},
		{"is_share": true, "is_msg_unfurl": true, "ts": inPrivate, "channel_id": w.private, "author_id": w.mara, "author_name": "Mara Vos", "author_subname": "Mara Vos",
			"text": "secret", "footer": "Slack Conversation"},
	}
	for _, m := range got {
		if m["channel_id"] == w.private {
			delete(m, "from_url") // the app is not there
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("attachments (-want +got):\n%s", diff)
	}
}

func TestADeletedRootStaysUntilItsLastReplyGoes(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	e := listen(t, w.Slack)
	root := w.Say(w.general, w.mara, "root")
	reply := w.Reply(w.general, root, w.sam, "reply")
	w.DeleteRoot(w.general, root)
	thread := w.Thread(w.general, root)
	if len(thread) != 2 || !thread[0].Tombstone || thread[0].Text != "This message was deleted." {
		t.Fatalf("the thread is %+v, want a tombstone and its reply", thread)
	}
	w.Delete(w.general, reply)
	if left := w.Messages(w.general); len(left) != 0 {
		t.Errorf("left are %+v, want nothing", left)
	}
	got := e.heard(t, w.Slack)
	want := []string{"message", "message", "message.message_changed", "message.message_deleted", "message.message_deleted"}
	if diff := cmp.Diff(kinds(got), want); diff != "" {
		t.Fatalf("events (-got +want):\n%s", diff)
	}
	if m := got[2].Event.Message; m.Subtype != "tombstone" || m.ReplyCount != 1 || !got[2].Event.Hidden {
		t.Errorf("the change is %+v, want a hidden tombstone with one reply", got[2].Event)
	}
}

func TestAnEventIsSentAgainUntilItIsAcknowledged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		answer func(heard, http.ResponseWriter)
		want   []string // retry numbers and reasons
		given  int      // events given up
	}{
		{"at the third try", func(h heard, w http.ResponseWriter) {
			if h.retry != "2" {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}, []string{"", "1 http_error", "2 http_error"}, 0},
		{"never", func(_ heard, w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) },
			[]string{"", "1 http_error", "2 http_error", "3 http_error"}, 1},
		{"when it asks for no retry", func(_ heard, w http.ResponseWriter) {
			w.Header().Set("X-Slack-No-Retry", "1")
			w.WriteHeader(http.StatusInternalServerError)
		}, []string{""}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := small(t, simulate.SlackOptions{Retries: []time.Duration{0, time.Millisecond, time.Millisecond}})
			e := listen(t, w.Slack)
			e.answer = c.answer
			w.Say(w.general, w.mara, "hello")
			got := e.heard(t, w.Slack)
			var tries []string
			for _, h := range got {
				tries = append(tries, strings.TrimSpace(h.retry+" "+h.reason))
				if h.EventID != got[0].EventID {
					t.Errorf("a retry has event id %s, want %s", h.EventID, got[0].EventID)
				}
			}
			if diff := cmp.Diff(tries, c.want); diff != "" {
				t.Errorf("tries (-got +want):\n%s", diff)
			}
			if n := len(w.Undelivered()); n != c.given {
				t.Errorf("%d events were given up, want %d", n, c.given)
			}
		})
	}
}

func TestASlowAnswerIsATimeout(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{AckWithin: 300 * time.Millisecond, Retries: []time.Duration{0}})
	e := listen(t, w.Slack)
	release := make(chan struct{})
	defer close(release)
	e.answer = func(h heard, _ http.ResponseWriter) {
		if h.retry == "" {
			<-release
		}
	}
	w.Say(w.general, w.mara, "hello")
	got := e.heard(t, w.Slack)
	if last := got[len(got)-1]; last.retry != "1" || last.reason != "http_timeout" {
		t.Errorf("got %+v, want a second try for http_timeout", got)
	}
}

func TestAnEventMayComeAgainLater(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	e := listen(t, w.Slack)
	w.Say(w.general, w.mara, "hello")
	first := e.heard(t, w.Slack)[0]
	w.Redeliver(first.EventID, false)
	w.Redeliver(first.EventID, true)
	got := e.heard(t, w.Slack)
	if len(got) != 3 || got[1].EventID != first.EventID || got[2].EventID == first.EventID || got[2].Event.TS != first.Event.TS {
		t.Errorf("heard %+v, want the message under its id, and under another", got)
	}
}

func TestSeveralSendersDoNotWaitForEachOther(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{Senders: 3, AckWithin: time.Minute})
	e := listen(t, w.Slack)
	var together sync.WaitGroup
	together.Add(3)
	e.answer = func(heard, http.ResponseWriter) {
		together.Done()
		together.Wait() // until all three are here
	}
	for range 3 {
		w.Say(w.general, w.mara, "hello")
	}
	if got := e.heard(t, w.Slack); len(got) != 3 {
		t.Errorf("heard %d", len(got))
	}
}

func TestUntilIsAskedWheneverSomethingHappens(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	w := small(t, simulate.SlackOptions{Log: slog.New(slog.NewTextHandler(&log, nil))})
	var posting sync.WaitGroup
	posting.Go(func() {
		if _, _, err := w.api.PostMessageContext(t.Context(), w.general, slack.MsgOptionText("confidential", false)); err != nil {
			t.Error(err)
		}
	})
	if err := w.Until(t.Context(), func() bool { return len(w.Posts()) == 1 }); err != nil {
		t.Error(err)
	}
	posting.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := w.Until(ctx, func() bool { return false }); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Until says %v of what never happens", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if got := log.String(); !strings.Contains(got, "method=chat.postMessage") || strings.Contains(got, "confidential") || strings.Contains(got, w.App().BotToken) {
		t.Errorf("the log is %s", got)
	}
}

func TestAMentionNeedsNoHistoryScope(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{App: simulate.App{Scopes: []string{"app_mentions:read"}}})
	e := listen(t, w.Slack)
	w.Say(w.general, w.mara, "among ourselves")
	w.Say(w.general, w.mara, w.mention("hello"))
	if diff := cmp.Diff(kinds(e.heard(t, w.Slack)), []string{"app_mention"}); diff != "" {
		t.Errorf("events (-got +want):\n%s", diff)
	}
}

func TestAnURLIsVerifiedBeforeEventsGoThere(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{})
	deaf := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(deaf.Close)
	if err := w.Subscribe(t.Context(), deaf.URL); err == nil {
		t.Error("an URL that does not answer the challenge was taken")
	}
	w.RotateSecret("another secret")
	listen(t, w.Slack) // verifies with the new one
}

func TestOnlyLoopbackIsServed(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", "192.0.2.1:80", "localhost", ":8080"} {
		if s, err := simulate.NewSlack(&simulate.SlackOptions{Listen: address}); err == nil {
			s.Close()
			t.Errorf("%s was served", address)
		}
	}
}
