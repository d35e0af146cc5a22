package simtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/simulate/discord"
)

var lost = flag.Int("lost", 200, "how many answers of Discord TestADiscordThatLosesAnswersShowsEachReplyOnce loses")

// A noted answers every question.
type noted struct{}

// Generate implements [llm.Model].
func (noted) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	return llmtest.New(llmtest.Say("Noted.")).Generate(ctx, r, stream)
}

// TestADiscordThatLosesAnswersShowsEachReplyOnce: of each of 200 questions, at
// night of 1,000, the first post is carried out and its answer lost, and people see one
// reply. Earshot makes 50 requests a second at most, so that this needs the clock of a
// bubble.
func TestADiscordThatLosesAnswersShowsEachReplyOnce(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{"update", "post"} {
		t.Run(reply, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { lostAnswers(t, reply) })
		})
	}
}

func lostAnswers(t *testing.T, reply string) {
	questions := *lost
	network := newPipes()
	s, err := discord.New(&discord.Options{Listener: network, Unlimited: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ann, general := s.AddUser(discord.User{Name: "ann"}), s.AddChannel(discord.Channel{Name: "general"})
	c, err := config.Load("", []string{
		"EARSHOT_PLATFORM=discord", "EARSHOT_DISCORD_API_URL=" + s.APIURL(), "EARSHOT_DISCORD_GATEWAY_URL=" + s.GatewayURL(),
		"DISCORD_BOT_TOKEN=" + s.App().Token, "EARSHOT_DISCORD_REPLY=" + reply, "EARSHOT_DB=memory:", "EARSHOT_FRESH_MINUTES=600", "EARSHOT_POST_MINUTES=600",
	})
	if err != nil {
		t.Fatal(err)
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return network.dial(ctx) }
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	d, err := daemon.Open(ctx, daemon.Options{Config: c, Outside: daemon.Outside{
		Model: noted{}, Dial: dial, Client: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- d.Run(ctx) }()
	synctest.Wait()
	if s.Sessions() == 0 {
		t.Fatal("the bot is not connected")
	}
	s.Inject(discord.Fault{Kind: discord.LostResponse, On: "create_message"})
	var asked []string
	for i := range questions {
		asked = append(asked, s.Say(general, ann, fmt.Sprintf("<@%s> question %d?", s.App().UserID, i)))
	}
	began := time.Now()
	for {
		time.Sleep(time.Second)
		depth, err := d.Store.Depth(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if depth[earshot.TurnDone] == questions {
			break
		}
		if time.Since(began) > time.Hour {
			t.Fatalf("after an hour the turns are %v", depth)
		}
	}
	t.Logf("it took %s", time.Since(began))
	stop()
	if err := errors.Join(<-ran, d.Close()); err != nil {
		t.Error(err)
	}
	seen := map[string]int{}
	for _, m := range s.Posts() {
		seen[m.Reply]++
		if m.Content != "Noted." {
			t.Errorf("a post says %q", m.Content)
		}
	}
	for _, id := range asked {
		if seen[id] != 1 {
			t.Errorf("question %s has %d replies, want one", id, seen[id])
		}
	}
}
