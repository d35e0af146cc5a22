package rule

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
)

// The databases' indexes have these conditions as text, so they are written
// twice: as Go and as SQL.
func TestTheConditionsInSQLAreThoseInGo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sql string
		so  func(earshot.TurnState) bool
	}{
		{UnfinishedSQL, InLine}, {BegunSQL, HasBegun}, {BusySQL, IsAnswering},
		{FinalSQL, earshot.TurnState.Final},
		{RefusedSQL, func(s earshot.TurnState) bool { return s == earshot.TurnRefused }},
		{UnmergedSQL, func(s earshot.TurnState) bool {
			_, ok := ReopenMerged(StoredTurn{QueuedTurn: earshot.QueuedTurn{State: s, Why: AnsweredWith(7)}}, 7, 1)
			return ok
		}},
		{ReleasedSQL, func(s earshot.TurnState) bool {
			return StoredTurn{QueuedTurn: earshot.QueuedTurn{State: s}}.Released().State != s
		}},
	} {
		for _, s := range earshot.TurnStates() {
			if got, want := strings.Contains(c.sql, "'"+string(s)+"'"), c.so(s); got != want {
				t.Errorf("%s is in %s: %v, want %v", s, c.sql, got, want)
			}
		}
	}
}

func TestASummaryThatIsDroppedTakesAlongWhatMayHaveReadIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		x        SummaryState
		from, to int
	}{
		{"made in an earlier epoch", SummaryState{Since: 2, Epoch: 5}, 2, 5},
		{"made in this one", SummaryState{Since: 5, Epoch: 5}, 5, 5},
	} {
		if from, to := c.x.Dropped(); from != c.from || to != c.to {
			t.Errorf("%s: got %d to %d, want %d to %d", c.name, from, to, c.from, c.to)
		}
	}
}

func TestLongTurnsCountAsSeveral(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5*weighing)
	for _, c := range []struct {
		name  string
		turn  earshot.Turn
		first bool
		want  int
	}{
		{"no text is kept", earshot.Turn{}, false, 1},
		{"a short one", earshot.Turn{Session: []earshot.SessionEntry{{Role: earshot.User, Text: "x"}}}, false, 1},
		{"a long question", earshot.Turn{Session: []earshot.SessionEntry{{Role: earshot.User, Text: long}}}, false, 5},
		{"the first prompt of an epoch repeats", earshot.Turn{Session: []earshot.SessionEntry{{Role: earshot.User, Text: long}}}, true, 1},
		{"its answer does not", earshot.Turn{Session: []earshot.SessionEntry{{Role: earshot.User, Text: long}, {Role: earshot.Assistant, Text: long}}}, true, 5},
		{"what a tool returned", earshot.Turn{Session: []earshot.SessionEntry{{Role: earshot.ToolRole, Text: long}}}, false, 1},
	} {
		if got := Weight(c.turn, c.first); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

// Posts of one step are decided one after another, as if each had been written
// before the next.
func TestPostsOfOneStepSeeOneAnother(t *testing.T) {
	t.Parallel()
	h := LeasedTurn{
		Lease: earshot.Lease{Owner: "me", Fence: 1}, Stored: StoredLease{Owner: "me", Fence: 1, Lowest: 3}, ID: 3, Now: 9,
		Turn: StoredTurn{QueuedTurn: earshot.QueuedTurn{ID: 3, State: earshot.TurnGenerating}},
	}
	post := func(chunk int, key string, state earshot.PostState) earshot.Post {
		p := earshot.Post{Turn: 3, Chunk: chunk, Key: key, State: state}
		if state == earshot.PostSent {
			p.Message = "r"
		}
		return p
	}
	stored := post(0, "a", earshot.PostPlanned)
	for _, c := range []struct {
		name string
		puts []PostCall
		want []string // keys that are written
		err  error
	}{
		{"one key for two chunks", []PostCall{{Post: post(0, "a", earshot.PostPlanned)}, {Post: post(1, "a", earshot.PostPlanned)}}, nil, earshot.ErrConflict},
		{"a key that the one before gave up", []PostCall{
			{Post: post(0, "b", earshot.PostPlanned), Stored: &stored}, {Post: post(1, "a", earshot.PostPlanned), Keyed: &stored},
		}, []string{"b", "a"}, nil},
		{"the same post twice", []PostCall{{Post: post(0, "a", earshot.PostPlanned)}, {Post: post(0, "a", earshot.PostPlanned)}}, []string{"a"}, nil},
		{"sent, then planned again", []PostCall{{Post: post(0, "a", earshot.PostSent)}, {Post: post(0, "a", earshot.PostPlanned)}}, nil, earshot.ErrConflict},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := AddStep(h, earshot.Step{N: 0}, 1, false, c.puts...)
			if !errors.Is(err, c.err) || c.err == nil && err != nil {
				t.Fatalf("got %v, want %v", err, c.err)
			}
			var keys []string
			for _, p := range got.Posts {
				keys = append(keys, p.Key)
			}
			if !slices.Equal(keys, c.want) {
				t.Errorf("wrote %v, want %v", keys, c.want)
			}
		})
	}
}
