package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/simulate/discord"
)

// A toolModel is a scripted model behind OpenAI's API. Asked with tools it calls one that
// there is and one that it invents; then it answers "answer to question N", for the last
// question of the prompt. While it is held it answers nobody.
type toolModel struct {
	url   string
	mu    sync.Mutex // guards what follows
	asked []string   // bodies of requests, as JSON
	gate  chan struct{}
}

// pixel is a picture.
var pixel, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

var question = regexp.MustCompile(`question (\d+)`)

func newToolModel(t *testing.T) *toolModel {
	t.Helper()
	m := &toolModel{gate: make(chan struct{})}
	close(m.gate)
	srv := httptest.NewServer(http.HandlerFunc(m.answer))
	t.Cleanup(srv.Close)
	t.Cleanup(m.release)
	m.url = srv.URL
	return m
}

func (m *toolModel) answer(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Messages []struct {
			Role    string
			Content json.RawMessage
		}
		Tools []json.RawMessage
	}
	var raw json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&raw); err != nil || json.Unmarshal(raw, &in) != nil || len(in.Messages) == 0 {
		http.Error(w, "no chat", http.StatusBadRequest)
		return
	}
	m.mu.Lock()
	m.asked = append(m.asked, string(raw))
	gate := m.gate
	m.mu.Unlock()
	select {
	case <-gate:
	case <-r.Context().Done():
		return
	}
	const usage = `"usage":{"prompt_tokens":100,"prompt_tokens_details":{"cached_tokens":40},"completion_tokens":10}`
	w.Header().Set("Content-Type", "application/json")
	if last := in.Messages[len(in.Messages)-1]; last.Role == "user" && len(in.Tools) > 0 {
		fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[
			{"id":"c1","type":"function","function":{"name":"channel_context","arguments":"{\"intent\":\"deploy\"}"}},
			{"id":"c2","type":"function","function":{"name":"invented","arguments":"{}"}}]}}],%s}`, usage)
		return
	}
	n := "?"
	for _, x := range in.Messages {
		if found := question.FindAllSubmatch(x.Content, -1); x.Role == "user" && found != nil {
			n = string(found[len(found)-1][1])
		}
	}
	fmt.Fprintf(w, `{"choices":[{"message":{"role":"assistant","content":"answer to question %s"}}],%s}`, n, usage)
}

func (m *toolModel) hold() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gate = make(chan struct{})
}

func (m *toolModel) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-m.gate:
	default:
		close(m.gate)
	}
}

// prompts returns what the model was asked so far.
func (m *toolModel) prompts() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]string(nil), m.asked...)
}

// A platformScene is a fake platform with people and a bot's place in it.
type platformScene interface {
	env() []string
	workspaces() []string
	channel() string
	say(text, after string) string // after what the bot said to the question, "": in the channel
	direct(text string) string
	show(text, file string, data []byte) string           // a message with a file
	thread(text, beside string) (say func(string) string) // a thread, which begins with two messages
	lapse() bool                                          // a connection that is lost for a while; false where the platform tells everything later
	lose()                                                // the answer to the next post
	link(id string) string
	edit(id, text string)
	remove(id string)
	replies(to string) []string
	started(t *testing.T, bot *running)
	settle(t *testing.T)
	until(ctx context.Context, is func() bool) error
}

// TestThePartsOfThePythonClient plays the bots that stand in the client's README: over
// some turns with tools, an edit, a deletion and a kill each question has one reply.
func TestThePartsOfThePythonClient(t *testing.T) {
	t.Parallel()
	python := pythonWith(t, "aiohttp, discord, httpx")
	for file, scene := range map[string]func(*testing.T) platformScene{
		"slack_bot.py": newSlackScene, "slack_async_bot.py": newSocketScene, "discord_bot.py": newDiscordScene,
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			newPartPlay(t, python, file, scene(t)).run(t)
		})
	}
}

const asksOtherwise = `
def ask(turn, model):
    last = turn.messages[-1]["text"].rpartition("[question")[2]
    if "please fail" in last:
        raise RuntimeError("the model fails")
    if "which sources" in last:
        return " ".join(s["link"] for s in turn.sources)
    return turn.run(model)

