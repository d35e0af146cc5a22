package discord_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/counted"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/platform/discord"
	"github.com/earshot-ai/earshot/secret"
	fake "github.com/earshot-ai/earshot/simulate/discord"
)

// TestARestartResumes ends a process and starts another over the same store: the
// session goes on where its last event was stored, and nothing is lost or told twice.
func TestARestartResumes(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	x.start(nil, "")
	a := x.fake.Say(x.general, x.mara, "before")
	x.settle()
	x.close()
	b := x.fake.Say(x.general, x.mara, "meanwhile")
	x.fake.React(x.general, a, x.sam, "👍")
	x.start(nil, "")
	x.settle()
	want := `channel #general
  A Mara: "before" 👍1
  B Mara: "meanwhile"
`
	if diff := cmp.Diff(want, x.dump(a, "A", b, "B")); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, x.logged())
	}
	if n := x.fake.Identifies(); n != 1 {
		t.Errorf("%d identifies, want 1: the second process resumes", n)
	}
	// The resumed session told nothing of guilds and threads.
	th := x.fake.Thread(x.general, b, x.mara, "later")
	x.close()
	x.start(nil, "")
	c := x.fake.Say(th, x.sam, "in the thread")
	x.settle()
	want += "  C in B Sam: \"in the thread\"\n"
	if diff := cmp.Diff(want, x.dump(a, "A", b, "B", c, "C")); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, x.logged())
	}
}

// TestARestartBeforeTheFirstEventResumes ends the first process before it has stored an
// event: what is said until the next one starts is not missed.
func TestARestartBeforeTheFirstEventResumes(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	x.start(nil, "")
	enough := time.After(hang)
	for remembered := false; !remembered; {
		select {
		case <-enough:
			t.Fatal("the session is not remembered")
		case <-time.After(5 * time.Millisecond):
		}
		list, err := x.store.Notes(t.Context(), "discord/place/", 1)
		if err != nil {
			t.Fatal(err)
		}
		remembered = len(list) > 0
	}
	x.close()
	a := x.fake.Say(x.general, x.mara, "is anybody there?")
	x.start(nil, "")
	x.settle()
	want := `channel #general
  A Mara: "is anybody there?"
`
	if diff := cmp.Diff(want, x.dump(a, "A")); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, x.logged())
	}
	if n := x.fake.Identifies(); n != 1 {
		t.Errorf("%d identifies, want 1: the second process resumes", n)
	}
}

// TestAnotherNumberOfShardsBeginsAnew changes the number of shards: each then has
// other guilds, so no session is resumed, and what was missed is reported.
func TestAnotherNumberOfShardsBeginsAnew(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	x.start(nil, "")
	x.settle()
	x.close()
	x.options.Shards = 2
	x.start(nil, "")
	// The probe comes to one of the shards, so it says nothing about the other.
	x.until(func() bool { return len(x.lost) >= 3 })
	x.settle()
	x.close()
	x.mu.Lock()
	defer x.mu.Unlock()
	if n := x.fake.Identifies(); len(x.lost) != 3 || n != 3 {
		t.Errorf("events were missed %d times, want once for each of 3 new sessions (%d identifies)", len(x.lost), n)
	}
}

// TestAnEventThatIsNotStoredComesAgain fails to store an event three times, once
// after it was stored: it is handled until it is, before those after it.
func TestAnEventThatIsNotStoredComesAgain(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	tries := 0
	x.fails = func(e bot.Event) error {
		if e.Message.Text != "first" {
			return nil
		}
		if tries++; tries < 3 {
			return errors.New("the disk is full")
		}
		return nil
	}
	x.start(nil, "")
	a, b := x.fake.Say(x.general, x.mara, "first"), x.fake.Say(x.general, x.mara, "second")
	x.settle()
	x.mu.Lock()
	var order []string
	for _, h := range x.heard {
		order = append(order, h.Message.Text)
	}
	x.mu.Unlock()
	if want := []string{"first", "second", "probe"}; !slices.Equal(order, want) || tries != 3 {
		t.Errorf("handled %q after %d tries, want %q after 3 (%s, %s)", order, tries, want, a, b)
	}
}

// TestAPoisonousEventIsGivenUp has the handling of one event panic each time.
func TestAPoisonousEventIsGivenUp(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	x.fails = func(e bot.Event) error {
		if e.Message.Text == "poison" {
			panic("a text that nobody may log: " + e.Message.Text)
		}
		return nil
	}
	x.start(nil, "")
	x.fake.Say(x.general, x.mara, "poison")
	a := x.fake.Say(x.general, x.mara, "second")
	x.settle()
	if got, want := x.dump(a, "A"), "channel #general\n  A Mara: \"second\"\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if log := x.logged(); !strings.Contains(log, "an event cannot be kept") || strings.Contains(log, "nobody may log") {
		t.Errorf("the log: %s", log)
	}
}

