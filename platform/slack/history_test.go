package slack_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
	"github.com/earshot-ai/earshot/simulate"
)

var (
	_ backfill.Source     = (*slack.Platform)(nil)
	_ backfill.RootSource = (*slack.Platform)(nil)
)

// all walks a window to its end.
func all(t *testing.T, read func(backfill.Window) (backfill.Page, error), w backfill.Window) (out []backfill.HistoryMessage, pages int) {
	t.Helper()
	for {
		page, err := read(w)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		out = append(out, page.Messages...)
		if w.Cursor = page.Cursor; w.Cursor == "" {
			return out, pages
		}
	}
}

func ids(list []backfill.HistoryMessage) []string {
	var out []string
	for _, f := range list {
		if !slices.Contains(out, string(f.Message.ID)) {
			out = append(out, string(f.Message.ID))
		}
	}
	slices.Sort(out)
	return out
}

func TestHistoryIsReadByWindow(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	bob := x.slack.AddUser(simulate.User{Name: "bob", DisplayName: "Bob"})
	began := time.Now().Add(-time.Hour)
	at := func(i int) time.Time { return began.Add(time.Duration(i) * time.Minute) }
	root := x.slack.Post(simulate.PostedMessage{Channel: x.general, User: x.mara, Text: "root", Mute: true, At: at(0)})
	var replies, tops []string
	for i := range 40 {
		replies = append(replies, x.slack.Post(simulate.PostedMessage{Channel: x.general, User: bob, Text: fmt.Sprintf("reply %d of <@%s>", i, bob), Thread: root, Mute: true, At: at(i + 1)}))
	}
	for i := range 5 {
		tops = append(tops, x.slack.Post(simulate.PostedMessage{Channel: x.general, User: bob, Text: "top", Mute: true, At: at(i + 45)}))
	}
	channel := earshot.Channel{Platform: earshot.Slack, Workspace: x.platform.Workspace(), ID: earshot.ChannelID(x.general), Kind: earshot.KindChannel}
	w := backfill.Window{Oldest: earshot.TimeOf(at(11)), Latest: earshot.TimeOf(at(30)), Limit: 7}

	got, pages := all(t, func(w backfill.Window) (backfill.Page, error) {
		return x.platform.Replies(t.Context(), channel, earshot.MessageID(root), w)
	}, w)
	if diff := cmp.Diff(append([]string{root}, replies[10:30]...), ids(got)); diff != "" {
		t.Errorf("replies of the window, both ends and the root (-want +got):\n%s", diff)
	}
	if pages < 3 {
		t.Errorf("%d pages, want at least 3", pages)
	}
	for _, f := range got {
		if string(f.Message.ID) == root {
			if f.Message.Author.Name != "Mara" || f.Message.Replies == nil || f.Message.Replies.Count != 40 {
				t.Errorf("root: got %+v", f.Message)
			}
			continue
		}
		if f.Message.Root() != earshot.MessageID(root) || f.Message.Author.Name != "Bob" || !strings.Contains(f.Message.Text, "|Bob>") || f.Client == "" || !strings.Contains(string(f.Raw), `"text"`) {
			t.Errorf("reply: got %+v", f)
		}
	}

	w = backfill.Window{Oldest: earshot.TimeOf(began), Latest: earshot.TimeOf(at(60)), Limit: 100}
	page, err := x.platform.History(t.Context(), channel, w)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append([]string{root}, tops...), ids(page.Messages)); diff != "" {
		t.Errorf("top level (-want +got):\n%s", diff)
	}
	if !page.NewestFirst || page.Messages[0].Message.ID != earshot.MessageID(tops[4]) {
		t.Errorf("got NewestFirst %v, the first is %s", page.NewestFirst, page.Messages[0].Message.ID)
	}
	for _, c := range x.slack.Calls("users.info") {
		if n := len(x.slack.Calls("users.info")); n != 2 {
			t.Fatalf("%d calls for the names of two people, the last for %s", n, c.Args["user"])
		}
	}
}

// A page is worth more than the names in it: while Slack does not tell them, it comes
// with ids before the turn's time is over.
func TestNamesThatDoNotComeCostNoPage(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	bob := x.slack.AddUser(simulate.User{Name: "bob", DisplayName: "Bob"})
	x.slack.Post(simulate.PostedMessage{Channel: x.general, User: bob, Text: "top", Mute: true, At: time.Now().Add(-time.Minute)})
	x.slack.Inject(simulate.Fault{Kind: simulate.HungResponse, On: "users.info"})
	channel := earshot.Channel{Platform: earshot.Slack, Workspace: x.platform.Workspace(), ID: earshot.ChannelID(x.general), Kind: earshot.KindChannel}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
	defer cancel()
	page, err := x.platform.History(ctx, channel, backfill.Window{Latest: earshot.TimeOf(time.Now()), Limit: 10})
	if err != nil || ctx.Err() != nil {
		t.Fatalf("the page did not come in time: %v, %v", err, ctx.Err())
	}
	if len(page.Messages) != 1 || page.Messages[0].Message.Author.ID != earshot.AuthorID(bob) || page.Messages[0].Message.Author.Name != "" {
		t.Errorf("got %+v, want what Bob said, under his id", page.Messages)
	}
}

// The distributed tier gets 15 objects, whatever is asked for.
func TestASlowTierAsksForLittle(t *testing.T) {
	t.Parallel()
	x := listenTo(t, func(_ *simulate.SlackOptions, o *slack.Options) { o.Tier = slack.Distributed })
	channel := earshot.Channel{Platform: earshot.Slack, Workspace: x.platform.Workspace(), ID: earshot.ChannelID(x.general)}
	if _, err := x.platform.History(t.Context(), channel, window); err != nil {
		t.Fatal(err)
	}
	if got := x.slack.Calls("conversations.history")[0].Args["limit"]; got != "15" {
		t.Errorf("limit: got %s, want 15", got)
	}
}

