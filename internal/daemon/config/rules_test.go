package config_test

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
)

func load(t *testing.T, text string, environ ...string) config.Config {
	t.Helper()
	c, err := config.Load(write(t, text), environ)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var (
	inGeneral   = earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Name: "general", Kind: earshot.KindChannel}
	inIncidents = earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C2", Name: "inc-2026-11", Kind: earshot.KindGroup}
	inShared    = earshot.Channel{Platform: earshot.Slack, Workspace: "T2", ID: "C3", Name: "with-acme", Kind: earshot.KindChannel, Shared: true}
	inDM        = earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "D1", Kind: earshot.KindDM}
	unknownYet  = earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C9"}
)

func TestTheFirstRuleThatMatchesHolds(t *testing.T) {
	t.Parallel()
	c := load(t, `channels:
  - match: {id: C1, kind: [private, shared]}
  - match: {name: "INC-*", kind: private}
  - match: {id: [C7, C1]}
  - match: {workspace: T2}
  - match: {kind: [dm, shared]}
  - match: {kind: public}
`)
	for _, x := range []struct {
		in   earshot.Channel
		want int
	}{{inGeneral, 2}, {inIncidents, 1}, {earshot.Channel{ID: "C8", Name: "inc-a/b", Kind: earshot.KindGroup}, 1}, {inShared, 3}, {inDM, 4}, {unknownYet, -1}, {earshot.Channel{ID: "C8", Kind: earshot.KindChannel}, 5}} {
		if got := c.For(x.in).Rule; got != x.want {
			t.Errorf("in %s rule %d holds, want %d", x.in.ID, got, x.want)
		}
	}
	if got := c.Channels[1].Match.Unknown(unknownYet); !slices.Equal(got, []string{"name", "kind"}) {
		t.Errorf("unknown: %q", got)
	}
}

func TestARuleSetsWhatHoldsThere(t *testing.T) {
	t.Parallel()
	c := load(t, `agent: {instructions: Be kind.}
budget: {tokens: 5000}
answer: {owned_threads: true, ask: ["*"], ambient: react, ambient_channels: [C1], may_mention: thread}
links: {hosts: [a.example]}
tools:
  mcp: [{name: tracker, command: x}, {name: wiki, command: x}]
channels:
  - match: {name: inc-*}
    instructions: An incident has a number.
    policy: thread
    budget: {tokens: 9000}
    answer: {auto_answer: true, owned_threads: false, ask: false, send_file: true, ambient: speak, ambient_hourly: 7, cite: true, language: fr, words: {thanks: Merci bien.}}
    tools: [wiki]
    may_ask: U1
    hosts: []
    may_mention: channel
  - match: {kind: dm}
    instructions: Be brief.
    instructions_only: true
    tools: []
    answer: {ambient: "off"}
`)
	got := c.For(inIncidents)
	want := c
	want.Agent.Instructions, want.Policy, want.Budget.Tokens = "Be kind.\n\nAn incident has a number.", "thread", 9000
	want.Answer.Language, want.Answer.Words = "fr", map[string]string{"thanks": "Merci bien."}
	want.Answer.AutoAnswer, want.Answer.OwnedThreads, want.Answer.Cite, want.Answer.Ask, want.Answer.SendFile = true, false, true, nil, []string{"C2"}
	want.Answer.Ambient, want.Answer.AmbientChannels, want.Answer.AmbientHourly = config.AmbientSpeak, []string{"C2"}, 7
	want.Answer.MayMention, want.Links.Hosts = config.MentionChannel, []string{}
	if diff := cmp.Diff(got, config.Effective{Config: want, Channel: "C2", Rule: 0, MayAsk: []string{"U1"}}, secrets); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
	if got.Offers("tracker") || !got.Offers("wiki") || got.Budget.Assemble().Session != 36000 {
		t.Errorf("offers, session: %+v", got.Budget.Assemble())
	}
	if dm := c.For(inDM); dm.Agent.Instructions != "Be brief." || dm.Offers("wiki") || dm.Answer.Ambient != config.AmbientOff || len(dm.Answer.Ask) != 1 {
		t.Errorf("in a direct message: %+v", dm)
	}
	if all := c.For(inGeneral); all.Rule != -1 || !all.Offers("wiki") || all.Policy != "standard" || all.Answer.Ambient != config.AmbientReact {
		t.Errorf("elsewhere: %+v", all)
	}
}

