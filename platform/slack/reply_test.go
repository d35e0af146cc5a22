package slack_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/store"
)

// A speaker is a platform that posts in a fake Slack, without a bot.
type speaker struct {
	*slack.Platform
	slack         *simulate.Slack
	store         earshot.Store
	mara, general string
}

func newSpeaker(t *testing.T, set func(*simulate.SlackOptions, *slack.Options)) *speaker {
	t.Helper()
	so, o := simulate.SlackOptions{Tier: simulate.TierUnlimited}, slack.Options{}
	if set != nil {
		set(&so, &o)
	}
	s, err := simulate.NewSlack(&so)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	x := &speaker{slack: s}
	if x.store, err = store.Open(t.Context(), "memory:", nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.store.Close() })
	x.mara = s.AddUser(simulate.User{Name: "mara"})
	x.general = s.AddChannel(simulate.Channel{Name: "general", Members: []string{x.mara, s.App().UserID}})
	o.APIURL, o.BotToken, o.Store = s.URL()+"/api/", secret.New(s.App().BotToken), x.store
	if x.Platform, err = slack.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.AwaitStatusLines) // before their Slack goes
	s.ForgetCalls()
	return x
}

// asked has mara say something, and returns where the answer belongs.
func (x *speaker) asked(t *testing.T, channel, root, text string) bot.Place {
	t.Helper()
	id := x.slack.Post(simulate.PostedMessage{Channel: channel, Thread: root, User: x.mara, Text: text})
	at, err := earshot.ParseTime(id)
	if err != nil {
		t.Fatal(err)
	}
	place := bot.Place{
		Channel: earshot.Channel{Platform: earshot.Slack, Workspace: x.Workspace(), ID: earshot.ChannelID(channel), Kind: earshot.KindChannel},
		Anchor:  earshot.Message{ID: earshot.MessageID(id), Time: at, Thread: earshot.MessageID(root), Text: text, Author: earshot.Author{ID: earshot.AuthorID(x.mara), Kind: earshot.Human}},
		Thread:  earshot.MessageID(root),
	}
	if strings.HasPrefix(channel, "D") {
		place.Channel.Kind = earshot.KindDM
	}
	x.know(t, place.Channel, place.Anchor)
	if err := x.store.PutChannel(t.Context(), place.Channel); err != nil {
		t.Fatal(err)
	}
	return place
}

func (x *speaker) know(t *testing.T, c earshot.Channel, m earshot.Message) {
	t.Helper()
	if err := x.store.PutChannel(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if _, err := x.store.Record(t.Context(), c.Scope(), m); err != nil {
		t.Fatal(err)
	}
}

// called counts calls by method.
func (x *speaker) called() map[string]int {
	n := map[string]int{}
	for _, c := range x.slack.Calls() {
		n[c.Method]++
	}
	return n
}

func TestAReplyStandsWhereItBelongs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		dm, root  bool
		reply     bool
		wantReply bool
	}{
		{name: "a question in the channel begins a thread", wantReply: true},
		{name: "a question in a thread is answered there", reply: true, wantReply: true},
		{name: "a direct message is answered after it", dm: true},
		{name: "a direct message in a thread is answered there", dm: true, reply: true, wantReply: true},
		{name: "a direct message that begins a thread is answered in it", dm: true, root: true, wantReply: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := newSpeaker(t, nil)
			channel, root := x.general, ""
			if c.dm {
				channel = x.slack.OpenDM(x.mara)
			}
			if c.reply {
				root = string(x.asked(t, channel, "", "root").Anchor.ID)
			}
			place := x.asked(t, channel, root, "why?")
			if c.root {
				place.Anchor.Thread = place.Anchor.ID
			}
			m, err := x.Post(t.Context(), bot.Draft{Place: place, Text: "**because** <b> <!here>", Key: "rKEY"})
			if err != nil {
				t.Fatal(err)
			}
			want := earshot.MessageID("")
			if c.wantReply {
				if want = place.Anchor.ID; c.reply {
					want = place.Thread
				}
			}
			if m.Thread != want || m.ID == "" || m.Time == 0 {
				t.Errorf("got %+v, want thread %q", m, want)
			}
			posts := x.slack.PostsByMetadata("key")["rKEY"]
			if len(posts) != 1 || posts[0].TS != string(m.ID) || posts[0].Thread != string(want) || posts[0].Text != "*because* &lt;b&gt; &lt; !here&gt;" {
				t.Errorf("people see %+v", posts)
			}
			if diff := cmp.Diff(x.called(), map[string]int{"chat.postMessage": 1}); diff != "" {
				t.Errorf("calls, got -, want +:\n%s", diff)
			}
			args := x.slack.Calls()[0].Args
			for k, v := range map[string]string{
				"unfurl_links": "false", "unfurl_media": "false", "parse": "none", "link_names": "false",
				"blocks": `[{"text":"**because** \u0026lt;b\u003e \u0026lt; !here\u003e","type":"markdown"}]`,
			} {
				if args[k] != v {
					t.Errorf("%s is %q, want %q", k, args[k], v)
				}
			}
		})
	}
}

