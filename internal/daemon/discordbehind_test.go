package daemon_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate/discord"
)

// A first start takes some seconds until Discord tells it what is said. Who asks within them
// is answered, once; who asked before is not, since the bot did not listen then.
func TestAQuestionDuringTheFirstStartIsAnswered(t *testing.T) {
	t.Parallel()
	x := newDiscordWorld(t, modeltest.StartScripted(t, discordScript()), nil, "EARSHOT_HEALTH=127.0.0.1:0")
	old := x.Post(discord.PostedMessage{Channel: x.general, User: x.bob, Text: x.at("before it ran?"), At: time.Now().Add(-time.Minute), Mute: true})
	thread := x.Thread(x.general, "", x.bob, "a thread")
	quiet := x.AddChannel(discord.Channel{Name: "quiet"})
	x.Post(discord.PostedMessage{Channel: quiet, User: x.bob, Text: x.at("long ago?"), At: time.Now().Add(-time.Hour), Mute: true})
	x.Inject(discord.Fault{Kind: discord.CloseSocket, On: "IDENTIFY"})
	x.run()
	if status, body := x.get("/readyz", ""); status != http.StatusServiceUnavailable || !strings.HasSuffix(body, "discord: connecting\n") {
		t.Errorf("readyz before the session: %d %q", status, body)
	}
	first := x.Post(discord.PostedMessage{Channel: x.general, User: x.ann, Text: x.at("who is there?"), Mute: true})
	x.Post(discord.PostedMessage{Channel: thread, User: x.ann, Text: x.at("and here?"), Mute: true})
	x.Heal()
	<-x.daemon.Hears
	if status, body := x.get("/readyz", ""); status != http.StatusOK {
		t.Errorf("readyz in the session: %d %q", status, body)
	}
	x.over(2)
	x.settled()
	x.wantAnswers(x.general, first, "Noted.")
	x.wantSaid(thread, "Noted.")
	x.wantAnswers(x.general, old)
	x.wantSaid(quiet)
	if slices.ContainsFunc(x.Calls("list_messages"), func(c discord.Call) bool { return c.Params["channel"] == quiet }) {
		t.Error("the history of a channel is read in which nothing was said since the start")
	}
}

// After a session was lost, Discord tells in which channels something was said meanwhile,
// also of one that the bot never heard. What is fresh and addressed to it is answered once.
func TestAQuestionInANewChannelAfterALostSessionIsAnswered(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(x *discordWorld){
		"a restart": func(x *discordWorld) { x.stop() },
		"the process goes on": func(x *discordWorld) {
			x.Inject(discord.Fault{Kind: discord.CloseSocket, On: "IDENTIFY"})
			x.ForgetSessions()
			x.Reconnect()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newDiscordWorld(t, modeltest.StartScripted(t, discordScript()), nil)
			fresh := x.AddChannel(discord.Channel{Name: "fresh"})
			x.start()
			x.ask(x.general, x.bob, "shall we begin?")
			cut(x)
			asked := x.Post(discord.PostedMessage{Channel: fresh, User: x.ann, Text: x.at("does it hear here?"), Mute: true})
			x.Post(discord.PostedMessage{Channel: fresh, User: x.bob, Text: "let us see", Mute: true})
			x.ForgetSessions()
			x.Heal()
			if name == "a restart" {
				x.start()
			}
			x.ends(earshot.TurnDone)
			x.settled()
			x.wantAnswers(fresh, asked, "Noted.")
		})
	}
}

// A session that goes on has missed nothing: no history is read.
func TestAfterAResumedSessionNoHistoryIsRead(t *testing.T) {
	t.Parallel()
	x := newDiscordWorld(t, modeltest.StartScripted(t, discordScript()), nil)
	x.start()
	x.ask(x.general, x.ann, "shall we begin?")
	x.settled()
	x.stop()
	x.ForgetCalls()
	x.Say(x.general, x.bob, "while it is away")
	q := x.Say(x.general, x.bob, x.at("and a question?"))
	x.start()
	x.ends(earshot.TurnDone)
	x.wantAnswers(x.general, q, "Noted.")
	if n := len(x.Calls("list_messages")); n != 0 {
		t.Errorf("history is read %d times", n)
	}
}

// The probes say that the bot has lost a permission, and for how many channels, until it has
// it again; they name none. It is ready all the same.
func TestAProbeSaysThatAPermissionIsLost(t *testing.T) {
	t.Parallel()
	x := newDiscordWorld(t, "http://127.0.0.1:1", nil, "EARSHOT_HEALTH=127.0.0.1:0")
	x.start()
	const lost = "discord: reachable, it has lost permissions in channels: Send Messages in 1, Send Messages in Threads in 1"
	says := func() bool {
		status, body := x.get("/readyz", "")
		return status == http.StatusOK && strings.Contains(body, lost)
	}
	x.Say(x.general, x.bob, "it may rain")
	x.ReadOnly(x.general, true)
	x.eventually("the probe says it", says)
	x.ReadOnly(x.general, false)
	x.eventually("the probe does not say it any more", func() bool { return !says() })
}
