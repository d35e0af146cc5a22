package daemon_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/simulate/discord"
	"github.com/earshot-ai/earshot/store"
)

const yesScript = `{"fixtures": [{"match": {"userMessage": "?"}, "response": {"content": "Yes."}}]}`

// configured writes the configuration that the daemon starts with.
func (x *botWorld) configured(text string) {
	x.t.Helper()
	x.file = filepath.Join(x.t.TempDir(), "earshot.yaml")
	if err := os.WriteFile(x.file, []byte(text), 0o600); err != nil {
		x.t.Fatal(err)
	}
}

// refusedTurns returns the turns that were refused, as "channel why".
func (x *botWorld) refusedTurns() []string {
	x.t.Helper()
	st, err := store.Open(x.t.Context(), x.db, nil)
	if err != nil {
		x.t.Fatal(err)
	}
	defer st.Close()
	list, err := st.QueuedTurns(x.t.Context(), earshot.TurnQuery{States: []earshot.TurnState{earshot.TurnRefused}, Limit: 100})
	if err != nil {
		x.t.Fatal(err)
	}
	var out []string
	for _, q := range list {
		out = append(out, string(q.Conversation.Scope.Channel)+" "+q.Why)
	}
	slices.Sort(out)
	return out
}

func TestRulesHoldInTheirChannelsOnSlack(t *testing.T) {
	t.Parallel()
	server := modeltest.StartScripted(t, yesScript)
	x := newSlackWorld(t, server, byHTTP, nil)
	group := x.AddGroup(simulate.UserGroup{Handle: "oncall", Users: []string{x.bob}})
	incident := x.AddChannel(simulate.Channel{Name: "inc-7", Kind: simulate.Private, Members: []string{x.ann, x.bob, x.self}})
	x.configured(`agent: {instructions: Be kind.}
tools:
  mcp: [{name: tracker, url: "` + toolServer(t) + `", channels: []}]
channels:
  - match: {name: inc-*, kind: private}
    instructions: An incident has a number.
    policy: thread
    answer: {auto_answer: true}
    may_ask: [` + group + `]
  - match: {kind: [public, dm]}
    tools: []
`)
	x.knows()
	x.start()
	x.Say(x.general, x.ann, "nobody is asked here?")
	x.Say(x.general, x.ann, x.at("is it up?"))
	x.ends(earshot.TurnDone)
	x.Say(incident, x.bob, "is it down?")
	if r := x.ends(earshot.TurnDone); r.Turn.Conversation.Scope.Channel != earshot.ChannelID(incident) {
		t.Errorf("turn %+v", r.Turn)
	}
	x.Say(incident, x.ann, "may I?")
	x.settled()
	if diff := cmp.Diff(x.refusedTurns(), []string{incident + " not-allowed"}); diff != "" {
		t.Error(diff)
	}
	sent := x.wire.sent()
	if len(sent) != 2 {
		t.Fatalf("the model was asked %d times", len(sent))
	}
	for i, own := range []bool{false, true} {
		for text, want := range map[string]bool{"Be kind.": true, "An incident has a number.": own, "tracker__list": own} {
			if strings.Contains(sent[i], text) != want {
				t.Errorf("that request %d has %q is %v, want %v:\n%s", i, text, !want, want, sent[i])
			}
		}
	}
}

// Roles come with what people say: Discord is asked for nobody's.
func TestWhoMayAskByRoleOnDiscord(t *testing.T) {
	t.Parallel()
	server := modeltest.StartScripted(t, yesScript)
	x := newDiscordWorld(t, server, nil)
	role := x.AddRole(discord.Role{Name: "ops"})
	x.SetMember(x.Guild(), x.bob, "", role)
	x.configured("channels:\n  - match: {id: " + x.general + "}\n    may_ask: [" + role + "]\n")
	x.start()
	x.Say(x.general, x.ann, x.at("may I?"))
	x.Say(x.general, x.bob, x.at("may I?"))
	x.ends(earshot.TurnDone)
	x.settled()
	if diff := cmp.Diff(x.refusedTurns(), []string{x.general + " not-allowed"}); diff != "" {
		t.Error(diff)
	}
}

