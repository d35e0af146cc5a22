package discord_test

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	fake "github.com/earshot-ai/earshot/simulate/discord"
)

// A greeter is a model that counts how often it is asked what is a good morning. It thinks
// about an original for as long as it may.
type greeter struct{ asked atomic.Int32 }

func (g *greeter) Generate(ctx context.Context, r llm.Request, _ func(llm.Event)) (llm.Response, error) {
	raw, err := json.Marshal(r.Messages[len(r.Messages)-1])
	if err != nil || bytes.Contains(raw, []byte("good morning, all of you")) {
		g.asked.Add(1)
	}
	if bytes.Contains(raw, []byte("L: ")) {
		<-ctx.Done()
		return llm.Response{}, ctx.Err()
	}
	return llm.Response{Parts: []llm.Part{llm.Text("Good morning.")}, Stop: llm.StopEnd}, nil
}

// speaksFor posts under a proxy's webhook.
func (x *ear) speaksFor(hook, text string) string {
	return x.fake.Post(fake.PostedMessage{Channel: x.general, User: hook, Name: "Luna", Text: text, Fields: map[string]any{"application_id": "1100000000000000009"}})
}

// TestAProxiedQuestionAsksTheModelOnce has somebody ask through a proxy where one was seen
// before, by another person: whatever comes first, and up to two seconds apart, the model is
// asked once.
func TestAProxiedQuestionAsksTheModelOnce(t *testing.T) {
	t.Parallel()
	const apart = 2 * time.Second
	for _, c := range []struct {
		name    string
		deletes bool         // first
		faults  []fake.Fault // what comes late; the first two messages and the first deletion are those of another person
		turns   []string
	}{
		{"the repost first", false, nil, []string{"dropped anchor deleted", "done"}},
		{"the deletion first", true, nil, []string{"dropped anchor deleted", "done"}},
		{"the repost, and the deletion two seconds later", false, []fake.Fault{{Kind: fake.LateEvent, On: "MESSAGE_DELETE", Wait: apart, Times: 1}}, []string{"dropped anchor deleted", "done"}},
		{"the deletion, and the repost two seconds later", true, []fake.Fault{{Kind: fake.LateEvent, On: "MESSAGE_CREATE", Skip: 1, Wait: apart, Times: 1}}, []string{"dropped anchor deleted", "done"}},
		{"both two seconds after the question", false, []fake.Fault{{Kind: fake.LateEvent, On: "MESSAGE_CREATE", Skip: 1, Wait: apart, Times: 1}, {Kind: fake.LateEvent, On: "MESSAGE_DELETE", Wait: apart + 50*time.Millisecond, Times: 1}}, []string{"dropped anchor deleted", "done"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := listen(t, nil)
			g := &greeter{}
			x.start(g, "…")
			hook := x.fake.AddWebhook(x.general, "proxy").ID
			said := x.fake.Say(x.general, x.sam, "S: hello all")
			x.speaksFor(hook, "hello all")
			x.fake.Delete(x.general, said)
			x.settle()
			for _, f := range c.faults {
				x.fake.Inject(f)
			}
			const question = "good morning, all of you"
			asked := x.fake.Say(x.general, x.mara, "L: <@"+x.fake.App().UserID+"> "+question)
			if c.deletes {
				x.fake.Delete(x.general, asked)
			}
			x.speaksFor(hook, "<@"+x.fake.App().UserID+"> "+question)
			if !c.deletes {
				x.fake.Delete(x.general, asked)
			}
			if err := x.fake.Until(t.Context(), func() bool { return slices.Equal(x.visible(x.general), []string{"Good morning."}) }); err != nil {
				t.Fatalf("%v\n%s", err, x.logged())
			}
			x.settle()
			if diff := cmp.Diff(c.turns, x.done(x.general)); diff != "" {
				t.Errorf("turns (-want +got):\n%s\n%s", diff, x.logged())
			}
			if n := g.asked.Load(); n != 1 {
				t.Errorf("the model was asked %d times\n%s", n, x.logged())
			}
			if diff := cmp.Diff([]string{"Good morning."}, x.visible(x.general)); diff != "" {
				t.Errorf("what people see (-want +got):\n%s", diff)
			}
		})
	}
}

// TestWhoWaitsForAProxy asks of whom a question waits.
func TestWhoWaitsForAProxy(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	x.start(nil, "")
	place := func(id, who string, kind earshot.AuthorKind, ago time.Duration) bot.Place {
		c, err := x.store.Channel(t.Context(), x.scope(x.general))
		if err != nil {
			t.Fatal(err)
		}
		return bot.Place{Channel: c, Anchor: earshot.Message{ID: earshot.MessageID(id), Time: earshot.TimeOf(time.Now().Add(-ago)), Author: earshot.Author{ID: earshot.AuthorID(who), Kind: kind}}}
	}
	wants := func(what string, at bot.Place, want bool) {
		t.Helper()
		if got := x.p.MayRepost(at); got != want {
			t.Errorf("%s: waits %t, want %t", what, got, want)
		}
	}
	x.fake.Say(x.general, x.mara, "hello")
	x.settle()
	wants("where no proxy was seen", place("1", x.mara, earshot.Human, 0), false)

	hook := x.fake.AddWebhook(x.general, "proxy").ID
	said := x.fake.Say(x.general, x.sam, "S: hello all")
	x.speaksFor(hook, "hello all")
	x.fake.Delete(x.general, said)
	x.settle()
	wants("for whom a proxy has spoken", place("2", x.sam, earshot.Human, 0), true)
	wants("of whom nothing is known", place("3", x.mara, earshot.Human, 0), true)
	wants("what was said three seconds ago", place("4", x.mara, earshot.Human, 3*time.Second), false)
	wants("what the proxy has posted", place("5", hook+".ab", earshot.Human, 0), false)
	wants("another bot", place("6", x.probe, earshot.Bot, 0), false)
	byEmoji := place("7", x.mara, earshot.Human, 0)
	byEmoji.By = earshot.AuthorID(x.sam)
	wants("who asks by an emoji", byEmoji, false)
	wants("an original whose deletion is on the way", place(said, x.sam, earshot.Human, 4*time.Second), true)

	x.fake.Say(x.general, x.mara, "one")
	x.fake.Post(fake.PostedMessage{Channel: x.general, User: x.mara, Text: "two", At: time.Now().Add(11 * time.Second)})
	x.settle()
	wants("whose messages stay", place("8", x.mara, earshot.Human, 0), false)
	wants("for whom a proxy has spoken, still", place("9", x.sam, earshot.Human, 0), true)
}
