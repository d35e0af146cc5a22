package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/simulate/discord"
)

// TestDiscordJSLivesInTheFakeDiscord runs a bot on a library that is not ours: the
// fake must be enough for it, also when its connection breaks.
func TestDiscordJSLivesInTheFakeDiscord(t *testing.T) {
	t.Parallel()
	node, library := newNode(t), peer(t, "discord.js")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	s, err := discord.New(&discord.Options{Heartbeat: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	mara := s.AddUser(discord.User{Name: "mara", GlobalName: "Mara Vos", Nick: "Mara"})
	general := s.AddChannel(discord.Channel{Name: "general"})
	s.Say(general, mara, "before the bot was there")

	dir := t.TempDir()
	copyFile(t, filepath.Join("testdata", "discord-bot.mjs"), filepath.Join(dir, "bot.mjs"))
	if err := os.Symlink(filepath.Dir(library), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "bot.mjs") //nolint:gosec // the test's own
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "DISCORD_API="+s.URL()+"/api", "DISCORD_BOT_TOKEN="+s.App().Token)
	if line := start(t, cmd).waitFor(t, "ready as"); !strings.HasPrefix(line, "ready as earshot in 1 guilds") && !strings.HasPrefix(line, "ready as earshot#") || !strings.HasSuffix(line, "with 1 command") {
		t.Errorf("the bot says %q", line)
	}
	mention := "<@" + s.App().UserID + "> "
	answer := func(n int, want string) {
		t.Helper()
		err := s.Until(ctx, func() bool {
			posts := s.Posts()
			return len(posts) == n && posts[n-1].Content == want
		})
		if err != nil {
			t.Fatalf("%v: the bot said %+v, want %q; it called %+v", err, s.Posts(), want, s.Calls())
		}
	}
	asked := s.Upload(general, mara, mention+"hello", discord.File{Name: "notes.txt", Data: []byte("notes")})
	answer(1, "Hello, Mara: 1 messages before, 1 files.")
	if got := s.Posts()[0].Reply; got != asked {
		t.Errorf("it replies to %q, want %q", got, asked)
	}
	if err := s.Until(ctx, func() bool { return s.Messages(general)[1].Reactions["👋"] == 1 }); err != nil {
		t.Errorf("%v: the bot does not react", err)
	}

	// What is said while the connection is broken arrives when the bot resumes.
	s.Inject(discord.Fault{Kind: discord.CutSocket, On: "MESSAGE_CREATE", Times: 1})
	s.Say(general, mara, mention+"are you there?")
	answer(2, "Hello, Mara: 3 messages before, 0 files.")
	if n := s.Identifies(); n != 1 {
		t.Errorf("the bot identified %d times, want once: it should resume", n)
	}
	if len(s.Events("RESUMED")) != 1 {
		t.Error("the bot did not resume")
	}

	// A limit is kept, and a lost connection to the API is tried again.
	s.Inject(discord.Fault{Kind: discord.RateLimit, On: "create_message", Times: 1})
	s.Say(s.OpenDM(mara), mara, "hello")
	answer(3, "Hello, Mara Vos: 0 messages before, 0 files.")

	question := s.Say(general, mara, mention+"a thread, please")
	if err := s.Until(ctx, func() bool { return len(s.Posts()) == 4 }); err != nil {
		t.Fatalf("%v: the bot opens no thread; it called %+v", err, s.Calls())
	}
	if posts := s.Messages(question); posts[len(posts)-1].Content != "Here." {
		t.Errorf("in the thread people see %+v", posts)
	}

	// People click, and send the form that they are shown.
	s.Say(general, mara, mention+"delete it")
	if err := s.Until(ctx, func() bool { return len(s.Posts()) == 5 }); err != nil {
		t.Fatalf("%v: the bot asks nothing; it called %+v", err, s.Calls())
	}
	list := s.Messages(general)
	asking := list[len(list)-1].ID
	told := func(interaction, want string) {
		t.Helper()
		err := s.Until(ctx, func() bool {
			for _, x := range s.Interactions() {
				if x.ID == interaction {
					return len(x.Private) == 1 && x.Private[0] == want
				}
			}
			return false
		})
		if err != nil {
			t.Fatalf("%v: people did %+v, and the bot called %+v", err, s.Interactions(), s.Calls())
		}
	}
	no := s.Click(general, asking, mara, "Don't")
	if err := s.Until(ctx, func() bool { return s.Interactions()[0].Form != nil }); err != nil {
		t.Fatalf("%v: the bot shows no form; it called %+v", err, s.Calls())
	}
	told(s.Submit(no, "It is the only copy."), "Because: It is the only copy.")
	told(s.Click(general, asking, mara, "yes"), "As you say, Mara.")
	done := func() bool {
		list := s.Messages(general)
		last := list[len(list)-1]
		return last.Content == "Done." && last.Buttons == nil
	}
	if err := s.Until(ctx, done); err != nil {
		t.Errorf("%v: people see %+v", err, s.Messages(general))
	}

	// People use the commands that it has registered.
	s.UseCommand(general, mara, "roll", map[string]string{"die": "d6"})
	rolled := func() bool {
		list := s.Messages(general)
		return list[len(list)-1].Content == "Mara rolls d6."
	}
	if err := s.Until(ctx, rolled); err != nil {
		t.Errorf("%v: people see %+v", err, s.Messages(general))
	}
	told(s.UseMessageCommand(general, asked, mara, "Count words"), "2 words.")
	if err := s.Settle(ctx); err != nil {
		t.Errorf("the events were not received: %v", err)
	}
}