// TestWithoutMessageContent refuses the intent: the bot reads what mentions it and
// direct messages, and the rest is a gap.
func TestWithoutMessageContent(t *testing.T) {
	t.Parallel()
	x := listen(t, func(_ *ear, f *fake.Options, _ *discord.Options) { f.NoMessageContent = true })
	x.start(nil, "")
	a := x.fake.Say(x.general, x.mara, "<@"+x.fake.App().UserID+"> are you there?")
	b := x.fake.Say(x.general, x.sam, "nobody reads this")
	c := x.fake.Reply(x.general, b, x.mara, "nor this")
	x.settle()
	want := `channel #general
  A Mara: "<@BOT|earshot> are you there?"
  missing: MESSAGE_CONTENT is not granted
`
	if diff := cmp.Diff(want, x.dump(a, "A", b, "B", c, "C")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if x.p.Content() {
		t.Error("Content is true, want false")
	}
	if n := strings.Count(x.logged(), "switch on Message Content Intent"); n != 1 {
		t.Errorf("the remedy is logged %d times, want once:\n%s", n, x.logged())
	}
	got, err := x.store.Coverage(t.Context(), x.scope(x.general))
	if err != nil || len(got) != 1 {
		t.Fatalf("got %v, %v, want one stretch", got, err)
	}
	if m := x.why(a); m != "mention" {
		t.Errorf("the mention: %s", m)
	}
	general, err := x.store.Channel(t.Context(), x.scope(x.general))
	if err != nil {
		t.Fatal(err)
	}
	var scope *backfill.ScopeError
	w := backfill.Window{Oldest: 1, Latest: earshot.TimeOf(time.Now()), Limit: 100}
	if page, err := x.p.History(t.Context(), general, w); !errors.As(err, &scope) || scope.Scope != "MESSAGE_CONTENT" {
		t.Errorf("history: got %v, %v, want MESSAGE_CONTENT to be missing", page, err)
	}
}

// TestTheRoleThatDiscordMadeForTheBotMentionsIt mentions the bot by its own role and
// by another one, also after a resume, which tells of no roles.
func TestTheRoleThatDiscordMadeForTheBotMentionsIt(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	own := x.fake.AddRole(fake.Role{Name: "earshot", Bot: x.fake.App().UserID})
	other := x.fake.AddRole(fake.Role{Name: "ops"})
	x.start(nil, "")
	x.settle()
	x.close()
	x.start(nil, "")
	a := x.fake.Say(x.general, x.mara, "<@&"+own+"> hi")
	b := x.fake.Say(x.general, x.mara, "<@&"+other+"> hi")
	x.settle()
	if own, ops := x.why(a), x.why(b); own != "mention" || ops != "not-addressed" {
		t.Errorf("got %q and %q, want mention and not-addressed\n%s", own, ops, x.dump(a, "A", b, "B"))
	}
}

// TestAllowLists bind what is stored to channels, and who is answered to roles and
// users.
func TestAllowLists(t *testing.T) {
	t.Parallel()
	var category, inside, beside, role string
	x := listen(t, func(_ *ear, _ *fake.Options, o *discord.Options) {
		category, role = "1200000000000000001", "1200000000000000002"
		o.Allow = discord.Allow{Channels: []string{category}, Roles: []string{role}}
	})
	x.fake.AddChannel(fake.Channel{ID: category, Type: fake.Category, Name: "team"})
	x.fake.AddRole(fake.Role{ID: role, Name: "ops"})
	inside = x.fake.AddChannel(fake.Channel{Name: "inside", Parent: category})
	beside = x.fake.AddChannel(fake.Channel{Name: "beside"})
	x.fake.SetMember(x.fake.Guild(), x.sam, "Sam", role)
	x.start(nil, "")
	hi := "<@" + x.fake.App().UserID + "> hi"
	a := x.fake.Say(inside, x.mara, hi)
	b := x.fake.Say(inside, x.sam, hi)
	c := x.fake.Say(beside, x.sam, hi)
	th := x.fake.Thread(inside, a, x.sam, "thread")
	d := x.fake.Say(th, x.sam, hi)
	x.fake.Delete(beside, c)
	x.settle()
	want := `channel #inside
  A Mara: "<@BOT|earshot> hi"
  B Sam: "<@BOT|earshot> hi"
  D in A Sam: "<@BOT|earshot> hi"
`
	if diff := cmp.Diff(want, x.dump(a, "A", b, "B", c, "C", d, "D")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if m, s := x.why(a), x.why(b); m != "not-allowed known" || s != "mention" {
		t.Errorf("got %q and %q, want not-allowed, then known because the thread changes the message, and mention", m, s)
	}
	for author, want := range map[string]string{x.mara: "not-allowed", x.sam: ""} {
		got, err := x.p.Refused(t.Context(), earshot.Channel{Platform: earshot.Discord, Workspace: x.scope("").Workspace, ID: earshot.ChannelID(inside)}, earshot.AuthorID(author))
		if err != nil || string(got) != want {
			t.Errorf("found in history: got %q, %v, want %q", got, err, want)
		}
	}
	for author, want := range map[string]bool{x.mara: false, x.sam: true} {
		got, err := x.p.InGroups(t.Context(), x.scope(inside), earshot.AuthorID(author), []string{"asker", role})
		if err != nil || got != want {
			t.Errorf("has the role: got %v, %v, want %v", got, err, want)
		}
	}
	listed := func(when string) {
		t.Helper()
		got, err := x.p.NotAllowed(t.Context(), x.scope(inside), []earshot.AuthorID{earshot.AuthorID(x.mara), earshot.AuthorID(x.sam)})
		if err != nil || !got[earshot.AuthorID(x.mara)] || got[earshot.AuthorID(x.sam)] {
			t.Errorf("%s: not on the list are %v, %v; want Mara alone", when, got, err)
		}
	}
	listed("as their messages told")
	// A new process knows the channel from the store, which has no category.
	x.close()
	x.start(nil, "")
	listed("as Discord tells a new process")
	e := x.fake.Say(inside, x.sam, hi)
	x.settle()
	if got := x.why(e); got != "mention" {
		t.Errorf("after a restart: got %q, want mention", got)
	}
}

// TestPurge erases what the bot no longer sees, once Discord confirms it.
func TestPurge(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		purge bool
		do    func(x *ear)
		left  int
		kept  bool
	}{
		{"a channel is deleted", true, func(x *ear) { x.fake.RemoveChannel(x.general) }, 1, false},
		{"the bot is removed", true, func(x *ear) { x.fake.Leave(x.fake.Guild(), x.fake.App().UserID) }, 1, false},
		{"the bot is removed, without purge", false, func(x *ear) { x.fake.Leave(x.fake.Guild(), x.fake.App().UserID) }, 1, true},
		{"an outage", true, func(x *ear) { x.fake.Outage(x.fake.Guild(), true) }, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var st *counted.Store
			x := listen(t, func(x *ear, _ *fake.Options, o *discord.Options) {
				st = counted.Crowd(t, x.store, 400) // of other workspaces
				o.Purge, o.Store = c.purge, st
			})
			x.start(nil, "")
			a := x.fake.Say(x.general, x.mara, "secret")
			x.settle()
			st.Reset(nil)
			c.do(x)
			x.settle()
			counted.CallBound{Calls: 40, Rows: 40}.Check(t, st, c.name)
			_, err := x.store.Message(t.Context(), x.scope(x.general), earshot.MessageID(a))
			if kept := err == nil; kept != c.kept {
				t.Errorf("kept: %v, want %v (%v)\n%s", kept, c.kept, err, x.logged())
			}
			x.mu.Lock()
			defer x.mu.Unlock()
			if len(x.left) != c.left {
				t.Errorf("left %v, want %d", x.left, c.left)
			}
			if want := []earshot.WorkspaceID{earshot.WorkspaceID(x.fake.Guild()), "@me"}; !slices.Equal(x.came, want) {
				t.Errorf("joined %v, want %v", x.came, want)
			}
		})
	}
}