func TestAReplyNeverLandsInTheChannelBecauseItsThreadIsGone(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		set   func(t *testing.T, x *speaker, p *bot.Place)
		fails bool
		calls map[string]int
	}{
		{
			name:  "events tell that it is there",
			calls: map[string]int{"chat.postMessage": 1},
		},
		{
			name: "events may have been missed and it is there",
			set: func(t *testing.T, x *speaker, p *bot.Place) {
				p.Anchor.Time = earshot.TimeOf(time.Now().Add(-time.Hour))
			},
			calls: map[string]int{"conversations.replies": 1, "chat.postMessage": 1},
		},
		{
			name: "events may have been missed and it is gone",
			set: func(t *testing.T, x *speaker, p *bot.Place) {
				x.slack.Delete(x.general, string(p.Anchor.ID))
				p.Anchor.Time = earshot.TimeOf(time.Now().Add(-time.Hour))
			},
			fails: true, calls: map[string]int{"conversations.replies": 1},
		},
		{
			name: "its root was deleted and it lives on",
			set: func(t *testing.T, x *speaker, p *bot.Place) {
				root := p.Anchor.ID
				*p = x.asked(t, x.general, string(root), "and?")
				x.slack.DeleteRoot(x.general, string(root))
				x.know(t, p.Channel, earshot.Message{ID: root, Time: p.Anchor.Time - 1, Deleted: true})
			},
			calls: map[string]int{"conversations.replies": 1, "chat.postMessage": 1},
		},
		{
			name: "nobody told that it is gone",
			set: func(t *testing.T, x *speaker, p *bot.Place) {
				x.slack.Delete(x.general, string(p.Anchor.ID))
			},
			fails: true, calls: map[string]int{"chat.postMessage": 1, "chat.delete": 1},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := newSpeaker(t, nil)
			place := x.asked(t, x.general, "", "why?")
			if c.set != nil {
				c.set(t, x, &place)
			}
			_, err := x.Post(t.Context(), bot.Draft{Place: place, Text: "because", Key: "rKEY"})
			var e *bot.PostError
			if c.fails != (errors.As(err, &e) && e.Retry == 0) || !c.fails && err != nil {
				t.Errorf("the error is %v", err)
			}
			if diff := cmp.Diff(x.called(), c.calls); diff != "" {
				t.Errorf("calls, got -, want +:\n%s", diff)
			}
			for _, m := range x.slack.Posts() {
				if m.Thread == "" {
					t.Errorf("it stands in the channel: %+v", m)
				}
			}
			if c.fails == (len(x.slack.Posts()) == 1) {
				t.Errorf("people see %+v", x.slack.Posts())
			}
		})
	}
}

// What an error of the bot's means.
const (
	itIsThere = "ok"
	later     = "not posted, later"
	never     = "not posted, never"
	unknown   = "unknown"
)

func meaning(err error) string {
	var e *bot.PostError
	switch {
	case err == nil:
		return itIsThere
	case !errors.As(err, &e):
		return unknown
	case e.Retry > 0:
		return later
	}
	return never
}

