package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/simulate/discord"
)

// readmeBot writes the bot of the TypeScript client's README that stands below a heading
// into a folder of its own, with the packages that it imports. What a test has to change in
// it, such as the platform's address, is given as pairs of old and new texts.
func readmeBot(t *testing.T, heading string, changes ...string) (node, dir string) {
	t.Helper()
	node, dir = newNode(t), t.TempDir()
	raw, err := os.ReadFile(filepath.Join(module, "clients", "typescript", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("(?s)\n## " + heading + "\n.*?```mjs\n(.*?)```").FindStringSubmatch(string(raw))
	if code == nil {
		t.Fatalf("the README has no bot below %q", heading)
	}
	if lines := strings.Count(code[1], "\n"); lines > 13 {
		t.Errorf("the bot has %d lines", lines)
	}
	for i := 0; i < len(changes); i += 2 {
		if !strings.Contains(code[1], changes[i]) {
			t.Fatalf("the bot has no %q", changes[i])
		}
	}
	write(t, filepath.Join(dir, "bot.mjs"), strings.NewReplacer(changes...).Replace(code[1]))
	install(t, dir, "@ai-sdk", "@chat-adapter", "@slack", "ai", "chat", "discord.js", "openai")
	return node, dir
}

// install makes the client and some of the peers the packages of a folder.
func install(t *testing.T, dir string, peers ...string) {
	t.Helper()
	packages := filepath.Join(dir, "node_modules")
	if err := os.Mkdir(packages, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(filepath.Join(packages, "earshot"), os.DirFS(typescriptClient(t))); err != nil {
		t.Fatal(err) // a link would not find the peers
	}
	for _, name := range peers {
		if err := os.Symlink(peer(t, name), filepath.Join(packages, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTheTypesFit compiles what users of the parts write against the types of the real
// packages, for a project that is strict and for one that is stricter.
func TestTheTypesFit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files, err := filepath.Glob(filepath.Join("testdata", "types", "*.ts"))
	if err != nil || len(files) == 0 {
		t.Fatal("there is nothing to compile", err)
	}
	args := []string{peer(t, "typescript", "bin", "tsc"), "--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext", "--types", "node"}
	for _, file := range files {
		copyFile(t, file, filepath.Join(dir, filepath.Base(file)))
		args = append(args, filepath.Base(file))
	}
	write(t, filepath.Join(dir, "package.json"), `{"type":"module"}`)
	install(t, dir, "@anthropic-ai", "@slack", "@types", "discord.js", "openai")
	for _, more := range [][]string{nil, {"--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"}} {
		cmd := exec.Command(newNode(t), append(args, more...)...) //nolint:gosec // the compiler
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", more, err, out)
		}
	}
}

// A mortal is a bot that can be killed and started again.
type mortal struct {
	node, dir string
	env       []string
	cmd       *exec.Cmd
	said      *running
}

// start starts the bot, and waits until it is connected.
func (m *mortal) start(t *testing.T) {
	t.Helper()
	m.cmd, m.said = exec.Command(m.node, "bot.mjs"), &running{} //nolint:gosec // the README's bot
	m.cmd.Dir, m.cmd.Env, m.cmd.Stdout, m.cmd.Stderr = m.dir, append(os.Environ(), m.env...), m.said, m.said
	if err := m.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); !strings.Contains(m.said.stderr(), "ready\n"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the bot does not start:\n%s", m.said.stderr())
		}
	}
	said, kill := m.said, m.kill
	t.Cleanup(func() {
		kill()
		if t.Failed() {
			t.Logf("the bot says:\n%s", said.stderr())
		}
	})
}

// kill ends the bot at once.
func (m *mortal) kill() {
	if m.cmd.ProcessState == nil {
		_ = m.cmd.Process.Kill()
		_ = m.cmd.Wait() // it was killed
	}
}

// A listedTurn is a turn as the program lists it.
type listedTurn struct {
	ID     int    `json:"id"`
	Anchor string `json:"anchor"`
	State  string `json:"state"`
}

// done returns the committed turns, once there are so many.
func (s *sidecar) done(t *testing.T, want int) map[string]int {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		out, err := exec.Command(s.bin, "--json", "turns", "--db", s.db, "--limit", "1000").Output() //nolint:gosec // the program under test
		if err != nil {
			t.Fatal(err)
		}
		var list []listedTurn
		if err := json.Unmarshal(out, &list); err != nil {
			t.Fatal(err)
		}
		turns := map[string]int{}
		for _, turn := range list {
			if turn.State == "done" {
				turns[turn.Anchor]++
			}
		}
		if len(turns) >= want {
			return turns
		}
		if time.Now().After(end) {
			t.Fatalf("there are %d committed turns, want %d: %s", len(turns), want, out)
		}
	}
}

// used returns how many tokens the answers of all turns have used.
func (s *sidecar) used(t *testing.T) int {
	t.Helper()
	out, err := exec.Command(s.bin, "--json", "costs", "--db", s.db).Output() //nolint:gosec // the program under test
	if err != nil {
		t.Fatal(err)
	}
	var days []struct{ Output int }
	if err := json.Unmarshal(out, &days); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sum := 0
	for _, day := range days {
		sum += day.Output
	}
	return sum
}

// has fails unless a dialog has each of the texts in one of its messages.
func (d dialog) has(t *testing.T, texts ...string) {
	t.Helper()
	all := strings.Join(d, "\n")
	for _, text := range texts {
		if !strings.Contains(all, text) {
			t.Errorf("the model is not shown %q:\n%s", text, all)
		}
	}
}

// TestTheSlackBot plays the README's bot in a fake Slack: history from before it, tools, a
// file, an edit, a deletion, a post whose answer is lost, and kills before and after a post.
func TestTheSlackBot(t *testing.T) {
	t.Parallel()
	again := []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second}
	slack, err := simulate.NewSlack(&simulate.SlackOptions{SocketMode: true, Tier: simulate.TierInternal, Retries: again})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = slack.Close() })
	s := &scene{slack: slack, bot: slack.App().UserID, mara: slack.AddUser(simulate.User{Name: "mara"}), jonas: slack.AddUser(simulate.User{Name: "jonas"})}
	s.general = slack.AddChannel(simulate.Channel{Name: "general", Members: []string{s.mara, s.jonas, s.bot}})
	t.Cleanup(func() {
		if t.Failed() {
			for _, call := range slack.Calls() {
				t.Logf("%+v", call)
			}
		}
	})
	before := func(user, text, thread string) string {
		return slack.Post(simulate.PostedMessage{Channel: s.general, User: user, Text: text, Thread: thread, Mute: true})
	}
	before(s.mara, "the release is on Thursday", "")
	root := before(s.mara, "the deploy of import-2 hangs at 40 %", "")
	for i := range 130 {
		before(s.mara, fmt.Sprintf("it still hangs, look %d", i), root)
	}

	car, model := newSidecar(t), newBrain(t)
	bot := &mortal{env: []string{
		"EARSHOT_URL=" + car.url, "EARSHOT_KEY=" + car.key(t, "--name", "bot", "--workspace", "T0SIMULATE"), "OPENAI_BASE_URL=" + model.url, "OPENAI_API_KEY=none",
		"SLACK_API_URL=" + slack.URL() + "/api/", "SLACK_BOT_TOKEN=" + slack.App().BotToken, "SLACK_APP_TOKEN=" + slack.App().AppToken,
	}}
	bot.node, bot.dir = readmeBot(t, "A bot on Slack", "socketMode: true", "socketMode: true, clientOptions: { slackApiUrl: process.env.SLACK_API_URL }", "{ instructions", "{ hold: 2, instructions", "await app.start();", "await app.start();\nconsole.log(\"ready\");")
	bot.start(t)
	mention := "<@" + s.bot + "> "

	// What was said before the bot was there is read, with the names.
	s.say(t, s.jonas, mention+"what hangs there?", root)
	s.answered(t, root, 1)
	first := model.heard(t, "what hangs there?")
	first.has(t, "mara: the deploy of import-2 hangs at 40 %", "look 129", "jonas: @earshot what hangs there?", "You help a small team.")
	model.heard(t, "the deploy of import-2") // what the tool says

	asked := s.goesOn(t, model, first, root)

	// An edit while the model thinks is asked again; a deletion is not answered.
	model.hold()
	edited := s.say(t, s.jonas, mention+"who is on cal?", "")
	model.heard(t, "who is on cal?")
	slack.Edit(s.general, edited, mention+"who is on call?")
	model.heard(t, "who is on call?")
	deleted := s.say(t, s.jonas, mention+"never mind", "")
	model.heard(t, "never mind")
	slack.Delete(s.general, deleted)
	model.dropped(t, "never mind")
	model.release()
	s.answered(t, edited, 1)

	// A post whose answer is lost is found, and not repeated.
	slack.Inject(simulate.Fault{Kind: simulate.LostResponse, On: "chat.postMessage", Times: 1})
	lost := s.say(t, s.mara, mention+"is it lost?", "")
	s.answered(t, lost, 1)
	car.done(t, 5)

	// Killed while the model thinks: the next process answers.
	model.hold()
	thinking := s.say(t, s.mara, mention+"are you there?", "")
	model.heard(t, "are you there?")
	bot.kill()
	model.release()
	before(s.mara, "the bot is away", "")
	bot.start(t)
	s.answered(t, thinking, 1)

	// Killed after the post, before the commit: the next process finds it.
	slack.Inject(simulate.Fault{Kind: simulate.HungResponse, On: "chat.postMessage", Times: 1})
	posting := s.say(t, s.mara, mention+"have you posted?", "")
	s.answered(t, posting, 1)
	bot.kill()
	bot.start(t)
	turns := car.done(t, 7)
	model.heard(t, "have you posted?").has(t, "the bot is away")

	for _, q := range []string{root, asked, edited, deleted, lost, thinking, posting} {
		want, n := map[string]int{root: 2, deleted: 0, asked: 0}, len(s.replies(q))
		if w, ok := want[q]; (ok && n != w) || (!ok && n != 1) {
			t.Errorf("%s has %d answers: %q", q, n, s.replies(q))
		}
		if q != root && q != deleted && turns[q] != 1 {
			t.Errorf("%s has %d turns", q, turns[q])
		}
	}
	if n := len(slack.Posts()); n != 7 {
		t.Errorf("the bot has posted %d times, want 7", n)
	}
	if got, want := car.used(t), 6*20; got != want { // not of what an edit or a kill ended
		t.Errorf("%d tokens are kept as used for answers, want %d", got, want)
	}
}