// A root by itself, by one call of history, tells how many replies it has.
func TestARootIsReadByItself(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	channel := earshot.Channel{Platform: earshot.Slack, Workspace: x.platform.Workspace(), ID: earshot.ChannelID(x.general)}
	x.slack.Say(x.general, x.mara, "before")
	root := x.slack.Say(x.general, x.mara, "root")
	x.slack.Reply(x.general, root, x.mara, "one")
	last := x.slack.Reply(x.general, root, x.mara, "two")
	x.slack.Say(x.general, x.mara, "after")
	page, err := x.platform.Root(t.Context(), channel, earshot.MessageID(root))
	if err != nil {
		t.Fatal(err)
	}
	at, _ := earshot.ParseTime(last)
	if len(page.Messages) != 1 || string(page.Messages[0].Message.ID) != root {
		t.Fatalf("got %+v, want the root alone", page.Messages)
	}
	if d := cmp.Diff(page.Messages[0].Message.Replies, &earshot.Activity{Count: 2, Last: at}); d != "" {
		t.Errorf("its replies (-got +want):\n%s", d)
	}
}

func TestABadMessageCostsItselfAndNotThePage(t *testing.T) {
	t.Parallel()
	p := opened(t, &script{method: "conversations.replies", answer: func(string, int) (int, http.Header, string) {
		return http.StatusOK, nil, `{"ok":true,"messages":[
			{"ts":"1700000000.000100","user":"U1","text":"one","blocks":[{"type":7},9]},
			7,
			{"text":"without a ts"},
			{"ts":"1700000001.000100","subtype":"ekm_access_denied","text":"?"},
			{"ts":"1700000002.000100","subtype":"tombstone","text":"This message was deleted.","user":"USLACKBOT"},
			{"ts":"1700000003.000100","user":"U0","bot_id":"B0","text":"mine","metadata":{"event_type":"` + slackmsg.MetadataType + `","event_payload":{"` + slackmsg.MetadataKey + `":"k1"}}}
		],"is_limited":true,"response_metadata":{"next_cursor":"c2"}}`
	}}, slack.Options{})
	page, err := p.Replies(t.Context(), random, "1700000000.000100", window)
	if err != nil {
		t.Fatal(err)
	}
	type brief struct {
		ID, Text, Key   string
		Deleted, Unread bool
	}
	var got []brief
	for _, f := range page.Messages {
		got = append(got, brief{string(f.Message.ID), f.Message.Text, f.Key, f.Message.Deleted, f.Unread})
	}
	want := []brief{
		{ID: "1700000000.000100", Text: "one"},
		{ID: "1700000001.000100", Unread: true},
		{ID: "1700000002.000100", Deleted: true},
		{ID: "1700000003.000100", Text: "mine", Key: "k1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("page (-want +got):\n%s", diff)
	}
	if page.Cursor != "c2" || !page.Hidden {
		t.Errorf("got cursor %q, hidden %v", page.Cursor, page.Hidden)
	}
}

func TestARefusalOfHistorySaysWhatItIs(t *testing.T) {
	t.Parallel()
	for code, check := range map[string]func(error) bool{
		"missing_scope": func(err error) bool {
			var s *backfill.ScopeError
			return errors.As(err, &s) && s.Scope == "channels:history"
		},
		"ratelimited":       func(err error) bool { var l *backfill.LimitError; return errors.As(err, &l) && l.Wait >= time.Second },
		"channel_not_found": func(err error) bool { return errors.Is(err, backfill.ErrNotThere) },
		"thread_not_found":  func(err error) bool { return errors.Is(err, backfill.ErrNotThere) },
		"not_in_channel":    func(err error) bool { return errors.Is(err, backfill.ErrNotThere) },
		"invalid_auth": func(err error) bool {
			var a *slackapi.Error
			return errors.As(err, &a) && strings.Contains(err.Error(), "SLACK_BOT_TOKEN")
		},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			p := opened(t, &script{method: "conversations.history", answer: func(string, int) (int, http.Header, string) {
				return http.StatusOK, http.Header{"Retry-After": {"60"}}, `{"ok":false,"error":"` + code + `","needed":"channels:history","provided":"chat:write"}`
			}}, slack.Options{Overflow: slack.Degrade})
			if _, err := p.History(t.Context(), random, window); !check(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestHasMoreWithoutACursor: has_more that is true, or absent from a full page, says
// that the page is not all, though no cursor leads on.
func TestHasMoreWithoutACursor(t *testing.T) {
	t.Parallel()
	const one = `{"ts":"1700000000.000100","user":"U1","text":"one"}`
	for answer, want := range map[string]bool{
		`{"ok":true,"messages":[` + one + `],"has_more":true}`:  true,
		`{"ok":true,"messages":[` + one + `],"has_more":false}`: false,
		`{"ok":true,"messages":[` + one + `,` + one + `]}`:      true, // as many as were asked for
		`{"ok":true,"messages":[` + one + `]}`:                  false,
	} {
		p := opened(t, &script{method: "conversations.replies", answer: func(string, int) (int, http.Header, string) {
			return http.StatusOK, nil, answer
		}}, slack.Options{})
		w := window
		w.Limit = 2
		page, err := p.Replies(t.Context(), random, "1700000000.000100", w)
		if err != nil || page.More != want {
			t.Errorf("%s: more is %v, %v, want %v", answer, page.More, err, want)
		}
	}
}
