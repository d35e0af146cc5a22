package daemon_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate/discord"
)

// longAnswer needs two messages on Discord, and has a code block where it is split.
var longAnswer = strings.Repeat("The import reads one row after another and stops at the first that it cannot read. ", 22) +
	"\\n\\n```sql\\n" + strings.Repeat("select count(*) from rows where state = 'broken';\\n", 30) + "```\\n\\nThat is all."

// TestDiscord runs the real daemon on a fake Discord.
func TestDiscord(t *testing.T) {
	t.Parallel()
	discordScenarios(t, modeltest.StartScripted(t, discordScript()))
}

// TestDiscordWithAimock answers on the fake Discord with the model server that was
// written elsewhere.
func TestDiscordWithAimock(t *testing.T) {
	t.Parallel()
	discordScenarios(t, modeltest.Aimock(t, discordScript()))
}

func discordScenarios(t *testing.T, server string) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, server string)
	}{
		{"a mention without a reply sees what the channel talks about", mentionWithoutReply},
		{"a chain of 30 replies leads back to its beginning", longChain},
		{"a question in a forum post sees its title and body", forumPost},
		{"a forward is shown as what it is", forwarded},
		{"two conversations at a time stay apart", twoConversations},
		{"a reply to any part of a long answer goes on with it", replyToAPart},
		{"what was deleted in bulk is in no later prompt", bulkDelete},
		{"a message that a proxy posts again is answered once", proxied},
		{"a mention is answered in a thread of its own", answeredInAThread},
		{"a private thread is told to nobody else", privateThread},
		{"a thread that no message began begins with its name", bareThread},
		{"it listens and answers where it is allowed to", allowed},
		{"a direct message is answered", directMessage},
		{"a choice is taken, also at a message of an earlier process", choice},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, server)
		})
	}
}

func mentionWithoutReply(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil, "EARSHOT_POLICY=window")
	x.start()
	first := x.Say(x.general, x.ann, "the backup failed again tonight")
	x.Reply(x.general, first, x.bob, "same disk as last week?")
	x.Say(x.general, x.cyd, "lunch at noon")
	x.Say(x.general, x.ann, "no, the other one")
	q := x.ask(x.general, x.cyd, "which disk is it?")
	x.want("the prompt", x.prompt(), `[recent channel context]

thread (Ann, Bob):
  Ann: the backup failed again tonight
  Bob: same disk as last week?
  Ann: no, the other one

standalone (Cyd):
  lunch at noon

Cyd: @earshot which disk is it?`)
	x.wantAnswers(x.general, q, "Noted.")

	y := newDiscordWorld(t, server, nil)
	y.start()
	y.Say(y.general, y.ann, "the backup failed again tonight")
	again := y.Say(y.general, y.bob, "same disk as last week?")
	y.Reply(y.general, again, y.ann, "no, the other one")
	y.ask(y.general, y.cyd, "which disk is it?")
	y.want("the prompt of the policy standard", y.withoutTimes(y.prompt()), `[a Discord channel. You are earshot here.]
+ name: #general
+ topic: what goes on

[recent in this channel]
[Day]
HH:MM Ann: the backup failed again tonight
HH:MM Bob: same disk as last week?
↳ HH:MM Ann: no, the other one

[question, Day, UTC]
HH:MM Cyd: @earshot which disk is it?`)
}