// TestAPrivateThreadIsLeft removes the bot from a private thread.
func TestAPrivateThreadIsLeft(t *testing.T) {
	t.Parallel()
	x := listen(t, func(_ *ear, _ *fake.Options, o *discord.Options) { o.Purge = true })
	x.start(nil, "")
	th := x.fake.PrivateThread(x.general, x.mara, "hush", x.mara, x.fake.App().UserID)
	x.fake.Say(th, x.mara, "nobody knows")
	x.settle()
	x.fake.LeaveThread(th, x.fake.App().UserID)
	x.settle()
	if got := x.dump(); got != "" {
		t.Errorf("it is still there: %s\n%s", got, x.logged())
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if want := []earshot.Scope{x.scope(th)}; !slices.Equal(x.left, want) {
		t.Errorf("left %v, want %v", x.left, want)
	}
}

// TestListenStopsWhereWaitingIsNoRemedy uses a token that Discord does not take.
func TestListenStopsWhereWaitingIsNoRemedy(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	p, err := discord.Open(t.Context(), x.options)
	if err != nil {
		t.Fatal(err)
	}
	x.fake.RotateToken("another.token.of-a-simulated-discord")
	err = p.Listen(t.Context(), x.handle)
	if err == nil || !strings.Contains(err.Error(), "DISCORD_BOT_TOKEN") || strings.Contains(err.Error(), secret.New(x.fake.App().Token).Reveal()) {
		t.Errorf("got %v, want an error that names DISCORD_BOT_TOKEN", err)
	}
}
