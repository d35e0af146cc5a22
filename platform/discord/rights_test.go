package discord_test

import (
	"strings"
	"testing"

	disgo "github.com/disgoorg/disgo/discord"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord"
	fake "github.com/earshot-ai/earshot/simulate/discord"
)

// Discord's own order: roles, then the overwrites of everybody, of all roles together, and of
// the member.
func TestPermissionsAreComputedAsDiscordDoes(t *testing.T) {
	t.Parallel()
	const view, send, read, admin = disgo.PermissionViewChannel, disgo.PermissionSendMessages, disgo.PermissionReadMessageHistory, disgo.PermissionAdministrator
	role := func(id string, allow, deny disgo.Permissions) discord.Overwrite {
		o := discord.Overwrite{ID: id}
		o.Allow.Set(allow)
		o.Deny.Set(deny)
		return o
	}
	self := func(allow, deny disgo.Permissions) discord.Overwrite {
		o := role("me", allow, deny)
		o.Type = 1
		return o
	}
	for _, c := range []struct {
		name            string
		everyone        disgo.Permissions
		roles           map[string]disgo.Permissions
		own             []string
		owner, timedOut bool
		over            []discord.Overwrite
		want            disgo.Permissions
	}{
		{name: "everybody's role", everyone: view | send, want: view | send},
		{name: "a role adds", everyone: view, roles: map[string]disgo.Permissions{"r": send}, own: []string{"r"}, want: view | send},
		{name: "a role that one does not have adds nothing", everyone: view, roles: map[string]disgo.Permissions{"r": send}, want: view},
		{name: "a role that is gone adds nothing", everyone: view, own: []string{"gone"}, want: view},
		{name: "everybody's overwrite denies", everyone: view | send, over: []discord.Overwrite{role("g", 0, send)}, want: view},
		{name: "a role's overwrite is stronger than everybody's", everyone: view | send, own: []string{"r"}, over: []discord.Overwrite{role("r", send, 0), role("g", 0, send)}, want: view | send},
		{name: "of two roles the one that allows is stronger", everyone: view | send, own: []string{"a", "b"}, over: []discord.Overwrite{role("a", send, 0), role("b", 0, send)}, want: view | send},
		{name: "the member's own overwrite is the strongest", everyone: view | send, own: []string{"r"}, over: []discord.Overwrite{self(0, send), role("r", send, 0)}, want: view},
		{name: "the member's own overwrite allows", everyone: view, over: []discord.Overwrite{self(send, 0), role("g", 0, send)}, want: view | send},
		{name: "a role with a member's id is not the member", everyone: view, over: []discord.Overwrite{role("me", send, 0)}, want: view},
		{name: "who does not see a channel can do nothing in it", everyone: view | send | read, over: []discord.Overwrite{role("g", 0, view)}, want: 0},
		{name: "an administrator may do everything", everyone: admin, over: []discord.Overwrite{role("g", 0, view|send)}, want: disgo.PermissionsAll},
		{name: "an administrator by a role", roles: map[string]disgo.Permissions{"r": admin}, own: []string{"r"}, timedOut: true, want: disgo.PermissionsAll},
		{name: "an overwrite makes nobody an administrator", everyone: view, over: []discord.Overwrite{self(admin, 0)}, want: view | admin},
		{name: "the owner may do everything", owner: true, timedOut: true, over: []discord.Overwrite{role("g", 0, view)}, want: disgo.PermissionsAll},
		{name: "who is timed out sees and reads", everyone: view | send | read, timedOut: true, want: view | read},
	} {
		roles := map[string]disgo.Permissions{"g": c.everyone}
		for id, may := range c.roles {
			roles[id] = may
		}
		if got := discord.Permitted("g", roles, "me", c.owner, c.timedOut, c.own, c.over...); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

const basic = int64(disgo.PermissionViewChannel | disgo.PermissionSendMessages | disgo.PermissionReadMessageHistory | disgo.PermissionSendMessagesInThreads |
	disgo.PermissionAddReactions | disgo.PermissionAttachFiles | disgo.PermissionCreatePublicThreads)

// TestARoleThatHidesAChannelIsSeenAtOnce takes the permission to see channels from a role, by
// which Discord tells of the role alone: what is stored of them is left, and erased where that
// is configured and Discord confirms it.
func TestARoleThatHidesAChannelIsSeenAtOnce(t *testing.T) {
	t.Parallel()
	for name, hide := range map[string]func(x *ear, role string){
		"the role is changed": func(x *ear, role string) { x.fake.SetRole(fake.Role{ID: role, Permissions: 0}) },
		"the role is removed": func(x *ear, role string) { x.fake.RemoveRole(x.fake.Guild(), role) },
	} {
		for _, purge := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", and it purges"}[purge], func(t *testing.T) {
				t.Parallel()
				x := listen(t, func(_ *ear, _ *fake.Options, o *discord.Options) { o.Purge = purge })
				role := x.fake.AddRole(fake.Role{Name: "reader", Permissions: basic})
				x.fake.SetRole(fake.Role{ID: x.fake.Guild(), Permissions: 0})
				x.fake.SetMember(x.fake.Guild(), x.fake.App().UserID, "", role)
				x.start(nil, "")
				x.fake.Say(x.general, x.mara, "seen")
				x.settle()
				hide(x, role)
				x.fake.Say(x.general, x.mara, "hidden")
				x.settle()
				x.mu.Lock()
				left := len(x.left)
				x.mu.Unlock()
				if left != 1 {
					t.Errorf("%d channels were left, want one\n%s", left, x.logged())
				}
				_, err := x.store.Channel(t.Context(), x.scope(x.general))
				if gone := err != nil; gone != purge {
					t.Errorf("what is stored of the channel: %v; it purges: %t", err, purge)
				}
			})
		}
	}
}

