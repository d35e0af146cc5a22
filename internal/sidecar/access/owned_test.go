package access_test

import (
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

func TestAUsersOwnChannelIsSeenByThatUserAndByKeys(t *testing.T) {
	t.Parallel()
	alice := access.Principal{Kind: access.User, Subject: "alice"}
	bob := access.Principal{Kind: access.User, Subject: "bob"}
	key := access.Principal{Kind: access.Key}
	elsewhere := access.Principal{Kind: access.Key, Reach: access.Reach{Workspaces: []earshot.WorkspaceID{"T2"}}}
	at := func(id earshot.ChannelID) earshot.Scope {
		return earshot.Scope{Platform: access.OwnPlatform, Workspace: "T1", Channel: id}
	}
	hers, everyones := at(access.NewOwnChannel("alice")), at(access.NewOwnChannel(""))
	for _, c := range []struct {
		name       string
		p          access.Principal
		hers, ours bool
	}{
		{"the owner", alice, true, true},
		{"another user", bob, false, true},
		{"a key", key, true, true},
		{"a key of another workspace", elsewhere, false, false},
		{"nobody", access.Principal{}, false, false},
	} {
		if got := c.p.Sees(hers); got != c.hers {
			t.Errorf("%s sees a user's channel: %v", c.name, got)
		}
		if got := c.p.Sees(everyones); got != c.ours {
			t.Errorf("%s sees a channel without an owner: %v", c.name, got)
		}
	}
	for _, id := range []earshot.ChannelID{"c_", "c_x_", "c_x_y_z", hers.Channel + "_", hers.Channel[:len(hers.Channel)-1]} {
		if s := at(id); bob.Sees(s) && id != "c_" {
			t.Errorf("another user sees %s", id)
		}
	}
	if access.IsOwnChannel(earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: hers.Channel}) {
		t.Error("a channel of Slack counts as a caller's own")
	}
}
