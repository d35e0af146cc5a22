package bot_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

var guild = earshot.Channel{Platform: earshot.Discord, Workspace: "G1", ID: "C9", Name: "dev", Kind: earshot.KindChannel}

// A pinboard is a board whose answers are replies by reference, outside of any thread,
// of which only the first part has the reference.
type pinboard struct{ *board }

func (p pinboard) Post(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	m, err := p.board.Post(ctx, d)
	if m.Thread = d.Thread; d.Chunk == 0 && d.Thread == "" {
		m.ReplyTo = d.Anchor.ID
	}
	return m, err
}

// replying makes a message a reply by reference; with a ping its author is mentioned.
func replying(to string, pings ...earshot.AuthorID) func(*bot.Event) {
	return func(e *bot.Event) { e.Message.ReplyTo, e.Message.Mentions = earshot.MessageID(to), pings }
}

// conversations returns the conversation of each turn as "anchor in name", in the order
// of opening.
func (w *world) conversations() []string {
	w.t.Helper()
	list, err := w.store.QueuedTurns(w.t.Context(), earshot.TurnQuery{Limit: 100})
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, q := range slices.Backward(list) {
		out = append(out, string(q.Anchor)+" in "+q.Conversation.Name)
	}
	return out
}

func TestWhichConversationAReplyGoesOnWith(t *testing.T) {
	t.Parallel()
	model := &echo{}
	in(t, func(o *bot.Options) { o.Model = model }, func(w *world) {
		w.board.max = 60
		w.options.Platform = pinboard{w.board}
		w.stop()
		w.start()
		w.say(guild, alice, "m1", "<@U0BOT> is the EU mirror slow? "+strings.Repeat("I wonder. ", 8))
		w.rest(time.Second)
		parts := len(w.board.all())
		if parts < 2 {
			t.Fatalf("the answer has %d parts", parts)
		}
		last := "p" + strings.Repeat("0", 2) + string(rune('0'+parts))
		w.say(guild, bob, "m2", "mine too", replying("p001"))
		w.say(guild, alice, "m3", "and now?", replying(last, self.ID))  // to the last part
		w.say(guild, bob, "m4", "<@U0BOT> and for me?", replying("m2")) // to somebody below the answer
		w.say(guild, bob, "m5", "<@U0BOT> what is new?")                // to nothing
		w.say(guild, bob, "m6", "<@U0BOT> is that so?", replying("m5")) // below no answer
		w.say(guild, bob, "m7", "<@U0BOT> in the thread?", under("m1")) // in a thread of the first question
		w.say(guild, bob, "m8", "no reply arrow, no mention")           // to nobody
		w.say(guild, alice, "m9", "the ping is off", replying(last))    // to nobody either
		w.rest(time.Second)
		same(t, "conversations", w.conversations(), []string{"m1 in m1", "m3 in m1", "m4 in m1", "m5 in m5", "m6 in m6", "m7 in m1"})
		second := model.asked[1]
		if len(second.Messages) != 3 {
			t.Errorf("the follow-up has %d messages, want the session and the question", len(second.Messages))
		}
		if got := lastLine(second); !strings.HasSuffix(got, "Alice: and now?") {
			t.Errorf("the follow-up ends with %q", got)
		}
	})
}

func TestAnOwnedConversationAnswersRepliesToTheAgentAlone(t *testing.T) {
	t.Parallel()
	in(t, func(o *bot.Options) { o.Answer.OwnedThreads = true }, func(w *world) {
		w.options.Platform = pinboard{w.board}
		w.stop()
		w.start()
		w.say(guild, alice, "m1", "<@U0BOT> hi")
		w.rest(time.Second)
		for _, c := range []struct {
			id, text, replyTo, thread, why string
			author                         earshot.Author
			opened                         bool
		}{
			{id: "m2", author: bob, text: "since when?", replyTo: "p001", why: "owned", opened: true},
			{id: "m3", author: alice, text: "since noon", replyTo: "m2", why: "other-named"},
			{id: "m4", author: alice, text: "more of it", replyTo: "m3", why: "owned", opened: true}, // to herself
			{id: "m5", author: bob, text: "as I said", why: "not-addressed"},
			{id: "m6", author: bob, text: "what next?", thread: "m1", why: "owned", opened: true}, // a thread of the question
			{id: "m7", author: alice, text: "no idea", thread: "m1", replyTo: "m6", why: "other-named"},
			{id: "m8", author: alice, text: "elsewhere", replyTo: "m5", why: "other-named"},
			{id: "m9", author: alice, text: "not known", replyTo: "gone", why: "owned"},
		} {
			got := w.say(guild, c.author, c.id, c.text, func(e *bot.Event) {
				e.Message.ReplyTo, e.Message.Thread = earshot.MessageID(c.replyTo), earshot.MessageID(c.thread)
			})
			if got.Why != c.why || got.Opened != c.opened {
				t.Errorf("%s: got %s, opened %v; want %s, %v", c.id, got.Why, got.Opened, c.why, c.opened)
			}
			w.rest(time.Second)
		}
	})
}