// goesOn plays a second question in a thread, with the calls of tools of the first before
// it, and a file in a direct message, which is answered beside it. It returns that message.
func (s *scene) goesOn(t *testing.T, model *brain, first dialog, root string) (asked string) {
	t.Helper()
	s.say(t, s.mara, "runner 3 was restarted", root)
	s.say(t, s.jonas, "<@"+s.bot+"> and now?", root)
	s.answered(t, root, 2)
	second := model.heard(t, "and now?")
	second.has(t, "runner 3 was restarted", "call_1", "answer 1")
	if got, want := strings.Join(second, "\n"), strings.Join(first, "\n"); !strings.HasPrefix(got, want) {
		t.Errorf("the second prompt does not begin with the first:\n%s\n%s", got, want)
	}
	dm := s.slack.OpenDM(s.mara)
	asked = s.slack.Upload(dm, s.mara, "what does the log say?", s.slack.AddFile(simulate.File{Name: "log.txt", Data: []byte("the lock table is full")}))
	s.inDM(t, dm, "answer 3")
	model.heard(t, "what does the log say?").has(t, "the lock table is full")
	return asked
}

// inDM waits for an answer in a direct message.
func (s *scene) inDM(t *testing.T, dm, text string) {
	t.Helper()
	if err := s.slack.Until(t.Context(), func() bool {
		for _, m := range s.slack.Messages(dm) {
			if m.Bot != "" && m.Text == text && m.Thread == "" {
				return true
			}
		}
		return false
	}); err != nil {
		t.Fatalf("%v: %+v", err, s.slack.Messages(dm))
	}
}