func TestWhatAnErrorOfAPostMeans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault  simulate.Fault
		want   string
		posted int
	}{
		{simulate.Fault{Kind: simulate.RateLimit, Wait: 3 * time.Second}, later, 0},
		{simulate.Fault{Kind: simulate.APIError, Error: "ratelimited"}, later, 0},
		{simulate.Fault{Kind: simulate.APIError, Error: "external_channel_migrating"}, later, 0},
		{simulate.Fault{Kind: simulate.APIError, Error: "channel_not_found"}, never, 0},
		{simulate.Fault{Kind: simulate.APIError, Error: "not_in_channel"}, never, 0},
		{simulate.Fault{Kind: simulate.APIError, Error: "restricted_action"}, never, 0},
		{simulate.Fault{Kind: simulate.APIError, Error: "missing_scope"}, never, 0},
		{simulate.Fault{Kind: simulate.APIError, Error: "internal_error"}, unknown, 0},
		{simulate.Fault{Kind: simulate.APIError, Error: "fatal_error"}, unknown, 0},
		{simulate.Fault{Kind: simulate.ServerError, Status: 503}, unknown, 0},
		{simulate.Fault{Kind: simulate.LostRequest}, unknown, 0},
		{simulate.Fault{Kind: simulate.LostResponse}, unknown, 1},
		{simulate.Fault{Kind: simulate.FailedLate}, unknown, 1},
		{simulate.Fault{Kind: simulate.BadJSON}, unknown, 1},
	} {
		t.Run(fmt.Sprintf("%s %s", c.fault.Kind, c.fault.Error), func(t *testing.T) {
			t.Parallel()
			x := newSpeaker(t, nil)
			place := x.asked(t, x.general, "", "why?")
			c.fault.On = "chat.postMessage"
			x.slack.Inject(c.fault)
			d := bot.Draft{Place: place, Text: "because", Key: "rKEY"}
			_, err := x.Post(t.Context(), d)
			if got := meaning(err); got != c.want {
				t.Errorf("%v means %q, want %q", err, got, c.want)
			}
			if got := x.called()["chat.postMessage"]; got != 1 {
				t.Errorf("it was posted %d times", got)
			}
			if err != nil && (strings.Contains(err.Error(), "xox") || strings.Contains(err.Error(), "/api/")) {
				t.Errorf("the error tells too much: %v", err)
			}
			m, err := x.Find(t.Context(), d)
			switch {
			case c.posted == 1 && (err != nil || string(m.ID) != x.slack.Posts()[0].TS):
				t.Errorf("found %+v, %v", m, err)
			case c.posted == 0 && !errors.Is(err, earshot.ErrNotFound):
				t.Errorf("found %+v, %v", m, err)
			}
		})
	}
	t.Run("the channel gets another id, and the event comes later", func(t *testing.T) {
		t.Parallel()
		x := newSpeaker(t, nil)
		place := x.asked(t, x.general, "", "why?")
		x.slack.Inject(simulate.Fault{Kind: simulate.APIError, Error: "channel_not_found", On: "chat.postMessage"})
		moved := time.AfterFunc(300*time.Millisecond, func() {
			if err := x.store.MoveChannel(context.Background(), place.Channel.Scope(), "CMOVED"); err != nil {
				t.Error(err)
			}
		})
		defer moved.Stop()
		if _, err := x.Post(t.Context(), bot.Draft{Place: place, Text: "because", Key: "rKEY"}); meaning(err) != later {
			t.Errorf("%v means %q, want %q", err, meaning(err), later)
		}
	})
	t.Run("no server", func(t *testing.T) {
		t.Parallel()
		x := newSpeaker(t, func(_ *simulate.SlackOptions, o *slack.Options) {
			// Of a connection that was open before it is not known what was read.
			o.HTTPClient = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		})
		place := x.asked(t, x.general, "", "why?")
		if err := x.slack.Close(); err != nil {
			t.Fatal(err)
		}
		_, err := x.Post(t.Context(), bot.Draft{Place: place, Text: "because", Key: "rKEY"})
		if got := meaning(err); got != later {
			t.Errorf("%v means %q, want %q", err, got, later)
		}
	})
}

