package store_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/store/storetest"
)

func bounded(t interface {
	Helper()
	Fatal(...any)
	Cleanup(func())
}, conversations, messages int) earshot.Store {
	t.Helper()
	s, err := store.Open(context.Background(), "memory:", &store.Options{Memory: &store.MemoryLimits{Conversations: conversations, Messages: messages}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestABoundThatIsNotReachedChangesNothing(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) earshot.Store { return bounded(t, 1<<30, 1<<30) })
}

func TestOnlyAStoreInMemoryIsBounded(t *testing.T) {
	t.Parallel()
	_, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"), &store.Options{Memory: &store.MemoryLimits{}})
	if !errors.Is(err, earshot.ErrInvalid) {
		t.Errorf("got %v, want ErrInvalid", err)
	}
}

func scopeOf(n int) earshot.Scope {
	return earshot.Scope{Platform: "p", Workspace: "w", Channel: earshot.ChannelID(fmt.Sprint("c", n))}
}

func word(id string, at int, thread, text string) earshot.Message {
	return earshot.Message{ID: earshot.MessageID(id), Time: earshot.Time(at), Thread: earshot.MessageID(thread), Text: text,
		Author: earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}}
}

// A boundModel is a bounded store as its documentation says it, with no care for
// speed.
type boundModel struct {
	conversations, messages int

	order []place // the most recently used first
	live  map[place][]earshot.Message
	asked map[earshot.Scope]map[earshot.MessageID]bool // of unfinished turns
	dead  map[earshot.Scope]map[earshot.MessageID]bool // tombstones
}

type place struct {
	scope earshot.Scope
	root  earshot.MessageID
}

func (m *boundModel) use(p place) {
	m.order = slices.Insert(slices.DeleteFunc(m.order, func(q place) bool { return q == p }), 0, p)
}

func (m *boundModel) kept(p place, id earshot.MessageID) bool {
	return m.asked[p.scope][id] || len(m.live[place{p.scope, id}]) > 0
}

// evict removes the n oldest that are not kept.
func (m *boundModel) evict(p place, n int) {
	slices.SortFunc(m.live[p], func(a, b earshot.Message) int { return a.Position().Compare(b.Position()) })
	m.live[p] = slices.DeleteFunc(m.live[p], func(x earshot.Message) bool {
		if n <= 0 || m.kept(p, x.ID) {
			return false
		}
		n--
		return true
	})
}

func (m *boundModel) record(p place, x earshot.Message) {
	if m.dead[p.scope][x.ID] {
		return
	}
	m.live[p] = append(slices.DeleteFunc(m.live[p], func(y earshot.Message) bool { return y.ID == x.ID }), x)
	m.use(p)
	m.evict(p, len(m.live[p])-m.messages)
	for len(m.order) > m.conversations {
		last := m.order[len(m.order)-1]
		m.order = m.order[:len(m.order)-1]
		m.evict(last, len(m.live[last]))
	}
}

