package discord_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	fake "github.com/earshot-ai/earshot/simulate/discord"
)

// A gate is a model that answers once it is opened.
type gate struct{ open chan struct{} }

func (g gate) Generate(ctx context.Context, _ llm.Request, _ func(llm.Event)) (llm.Response, error) {
	select {
	case <-g.open:
		return llm.Response{Parts: []llm.Part{llm.Text("Good morning.")}, Stop: llm.StopEnd}, nil
	case <-ctx.Done():
		return llm.Response{}, ctx.Err()
	}
}

// visible returns what people see of the bot in a channel, and which turns there were.
func (x *ear) visible(channel string) (posts []string) {
	for _, m := range x.fake.Messages(channel) {
		if m.Author == x.fake.App().UserID {
			posts = append(posts, m.Content)
		}
	}
	return posts
}

// done waits until a channel's turns have ended, and returns them, oldest first.
func (x *ear) done(channel string) []string {
	x.t.Helper()
	var list []string
	ended := func() bool {
		s := x.scope(channel)
		turns, err := x.store.QueuedTurns(context.Background(), earshot.TurnQuery{Scope: &s})
		if err != nil {
			x.t.Error(err)
			return true
		}
		list = nil
		for _, q := range turns {
			if !q.State.Final() {
				return false
			}
			list = append([]string{strings.TrimSpace(string(q.State) + " " + q.Why)}, list...)
		}
		return true
	}
	x.until(ended)
	return list
}

// TestAProxysRepostIsAnsweredOnce has a person ask through a proxy: the message is
// posted again under a webhook and deleted, in either order and at any time.
func TestAProxysRepostIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	const first, later = true, false
	for _, c := range []struct {
		name        string
		placeholder string
		answered    bool // before the proxy does anything
		deletes     bool // first
		turns       []string
	}{
		{"the repost comes first, while a placeholder is up", "…", false, later, []string{"dropped anchor deleted", "done"}},
		{"the deletion comes first, while a placeholder is up", "…", false, first, []string{"dropped anchor deleted", "done"}},
		{"the repost comes first, while the model writes", "", false, later, []string{"dropped anchor deleted", "done"}},
		{"the deletion comes first, while the model writes", "", false, first, []string{"dropped anchor deleted", "done"}},
		{"the repost comes first, after the answer", "…", true, later, []string{"done"}},
		{"the deletion comes first, after the answer", "…", true, first, []string{"done"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := listen(t, nil)
			g := gate{make(chan struct{})}
			x.start(g, c.placeholder)
			if c.answered {
				close(g.open)
			}
			asked := x.fake.Say(x.general, x.mara, "L: <@"+x.fake.App().UserID+"> good morning")
			x.settle()
			switch {
			case c.answered:
				x.done(x.general)
			case c.placeholder != "":
				if err := x.fake.Until(t.Context(), func() bool { return len(x.visible(x.general)) == 1 }); err != nil {
					t.Fatal(err)
				}
			}
			hook := x.fake.AddWebhook(x.general, "proxy")
			if c.deletes {
				x.fake.Delete(x.general, asked)
			}
			x.fake.Post(fake.PostedMessage{Channel: x.general, User: hook.ID, Name: "Luna", Text: "<@" + x.fake.App().UserID + "> good morning", Fields: map[string]any{"application_id": "1100000000000000009"}})
			if !c.deletes {
				x.fake.Delete(x.general, asked)
			}
			x.settle()
			if !c.answered {
				close(g.open)
			}
			turns := x.done(x.general)
			if diff := cmp.Diff(c.turns, turns); diff != "" {
				t.Errorf("turns (-want +got):\n%s\n%s", diff, x.logged())
			}
			if diff := cmp.Diff([]string{"Good morning."}, x.visible(x.general)); diff != "" {
				t.Errorf("what people see (-want +got):\n%s\n%s", diff, x.logged())
			}
		})
	}
}

// TestAWebhookOfAProgramIsNoRepost has a program post what somebody has just said: it
// stays a program.
func TestAWebhookOfAProgramIsNoRepost(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	x.start(nil, "")
	hook := x.fake.AddWebhook(x.general, "CI")
	asked := x.fake.Say(x.general, x.mara, "<@"+x.fake.App().UserID+"> good morning")
	post := x.fake.Post(fake.PostedMessage{Channel: x.general, User: hook.ID, Text: "<@" + x.fake.App().UserID + "> good morning"})
	x.settle()
	if a, b := x.why(asked), x.why(post); a != "mention" || b != "bot" {
		t.Errorf("got %q and %q, want mention and bot", a, b)
	}
}