func TestFaultsOfRulesAreRefused(t *testing.T) {
	t.Parallel()
	_, err := config.Load(write(t, `channels:
  - instructions: no match
  - match: {id: "#general", name: "#x", workspace: "a b", kind: group}
  - match: {name: "[", id: []}
  - match: {id: [C1, C2]}
    colour: blue
    answer: {each: perhaps, ambient: loud, language: xx, words: {thanks: "", agreed: Fine.}}
    budget: {tokens: -1}
  - match: {id: C1, kind: dm}
  - match: {id: C2, name: x}
  - match: {id: [C1, C3]}
    tools: [wiki]
    may_ask: []
  - match: {id: [C3, C1]}
  - match: {name: inc-*, kind: [dm, private]}
    instructions_only: true
    may_mention: all
    hosts: [a/b]
    may_ask: ["@alice"]
  - match: {name: inc-1, kind: private}
  - match: {name: inc-1, kind: public}
`), nil)
	if err == nil {
		t.Fatal("it was accepted")
	}
	var got []string
	for line := range strings.SplitSeq(err.Error(), "\n") {
		if _, rest, ok := strings.Cut(line, "channels["); ok {
			got = append(got, "channels["+rest)
		}
	}
	slices.Sort(got)
	want := []string{
		"channels[0].match: is missing; set id, name, workspace or kind: what holds in all channels stands outside of channels",
		`channels[1].match.id: "#general" is no id; earshot channels --json lists those of channels, and the platform shows those of people and groups`,
		`channels[1].match.kind: "group" is unknown; use one of dm, private, public, shared`,
		`channels[1].match.name: "#x" begins with #; write x`,
		`channels[1].match.workspace: "a b" is no id; earshot channels --json lists those of channels, and the platform shows those of people and groups`,
		"channels[2].match.id: is empty; leave it out where each will do",
		`channels[2].match.name: "[" is no pattern; write letters, * for any of them, ? for one, and [ab] for one of some`,
		`channels[3].answer.ambient: "loud" is unknown; use one of off, react, speak`,
		"channels[3].answer.each: must be true or false",
		`channels[3].answer.language: "xx" is no language of the bot's sentences; use one of de, en, es, fr, ja, pt, or English with words of your own`,
		`channels[3].answer.words.agreed: it has the places [] and has to have ["who"], each once`,
		"channels[3].answer.words.thanks: it is empty",
		"channels[3].budget.tokens: is -1; use a number from 1 to 10000000, or leave it out",
		"channels[3].colour: unknown key; use one of agent, answer, budget, hosts, instructions, instructions_only, limits, match, may_ask, may_mention, model, policy, tools",
		"channels[4].match: can never be the first that matches: channels[3] before it has these channels already; take one out, or put the narrower one first",
		"channels[5].match: can never be the first that matches: channels[3] before it has these channels already; take one out, or put the narrower one first",
		"channels[6].may_ask: names nobody; leave it out where everybody may ask",
		`channels[6].tools: "wiki" is no server of tools.mcp; use one of their names, or [] for none`,
		"channels[7].match: can never be the first that matches: channels[6], channels[3] before it has these channels already; take one out, or put the narrower one first",
		"channels[8].hosts: \"a/b\" is no host; write its name alone, such as grafana.example.com: it stands for its subdomains too",
		"channels[8].instructions_only: needs instructions; set them, or leave it out",
		`channels[8].may_ask: "@alice" is no id; earshot channels --json lists those of channels, and the platform shows those of people and groups`,
		`channels[8].may_mention: "all" is unknown; use one of asker, thread, channel`,
		"channels[9].match: can never be the first that matches: channels[8] before it has these channels already; take one out, or put the narrower one first",
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("-got +want\n%s\n%v", diff, err)
	}
}

func TestIDsOfDiscordAreNumbersInRules(t *testing.T) {
	t.Parallel()
	c := load(t, `platform: discord
channels:
  - match: {id: 1090000000000000001} # quoted or not
    may_ask: ["1090000000000000002", 1090000000000000003]
`)
	if r := c.Channels[0]; !slices.Equal(r.Match.ID, []string{"1090000000000000001"}) || !slices.Equal(r.MayAsk, []string{"1090000000000000002", "1090000000000000003"}) {
		t.Errorf("%+v", r)
	}
	if _, err := config.Load(write(t, "platform: discord\nchannels: {general: {may_mention: thread}}\n"), nil); err == nil || !strings.Contains(err.Error(), `channels.general.match.id: "general" is no id; in Discord`) {
		t.Errorf("%v", err)
	}
}