// TestTheDiscordBot plays the README's bot in a fake Discord, as TestTheSlackBot does.
func TestTheDiscordBot(t *testing.T) {
	t.Parallel()
	world, err := discord.New(&discord.Options{IdentifyEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = world.Close() })
	mara, jonas := world.AddUser(discord.User{Name: "mara"}), world.AddUser(discord.User{Name: "jonas"})
	general := world.AddChannel(discord.Channel{Name: "general"})
	world.Say(general, mara, "the deploy of import-2 hangs at 40 %")

	car, model := newSidecar(t), newBrain(t)
	bot := &mortal{env: []string{
		"EARSHOT_URL=" + car.url, "EARSHOT_KEY=" + car.key(t, "--name", "bot", "--workspace", world.Guild(), "--workspace", "@me"), "OPENAI_BASE_URL=" + model.url, "OPENAI_API_KEY=none",
		"DISCORD_API=" + world.URL() + "/api", "DISCORD_BOT_TOKEN=" + world.App().Token,
	}}
	bot.node, bot.dir = readmeBot(t, "A bot on Discord", "new Client({", "new Client({ rest: { api: process.env.DISCORD_API },", "{ instructions", "{ hold: 2, instructions",
		"await client.login", "client.once(\"clientReady\", () => console.log(\"ready\"));\nawait client.login")
	bot.start(t)
	mention := "<@" + world.App().UserID + "> "
	replies := func(id string) (out []string) {
		for _, m := range world.Posts() {
			if m.Reply == id {
				out = append(out, m.Content)
			}
		}
		return out
	}
	answered := func(id string) string {
		t.Helper()
		ctx, stop := context.WithTimeout(t.Context(), patience)
		defer stop()
		if err := world.Until(ctx, func() bool { return len(replies(id)) > 0 }); err != nil {
			t.Fatalf("%s has no answer: %v; the bot posts %+v", id, err, world.Posts())
		}
		return id
	}

	// What was said before the bot was there is read; a reply goes on with the conversation.
	answered(world.Say(general, jonas, mention+"what hangs there?"))
	first := model.heard(t, "what hangs there?")
	first.has(t, "mara", "the deploy of import-2 hangs at 40 %", "You help a small team.")
	world.Say(general, mara, "runner 3 was restarted")
	answered(world.Reply(general, world.Posts()[0].ID, jonas, "and now?"))
	second := model.heard(t, "and now?")
	second.has(t, "runner 3 was restarted", "call_1", "answer 1")
	if got, want := strings.Join(second, "\n"), strings.Join(first, "\n"); !strings.HasPrefix(got, want) {
		t.Errorf("the second prompt does not begin with the first:\n%s", got)
	}

	// In a thread, which began before the bot knew of it, and in a direct message with a file.
	thread := world.Thread(general, world.Say(general, mara, "a list of runners"), mara, "runners")
	world.Say(thread, mara, "runner 4 is new")
	asked := answered(world.Say(thread, jonas, mention+"which is new?"))
	model.heard(t, "which is new?").has(t, "a list of runners", "runner 4 is new")
	dm := world.OpenDM(mara)
	answered(world.Upload(dm, mara, "what does the log say?", discord.File{Name: "log.txt", Data: []byte("the lock table is full")}))
	model.heard(t, "what does the log say?").has(t, "the lock table is full")

	// An edit while the model thinks is asked again; a deletion is not answered.
	model.hold()
	edited := world.Say(general, jonas, mention+"who is on cal?")
	model.heard(t, "who is on cal?")
	world.Edit(general, edited, mention+"who is on call?")
	model.heard(t, "who is on call?")
	deleted := world.Say(general, jonas, mention+"never mind")
	model.heard(t, "never mind")
	world.Delete(general, deleted)
	model.dropped(t, "never mind")
	model.release()
	answered(edited)

	// A post whose answer is lost is made once, and so are those before which and after which the bot is killed.
	world.Inject(discord.Fault{Kind: discord.LostResponse, On: "create_message", Times: 1})
	lost := answered(world.Say(general, mara, mention+"is it lost?"))
	car.done(t, 6)
	model.hold()
	thinking := world.Say(general, mara, mention+"are you there?")
	model.heard(t, "are you there?")
	bot.kill()
	model.release()
	world.Say(general, mara, "the bot is away")
	bot.start(t)
	answered(thinking)
	world.Inject(discord.Fault{Kind: discord.HungResponse, On: "create_message", Times: 1})
	posting := answered(world.Say(general, mara, mention+"have you posted?"))
	bot.kill()
	bot.start(t)
	turns := car.done(t, 8)
	model.heard(t, "have you posted?").has(t, "the bot is away")

	for _, q := range []string{asked, edited, lost, thinking, posting} {
		if n := len(replies(q)); n != 1 || turns[q] != 1 {
			t.Errorf("%s has %d answers and %d turns", q, n, turns[q])
		}
	}
	if n := len(world.Posts()); n != 8 || len(replies(deleted)) != 0 {
		t.Errorf("the bot has posted %d times, want 8: %+v", n, world.Posts())
	}
	if got, want := car.used(t), 7*20; got != want { // not of what an edit or a kill ended
		t.Errorf("%d tokens are kept as used for answers, want %d", got, want)
	}
}