// TestARepostMayLeaveOutAlternativeTexts has a proxy whose signs stand behind the text post a
// picture again without its alternative text.
func TestARepostMayLeaveOutAlternativeTexts(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	x.start(nil, "")
	hook := x.fake.AddWebhook(x.general, "proxy")
	picture := func(description string) []any {
		return []any{map[string]any{"id": "1", "filename": "a.png", "size": 1, "url": "https://cdn.example/a.png", "proxy_url": "https://cdn.example/a.png", "description": description}}
	}
	asked := x.fake.Post(fake.PostedMessage{Channel: x.general, User: x.mara, Text: "<@" + x.fake.App().UserID + "> what is this? -L",
		Fields: map[string]any{"attachments": picture("an error dialog, red, with a long stack trace that begins in the driver")}})
	again := x.fake.Post(fake.PostedMessage{Channel: x.general, User: hook.ID, Name: "Luna", Text: "<@" + x.fake.App().UserID + "> what is this?",
		Fields: map[string]any{"application_id": "1100000000000000009", "attachments": picture("")}})
	x.fake.Delete(x.general, asked)
	x.settle()
	m, err := x.store.Message(t.Context(), x.scope(x.general), earshot.MessageID(again))
	if err != nil || m.Author.Kind != earshot.Human {
		t.Errorf("got %+v, %v, want a person's message", m.Author, err)
	}
}

// TestAProxiedReplyKeepsItsReference has a person reply through a proxy: a webhook
// cannot reply, so the reference is the original's.
func TestAProxiedReplyKeepsItsReference(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	x.start(nil, "")
	hook := x.fake.AddWebhook(x.general, "proxy")
	a := x.fake.Say(x.general, x.sam, "is it up?")
	b := x.fake.Reply(x.general, a, x.mara, "L: yes")
	c := x.fake.Post(fake.PostedMessage{Channel: x.general, User: hook.ID, Name: "Luna", Text: "yes", Fields: map[string]any{"application_id": "1100000000000000009"}})
	x.fake.Delete(x.general, b)
	d := x.fake.Post(fake.PostedMessage{Channel: x.general, User: hook.ID, Name: "Luna", Text: "and fast", Fields: map[string]any{"application_id": "1100000000000000009"}})
	x.settle()
	want := `channel #general
  A Sam: "is it up?"
  B deleted
  C to A Luna: "yes"
  D Luna: "and fast"
`
	if diff := cmp.Diff(want, x.dump(a, "A", b, "B", c, "C", d, "D")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAnAnswerThatIsOnItsWayIsTheOne has a proxy repeat and delete a message while the
// answer to it is being posted: Discord has it, and the bot does not know yet.
func TestAnAnswerThatIsOnItsWayIsTheOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, placeholder, call string }{
		{"as a post", "", "create_message"},
		{"in the place of a placeholder", "…", "update_message"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := listen(t, nil)
			g := gate{make(chan struct{})}
			close(g.open)
			x.fake.Inject(fake.Fault{Kind: fake.LateResponse, On: c.call, Wait: 2 * time.Second, Times: 1})
			x.start(g, c.placeholder)
			hook := x.fake.AddWebhook(x.general, "proxy")
			asked := x.fake.Say(x.general, x.mara, "L: <@"+x.fake.App().UserID+"> good morning")
			if err := x.fake.Until(t.Context(), func() bool { return slices.Equal(x.visible(x.general), []string{"Good morning."}) }); err != nil {
				t.Fatal(err)
			}
			x.fake.Post(fake.PostedMessage{Channel: x.general, User: hook.ID, Name: "Luna", Text: "<@" + x.fake.App().UserID + "> good morning", Fields: map[string]any{"application_id": "1100000000000000009"}})
			x.fake.Delete(x.general, asked)
			x.settle()
			turns := x.done(x.general)
			if len(turns) != 1 {
				t.Errorf("turns: %q, want one\n%s", turns, x.logged())
			}
			if diff := cmp.Diff([]string{"Good morning."}, x.visible(x.general)); diff != "" {
				t.Errorf("what people see (-want +got):\n%s\n%s", diff, x.logged())
			}
		})
	}
}

// TestARepostIsAnsweredAfterACrash has the process fail between the deletion of the
// original and the turn of its repost. When the deletion comes again, the original has
// no text any more.
func TestARepostIsAnsweredAfterACrash(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	crashed := false
	x.fails = func(e bot.Event) error {
		if strings.HasSuffix(e.Delivery, "-reposted") && !crashed {
			crashed = true
			return errors.New("the process ends here")
		}
		return nil
	}
	g := gate{make(chan struct{})}
	x.start(g, "")
	hook := x.fake.AddWebhook(x.general, "proxy")
	asked := x.fake.Say(x.general, x.mara, "L: <@"+x.fake.App().UserID+"> good morning")
	x.fake.Post(fake.PostedMessage{Channel: x.general, User: hook.ID, Name: "Luna", Text: "<@" + x.fake.App().UserID + "> good morning", Fields: map[string]any{"application_id": "1100000000000000009"}})
	x.fake.Delete(x.general, asked)
	x.settle()
	close(g.open)
	if diff := cmp.Diff([]string{"dropped anchor deleted", "done"}, x.done(x.general)); diff != "" || !crashed {
		t.Errorf("turns (-want +got):\n%s\n%s", diff, x.logged())
	}
	notes, err := x.store.Notes(t.Context(), "discord/repost/", 0)
	if err != nil || len(notes) != 0 {
		t.Errorf("notes: %v, %v, want none", notes, err)
	}
}
