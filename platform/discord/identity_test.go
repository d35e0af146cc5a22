package discord_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord"
	"github.com/earshot-ai/earshot/secret"
	fake "github.com/earshot-ai/earshot/simulate/discord"
)

func TestTheIdentityIsRemembered(t *testing.T) {
	t.Parallel()
	// An application from before 2017 has another id than its bot.
	x := listen(t, func(_ *ear, f *fake.Options, _ *discord.Options) {
		f.App = fake.App{ID: "1100000000000000011", UserID: "1100000000000000012", Name: "eve"}
	})
	p, err := discord.Open(t.Context(), x.options)
	if err != nil {
		t.Fatal(err)
	}
	want := earshot.Identity{ID: "1100000000000000012", Name: "eve", Aliases: []earshot.AuthorID{"1100000000000000011"}}
	if diff := cmp.Diff(want, p.Identity()); diff != "" || p.Application() != "1100000000000000011" {
		t.Errorf("(-want +got):\n%s\napplication %s", diff, p.Application())
	}
	x.fake.Inject(fake.Fault{Kind: fake.ServerError})
	again, err := discord.New(x.options)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Enter(t.Context()); !discord.IsUnreachable(err) {
		t.Errorf("Enter while Discord is down: got %v, want an error after which asking again may help", err)
	}
	if ok, err := again.Recall(t.Context()); !ok || err != nil {
		t.Fatalf("Recall: got %v, %v, want true", ok, err)
	}
	if diff := cmp.Diff(want, again.Identity()); diff != "" {
		t.Errorf("recalled (-want +got):\n%s", diff)
	}
	notes, err := x.store.Notes(t.Context(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range notes {
		if strings.Contains(n.Key+string(n.Data), x.fake.App().Token) {
			t.Error("a note contains the token")
		}
	}
}

func TestATokenThatIsAnotherBots(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	if _, err := discord.Open(t.Context(), x.options); err != nil {
		t.Fatal(err)
	}
	other, err := fake.New(&fake.Options{App: fake.App{ID: "1100000000000000077", Token: x.fake.App().Token}, Unlimited: true})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	o := x.options
	o.APIURL = other.APIURL()
	p, err := discord.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if ok, err := p.Recall(t.Context()); !ok || err != nil {
		t.Fatalf("Recall: %v, %v", ok, err)
	}
	if err := p.Enter(t.Context()); !errors.Is(err, discord.ErrAnotherBot) || discord.IsUnreachable(err) {
		t.Errorf("got %v, want ErrAnotherBot", err)
	}
}

// The bot of an application that has another user than before is the one whose messages
// and conversations are stored, also while Discord does not say who it is.
func TestAnotherUserOfTheSameApplicationIsTheSameBot(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	first, err := discord.Open(t.Context(), x.options)
	if err != nil {
		t.Fatal(err)
	}
	for _, app := range []struct {
		id   string
		same bool
	}{{x.fake.App().ID, true}, {"1100000000000000078", false}} {
		again, err := fake.New(&fake.Options{App: fake.App{ID: app.id, UserID: "1100000000000000079", Token: "again." + app.id + ".of-a-simulated-discord"}, Unlimited: true})
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		o := x.options
		o.APIURL, o.Token = again.APIURL(), secret.New(again.App().Token)
		p, err := discord.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		who := p.Identity()
		if got := who.ID == first.Identity().ID; got != app.same || !who.Is("1100000000000000079") || who.Is(first.Identity().ID) != app.same {
			t.Errorf("the bot of application %s is %+v, want it the same as %+v: %v", app.id, who, first.Identity(), app.same)
		}
		recalled, err := discord.New(o)
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := recalled.Recall(t.Context()); !ok || err != nil {
			t.Fatalf("Recall: %v, %v", ok, err)
		}
		if diff := cmp.Diff(who, recalled.Identity()); diff != "" {
			t.Errorf("recalled (-want +got):\n%s", diff)
		}
	}
}

func TestATokenThatIsNotValid(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	x.options.Token = secret.New("not.the.token")
	_, err := discord.Open(t.Context(), x.options)
	if err == nil || discord.IsUnreachable(err) || !strings.Contains(err.Error(), "DISCORD_BOT_TOKEN") || strings.Contains(err.Error(), "not.the.token") {
		t.Errorf("got %v, want an error that names DISCORD_BOT_TOKEN and not the token", err)
	}
}

func TestListenNeedsAnIdentity(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	p, err := discord.New(x.options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := p.Listen(ctx, x.handle); err == nil {
		t.Error("Listen before Enter returns no error")
	}
}

func TestEveryProblemOfTheOptionsIsNamed(t *testing.T) {
	t.Parallel()
	_, err := discord.New(discord.Options{
		APIURL: "discord.com", GatewayURL: "https://gateway.example", Shards: -1, ShardIDs: []int{3, 3}, Reply: "shout", Thread: "always",
		Allow: discord.Allow{Channels: []string{"#general"}},
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"DISCORD_BOT_TOKEN", "store", "API URL", "gateway URL", "-1 shards", "named twice", `"shout"`, `"always"`, `"#general"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not name %s:\n%v", want, err)
		}
	}
}
