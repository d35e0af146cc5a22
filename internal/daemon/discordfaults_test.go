package daemon_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate/discord"
)

// TestDiscordFaults injects faults on Discord's side and kills the daemon.
func TestDiscordFaults(t *testing.T) {
	t.Parallel()
	server := modeltest.StartScripted(t, script, discordScript())
	for _, c := range []struct {
		name string
		test func(t *testing.T, server string)
	}{
		{"what is said while no socket is up is replayed", resumed},
		{"what is said while no daemon runs is replayed to the next", replayedToTheNext},
		{"a session that is invalid is begun anew, and history fills the gap", invalidSession},
		{"a reaction that was taken back while no session was kept is known from history", tookBackUnheard},
		{"a socket that falls silent is left", zombie},
		{"a placeholder that somebody has deleted becomes a post", goneMessage},
		{"without MESSAGE_CONTENT it answers mentions and says what is missing", withoutContent},
		{"a token that is refused ends the start", tokenRefused},
		{"a guild that removes the bot is erased", removedFromGuild},
		{"calls and refusals are counted in the store", countedByRoute},
		{"a permanent failure is reported once", failsForGoodOnDiscord},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, server)
		})
	}
	for _, point := range slices.Concat(bot.FaultPoints(), bot.PlaceholderFaultPoints()) {
		t.Run("killed "+point, func(t *testing.T) {
			t.Parallel()
			killedOnDiscord(t, server, point)
		})
	}
	for _, point := range slices.Concat(bot.FaultPoints(), bot.NotifierFaultPoints()) {
		t.Run("killed "+point+", where the answer notifies", func(t *testing.T) {
			t.Parallel()
			killedOnDiscord(t, server, point, "EARSHOT_DISCORD_NOTIFY=post")
		})
	}
}

// TestAnAnswerThatNotifiesIsPostedOnce loses what Discord answers to the calls by which a
// placeholder goes and the answer comes: people see one answer and no placeholder, and who
// asked is notified once.
func TestAnAnswerThatNotifiesIsPostedOnce(t *testing.T) {
	t.Parallel()
	server := modeltest.StartScripted(t, script, discordScript())
	for name, faults := range map[string][]discord.Fault{
		"nothing fails":                              nil,
		"the deletion is done, and nobody knows":     {{On: "delete_message", Kind: discord.LostResponse, Times: 1}},
		"the deletion is not done":                   {{On: "delete_message", Kind: discord.LostRequest, Times: 1}},
		"the deletion fails":                         {{On: "delete_message", Kind: discord.ServerError, Times: 2}},
		"the deletion is limited":                    {{On: "delete_message", Kind: discord.RateLimit, Wait: time.Second, Times: 1}},
		"the answer is there, and nobody knows":      {{On: "create_message", Kind: discord.LostResponse, Skip: 1, Times: 1}},
		"the answer is not there":                    {{On: "create_message", Kind: discord.LostRequest, Skip: 1, Times: 1}},
		"the answer is there, and Discord says 500":  {{On: "create_message", Kind: discord.FailedLate, Skip: 1, Times: 1}},
		"the answer is limited":                      {{On: "create_message", Kind: discord.RateLimit, Wait: time.Second, Skip: 1, Times: 1}},
		"the placeholder is there, and nobody knows": {{On: "create_message", Kind: discord.LostResponse, Times: 1}},
		"both are done, and nobody knows": {
			{On: "delete_message", Kind: discord.LostResponse, Times: 1}, {On: "create_message", Kind: discord.LostResponse, Skip: 1, Times: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newDiscordWorld(t, server, nil, "EARSHOT_DISCORD_NOTIFY=post")
			x.start()
			for _, f := range faults {
				x.Inject(f)
			}
			q := x.Say(x.general, x.bob, x.at("is it raining?"))
			x.ends(earshot.TurnDone)
			x.settled()
			x.wantSaid(x.general, "Noted.")
			x.notified(q, x.bob)
			if !slices.ContainsFunc(x.Calls(), func(c discord.Call) bool { return c.Operation == "delete_message" }) {
				t.Error("there was no placeholder")
			}
		})
	}
}

