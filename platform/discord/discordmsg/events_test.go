package discordmsg

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
)

func TestDeletionsCarryIdsAndStandWhereTheMessageStood(t *testing.T) {
	for name, tt := range map[string]struct {
		raw  string
		want []earshot.MessageID
	}{
		"one":            {`{"id":"1100000000000000000","channel_id":"8","guild_id":"6"}`, []earshot.MessageID{"1100000000000000000"}},
		"several":        {`{"ids":["1","2",3,"x"],"channel_id":"8","guild_id":"6"}`, []earshot.MessageID{"1", "2", "3"}},
		"none":           {`{"ids":[],"channel_id":"8"}`, nil},
		"no channel":     {`{"id":"1"}`, nil},
		"something else": {`[]`, nil},
		"what is broken": {`{"id":`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			d, ok := ReadDeleteEvent([]byte(tt.raw))
			if ok != (tt.want != nil) {
				t.Fatalf("ok is %t", ok)
			}
			if ok && (d.Channel != "8" || d.Guild != "6" || !cmp.Equal(d.IDs, tt.want)) {
				t.Errorf("got %+v, want %v", d, tt.want)
			}
		})
	}
	m := decoded(t, post("")).Message
	gone := Tombstone(m.ID)
	if gone.Position() != m.Position() || !gone.Deleted {
		t.Errorf("the tombstone stands at %v, the message at %v", gone.Position(), m.Position())
	}
}

func TestTheStampOfAMessageIsReadWhereTheRestIsNot(t *testing.T) {
	id, at, ok := Stamp([]byte(`{"id":"1100000000000000000","content":7}`))
	if !ok || id != "1100000000000000000" || at.String() != "2023-04-24T10:07:17.011Z" {
		t.Errorf("got %s, %s, %t", id, at, ok)
	}
	if _, _, ok := Stamp([]byte(`{"content":"x"}`)); ok {
		t.Error("a message without an id has a stamp")
	}
	if _, at, ok := Stamp([]byte(`{"id":"7","timestamp":"2023-04-24T10:00:00Z"}`)); !ok || at.String() != "2023-04-24T10:00:00Z" {
		t.Errorf("an id that has no time: %s, %t", at, ok)
	}
}

func TestTheTimeOfASnowflakeAndBack(t *testing.T) {
	at, ok := TimeOf("1100000000000000000")
	if !ok {
		t.Fatal("no time")
	}
	first := SnowflakeAt(at)
	if got, _ := TimeOf(first); got != at || len(first) != 19 || first > "1100000000000000000" {
		t.Errorf("the first snowflake of %s is %s, of %s", at, first, got)
	}
	if got := SnowflakeAt(0); got != "0" {
		t.Errorf("before there was Discord: %s", got)
	}
	for _, s := range []string{"", "x", "-1", "12", "99999999999999999999999"} {
		if at, ok := TimeOf(s); ok {
			t.Errorf("%q has the time %s", s, at)
		}
	}
}

func TestReactionsAreRead(t *testing.T) {
	x, ok := ReadReaction([]byte(`{"user_id":"9","channel_id":"8","message_id":"1","guild_id":"6","emoji":{"id":"3","name":"blob"}}`))
	if want := (Reaction{Message: "1", Channel: "8", Guild: "6", User: "9", Emoji: "blob"}); !ok || x != want {
		t.Errorf("got %+v, want %+v", x, want)
	}
	if x, ok := ReadReaction([]byte(`{"channel_id":"8","message_id":"1"}`)); !ok || x.Emoji != "" {
		t.Errorf("all reactions removed: %+v, %t", x, ok)
	}
	if _, ok := ReadReaction([]byte(`{"channel_id":"8"}`)); ok {
		t.Error("a reaction to nothing")
	}
}

