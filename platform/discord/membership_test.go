package discord_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/platform/discord"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	fake "github.com/earshot-ai/earshot/simulate/discord"
)

// TestAChannelThatIsHiddenIsLeft shuts the bot out of a channel and lets it in again:
// the channel keeps its name or is erased, and what was said meanwhile is read from
// history as what is said in any channel of which nothing is known.
func TestAChannelThatIsHiddenIsLeft(t *testing.T) {
	t.Parallel()
	for _, purge := range []bool{false, true} {
		t.Run(fmt.Sprintf("purge %v", purge), func(t *testing.T) {
			t.Parallel()
			x := listen(t, func(_ *ear, _ *fake.Options, o *discord.Options) { o.Purge = purge })
			me := x.fake.App().UserID
			x.start(nil, "")
			a := x.fake.Say(x.general, x.mara, "before")
			th := x.fake.PrivateThread(x.general, x.mara, "hush", x.mara, me)
			x.fake.Say(th, x.mara, "in private")
			x.settle()
			x.fake.ShutOut(x.general, me)
			x.fake.RenameChannel(x.general, "renamed meanwhile")
			b := x.fake.Say(x.general, x.sam, "meanwhile")
			x.settle()
			want := "channel #general\n  A Mara: \"before\"\n"
			if purge {
				want = ""
			}
			if got := x.dump(a, "A"); purge && got != "" || !strings.Contains(got, want) || strings.Contains(got, "hidden") || strings.Contains(got, "renamed") {
				t.Errorf("hidden: got %s, want %s\n%s", got, want, x.logged())
			}
			x.mu.Lock()
			for _, s := range []earshot.Scope{x.scope(x.general), x.scope(th)} {
				if !slices.Contains(x.left, s) {
					t.Errorf("channel %s was not left: %v", s.Channel, x.left)
				}
			}
			x.mu.Unlock()

			x.fake.LetIn(x.general, me)
			c := x.fake.Say(x.general, x.sam, "after")
			x.settle()
			want = "group #renamed meanwhile\n  A Mara: \"before\"\n  C Sam: \"after\"\n"
			if purge {
				want = "group #renamed meanwhile\n  C Sam: \"after\"\n"
			}
			if diff := cmp.Diff(want, cutThread(x.dump(a, "A", c, "C"))); diff != "" {
				t.Errorf("shown again (-want +got):\n%s", diff)
			}
			x.read(c)
			want = "group #renamed meanwhile\n  A Mara: \"before\"\n  B Sam: \"meanwhile\"\n  C Sam: \"after\"\n"
			if got := cutThread(x.dump(a, "A", b, "B", c, "C")); !strings.HasPrefix(got, want) {
				t.Errorf("after a turn: got %s, want %s", got, want)
			}
		})
	}
}

// cutThread leaves out what a dump says of private threads.
func cutThread(dump string) string {
	var kept []string
	thread := false
	for l := range strings.Lines(dump) {
		if !strings.HasPrefix(l, " ") {
			thread = l == "group #hush\n"
		}
		if !thread {
			kept = append(kept, l)
		}
	}
	return strings.Join(kept, "")
}

// read reads from history what a turn for a message of #general needs.
func (x *ear) read(id string) {
	x.t.Helper()
	f, err := backfill.Open(x.t.Context(), backfill.Options{
		Store: x.store, Source: x.p, Platform: earshot.Discord, Workspace: earshot.WorkspaceID(x.fake.Guild()),
		Handle: func(ctx context.Context, c earshot.Channel, f backfill.HistoryMessage) error {
			_, err := x.bot.Handle(ctx, bot.Event{Event: f.Event, Channel: c})
			return err
		},
		Tier:  backfill.Tier{PerMinute: 120, Burst: 20, Objects: 100, Most: 100},
		Floor: func(earshot.Scope) earshot.Time { return 0 },
	})
	if err != nil {
		x.t.Fatal(err)
	}
	c, err := x.store.Channel(x.t.Context(), x.scope(x.general))
	if err != nil {
		x.t.Fatal(err)
	}
	m, err := x.store.Message(x.t.Context(), c.Scope(), earshot.MessageID(id))
	if err != nil {
		x.t.Fatal(err)
	}
	if err := f.Fill(x.t.Context(), c, m, ""); err != nil {
		x.t.Fatal(err)
	}
}

