package visible_test

import (
	"errors"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/store"
)

func TestAgentIsTheOneThatWasNamedForTheChannel(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	s := sidecar.New(st, nil, nil, sidecar.Options{})
	all := access.Principal{ID: "key:all", Kind: access.Key}
	narrow := access.Principal{ID: "key:C2", Kind: access.Key, Reach: access.Reach{Workspaces: []earshot.WorkspaceID{"T1"}, Channels: []earshot.ChannelID{"C2"}}}
	put := func(p access.Principal, id, name string, w earshot.WorkspaceID, aliases ...earshot.AuthorID) {
		t.Helper()
		if _, err := s.PutAgent(t.Context(), p, visible.Agent{Identity: earshot.Identity{ID: earshot.AuthorID(id), Name: name, Aliases: aliases}, Workspace: w}); err != nil {
			t.Fatal(err)
		}
	}
	put(all, "U~1/é", "helper", "T1", "B1")
	put(narrow, "U2", "second", "")
	if err := st.PutAuthors(t.Context(), "slack", "T1", earshot.Author{ID: "U3", Name: "third", Kind: earshot.Bot}, earshot.Author{ID: "U4", Name: "Ann", Kind: earshot.Human}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		channel earshot.ChannelID
		id      earshot.AuthorID
		name    string
		code    string
	}{
		{"C1", "", "helper", ""},
		{"C1", "U~1/é", "helper", ""},
		{"C1", "B1", "helper", ""},
		{"C1", "U2", "", "unknown_agent"},
		{"C2", "", "", "ambiguous_agent"},
		{"C2", "U2", "second", ""},
		{"C1", "U3", "third", ""},
		{"C1", "U4", "", "unknown_agent"},
		{"C1", "U5", "", "unknown_agent"},
	} {
		got, err := visible.To(st, all).Agent(t.Context(), earshot.Scope{Platform: "slack", Workspace: "T1", Channel: c.channel}, c.id)
		var r *visible.Refusal
		if errors.As(err, &r) && r.Code != c.code || err != nil && r == nil || got.Name != c.name {
			t.Errorf("agent %q in %s: %+v, %v; want %q or %q", c.id, c.channel, got, err, c.name, c.code)
		}
	}
	if _, err := visible.To(st, all).Agent(t.Context(), earshot.Scope{Platform: "slack", Workspace: "T2", Channel: "C1"}, ""); err == nil {
		t.Error("an agent of another workspace was found")
	}
}
