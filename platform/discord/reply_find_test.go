package discord_test

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/platform/discord"
	fake "github.com/earshot-ai/earshot/simulate/discord"
)

func TestALostPostIsFoundByWhatItIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		do   func(x *mouth, at bot.Place) (bot.Draft, string) // the draft, and the id that is found; "" for none
	}{
		{"among what was said since", func(x *mouth, at bot.Place) (bot.Draft, string) {
			d := bot.Draft{Place: at, Text: "| a | b |\n|---|---|\n| 1 | <@5> |", Key: "r1"}
			id := x.lose(d)
			for i := range 140 {
				x.fake.Say(x.general, x.mara, fmt.Sprint("talk ", i))
			}
			return d, id
		}},
		{"not the same text below another question", func(x *mouth, at bot.Place) (bot.Draft, string) {
			x.lose(bot.Draft{Place: x.question(x.general, "", "b?"), Text: "yes", Key: "r0"})
			return bot.Draft{Place: at, Text: "yes", Key: "r1"}, ""
		}},
		{"not another part of the answer", func(x *mouth, at bot.Place) (bot.Draft, string) {
			x.lose(bot.Draft{Place: at, Text: "part one", Key: "r0"})
			return bot.Draft{Place: at, Text: "part two", Key: "r1", Chunk: 1}, ""
		}},
		{"not an equal part that is known to have arrived", func(x *mouth, at bot.Place) (bot.Draft, string) {
			x.confirm(earshot.Message{ID: earshot.MessageID(x.lose(bot.Draft{Place: at, Text: "…", Key: "r0"}))})
			d := bot.Draft{Place: at, Text: "…", Key: "r1", Chunk: 1}
			return d, x.lose(d)
		}},
		{"not what somebody else says", func(x *mouth, at bot.Place) (bot.Draft, string) {
			x.fake.Reply(x.general, string(at.Anchor.ID), x.mara, "yes")
			return bot.Draft{Place: at, Text: "yes", Key: "r1"}, ""
		}},
		{"not what was said before the question", func(x *mouth, _ bot.Place) (bot.Draft, string) {
			dm := x.fake.OpenDM(x.mara)
			x.fake.Say(dm, x.fake.App().UserID, "yes")
			at := x.question(dm, "", "a?")
			at.Channel.Workspace, at.Channel.Kind = "@me", earshot.KindDM
			return bot.Draft{Place: at, Text: "yes", Key: "r1"}, ""
		}},
		{"in a thread", func(x *mouth, _ bot.Place) (bot.Draft, string) {
			th := x.fake.Thread(x.general, x.fake.Say(x.general, x.mara, "root"), x.mara, "talk")
			d := bot.Draft{Place: x.question(x.general, th, "a?"), Text: "yes", Key: "r1"}
			return d, x.lose(d)
		}},
		{"in a thread that is gone", func(x *mouth, _ bot.Place) (bot.Draft, string) {
			th := x.fake.Thread(x.general, x.fake.Say(x.general, x.mara, "root"), x.mara, "talk")
			d := bot.Draft{Place: x.question(x.general, th, "a?"), Text: "yes", Key: "r1"}
			x.fake.RemoveChannel(th)
			return d, ""
		}},
		{"below a question that was deleted", func(x *mouth, at bot.Place) (bot.Draft, string) {
			x.fake.Delete(x.general, string(at.Anchor.ID))
			d := bot.Draft{Place: at, Text: "yes", Key: "r1"}
			return d, x.lose(d)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := speak(t, nil)
			d, want := c.do(x, x.question(x.general, "", "a?"))
			x.again()
			m, err := x.Find(t.Context(), d)
			if want == "" {
				if !errors.Is(err, earshot.ErrNotFound) {
					t.Errorf("found %+v, %v", m, err)
				}
				return
			}
			if err != nil || string(m.ID) != want || m.Time == 0 || m.Thread != d.Thread {
				t.Errorf("found %+v, %v, want %s", m, err, want)
			}
		})
	}
	t.Run("a failure is no absence", func(t *testing.T) {
		t.Parallel()
		x := speak(t, nil)
		d := bot.Draft{Place: x.question(x.general, "", "a?"), Text: "yes", Key: "r1"}
		x.fake.Inject(fake.Fault{Kind: fake.ServerError, On: "list_messages", Times: 1}, fake.Fault{Kind: fake.Forbidden, On: "list_messages"})
		if _, err := x.Find(t.Context(), d); err == nil || errors.Is(err, earshot.ErrNotFound) || refusal(err) != nil {
			t.Errorf("after a 500: %v", err)
		}
		if _, err := x.Find(t.Context(), d); refusal(err) == nil || refusal(err).Retry != 0 {
			t.Errorf("after a 403: %v", err)
		}
	})
}