// notified checks that the one answer to a question notifies who asked it, and was never
// changed: it is no placeholder that became the answer.
func (x *discordWorld) notified(question, who string) {
	x.t.Helper()
	list := x.answers(x.general, question)
	if len(list) != 1 || !slices.Equal(list[0].Mentions, []string{who}) || list[0].Edited {
		x.t.Errorf("the answers are %+v, want one that notifies %s", list, who)
	}
}

// killedOnDiscord runs a daemon, then one in a process that is killed at a point while
// people go on talking, and then another over the same store: the session is resumed,
// the question gets one answer, and nothing that was said is missing.
func killedOnDiscord(t *testing.T, server, point string, environ ...string) {
	x := newDiscordWorld(t, server, nil, append(environ, "EARSHOT_LEASE_SECONDS=4")...)
	x.start()
	x.Say(x.general, x.ann, "there are two servers")
	x.stored(1) // and not only received: what comes next is a first start otherwise, which answers nothing from before it
	x.stop()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(slices.Clone(x.environ), "EARSHOT_TEST_SERVE=1", "EARSHOT_FAULT="+point, "HOME="+t.TempDir())
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	x.until("the process listens", func() bool { return x.Connections() > 0 })
	x.Say(x.general, x.ann, "staging is on port 4242")
	q := x.Say(x.general, x.bob, x.at("which port is it?"))
	err := cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 137 {
		t.Fatalf("it ended with status %d, %v, want it killed at %s: %s", code, err, point, out.String())
	}
	x.Say(x.general, x.ann, "and production on 4343")
	x.start()
	x.over(1)
	x.wantAnswers(x.general, q, "Staging is on port 4242.")
	x.wantSaid(x.general, "Staging is on port 4242.")
	if len(environ) > 0 {
		x.notified(q, x.bob)
	}
	x.stored(5)
	if n := x.Identifies(); n != 1 {
		t.Errorf("it identified %d times, want once: the session is resumed", n)
	}
}

// stored waits until n messages of the channel general are stored.
func (x *discordWorld) stored(n int) {
	x.t.Helper()
	x.eventually(fmt.Sprintf("%d messages are stored", n), func() bool {
		list, err := x.daemon.Store.Newest(x.t.Context(), x.scope(x.general), earshot.TopLevel(), earshot.Position{Time: earshot.TimeOf(time.Now().Add(time.Hour))}, 10)
		return err == nil && len(list) == n
	})
}

// over waits until there are n turns and all have been answered.
func (x *discordWorld) over(n int) {
	x.t.Helper()
	x.settled()
	x.eventually(fmt.Sprintf("%d turns are done", n), func() bool {
		depth, err := x.daemon.Store.Depth(x.t.Context())
		if err != nil {
			x.t.Fatal(err)
		}
		return len(depth) == 1 && depth[earshot.TurnDone] == n
	})
}

func resumed(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil)
	x.start()
	x.Inject(discord.Fault{Kind: discord.CutSocket, On: "MESSAGE_CREATE", Times: 1})
	x.Say(x.general, x.ann, "the import is red")
	q := x.ask(x.general, x.bob, "why is it red?")
	x.wantAnswers(x.general, q, "Noted.")
	if got := x.prompt(); !strings.Contains(got, "Ann: the import is red") {
		t.Errorf("what was said while no socket was up is not known: %s", got)
	}
	if n := x.Identifies(); n != 1 {
		t.Errorf("it identified %d times, want once", n)
	}
}