func TestMembersAreRead(t *testing.T) {
	m, ok := ReadMember([]byte(`{"guild_id":"6","nick":"Annie","roles":["7","x"],"user":{"id":"9","username":"ann","global_name":"Ann"}}`))
	want := Member{Guild: "6", Author: earshot.Author{ID: "9", Name: "Annie", FullName: "ann", Kind: earshot.Human}, Roles: []string{"7"}}
	if !ok || !cmp.Equal(m, want) {
		t.Errorf("got %+v, want %+v", m, want)
	}
	if m, ok := ReadMember([]byte(`{"id":"9","username":"ci","bot":true}`)); !ok || m.Author.Kind != earshot.Bot || m.Author.Name != "ci" {
		t.Errorf("a user: %+v, %t", m, ok)
	}
	if m, ok := ReadMember([]byte(`{"flags":18,"user":{"id":"9","username":"ann"}}`)); !ok || m.Author.Standing != earshot.Guest {
		t.Errorf("a guest of a voice channel: %+v, %t", m, ok)
	}
	if _, ok := ReadMember([]byte(`{"nick":"x"}`)); ok {
		t.Error("a member without a user")
	}
}

func TestChannelsAreRead(t *testing.T) {
	for name, tt := range map[string]struct {
		raw  string
		want earshot.Channel
	}{
		"a channel":                {`{"id":"8","type":0,"guild_id":"6","name":"general","topic":"all","parent_id":"5"}`, earshot.Channel{Workspace: "6", ID: "8", Name: "general", Topic: "all", Kind: earshot.KindChannel}},
		"one that not all see":     {`{"id":"8","type":0,"guild_id":"6","name":"staff","permission_overwrites":[{"id":"6","type":0,"deny":"1024","allow":"0"}]}`, earshot.Channel{Workspace: "6", ID: "8", Name: "staff", Kind: earshot.KindGroup}},
		"one that a role sees not": {`{"id":"8","type":0,"guild_id":"6","name":"open","permission_overwrites":[{"id":"7","type":0,"deny":"1024"}]}`, earshot.Channel{Workspace: "6", ID: "8", Name: "open", Kind: earshot.KindChannel}},
		"a private thread":         {`{"id":"9","type":12,"guild_id":"6","name":"pay","parent_id":"8"}`, earshot.Channel{Workspace: "6", ID: "9", Name: "pay", Kind: earshot.KindGroup}},
		"a direct message":         {`{"id":"8","type":1,"recipients":[{"id":"9","username":"ann","global_name":"Ann"}]}`, earshot.Channel{Workspace: "@me", ID: "8", Name: "Ann", Kind: earshot.KindDM}},
		"one of several people":    {`{"id":"8","type":3,"recipients":[{"username":"ann"},{"username":"bob"}]}`, earshot.Channel{Workspace: "@me", ID: "8", Name: "ann, bob", Kind: earshot.KindGroup}},
	} {
		t.Run(name, func(t *testing.T) {
			c, ok := ReadChannel([]byte(tt.raw))
			tt.want.Platform = earshot.Discord
			if diff := cmp.Diff(c.Earshot(c.Guild), tt.want); !ok || diff != "" {
				t.Error(ok, diff)
			}
		})
	}
	if _, ok := ReadChannel([]byte(`{"name":"x"}`)); ok {
		t.Error("a channel without an id")
	}
}

func TestAThreadIsKeptInItsChannel(t *testing.T) {
	for name, tt := range map[string]struct {
		c       Channel
		channel earshot.ChannelID
		thread  earshot.MessageID
	}{
		"a channel":                  {Channel{ID: "8", Type: GuildText, Parent: "5"}, "8", ""},
		"a thread":                   {Channel{ID: "9", Type: PublicThread, Parent: "8"}, "8", "9"},
		"an announcement's thread":   {Channel{ID: "9", Type: AnnouncementThread, Parent: "8"}, "8", "9"},
		"a private thread":           {Channel{ID: "9", Type: PrivateThread, Parent: "8"}, "9", "9"},
		"a thread of a lost channel": {Channel{ID: "9", Type: PublicThread}, "9", "9"},
	} {
		t.Run(name, func(t *testing.T) {
			if channel, thread := tt.c.Where(); channel != tt.channel || thread != tt.thread {
				t.Errorf("got %s, %q; want %s, %q", channel, thread, tt.channel, tt.thread)
			}
		})
	}
}