// lose posts a draft, and loses Discord's answer. It returns the message's id.
func (x *mouth) lose(d bot.Draft) string {
	x.t.Helper()
	x.fake.Inject(fake.Fault{Kind: fake.LostResponse, On: "create_message", Times: 1})
	if _, err := x.Post(x.t.Context(), d); err == nil || refusal(err) != nil {
		x.t.Fatalf("got %v", err)
	}
	return x.fake.PostsByNonce()[d.Key][0].ID
}

func TestUpdates(t *testing.T) {
	t.Parallel()
	placeholder := func(x *mouth) (bot.Draft, earshot.Message) {
		d := bot.Draft{Place: x.question(x.general, "", "a?"), Text: "…", Key: "p1", Growing: true}
		m, err := x.Post(x.t.Context(), d)
		if err != nil {
			x.t.Fatal(err)
		}
		return d, m
	}
	t.Run("a message that somebody deleted takes no text", func(t *testing.T) {
		t.Parallel()
		x := speak(t, nil)
		d, m := placeholder(x)
		x.fake.Delete(x.general, string(m.ID))
		for _, growing := range []bool{true, false} {
			d.Text, d.Growing = "yes", growing
			if err := x.Update(t.Context(), d, m.ID); refusal(err) == nil || refusal(err).Retry != 0 {
				t.Errorf("got %v", err)
			}
		}
		if err := x.Remove(t.Context(), d.Place, m.ID); err != nil {
			t.Errorf("removing it: %v", err)
		}
	})
	t.Run("whether one arrived may not be known", func(t *testing.T) {
		t.Parallel()
		x := speak(t, nil)
		d, m := placeholder(x)
		x.fake.Inject(fake.Fault{Kind: fake.LostResponse, On: "update_message", Times: 1})
		if err := x.Update(t.Context(), d, m.ID); err == nil || refusal(err) != nil {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a growing text leaves a call for the last one", func(t *testing.T) {
		t.Parallel()
		x := speak(t, func(f *fake.Options, _ *discord.Options) { f.Unlimited = false })
		at := x.question(x.general, "", "a?")
		if !x.PlaceholderFits(at) {
			t.Fatal("no placeholder fits")
		}
		d := bot.Draft{Place: at, Text: "…", Key: "p1", Growing: true}
		m, err := x.Post(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		shown := 0
		for i := range 8 {
			d.Text = fmt.Sprint("draft ", i)
			if err = x.Update(t.Context(), d, m.ID); err != nil {
				break
			}
			shown++
		}
		if e := refusal(err); shown != 4 || e == nil || e.Retry <= 0 {
			t.Errorf("%d drafts were shown, then %v", shown, err)
		}
		d.Text, d.Growing = "whole", false
		if err := x.Update(t.Context(), d, m.ID); err != nil {
			t.Fatal(err)
		}
		if got := x.posts(x.general)[0].Content; got != "whole" {
			t.Errorf("it shows %q", got)
		}
	})
	t.Run("placeholders fit as long as their calls do", func(t *testing.T) {
		t.Parallel()
		x := speak(t, func(f *fake.Options, _ *discord.Options) { f.Unlimited = false })
		first := bot.Draft{Place: x.question(x.general, "", "a?"), Text: "…", Key: "p0"}
		m, err := x.Post(t.Context(), first) // the limits of posts are known now
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Update(t.Context(), first, m.ID); err != nil {
			t.Fatal(err)
		}
		fit := 0
		var last bot.Place
		for range 10 {
			at := x.question(x.general, "", "b?")
			if x.PlaceholderFits(at) {
				fit, last = fit+1, at
			}
		}
		if fit != 4 {
			t.Errorf("%d placeholders fit", fit)
		}
		if err := x.Remove(t.Context(), last, m.ID); err != nil {
			t.Fatal(err)
		}
		if !x.PlaceholderFits(x.question(x.general, "", "c?")) {
			t.Error("none fits after one was removed")
		}
	})
}

func TestTheBotIsShownTyping(t *testing.T) {
	t.Parallel()
	logged := make(lines, 10)
	x := speak(t, func(_ *fake.Options, o *discord.Options) { o.Log = slog.New(slog.NewTextHandler(logged, nil)) })
	at := x.question(x.general, "", "a?")
	typed := func() int { return len(x.fake.Calls("trigger_typing_indicator")) }
	x.Writing(t.Context(), at, "", false)
	x.Writing(t.Context(), at, "some", false)
	if err := x.fake.Until(t.Context(), func() bool { return typed() > 0 }); err != nil {
		t.Fatal(err)
	}
	x.Writing(t.Context(), at, "some text", true)
	x.Writing(t.Context(), at, "", true) // nothing is written: no harm
	if typed() != 1 {
		t.Errorf("%d calls", typed())
	}
	x.fake.Inject(fake.Fault{Kind: fake.Forbidden, On: "trigger_typing_indicator"})
	x.Writing(t.Context(), at, "", false)
	for line := ""; !strings.Contains(line, "not shown as typing"); line = <-logged {
	}
	x.Writing(t.Context(), at, "", true)
	x.Writing(t.Context(), at, "", false) // it may not: it does not ask again
	x.Writing(t.Context(), at, "", true)
	if typed() != 2 {
		t.Errorf("%d calls after a refusal", typed())
	}
}

// lines are those of a log.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	l <- string(b)
	return len(b), nil
}

// A blind network is one in which the bot may not read history: lists of messages are
// empty, and a single one is refused.
type blind struct{}

func (blind) RoundTrip(r *http.Request) (*http.Response, error) {
	status, body := http.StatusOK, "[]"
	switch {
	case r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/messages"):
		return http.DefaultTransport.RoundTrip(r)
	case !strings.HasSuffix(r.URL.Path, "/messages"):
		status, body = http.StatusForbidden, `{"code":50001,"message":"Missing Access"}`
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}}, Request: r, Body: io.NopCloser(strings.NewReader(body))}, nil
}

func TestWithoutHistoryNothingIsTakenForAbsent(t *testing.T) {
	t.Parallel()
	x := speak(t, func(_ *fake.Options, o *discord.Options) { o.HTTPClient = &http.Client{Transport: blind{}} })
	d := bot.Draft{Place: x.question(x.general, "", "a?"), Text: "yes", Key: "r1"}
	x.lose(d)
	if _, err := x.Find(t.Context(), d); !errors.Is(err, earshot.ErrNotFound) {
		t.Errorf("while the nonce makes a second post the first: %v", err)
	}
	x.again() // another process does not know when that was
	if _, err := x.Find(t.Context(), d); refusal(err) == nil || refusal(err).Retry != 0 {
		t.Errorf("later: %v", err)
	}
	var scope *backfill.ScopeError
	if _, err := x.History(t.Context(), d.Channel, always(0)); !errors.As(err, &scope) {
		t.Errorf("history: %v", err)
	}
}