func TestABoundedStoreIsWhatItsModelIs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := &boundModel{
			conversations: rapid.IntRange(1, 4).Draw(t, "conversations"), messages: rapid.IntRange(1, 5).Draw(t, "messages"),
			live: map[place][]earshot.Message{}, asked: map[earshot.Scope]map[earshot.MessageID]bool{}, dead: map[earshot.Scope]map[earshot.MessageID]bool{},
		}
		s, err := store.Open(context.Background(), "memory:", &store.Options{Memory: &store.MemoryLimits{Conversations: m.conversations, Messages: m.messages}})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		ctx := context.Background()
		searcher := search.New(s, nil)
		known := map[place]map[earshot.MessageID]bool{} // every id that was recorded, by place
		for n := range rapid.IntRange(1, 60).Draw(t, "steps") {
			scope := scopeOf(rapid.IntRange(0, 1).Draw(t, "channel"))
			root := ""
			if r := rapid.IntRange(-2, 3).Draw(t, "thread"); r >= 0 {
				root = fmt.Sprint("r", r)
			}
			p := place{scope, earshot.MessageID(root)}
			id := fmt.Sprint("m", n)
			if root == "" && rapid.Bool().Draw(t, "a root") {
				id = fmt.Sprint("r", rapid.IntRange(0, 3).Draw(t, "which"))
			}
			x := word(id, rapid.IntRange(1, 40).Draw(t, "time"), root, "apple")
			switch {
			case id[0] == 'r':
				x.Time = 20 // the same message, recorded again
			case root != "":
				x.Time += 20 // after its root
			}
			switch rapid.SampledFrom([]string{"record", "record", "record", "ask", "read", "delete"}).Draw(t, "what") {
			case "read":
				if _, err := s.Newest(ctx, scope, earshot.ThreadOf(p.root), earshot.Position{}, 1); err != nil {
					t.Fatal(err)
				}
				if slices.Contains(m.order, p) {
					m.use(p)
				}
				continue
			case "delete":
				if _, err := s.Record(ctx, scope, earshot.Message{ID: x.ID, Time: x.Time, Deleted: true}); err != nil {
					t.Fatal(err)
				}
				if m.dead[scope] == nil {
					m.dead[scope] = map[earshot.MessageID]bool{}
				}
				m.dead[scope][x.ID] = true
				delete(m.asked[scope], x.ID)
				for q := range m.live {
					if q.scope == scope {
						m.live[q] = slices.DeleteFunc(m.live[q], func(y earshot.Message) bool { return y.ID == x.ID })
					}
				}
			case "ask":
				if _, err := s.Accept(ctx, scope, earshot.Event{Message: x}, &earshot.ConversationID{Agent: "A", Scope: scope, Name: string(x.ID)}); err != nil {
					t.Fatal(err)
				}
				stored := slices.ContainsFunc(m.live[p], func(y earshot.Message) bool { return y.ID == x.ID })
				if m.asked[scope] == nil {
					m.asked[scope] = map[earshot.MessageID]bool{}
				}
				if !m.dead[scope][x.ID] {
					m.asked[scope][x.ID] = true
				}
				if !stored {
					m.record(p, x)
				}
			default:
				if _, err := s.Record(ctx, scope, x); err != nil {
					t.Fatal(err)
				}
				if !slices.ContainsFunc(m.live[p], func(y earshot.Message) bool { return y.ID == x.ID }) {
					m.record(p, x)
				}
			}
			if known[p] == nil {
				known[p] = map[earshot.MessageID]bool{}
			}
			known[p][x.ID] = true
			for q, ids := range known {
				same(ctx, t, s, m, q, ids)
			}
			hits, err := searcher.Search(ctx, scope, search.Query{Text: "apple", Limit: 100})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for q, list := range m.live {
				if q.scope == scope {
					n += len(list)
				}
			}
			if len(hits) > n || n > 0 && len(hits) == 0 {
				t.Fatalf("search found %d of %d messages", len(hits), n)
			}
		}
	})
}

// same compares what is stored of a conversation with the model. It reads by id,
// which is no use of the conversation.
func same(ctx context.Context, t *rapid.T, s earshot.Store, m *boundModel, p place, ids map[earshot.MessageID]bool) {
	var all, want, got []earshot.MessageID
	for id := range ids {
		all = append(all, id)
	}
	for _, x := range m.live[p] {
		want = append(want, x.ID)
	}
	list, err := s.ByID(ctx, p.scope, all...)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range list {
		if !x.Deleted {
			got = append(got, x.ID)
		}
	}
	slices.SortFunc(got, cmp.Compare[earshot.MessageID])
	slices.SortFunc(want, cmp.Compare[earshot.MessageID])
	if diff := gocmp.Diff(got, want); diff != "" {
		t.Fatalf("%v: -got +want:\n%s", p, diff)
	}
	if len(got) < len(all) && !evicted(ctx, t, s, p, m, all) {
		t.Fatalf("%v: messages were evicted, and coverage does not say so", p)
	}
}

// evicted reports whether coverage says that history of the conversation, or of its
// channel, is missing, or nothing was evicted.
func evicted(ctx context.Context, t *rapid.T, s earshot.Store, p place, m *boundModel, ids []earshot.MessageID) bool {
	lost := false
	for _, id := range ids {
		if !m.dead[p.scope][id] && !slices.ContainsFunc(m.live[p], func(x earshot.Message) bool { return x.ID == id }) {
			lost = true
		}
	}
	if !lost || len(m.live[p]) == 0 {
		return true // nothing to answer in: a thread is told of its gap when it is used again
	}
	list, err := s.Coverage(ctx, p.scope)
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(list, func(c earshot.Coverage) bool { return c.Thread == p.root && c.State == earshot.Missing })
}

func TestWhatASessionShowsIsNotEvicted(t *testing.T) {
	t.Parallel()
	s := bounded(t, 2, 2)
	scope := scopeOf(0)
	id := earshot.ConversationID{Agent: "A", Scope: scope, Name: "top"}
	record := func(list ...earshot.Message) {
		if _, err := s.Record(t.Context(), scope, list...); err != nil {
			t.Fatal(err)
		}
	}
	record(word("m1", 1, "", "shown"))
	if _, _, err := s.OpenConversation(t.Context(), id, ""); err != nil {
		t.Fatal(err)
	}
	turn := earshot.Turn{Answer: earshot.Answer{Anchor: "m1"}, Session: []earshot.SessionEntry{{Role: earshot.User, Text: "shown"}}}
	if _, err := s.CommitTurn(t.Context(), id, turn); err != nil {
		t.Fatal(err)
	}
	for i := 2; i < 9; i++ {
		record(word(fmt.Sprint("m", i), i, "", "more"))
	}
	if _, err := s.Message(t.Context(), scope, "m1"); err != nil {
		t.Errorf("got %v, want what the session shows", err)
	}
	turn = earshot.Turn{Answer: earshot.Answer{Anchor: "m8"}, Epoch: 1}
	if _, err := s.CommitTurn(t.Context(), id, turn); err != nil {
		t.Fatal(err)
	}
	record(word("m9", 9, "", "more"))
	if _, err := s.Message(t.Context(), scope, "m1"); !errors.Is(err, earshot.ErrNotFound) {
		t.Errorf("got %v, want it evicted after its epoch", err)
	}
}