// TestAChannelThatIsHiddenWhileTheBotIsAwayIsLeft begins a new session, whose list of
// channels says so.
func TestAChannelThatIsHiddenWhileTheBotIsAwayIsLeft(t *testing.T) {
	t.Parallel()
	x := listen(t, func(_ *ear, _ *fake.Options, o *discord.Options) { o.Purge = true })
	beside := x.fake.AddChannel(fake.Channel{Name: "never seen", Private: true, Members: []string{x.mara}})
	x.start(nil, "")
	x.fake.Say(x.general, x.mara, "before")
	x.settle()
	x.close()
	x.fake.ShutOut(x.general, x.fake.App().UserID)
	x.options.Shards = 2 // a new session
	x.start(nil, "")
	x.until(func() bool { return len(x.lost) >= 3 && len(x.left) > 0 })
	x.settle()
	if got := x.dump(); got != "" {
		t.Errorf("it is still there: %s", got)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if want := []earshot.Scope{x.scope(x.general)}; !slices.Equal(x.left, want) {
		t.Errorf("left %v, want %v and not %s", x.left, want, beside)
	}
}

// TestMendedPermissionsWorkAtOnce has Discord refuse posts until they are not tried any
// more, and then changes what may have been the reason.
func TestMendedPermissionsWorkAtOnce(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	x.start(nil, "")
	root := x.fake.Say(x.general, x.mara, "root")
	th := x.fake.Thread(x.general, root, x.mara, "talk")
	other := x.fake.AddChannel(fake.Channel{Name: "other", ReadOnly: true})
	x.settle()
	place := func(channel, thread string) bot.Place {
		return bot.Place{Channel: earshot.Channel{Platform: earshot.Discord, Workspace: earshot.WorkspaceID(x.fake.Guild()), ID: earshot.ChannelID(channel)}, Thread: earshot.MessageID(thread)}
	}
	sent := 0
	post := func(at bot.Place) error {
		sent++
		_, err := x.p.Post(t.Context(), bot.Draft{Place: at, Key: fmt.Sprintf("key%d", sent), Text: "hi"})
		return err
	}
	places := []bot.Place{place(x.general, ""), place(x.general, th), place(other, "")}
	refuse := func() {
		t.Helper()
		x.fake.ReadOnly(x.general, true)
		x.settle()
		for _, at := range places {
			for range 3 {
				if err := post(at); !discordapi.IsRefused(err, discordapi.MissingPermissions) {
					t.Fatalf("got %v, want Discord's refusal", err)
				}
			}
		}
		before := len(x.fake.Calls("create_message"))
		for _, at := range places {
			if post(at) == nil {
				t.Fatal("a post was made that Discord refuses")
			}
		}
		if n := len(x.fake.Calls("create_message")) - before; n != 0 {
			t.Fatalf("%d calls were made that were refused three times", n)
		}
	}
	works := func(what string, at bot.Place, want bool) {
		t.Helper()
		before := len(x.fake.Calls("create_message"))
		err := post(at)
		if asked := len(x.fake.Calls("create_message")) > before; asked != want {
			t.Errorf("%s: Discord was asked: %v (%v), want %v", what, asked, err, want)
		}
	}
	refuse()
	x.fake.ReadOnly(x.general, false)
	x.settle()
	works("the channel", places[0], true)
	works("its thread", places[1], true)
	works("another channel", places[2], false)
	mended := func(what string, change func()) {
		t.Helper()
		change()
		x.settle()
		works(what, places[2], true)
		for range 2 {
			_ = post(places[2])
		}
		works(what+", refused again", places[2], false)
	}
	guild := x.fake.Guild()
	mended("the bot's roles", func() { x.fake.SetMember(guild, x.fake.App().UserID, "") })
	for _, kind := range []string{"GUILD_ROLE_UPDATE", "GUILD_ROLE_CREATE", "GUILD_ROLE_DELETE"} {
		mended(kind, func() {
			data := fmt.Sprintf(`{"guild_id":%q,"role":{"id":"1","name":"x"},"role_id":"1"}`, guild)
			if err := x.p.Take(t.Context(), kind, []byte(data), x.handle); err != nil {
				t.Fatal(err)
			}
		})
	}
	if err := x.p.Take(t.Context(), "GUILD_ROLE_UPDATE", []byte(`{"guild_id":"1200000000000000777","role":{"id":"1"}}`), x.handle); err != nil {
		t.Fatal(err)
	}
	works("another guild's role", places[2], false)
}