func TestAPostIsFoundAmongManyOthers(t *testing.T) {
	t.Parallel()
	x := newSpeaker(t, nil)
	place := x.asked(t, x.general, "", "why?")
	other := x.slack.AddBot(simulate.Bot{Name: "other", UserID: "UOTHER"})
	x.slack.Join(x.general, "UOTHER")
	for i := range 250 {
		x.slack.Post(simulate.PostedMessage{Channel: x.general, Thread: string(place.Anchor.ID), User: other, Text: fmt.Sprint(i), Mute: true})
	}
	d := bot.Draft{Place: place, Text: "because", Key: "rKEY"}
	m, err := x.Post(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := x.Find(t.Context(), d); err != nil || got.ID != m.ID || got.Thread != m.Thread || got.Time != m.Time {
		t.Errorf("got %+v, %v, want %+v", got, err, m)
	}
	d.Key = "rOTHER"
	if got, err := x.Find(t.Context(), d); !errors.Is(err, earshot.ErrNotFound) {
		t.Errorf("found %+v, %v", got, err)
	}
	x.slack.Inject(simulate.Fault{Kind: simulate.APIError, Error: "missing_scope", On: "conversations.replies"})
	if got, err := x.Find(t.Context(), d); err == nil || errors.Is(err, earshot.ErrNotFound) {
		t.Errorf("a failed look tells %+v, %v", got, err)
	}
}

func TestAReplyThatLandedInTheChannelIsFound(t *testing.T) {
	t.Parallel()
	x := newSpeaker(t, nil)
	place := x.asked(t, x.general, "", "why?")
	x.slack.Delete(x.general, string(place.Anchor.ID))
	x.slack.Inject(simulate.Fault{Kind: simulate.LostResponse, On: "chat.postMessage"})
	d := bot.Draft{Place: place, Text: "because", Key: "rKEY"}
	if _, err := x.Post(t.Context(), d); meaning(err) != unknown {
		t.Fatalf("the error is %v", err)
	}
	if m, err := x.Find(t.Context(), d); err != nil || m.Thread != "" {
		t.Errorf("found %+v, %v", m, err)
	}
}

func TestARefusedBlockOfMarkdownIsNotTriedEachTime(t *testing.T) {
	t.Parallel()
	post := func(t *testing.T, x *speaker) (native int) {
		t.Helper()
		x.slack.ForgetCalls()
		if _, err := x.Post(t.Context(), bot.Draft{Place: x.asked(t, x.general, "", "why?"), Text: "**because**", Key: "rKEY"}); err != nil {
			t.Fatal(err)
		}
		for _, c := range x.slack.Calls("chat.postMessage") {
			if c.Args["text"] != "*because*" {
				t.Errorf("the text is %q", c.Args["text"])
			}
			if c.Args["blocks"] != "" {
				native++
			}
		}
		return native
	}
	refuse := simulate.Fault{Kind: simulate.APIError, Error: "invalid_blocks", On: "chat.postMessage", Times: 1}
	t.Run("where it never was taken", func(t *testing.T) {
		t.Parallel()
		x := newSpeaker(t, nil)
		x.slack.Inject(refuse)
		if got := []int{post(t, x), post(t, x)}; got[0] != 1 || got[1] != 0 {
			t.Errorf("blocks were tried %v times, want 1 and 0", got)
		}
	})
	t.Run("where this one is refused", func(t *testing.T) {
		t.Parallel()
		x := newSpeaker(t, nil)
		post(t, x)
		x.slack.Inject(refuse)
		if got := []int{post(t, x), post(t, x)}; got[0] != 1 || got[1] != 1 {
			t.Errorf("blocks were tried %v times, want 1 and 1", got)
		}
	})
}

func TestAPlaceholderBecomesTheReply(t *testing.T) {
	t.Parallel()
	x := newSpeaker(t, nil)
	d := bot.Draft{Place: x.asked(t, x.general, "", "why?"), Text: "…", Key: "pKEY", Growing: true}
	m, err := x.Post(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	d.Text = "be"
	if err := x.Update(t.Context(), d, m.ID); err != nil {
		t.Fatal(err)
	}
	d.Text, d.Growing = "**because**", false
	for range 2 {
		if err := x.Update(t.Context(), d, m.ID); err != nil {
			t.Fatal(err)
		}
	}
	posts := x.slack.PostsByMetadata("key")["pKEY"]
	if len(posts) != 1 || posts[0].Text != "*because*" {
		t.Errorf("people see %+v", posts)
	}
	if got, err := x.Find(t.Context(), d); err != nil || got.ID != m.ID {
		t.Errorf("found %+v, %v", got, err)
	}
}

func TestATextThatGrowsLeavesTheRateToTheLast(t *testing.T) {
	t.Parallel()
	now := time.Now()
	x := newSpeaker(t, func(_ *simulate.SlackOptions, o *slack.Options) { o.Now = func() time.Time { return now } })
	d := bot.Draft{Place: x.asked(t, x.general, "", "why?"), Text: "…", Key: "pKEY", Growing: true}
	d.Anchor.Time = earshot.TimeOf(now)
	m, err := x.Post(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	shown, refused := 0, 0
	for range 30 {
		switch meaning(x.Update(t.Context(), d, m.ID)) {
		case itIsThere:
			shown++
		case later:
			refused++
		}
	}
	if shown == 0 || shown > 6 || shown+refused != 30 || x.called()["chat.update"] != shown {
		t.Errorf("%d were shown and %d refused, with %d calls", shown, refused, x.called()["chat.update"])
	}
	d.Growing = false
	if err := x.Update(t.Context(), d, m.ID); err != nil {
		t.Errorf("the last text: %v", err)
	}
}

func TestWhatAnErrorOfAnUpdateMeans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		set   func(x *speaker, id string)
		want  string
		says  string
		calls int
	}{
		{"it was deleted", func(x *speaker, id string) { x.slack.Delete(x.general, id) }, never, "deleted", 1},
		{"edits are closed", refusing("edit_window_closed"), never, "settings", 1},
		{"it is not ours", refusing("cant_update_message"), never, "cant_update_message", 1},
		{"the channel is archived", refusing("is_inactive"), never, "is_inactive", 1},
		{"it is too long in blocks", func(x *speaker, _ string) {
			x.slack.Inject(simulate.Fault{Kind: simulate.APIError, Error: "msg_too_long", On: "chat.update", Times: 1})
		}, itIsThere, "", 2},
		{"it is too long in any form", refusing("msg_too_long"), never, "msg_too_long", 2},
		{"the rate is used up", func(x *speaker, _ string) {
			x.slack.Inject(simulate.Fault{Kind: simulate.RateLimit, On: "chat.update", Wait: 2 * time.Second})
		}, later, "limited", 1},
		{"it may have been done", refusing("internal_error"), unknown, "internal_error", 1},
		{"the answer is lost", func(x *speaker, _ string) {
			x.slack.Inject(simulate.Fault{Kind: simulate.LostResponse, On: "chat.update"})
		}, unknown, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := newSpeaker(t, nil)
			d := bot.Draft{Place: x.asked(t, x.general, "", "why?"), Text: "…", Key: "pKEY", Growing: true}
			m, err := x.Post(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			c.set(x, string(m.ID))
			d.Text, d.Growing = "because", false
			err = x.Update(t.Context(), d, m.ID)
			if got := meaning(err); got != c.want || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v means %q, want %q with %q", err, got, c.want, c.says)
			}
			if got := x.called()["chat.update"]; got != c.calls {
				t.Errorf("%d calls, want %d", got, c.calls)
			}
		})
	}
}

