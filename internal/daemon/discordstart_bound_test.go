package daemon_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	countedstore "github.com/earshot-ai/earshot/internal/counted"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate/discord"
	"github.com/earshot-ai/earshot/store"
)

// A bot of 20 servers of 30 channels starts again, over a store that also has 2,000 channels
// of Slack. What a start asks of the store grows with the servers, not with the channels,
// and where nothing was said Discord is asked for no history.
func TestADiscordStartCostsByServerNotByChannel(t *testing.T) {
	t.Parallel()
	file, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "crowd.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	st := countedstore.Crowd(t, file, countedstore.Few)
	x := newDiscordWorld(t, modeltest.StartScripted(t, discordScript()), &discord.Options{Unlimited: true})
	x.options.Store = st
	x.options.Outside.Jitter = func(time.Duration) time.Duration { return 0 } // before a lost session is followed by another
	const guilds, each = 20, 30
	var channels []string
	for g := range guilds {
		guild := x.AddGuild(discord.Guild{Name: fmt.Sprint("server ", g)})
		x.Join(guild, discord.Member{User: x.ann})
		for c := range each {
			channels = append(channels, x.storedRoom(guild, fmt.Sprint("room-", c)))
		}
	}
	for _, c := range []struct {
		name   string
		before func()
		rows   int // of the store that are read at least, to compare
		reads  int // channels of which history is read
		bound  countedstore.CallBound
	}{
		{"the first start over what is stored", func() {}, guilds * each, 0, countedstore.CallBound{Calls: 80, Rows: guilds*each + 60}},
		{"a session that goes on", func() {}, 0, 0, countedstore.CallBound{Calls: 50, Rows: 60}},
		{"a session that is lost", x.ForgetSessions, guilds * each, 0, countedstore.CallBound{Calls: 80, Rows: guilds*each + 60}},
		{"news in three channels", func() {
			x.ForgetSessions()
			for _, c := range []string{channels[7], channels[300], channels[599]} {
				x.Post(discord.PostedMessage{Channel: c, User: x.ann, Text: "news", Mute: true})
			}
		}, guilds * each, 3, countedstore.CallBound{Calls: 140, Rows: guilds*each + 160}},
	} {
		c.before()
		st.Reset(nil)
		x.ForgetCalls()
		x.start()
		x.eventually("Discord has told of every server", func() bool {
			_, rows := st.Counts()
			return len(x.Calls("list_messages")) >= c.reads && rows >= c.rows
		})
		c.bound.Check(t, st, c.name)
		if n := len(x.Calls("list_messages")); n != c.reads {
			t.Errorf("%s: history is read %d times, want %d", c.name, n, c.reads)
		}
		if n := len(x.Calls("get_channel")); n != 0 {
			t.Errorf("%s: Discord is asked for a channel %d times, want never: it has told", c.name, n)
		}
		x.stop()
	}
}

// storedRoom adds a channel of a guild in which one message was said an hour ago, which the
// store has.
func (x *discordWorld) storedRoom(guild, name string) string {
	x.t.Helper()
	id := x.AddChannel(discord.Channel{Guild: guild, Name: name})
	x.keep(guild, id, x.Post(discord.PostedMessage{Channel: id, User: x.ann, Text: "an hour ago", At: time.Now().Add(-time.Hour), Mute: true}))
	return id
}

// keep puts a message into the store.
func (x *discordWorld) keep(guild, channel, id string) {
	x.t.Helper()
	s := earshot.Scope{Platform: earshot.Discord, Workspace: earshot.WorkspaceID(guild), Channel: earshot.ChannelID(channel)}
	m := earshot.Message{ID: earshot.MessageID(id), Time: earshot.TimeOf(discord.Time(id)), Text: "an hour ago", Author: earshot.Author{ID: earshot.AuthorID(x.ann), Name: "Ann", Kind: earshot.Human}}
	if err := x.options.Store.PutChannel(x.t.Context(), earshot.Channel{Platform: s.Platform, Workspace: s.Workspace, ID: s.Channel, Name: "room", Kind: earshot.KindChannel}); err != nil {
		x.t.Fatal(err)
	}
	if _, err := x.options.Store.Record(x.t.Context(), s, m); err != nil {
		x.t.Fatal(err)
	}
}