func TestATombstoneOutlivesItsConversation(t *testing.T) {
	t.Parallel()
	s := bounded(t, 1, 1)
	gone := word("m1", 1, "", "secret")
	for _, m := range []earshot.Message{gone, {ID: "m1", Time: 1, Deleted: true}, word("m2", 2, "", "x"), word("m3", 3, "", "y")} {
		if _, err := s.Record(t.Context(), scopeOf(0), m); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Record(t.Context(), scopeOf(1), word("m1", 4, "", "elsewhere")); err != nil {
		t.Fatal(err)
	}
	out, err := s.Record(t.Context(), scopeOf(0), gone)
	if err != nil || out[0].Change != earshot.Same {
		t.Errorf("got %v, %v, want the deleted message to stay deleted", out, err)
	}
}

func TestABoundedStoreIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	s := bounded(t, 4, 8)
	searcher := search.New(s, nil)
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 200 {
				scope, root := scopeOf(i%3), ""
				if i%2 == 0 {
					root = fmt.Sprint("r", w)
				}
				_, err := s.Record(t.Context(), scope, word(fmt.Sprintf("m%d-%d", w, i), i+1, root, "apple pear"))
				if err == nil {
					_, err = s.Newest(t.Context(), scope, earshot.ThreadOf(earshot.MessageID(root)), earshot.Position{}, 5)
				}
				if err == nil && i%20 == 0 {
					_, err = searcher.Search(t.Context(), scope, search.Query{Text: "pear"})
				}
				for _, e := range s.Range(t.Context(), scope, earshot.Whole(), earshot.Position{}, earshot.Position{}) {
					err = errors.Join(err, e)
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	total := 0
	for n := range 3 {
		c, err := s.Count(t.Context(), scopeOf(n), earshot.Whole(), earshot.Position{})
		if err != nil {
			t.Fatal(err)
		}
		total += c.Count
	}
	if total > 4*8 {
		t.Errorf("got %d messages, want at most 32", total)
	}
}

// The cost of a message does not grow with how many were evicted before it.
func BenchmarkBoundedRecord(b *testing.B) {
	s := bounded(b, 500, 500)
	for i := 0; b.Loop(); i++ {
		if _, err := s.Record(b.Context(), scopeOf(i%1000), word(fmt.Sprint("m", i), i+1, "", "a message of a few words")); err != nil {
			b.Fatal(err)
		}
	}
}

// A channel that is joined with another one keeps within the bounds, says what both have
// lost, and search loses what is evicted then.
func TestTwoChannelsOfABoundedStoreAreJoinedWithinItsBounds(t *testing.T) {
	t.Parallel()
	st := bounded(t, 10, 3)
	from, to := scopeOf(1), scopeOf(2)
	for n := range 5 {
		for c, s := range []earshot.Scope{from, to} {
			if _, err := st.Record(t.Context(), s, word(fmt.Sprintf("m%d%d", c, n), 1+100*c+n, "", "harbour")); err != nil {
				t.Fatal(err)
			}
		}
	}
	finder := search.New(st, nil)
	found := func() (out []earshot.MessageID) {
		t.Helper()
		hits, err := finder.Search(t.Context(), to, search.Query{Text: "harbour", Limit: 20})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hits {
			out = append(out, h.ID)
		}
		slices.Sort(out)
		return out
	}
	newest := []earshot.MessageID{"m12", "m13", "m14"}
	if got := found(); !slices.Equal(got, newest) {
		t.Errorf("before: %v", got)
	}
	if err := st.MoveChannel(t.Context(), from, to.Channel); err != nil {
		t.Fatal(err)
	}
	list, err := st.Newest(t.Context(), to, earshot.ChannelPart{}, earshot.Position{}, 20)
	if err != nil {
		t.Fatal(err)
	}
	var kept []earshot.MessageID
	for _, m := range list {
		kept = append(kept, m.ID)
	}
	if got := found(); !slices.Equal(kept, newest) || !slices.Equal(got, newest) {
		t.Errorf("kept %v, found %v, want %v", kept, got, newest)
	}
	gaps, err := st.Coverage(t.Context(), to)
	if err != nil || len(gaps) != 1 || gaps[0].State != earshot.Missing || gaps[0].To != 102 {
		t.Errorf("coverage %+v, %v, want missing up to 102", gaps, err)
	}
}