`

// A partPlay is a bot of the README in a scene.
type partPlay struct {
	platformScene
	car   *sidecar
	model *toolModel

	key, python, file string
	envs              []string
}

func newPartPlay(t *testing.T, python, file string, scene platformScene) *partPlay {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(module, "clients", "python", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, code, found := strings.Cut(string(readme), "```python\n# "+file+"\n")
	code, _, ended := strings.Cut(code, "```\n")
	if !found || !ended || strings.Count(strings.TrimSpace(code), "\n") > 16 {
		t.Fatalf("the README has no %s of some lines", file)
	}
	p := &partPlay{platformScene: scene, python: python, car: newSidecar(t), model: newToolModel(t), file: filepath.Join(t.TempDir(), file)}
	// What a dead process has claimed is free after two seconds, where the README's bot waits for a minute. Beside that it
	// answers two questions in another way.
	asks := asksOtherwise
	if strings.Contains(code, "earshot.aio") {
		asks = strings.NewReplacer("def ask", "async def ask", "turn.run", "await turn.run").Replace(asks)
	}
	write(t, p.file, asks+strings.Replace(code, "lambda turn: turn.run(model),", "lambda turn: ask(turn, model), hold=2,", 1))
	args := []string{"--name", "bot"}
	for _, w := range scene.workspaces() {
		args = append(args, "--workspace", w)
	}
	p.key = p.car.key(t, args...)
	p.envs = append(append(os.Environ(), scene.env()...), "EARSHOT_URL="+p.car.url, "EARSHOT_KEY="+p.key, "OPENAI_BASE_URL="+p.model.url,
		"PORT=0", pythonPath(t), "PYTHONDONTWRITEBYTECODE=1")
	return p
}

// start starts the bot, and returns what kills it.
func (p *partPlay) start(t *testing.T) func() {
	t.Helper()
	cmd := exec.Command(p.python, p.file) //nolint:gosec // the README's
	cmd.Env = p.envs
	r := start(t, cmd)
	p.started(t, r)
	return func() { _ = cmd.Process.Kill() }
}

func (p *partPlay) run(t *testing.T) {
	p.say("the deploy of import-2 hangs at 40 %", "")
	runner := p.say("it is runner 3", "")
	keys := p.thread("we rotate the keys", "Bob has them")
	kill := p.start(t)

	ten := keys("@bot question 10, who has the keys?")
	p.wait(t, "an answer in the thread", func() bool { return len(p.replies(ten)) == 1 })
	p.committed(t, 1)
	one := p.say("@bot question 1, what hangs?", "")
	p.wait(t, "an answer", func() bool { return len(p.replies(one)) == 1 })
	if got := p.model.prompts()[2]; !strings.Contains(got, "mara: the deploy of import-2 hangs") || strings.Contains(got, "[history before") {
		t.Errorf("the first prompt does not know what was said before:\n%s", got)
	}
	if got := p.model.prompts()[3]; !strings.Contains(got, "there is no tool invented") || !strings.Contains(got, "runner 3") {
		t.Errorf("the model does not hear what its calls came to:\n%s", got)
	}
	p.committed(t, 2)
	two := p.say("@bot question 2, since when?", one)
	p.wait(t, "the second answer", func() bool { return len(p.replies(two)) == 1 })
	if got := p.model.prompts()[4]; !strings.Contains(got, `"tool_calls"`) || !strings.Contains(got, `"tool_call_id": "c2"`) {
		t.Errorf("the second prompt does not have the calls of the first turn:\n%s", got)
	}
	p.committed(t, 3)

	three := p.held(t, "@bot question 3, and why?")
	p.edit(three, "@bot question 33, and why so late?")
	p.wait(t, "the edit", func() bool {
		return strings.Contains(p.get(t, "/v1/channels/"+p.channel()+"/messages/"+three), "question 33")
	})
	p.model.release()
	p.wait(t, "an answer to the edited question", func() bool { return len(p.replies(three)) == 1 })
	if got := p.replies(three)[0]; got != "answer to question 33" {
		t.Errorf("the edited question is answered by %q", got)
	}

	four := p.held(t, "@bot question 4, which I take back")
	p.remove(four)
	p.wait(t, "the deletion", func() bool {
		return strings.Contains(p.get(t, "/v1/channels/"+p.channel()+"/messages/"+four), `"status":404`)
	})
	p.model.release()

	five := p.held(t, "@bot question 5, before you die")
	kill()
	p.model.release()
	p.say("runner 4 took over", "") // while nobody listens
	p.start(t)
	p.wait(t, "an answer of the next process", func() bool { return len(p.replies(five)) == 1 })

	lapses := 0
	six := p.direct("question 6, between us")
	seven := p.say("@bot question 7, which sources have you?", "")
	eight := p.say("@bot question 8, please fail", "")
	nine := p.show("@bot question 9, what is on it?", "shot.png", pixel)
	p.wait(t, "an answer to each question", func() bool {
		return !slices.ContainsFunc([]string{six, seven, eight, nine}, func(q string) bool { return len(p.replies(q)) == 0 })
	})
	if p.lapse() {
		p.say("runner 5 took over", "")
		p.started(t, nil)
		twelve := p.say("@bot question 12, who took over?", "")
		p.wait(t, "an answer after a lapse", func() bool { return len(p.replies(twelve)) == 1 })
		p.asked(t, "question 12, who took over?", "runner 5 took over")
		lapses++
	}
	p.lose()
	eleven := p.say("@bot question 11, do you hear yourself?", "")
	p.committed(t, 9+lapses)
	for id, want := range map[string]string{
		one: "answer to question 1", two: "answer to question 2", three: "answer to question 33", four: "", five: "answer to question 5",
		six: "answer to question 6", eight: "Sorry, I could not answer that.", nine: "answer to question 9", ten: "answer to question 10",
		eleven: "answer to question 11",
	} {
		if got := strings.Join(p.replies(id), "|"); got != want {
			t.Errorf("replies %q, want %q", got, want)
		}
	}
	if got, want := p.replies(seven)[0], p.link(runner); !strings.Contains(got, want) {
		t.Errorf("the sources are %s, want %s among them", got, want)
	}
	p.asked(t, "question 9, what is on it?", `"image_url"`)
	p.asked(t, "question 9, what is on it?", "runner 4 took over")
	p.asked(t, "question 10, who has the keys?", "Bob has them")
	p.used(t, 9+lapses, 7+lapses) // one asked no model, and of one whose post was found nobody knows any more
}

