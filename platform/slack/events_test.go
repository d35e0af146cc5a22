package slack_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/simulate"
)

func TestAMessageIsStoredAsPeopleSeeIt(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	bob := x.slack.AddUser(simulate.User{Name: "bob", RealName: "Bob Ray"})
	devs := x.slack.AddGroup(simulate.UserGroup{Handle: "devs"})
	ts := x.slack.Say(x.general, x.mara, "hi <@"+bob+"> and <!subteam^"+devs+">, see <#"+x.general+">")
	x.settle()
	m := x.message(x.general, ts)
	if got, want := m.Author, (earshot.Author{ID: earshot.AuthorID(x.mara), Name: "Mara", FullName: "mara", Kind: earshot.Human}); got != want {
		t.Errorf("author: got %v, want %v", got, want)
	}
	want := "hi <@" + bob + "|Bob Ray> and <!subteam^" + devs + "|@devs>, see <#" + x.general + "|general>"
	if diff := cmp.Diff(want, m.Text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	c, err := x.store.Channel(t.Context(), x.scope(x.general))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(earshot.Channel{Platform: earshot.Slack, Workspace: x.platform.Workspace(), ID: earshot.ChannelID(x.general), Name: "general", Kind: earshot.KindChannel, Topic: "all of us"}, c); diff != "" {
		t.Errorf("channel (-want +got):\n%s", diff)
	}
	if turns := x.turns(); len(turns) != 0 {
		t.Errorf("turns for %v, want none", turns)
	}
}

func TestWhoIsKnownIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	x.slack.Say(x.general, x.mara, "one")
	x.settle()
	if diff := cmp.Diff([]string{"conversations.info", "users.info"}, x.called()); diff != "" {
		t.Errorf("calls for the first message (-want +got):\n%s", diff)
	}
	x.slack.ForgetCalls()
	root := x.slack.Say(x.general, x.mara, "two <@"+x.me+">")
	for range 20 {
		x.slack.Reply(x.general, root, x.mara, "and <@"+x.mara+">")
	}
	x.settle()
	if got := x.called(); len(got) != 0 {
		t.Errorf("calls in the steady state: %v, want none", got)
	}
}

// What a process has learnt is in the store for the next one.
func TestTheStoreIsAskedBeforeSlack(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	x.slack.Say(x.general, x.mara, "one")
	x.settle()
	again, err := slack.Open(t.Context(), slack.Options{APIURL: x.slack.URL() + "/api/", BotToken: x.botToken(), SigningSecrets: x.signing(), Store: x.store})
	if err != nil {
		t.Fatal(err)
	}
	x.platform = again
	x.serve(x.bot.Handle)
	x.slack.ForgetCalls()
	ts := x.slack.Say(x.general, x.mara, "two")
	x.settle()
	if got := x.called(); len(got) != 0 {
		t.Errorf("calls after a restart: %v, want none", got)
	}
	if got := x.message(x.general, ts).Author.Name; got != "Mara" {
		t.Errorf("author: got %q, want Mara", got)
	}
}

// A mention comes twice, as app_mention and as message, in either order.
func TestAMentionOpensOneTurn(t *testing.T) {
	t.Parallel()
	for name, kind := range map[string]simulate.Kind{"in a channel": simulate.Public, "in a private channel": simulate.Private, "in a group DM": simulate.GroupDM} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := listenTo(t)
			c := x.slack.AddChannel(simulate.Channel{Name: "here", Kind: kind, Members: []string{x.me, x.mara}})
			var want []string
			for range 10 {
				want = append(want, x.slack.Say(c, x.mara, "<@"+x.me+"> are you there?"))
			}
			x.settle()
			if diff := cmp.Diff(want, x.turns()); diff != "" {
				t.Errorf("turns (-want +got):\n%s", diff)
			}
			got, err := x.store.Channel(t.Context(), x.scope(c))
			if err != nil {
				t.Fatal(err)
			}
			wantKind := earshot.KindGroup
			if kind == simulate.Public {
				wantKind = earshot.KindChannel
			}
			if got.Kind != wantKind {
				t.Errorf("kind: got %q, want %q", got.Kind, wantKind)
			}
		})
	}
}

// hang is when something hangs: no speed of a machine needs so long.
const hang = 5 * time.Minute

