package slack_test

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/store"
)

func streaming(_ *simulate.SlackOptions, o *slack.Options) { o.Reply = slack.ReplyStream }

func TestAStreamBecomesTheReply(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		set   func(t *testing.T, x *speaker, id string)
		calls map[string]int
	}{
		{
			name:  "without a fault",
			calls: map[string]int{"chat.startStream": 1, "chat.stopStream": 1},
		},
		{
			name: "the end is refused",
			set: func(_ *testing.T, x *speaker, _ string) {
				x.slack.Inject(simulate.Fault{Kind: simulate.APIError, Error: "message_not_in_streaming_state", On: "chat.stopStream", Times: 1})
			},
			calls: map[string]int{"chat.startStream": 1, "chat.stopStream": 2, "chat.update": 2}, // update: a conflict, then done
		},
		{
			name: "the answer to the end is lost",
			set: func(_ *testing.T, x *speaker, _ string) {
				x.slack.Inject(simulate.Fault{Kind: simulate.LostResponse, On: "chat.stopStream", Times: 1})
			},
			calls: map[string]int{"chat.startStream": 1, "chat.stopStream": 1, "chat.update": 1},
		},
		{
			name: "the request of the end is lost",
			set: func(_ *testing.T, x *speaker, _ string) {
				x.slack.Inject(simulate.Fault{Kind: simulate.LostRequest, On: "chat.stopStream", Times: 1})
			},
			calls: map[string]int{"chat.startStream": 1, "chat.stopStream": 2, "chat.update": 2},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := newSpeaker(t, streaming)
			d := bot.Draft{Place: x.asked(t, x.general, "", "why?"), Text: "…", Key: "pKEY", Growing: true}
			m, err := x.Post(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			if m.Thread != d.Anchor.ID {
				t.Errorf("it stands in %q", m.Thread)
			}
			args := x.slack.Calls("chat.startStream")[0].Args
			if args["recipient_user_id"] != x.mara || args["recipient_team_id"] != string(x.Workspace()) {
				t.Errorf("it is for %v", args)
			}
			if c.set != nil {
				c.set(t, x, string(m.ID))
			}
			d.Text, d.Growing = "**because** of <it>", false
			if err := x.Update(t.Context(), d, m.ID); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(x.called(), c.calls); diff != "" {
				t.Errorf("calls, got -, want +:\n%s", diff)
			}
			x.wantReply(t, d, m, "*because* of &lt;it&gt;", "**because** of &lt;it>")
		})
	}
}

// wantReply checks that people see one whole reply, in one of the forms.
func (x *speaker) wantReply(t *testing.T, d bot.Draft, m earshot.Message, forms ...string) {
	t.Helper()
	posts := x.slack.Posts()
	if len(posts) != 1 || posts[0].TS != string(m.ID) || posts[0].Streaming || len(x.slack.PostsByMetadata("key")[d.Key]) != 1 {
		t.Fatalf("people see %+v", posts)
	}
	for _, f := range forms {
		if posts[0].Text == f {
			return
		}
	}
	t.Errorf("it says %q, want one of %q", posts[0].Text, forms)
}

