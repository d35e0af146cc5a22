package discord_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/platform/check"
	"github.com/earshot-ai/earshot/platform/discord"
	"github.com/earshot-ai/earshot/secret"
	fake "github.com/earshot-ai/earshot/simulate/discord"
)

// findings checks, and prints what is found: state and subject, with names for ids.
func (x *mouth) findings(r discord.CheckRequest) (list []check.Finding, printed string) {
	x.t.Helper()
	if r.Patience == 0 {
		r.Patience = 10 * time.Second
	}
	var b strings.Builder
	discord.Check(x.t.Context(), x.options, r, func(f check.Finding) {
		list = append(list, f)
		b.WriteString(string(f.State) + " " + f.What + "\n")
		if (f.State == check.Good) != (f.Costs == "" && f.Remedy == "") && f.State != check.Unknown {
			x.t.Errorf("%s %s: costs %q, remedy %q", f.State, f.What, f.Costs, f.Remedy)
		}
	})
	return list, strings.ReplaceAll(b.String(), x.general, "GENERAL")
}

func TestCheckTellsWhatWorks(t *testing.T) {
	t.Parallel()
	x := speak(t, nil)
	list, got := x.findings(discord.CheckRequest{Channels: []string{x.general}})
	want := `good bot token
good setting Message Content Intent
good servers
good invite link
good gateway
good intent MESSAGE_CONTENT
good channel GENERAL
good permissions in #general
good posting in #general
good events of #general
good history of #general
good removing in #general
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s\n%+v", diff, list)
	}
	if n := len(x.fake.Messages(x.general)); n != 0 {
		t.Errorf("%d messages are left", n)
	}
	if got, want := list[3].Found, "https://discord.com/oauth2/authorize?client_id="+x.fake.App().ID+"&permissions=309237746752&scope=bot+applications.commands"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCheckTellsWhatDoesNotWork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		do   func(f *fake.Options)
		then func(x *mouth) discord.CheckRequest
		want []string // lines that must be there
		not  []string // and those that must not
	}{
		{"a token that is not accepted", nil, func(x *mouth) discord.CheckRequest {
			x.options.Token = secret.New("wrong")
			return discord.CheckRequest{}
		}, []string{"bad bot token"}, []string{"good"}},
		{"no message content", func(f *fake.Options) { f.NoMessageContent = true }, func(*mouth) discord.CheckRequest {
			return discord.CheckRequest{}
		}, []string{"poor setting Message Content Intent", "good gateway", "poor intent MESSAGE_CONTENT", "unknown channels"}, nil},
		{"a channel that it may not see", nil, func(x *mouth) discord.CheckRequest {
			return discord.CheckRequest{Channels: []string{x.fake.AddChannel(fake.Channel{Name: "hush", Private: true})}}
		}, []string{"bad channel "}, []string{"posting"}},
		{"a channel in which it may not write", nil, func(x *mouth) discord.CheckRequest {
			return discord.CheckRequest{Channels: []string{x.fake.AddChannel(fake.Channel{Name: "news", ReadOnly: true})}}
		}, []string{"bad Send Messages in #news", "poor Send Messages in Threads in #news", "bad posting in #news"}, nil},
		{"no channel of that id", nil, func(*mouth) discord.CheckRequest {
			return discord.CheckRequest{Channels: []string{"1"}}
		}, []string{"bad channel 1"}, nil},
		{"a forum", nil, func(x *mouth) discord.CheckRequest {
			return discord.CheckRequest{Channels: []string{x.fake.AddChannel(fake.Channel{Name: "help", Type: fake.Forum})}}
		}, []string{"good permissions in #help", "unknown posting in #help"}, nil},
		{"an event that does not come", nil, func(x *mouth) discord.CheckRequest {
			x.fake.Inject(fake.Fault{Kind: fake.DropEvent, On: "MESSAGE_CREATE"})
			return discord.CheckRequest{Channels: []string{x.general}, Patience: time.Second}
		}, []string{"bad events of #general", "good removing in #general"}, nil},
		{"what Discord does not say is unknown", nil, func(x *mouth) discord.CheckRequest {
			x.fake.Inject(fake.Fault{Kind: fake.ServerError, On: "list_guild_roles"}, fake.Fault{Kind: fake.ServerError, On: "list_my_guilds"}, fake.Fault{Kind: fake.ServerError, On: "list_messages"})
			return discord.CheckRequest{Channels: []string{x.general}}
		}, []string{"unknown permissions in #general", "unknown servers", "unknown history of #general"}, []string{"good permissions", "good servers", "good history"}},
		{"a post that cannot be removed", nil, func(x *mouth) discord.CheckRequest {
			x.fake.Inject(fake.Fault{Kind: fake.ServerError, On: "delete_message"})
			return discord.CheckRequest{Channels: []string{x.general}}
		}, []string{"poor removing in #general"}, nil},
		{"no server", nil, func(x *mouth) discord.CheckRequest {
			x.fake.Leave(x.fake.Guild(), x.fake.App().UserID)
			return discord.CheckRequest{}
		}, []string{"poor servers", "good invite link"}, nil},
		{"clicks go elsewhere", func(f *fake.Options) { f.App.InteractionsURL = "https://clicks.example/discord" }, func(*mouth) discord.CheckRequest {
			return discord.CheckRequest{}
		}, []string{"poor setting Interactions Endpoint URL", "good setting Message Content Intent"}, nil},
		{"a thread", nil, func(x *mouth) discord.CheckRequest {
			return discord.CheckRequest{Channels: []string{x.fake.Thread(x.general, x.fake.Say(x.general, x.mara, "root"), x.mara, "talk")}}
		}, []string{"good permissions in #talk", "good posting in #talk", "good history of #talk"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := speak(t, func(f *fake.Options, _ *discord.Options) {
				if c.do != nil {
					c.do(f)
				}
			})
			list, got := x.findings(c.then(x))
			for _, s := range c.want {
				if !strings.Contains(got, s) {
					t.Errorf("no %q in\n%s%+v", s, got, list)
				}
			}
			for _, s := range c.not {
				if strings.Contains(got, s) {
					t.Errorf("%q in\n%s%+v", s, got, list)
				}
			}
			for _, f := range list {
				if strings.Contains(f.Found, x.fake.App().Token) {
					t.Errorf("%s shows the token", f.What)
				}
			}
		})
	}
}

func TestCheckDoesNotBlameTheTokenForSilence(t *testing.T) {
	t.Parallel()
	x := speak(t, nil)
	x.fake.Inject(fake.Fault{Kind: fake.ServerError, On: "get_my_user"})
	list, got := x.findings(discord.CheckRequest{})
	if want := "bad bot token\n"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	if f := list[0]; strings.Contains(f.Remedy, "DISCORD_BOT_TOKEN") || !strings.Contains(f.Remedy, "discord.api_url") {
		t.Errorf("remedy %q", f.Remedy)
	}
}

func TestCheckTellsOfCommands(t *testing.T) {
	t.Parallel()
	x := speak(t, nil)
	commands := func() check.Finding {
		list, got := x.findings(discord.CheckRequest{Commands: true})
		i := slices.IndexFunc(list, func(f check.Finding) bool { return f.What == "commands" })
		if i < 0 {
			t.Fatalf("nothing is told of commands:\n%s", got)
		}
		return list[i]
	}
	if f := commands(); f.State != check.Unknown || !strings.Contains(f.Found, "not registered yet: ask, why") {
		t.Errorf("before they are registered: %+v", f)
	}
	if err := x.Register(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f := commands(); f.State != check.Good {
		t.Errorf("once they are: %+v", f)
	}
	x.fake.Inject(fake.Fault{On: "list_application_commands", Kind: fake.Forbidden})
	if f := commands(); f.State != check.Poor {
		t.Errorf("where Discord refuses: %+v", f)
	}
}