func TestAnAppMentionAloneCarriesEnough(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	x.slack.Inject(simulate.Fault{Kind: simulate.DropEvent, On: "message"})
	c := x.slack.AddChannel(simulate.Channel{Name: "secret", Kind: simulate.Private, Members: []string{x.me, x.mara}})
	root := x.slack.Post(simulate.PostedMessage{Channel: c, User: x.mara, Text: "root", Mute: true})
	ts := x.slack.Reply(c, root, x.mara, "<@"+x.me+"> well?")
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	if err := x.slack.Settle(ctx); err != nil {
		t.Fatal(err)
	}
	m := x.message(c, ts)
	if m.Root() != earshot.MessageID(root) || m.Author.Name != "Mara" {
		t.Errorf("got %+v, want a reply of Mara's in %s", m, root)
	}
	if diff := cmp.Diff([]string{ts}, x.turns()); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	if got, err := x.store.Channel(t.Context(), x.scope(c)); err != nil || got.Kind != earshot.KindGroup || got.Name != "secret" {
		t.Errorf("channel: got %+v, %v", got, err)
	}
}

// One message has been seen eleven times under new event ids, and a sender may
// send twice.
func TestAMessageThatComesAgainIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	x.slack.Inject(simulate.Fault{Kind: simulate.RenewEvent, On: "message"}, simulate.Fault{Kind: simulate.RepeatEvent, On: "app_mention"})
	first := x.slack.Post(simulate.PostedMessage{Channel: x.general, User: x.mara, Text: "<@" + x.me + "> hello", ClientID: "c1"})
	again := x.slack.Post(simulate.PostedMessage{Channel: x.general, User: x.mara, Text: "<@" + x.me + "> hello", ClientID: "c1"})
	other := x.slack.Post(simulate.PostedMessage{Channel: x.general, User: x.mara, Text: "<@" + x.me + "> hello", ClientID: "c2"})
	x.settle()
	for i := range 11 {
		body := fmt.Sprintf(`{"type":"event_callback","event_id":"EvAgain%d","event":{"type":"message","channel":%q,"channel_type":"channel","user":%q,"text":"<@%s> hello","ts":%q,"client_msg_id":"c1"}}`, i, x.general, x.mara, x.me, first)
		if got := x.send(body); got != http.StatusOK {
			t.Fatalf("got status %d", got)
		}
	}
	if diff := cmp.Diff([]string{first, other}, x.turns()); diff != "" {
		t.Errorf("turns (-want +got):\n%s", diff)
	}
	x.message(x.general, again) // stored all the same
}

func TestEveryKindOfMessageIsHeard(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	hook := x.slack.AddBot(simulate.Bot{Name: "CI"})
	plan := x.slack.AddFile(simulate.File{Name: "plan.pdf", Data: []byte("%PDF-")})
	root := x.slack.Say(x.general, x.mara, "root")
	for name, tt := range map[string]struct {
		said  simulate.PostedMessage
		check func(earshot.Message) bool
	}{
		"a file": {simulate.PostedMessage{User: x.mara, Text: "the plan", Files: []string{plan}}, func(m earshot.Message) bool {
			return len(m.Files) == 1 && m.Files[0].Name == "plan.pdf" && m.Text == "the plan"
		}},
		"a bot without a user": {simulate.PostedMessage{User: hook, Text: "", Username: "Build", Attachments: []any{map[string]any{"fallback": "red", "text": "build 7 is red"}}}, func(m earshot.Message) bool {
			return m.Author == earshot.Author{ID: earshot.AuthorID(hook), Name: "Build", Kind: earshot.Bot} && m.Text == "build 7 is red"
		}},
		"a reply that the channel sees": {simulate.PostedMessage{User: x.mara, Text: "all", Thread: root, Broadcast: true}, func(m earshot.Message) bool {
			return m.Root() == earshot.MessageID(root)
		}},
		"blocks that are broken": {simulate.PostedMessage{User: x.mara, Text: "still here", Blocks: []any{7, map[string]any{"type": []any{}}}}, func(m earshot.Message) bool {
			return m.Text == "still here"
		}},
		"forty thousand characters": {simulate.PostedMessage{User: x.mara, Text: strings.Repeat("word ", 8000)}, func(m earshot.Message) bool {
			return len(m.Text) >= 39_999
		}},
	} {
		tt.said.Channel = x.general
		ts := x.slack.Post(tt.said)
		x.settle()
		if m := x.message(x.general, ts); !tt.check(m) {
			t.Errorf("%s: got %+.300v", name, m)
		}
	}
}