// The ids of messages are a channel's own: two may have the same.
func TestStreamsOfTwoChannelsAreKeptApart(t *testing.T) {
	t.Parallel()
	now := time.Now()
	x := newSpeaker(t, func(so *simulate.SlackOptions, o *slack.Options) {
		o.Reply, so.Now = slack.ReplyStream, func() time.Time { return now }
	})
	random := x.slack.AddChannel(simulate.Channel{Name: "random", Members: []string{x.mara, x.slack.App().UserID}})
	var ids []string
	drafts := map[string]bot.Draft{}
	for _, channel := range []string{x.general, random} {
		d := bot.Draft{Place: x.asked(t, channel, "", "why?"), Text: "…", Key: "p" + channel, Growing: true}
		m, err := x.Post(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		d.Text, d.Growing = "because of "+channel, false
		drafts[channel], ids = d, append(ids, string(m.ID))
	}
	if ids[0] != ids[1] {
		t.Fatalf("the streams have the ids %q: the test sees nothing", ids)
	}
	for channel, d := range drafts {
		if err := x.Update(t.Context(), d, earshot.MessageID(ids[0])); err != nil {
			t.Errorf("%s: %v", channel, err)
		}
	}
	if n := x.called(); n["chat.startStream"] != 2 || n["chat.stopStream"] != 2 || n["chat.update"] > 0 {
		t.Errorf("calls: %v, want each stream begun and ended", n)
	}
}

func TestAStreamIsWrittenTo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		fault  *simulate.Fault
		shown  []string
		last   string
		stream bool // the whole text went by the stream
	}{
		{
			name: "word by word", shown: []string{"one two", "one two three", "one two three four"}, last: "one two three four five", stream: true,
		},
		{
			name: "and takes back what was said", shown: []string{"one two three", "other words than those"}, last: "other words than those before",
		},
		{
			name: "and an answer is lost", fault: &simulate.Fault{Kind: simulate.LostResponse, On: "chat.appendStream", Times: 1},
			shown: []string{"one two", "one two three"}, last: "one two three four",
		},
		{
			name: "and it has ended by itself", fault: &simulate.Fault{Kind: simulate.APIError, Error: "message_not_in_streaming_state", On: "chat.appendStream"},
			shown: []string{"one two", "one two three"}, last: "one two three four",
		},
		{
			name: "and nothing is shown", last: "one", stream: true,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			now := time.Now()
			x := newSpeaker(t, func(_ *simulate.SlackOptions, o *slack.Options) {
				o.Reply = slack.ReplyStream
				o.Now = func() time.Time {
					mu.Lock()
					defer mu.Unlock()
					now = now.Add(2 * time.Second) // no text comes too early
					return now
				}
			})
			d := bot.Draft{Place: x.asked(t, x.general, "", "why?"), Text: "…", Key: "pKEY", Growing: true}
			m, err := x.Post(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			if c.fault != nil {
				x.slack.Inject(*c.fault)
			}
			for _, text := range c.shown {
				x.Writing(t.Context(), d.Place, text, false) // what comes while a call is under way is left out
			}
			x.Writing(t.Context(), d.Place, "", true)
			d.Text, d.Growing = c.last, false
			if err := x.Update(t.Context(), d, m.ID); err != nil {
				t.Fatal(err)
			}
			x.wantReply(t, d, m, c.last)
			if len(c.shown) > 0 && x.called()["chat.appendStream"] == 0 {
				t.Error("nothing was shown before the end")
			}
			if streamed := x.called()["chat.update"] == 0; streamed != c.stream {
				t.Errorf("calls: %v", x.called())
			}
		})
	}
}

func TestAStreamThatALostAnswerBeganIsFoundAndEnded(t *testing.T) {
	t.Parallel()
	x := newSpeaker(t, streaming)
	earlier := bot.Draft{Place: x.asked(t, x.general, "", "what?"), Text: "that", Key: "rKEY"}
	if _, err := x.Post(t.Context(), earlier); err != nil {
		t.Fatal(err)
	}
	d := bot.Draft{Place: x.asked(t, x.general, string(earlier.Anchor.ID), "why?"), Text: "…", Key: "pKEY", Growing: true}
	if _, err := x.Find(t.Context(), d); err == nil {
		t.Error("a stream is found that was not begun")
	}
	x.slack.Inject(simulate.Fault{Kind: simulate.LostResponse, On: "chat.startStream"})
	if _, err := x.Post(t.Context(), d); meaning(err) != unknown {
		t.Fatalf("the error is %v", err)
	}
	m, err := x.Find(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	d.Text, d.Growing = "because", false
	if err := x.Update(t.Context(), d, m.ID); err != nil {
		t.Fatal(err)
	}
	if posts := x.slack.PostsByMetadata("key")["pKEY"]; len(posts) != 1 || posts[0].TS != string(m.ID) || posts[0].Text != "because" || posts[0].Streaming {
		t.Errorf("people see %+v", x.slack.Posts())
	}
}

func TestWhereNoStreamBeginsThePlaceholderIsPosted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		fault  simulate.FaultKind
		code   string
		change func(*bot.Draft)
		tries  int // of the stream, in two posts
	}{
		{"streams are not supported here", simulate.APIError, "channel_type_not_supported", nil, 1},
		{"the rate is used up", simulate.RateLimit, "", nil, 2},
		{"a bot asks", "", "", func(d *bot.Draft) { d.Anchor.Author.Kind = earshot.Bot }, 0},
		{"the text is whole", "", "", func(d *bot.Draft) { d.Growing = false }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := newSpeaker(t, func(_ *simulate.SlackOptions, o *slack.Options) {
				at, n := time.Now(), 0
				o.Reply, o.Now = slack.ReplyStream, func() time.Time { n++; return at.Add(time.Duration(n) * time.Second) }
			})
			if c.fault != "" {
				x.slack.Inject(simulate.Fault{Kind: c.fault, Error: c.code, On: "chat.startStream"})
			}
			for range 2 {
				d := bot.Draft{Place: x.asked(t, x.general, "", "why?"), Text: "…", Key: "pKEY", Growing: true}
				d.Anchor.Time += 1e9
				if c.change != nil {
					c.change(&d)
				}
				if _, err := x.Post(t.Context(), d); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff([2]int{x.called()["chat.startStream"], x.called()["chat.postMessage"]}, [2]int{c.tries, 2}); diff != "" {
				t.Errorf("calls, got -, want +:\n%s", diff)
			}
		})
	}
}