func replayedToTheNext(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil)
	x.start()
	x.ask(x.general, x.ann, "shall we begin?")
	x.settled()
	x.stop()
	x.Say(x.general, x.bob, "we have begun")
	missed := x.Say(x.general, x.bob, x.at("did you hear?"))
	gone := x.Say(x.general, x.ann, "the password is swordfish")
	x.Delete(x.general, gone)
	x.start()
	x.ends(earshot.TurnDone)
	x.wantAnswers(x.general, missed, "Noted.")
	x.ask(x.general, x.ann, "are we done?")
	if got := x.lastRequest().text("user"); !strings.Contains(got, "we have begun") || strings.Contains(got, "swordfish") {
		t.Errorf("of what was said and deleted in the meantime the model reads: %s", got)
	}
	if n := x.Identifies(); n != 1 {
		t.Errorf("it identified %d times, want once: the session outlives the process", n)
	}
}

func invalidSession(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil)
	x.start()
	x.ask(x.general, x.ann, "shall we begin?")
	x.settled()
	x.stop()
	x.Post(discord.PostedMessage{Channel: x.general, User: x.bob, Text: "we have begun", Mute: true})
	missed := x.Post(discord.PostedMessage{Channel: x.general, User: x.bob, Text: x.at("did you hear?"), Mute: true})
	x.ForgetSessions()
	x.start()
	x.ends(earshot.TurnDone)
	x.wantAnswers(x.general, missed, "Noted.")
	x.ask(x.general, x.ann, "are we done?")
	if got := x.lastRequest().text("user"); !strings.Contains(got, "we have begun") {
		t.Errorf("what was said in the meantime is not known: %s", got)
	}
	if n := x.Identifies(); n != 2 {
		t.Errorf("it identified %d times, want twice", n)
	}
}

// Discord's history counts and names nobody: of two who are known to have given an
// emoji one has taken it back, and nobody knows which.
func tookBackUnheard(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil)
	x.start()
	id := x.ask(x.general, x.ann, "shall we begin?")
	x.React(x.general, id, x.ann, "👍")
	x.React(x.general, id, x.bob, "👍")
	x.React(x.general, id, x.cyd, "🎉")
	x.reacted(id, "[{👍 2} {🎉 1}]", x.cyd, x.ann, x.bob)
	x.stop()
	x.Unreact(x.general, id, x.bob, "👍")
	x.Unreact(x.general, id, x.cyd, "🎉")
	x.Post(discord.PostedMessage{Channel: x.general, User: x.bob, Text: x.at("did you see?"), Mute: true})
	x.ForgetSessions()
	x.start()
	x.ends(earshot.TurnDone)
	x.reacted(id, "[{👍 1}]")
	x.React(x.general, id, x.cyd, "👍")
	x.reacted(id, "[{👍 2}]", x.cyd)
	x.Unreact(x.general, id, x.ann, "👍")
	x.reacted(id, "[{👍 1}]", x.cyd)
	x.Unreact(x.general, id, x.cyd, "👍")
	x.reacted(id, "[]")
}

// reacted waits until the store has these counts of a message's reactions, and these
// persons, by emoji.
func (x *discordWorld) reacted(id, counts string, who ...string) {
	x.t.Helper()
	x.eventually(fmt.Sprintf("the reactions are %s, of %s", counts, who), func() bool {
		m, err := x.daemon.Store.Message(x.t.Context(), x.scope(x.general), earshot.MessageID(id))
		if err != nil {
			return false
		}
		list, err := x.daemon.Store.Reactors(x.t.Context(), x.scope(x.general), m.ID)
		var known []string
		for _, r := range list[m.ID] {
			known = append(known, string(r.ID))
		}
		return err == nil && fmt.Sprint(m.Reactions) == counts && slices.Equal(known, who)
	})
}

func zombie(t *testing.T, server string) {
	// A heartbeat a second is within the gateway's limit of 120 frames a minute.
	x := newDiscordWorld(t, server, &discord.Options{Heartbeat: time.Second})
	log := &lines{}
	x.options.Log = slog.New(slog.NewTextHandler(log, nil))
	x.start()
	x.Inject(discord.Fault{Kind: discord.Zombie, On: "HEARTBEAT", Times: 1})
	x.eventually("the socket was left", func() bool { return strings.Contains(log.String(), "does not acknowledge heartbeats") })
	q := x.ask(x.general, x.bob, "do you hear me?")
	x.wantAnswers(x.general, q, "Noted.")
}

