package main

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/simulate/discord"
)

// TestTheChatSDKOnSlack plays the README's bot in Vercel's Chat SDK with its adapter for
// Slack: history from before it, tools, a file, an edit, a deletion, and kills before and
// after a post.
func TestTheChatSDKOnSlack(t *testing.T) {
	t.Parallel()
	again := []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second}
	slack, err := simulate.NewSlack(&simulate.SlackOptions{Tier: simulate.TierInternal, Retries: again})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = slack.Close() })
	s := &scene{slack: slack, bot: slack.App().UserID, mara: slack.AddUser(simulate.User{Name: "mara"}), jonas: slack.AddUser(simulate.User{Name: "jonas"})}
	s.general = slack.AddChannel(simulate.Channel{Name: "general", Members: []string{s.mara, s.jonas, s.bot}})
	before := func(user, text, thread string) string {
		return slack.Post(simulate.PostedMessage{Channel: s.general, User: user, Text: text, Thread: thread, Mute: true})
	}
	before(s.mara, "the release is on Thursday", "")
	root := before(s.mara, "the deploy of import-2 hangs at 40 %", "")
	before(s.jonas, "since runner 3 is gone", root)

	car, model, at := newSidecar(t), newBrain(t), freeAddress(t)
	key := car.key(t, "--name", "bot", "--workspace", "T0SIMULATE")
	bot := &mortal{env: []string{
		"EARSHOT_URL=" + car.url, "EARSHOT_KEY=" + key, "MODEL_URL=" + model.url, "PORT=" + at[strings.LastIndex(at, ":")+1:],
		"SLACK_API_URL=" + slack.URL() + "/api/", "SLACK_BOT_TOKEN=" + slack.App().BotToken, "SLACK_SIGNING_SECRET=" + slack.App().SigningSecret,
	}}
	bot.node, bot.dir = chatBot(t, "chat-serve.mjs")
	bot.start(t)
	slack.Deliver("http://" + at)
	mention := "<@" + s.bot + "> "

	// What was said before the bot was there is read, with the names.
	s.say(t, s.jonas, mention+"what hangs there?", root)
	s.answered(t, root, 1)
	first := model.heard(t, "what hangs there?")
	first.has(t, "the release is on Thursday", "mara: the deploy of import-2 hangs at 40 %", "since runner 3 is gone", "jonas: @earshot what hangs there?")
	model.heard(t, "the deploy of import-2") // what the tool says

	asked := s.goesOn(t, model, first, root) // it was heard what the SDK tells no handler

	// An edit while the model thinks is asked again; a deletion is not answered.
	model.hold()
	edited := s.say(t, s.jonas, mention+"who is on cal?", "")
	model.heard(t, "who is on cal?")
	slack.Edit(s.general, edited, mention+"who is on call?")
	model.heard(t, "who is on call?")
	deleted := s.say(t, s.jonas, mention+"never mind", "")
	model.heard(t, "never mind")
	slack.Delete(s.general, deleted)
	if err := slack.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	model.release()
	s.answered(t, edited, 1)

	// A post whose answer is lost is not repeated.
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
	bot.start(t)
	s.answered(t, thinking, 1)
	car.done(t, 6)

	// Killed after posts, before their commits: the next process finds them, and knows whose they are.
	slack.Inject(simulate.Fault{Kind: simulate.HungResponse, On: "chat.postMessage", Times: 2})
	posting := s.say(t, s.mara, mention+"have you posted?", "")
	s.answered(t, posting, 1)
	also := s.say(t, s.jonas, mention+"and this too?", posting)
	s.answered(t, posting, 2)
	bot.kill()
	bot.start(t)
	turns := car.done(t, 8)

	for _, q := range []string{root, asked, edited, deleted, lost, thinking, posting, also} {
		want, n := map[string]int{root: 2, deleted: 0, asked: 0, posting: 2, also: 0}, len(s.replies(q))
		if w, ok := want[q]; (ok && n != w) || (!ok && n != 1) {
			t.Errorf("%s has %d answers: %q", q, n, s.replies(q))
		}
		if q != root && q != deleted && turns[q] != 1 {
			t.Errorf("%s has %d turns", q, turns[q])
		}
	}
	// How often the model spoke before depends on when it heard of the edit and the deletion.
	if got, posts := car.replies(t, key), s.replies(posting); len(posts) != 2 || posts[0] == posts[1] || got[posting] != posts[0] || got[also] != posts[1] {
		t.Errorf("the posts %q of the process that was killed are kept as the answers %v", posts, got)
	}
	if got, want := car.used(t), 6*20; got != want { // not of what an edit or a kill ended
		t.Errorf("%d tokens are kept as used for answers, want %d", got, want)
	}
	if n := len(slack.Posts()); n != 8 {
		t.Errorf("the bot has posted %d times, want 8", n)
	}
}