// asked checks that the model was asked a question with something in its prompt.
func (p *partPlay) asked(t *testing.T, question, want string) {
	t.Helper()
	for _, prompt := range p.model.prompts() {
		if strings.Contains(prompt[strings.LastIndex(prompt, "[question,"):], question) {
			if !strings.Contains(prompt, want) {
				t.Errorf("the prompt of %s has no %s:\n%s", question, want, prompt)
			}
			return
		}
	}
	t.Errorf("the model was not asked %s", question)
}

// held asks a question whose answer the model holds back.
func (p *partPlay) held(t *testing.T, text string) string {
	t.Helper()
	p.model.hold()
	id := p.say(text, "")
	p.settle(t)
	asked := strings.TrimPrefix(text, "@bot ")
	p.wait(t, "a model that is asked "+asked, func() bool {
		prompts := p.model.prompts()
		return strings.Contains(prompts[len(prompts)-1], asked)
	})
	return id
}

func (p *partPlay) wait(t *testing.T, what string, is func() bool) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Second)
	defer stop()
	for !is() {
		wait, done := context.WithTimeout(ctx, 50*time.Millisecond) // what the fake does not hear of
		_ = p.until(wait, is)
		done()
		if ctx.Err() != nil {
			t.Fatalf("there is not %s", what)
		}
	}
}

// committed waits until the sidecar has n committed turns.
func (p *partPlay) committed(t *testing.T, n int) {
	t.Helper()
	p.wait(t, fmt.Sprint(n, " committed turns"), func() bool {
		return strings.Count(p.get(t, "/v1/turns?state=done"), `"state":"done"`) >= n
	})
}

// used checks that there are so many turns, and what those that asked the model twice have used.
func (p *partPlay) used(t *testing.T, turns, asked int) {
	t.Helper()
	var got struct{ Total map[string]int }
	if err := json.Unmarshal([]byte(p.get(t, "/v1/usage")), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"turns": turns, "input": asked * 2 * 60, "cache_read": asked * 2 * 40, "cache_write": 0, "output": asked * 2 * 10}
	if diff := cmp.Diff(got.Total, want); diff != "" {
		t.Errorf("usage (-got +want):\n%s", diff)
	}
}

