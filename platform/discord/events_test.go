package discord_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	fake "github.com/earshot-ai/earshot/simulate/discord"
)

// Ids are snowflakes: the shorter is the smaller.
func sortByID(list []earshot.Message) {
	slices.SortFunc(list, func(a, b earshot.Message) int { return a.Position().Compare(b.Position()) })
}

// TestWhatIsStored shows what the store has after each type of event.
func TestWhatIsStored(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		do   func(x *ear) []string // returns names for ids
		want string
	}{
		{"MESSAGE_CREATE: a message, with the member's nickname", func(x *ear) []string {
			a := x.fake.Say(x.general, x.sam, "hi <@"+x.mara+">")
			return []string{a, "A"}
		}, `
channel #general
  A Sam: "hi <@MARA|Mara>"
`},
		{"MESSAGE_CREATE: a reply, whose message is known", func(x *ear) []string {
			a := x.fake.Say(x.general, x.sam, "is it up?")
			b := x.fake.Reply(x.general, a, x.mara, "yes")
			return []string{a, "A", b, "B"}
		}, `
channel #general
  A Sam: "is it up?"
  B to A Mara: "yes"
`},
		{"MESSAGE_CREATE: a reply, whose message is not known and comes with it", func(x *ear) []string {
			a := x.fake.Post(fake.PostedMessage{Channel: x.general, User: x.sam, Text: "is it up?", Mute: true})
			b := x.fake.Reply(x.general, a, x.mara, "yes")
			return []string{a, "A", b, "B"}
		}, `
channel #general
  A Samuel: "is it up?"
  B to A Mara: "yes"
`},
		{"MESSAGE_CREATE: a forward", func(x *ear) []string {
			other := x.fake.AddChannel(fake.Channel{Name: "other"})
			a := x.fake.Post(fake.PostedMessage{Channel: other, User: x.sam, Text: "it is down", Mute: true})
			b := x.fake.Forward(x.general, x.mara, other, a)
			return []string{a, "A", b, "B"}
		}, `
channel #general
  B Mara: "" [forward "it is down"]
`},
		{"MESSAGE_CREATE: our own", func(x *ear) []string {
			a := x.fake.Say(x.general, x.fake.App().UserID, "yes")
			return []string{a, "A"}
		}, `
channel #general
  A (bot) earshot: "yes"
`},
		{"MESSAGE_UPDATE: an edit", func(x *ear) []string {
			a := x.fake.Say(x.general, x.sam, "helo")
			x.fake.Edit(x.general, a, "hello")
			return []string{a, "A"}
		}, `
channel #general
  A Sam: "hello" edited
`},
		{"MESSAGE_UPDATE: a preview is no edit", func(x *ear) []string {
			a := x.fake.Say(x.general, x.sam, "see https://example.org/x")
			x.fake.Embed(x.general, a, map[string]any{"type": "link", "url": "https://example.org/x", "title": "X", "description": "all of x"})
			return []string{a, "A"}
		}, `
channel #general
  A Sam: "see https://example.org/x" [link "X\nall of x"]
`},
		{"MESSAGE_UPDATE: a preview is removed", func(x *ear) []string {
			a := x.fake.Say(x.general, x.sam, "see https://example.org/x")
			x.fake.Embed(x.general, a, map[string]any{"type": "link", "url": "https://example.org/x", "title": "X", "description": "all of x"})
			x.fake.SuppressEmbeds(x.general, a)
			return []string{a, "A"}
		}, `
channel #general
  A Sam: "see https://example.org/x"
`},
		{"MESSAGE_DELETE", func(x *ear) []string {
			a := x.fake.Say(x.general, x.sam, "secret")
			x.fake.Delete(x.general, a)
			return []string{a, "A"}
		}, `
channel #general
  A deleted
`},
		{"MESSAGE_DELETE: of one that was never seen", func(x *ear) []string {
			a := x.fake.Post(fake.PostedMessage{Channel: x.general, User: x.sam, Text: "secret", Mute: true})
			x.fake.Delete(x.general, a)
			return []string{a, "A"}
		}, `
channel #general
  A deleted
`},
		{"MESSAGE_DELETE_BULK", func(x *ear) []string {
			a, b, c := x.fake.Say(x.general, x.sam, "1"), x.fake.Say(x.general, x.sam, "2"), x.fake.Say(x.general, x.sam, "3")
			x.fake.BulkDelete(x.general, a, c)
			return []string{a, "A", b, "B", c, "C"}
		}, `
channel #general
  A deleted
  B Sam: "2"
  C deleted
`},
		{"MESSAGE_CREATE: a reply to what was deleted meanwhile", func(x *ear) []string {
			a := x.fake.Say(x.general, x.sam, "is it up?")
			b := x.fake.Post(fake.PostedMessage{Channel: x.general, User: x.mara, Text: "yes", Fields: map[string]any{
				"type": 19, "message_reference": map[string]any{"type": 0, "message_id": a, "channel_id": x.general}, "referenced_message": nil,
			}})
			return []string{a, "A", b, "B"}
		}, `
channel #general
  A deleted
  B to A Mara: "yes"
`},
		{"MESSAGE_REACTION_ADD and _REMOVE", func(x *ear) []string {
			a := x.fake.Say(x.general, x.sam, "ship it?")
			x.fake.React(x.general, a, x.mara, "👍")
			x.fake.React(x.general, a, x.sam, "👍")
			x.fake.React(x.general, a, x.mara, "🎉")
			x.fake.Unreact(x.general, a, x.mara, "👍")
			return []string{a, "A"}
		}, `
channel #general
  A Sam: "ship it?" 👍1 🎉1
`},
		{"MESSAGE_REACTION_REMOVE_EMOJI", func(x *ear) []string {
			a := x.fake.Say(x.general, x.sam, "ship it?")
			x.fake.React(x.general, a, x.mara, "👍")
			x.fake.React(x.general, a, x.mara, "🎉")
			x.fake.ClearReactions(x.general, a, "👍")
			return []string{a, "A"}
		}, `
channel #general
  A Sam: "ship it?" 🎉1
`},
		{"MESSAGE_REACTION_REMOVE_ALL", func(x *ear) []string {
			a := x.fake.Say(x.general, x.sam, "ship it?")
			x.fake.React(x.general, a, x.mara, "👍")
			x.fake.ClearReactions(x.general, a, "")
			return []string{a, "A"}
		}, `
channel #general
  A Sam: "ship it?"
`},
		{"THREAD_CREATE: a thread that was started from a message", func(x *ear) []string {
			a := x.fake.Say(x.general, x.sam, "deploys hang")
			th := x.fake.Thread(x.general, a, x.mara, "the hang")
			b := x.fake.Say(th, x.mara, "since noon")
			return []string{a, "A", b, "B"}
		}, `
channel #general
  A Sam: "deploys hang"
  B in A Mara: "since noon"
`},
		{"THREAD_CREATE: of a message that was never seen, whose text comes with the thread", func(x *ear) []string {
			a := x.fake.Post(fake.PostedMessage{Channel: x.general, User: x.sam, Text: "deploys hang", Mute: true})
			th := x.fake.Thread(x.general, a, x.mara, "the hang")
			b := x.fake.Say(th, x.mara, "since noon")
			return []string{a, "A", b, "B"}
		}, `
channel #general
  A Sam: "deploys hang"
  B in A Mara: "since noon"
`},
		{"THREAD_CREATE: a private thread is a channel of its own", func(x *ear) []string {
			th := x.fake.PrivateThread(x.general, x.mara, "hush", x.mara, x.fake.App().UserID)
			b := x.fake.Say(th, x.mara, "nobody knows")
			return []string{b, "B", th, "T"}
		}, `
group #hush
  B in T Mara: "nobody knows"
`},
		{"THREAD_CREATE: a post of a forum", func(x *ear) []string {
			forum := x.fake.AddChannel(fake.Channel{Name: "help", Type: fake.Forum})
			post := x.fake.Open(forum, x.sam, "How do I drain a node?", "It hangs.")
			b := x.fake.Say(post, x.mara, "with --force")
			return []string{b, "B", post, "A"}
		}, `
channel #help
  A Sam: "How do I drain a node?\nIt hangs."
  B in A Mara: "with --force"
`},
		{"THREAD_DELETE: what was said in it is gone, what it was started from stays", func(x *ear) []string {
			a := x.fake.Say(x.general, x.sam, "deploys hang")
			th := x.fake.Thread(x.general, a, x.mara, "the hang")
			b := x.fake.Say(th, x.mara, "since noon")
			x.fake.RemoveChannel(th)
			return []string{a, "A", b, "B"}
		}, `
channel #general
  A Sam: "deploys hang"
  B deleted
`},
		{"THREAD_DELETE: a forum's post is gone with its first message", func(x *ear) []string {
			forum := x.fake.AddChannel(fake.Channel{Name: "help", Type: fake.Forum})
			post := x.fake.Open(forum, x.sam, "How do I drain a node?", "It hangs.")
			b := x.fake.Say(post, x.mara, "with --force")
			x.fake.RemoveChannel(post)
			return []string{b, "B", post, "A"}
		}, `
channel #help
  A deleted
  B deleted
`},
		{"CHANNEL_UPDATE", func(x *ear) []string {
			a := x.fake.Say(x.general, x.sam, "hi")
			x.fake.RenameChannel(x.general, "lobby")
			return []string{a, "A"}
		}, `
channel #lobby
  A Sam: "hi"
`},
		{"CHANNEL_DELETE: without purge it stays", func(x *ear) []string {
			a := x.fake.Say(x.general, x.sam, "hi")
			x.fake.RemoveChannel(x.general)
			return []string{a, "A"}
		}, `
channel #general
  A Sam: "hi"
`},
		{"GUILD_DELETE: an outage changes nothing", func(x *ear) []string {
			a := x.fake.Say(x.general, x.sam, "hi")
			x.fake.Outage(x.fake.Guild(), true)
			x.fake.Outage(x.fake.Guild(), false)
			b := x.fake.Say(x.general, x.sam, "again")
			return []string{a, "A", b, "B"}
		}, `
channel #general
  A Sam: "hi"
  B Sam: "again"
`},
		{"a webhook of a program", func(x *ear) []string {
			hook := x.fake.AddWebhook(x.general, "CI")
			a := x.fake.Post(fake.PostedMessage{Channel: x.general, User: hook.ID, Text: "build 812 green"})
			return []string{a, "A"}
		}, `
channel #general
  A (bot) CI: "build 812 green"
`},
		{"a webhook that repeats what a person wrote, who is then the author", func(x *ear) []string {
			a, b := x.fake.Proxy(x.general, x.mara, "L: good morning", "Luna")
			return []string{a, "A", b, "B"}
		}, `
channel #general
  A deleted
  B Luna: "L: good morning"
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := listen(t, nil)
			x.start(nil, "")
			names := c.do(x)
			x.settle()
			if diff := cmp.Diff(strings.TrimPrefix(c.want, "\n"), x.dump(names...)); diff != "" {
				t.Errorf("want -, got +:\n%s\nlog:\n%s", diff, x.logged())
			}
		})
	}
}

// TestAThreadThatNoMessageBeganIsToldByItsName: the name is nobody's question, also
// where it names the bot.
func TestAThreadThatNoMessageBeganIsToldByItsName(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	x.start(nil, "")
	th := x.fake.Thread(x.general, "", x.mara, "earshot, is that all?")
	x.settle()
	if got, want := x.dump(th, "T"), "channel #general\n  T Mara: \"earshot, is that all?\"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if why := x.why(th); why != "known" {
		t.Errorf("the name was taken as %q", why)
	}
}
