package daemon_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate/discord"
)

// TestDiscordIsUnreachableAtTheStart: the daemon runs, and answers once Discord does,
// whether or not an earlier start has stored the bot's identity.
func TestDiscordIsUnreachableAtTheStart(t *testing.T) {
	t.Parallel()
	server := modeltest.StartScripted(t, discordScript())
	for name, faults := range map[string][]discord.Fault{
		"503":      {{Kind: discord.ServerError, Status: http.StatusServiceUnavailable}},
		"it hangs": {{Kind: discord.HungResponse, On: "get_my_user"}, {Kind: discord.ServerError}},
	} {
		for _, before := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", and it ran before"}[before], func(t *testing.T) {
				t.Parallel()
				x := newDiscordWorld(t, server, &discord.Options{Unlimited: true}, "EARSHOT_HEALTH=127.0.0.1:0")
				if before {
					x.start()
					said := x.Say(x.general, x.bob, "it may rain")
					x.eventually("it is stored", func() bool {
						_, err := x.daemon.Store.Message(t.Context(), x.scope(x.general), earshot.MessageID(said))
						return err == nil
					})
					x.stop()
				}
				x.ForgetSessions()
				x.Inject(faults...)
				x.Inject(discord.Fault{Kind: discord.CloseSocket, On: "IDENTIFY"})
				x.options.Patience = 50 * time.Millisecond
				x.run()
				q := x.Post(discord.PostedMessage{Channel: x.general, User: x.ann, Text: x.at("is it raining?"), Mute: true})
				status, body := x.get("/healthz", "")
				if status != http.StatusOK || !strings.HasPrefix(body, "ok\ndiscord: unreachable since ") {
					t.Errorf("healthz: %d %q, want 200 and since when Discord is unreachable", status, body)
				}
				if status, _ := x.get("/readyz", ""); status != http.StatusServiceUnavailable {
					t.Errorf("readyz: %d, want 503", status)
				}
				says := "Discord does not answer: it is asked again until it does"
				if before {
					says = "as it was at the last start: Discord does not answer"
				}
				if !strings.HasSuffix(x.daemon.Location, says) {
					t.Errorf("at the start it says %q, want %q at its end", x.daemon.Location, says)
				}
				x.Heal()
				x.until("the bot is connected", func() bool { return x.Sessions() > 0 })
				x.eventually("it is ready", func() bool { status, _ := x.get("/readyz", ""); return status == http.StatusOK })
				if !before {
					// Nothing of this channel is stored, so nobody knows that something was
					// said there.
					q = x.Say(x.general, x.ann, x.at("is it raining now?"))
				}
				x.ends(earshot.TurnDone)
				x.wantAnswers(x.general, q, "Noted.")
			})
		}
	}
}

// A start says who the bot is and where, what it lacks, and how to invite it.
func TestADiscordStartSaysWhereTheBotIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		options discord.Options
		begin   func(x *discordWorld)
		want    string
	}{
		{"in a server", discord.Options{}, func(*discordWorld) {}, "it is @earshot on Discord, in Simulated"},
		{"in several", discord.Options{}, func(x *discordWorld) { x.AddGuild(discord.Guild{Name: "Second"}) }, "it is @earshot on Discord, in Simulated, Second"},
		{"in none", discord.Options{}, func(x *discordWorld) { x.Leave(x.Guild(), x.self) },
			"it is @earshot on Discord, in no server yet; invite it: https://discord.com/oauth2/authorize?client_id=1100000000000000001&permissions=309237746752&scope=bot+applications.commands"},
		{"without content", discord.Options{NoMessageContent: true}, func(*discordWorld) {},
			"it is @earshot on Discord, in Simulated; without MESSAGE_CONTENT: only messages that mention the bot, and direct messages, are read (docs/discord.md)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := newDiscordWorld(t, "http://127.0.0.1:1", &c.options)
			c.begin(x)
			x.run()
			if got := x.daemon.Location; got != c.want {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}

// Two daemons over one store hold a shard each: every guild is heard by one of them,
// and each question is answered once.
func TestDiscordShardsOverOneStore(t *testing.T) {
	t.Parallel()
	server := modeltest.StartScripted(t, discordScript())
	x := newDiscordWorld(t, server, &discord.Options{Shards: 2}, "EARSHOT_DISCORD_SHARDS=2", "EARSHOT_ANSWER_EACH=true")
	// A guild's shard is its id, without the 22 bits that count, modulo the shards.
	var guilds []string
	for _, id := range []string{"1100000000000000000", "1100000000004194304", "1100000000008388608", "1100000000012582912"} {
		guilds = append(guilds, x.AddGuild(discord.Guild{ID: id, Name: "guild " + id}))
	}
	first, second := *x, *x
	first.environ = append(slices.Clone(x.environ), "EARSHOT_DISCORD_SHARD_IDS=0")
	second.environ = append(slices.Clone(x.environ), "EARSHOT_DISCORD_SHARD_IDS=1")
	first.run()
	second.run()
	x.until("both shards are connected", func() bool { return x.Sessions() == 2 })
	x.daemon = first.daemon
	asked := map[string]string{}
	for _, g := range guilds {
		channel := x.AddChannel(discord.Channel{Guild: g, Name: "talk"})
		x.Join(g, discord.Member{User: x.ann})
		asked[channel] = x.Say(channel, x.ann, x.at("who is there?"))
	}
	dm := x.OpenDM(x.ann)
	x.Say(dm, x.ann, "who is here?")
	x.over(len(guilds) + 1)
	for channel, q := range asked {
		x.wantAnswers(channel, q, "Noted.")
	}
	x.wantSaid(dm, "Noted.")
}

// A configuration that cannot work is refused before anything is asked.
func TestDiscordIsNotAskedWithoutAToken(t *testing.T) {
	t.Parallel()
	c := config.Default()
	c.Platform, c.Store = config.PlatformDiscord, "memory:"
	if d, err := daemon.Open(t.Context(), daemon.Options{Config: c}); err == nil || !strings.Contains(err.Error(), "DISCORD_BOT_TOKEN is not set") {
		t.Errorf("got %v, %v", d, err)
	}
}
