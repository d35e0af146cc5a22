package daemon_test

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate/discord"
	"github.com/earshot-ai/earshot/store"
)

// commanded starts the daemon and waits until its commands are there.
func (x *discordWorld) commanded() {
	x.t.Helper()
	x.start()
	x.until("the commands are registered", func() bool { return len(x.Commands()) == 6 })
}

// interaction returns what came of an interaction once it is answered.
func (x *discordWorld) interaction(id string, is func(discord.Interaction) bool) (out discord.Interaction) {
	x.t.Helper()
	x.until("the interaction is answered", func() bool {
		list := x.Interactions()
		i := slices.IndexFunc(list, func(in discord.Interaction) bool { return in.ID == id })
		out = list[i]
		return out.Answer != 0 && is(out)
	})
	return out
}

// use has somebody use a command, and returns what they alone are told.
func (x *discordWorld) use(channel, user, name string) string {
	x.t.Helper()
	id := x.UseCommand(channel, user, name, nil)
	return x.interaction(id, func(in discord.Interaction) bool { return len(in.Private) > 0 }).Private[0]
}

// asks has somebody ask by the command.
func (x *discordWorld) asks(channel, user, question string) discord.Interaction {
	x.t.Helper()
	id := x.UseCommand(channel, user, "ask", map[string]string{"question": question})
	return x.interaction(id, func(discord.Interaction) bool { return true })
}

// kept returns a message as the store has it.
func (x *discordWorld) kept(channel, id string) (m earshot.Message) {
	x.t.Helper()
	st, err := store.Open(x.t.Context(), x.db, nil)
	if err != nil {
		x.t.Fatal(err)
	}
	m, err = st.Message(x.t.Context(), x.scope(channel), earshot.MessageID(id))
	if errors.Is(err, earshot.ErrNotFound) {
		err = nil
	}
	if err = errors.Join(err, st.Close()); err != nil {
		x.t.Fatal(err)
	}
	return m
}

// What people do by commands.
func TestDiscordCommands(t *testing.T) {
	x := newDiscordWorld(t, modeltest.StartScripted(t, discordScript()), nil,
		"EARSHOT_INSPECT_URL=https://bot.example.com", "EARSHOT_INSPECT=127.0.0.1:0", "EARSHOT_INSPECT_TOKEN=an-inspector-token")
	x.commanded()

	// A question is posted for all to see, and is the asker's own message.
	before := x.Say(x.general, x.bob, "the importer is down since nine")
	x.settled()
	if in := x.asks(x.general, x.ann, "what broke & **why**?"); in.Answer != 4 || in.Private != nil {
		t.Errorf("the command is answered %+v", in)
	}
	asked := x.Messages(x.general)[1]
	if want := "<@" + x.ann + ">: what broke & **why**?"; asked.Content != want || asked.Author != x.self || len(asked.Mentions) != 0 {
		t.Errorf("posted is %+v", asked)
	}
	x.ends(earshot.TurnDone)
	x.wantAnswers(x.general, asked.ID, "Noted.")
	m := x.kept(x.general, asked.ID)
	if m.Author.ID != earshot.AuthorID(x.ann) || m.Author.Name != "Ann" || m.Author.Kind != earshot.Human ||
		m.Text != x.at("what broke & **why**?") || !slices.Equal(m.Mentions, []earshot.AuthorID{earshot.AuthorID(x.self)}) {
		t.Errorf("stored is %+v", m)
	}

	// What was read for it.
	why := x.use(x.general, x.ann, "why")
	if !strings.Contains(why, "For my last answer to you here I read 2 messages") || !strings.Contains(why, "https://bot.example.com/turns/") {
		t.Errorf("why says %q", why)
	}
	if got := x.use(x.general, x.bob, "why"); !strings.Contains(got, "not answered you anything here yet") {
		t.Errorf("why says to somebody who has asked nothing: %q", got)
	}
	if got := x.use(x.general, x.bob, "stop"); got != "I am not answering you anything here." {
		t.Errorf("stop says %q", got)
	}
	if got := x.use(x.general, x.bob, "help"); !strings.Contains(got, "`/why`") || !strings.Contains(got, "`/ask`") {
		t.Errorf("help says %q", got)
	}

	// In a message's menu: a form, and the question is about that message.
	form := x.UseMessageCommand(x.general, before, x.ann, "Ask about this")
	if in := x.interaction(form, func(discord.Interaction) bool { return true }); in.Answer != 9 || in.Form == nil || in.Form.Fields[0].Label != "Your question" {
		t.Fatalf("the command is answered %+v", in)
	}
	x.Submit(form, "is that so?")
	x.ends(earshot.TurnDone)
	x.settled()
	list := x.Messages(x.general)
	about := list[len(list)-2]
	if link := "https://discord.com/channels/" + x.Guild() + "/" + x.general + "/" + before; about.Content != "<@"+x.ann+"> "+link+"\nis that so?" {
		t.Errorf("posted is %q", about.Content)
	}
	x.wantAnswers(x.general, about.ID, "Noted.")
	if m := x.kept(x.general, about.ID); m.ReplyTo != earshot.MessageID(before) || m.Author.ID != earshot.AuthorID(x.ann) || m.Text != x.at("is that so?") {
		t.Errorf("stored is %+v", m)
	}

	// In direct messages as well, and nothing where the bot does not see the channel.
	dm := x.OpenDM(x.cyd)
	x.asks(dm, x.cyd, "and here?")
	x.ends(earshot.TurnDone)
	if n := len(x.Messages(dm)); n != 2 {
		t.Errorf("%d direct messages", n)
	}
	other := x.AddChannel(discord.Channel{Name: "other", Private: true})
	x.LetIn(other, x.ann)
	if in := x.asks(other, x.ann, "anybody here?"); len(in.Private) != 1 || !strings.Contains(in.Private[0], "not in this channel") || len(x.Messages(other)) != 0 {
		t.Errorf("elsewhere: %+v, %+v", in, x.Messages(other))
	}
}