func goneMessage(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil)
	x.start()
	var once sync.Once
	deletes := func(method, path string) {
		if i := strings.LastIndex(path, "/messages/"); method == http.MethodPatch && i >= 0 {
			once.Do(func() { x.Delete(x.general, path[i+len("/messages/"):]) })
		}
	}
	x.before.Store(&deletes)
	q := x.Say(x.general, x.ann, x.at("is it raining?"))
	x.ends(earshot.TurnDone)
	x.settled()
	x.wantAnswers(x.general, q, "Noted.")
}

func withoutContent(t *testing.T, server string) {
	x := newDiscordWorld(t, server, &discord.Options{NoMessageContent: true}, "EARSHOT_HEALTH=127.0.0.1:0")
	x.start()
	x.Say(x.general, x.ann, "the import is red")
	q := x.ask(x.general, x.bob, "why is it red?")
	x.wantAnswers(x.general, q, "Noted.")
	dm := x.OpenDM(x.ann)
	x.Say(dm, x.ann, "can you hear me?")
	x.ends(earshot.TurnDone)
	x.wantSaid(dm, "Noted.")
	status, body := x.get("/healthz", "")
	if status != http.StatusOK || !strings.Contains(body, "discord: reachable, without MESSAGE_CONTENT") {
		t.Errorf("healthz: %d %q, want 200 and what is missing", status, body)
	}
}

func tokenRefused(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil)
	c, err := config.Load("", append(slices.Clone(x.environ), "DISCORD_BOT_TOKEN=MTEwMA.wrong.canary"))
	if err != nil {
		t.Fatal(err)
	}
	d, err := daemon.Open(t.Context(), daemon.Options{Config: c})
	if err == nil {
		err = d.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "DISCORD_BOT_TOKEN") || strings.Contains(err.Error(), "canary") {
		t.Errorf("at the start: got %v, want what to do, and no token", err)
	}
	if n := len(x.Calls()); n != 1 {
		t.Errorf("%d calls were made with a token that is refused, want one", n)
	}
}

func removedFromGuild(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil, "EARSHOT_DISCORD_ON_LEAVE=purge")
	x.start()
	x.ask(x.general, x.ann, "is it raining?")
	x.Outage(x.Guild(), true)
	x.settled()
	if _, err := x.daemon.Store.Channel(t.Context(), x.scope(x.general)); err != nil {
		t.Errorf("after an outage of the guild: %v, want the channel kept", err)
	}
	x.Outage(x.Guild(), false)
	x.Leave(x.Guild(), x.self)
	x.settled()
	x.eventually("the guild is erased", func() bool {
		list, err := x.daemon.Store.Channels(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return !slices.ContainsFunc(list, func(c earshot.ChannelInfo) bool { return string(c.Workspace) == x.Guild() && c.Messages > 0 })
	})
}

func countedByRoute(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil)
	x.start()
	x.Inject(discord.Fault{On: "create_message", Kind: discord.RateLimit, Wait: time.Second, Times: 1})
	x.ask(x.general, x.ann, "is it raining?")
	x.eventually("calls are counted", func() bool {
		counts, err := x.daemon.Store.Calls(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(counts, func(c earshot.CallCount) bool {
			return c.Platform == earshot.Discord && strings.HasPrefix(c.Method, "POST /channels/") && c.Limited == 1 && c.Calls == 2
		})
	})
}

func failsForGoodOnDiscord(t *testing.T, server string) {
	x := newDiscordWorld(t, server, nil)
	x.start()
	q := x.Say(x.general, x.ann, x.at("what is forbidden?"))
	r := x.ends(earshot.TurnFailed)
	x.settled()
	if got := x.answers(x.general, q); len(got) != 1 || got[0].Content != apology || !strings.Contains(r.Turn.Why, "400") {
		t.Errorf("the person reads %v, and the operator %q; want one apology, and why", got, r.Turn.Why)
	}
}
