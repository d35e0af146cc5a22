package access_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

var c1 = earshot.Scope{Platform: "slack", Workspace: "T1", Channel: "C1"}

// fixed is what the tests' capabilities are for.
func fixed() access.CapabilityScope {
	return access.CapabilityScope{
		Scope:        c1,
		Conversation: earshot.ConversationID{Agent: "bot", Scope: c1, Name: "1773154325.646159"},
		At:           earshot.Position{Time: 1773154325646159, ID: "1773154325.646159"},
		Expires:      earshot.TimeOf(testNow.Add(15 * time.Minute)),
	}
}

// authenticate returns the principal of a token that must be valid.
func authenticate(t testing.TB, g *access.Gate, token string) access.Principal {
	t.Helper()
	p, err := g.Authenticate(t.Context(), token)
	if err != nil {
		t.Fatalf("%v: %v", err, errors.Unwrap(err))
	}
	return p
}

func mint(t testing.TB, g *access.Gate, p access.Principal, f access.CapabilityScope) string {
	t.Helper()
	token, err := g.Mint(t.Context(), p, f)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestACapabilityIsItsOwnerForOneChannel(t *testing.T) {
	t.Parallel()
	s, st := newOIDC(t), openStore(t)
	g := openGate(t, st, s.options())
	key, k := createKey(t, st, access.KeySpec{Name: "bot", Workspaces: []earshot.WorkspaceID{"T1"}})
	for name, tt := range map[string]struct {
		of   access.Principal
		want access.Principal
	}{
		"a key":     {authenticate(t, g, key), access.Principal{ID: "key:" + k.ID, Name: "bot"}},
		"a user":    {authenticate(t, g, s.rawActor(`{"sub":"app"}`)), access.Principal{ID: "user:" + s.URL + " alice", Name: "alice", Subject: "alice", Actor: "app"}},
		"the local": {access.Principal{ID: "local", Name: "desk", Kind: access.Local}, access.Principal{ID: "local", Name: "desk"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fixed()
			if name == "a user" { // whose token ends first
				f.Expires = earshot.TimeOf(testNow.Add(10 * time.Minute))
			}
			got := authenticate(t, g, mint(t, g, tt.of, fixed()))
			want := tt.want
			want.Kind, want.ReadOnly, want.Fixed, want.Expires = access.Capability, true, &f, f.Expires
			want.Reach = access.Reach{Workspaces: []earshot.WorkspaceID{"T1"}, Channels: []earshot.ChannelID{"C1"}}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("-got +want:\n%s", diff)
			}
			for _, other := range []earshot.Scope{{Platform: "slack", Workspace: "T1", Channel: "C2"}, {Platform: "slack", Workspace: "T2", Channel: "C1"}, {Platform: "discord", Workspace: "T1", Channel: "C1"}, {}} {
				if got.Sees(other) {
					t.Errorf("it sees %v", other)
				}
			}
			if !got.Sees(c1) {
				t.Error("it does not see its channel")
			}
		})
	}
}