// get returns what the sidecar answers.
func (p *partPlay) get(t *testing.T, path string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.car.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+p.key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// TestAnAsynchronousBotOnFastAPI asks a bot as somebody would write it several things at once.
func TestAnAsynchronousBotOnFastAPI(t *testing.T) {
	t.Parallel()
	python, car, model := pythonWith(t, "fastapi, httpx, uvicorn"), newSidecar(t), newToolModel(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	socket, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()                                                                               // the socket is the bot's
	cmd := exec.Command(python, "-m", "uvicorn", "chat_bot:app", "--fd", "3", "--app-dir", "testdata") //nolint:gosec // the test's own
	cmd.ExtraFiles = []*os.File{socket}
	cmd.Env = append(os.Environ(), "EARSHOT_URL="+car.url, "EARSHOT_KEY="+car.key(t, "--name", "bot", "--workspace", "T1"), "OPENAI_BASE_URL="+model.url,
		pythonPath(t), "PYTHONDONTWRITEBYTECODE=1")
	start(t, cmd)
	var asks sync.WaitGroup
	for n := range 8 {
		asks.Go(func() {
			body := fmt.Sprintf(`{"time":"2026-03-02T09:0%d:00Z","text":"<@BOT> question %d, please"}`, n, n)
			url := fmt.Sprintf("http://%s/rooms/r%d/messages/%d", listener.Addr(), n/2, n)
			response, err := http.Post(url, "application/json", strings.NewReader(body)) //nolint:gosec // the test's own
			if err != nil {
				t.Error(err)
				return
			}
			defer response.Body.Close()
			got, err := io.ReadAll(response.Body)
			if want := fmt.Sprintf(`{"answer":"answer to question %d"}`, n); err != nil || string(got) != want {
				t.Errorf("%v: %s, want %s", err, got, want)
			}
		})
	}
	asks.Wait()
}

// A slackScene is a fake Slack that delivers events over HTTP.
type slackScene struct {
	*simulate.Slack
	bySocket          bool
	general, dm, mara string
}

func newSlackScene(t *testing.T) platformScene  { return playSlack(t, false) }
func newSocketScene(t *testing.T) platformScene { return playSlack(t, true) }

func playSlack(t *testing.T, bySocket bool) platformScene {
	t.Helper()
	slack, err := simulate.NewSlack(&simulate.SlackOptions{SocketMode: bySocket, Tier: simulate.TierUnlimited})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = slack.Close() })
	s := &slackScene{Slack: slack, bySocket: bySocket, mara: slack.AddUser(simulate.User{Name: "mara"})}
	s.general = slack.AddChannel(simulate.Channel{Name: "general", Members: []string{s.mara, slack.App().UserID}})
	s.dm = slack.OpenDM(s.mara)
	return s
}

func (s *slackScene) env() []string {
	app := s.App()
	return []string{"SLACK_API_URL=" + s.URL() + "/api/", "SLACK_BOT_TOKEN=" + app.BotToken, "SLACK_APP_TOKEN=" + app.AppToken, "SLACK_SIGNING_SECRET=" + app.SigningSecret}
}

func (s *slackScene) channel() string      { return s.general }
func (s *slackScene) workspaces() []string { return []string{"T0SIMULATE"} }

func (s *slackScene) mention(text string) string {
	return strings.Replace(text, "@bot", "<@"+s.App().UserID+">", 1)
}

func (s *slackScene) say(text, after string) string {
	return s.Post(simulate.PostedMessage{Channel: s.general, User: s.mara, Text: s.mention(text), Thread: after})
}

func (s *slackScene) direct(text string) string {
	return s.Post(simulate.PostedMessage{Channel: s.dm, User: s.mara, Text: text})
}

func (s *slackScene) show(text, file string, data []byte) string {
	id := s.AddFile(simulate.File{Name: file, Data: data})
	return s.Post(simulate.PostedMessage{Channel: s.general, User: s.mara, Text: s.mention(text), Files: []string{id}})
}

func (s *slackScene) thread(text, beside string) func(string) string {
	root := s.say(text, "")
	s.say(beside, root)
	return func(text string) string { return s.say(text, root) }
}

func (s *slackScene) lapse() bool { return false }

func (s *slackScene) lose() {
	s.Inject(simulate.Fault{Kind: simulate.LostResponse, On: "chat.postMessage", Times: 1})
}

func (s *slackScene) link(id string) string {
	return "/archives/" + s.general + "/p" + strings.ReplaceAll(id, ".", "")
}

func (s *slackScene) edit(id, text string) { s.Edit(s.general, id, s.mention(text)) }
func (s *slackScene) remove(id string)     { s.Delete(s.general, id) }

