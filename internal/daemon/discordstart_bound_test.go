package daemon_test

import (
	"path/filepath"
	"testing"

	"github.com/earshot-ai/earshot"
	countedstore "github.com/earshot-ai/earshot/internal/counted"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate/discord"
	"github.com/earshot-ai/earshot/store"
)

// TestADiscordStartReadsNoChannelsOfOthers starts a bot on Discord over a store that has
// 2,000 channels of Slack. Of each of its own workspaces one is read, to find the
// workspace, and then all, because something may have been missed there.
func TestADiscordStartReadsNoChannelsOfOthers(t *testing.T) {
	t.Parallel()
	file, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "crowd.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	st := countedstore.Crowd(t, file, countedstore.Few)
	for _, w := range []earshot.WorkspaceID{"1", "2", "3"} {
		for _, id := range []earshot.ChannelID{"10", "11"} {
			if err := st.PutChannel(t.Context(), earshot.Channel{Platform: earshot.Discord, Workspace: w, ID: earshot.ChannelID(w) + id, Name: "room", Kind: earshot.KindChannel}); err != nil {
				t.Fatal(err)
			}
		}
	}
	x := newDiscordWorld(t, modeltest.StartScripted(t, discordScript()), &discord.Options{Unlimited: true})
	x.options.Store = st
	st.Reset(nil)
	x.start()
	for _, w := range []earshot.WorkspaceID{"1", "2", "3"} {
		list, err := file.Coverage(t.Context(), earshot.Scope{Platform: earshot.Discord, Workspace: w, Channel: earshot.ChannelID(w) + "11"})
		if err != nil || len(list) == 0 {
			t.Errorf("of workspace %s nothing says that something may be missing: %v", w, err)
		}
	}
	countedstore.CallBound{Calls: 150, Rows: 100}.Check(t, st, "a start")
}