func TestChangesArriveAsWhatTheyAre(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	ts := x.slack.Say(x.general, x.mara, "<@"+x.me+"> see https://x.io")
	root := x.slack.Say(x.general, x.mara, "a root")
	reply := x.slack.Reply(x.general, root, x.mara, "a reply")
	shown := x.slack.Broadcast(x.general, root, x.mara, "for all to see")
	gone := x.slack.Say(x.general, x.mara, "a secret")
	x.settle()

	x.slack.UnfurlEdit(x.general, ts, "https://x.io", "Launch", "today")
	x.settle()
	if m := x.message(x.general, ts); m.Edited != 0 || m.Text != "<@"+x.me+"|earshot> see https://x.io" {
		t.Errorf("after an unfurl: got %q edited at %s, want the text as it was and no edit", m.Text, m.Edited)
	}
	x.slack.Edit(x.general, ts, "<@"+x.me+"> never mind")
	x.settle()
	if m := x.message(x.general, ts); m.Edited == 0 || !strings.Contains(m.Text, "never mind") {
		t.Errorf("after an edit: got %q edited at %s", m.Text, m.Edited)
	}
	x.slack.Delete(x.general, gone)
	x.slack.DeleteRoot(x.general, root)
	x.settle()
	for _, id := range []string{gone, root} {
		if m := x.message(x.general, id); !m.Deleted || m.Text != "" {
			t.Errorf("after its deletion %s is %+v", id, m)
		}
	}
	events, err := x.store.Events(t.Context(), x.scope(x.general), earshot.MessageID(gone))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if strings.Contains(string(e.Raw), "a secret") {
			t.Errorf("the text of a deleted message is in the raw event %s", e.Delivery)
		}
	}
	for _, id := range []string{reply, shown} {
		if m := x.message(x.general, id); m.Root() != earshot.MessageID(root) || m.Deleted {
			t.Errorf("reply %s: got %+v, want it in the thread of %s", id, m, root)
		}
	}
	if diff := cmp.Diff([]string{ts}, x.turns()); diff != "" {
		t.Errorf("turns: an edit opens none (-want +got):\n%s", diff)
	}
}

func TestReactionsAreCounted(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	bob := x.slack.AddUser(simulate.User{Name: "bob"})
	x.slack.Join(x.general, bob)
	ts := x.slack.Say(x.general, x.mara, "done")
	x.settle()
	x.slack.Inject(simulate.Fault{Kind: simulate.RepeatEvent, On: "reaction_added"})
	x.slack.React(x.general, ts, x.mara, "tada")
	x.slack.React(x.general, ts, bob, "tada")
	x.slack.React(x.general, ts, bob, "eyes")
	x.slack.Unreact(x.general, ts, bob, "eyes")
	x.settle()
	if diff := cmp.Diff([]earshot.Reaction{{Name: "tada", Count: 2}}, x.message(x.general, ts).Reactions); diff != "" {
		t.Errorf("reactions (-want +got):\n%s", diff)
	}
}

func TestAChannelIsKnownByItsNewName(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	x.slack.Say(x.general, x.mara, "hello")
	x.settle()
	x.slack.ForgetCalls()
	x.slack.Rename(x.general, "everyone")
	x.slack.ChangeUser(x.mara, "", "Mara the Great")
	x.settle()
	ts := x.slack.Say(x.general, x.mara, "see <#"+x.general+">")
	x.settle()
	if m := x.message(x.general, ts); m.Author.Name != "Mara the Great" || !strings.Contains(m.Text, "|everyone>") {
		t.Errorf("got %q by %q", m.Text, m.Author.Name)
	}
	c, err := x.store.Channel(t.Context(), x.scope(x.general))
	if err != nil || c.Name != "everyone" || c.Topic != "all of us" {
		t.Errorf("channel: got %+v, %v", c, err)
	}
	if got := x.called(); len(got) != 0 {
		t.Errorf("calls: %v, want none", got)
	}
}