// longChain has a chain that the bot has heard, and then one that was said before the
// daemon ran, with so much after it that the channel's newest page does not reach it.
func longChain(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil, "EARSHOT_POLICY=window")
	long := time.Now().Add(-30 * 24 * time.Hour)
	old, text := "", func(i int) string { return fmt.Sprintf("old link %d.", i) }
	for i := range 30 {
		old = x.Post(discord.PostedMessage{
			Channel: x.general, User: []string{x.ann, x.bob}[i%2], Reply: old, Text: text(i), Mute: true, At: long.Add(time.Duration(i) * time.Minute),
		})
	}
	for i := range 1200 {
		x.Post(discord.PostedMessage{Channel: x.general, User: x.cyd, Text: fmt.Sprintf("noise %d.", i), Mute: true, At: long.Add(time.Hour + time.Duration(i)*time.Minute)})
	}
	x.start()
	heard := x.Say(x.general, x.ann, "link 0.")
	for i := range 29 {
		heard = x.Reply(x.general, heard, []string{x.bob, x.ann}[i%2], fmt.Sprintf("link %d.", i+1))
	}
	x.Reply(x.general, heard, x.cyd, x.at("where did it begin?"))
	x.ends(earshot.TurnDone)
	x.want("the chain that was heard", x.lastRequest().afterWindow(), "user: "+links("link %d.", 10, 30)+"\n\nCyd: @earshot where did it begin?\n")

	x.Reply(x.general, old, x.cyd, x.at("and this one?"))
	x.ends(earshot.TurnDone)
	x.want("the chain from before", x.lastRequest().afterWindow(), "user: "+links("old link %d.", 10, 30)+"\n\nCyd: @earshot and this one?\n")
	x.settled()
	x.ForgetCalls()
	x.Reply(x.general, old, x.bob, x.at("and now?"))
	x.ends(earshot.TurnDone)
	if n := len(x.Calls("get_message")); n > 0 {
		t.Errorf("references are fetched for a second time, by %d calls", n)
	}
}

// links returns messages of a chain, by Ann and Bob in turn, as a prompt has them.
func links(text string, from, to int) string {
	var lines []string
	for i := from; i < to; i++ {
		lines = append(lines, []string{"Ann: ", "Bob: "}[i%2]+fmt.Sprintf(text, i))
	}
	return strings.Join(lines, "\n")
}

func forumPost(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil)
	forum := x.AddChannel(discord.Channel{Name: "help", Type: discord.Forum, Topic: "one post a question"})
	x.start()
	post := x.Open(forum, x.ann, "Import stops at row 41", "it says *bad row* and nothing else")
	x.Say(post, x.bob, "which version?")
	x.Say(post, x.ann, "1.4")
	x.ask(post, x.bob, "is that known?")
	x.want("the prompt", x.withoutTimes(x.prompt()), `[a Discord channel. You are earshot here.]
+ name: #help
+ topic: one post a question
+ thread: Import stops at row 41

[this thread]
[Day]
HH:MM Ann: Import stops at row 41
    it says *bad row* and nothing else
HH:MM Bob: which version?
HH:MM Ann: 1.4

[question, Day, UTC]
HH:MM Bob: @earshot is that known?`)
	x.wantSaid(post, "Noted.")
}

func forwarded(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil)
	other := x.AddChannel(discord.Channel{Name: "vendor"})
	x.start()
	from := x.Post(discord.PostedMessage{Channel: other, User: x.bob, Text: "we see it in our region too, <@" + x.self + ">", Mute: true})
	x.Forward(x.general, x.ann, other, from)
	x.ask(x.general, x.cyd, "what did the vendor say?")
	got := x.withoutTimes(x.prompt())
	x.want("the prompt", got, `[a Discord channel. You are earshot here.]
+ name: #general
+ topic: what goes on

[recent in this channel]
[Day]
HH:MM Ann:`+" "+`
+ forwarded, Day HH:MM, from somebody in #vendor:
    we see it in our region too, @earshot

[question, Day, UTC]
HH:MM Cyd: @earshot what did the vendor say?`)
	if n := len(x.Posts()); n != 1 {
		t.Errorf("%d posts, want one: a mention in a forward is nobody's", n)
	}
}