// TestALostPermissionIsSaidUntilItIsBack takes permissions from the bot in several ways.
func TestALostPermissionIsSaidUntilItIsBack(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	me, guild := x.fake.App().UserID, x.fake.Guild()
	x.start(nil, "")
	x.fake.Say(x.general, x.mara, "before")
	x.settle()
	says := func(want string) {
		t.Helper()
		x.settle()
		if got := x.p.Lost(); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("it says %q, want %q", got, want)
		}
	}
	says("")
	x.fake.ReadOnly(x.general, true)
	says("it has lost permissions in channels: Send Messages in 1, Send Messages in Threads in 1 (")
	x.fake.ReadOnly(x.general, false)
	says("")
	x.fake.SetRole(fake.Role{ID: guild, Permissions: basic&^int64(disgo.PermissionReadMessageHistory)})
	says("it has lost permissions in channels: Read Message History in 1 (")
	role := x.fake.AddRole(fake.Role{Name: "historian", Permissions: int64(disgo.PermissionReadMessageHistory)})
	x.fake.SetMember(guild, me, "", role)
	says("")
	x.fake.RemoveRole(x.fake.Guild(), role)
	says("it has lost permissions in channels: Read Message History in 1 (")
	x.fake.SetRole(fake.Role{ID: guild, Permissions: basic})
	says("")
	if log := x.logged(); strings.Count(log, "the bot has lost a permission") != 4 || strings.Count(log, "the bot has a permission again") != 4 {
		t.Errorf("the log:\n%s", log)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.left) > 0 {
		t.Errorf("channels were left: %v", x.left)
	}
}

// TestARoleThatIsGoneNoLongerLetsAsk removes the role on the list of who is answered: what
// was known of its members is not used any more.
func TestARoleThatIsGoneNoLongerLetsAsk(t *testing.T) {
	t.Parallel()
	x := listen(t, nil)
	role := x.fake.AddRole(fake.Role{Name: "askers"})
	x.options.Allow.Roles = []string{role}
	x.fake.SetMember(x.fake.Guild(), x.mara, "", role)
	x.start(nil, "")
	x.fake.Say(x.general, x.mara, "a member of it")
	x.settle()
	refused := func() bool {
		t.Helper()
		not, err := x.p.NotAllowed(t.Context(), x.scope(x.general), []earshot.AuthorID{earshot.AuthorID(x.mara)})
		if err != nil {
			t.Fatal(err)
		}
		return not[earshot.AuthorID(x.mara)]
	}
	if refused() {
		t.Error("a member of the role is refused")
	}
	x.fake.RemoveRole(x.fake.Guild(), role)
	x.settle()
	if !refused() {
		t.Error("the role is gone, and who had it is answered")
	}
}
