package discord_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/discord"
	fake "github.com/earshot-ai/earshot/simulate/discord"
)

func TestAPostIsAReplyThatNotifiesNobody(t *testing.T) {
	t.Parallel()
	x := speak(t, nil)
	at := x.question(x.general, "", "which disk?")
	m, err := x.Post(t.Context(), bot.Draft{Place: at, Text: "the **second** one, <@" + x.mara + "> @everyone", Key: "rABC"})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"content":"the **second** one, \u003c` + "\u200b@" + x.mara + `\u003e @` + "\u200b" + `everyone","nonce":"rABC","enforce_nonce":true,"flags":4,"allowed_mentions":{"parse":[],"replied_user":false},"message_reference":{"message_id":"` + string(at.Anchor.ID) + `","fail_if_not_exists":false}}`
	if diff := cmp.Diff(want, x.body("create_message")); diff != "" {
		t.Error(diff)
	}
	posts := x.posts(x.general)
	if len(posts) != 1 || posts[0].Reply != string(at.Anchor.ID) || len(posts[0].Mentions) != 0 {
		t.Errorf("people see %+v", posts)
	}
	if got := (earshot.Message{ID: earshot.MessageID(posts[0].ID), Time: m.Time, ReplyTo: at.Anchor.ID}); m.Time < at.Anchor.Time || !cmp.Equal(m, got) {
		t.Errorf("got %+v", m)
	}
}

func TestAPostNotifiesWhomTheDraftMentions(t *testing.T) {
	t.Parallel()
	x := speak(t, nil)
	const other = "900000000000000077"
	at := x.question(x.general, "", "who?")
	d := bot.Draft{Place: at, Text: "<@" + x.mara + "> and <@" + other + "> in ||<@" + x.mara + ">||, not `<@&7>` @here", Key: "rABC", Mentions: []earshot.AuthorID{earshot.AuthorID(x.mara), earshot.AuthorID(x.mara)}}
	m, err := x.Post(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	if posts := x.posts(x.general); len(posts) != 1 || !cmp.Equal(posts[0].Mentions, []string{x.mara}) {
		t.Errorf("people see %+v", posts)
	}
	if body := x.body("create_message"); !strings.Contains(body, `"allowed_mentions":{"parse":[],"users":["`+x.mara+`"],"replied_user":false}`) {
		t.Errorf("the post is %s", body)
	}
	d.Text = "<@" + other + "> <@" + x.mara + ">"
	if err := x.Update(t.Context(), d, m.ID); err != nil {
		t.Fatal(err)
	}
	if body := x.body("update_message"); !strings.Contains(body, `"users":["`+x.mara+`"]`) || !strings.Contains(body, "\u200b@"+other) {
		t.Errorf("the update is %s", body)
	}
}

func TestWhereAnAnswerStands(t *testing.T) {
	t.Parallel()
	x := speak(t, nil)
	x.fake.LetIn(x.general, x.fake.App().UserID)
	for _, c := range []struct {
		name  string
		place func() (bot.Place, string) // and the Discord channel
		want  func(at bot.Place) earshot.Message
	}{
		{"below a question in a channel", func() (bot.Place, string) {
			return x.question(x.general, "", "a?"), x.general
		}, func(at bot.Place) earshot.Message { return earshot.Message{ReplyTo: at.Anchor.ID} }},
		{"in the question's thread", func() (bot.Place, string) {
			th := x.fake.Thread(x.general, x.fake.Say(x.general, x.mara, "root"), x.mara, "talk")
			return x.question(x.general, th, "b?"), th
		}, func(at bot.Place) earshot.Message { return earshot.Message{Thread: at.Thread} }},
		{"in a direct message", func() (bot.Place, string) {
			dm := x.fake.OpenDM(x.mara)
			at := x.question(dm, "", "c?")
			at.Channel.Workspace, at.Channel.Kind = "@me", earshot.KindDM
			return at, dm
		}, func(bot.Place) earshot.Message { return earshot.Message{} }},
		{"in a post of a forum, whose first message asks", func() (bot.Place, string) {
			forum := x.fake.AddChannel(fake.Channel{Name: "help", Type: fake.Forum})
			post := x.fake.Open(forum, x.mara, "d?", "please")
			at := bot.Place{Channel: x.channel(forum), Anchor: earshot.Message{ID: earshot.MessageID(post), Time: 1}}
			return at, post
		}, func(at bot.Place) earshot.Message { return earshot.Message{Thread: at.Anchor.ID} }},
		{"in a private thread, which is a channel by itself", func() (bot.Place, string) {
			th := x.fake.PrivateThread(x.general, x.mara, "hush", x.mara, x.fake.App().UserID)
			at := x.question(th, th, "e?")
			return at, th
		}, func(at bot.Place) earshot.Message { return earshot.Message{Thread: at.Thread} }},
		{"in a thread that was archived", func() (bot.Place, string) {
			th := x.fake.Thread(x.general, x.fake.Say(x.general, x.mara, "root"), x.mara, "old")
			at := x.question(x.general, th, "f?")
			x.fake.Archive(th, true)
			return at, th
		}, func(at bot.Place) earshot.Message { return earshot.Message{Thread: at.Thread} }},
		{"beside a question that was deleted", func() (bot.Place, string) {
			at := x.question(x.general, "", "g?")
			x.fake.Delete(x.general, string(at.Anchor.ID))
			return at, x.general
		}, func(bot.Place) earshot.Message { return earshot.Message{} }},
	} {
		t.Run(c.name, func(t *testing.T) { //nolint:paralleltest // one world, one after the other
			at, channel := c.place()
			before := len(x.posts(channel))
			m, err := x.Post(t.Context(), bot.Draft{Place: at, Text: "answer", Key: "r" + string(at.Anchor.ID)})
			if err != nil {
				t.Fatal(err)
			}
			posts := x.posts(channel)
			if len(posts) != before+1 {
				t.Fatalf("people see %+v", posts)
			}
			want := c.want(at)
			want.ID, want.Time = earshot.MessageID(posts[before].ID), m.Time
			if diff := cmp.Diff(want, m); diff != "" {
				t.Error(diff)
			}
			x.record(at, m, "answer")
			if err := x.Update(t.Context(), bot.Draft{Place: at, Text: "better", Key: "x"}, m.ID); err != nil {
				t.Fatal(err)
			}
			if got := x.posts(channel)[before]; got.Content != "better" || got.Flags&4 == 0 {
				t.Errorf("it shows %+v", got)
			}
			x.again() // another process removes it
			if err := x.Remove(t.Context(), at, m.ID); err != nil {
				t.Fatal(err)
			}
			if got := len(x.posts(channel)); got != before {
				t.Errorf("%d posts are left", got)
			}
		})
	}
}

func TestAMentionIsAnsweredInAThread(t *testing.T) {
	t.Parallel()
	onMention := func(_ *fake.Options, o *discord.Options) { o.Thread = discord.ThreadOnMention }
	t.Run("all parts of an answer stand in it", func(t *testing.T) {
		t.Parallel()
		x := speak(t, onMention)
		at := x.question(x.general, "", "<@"+x.fake.App().UserID+"|earshot> which disk is it, <@9|Sam>?\nthe old one?")
		at.Anchor.Text = "<@" + x.fake.App().UserID + "|earshot> which disk is it, <@9|Sam>?\nthe old one?"
		for i := range 3 {
			if i == 2 {
				x.again()
			}
			m, err := x.Post(t.Context(), bot.Draft{Place: at, Text: fmt.Sprint("part ", i), Key: fmt.Sprint("r", i), Chunk: i})
			if err != nil || m.Thread != at.Anchor.ID || m.ReplyTo != "" {
				t.Fatalf("%+v, %v", m, err)
			}
		}
		if got := x.posts(string(at.Anchor.ID)); len(got) != 3 || len(x.posts(x.general)) != 0 {
			t.Errorf("in the thread: %+v", got)
		}
		root := x.fake.Messages(x.general)[0]
		if root.Thread != string(at.Anchor.ID) {
			t.Errorf("the root is %+v", root)
		}
	})
	t.Run("the thread is named like the question", func(t *testing.T) {
		t.Parallel()
		x := speak(t, onMention)
		for _, c := range []struct{ text, want string }{
			{"<@" + x.fake.App().UserID + "|earshot> which disk is it, <@9|Sam>?\nthe old one?", "which disk is it, Sam?"},
			{"<@" + x.fake.App().UserID + "|earshot>", "Question by Mara"},
			{"# " + strings.Repeat("word ", 40), strings.TrimSpace(strings.Repeat("word ", 15)) + "…"},
		} {
			at := x.question(x.general, "", "hello")
			at.Anchor.Text = c.text
			x.fake.ForgetCalls()
			if _, err := x.Post(t.Context(), bot.Draft{Place: at, Text: "a", Key: "r" + string(at.Anchor.ID)}); err != nil {
				t.Fatal(err)
			}
			if got, want := x.body("create_thread_from_message"), `{"name":"`+c.want+`"}`; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		}
	})
	t.Run("a thread that somebody has begun is used", func(t *testing.T) {
		t.Parallel()
		x := speak(t, onMention)
		at := x.question(x.general, "", "which disk?")
		x.fake.Thread(x.general, string(at.Anchor.ID), x.mara, "disks")
		if _, err := x.Post(t.Context(), bot.Draft{Place: at, Text: "a", Key: "r1"}); err != nil {
			t.Fatal(err)
		}
		if got := x.posts(string(at.Anchor.ID)); len(got) != 1 {
			t.Errorf("in the thread: %+v", got)
		}
	})
	t.Run("where it may not begin one it replies", func(t *testing.T) {
		t.Parallel()
		x := speak(t, onMention)
		at := x.question(x.general, "", "which disk?")
		x.fake.Inject(fake.Fault{Kind: fake.Forbidden, On: "create_thread_from_message"})
		m, err := x.Post(t.Context(), bot.Draft{Place: at, Text: "a", Key: "r1"})
		if err != nil || m.ReplyTo != at.Anchor.ID || m.Thread != "" {
			t.Fatalf("%+v, %v", m, err)
		}
		if got, err := x.Find(t.Context(), bot.Draft{Place: at, Text: "a", Key: "r1"}); err != nil || got.ID != m.ID {
			t.Errorf("found %+v, %v", got, err)
		}
	})
	t.Run("a lost answer about the thread doubles nothing", func(t *testing.T) {
		t.Parallel()
		x := speak(t, onMention)
		at := x.question(x.general, "", "which disk?")
		x.fake.Inject(fake.Fault{Kind: fake.LostResponse, On: "create_thread_from_message", Times: 1})
		d := bot.Draft{Place: at, Text: "a", Key: "r1"}
		if _, err := x.Post(t.Context(), d); refusal(err) == nil || refusal(err).Retry <= 0 {
			t.Fatalf("got %v", err)
		}
		if _, err := x.Find(t.Context(), d); !errors.Is(err, earshot.ErrNotFound) {
			t.Errorf("found: %v", err)
		}
		x.fake.Inject(fake.Fault{Kind: fake.LostResponse, On: "create_message", Times: 1})
		if _, err := x.Post(t.Context(), d); err == nil || refusal(err) != nil {
			t.Fatalf("got %v", err)
		}
		m, err := x.Find(t.Context(), d)
		if err != nil || m.Thread != at.Anchor.ID || len(x.posts(string(at.Anchor.ID))) != 1 {
			t.Errorf("found %+v, %v", m, err)
		}
	})
}

func TestWhatAFailedPostMeans(t *testing.T) {
	t.Parallel()
	const ambiguous, never, later = "ambiguous", "never", "later"
	for _, c := range []struct {
		fault fake.Fault
		want  string
	}{
		{fake.Fault{Kind: fake.LostRequest}, ambiguous},
		{fake.Fault{Kind: fake.LostResponse}, ambiguous},
		{fake.Fault{Kind: fake.ServerError}, ambiguous},
		{fake.Fault{Kind: fake.ServerError, Status: 502}, ambiguous},
		{fake.Fault{Kind: fake.FailedLate, Status: 504}, ambiguous},
		{fake.Fault{Kind: fake.BadJSON}, ambiguous},
		{fake.Fault{Kind: fake.Forbidden}, never},
		{fake.Fault{Kind: fake.Unauthorized}, later}, // by a process with another token
	} {
		t.Run(fmt.Sprint(c.fault.Kind, " ", c.fault.Status), func(t *testing.T) {
			t.Parallel()
			x := speak(t, nil)
			at := x.question(x.general, "", "a?")
			c.fault.On, c.fault.Times = "create_message", 1
			x.fake.Inject(c.fault)
			_, err := x.Post(t.Context(), bot.Draft{Place: at, Text: "b", Key: "r1"})
			got := ambiguous
			if e := refusal(err); e != nil {
				if got = never; e.Retry > 0 {
					got = later
				}
			}
			if err == nil || got != c.want || strings.Contains(err.Error(), x.fake.App().Token) || strings.Contains(err.Error(), "http") {
				t.Errorf("got %s: %v", got, err)
			}
			if n := len(x.fake.Calls("create_message")); n != 1 {
				t.Errorf("%d calls", n)
			}
		})
	}
	t.Run("no time to wait for the limit", func(t *testing.T) {
		t.Parallel()
		x := speak(t, func(f *fake.Options, _ *discord.Options) {
			f.Unlimited, f.Limits = false, map[string]fake.Limit{"create_message": {Calls: 5, Per: 24 * time.Hour}}
		})
		at := x.question(x.general, "", "a?")
		var err error
		for i := 0; i < 6 && err == nil; i++ {
			ctx, cancel := context.WithTimeout(t.Context(), hang)
			_, err = x.Post(ctx, bot.Draft{Place: at, Text: "b", Key: fmt.Sprint("r", i)})
			cancel()
		}
		if e := refusal(err); e == nil || e.Retry <= 0 {
			t.Errorf("got %v", err)
		}
	})
}

func TestAThousandLostResponsesLeaveOnePostEach(t *testing.T) {
	t.Parallel()
	x := speak(t, hurry)
	x.fake.Inject(fake.Fault{Kind: fake.LostResponse, On: "create_message"})
	at := x.question(x.general, "", "a?")
	for i := range 1000 {
		if i%50 == 0 { // the same question is answered in parts
			at = x.question(x.general, "", "a?")
		}
		d := bot.Draft{Place: at, Text: "the same text", Key: fmt.Sprint("r", i), Chunk: i % 50}
		if _, err := x.Post(t.Context(), d); err == nil || refusal(err) != nil {
			t.Fatalf("post %d: %v", i, err)
		}
		m, err := x.Find(t.Context(), d)
		if err != nil {
			t.Fatalf("post %d: %v", i, err)
		}
		x.confirm(m)
		if i%7 == 0 { // history may be behind: the post is made again
			if _, err := x.Post(t.Context(), d); err == nil || refusal(err) != nil {
				t.Fatalf("post %d: %v", i, err)
			}
		}
	}
	for nonce, list := range x.fake.PostsByNonce() {
		if len(list) != 1 {
			t.Errorf("%d posts of %s", len(list), nonce)
		}
	}
	if n := len(x.posts(x.general)); n != 1000 {
		t.Errorf("%d posts", n)
	}
}

// strict is a network in which Discord refuses replies, because the bot may not read
// the channel's history.
type strict struct{ refused int }

func (s *strict) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil && r.Method == http.MethodPost {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		if r.Body = io.NopCloser(bytes.NewReader(body)); bytes.Contains(body, []byte("message_reference")) {
			s.refused++
			return &http.Response{
				StatusCode: http.StatusBadRequest, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
				Body: io.NopCloser(strings.NewReader(`{"code":160002,"message":"Cannot reply without permission to read message history"}`)),
			}, nil
		}
	}
	return http.DefaultTransport.RoundTrip(r)
}

func TestWithoutHistoryAnAnswerStandsAlone(t *testing.T) {
	t.Parallel()
	s := &strict{}
	x := speak(t, func(_ *fake.Options, o *discord.Options) { o.HTTPClient = &http.Client{Transport: s} })
	d := bot.Draft{Place: x.question(x.general, "", "a?"), Text: "b", Key: "r1"}
	m, err := x.Post(t.Context(), d)
	if err != nil || m.ReplyTo != "" || s.refused != 1 || len(x.posts(x.general)) != 1 {
		t.Fatalf("%+v, %v, refused %d times", m, err, s.refused)
	}
	if got, err := x.Find(t.Context(), d); err != nil || got.ID != m.ID {
		t.Errorf("found %+v, %v", got, err)
	}
}

func TestAnArchivedThreadIsOpenedForAnUpdate(t *testing.T) {
	t.Parallel()
	x := speak(t, nil)
	th := x.fake.Thread(x.general, x.fake.Say(x.general, x.mara, "root"), x.mara, "talk")
	d := bot.Draft{Place: x.question(x.general, th, "a?"), Text: "…", Key: "p1"}
	m, err := x.Post(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	x.fake.Archive(th, true)
	d.Text = "whole"
	if err := x.Update(t.Context(), d, m.ID); err != nil {
		t.Fatal(err)
	}
	x.fake.Archive(th, true)
	if got := x.posts(th)[0].Content; got != "whole" {
		t.Errorf("it shows %q", got)
	}
	if err := x.Remove(t.Context(), d.Place, m.ID); err != nil || len(x.posts(th)) != 0 {
		t.Errorf("%v, %+v are left", err, x.posts(th))
	}
}
