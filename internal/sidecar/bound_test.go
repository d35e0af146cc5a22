package sidecar_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/access"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

// crowded is a store with many channels, a hundred in each workspace but the first,
// which has the rest; one of them has a question.
func crowded(t testing.TB, n int) (*between, *sidecar.Service) {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	list := make([]earshot.Channel, n)
	for i := range list {
		w := earshot.WorkspaceID("T1")
		if i >= n/2 {
			w = earshot.WorkspaceID(fmt.Sprint("W", i/100))
		}
		list[i] = earshot.Channel{Platform: earshot.Slack, Workspace: w, ID: earshot.ChannelID(fmt.Sprint("C", i)), Name: fmt.Sprint("room-", i), Kind: earshot.KindChannel}
	}
	if err := st.(earshot.Bulk).PutChannels(t.Context(), list...); err != nil {
		t.Fatal(err)
	}
	at := list[7].Scope()
	if _, err := st.Record(t.Context(), at, earshot.Message{ID: "q", Time: 1_772_442_000_000_000, Author: alice, Text: "<@U0BOT> why?"}); err != nil {
		t.Fatal(err)
	}
	b := &between{Store: st}
	return b, sidecar.New(b, search.New(b, nil), nil, sidecar.Options{})
}

// asked are what callers of a sidecar ask for that has to do with channels.
var asks = map[string]func(context.Context, *sidecar.Service, access.Principal) error{
	"a context": func(ctx context.Context, s *sidecar.Service, p access.Principal) error {
		_, err := s.Context(ctx, p, sidecar.ContextRequest{Channel: sidecar.Place{Channel: "C7"}, Anchor: "q", Agent: "U0BOT", Open: true})
		return err
	},
	"an event": func(ctx context.Context, s *sidecar.Service, p access.Principal) error {
		_, err := s.Events(ctx, p, []sidecar.Event{{Type: sidecar.Said, Channel: earshot.Channel{ID: "C7"}, Message: earshot.Message{ID: "e", Time: 1_772_442_000_000_000, Author: alice, Text: "so"}}})
		return err
	},
	"an event in a new channel": func(ctx context.Context, s *sidecar.Service, p access.Principal) error {
		_, err := s.Events(ctx, p, []sidecar.Event{{Type: sidecar.Said, Channel: earshot.Channel{ID: "new", Workspace: "T1"}, Message: earshot.Message{ID: "e", Time: 1_772_442_000_000_000, Author: alice, Text: "so"}}})
		return err
	},
	"a channel": func(ctx context.Context, s *sidecar.Service, p access.Principal) error {
		_, err := s.ChannelInfo(ctx, p, sidecar.Place{Channel: "C7"})
		return err
	},
	"a channel by its whole name": func(ctx context.Context, s *sidecar.Service, p access.Principal) error {
		_, err := s.Resolve(ctx, p, sidecar.Place{Channel: "C7", Workspace: "T1", Platform: earshot.Slack})
		return err
	},
	"a channel by what it is called": func(ctx context.Context, s *sidecar.Service, p access.Principal) error {
		_, err := s.Find(ctx, p, sidecar.Place{Channel: "#ROOM-7"})
		return err
	},
	"a page of channels": func(ctx context.Context, s *sidecar.Service, p access.Principal) error {
		_, _, err := s.ChannelsAfter(ctx, p, &earshot.Channel{Platform: earshot.Slack, Workspace: "T1", Name: "room-4"}, 100)
		return err
	},
	"the channels that were active last": func(ctx context.Context, s *sidecar.Service, p access.Principal) error {
		_, _, err := s.RecentChannels(ctx, p, 500)
		return err
	},
	"what is known of channels": func(ctx context.Context, s *sidecar.Service, p access.Principal) error {
		_, _, err := s.Coverages(ctx, p, nil, 25)
		return err
	},
	"what is known of one": func(ctx context.Context, s *sidecar.Service, p access.Principal) error {
		_, err := s.Coverage(ctx, p, sidecar.Place{Channel: "room-7"})
		return err
	},
	"turns": func(ctx context.Context, s *sidecar.Service, p access.Principal) error {
		_, _, err := s.Turns(ctx, p, sidecar.TurnQuery{Channel: sidecar.Place{Channel: "C7"}})
		return err
	},
	"an agent": func(ctx context.Context, s *sidecar.Service, p access.Principal) error {
		_, err := s.PutAgent(ctx, p, sidecar.Agent{Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"}, Workspace: "T1"})
		return err
	},
	"names of people": func(ctx context.Context, s *sidecar.Service, p access.Principal) error {
		_, err := s.PutAuthors(ctx, p, "T1", "", []earshot.Author{alice})
		return err
	},
	"a conversation": func(ctx context.Context, s *sidecar.Service, p access.Principal) error {
		_, _, err := s.CreateConversation(ctx, p, sidecar.NewConversation{Client: "web", Agent: "U0BOT", Metadata: []byte(`{"channel_id": "elsewhere", "workspace_id": "T1"}`)})
		return err
	},
}

// TestAmongManyChannelsOneCostsAsMuchAsAmongFew counts the calls of the store and the
// channels that they return, for each thing that callers ask for: among 100,000
// channels they are as many as among 2,000, and few.
func TestAmongManyChannelsOneCostsAsMuchAsAmongFew(t *testing.T) {
	t.Parallel()
	few, fewService := crowded(t, 2_000)
	many, manyService := crowded(t, 100_000)
	callers := map[string]access.Principal{
		"everywhere":     everyone,
		"in a workspace": {ID: "key:one", Kind: access.Key, Reach: access.Reach{Workspaces: []earshot.WorkspaceID{"T1"}}},
		"in channels":    {ID: "key:two", Kind: access.Key, Reach: access.Reach{Workspaces: []earshot.WorkspaceID{"T1"}, Channels: []earshot.ChannelID{"C7", "C8", "new", "elsewhere"}}},
		"a user":         user("u1"),
	}
	for as, p := range callers {
		for what, ask := range asks {
			cost := func(b *between, s *sidecar.Service) (calls, rows int) {
				if _, err := s.PutAgent(t.Context(), everyone, sidecar.Agent{Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"}, Workspace: "T1"}); err != nil {
					t.Fatal(err)
				}
				b.from(0, nil)
				if err := ask(t.Context(), s, p); err != nil {
					if r, ok := sidecar.AsRefusal(err); !ok || r.Kind != sidecar.Forbidden {
						t.Errorf("%s, %s: %v", what, as, err)
					}
				}
				calls, _ = b.called()
				return calls, b.rows
			}
			calls, rows := cost(few, fewService)
			calls2, rows2 := cost(many, manyService)
			if calls2 > calls+1 || rows2 > rows+1 || calls2 > 40 || rows2 > 501 {
				t.Errorf("%s, %s: %d calls that return %d channels among 100,000; %d and %d among 2,000", what, as, calls2, rows2, calls, rows)
			}
		}
	}
}

// BenchmarkResolve looks up a channel that is named by its id among many.
func BenchmarkResolve(b *testing.B) {
	for _, n := range []int{20_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path := b.TempDir() + "/x.db"
			st, err := store.Open(b.Context(), path, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer st.Close()
			list := make([]earshot.Channel, n)
			for i := range list {
				list[i] = earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: earshot.ChannelID(fmt.Sprint("C", i)), Name: fmt.Sprint("room-", i), Kind: earshot.KindChannel}
			}
			if err := st.(earshot.Bulk).PutChannels(b.Context(), list...); err != nil {
				b.Fatal(err)
			}
			s := sidecar.New(st, search.New(st, nil), nil, sidecar.Options{})
			for name, do := range map[string]func() error{
				"id":   func() error { _, err := s.Resolve(b.Context(), everyone, sidecar.Place{Channel: "C7"}); return err },
				"name": func() error { _, err := s.Find(b.Context(), everyone, sidecar.Place{Channel: "room-7"}); return err },
				"page": func() error { _, _, err := s.ChannelsAfter(b.Context(), everyone, nil, 100); return err },
				"list": func() error { _, err := s.Channels(b.Context(), everyone); return err },
			} {
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						if err := do(); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		})
	}
}