// A wire answers the Web API without a network, and writes the status line
// down.
type wire struct {
	mu     sync.Mutex
	status []string
	refuse string
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	answer := `{"ok":true,"url":"https://x.slack.com/","user":"earshot","user_id":"U1","team_id":"T1","bot_id":"B1"}`
	if strings.HasSuffix(r.URL.Path, "assistant.threads.setStatus") {
		args, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, err
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.status = append(w.status, args.Get("thread_ts")+" "+args.Get("status"))
		if w.refuse != "" {
			answer = `{"ok":false,"error":"` + w.refuse + `"}`
		}
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(answer)), Request: r}, nil
}

func TestTheStatusLineIsKeptAliveUntilTheAnswerIsThere(t *testing.T) {
	t.Parallel()
	place := bot.Place{
		Channel: earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Kind: earshot.KindChannel},
		Anchor:  earshot.Message{ID: "1.000001", Time: 1_000_001},
	}
	for _, c := range []struct {
		name   string
		refuse string
		place  bot.Place
		end    func(p *slack.Platform, cancel func())
		want   []string
	}{
		{
			name: "to the end", place: place,
			end:  func(p *slack.Platform, _ func()) { p.Writing(context.Background(), place, "done", true) },
			want: []string{"1.000001 is thinking…", "1.000001 is thinking…", "1.000001 is writing…", "1.000001 is writing…", "1.000001 "},
		},
		{
			name: "until the turn is given up", place: place,
			end:  func(_ *slack.Platform, cancel func()) { cancel() },
			want: []string{"1.000001 is thinking…", "1.000001 is thinking…", "1.000001 is writing…", "1.000001 is writing…", "1.000001 "},
		},
		{
			name: "not where it is refused", place: place, refuse: "missing_scope",
			end:  func(_ *slack.Platform, cancel func()) { cancel() },
			want: []string{"1.000001 is thinking…"},
		},
		{
			name:  "not at the top level of a DM",
			place: bot.Place{Channel: earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "D1", Kind: earshot.KindDM}, Anchor: place.Anchor},
			end:   func(_ *slack.Platform, cancel func()) { cancel() },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				st, err := store.Open(t.Context(), "memory:", nil)
				if err != nil {
					t.Fatal(err)
				}
				defer func() { _ = st.Close() }()
				w := &wire{refuse: c.refuse}
				p, err := slack.Open(t.Context(), slack.Options{BotToken: secret.New("xoxb-1"), Store: st, HTTPClient: &http.Client{Transport: w}})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				p.Writing(ctx, c.place, "", false)
				time.Sleep(100 * time.Second) // of the bubble's clock: once again after 90 s
				for range 3 {
					p.Writing(ctx, c.place, "be", false)
					synctest.Wait()
				}
				time.Sleep(100 * time.Second)
				c.end(p, cancel)
				time.Sleep(10 * time.Minute)
				w.mu.Lock()
				defer w.mu.Unlock()
				if diff := cmp.Diff(w.status, c.want); diff != "" {
					t.Errorf("got -, want +:\n%s", diff)
				}
			})
		})
	}
}