// replies are what the bot says behind a question, before the next one.
func (s *slackScene) replies(to string) []string {
	var out []string
	for _, channel := range []string{s.general, s.dm} {
		root, found := "", false
		for _, m := range s.Messages(channel) {
			switch {
			case m.TS == to:
				found, root = true, m.Thread
				if root == "" {
					root = to
				}
			case m.Bot == "" && m.Thread == root:
				found = false
			case found && m.Bot != "" && (m.Thread == root || channel == s.dm):
				out = append(out, m.Text)
			}
		}
	}
	return out
}

func (s *slackScene) started(t *testing.T, bot *running) {
	t.Helper()
	if s.bySocket {
		bot.waitFor(t, "the bot is connected")
		return
	}
	line := bot.waitFor(t, "the bot is listening on port")
	if err := s.Subscribe(t.Context(), "http://127.0.0.1:"+line[strings.LastIndex(line, " ")+1:]); err != nil {
		t.Fatal(err)
	}
}

func (s *slackScene) settle(t *testing.T) {
	t.Helper()
	if err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (s *slackScene) until(ctx context.Context, is func() bool) error { return s.Until(ctx, is) }

// A discordScene is a fake Discord.
type discordScene struct {
	*discord.Discord
	general, dm, mara string
	before            int // how often a bot has identified itself
}

func newDiscordScene(t *testing.T) platformScene {
	t.Helper()
	d, err := discord.New(&discord.Options{Heartbeat: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	s := &discordScene{Discord: d, mara: d.AddUser(discord.User{Name: "mara"})}
	s.general = d.AddChannel(discord.Channel{Name: "general"})
	s.dm = d.OpenDM(s.mara)
	return s
}

func (s *discordScene) env() []string {
	return []string{"DISCORD_API=" + s.APIURL(), "DISCORD_GATEWAY=" + s.GatewayURL(), "DISCORD_BOT_TOKEN=" + s.App().Token}
}

func (s *discordScene) channel() string      { return s.general }
func (s *discordScene) workspaces() []string { return []string{s.Guild(), "@me"} }

func (s *discordScene) mention(text string) string {
	return strings.Replace(text, "@bot", "<@"+s.App().UserID+">", 1)
}

func (s *discordScene) say(text, after string) string {
	for _, m := range s.Messages(s.general) {
		if after != "" && m.Reply == after {
			return s.Reply(s.general, m.ID, s.mara, s.mention(text))
		}
	}
	return s.Say(s.general, s.mara, s.mention(text))
}

func (s *discordScene) show(text, file string, data []byte) string {
	return s.Upload(s.general, s.mara, s.mention(text), discord.File{Name: file, Data: data})
}

func (s *discordScene) thread(text, beside string) func(string) string {
	thread := s.Thread(s.general, s.say(text, ""), s.mara, "keys")
	s.Say(thread, s.mara, beside)
	return func(text string) string { return s.Say(thread, s.mara, s.mention(text)) }
}

func (s *discordScene) lapse() bool {
	s.before = s.Identifies()
	s.ForgetSessions()
	s.Cut()
	return true
}

func (s *discordScene) lose() {
	s.Inject(discord.Fault{Kind: discord.LostResponse, On: "create_message", Times: 1})
}

func (s *discordScene) link(id string) string {
	return "https://discord.com/channels/" + s.Guild() + "/" + s.general + "/" + id
}

func (s *discordScene) direct(text string) string { return s.Say(s.dm, s.mara, text) }
func (s *discordScene) edit(id, text string)      { s.Edit(s.general, id, s.mention(text)) }
func (s *discordScene) remove(id string)          { s.Delete(s.general, id) }

func (s *discordScene) replies(to string) []string {
	var out []string
	for _, m := range s.Posts() {
		if m.Reply == to {
			out = append(out, m.Content)
		}
	}
	return out
}

func (s *discordScene) started(t *testing.T, _ *running) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	if err := s.Until(ctx, func() bool { return s.Identifies() > s.before && s.Connections() > 0 }); err != nil {
		t.Fatalf("the bot does not connect: %v", err)
	}
	s.before = s.Identifies()
}

func (s *discordScene) settle(t *testing.T) {
	t.Helper()
	if err := s.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func (s *discordScene) until(ctx context.Context, is func() bool) error { return s.Until(ctx, is) }
