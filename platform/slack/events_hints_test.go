package slack_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/simulate"
)

// A taken is a store that keeps what it is given, besides storing it.
type taken struct {
	slack.Store
	mu      sync.Mutex // guards what follows
	authors map[earshot.AuthorID]earshot.Author
	record  []earshot.Message
}

func (s *taken) PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, list ...earshot.Author) error {
	s.mu.Lock()
	for _, a := range list {
		s.authors[a.ID] = a
	}
	s.mu.Unlock()
	return s.Store.PutAuthors(ctx, p, w, list...)
}

func (s *taken) Record(ctx context.Context, scope earshot.Scope, list ...earshot.Message) ([]earshot.RecordResult, error) {
	s.mu.Lock()
	s.record = append(s.record, list...)
	s.mu.Unlock()
	return s.Store.Record(ctx, scope, list...)
}

// taking makes an inbox whose platform writes to a taken store.
func taking(t *testing.T, settings ...setting) (*inbox, *taken) {
	t.Helper()
	s := &taken{authors: map[earshot.AuthorID]earshot.Author{}}
	x := listenTo(t, append(settings, func(_ *simulate.SlackOptions, o *slack.Options) {
		s.Store = o.Store
		o.Store = s
	})...)
	return x, s
}

// handed has the inbox's events told to the test too, and returns what is told
// of a message last.
func (x *inbox) handed() func(ts string) earshot.Message {
	var mu sync.Mutex // guards last
	last := map[earshot.MessageID]earshot.Message{}
	x.serve(func(ctx context.Context, e bot.Event) (bot.Outcome, error) {
		mu.Lock()
		last[e.Message.ID] = e.Message
		mu.Unlock()
		return x.bot.Handle(ctx, e)
	})
	return func(ts string) earshot.Message {
		mu.Lock()
		defer mu.Unlock()
		return last[earshot.MessageID(ts)]
	}
}

func TestWhatIsQuotedIsToldAsSuch(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	erin := x.slack.AddUser(simulate.User{Name: "erin", RealName: "Erin Vogt", DisplayName: "erin"})
	support := x.slack.AddChannel(simulate.Channel{Name: "support", Members: []string{erin, x.mara}})
	tracker := x.slack.AddBot(simulate.Bot{Name: "tracker"})
	told := x.handed()
	original := x.slack.Say(support, erin, "<@"+x.me+"> we see it too")
	forward := x.slack.Forward(x.general, x.mara, "", support, original)
	page := x.slack.Say(x.general, x.mara, "<https://example.org/a>")
	x.slack.UnfurlEdit(x.general, page, "https://example.org/a", "Launch", "today")
	issue := x.slack.Say(x.general, x.mara, "<https://tracker.example.org/1>")
	x.slack.UnfurlAs(tracker, x.general, issue, "https://tracker.example.org/1", "Erin Vogt", "approved")
	x.settle()
	at, err := earshot.ParseTime(original)
	if err != nil {
		t.Fatal(err)
	}
	for ts, want := range map[string]struct {
		text   string
		shared earshot.SharedContent
	}{
		forward: {"", earshot.SharedContent{Kind: earshot.Forward, ID: earshot.AuthorID(erin), Author: "Erin Vogt", Place: "#support", Time: at, Text: "<@" + x.me + "|earshot> we see it too"}},
		page:    {"<https://example.org/a>", earshot.SharedContent{Kind: earshot.Link, Author: "example.org", Place: "example.org", Text: "Launch\ntoday"}},
		issue:   {"<https://tracker.example.org/1>", earshot.SharedContent{Kind: earshot.AppQuote, Author: "Erin Vogt", Place: "tracker.example.org", Text: "approved"}},
	} {
		m := told(ts)
		if diff := cmp.Diff([]earshot.SharedContent{want.shared}, m.Shared); diff != "" || m.Text != want.text || m.Edited != 0 {
			t.Errorf("got %q edited %s, want %q; shared (-want +got):\n%s", m.Text, m.Edited, want.text, diff)
		}
	}
	if got := x.turns(); len(got) != 0 {
		t.Errorf("turns %q: a mention that is quoted is none", got)
	}
}

func TestWhoSpeaksIsKeptWithZoneAndFullName(t *testing.T) {
	t.Parallel()
	x, kept := taking(t)
	sam := x.slack.AddUser(simulate.User{Name: "sam", RealName: "Sam Lindqvist", DisplayName: "Sam", TZ: "Europe/Oslo"})
	x.slack.Join(x.general, sam)
	told := x.handed()
	ts := x.slack.Say(x.general, sam, "hi")
	x.settle()
	want := earshot.Author{ID: earshot.AuthorID(sam), Name: "Sam", FullName: "Sam Lindqvist", Kind: earshot.Human, Zone: "Europe/Oslo"}
	kept.mu.Lock()
	if diff := cmp.Diff(want, kept.authors[want.ID]); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}
	kept.mu.Unlock()
	want.Zone = "" // of messages none is told
	if diff := cmp.Diff(want, told(ts).Author); diff != "" {
		t.Errorf("told with the message (-want +got):\n%s", diff)
	}
	x.slack.ChangeUser(sam, "Samuel Lindqvist", "")
	x.settle()
	kept.mu.Lock()
	defer kept.mu.Unlock()
	if got := kept.authors[want.ID]; got.Name != "Sam" || got.FullName != "Samuel Lindqvist" || got.Zone != "Europe/Oslo" {
		t.Errorf("after a change of the profile: got %+v", got)
	}
}

func TestANoticeOfAReplyIsKeptWithItsRoot(t *testing.T) {
	t.Parallel()
	x, kept := taking(t, func(o *simulate.SlackOptions, _ *slack.Options) { o.RepliedEvents = true })
	root := x.slack.Say(x.general, x.mara, "a root")
	x.settle()
	x.slack.Reply(x.general, root, x.mara, "one")
	last := x.slack.Reply(x.general, root, x.mara, "two")
	x.settle()
	at, err := earshot.ParseTime(last)
	if err != nil {
		t.Fatal(err)
	}
	kept.mu.Lock()
	defer kept.mu.Unlock()
	want := earshot.Activity{Count: 2, Last: at}
	if !slices.ContainsFunc(kept.record, func(m earshot.Message) bool {
		return m.ID == earshot.MessageID(root) && m.Text == "a root" && m.Replies != nil && *m.Replies == want
	}) {
		t.Errorf("recorded %+v, want the root with %+v", kept.record, want)
	}
}