func refusing(code string) func(*speaker, string) {
	return func(x *speaker, _ string) {
		x.slack.Inject(simulate.Fault{Kind: simulate.APIError, Error: code, On: "chat.update"})
	}
}

func TestAnApologyIsSeenByThePersonOnly(t *testing.T) {
	t.Parallel()
	x := newSpeaker(t, nil)
	first := x.asked(t, x.general, "", "why?")
	second := x.asked(t, x.general, string(first.Anchor.ID), "why?")
	for _, place := range []bot.Place{first, second} {
		if err := x.Apologize(t.Context(), place, "sorry"); err != nil {
			t.Fatal(err)
		}
	}
	got := x.slack.Ephemerals()
	if len(got) != 2 || got[0].User != x.mara || got[0].Thread != "" || got[1].Thread != string(first.Anchor.ID) || got[1].Text != "sorry" {
		t.Errorf("got %+v", got)
	}
	if posts := x.slack.Posts(); len(posts) != 0 {
		t.Errorf("everybody sees %+v", posts)
	}
	first.Anchor.Author.Kind = earshot.Bot
	if err := x.Apologize(t.Context(), first, "sorry"); meaning(err) != never {
		t.Errorf("to a bot: %v", err)
	}
	first.By = second.Anchor.Author.ID
	if err := x.Apologize(t.Context(), first, "sorry"); err != nil || x.slack.Ephemerals()[2].User != x.mara {
		t.Errorf("to who gave an emoji: %v, %+v", err, x.slack.Ephemerals())
	}
	x.slack.Inject(simulate.Fault{Kind: simulate.APIError, Error: "user_not_in_channel", On: "chat.postEphemeral", Times: 1}, simulate.Fault{Kind: simulate.LostResponse, On: "chat.postEphemeral"})
	if err := x.Apologize(t.Context(), second, "sorry"); meaning(err) != never {
		t.Errorf("to somebody who has left: %v", err)
	}
	if err := x.Apologize(t.Context(), second, "sorry"); meaning(err) != unknown {
		t.Errorf("with a lost answer: %v", err)
	}
}