func TestAPrivateChannelIsNotNamedElsewhere(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	secret := x.slack.AddChannel(simulate.Channel{Name: "layoffs", Kind: simulate.Private, Members: []string{x.me, x.mara}})
	x.slack.Say(secret, x.mara, "hush")
	ts := x.slack.Say(x.general, x.mara, "as said in <#"+secret+">")
	x.settle()
	if m := x.message(x.general, ts); strings.Contains(m.Text, "layoffs") {
		t.Errorf("got %q, which names a private channel", m.Text)
	}
}

func TestWhatIsNotDurableComesAgain(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	var tries atomic.Int32
	x.serve(func(ctx context.Context, e bot.Event) (bot.Outcome, error) {
		switch tries.Add(1) {
		case 1:
			return bot.Outcome{}, errors.New("the disk is full")
		case 2:
			panic("a message: " + e.Message.Text)
		}
		return x.bot.Handle(ctx, e)
	})
	ts := x.slack.Say(x.general, x.mara, "canary-of-a-text")
	x.settle()
	if got := x.message(x.general, ts).Text; got != "canary-of-a-text" {
		t.Errorf("got %q", got)
	}
	if got := tries.Load(); got != 3 {
		t.Errorf("it was taken %d times, want 3", got)
	}
	hides(t, x.log.String(), "canary-of-a-text")
}

func TestOtherEventsAreAcknowledged(t *testing.T) {
	t.Parallel()
	x := listenTo(t)
	x.slack.OpenHome(x.mara)
	x.settle()
	for _, event := range []string{`{"type":"emoji_changed","subtype":"add"}`, `{"type":7}`, `{"type":"message"}`, `{"type":"message","ts":"1.0","text":"nowhere"}`, `[]`, `{"type":"reaction_added","item":7}`} {
		if got := x.send(`{"type":"event_callback","event_id":"Ev1","event":` + event + `}`); got != http.StatusOK {
			t.Errorf("%s: got status %d, want 200", event, got)
		}
	}
}

func TestUnderAgentViewAMessageOfADMBeginsAThread(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		setting, told bool
		want          bool
	}{
		"by setting":      {setting: true, want: true},
		"by what is told": {told: true, want: true},
		"an ordinary DM":  {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := listenTo(t, func(so *simulate.SlackOptions, o *slack.Options) { so.App.AgentView, o.AgentView = tt.told, tt.setting })
			dm := x.slack.OpenHome(x.mara)
			x.slack.LookAt(x.mara, x.general) // an app without agent_view is not told
			x.settle()
			ts := x.slack.Say(dm, x.mara, "hello")
			x.settle()
			list, err := x.store.QueuedTurns(t.Context(), earshot.TurnQuery{})
			if err != nil || len(list) != 1 {
				t.Fatalf("%d turns: %v", len(list), err)
			}
			want := "top"
			if tt.want {
				want = ts
			}
			if got := list[0].Conversation.Name; got != want {
				t.Errorf("conversation: got %q, want %q", got, want)
			}
			if c, err := x.store.Channel(t.Context(), x.scope(dm)); err != nil || c.Kind != earshot.KindDM {
				t.Errorf("channel: got %+v, %v, want a DM", c, err)
			}
		})
	}
}

func TestAnAgentAnswersWhereItWasAsked(t *testing.T) {
	t.Parallel()
	for name, agent := range map[string]bool{"in the thread that a message begins": true, "at the top level of an ordinary DM": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := listenTo(t, func(_ *simulate.SlackOptions, o *slack.Options) { o.AgentView = agent })
			done := make(chan bot.Report, 1)
			x.bot = hearing(t, x.store, x.platform, func(o *bot.Options) {
				o.Platform, o.Done = x.platform, func(r bot.Report) { done <- r }
			})
			x.serve(x.bot.Handle)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- x.bot.Run(ctx) }()
			dm := x.slack.OpenDM(x.mara)
			ts := x.slack.Say(dm, x.mara, "hello")
			select {
			case <-done:
			case <-time.After(hang):
				t.Fatalf("no answer\n%s", x.log)
			}
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
			x.settle()
			posts := x.slack.Posts()
			want := ""
			if agent {
				want = ts
			}
			if len(posts) != 1 || posts[0].Thread != want {
				t.Errorf("got %+v, want one post in thread %q", posts, want)
			}
		})
	}
}