func TestEachSettingHasItsSource(t *testing.T) {
	t.Parallel()
	path := write(t, `agent:
  instructions: Be kind.
policy: window
channels:
  - match: {id: C1}
    policy: thread
    answer:
      each: true
`)
	_, sources, err := config.LoadSources(path, []string{"EARSHOT_POLICY=delta", "EARSHOT_ZONE="})
	want := config.Sources{
		"agent.instructions": path + ":2", "policy": "EARSHOT_POLICY",
		"channels": path + ":5", "channels[0]": path + ":5", "channels[0].match.id": path + ":5", "channels[0].policy": path + ":6", "channels[0].answer.each": path + ":8",
	}
	if diff := cmp.Diff(sources, want); err != nil || diff != "" {
		t.Errorf("%v, -got +want\n%s", err, diff)
	}
}

// A written file has what the rules set, and nothing else.
func TestRulesAreWrittenAsTheyWereRead(t *testing.T) {
	t.Parallel()
	c := load(t, `channels:
  - match: {name: inc-*, kind: [dm, private]}
    answer: {each: false, ambient: speak}
    tools: []
    budget: {limit: 9}
`)
	text, err := c.File()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(load(t, text), c, secrets); diff != "" {
		t.Errorf("-got +want\n%s\n%s", diff, text)
	}
}

// What may change while the bot runs is taken up, and the rest is named.
func TestSettingsAreTakenUp(t *testing.T) {
	t.Parallel()
	was := load(t, "agent: {instructions: Be kind.}\npolicy: window\nanswer: {ambient_model: small}\n", "EARSHOT_LOCAL_TOKEN=a-token-of-a-test")
	next := load(t, `agent: {instructions: Be brief., name: harbour}
answer: {each: true, parallel: 3, ambient_model: small}
links: {hosts: [a.example]}
tools: {mcp: [{name: wiki, command: wiki}]}
channels: [{match: {id: C1}, answer: {ambient: react}}]
`)
	want := was
	want.Agent.Instructions, want.Answer.Each, want.Links.Hosts, want.Channels = "Be brief.", true, []string{"a.example"}, next.Channels
	got, restart := was.TakeUp(next)
	if diff := cmp.Diff(got, want, secrets); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
	if want := []string{"agent.name", "policy", "answer.parallel", "tools.mcp", "answer.ambient_model", "a secret or the URL of an API"}; !slices.Equal(restart, want) {
		t.Errorf("a restart is needed for %q, want %q", restart, want)
	}
	if _, none := was.TakeUp(was); none != nil {
		t.Errorf("nothing has changed, but %q", none)
	}
}

// The page about rules says what is taken up.
func TestThePageHasWhatIsTakenUp(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/channels.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(page), "SIGHUP")
	var walk func(path string, of reflect.Type)
	walk = func(path string, of reflect.Type) {
		for i := range of.NumField() {
			f := of.Field(i)
			at := strings.TrimPrefix(path+"."+f.Tag.Get("yaml"), ".")
			if f.Tag.Get("live") != "" && !strings.Contains(part, "`"+at+"`") {
				t.Errorf("docs/channels.md does not say that `%s` is taken up", at)
			}
			if f.Type.Kind() == reflect.Struct {
				walk(at, f.Type)
			}
		}
	}
	walk("", reflect.TypeFor[config.Config]())
}

// The page about rules has every key.
func TestThePageHasEveryKeyOfARule(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/channels.md")
	if err != nil {
		t.Fatal(err)
	}
	var walk func(path string, of reflect.Type)
	walk = func(path string, of reflect.Type) {
		for i := range of.NumField() {
			f := of.Field(i)
			key := f.Tag.Get("yaml")
			if at := strings.TrimPrefix(path+"."+key, "."); f.Type.Kind() == reflect.Struct {
				walk(at, f.Type)
			} else if key != "-" && !strings.Contains(string(page), "`"+at+"`") {
				t.Errorf("docs/channels.md does not have `%s`", at)
			}
		}
	}
	walk("", reflect.TypeFor[config.Rule]())
}