func twoConversations(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil, "EARSHOT_POLICY=window")
	x.start()
	one := x.Say(x.general, x.ann, x.at("why is the import slow?"))
	two := x.Say(x.general, x.bob, x.at("who has the keys?"))
	x.ends(earshot.TurnDone)
	x.ends(earshot.TurnDone)
	x.Reply(x.general, x.answers(x.general, one)[0].ID, x.ann, "since friday, is it?")
	x.ends(earshot.TurnDone)
	first := x.lastRequest()
	x.Reply(x.general, x.answers(x.general, two)[0].ID, x.bob, "and the spare ones?")
	x.ends(earshot.TurnDone)
	second := x.lastRequest()

	// What the question replies to stands in turns of its own, below the window.
	for _, c := range []struct {
		r          request
		has, hasNo string
	}{{first, "why is the import slow?", "who has the keys?"}, {second, "who has the keys?", "why is the import slow?"}} {
		chain := c.r.afterWindow()
		if !strings.Contains(chain, c.has) || strings.Contains(chain, c.hasNo) {
			t.Errorf("the chain is %s; want %q in it and not %q", chain, c.has, c.hasNo)
		}
	}
	if got := second.text("assistant"); strings.Count(got, "Noted.") != 1 {
		t.Errorf("of the bot's own answers the second conversation has %s, want one", got)
	}
}

func replyToAPart(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil)
	x.start()
	q := x.ask(x.general, x.ann, "tell it in full?")
	parts := x.answers(x.general, q)
	if len(parts) < 2 {
		t.Fatalf("the answer has %d parts, want several", len(parts))
	}
	for _, p := range parts {
		if n := len([]rune(p.Content)); n > 2000 {
			t.Errorf("a part has %d characters", n)
		}
		if strings.Count(p.Content, "```")%2 != 0 {
			t.Errorf("a part leaves a code block open: %s", p.Content)
		}
	}
	for _, p := range parts {
		x.Reply(x.general, p.ID, x.bob, x.at("is that so?"))
		if got := x.ends(earshot.TurnDone).Turn.Conversation.Name; got != q {
			t.Errorf("a reply to a part is in the conversation %q, want %q", got, q)
		}
	}
}

func bulkDelete(t *testing.T, server string) {
	for _, policy := range []string{"standard", "window"} {
		x := newDiscordWorld(t, server, nil, "EARSHOT_POLICY="+policy)
		x.start()
		first := x.Say(x.general, x.ann, "the password is swordfish")
		second := x.Say(x.general, x.bob, "swordfish, really")
		x.Say(x.general, x.bob, "change it")
		q := x.ask(x.general, x.cyd, "what is new?")
		if !strings.Contains(x.lastRequest().text("user"), "swordfish") {
			t.Errorf("%s: the first prompt lacks what was said", policy)
		}
		x.BulkDelete(x.general, first, second)
		x.settled()
		x.Reply(x.general, x.answers(x.general, q)[0].ID, x.cyd, "and now?")
		x.ends(earshot.TurnDone)
		r := x.lastRequest()
		if all := r.text("user") + r.text("assistant"); strings.Contains(all, "swordfish") || !strings.Contains(all, "change it") {
			t.Errorf("%s: after the deletion the model reads: %s", policy, all)
		}
	}
}

func proxied(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil, "EARSHOT_ANSWER_BOTS=true")
	x.start()
	x.Say(x.general, x.ann, "the import is red")
	_, id := x.Proxy(x.general, x.bob, x.at("why is it red?"), "Moss")
	x.until("it is answered", func() bool { return len(x.answers(x.general, id)) > 0 })
	x.settled()
	x.eventually("no turn is under way", func() bool {
		depth, err := x.daemon.Store.Depth(t.Context(), earshot.TurnOpen, earshot.TurnClaimed, earshot.TurnGenerating, earshot.TurnPosting)
		return err == nil && len(depth) == 0
	})
	if n := len(x.Posts()); n != 1 {
		t.Errorf("%d answers are seen, want one", n)
	}
	if got := x.prompt(); strings.Count(got, "why is it red?") != 1 || !strings.Contains(got, "Moss") {
		t.Errorf("the model reads: %s", got)
	}
}

