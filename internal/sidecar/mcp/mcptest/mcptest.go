// Package mcptest tests a server of package mcp with a client that nobody here wrote:
// the command line of @modelcontextprotocol/inspector.
//
// [Fill] puts a small world into a store, [Start] finds the inspector, and
// [Inspector.Everything] lists and uses all that a server offers. The inspector comes
// from npm: `npm ci` in .ci/peers installs it, with the Node that it needs. Without it
// its tests are skipped, or fail where CI is "true".
package mcptest

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
)

// The channels of a world. Elsewhere is of another workspace and has the same id and
// name as Deploys.
var (
	Deploys   = earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Name: "deploys", Kind: earshot.KindChannel, Topic: "What goes out"}
	Support   = earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C2", Name: "support", Kind: earshot.KindChannel}
	Elsewhere = earshot.Channel{Platform: earshot.Slack, Workspace: "T2", ID: "C1", Name: "deploys", Kind: earshot.KindChannel}
)

// Canary is a word of every message, name and topic of a channel, which nothing that
// does not reach the channel may show.
func Canary(c earshot.Channel) string { return "canary" + string(c.Workspace) + string(c.ID) }

// Everyone reaches all channels, and may write.
var Everyone = access.Principal{ID: "local:test", Name: "test", Kind: access.Local}

// Fill puts three channels into a store, each with a thread (its root is 1.000000), a
// question outside of it (5.000000) and one turn of the agent U0BOT, which answered the
// thread's last message (3.000000) with 4.000000. It returns the turns' ids.
func Fill(t testing.TB, st earshot.Store) map[earshot.Scope]earshot.TurnID {
	t.Helper()
	ctx := t.Context()
	service := sidecar.New(st, search.New(st, nil), nil, sidecar.Options{})
	turns := map[earshot.Scope]earshot.TurnID{}
	channels := []earshot.Channel{Deploys, Support, Elsewhere}
	for i := range channels {
		channels[i].Topic += " " + Canary(channels[i])
		requireNoError(t, st.PutChannel(ctx, channels[i]))
	}
	for _, c := range channels {
		if _, err := service.PutAgent(ctx, Everyone, visible.Agent{Identity: earshot.Identity{ID: "U0BOT", Name: "helper"}, Workspace: c.Workspace}); err != nil {
			t.Fatalf("put an agent: %v", err)
		}
		said := func(n int, thread, text string) earshot.Message {
			at := earshot.Time(n) * 1_000_000
			return earshot.Message{ID: earshot.MessageID(at.TS()), Time: at, Thread: earshot.MessageID(thread), Text: text + " " + Canary(c), Author: earshot.Author{ID: "U1", Name: "Alice " + Canary(c), Kind: earshot.Human}}
		}
		question := said(3, "1.000000", "<@U0BOT> why does the migration hang?")
		question.Mentions = []earshot.AuthorID{"U0BOT"}
		if _, err := st.Record(ctx, c.Scope(), said(1, "", "the migration hangs"), said(2, "1.000000", "a lock is held since nine"), question); err != nil {
			t.Fatal(err)
		}
		at := visible.Place{Channel: c.ID, Workspace: c.Workspace, Platform: c.Platform}
		open, err := service.Context(ctx, Everyone, sidecar.ContextRequest{Channel: at, Anchor: question.ID, Agent: "U0BOT", Open: true})
		if err != nil {
			t.Fatalf("open a turn: %v", err)
		}
		reply := said(4, "1.000000", "a lock is held; see what Alice said")
		reply.Author = earshot.Author{}
		done, err := service.Commit(ctx, Everyone, open.Draft.ID, sidecar.Reply{Text: reply.Text, Messages: []earshot.Message{reply}})
		if err != nil {
			t.Fatalf("commit a turn: %v", err)
		}
		turns[c.Scope()] = done.Turn
		if _, err := st.Record(ctx, c.Scope(), said(5, "", "what is left to do today?")); err != nil {
			t.Fatal(err)
		}
	}
	return turns
}

func requireNoError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// An Inspector is the command line of the MCP inspector.
type Inspector struct {
	node, program, home string
}

// oldest is the oldest Node that the inspector runs on.
const oldest = 22

// Start finds the inspector, and a Node that it runs on: npm's, else the machine's.
func Start(t *testing.T) Inspector {
	t.Helper()
	peers := filepath.Join(moduleFolder(t), ".ci", "peers", "node_modules")
	i := Inspector{program: filepath.Join(peers, "@modelcontextprotocol", "inspector", "clients", "launcher", "build", "index.js"), home: t.TempDir()}
	if _, err := os.Stat(i.program); err != nil {
		skipWithout(t, "it is not installed: run `npm ci --ignore-scripts` in .ci/peers")
	}
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	for _, node := range []string{filepath.Join(peers, "node-"+runtime.GOOS+"-"+arch, "bin", "node"), "node"} {
		out, err := exec.CommandContext(t.Context(), node, "--version").Output()
		major, _, _ := strings.Cut(strings.TrimPrefix(string(out), "v"), ".")
		if n, _ := strconv.Atoi(major); err == nil && n > oldest {
			i.node = node
			return i
		}
	}
	skipWithout(t, "there is no Node of version 23 or later, in .ci/peers or on the path")
	return i
}

