package access_test

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/store"
)

// openStore returns an empty store in memory.
func openStore(t testing.TB) earshot.Store {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

// openGate returns a gate of st.
func openGate(t testing.TB, st earshot.Store, o access.Options) *access.Gate {
	t.Helper()
	g, err := access.Open(st, o)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// createKey makes a key and returns its text.
func createKey(t testing.TB, st earshot.Store, spec access.KeySpec) (string, access.StoredKey) {
	t.Helper()
	text, k, err := access.CreateKey(t.Context(), st, spec)
	if err != nil {
		t.Fatal(err)
	}
	return text.Reveal(), k
}

// putChannels stores channels named workspace/channel.
func putChannels(t testing.TB, st earshot.Store, names ...string) {
	t.Helper()
	for _, name := range names {
		w, c, _ := strings.Cut(name, "/")
		err := st.PutChannel(t.Context(), earshot.Channel{Platform: "slack", Workspace: earshot.WorkspaceID(w), ID: earshot.ChannelID(c), Name: "n-" + c, Kind: earshot.KindChannel})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestAKeyIsItsOwner(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	g := openGate(t, st, access.Options{})
	text, k := createKey(t, st, access.KeySpec{
		Name: "bolt bot", Workspaces: []earshot.WorkspaceID{"T2", "T1", "T2"}, Channels: []earshot.ChannelID{"C1"}, ReadOnly: true,
	})
	if !strings.HasPrefix(text, "ek_"+k.ID+"_") {
		t.Errorf("the key does not begin with ek_%s_", k.ID)
	}
	got, err := g.Authenticate(t.Context(), text)
	want := access.Principal{
		ID: "key:" + k.ID, Name: "bolt bot", Kind: access.Key, ReadOnly: true,
		Reach: access.Reach{Workspaces: []earshot.WorkspaceID{"T1", "T2"}, Channels: []earshot.ChannelID{"C1"}},
	}
	if diff := cmp.Diff(got, want); diff != "" || err != nil {
		t.Errorf("got %v (-got +want):\n%s", err, diff)
	}
}

func TestAKeyEndsWhenItIsRevokedOrExpires(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for name, end := range map[string]func(*testing.T, earshot.Store, access.StoredKey){
		"by name":          func(t *testing.T, st earshot.Store, k access.StoredKey) { revoke(t, st, "bot") },
		"by id":            func(t *testing.T, st earshot.Store, k access.StoredKey) { revoke(t, st, k.ID) },
		"by ek_ id":        func(t *testing.T, st earshot.Store, k access.StoredKey) { revoke(t, st, "ek_"+k.ID) },
		"by the whole key": func(t *testing.T, st earshot.Store, k access.StoredKey) { revoke(t, st, "ek_"+k.ID+"_secret") },
		"by its time":      func(*testing.T, earshot.Store, access.StoredKey) {},
		"by an id that is another's name": func(t *testing.T, st earshot.Store, k access.StoredKey) {
			if _, _, err := access.CreateKey(t.Context(), st, access.KeySpec{Name: k.ID}); !errors.Is(err, earshot.ErrConflict) {
				t.Errorf("got %v, want ErrConflict", err)
			}
			revoke(t, st, k.ID)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, clock := openStore(t), now
			g := openGate(t, st, access.Options{Now: func() time.Time { return clock }})
			spec := access.KeySpec{Name: "bot", Expires: earshot.TimeOf(now.Add(time.Hour))}
			text, k := createKey(t, st, spec)
			other, _ := createKey(t, st, access.KeySpec{Name: "another"})
			if _, err := g.Authenticate(t.Context(), text); err != nil {
				t.Fatal(err)
			}
			end(t, st, k)
			if name == "by its time" {
				clock = now.Add(time.Hour)
			}
			if _, err := g.Authenticate(t.Context(), text); !errors.Is(err, access.ErrUnauthenticated) {
				t.Errorf("got %v, want ErrUnauthenticated", err)
			}
			if _, err := g.Authenticate(t.Context(), other); err != nil {
				t.Errorf("the other key: %v", err)
			}
		})
	}
}

func revoke(t *testing.T, st earshot.Store, what string) {
	t.Helper()
	if err := access.RevokeKey(t.Context(), st, what); err != nil {
		t.Fatal(err)
	}
	if err := access.RevokeKey(t.Context(), st, what); !errors.Is(err, earshot.ErrNotFound) {
		t.Errorf("revoked again: got %v, want ErrNotFound", err)
	}
}

func TestChannelsOfAKeyAreOfOneWorkspace(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		workspaces []earshot.WorkspaceID
		channels   []earshot.ChannelID
		want       []earshot.WorkspaceID
		ambiguous  []earshot.WorkspaceID
	}{
		{name: "one that is stored once", channels: []earshot.ChannelID{"C1"}, want: []earshot.WorkspaceID{"T1"}},
		{name: "one that is not stored", channels: []earshot.ChannelID{"C9"}},
		{name: "a stored one and one that is not", channels: []earshot.ChannelID{"C9", "C1"}, want: []earshot.WorkspaceID{"T1"}},
		{name: "one that two workspaces have", channels: []earshot.ChannelID{"C2"}, ambiguous: []earshot.WorkspaceID{"T1", "T2"}},
		{name: "two of different workspaces", channels: []earshot.ChannelID{"C1", "C3"}, ambiguous: []earshot.WorkspaceID{"T1", "T2"}},
		{name: "two with their workspaces", channels: []earshot.ChannelID{"C1", "C2"}, workspaces: []earshot.WorkspaceID{"T2"}, want: []earshot.WorkspaceID{"T2"}},
		{name: "none"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			st := openStore(t)
			putChannels(t, st, "T1/C1", "T1/C2", "T2/C2", "T2/C3")
			_, k, err := access.CreateKey(t.Context(), st, access.KeySpec{Name: "bot", Workspaces: tt.workspaces, Channels: tt.channels})
			var many *access.AmbiguousError
			if errors.As(err, &many) {
				if diff := cmp.Diff(many.Workspaces, tt.ambiguous); diff != "" {
					t.Errorf("-got +want:\n%s", diff)
				}
				if list, _ := access.Keys(t.Context(), st); len(list) > 0 {
					t.Errorf("%d keys were made", len(list))
				}
				return
			}
			if diff := cmp.Diff(k.Reach.Workspaces, tt.want); diff != "" || err != nil || tt.ambiguous != nil {
				t.Errorf("got %v (-got +want):\n%s", err, diff)
			}
		})
	}
}

// A key that another process ends is refused by one that is running, from its next
// request on.
func TestAKeyThatAnotherProcessRevokesIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	spec := "sqlite:" + filepath.Join(t.TempDir(), "shared.db")
	var open [2]earshot.Store
	for n := range open {
		st, err := store.Open(t.Context(), spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { st.Close() })
		open[n] = st
	}
	g := openGate(t, open[0], access.Options{})
	key, _ := createKey(t, open[1], access.KeySpec{Name: "bot"})
	capability := mint(t, g, authenticate(t, g, key), access.CapabilityScope{Scope: c1})
	authenticate(t, g, capability)
	revoke(t, open[1], "bot")
	for _, token := range []string{key, capability} {
		if _, err := g.Authenticate(t.Context(), token); !errors.Is(err, access.ErrUnauthenticated) {
			t.Errorf("got %v, want ErrUnauthenticated", err)
		}
	}
}

func TestOfKeysThatAreMadeTogetherAtMostOneHasTheName(t *testing.T) {
	t.Parallel()
	for range 20 {
		st := openStore(t)
		var made atomic.Int32
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if _, _, err := access.CreateKey(t.Context(), st, access.KeySpec{Name: "bot"}); err == nil {
					made.Add(1)
				} else if !errors.Is(err, earshot.ErrConflict) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		list, err := access.Keys(t.Context(), st)
		if n := int(made.Load()); err != nil || n > 1 || n != len(list) {
			t.Fatalf("got %d keys, %d are stored (%v), want one or none", n, len(list), err)
		}
	}
}