// TestTheChatSDKOnDiscord plays the same bot with the adapter for Discord, which opens a thread
// for each mention, and tells of no edits and deletions.
func TestTheChatSDKOnDiscord(t *testing.T) {
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
		"EARSHOT_URL=" + car.url, "EARSHOT_KEY=" + car.key(t, "--name", "bot", "--workspace", world.Guild(), "--workspace", "@me"), "MODEL_URL=" + model.url,
		"DISCORD_API=" + world.URL() + "/api", "DISCORD_API_URL=" + world.URL() + "/api/v10", "DISCORD_BOT_TOKEN=" + world.App().Token,
		"DISCORD_APPLICATION_ID=" + world.App().UserID, "DISCORD_PUBLIC_KEY=" + strings.Repeat("0", 64),
	}}
	bot.node, bot.dir = chatBot(t, "chat-gateway.mjs", "adapters: { slack }", "adapters: { discord: slack }", "= createSlackAdapter", "= createDiscordAdapter", "{ createSlackAdapter", "{ createDiscordAdapter", "chat-adapter/slack", "chat-adapter/discord")
	starts := 0
	start := func() {
		t.Helper()
		bot.start(t)
		starts++
		if err := world.Until(t.Context(), func() bool { return world.Identifies() == starts }); err != nil {
			t.Fatal(err)
		}
	}
	start()
	mention := "<@" + world.App().UserID + "> "
	posted := func(n int) {
		t.Helper()
		ctx, stop := context.WithTimeout(t.Context(), patience)
		defer stop()
		if err := world.Until(ctx, func() bool { return len(world.Posts()) >= n }); err != nil {
			t.Fatalf("the bot posts %+v, want %d: %v", world.Posts(), n, err)
		}
	}

	// The thread of a question goes on with the conversation, and hears what is said there.
	question := world.Say(general, jonas, mention+"what hangs there?")
	posted(1)
	first := model.heard(t, "what hangs there?")
	first.has(t, "mara", "the deploy of import-2 hangs at 40 %")
	world.Say(question, mara, "runner 3 was restarted") // a thread has the id of its first message
	world.Say(question, jonas, mention+"and now?")
	posted(2)
	second := model.heard(t, "and now?")
	second.has(t, "runner 3 was restarted", "call_1", "answer 1")
	if got, want := strings.Join(second, "\n"), strings.Join(first, "\n"); !strings.HasPrefix(got, want) {
		t.Errorf("the second prompt does not begin with the first:\n%s\n%s", got, want)
	}

	// A direct message is answered beside it.
	dm := world.OpenDM(mara)
	asked := world.Say(dm, mara, "are you well?")
	posted(3)
	car.done(t, 3)

	// Killed while the model thinks, and after a post: the next process answers, and finds the post.
	model.hold()
	thinking := world.Say(general, mara, mention+"are you there?")
	model.heard(t, "are you there?")
	bot.kill()
	model.release()
	start()
	posted(4)
	car.done(t, 4)
	world.Inject(discord.Fault{Kind: discord.HungResponse, On: "create_message", Times: 1})
	posting := world.Say(general, mara, mention+"have you posted?")
	posted(5)
	bot.kill()
	start()
	turns := car.done(t, 5)

	for _, q := range []string{question, asked, thinking, posting} {
		if turns[q] != 1 {
			t.Errorf("%s has %d turns", q, turns[q])
		}
	}
	if n := len(world.Posts()); n != 5 {
		t.Errorf("the bot has posted %d times, want 5: %+v", n, world.Posts())
	}
}

// replies are the committed answers of turns, by question.
func (s *sidecar) replies(t *testing.T, key string) map[string]string {
	t.Helper()
	get := func(path string, answer any) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key)
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer got.Body.Close()
		if err := json.NewDecoder(got.Body).Decode(answer); err != nil {
			t.Fatal(err)
		}
	}
	var list struct{ Turns []listedTurn }
	get("/v1/turns?state=done&limit=100", &list)
	replies := map[string]string{}
	for _, turn := range list.Turns {
		var whole struct{ Reply string }
		get("/v1/turns/"+strconv.Itoa(turn.ID), &whole)
		replies[turn.Anchor] = whole.Reply
	}
	return replies
}

// chatBot writes the README's bot in the Chat SDK into a folder, with a model that the tests
// have, and with what runs it.
func chatBot(t *testing.T, run string, changes ...string) (node, dir string) {
	t.Helper()
	tail, err := os.ReadFile(filepath.Join("testdata", run)) //nolint:gosec // of this package
	if err != nil {
		t.Fatal(err)
	}
	post := "export const POST = (request) => bot.webhooks.slack(request);\n"
	return readmeBot(t, "A bot in the Chat SDK", append(changes,
		`"openai/gpt-5"`, `(await import("@ai-sdk/openai-compatible")).createOpenAICompatible({ name: "model", baseURL: process.env.MODEL_URL })("model")`,
		"answer((turn) =>", "answer(async (turn) =>", "}));\n", "}), { hold: 2 });\n", post, post+string(tail))...)
}

// freeAddress is one where nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