// skipWithout skips a test that lacks a program, or fails it where everything must be there.
func skipWithout(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("NOT TESTED against the MCP inspector: %s", what)
	}
	t.Skipf("NOT TESTED against the MCP inspector: %s", what)
}

// moduleFolder returns the folder of this module.
func moduleFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	requireNoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("there is no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}

// Run runs one method of a server and returns what it answered. target is a URL or a
// command, with the inspector's options for it.
func (i Inspector) Run(t *testing.T, target []string, method string, args ...string) (string, error) {
	t.Helper()
	all := append([]string{i.program, "--cli"}, target...)
	all = append(append(all, "--method", method), args...)
	cmd := exec.CommandContext(t.Context(), i.node, all...)
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "HOME=") }), "HOME="+i.home, "NO_COLOR=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if err != nil {
		return out.String() + errs.String(), err
	}
	return out.String(), nil
}

// An Offer is all that a server lists.
type Offer struct{ Tools, Resources, Templates, Prompts []string }

// list returns a field of each thing that a method lists.
func (i Inspector) list(t *testing.T, target []string, method, array, field string, args ...string) []string {
	t.Helper()
	out, err := i.Run(t, target, method, args...)
	if err != nil {
		t.Fatalf("%s: %v\n%s", method, err, out)
	}
	var answer map[string]json.RawMessage
	var list []map[string]any
	if json.Unmarshal([]byte(out), &answer) != nil || json.Unmarshal(answer[array], &list) != nil {
		t.Fatalf("%s answered\n%s", method, out)
	}
	found := []string{}
	for _, x := range list {
		name, _ := x[field].(string)
		found = append(found, name)
	}
	return found
}

// Everything lists all that a server offers, whose schemas the inspector checks, calls
// each tool and each prompt with args, and reads each resource. It returns the offer,
// and everything that was answered. A tool or a prompt without args is a failure.
func (i Inspector) Everything(t *testing.T, target []string, args map[string][]string) (Offer, string) {
	t.Helper()
	o := Offer{
		Tools:     i.list(t, target, "tools/list", "tools", "name", "--strict"),
		Resources: i.list(t, target, "resources/list", "resources", "uri"),
		Templates: i.list(t, target, "resources/templates/list", "resourceTemplates", "uriTemplate"),
		Prompts:   i.list(t, target, "prompts/list", "prompts", "name"),
	}
	var all strings.Builder
	use := func(what, method string, more ...string) {
		out, err := i.Run(t, target, method, more...)
		if err != nil || strings.Contains(out, `"isError": true`) {
			t.Errorf("%s %s: %v\n%s", method, what, err, out)
		}
		all.WriteString(out)
	}
	option := func(name, option string) []string {
		pairs, ok := args[name]
		if !ok {
			t.Errorf("%s is offered, and this test does not use it", name)
		}
		if len(pairs) == 0 {
			return nil
		}
		return append([]string{option}, pairs...)
	}
	for _, name := range o.Tools {
		use(name, "tools/call", append([]string{"--tool-name", name}, option(name, "--tool-arg")...)...)
	}
	for _, name := range o.Prompts {
		use(name, "prompts/get", append([]string{"--prompt-name", name}, option(name, "--prompt-args")...)...)
	}
	for _, uri := range o.Resources {
		use(uri, "resources/read", "--uri", uri)
	}
	return o, all.String()
}

// ChannelArgs are arguments for every tool and prompt of a server of one channel of
// the world.
func ChannelArgs() map[string][]string {
	return map[string][]string{
		"channel_context": {"intent=migration"}, "channel_messages": {"thread_id=\"1.000000\""}, "conversation_search": {"query=lock"},
		"catch_up": nil, "answer_as_bot": {"message=last"}, "why_did_it_say": {"message=\"4.000000\""},
	}
}

// DeskArgs are arguments for every tool and prompt of a server of a workspace.
func DeskArgs() map[string][]string {
	return map[string][]string{
		"list_channels": nil, "get_context": {"channel=deploys", "workspace=T1", "message=last"},
		"explain_turn": {"channel=deploys", "workspace=T1", "message=\"4.000000\""}, "search": {"intent=lock"},
		"catch_up": {"channel=deploys", "workspace=T1"}, "answer_as_bot": {"channel=deploys", "workspace=T1", "message=last"}, "why_did_it_say": {"channel=deploys", "workspace=T1"},
	}
}

// Check compares what was offered and answered with what should be.
func Check(t *testing.T, o Offer, said string, tools []string, resources int, foreign string) {
	t.Helper()
	if got := slices.Sorted(slices.Values(o.Tools)); !slices.Equal(got, tools) {
		t.Errorf("tools: got %v, want %v", got, tools)
	}
	if len(o.Resources) != resources || len(o.Templates) != 2 {
		t.Errorf("got resources %v, want %d; templates %v, want 2", o.Resources, resources, o.Templates)
	}
	if strings.Contains(said, foreign) || !strings.Contains(said, Canary(Deploys)) {
		t.Errorf("got %s; want nothing of %s, and something of the channel", said, foreign)
	}
}