// forget erases what a person said, after a yes, and nothing of others.
func TestAPersonHasWhatTheySaidErasedOnDiscord(t *testing.T) {
	x := newDiscordWorld(t, modeltest.StartScripted(t, discordScript()), nil, "EARSHOT_LANGUAGE=de")
	x.commanded()
	hers, his := x.Say(x.general, x.ann, "my secret"), x.Say(x.general, x.bob, "the gate is open")
	x.settled()
	x.asks(x.general, x.ann, "wer hat das Tor geöffnet?")
	x.ends(earshot.TurnDone)
	x.settled()
	asked := x.Messages(x.general)[2].ID
	if m := x.kept(x.general, asked); m.Author.ID != earshot.AuthorID(x.ann) {
		t.Fatalf("the question is %+v", m)
	}
	id := x.UseCommand(x.general, x.ann, "forget", nil)
	in := x.interaction(id, func(in discord.Interaction) bool { return len(in.Private) > 0 })
	if len(in.Buttons) != 1 || in.Buttons[0].Label != "Löschen" || in.Buttons[0].Style != 4 {
		t.Fatalf("she is shown %+v", in)
	}
	if m := x.kept(x.general, hers); m.Text != "my secret" {
		t.Fatalf("something is erased before she has said yes: %+v", m)
	}
	yes := x.ClickPrivate(id, "Löschen")
	done := x.interaction(yes, func(in discord.Interaction) bool { return len(in.Private) == 2 })
	if done.Answer != 7 || !strings.Contains(done.Private[1], "Ich lösche, was du gesagt hast") {
		t.Errorf("the click is answered %+v", done)
	}
	x.eventually("what she said is gone", func() bool {
		return x.kept(x.general, hers).Text == "" && x.kept(x.general, asked).Text == ""
	})
	if m := x.kept(x.general, his); m.Text != "the gate is open" {
		t.Errorf("of his is left %+v", m)
	}
}

// A question that was posted for somebody gets one answer, wherever the process ends.
func TestKillsWhileACommandIsAnswered(t *testing.T) {
	server := modeltest.StartScripted(t, script, discordScript())
	for _, point := range bot.FaultPoints() {
		t.Run("killed "+point, func(t *testing.T) {
			t.Parallel()
			x := newDiscordWorld(t, server, nil, "EARSHOT_LEASE_SECONDS=4")
			x.commanded()
			x.Say(x.general, x.bob, "staging is on port 4242")
			x.stored(1)
			x.stop()
			cmd := exec.CommandContext(t.Context(), os.Args[0])
			cmd.Env = append(slices.Clone(x.environ), "EARSHOT_TEST_SERVE=1", "EARSHOT_FAULT="+point, "HOME="+t.TempDir())
			var out strings.Builder
			cmd.Stdout, cmd.Stderr = &out, &out
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			x.until("the process listens", func() bool { return x.Connections() > 0 })
			x.UseCommand(x.general, x.ann, "ask", map[string]string{"question": "which port is it?"})
			err := cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != 137 {
				t.Fatalf("it ended with status %d, %v, want it killed at %s: %s", code, err, point, out.String())
			}
			x.start()
			x.over(1)
			list := x.Messages(x.general)
			asked := list[1]
			if want := "<@" + x.ann + ">: which port is it?"; asked.Content != want || len(list) != 3 {
				t.Errorf("people see %+v", list)
			}
			x.wantAnswers(x.general, asked.ID, "Staging is on port 4242.")
			if m := x.kept(x.general, asked.ID); m.Author.ID != earshot.AuthorID(x.ann) {
				t.Errorf("the question is %+v", m)
			}
		})
	}
}

// A question that was posted when the process ended is found in history by the next, which
// has no session to go on with.
func TestAQuestionByACommandIsFoundInHistory(t *testing.T) {
	x := newDiscordWorld(t, modeltest.StartScripted(t, discordScript()), nil)
	x.commanded()
	x.Say(x.general, x.bob, "there are two servers")
	x.stored(1)
	x.Inject(discord.Fault{On: "MESSAGE_CREATE", Kind: discord.DropEvent, Times: 1})
	x.asks(x.general, x.ann, "which is it?")
	x.stop()
	x.ForgetSessions()
	x.Heal()
	x.start()
	x.ends(earshot.TurnDone)
	asked := x.Messages(x.general)[1]
	x.wantAnswers(x.general, asked.ID, "Noted.")
	if m := x.kept(x.general, asked.ID); m.Author.ID != earshot.AuthorID(x.ann) || m.Author.Kind != earshot.Human {
		t.Errorf("the question is %+v", m)
	}
}