// What a file says that is read again holds from then on; one with a fault changes nothing.
func TestRulesAreTakenUpWhileTheBotRuns(t *testing.T) {
	t.Parallel()
	server := modeltest.StartScripted(t, yesScript)
	x := newSlackWorld(t, server, byHTTP, nil)
	var log bytes.Buffer
	x.options.Log = slog.New(slog.NewTextHandler(&log, nil))
	x.knows()
	x.start()
	reload := func(text string) error {
		x.configured(text)
		c, err := config.Load(x.file, x.environ)
		if err != nil {
			t.Fatal(err)
		}
		return x.daemon.Reload(c)
	}
	root := x.Say(x.general, x.ann, x.at("is it up?"))
	x.ends(earshot.TurnDone)
	if err := reload("agent: {instructions: Be brief.}\nanswer: {parallel: 3}\nchannels: [{match: {id: " + x.general + "}, answer: {auto_answer: true}}]\n"); err != nil {
		t.Fatal(err)
	}
	x.Reply(x.general, root, x.ann, x.at("still?"))
	if r := x.ends(earshot.TurnDone); r.Turn.Began != earshot.BeganRule {
		t.Errorf("the turn began an epoch because of %q", r.Turn.Began)
	}
	x.Say(x.general, x.ann, "is it down?")
	x.ends(earshot.TurnDone)
	if err := reload("channels: [{match: {id: " + x.general + "}, policy: ./none.yaml}]\n"); err == nil || !strings.Contains(err.Error(), "channels[0].policy: ") {
		t.Errorf("a policy that is not there: %v", err)
	}
	x.Say(x.general, x.ann, "and now?")
	x.ends(earshot.TurnDone)
	x.stop()
	for i, body := range x.wire.sent() {
		if strings.Contains(body, "Be brief.") != (i > 0) {
			t.Errorf("request %d: %s", i, body)
		}
	}
	if got := log.String(); !strings.Contains(got, `need a restart" settings=answer.parallel`) || strings.Count(got, "was taken up") != 1 {
		t.Errorf("the log says\n%s", got)
	}
}

// Another model, an agent of one's own, and another place for the answer, each by a rule.
func TestAnotherModelOrAgentAnswersInSomeChannels(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	x := newSlackWorld(t, modeltest.StartScripted(t, yesScript), bySocket, nil, "EARSHOT_AGENT_KEY=the-key-of-the-agent")
	agents := x.AddChannel(simulate.Channel{Name: "agents", Members: []string{x.ann, x.self}})
	small := x.AddChannel(simulate.Channel{Name: "small", Members: []string{x.ann, x.self}})
	rules := `channels:
  - match: {name: agents}
    agent: {kind: http, url: "` + a.URL + `/turn", history: theirs}
    answer: {place: channel}
  - match: {name: small}
    model: claude-haiku-4-5
`
	x.configured(rules)
	x.knows()
	x.start()
	x.Say(x.general, x.ann, x.at("is it up?"))
	x.ends(earshot.TurnDone)
	x.Say(small, x.ann, x.at("is it small?"))
	x.ends(earshot.TurnDone)
	root := x.Say(agents, x.ann, x.at("who are you"))
	x.ends(earshot.TurnDone)
	x.settled()
	var models []string
	for _, body := range x.wire.bodies {
		var b struct {
			Model string `json:"model"`
		}
		if err := json.Unmarshal([]byte(body), &b); err != nil {
			t.Fatal(err)
		}
		models = append(models, b.Model)
	}
	if len(models) != 2 || models[0] == models[1] || models[1] != "claude-haiku-4-5" {
		t.Errorf("the models that were asked are %q", models)
	}
	if got := a.asked(); len(got) != 1 || !strings.Contains(got[0].newest(), "who are you") {
		t.Errorf("the agent was asked %+v", got)
	}
	list := x.Messages(agents)
	if last := list[len(list)-1]; last.Text != "That is turn 1." || last.Thread != "" || len(x.Thread(agents, root)) != 1 {
		t.Errorf("the answer is %+v", last)
	}
	// What is new needs a restart, and is refused whole.
	x.configured(rules + "  - match: {name: more}\n    model: claude-sonnet-4-5\n    may_mention: thread\n")
	next, err := config.Load(x.file, x.environ)
	if err != nil {
		t.Fatal(err)
	}
	if err := x.daemon.Reload(next); err == nil || !strings.Contains(err.Error(), "channels[2]: its model or agent is new; restart the bot") {
		t.Errorf("got %v", err)
	}
}

// An agent that keeps its own history has the whole of a conversation that a model has begun.
func TestAnAgentIsToldWhatAModelHasAnswered(t *testing.T) {
	t.Parallel()
	a := startAgent(t)
	x := newSlackWorld(t, modeltest.StartScripted(t, yesScript), byHTTP, nil, "EARSHOT_AGENT_KEY=the-key-of-the-agent")
	x.knows()
	x.start()
	root := x.Say(x.general, x.ann, x.at("the word is rhubarb, ok?"))
	x.ends(earshot.TurnDone)
	x.settled()
	x.stop()
	x.environ = append(x.environ, "EARSHOT_AGENT_KIND=http", "EARSHOT_AGENT_URL="+a.URL+"/turn", "EARSHOT_AGENT_HISTORY=theirs")
	x.start()
	for i, text := range []string{"which word", "and again"} {
		x.Reply(x.general, root, x.ann, x.at(text))
		x.ends(earshot.TurnDone)
		got := a.asked()[i]
		all, err := json.Marshal(got.Messages)
		if err != nil {
			t.Fatal(err)
		}
		if whole := i == 0; (got.New == 0) != whole || strings.Contains(string(all), "rhubarb") != whole {
			t.Errorf("question %d: new from %d, told %s", i, got.New, all)
		}
	}
}