func answeredInAThread(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil, "EARSHOT_DISCORD_THREAD=on_mention")
	x.start()
	x.Say(x.general, x.bob, "the import is red")
	q := x.ask(x.general, x.ann, "why is it red?")
	x.wantSaid(q, "Noted.")
	if got := x.said(x.general); len(got) != 0 {
		t.Errorf("it also said %q in the channel", got)
	}
	x.Say(q, x.bob, x.at("since when?"))
	r := x.ends(earshot.TurnDone)
	if r.Turn.Conversation.Name != q {
		t.Errorf("the conversation in the thread is %q, want %q", r.Turn.Conversation.Name, q)
	}
	x.wantSaid(q, "Noted.", "Noted.")
	if got := x.lastRequest().text("user"); strings.Count(got, "why is it red?") != 1 {
		t.Errorf("the model reads the first question not once: %s", got)
	}
}

func privateThread(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil)
	x.start()
	inside := x.PrivateThread(x.general, x.ann, "salaries", x.bob, x.self)
	x.Say(inside, x.ann, "the offer is 4242")
	x.ask(inside, x.bob, "is that enough?")
	if got := x.prompt(); !strings.Contains(got, "4242") {
		t.Errorf("the thread's own talk is not shown: %s", got)
	}
	x.ask(x.general, x.cyd, "what is new?")
	if got := x.prompt(); strings.Contains(got, "4242") || strings.Contains(got, "salaries") {
		t.Errorf("outside of the private thread the model reads: %s", got)
	}
}

func allowed(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil)
	elsewhere := x.AddChannel(discord.Channel{Name: "elsewhere"})
	team := x.AddRole(discord.Role{Name: "team"})
	x.SetMember(x.Guild(), x.ann, "", team)
	x.environ = append(x.environ, "EARSHOT_DISCORD_ALLOW_CHANNELS="+x.general, "EARSHOT_DISCORD_ALLOW_ROLES="+team, "EARSHOT_DISCORD_ALLOW_USERS="+x.bob)
	x.start()
	hidden := x.Say(elsewhere, x.ann, x.at("what is here?"))
	ignored := x.Say(x.general, x.cyd, x.at("do you answer me?"))
	x.settled()
	byRole := x.ask(x.general, x.ann, "do you answer a role?")
	byName := x.ask(x.general, x.bob, "do you answer a name?")
	x.wantAnswers(x.general, byRole, "Noted.")
	x.wantAnswers(x.general, byName, "Noted.")
	x.wantAnswers(x.general, ignored)
	x.wantAnswers(elsewhere, hidden)
	if got := x.lastRequest().text("user"); !strings.Contains(got, "do you answer me?") {
		t.Errorf("what was said by somebody who is not answered is not shown: %s", got)
	}
	if _, err := x.daemon.Store.Message(t.Context(), x.scope(elsewhere), earshot.MessageID(hidden)); err == nil {
		t.Error("a message of a channel that is not allowed is stored")
	}
	// What is found in history tells no roles.
	x.settled()
	x.stop()
	x.ForgetSessions()
	missed := x.Post(discord.PostedMessage{Channel: x.general, User: x.cyd, Text: x.at("did you miss me?"), Mute: true})
	found := x.Post(discord.PostedMessage{Channel: x.general, User: x.ann, Text: x.at("did you miss a role?"), Mute: true})
	x.start()
	x.ends(earshot.TurnDone)
	x.wantAnswers(x.general, found, "Noted.")
	x.wantAnswers(x.general, missed)
}

func directMessage(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil)
	x.start()
	dm := x.OpenDM(x.ann)
	x.Say(dm, x.ann, "can you hear me?")
	x.ends(earshot.TurnDone)
	x.wantSaid(dm, "Noted.")
	x.Say(dm, x.ann, "and now?")
	x.ends(earshot.TurnDone)
	x.wantSaid(dm, "Noted.", "Noted.")
	x.want("how the place is told", x.withoutTimes(strings.SplitN(x.lastRequest().text("user"), "\\n", 2)[0]), `"[a Discord direct message. You are earshot here.]`)
}
