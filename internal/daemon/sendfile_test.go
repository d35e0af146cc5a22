package daemon_test

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate"
)

const filesScript = `{"fixtures": [
	{"match": {"userMessage": "and what is in it", "hasToolResult": false}, "response": {"content": "The numbers."}},
	{"match": {"userMessage": "the numbers", "hasToolResult": true}, "response": {"content": "Here they are."}},
	{"match": {"userMessage": "the numbers", "hasToolResult": false}, "response": {"toolCalls": [{"name": "send_file", "arguments": {"name": "numbers.csv", "text": "a,b\n1,2\n"}}]}}
]}`

// A file stands in the thread beside the answer. It is heard as the bot's own message: nobody
// answers it, and the next turn sees it.
func TestTheModelSendsAFileOnSlack(t *testing.T) {
	server := modeltest.StartScripted(t, filesScript)
	transports(t, func(t *testing.T, by transport) {
		x := newSlackWorld(t, server, by, nil, "EARSHOT_ANSWER_SEND_FILE=*", "EARSHOT_OWNED_THREADS=true")
		x.knows()
		x.start()
		root := x.Say(x.general, x.ann, x.at("the numbers, please"))
		x.ends(earshot.TurnDone)
		x.over(1)
		x.Reply(x.general, root, x.ann, x.at("and what is in it?"))
		x.ends(earshot.TurnDone)
		x.over(2)
		if said := x.said(root); len(said) != 3 || !slices.Contains(said, "") || !slices.Contains(said, "Here they are.") {
			t.Errorf("said %q", said)
		}
		if got := x.prompt(); !strings.Contains(got, "numbers.csv") {
			t.Errorf("the next turn is not shown the file: %s", got)
		}
		x.oneFile(t, root)
	})
}

// oneFile checks that people see one file in a thread, which the store has as a message of the
// bot.
func (x *slackWorld) oneFile(t *testing.T, root string) {
	t.Helper()
	var names []string
	var id string
	for _, m := range x.Thread(x.general, root) {
		if len(m.Files) > 0 {
			names, id = append(names, m.Files...), m.TS
		}
	}
	if !slices.Equal(names, []string{"numbers.csv"}) {
		t.Fatalf("people see the files %q", names)
	}
	at := earshot.Scope{Platform: earshot.Slack, Workspace: earshot.WorkspaceID(x.Team().ID), Channel: earshot.ChannelID(x.general)}
	x.eventually("the file is heard", func() bool {
		m, err := x.daemon.Store.Message(t.Context(), at, earshot.MessageID(id))
		return err == nil && len(m.Files) == 1 && m.Author.Kind == earshot.Bot && string(m.Thread) == root
	})
}

// killPoints are those around a file that is sent.
func killPoints() []string {
	return []string{"after_placeholder", "after_step", "after_call", "after_run", "after_update"}
}

// TestKilledWhileAFileIsSent kills the daemon around the call that sends a file: the file is
// there once at most, the question has one answer, and where nobody knows whether the file was
// sent, the model is told so.
func TestKilledWhileAFileIsSent(t *testing.T) {
	t.Parallel()
	server := modeltest.StartScripted(t, filesScript)
	for _, point := range killPoints() {
		t.Run("slack "+point, func(t *testing.T) {
			t.Parallel()
			again := append([]time.Duration{0}, slices.Repeat([]time.Duration{time.Second}, 300)...)
			x := newSlackWorld(t, server, bySocket, &simulate.SlackOptions{Retries: again}, "EARSHOT_LEASE_SECONDS=4", "EARSHOT_ANSWER_SEND_FILE=*")
			end := killAt(t, point, x.environ)
			x.eventually("the process listens", func() bool { return x.Connections() > 0 })
			root := x.Say(x.general, x.bob, x.at("the numbers, please"))
			end()
			x.start()
			x.over(1)
			var answers, files []string
			for _, m := range x.Thread(x.general, root) {
				if m.User == x.self && len(m.Files) == 0 {
					answers = append(answers, m.Text)
				}
				files = append(files, m.Files...)
			}
			x.wantSent(t, point, answers, files)
		})
		t.Run("discord "+point, func(t *testing.T) {
			t.Parallel()
			x := newDiscordWorld(t, server, nil, "EARSHOT_LEASE_SECONDS=4", "EARSHOT_ANSWER_SEND_FILE=*")
			x.start()
			x.Say(x.general, x.ann, "there are two servers")
			x.stored(1)
			x.stop()
			end := killAt(t, point, x.environ)
			x.until("the process listens", func() bool { return x.Connections() > 0 })
			x.Say(x.general, x.bob, x.at("the numbers, please"))
			end()
			x.start()
			x.over(1)
			var answers, files []string
			for _, m := range x.Messages(x.general) {
				if m.Author == x.self && len(m.Files) == 0 {
					answers = append(answers, m.Content)
				}
				files = append(files, m.Files...)
			}
			x.wantSent(t, point, answers, files)
		})
	}
}

// killAt runs a daemon that is killed at a point; end waits until it is.
func killAt(t *testing.T, point string, environ []string) (end func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(slices.Clone(environ), "EARSHOT_TEST_SERVE=1", "EARSHOT_FAULT="+point, "HOME="+t.TempDir())
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		err := cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 137 {
			t.Fatalf("it ended with status %d, %v, want it killed at %s: %s", code, err, point, out.String())
		}
	}
}

// wantSent checks what people see after a kill, and what the model was told.
func (x *botWorld) wantSent(t *testing.T, point string, answers, files []string) {
	t.Helper()
	want, unknown := []string{"numbers.csv"}, point == "after_call" || point == "after_run"
	if point == "after_call" {
		want = nil
	}
	if !slices.Equal(files, want) || !slices.Equal(answers, []string{"Here they are."}) {
		t.Errorf("people see the files %q and the answers %q", files, answers)
	}
	sent := x.wire.sent()
	if told := strings.Contains(sent[len(sent)-1], "nobody knows whether this call ran"); told != unknown {
		t.Errorf("that nobody knows was told: %t, want %t", told, unknown)
	}
}