func TestACapabilityIsNotMadeForWhomIsNotAllowed(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	g := openGate(t, st, access.Options{Now: func() time.Time { return testNow }})
	_, k := createKey(t, st, access.KeySpec{Name: "bot"})
	owner := access.Principal{ID: "key:" + k.ID, Kind: access.Key, Reach: access.Reach{Workspaces: []earshot.WorkspaceID{"T1"}, Channels: []earshot.ChannelID{"C1", "C2"}}}
	of := authenticate(t, g, mint(t, g, owner, fixed()))
	for name, tt := range map[string]struct {
		p      access.Principal
		change func(*access.CapabilityScope)
		want   error
	}{
		"a foreign channel":       {owner, func(f *access.CapabilityScope) { f.Scope.Channel, f.Conversation = "C3", earshot.ConversationID{} }, access.ErrForbidden},
		"a foreign workspace":     {owner, func(f *access.CapabilityScope) { f.Scope.Workspace, f.Conversation = "T2", earshot.ConversationID{} }, access.ErrForbidden},
		"no channel":              {access.Principal{ID: "local", Kind: access.Local}, func(f *access.CapabilityScope) { *f = access.CapabilityScope{} }, access.ErrForbidden},
		"a capability":            {of, func(*access.CapabilityScope) {}, access.ErrForbidden},
		"nobody":                  {access.Principal{}, func(*access.CapabilityScope) {}, access.ErrForbidden},
		"an unknown kind":         {access.Principal{Kind: "page"}, func(*access.CapabilityScope) {}, access.ErrForbidden},
		"a time that is over":     {owner, func(f *access.CapabilityScope) { f.Expires = earshot.TimeOf(testNow) }, earshot.ErrInvalid},
		"another's conversation":  {owner, func(f *access.CapabilityScope) { f.Conversation.Scope.Channel = "C2" }, earshot.ErrInvalid},
		"a name that is too long": {owner, func(f *access.CapabilityScope) { f.Conversation.Name = string(make([]byte, access.TokenBytes)) }, earshot.ErrInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := fixed()
			tt.change(&f)
			if token, err := g.Mint(t.Context(), tt.p, f); !errors.Is(err, tt.want) || token != "" {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestACapabilityEndsWithItsOwner(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		expires time.Duration // of the capability; 0: none asked for
		end     func(t *testing.T, st earshot.Store, clock *time.Time)
	}{
		"the key is revoked": {time.Hour, func(t *testing.T, st earshot.Store, _ *time.Time) { revoke(t, st, "bot") }},
		"the key expires":    {time.Hour, func(_ *testing.T, _ earshot.Store, clock *time.Time) { *clock = testNow.Add(30 * time.Minute) }},
		"it expires":         {5 * time.Minute, func(_ *testing.T, _ earshot.Store, clock *time.Time) { *clock = testNow.Add(5 * time.Minute) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, clock := openStore(t), time.Now() // CreateKey's clock is the machine's; the gate's starts there
			start := clock
			g := openGate(t, st, access.Options{Now: func() time.Time { return clock }})
			key, _ := createKey(t, st, access.KeySpec{Name: "bot", Expires: earshot.TimeOf(start.Add(30 * time.Minute))})
			f := fixed()
			f.Expires = earshot.TimeOf(start.Add(tt.expires))
			token := mint(t, g, authenticate(t, g, key), f)
			authenticate(t, g, token)
			shifted := testNow
			tt.end(t, st, &shifted)
			clock = start.Add(shifted.Sub(testNow))
			if _, err := g.Authenticate(t.Context(), token); !errors.Is(err, access.ErrUnauthenticated) {
				t.Errorf("got %v, want ErrUnauthenticated", err)
			}
		})
	}
}

func TestACapabilityLastsAnHourAtMost(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	g := openGate(t, st, access.Options{Now: func() time.Time { return testNow }})
	for _, asked := range []earshot.Time{0, earshot.TimeOf(testNow.Add(48 * time.Hour))} {
		f := fixed()
		f.Expires = asked
		got := authenticate(t, g, mint(t, g, access.Principal{ID: "local", Kind: access.Local}, f)).Expires
		if want := earshot.TimeOf(testNow.Add(time.Hour)); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
	}
}

func TestACapabilityOfAnotherIssuerIsVoid(t *testing.T) {
	t.Parallel()
	s, other, st := newOIDC(t), newOIDC(t), openStore(t)
	g := openGate(t, st, s.options())
	token := mint(t, g, authenticate(t, g, s.token(nil)), fixed())
	authenticate(t, g, token)
	for name, o := range map[string]access.Options{"another issuer": other.options(), "no issuer": {Now: other.options().Now}} {
		if _, err := openGate(t, st, o).Authenticate(t.Context(), token); !errors.Is(err, access.ErrUnauthenticated) {
			t.Errorf("%s: got %v, want ErrUnauthenticated", name, err)
		}
	}
}

// TestReplicasThatStartTogetherAcceptEachOthersCapabilities has many replicas make
// the secret of one store at the same time.
func TestReplicasThatStartTogetherAcceptEachOthersCapabilities(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	const replicas = 20
	gates, tokens := make([]*access.Gate, replicas), make([]string, replicas)
	var all, looked sync.WaitGroup
	looked.Add(replicas)
	for n := range replicas {
		gates[n] = openGate(t, &racingNotes{Store: st, looked: &looked}, access.Options{})
		all.Go(func() {
			tokens[n], _ = gates[n].Mint(t.Context(), access.Principal{ID: "local", Kind: access.Local}, access.CapabilityScope{Scope: c1})
		})
	}
	all.Wait()
	for n, token := range tokens {
		for m, g := range gates {
			if _, err := g.Authenticate(t.Context(), token); err != nil {
				t.Fatalf("replica %d refuses the capability of replica %d: %v", m, n, errors.Unwrap(err))
			}
		}
	}
	if _, err := openGate(t, openStore(t), access.Options{}).Authenticate(t.Context(), tokens[0]); !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("another store: got %v, want ErrUnauthenticated", err)
	}
}

// racingNotes lets nobody write before every replica has seen that there is nothing.
type racingNotes struct {
	earshot.Store
	looked *sync.WaitGroup // by all replicas
	once   sync.Once
}

func (s *racingNotes) Notes(ctx context.Context, prefix string, limit int) ([]earshot.Note, error) {
	list, err := s.Store.Notes(ctx, prefix, limit)
	s.once.Do(s.looked.Done)
	return list, err
}

func (s *racingNotes) PutNote(ctx context.Context, n earshot.Note) error {
	s.looked.Wait()
	return s.Store.PutNote(ctx, n)
}
