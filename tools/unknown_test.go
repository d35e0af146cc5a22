package tools_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/tools"
)

// fourteen is a thread of fourteen replies, of which the store has as many as
// stored; the platform has told how long it is. The anchor stands a day later.
func fourteen(t *testing.T, stored int) (st *teller, rest []earshot.Message, at earshot.Position) {
	t.Helper()
	root := earshot.Message{ID: "r", Time: began, Author: person("U1", "Alice"), Text: "release notes for 1.4?",
		Replies: &earshot.Activity{Count: 14, Last: began + 14*60*second}}
	all := []earshot.Message{root}
	for i := range 14 {
		all = append(all, earshot.Message{ID: earshot.MessageID(fmt.Sprintf("r%02d", i+1)), Time: began + earshot.Time(i+1)*60*second, Thread: "r",
			Author: person("U2", "Bob"), Text: fmt.Sprintf("step %d of the rollback", i+1)})
	}
	anchor := earshot.Message{ID: "q", Time: began + 86400*second, Author: person("U1", "Alice"), Text: "<@U0BOT> how do we roll back?"}
	st = telling(t, open(t), general, append(all[:1+stored:1+stored], anchor)...)
	return st, all[1+stored:], anchor.Position()
}

// A fetcher is a platform that has more than the store.
type fetcher struct {
	t     *testing.T
	st    *teller
	has   map[earshot.MessageID][]earshot.Message // by thread; "" is the top level
	calls []string
	err   error
}

func (f *fetcher) bring(s earshot.Scope, what earshot.MessageID, call string) error {
	f.calls = append(f.calls, call)
	if s != general {
		f.t.Errorf("it was asked for %v", s)
	}
	if f.err == nil && len(f.has[what]) > 0 {
		f.st.record(f.t, s, f.has[what]...)
	}
	return f.err
}

func (f *fetcher) FetchThread(_ context.Context, s earshot.Scope, root earshot.MessageID, _ earshot.Position) error {
	return f.bring(s, root, "thread "+string(root))
}

func (f *fetcher) FetchSince(_ context.Context, s earshot.Scope, since earshot.Time, _ earshot.Position) error {
	return f.bring(s, "", "since "+since.String())
}

func TestAThreadOfWhichOnlyTheRootIsStoredIsNotPassedOffAsWhole(t *testing.T) {
	t.Parallel()
	st, _, at := fourteen(t, 0)
	set := tools.ForChannel(general, st, tools.NewIndex(st, 0), at, nil)
	want := `{"schema_version":"1.0","thread_id":"r","root":{"message_id":"r","ts":"2026-03-02T09:00:00Z","author":{"user_id":"U1","display_name":"Alice","is_bot":false},"text":"release notes for 1.4?","is_truncated":false,"media":[]},` +
		`"replies":[],"truncation":{"total_replies":14,"included_replies":0,"strategy":"most_recent","omitted_range_ts":["2026-03-02T09:00:00Z","2026-03-02T09:14:00Z"]},` +
		`"coverage":{"missing":[{"from":"2026-03-02T09:00:00Z","to":"2026-03-02T09:14:00Z","thread_id":"r","state":"missing","messages":14}]}}`
	if diff := cmp.Diff(call(t, set, tools.ChannelMessages, `{"thread_id":"r"}`).JSON, want); diff != "" {
		t.Error(diff)
	}
	if got := call(t, set, tools.ChannelMessages, `{"message_ids":["r"]}`).JSON; !strings.Contains(got, `"thread_summary":{"reply_count":14,"last_reply_ts":"2026-03-02T09:14:00Z","participant_names":["Alice"]}`) {
		t.Errorf("the root alone does not tell of its replies: %s", got)
	}
}

func TestAThreadThatTheStoreLacksIsFetched(t *testing.T) {
	t.Parallel()
	for _, stored := range []int{0, 5} {
		st, rest, at := fourteen(t, stored)
		f := &fetcher{t: t, st: st, has: map[earshot.MessageID][]earshot.Message{"r": rest}}
		set := tools.ForChannel(general, st, tools.NewIndex(st, 0), at, &tools.Options{Fetcher: f})
		got := call(t, set, tools.ChannelMessages, `{"thread_id":"r"}`)
		if len(got.Shows) != 15 || !strings.Contains(got.JSON, `"truncation":{"total_replies":14,"included_replies":14,"strategy":"most_recent","omitted_range_ts":null},"coverage":{"missing":[]}}`) {
			t.Errorf("with %d stored: %s", stored, got.JSON)
		}
		if diff := cmp.Diff(f.calls, []string{"thread r"}); diff != "" {
			t.Error(diff)
		}
	}
}

func TestAThreadThatCannotBeFetchedIsSaidToBeMissing(t *testing.T) {
	t.Parallel()
	st, _, at := fourteen(t, 2)
	st.told["r"] = earshot.Message{} // the platform has not told how long it is
	f := &fetcher{t: t, st: st, err: errors.New("down")}
	set := tools.ForChannel(general, st, tools.NewIndex(st, 0), at, &tools.Options{Fetcher: f})
	got := call(t, set, tools.ChannelMessages, `{"thread_id":"r"}`).JSON
	if want := `"coverage":{"missing":[{"from":"2026-03-02T09:00:00Z","to":"2026-03-02T09:02:00Z","thread_id":"r","state":"missing"}]}}`; !strings.HasSuffix(got, want) {
		t.Errorf("after a failure: %s", got)
	}
	f.err = nil
	if err := st.PutCoverage(t.Context(), general,
		earshot.Coverage{Thread: "r", To: began + 90*second, State: earshot.Missing, Why: "a secret of the operator's"},
		earshot.Coverage{Thread: "r", From: began + 90*second, To: at.Time + 1, State: earshot.Stale},
		earshot.Coverage{Thread: "other", State: earshot.Missing}); err != nil {
		t.Fatal(err)
	}
	got = call(t, set, tools.ChannelMessages, `{"thread_id":"r"}`).JSON
	if want := `"coverage":{"missing":[{"from":"2026-03-02T09:01:30Z","to":"2026-03-03T09:00:00Z","thread_id":"r","state":"stale"},{"from":null,"to":"2026-03-02T09:01:30Z","thread_id":"r","state":"missing"}]}}`; !strings.HasSuffix(got, want) {
		t.Errorf("with coverage: %s", got)
	}
}

func TestAThreadThatIsNotThereIsNotAskedFor(t *testing.T) {
	t.Parallel()
	st, _, at := fourteen(t, 0)
	st.record(t, general, earshot.Message{ID: "later", Time: at.Time + 1, Author: person("U1", "Alice"), Text: "after the question"},
		earshot.Message{ID: "gone", Time: began, Deleted: true})
	f := &fetcher{t: t, st: st}
	set := tools.ForChannel(general, st, tools.NewIndex(st, 0), at, &tools.Options{Fetcher: f})
	for _, id := range []string{"nowhere", "later", "gone"} {
		if got := call(t, set, tools.ChannelMessages, `{"thread_id":"`+id+`"}`); got.JSON != notFound {
			t.Errorf("%s: %s", id, got.JSON)
		}
	}
	if len(f.calls) > 0 {
		t.Errorf("the platform was asked: %v", f.calls)
	}
}

func TestASearchOverUnreadThreadsDoesNotPassThemOffAsSearched(t *testing.T) {
	t.Parallel()
	st, rest, at := fourteen(t, 0)
	set := tools.ForChannel(general, st, tools.NewIndex(st, 0), at, nil)
	want := `{"results":[],"coverage":{"messages_scanned":1,"time_range":["2026-03-02T09:00:00Z","2026-03-02T09:00:00Z"],` +
		`"missing":[{"from":"2026-03-02T09:00:00Z","to":"2026-03-02T09:14:00Z","thread_id":"r","state":"missing","messages":14}]}}`
	if diff := cmp.Diff(call(t, set, tools.ChannelContext, `{"intent":"rollback"}`).JSON, want); diff != "" {
		t.Error(diff)
	}
	f := &fetcher{t: t, st: st, has: map[earshot.MessageID][]earshot.Message{"r": rest}}
	set = tools.ForChannel(general, st, tools.NewIndex(st, 0), at, &tools.Options{Fetcher: f})
	got := call(t, set, tools.ChannelContext, `{"intent":"rollback"}`)
	if len(got.Shows) != 8 || !strings.Contains(got.JSON, `"missing":[]`) || !strings.Contains(got.JSON, `"messages_scanned":15`) {
		t.Errorf("with a platform that has them: %s", got.JSON)
	}
	// What was fetched is not fetched again.
	call(t, set, tools.ChannelContext, `{"intent":"rollback"}`)
	if diff := cmp.Diff(f.calls, []string{"thread r"}); diff != "" {
		t.Error(diff)
	}
}

func TestASearchFetchesAFewThreadsAndNamesTheOthers(t *testing.T) {
	t.Parallel()
	st := telling(t, open(t), general)
	for i := range 12 {
		st.record(t, general, earshot.Message{ID: earshot.MessageID(fmt.Sprintf("r%02d", i)), Time: began + earshot.Time(i)*60*second, Author: person("U1", "Alice"),
			Text: "a thread", Replies: &earshot.Activity{Count: i + 1, Last: began + 3600*second}})
	}
	f := &fetcher{t: t, st: st}
	set := tools.ForChannel(general, st, tools.NewIndex(st, 0), earshot.Position{Time: began + 7200*second}, &tools.Options{Fetcher: f})
	got := call(t, set, tools.ChannelContext, `{"intent":"rollback"}`).JSON
	if diff := cmp.Diff(f.calls, []string{"thread r11", "thread r10", "thread r09"}); diff != "" {
		t.Error(diff)
	}
	if strings.Count(got, `"state":"missing"`) != 8 || !strings.Contains(got, `"more_missing":4`) {
		t.Errorf("got %s", got)
	}
}

func TestASearchSaysHowFarBackItLookedForUnreadThreads(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name            string
		roots, from, to int // of which those between have replies that are told of and stored
		since, want     string
	}{
		{"all threads are looked at", 900, 750, 900, "", ""},
		{"as many as can be", 900, 100, 900, "", `"threads_unchecked_before":"2026-03-02T09:11:39.000001Z"`},
		{"the asked ones were", 900, 100, 900, "2026-03-02T09:12:00Z", ""},
		{"in the newest of the channel", 1100, 1000, 1100, "", `"threads_unchecked_before":"2026-03-02T09:01:40Z"`},
		{"a platform that tells nothing", 1100, 0, 0, "", ""},
	} {
		st := telling(t, open(t), general)
		var list []earshot.Message
		for i := range c.roots {
			m := earshot.Message{ID: earshot.MessageID(fmt.Sprintf("r%04d", i)), Time: began + earshot.Time(i)*second, Author: person("U1", "Alice"), Text: "a thread"}
			reply := earshot.Message{ID: m.ID + "a", Time: m.Time + 1, Author: m.Author, Text: "a reply", Thread: m.ID}
			if list = append(list, m); i >= c.from && i < c.to {
				st.told[m.ID] = earshot.Message{Replies: &earshot.Activity{Count: 1, Last: reply.Time}}
				list = append(list, reply)
			}
		}
		record(t, st.Store, general, list...)
		set := tools.ForChannel(general, st, tools.NewIndex(st, 0), earshot.Position{}, nil)
		args := `{"intent":"rollback"}`
		if c.since != "" {
			args = `{"intent":"rollback","since":"` + c.since + `"}`
		}
		got := call(t, set, tools.ChannelContext, args).JSON
		if !strings.Contains(got, c.want) || strings.Contains(got, "unchecked") != (c.want != "") || !strings.Contains(got, `"missing":[]`) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

func TestAStretchThatTheStoreLacksIsFetched(t *testing.T) {
	t.Parallel()
	st, _, at := fourteen(t, 14)
	old := earshot.Message{ID: "old", Time: began - 86400*second, Author: person("U1", "Alice"), Text: "the rollback of January"}
	f := &fetcher{t: t, st: st, has: map[earshot.MessageID][]earshot.Message{"": {old}}}
	set := tools.ForChannel(general, st, tools.NewIndex(st, 0), at, &tools.Options{Fetcher: f})
	if got := call(t, set, tools.ChannelContext, `{"intent":"January","since":"2026-02-01"}`); len(got.Shows) != 1 {
		t.Errorf("got %s", got.JSON)
	}
	if got := call(t, set, tools.ChannelContext, `{"intent":"January"}`); len(got.Shows) != 1 {
		t.Errorf("got %s", got.JSON)
	}
	if diff := cmp.Diff(f.calls, []string{"since 2026-02-01T00:00:00Z"}); diff != "" {
		t.Error(diff)
	}
	f.err = errors.New("down")
	if got := call(t, set, tools.ChannelContext, `{"intent":"May","since":"2026-02-01"}`).JSON; !strings.Contains(got, `"missing":[{"from":"2026-02-01T00:00:00Z","to":"2026-03-03T09:00:00Z","state":"missing"}]`) {
		t.Errorf("after a failure: %s", got)
	}
}

func TestASearchSaysWhichStretchesAreNotKnown(t *testing.T) {
	t.Parallel()
	st, _, at := fourteen(t, 14)
	if err := st.PutCoverage(t.Context(), general,
		earshot.Coverage{To: began - 1, State: earshot.Missing, Why: "a secret of the operator's"},
		earshot.Coverage{From: began, To: began + 60*second, State: earshot.Stale},
		earshot.Coverage{From: began, State: earshot.Known},
		earshot.Coverage{From: at.Time + 1, State: earshot.Missing}); err != nil {
		t.Fatal(err)
	}
	set := tools.ForChannel(general, st, tools.NewIndex(st, 0), at, nil)
	for args, want := range map[string]string{
		`{"intent":"rollback"}`:                                  `"missing":[{"from":"2026-03-02T09:00:00Z","to":"2026-03-02T09:01:00Z","state":"stale"},{"from":null,"to":"2026-03-02T08:59:59.999999Z","state":"missing"}]}}`,
		`{"intent":"rollback","since":"2026-03-02T09:00:30Z"}`:   `"missing":[{"from":"2026-03-02T09:00:00Z","to":"2026-03-02T09:01:00Z","state":"stale"}]}}`,
		`{"intent":"rollback","since":"2026-03-02T10:00:30.5Z"}`: `"missing":[]}}`,
	} {
		if got := call(t, set, tools.ChannelContext, args).JSON; !strings.HasSuffix(got, want) {
			t.Errorf("%s: got %s, want %s", args, got, want)
		}
	}
}

func TestWhatIsKnownWholeIsNotMissing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		list    []earshot.Coverage
		missing bool
	}{
		{"nothing is said", nil, true},
		{"the thread was fetched", []earshot.Coverage{{Thread: "r", From: began, To: began + 3600*second, State: earshot.Known}}, false},
		{"in two parts", []earshot.Coverage{{Thread: "r", From: 1, To: began + 60*second, State: earshot.Known}, {Thread: "r", From: began + 60*second + 1, To: began + 3600*second, State: earshot.Known}}, false},
		{"with a hole", []earshot.Coverage{{Thread: "r", From: 1, To: began + 60*second, State: earshot.Known}, {Thread: "r", From: began + 70*second, To: began + 3600*second, State: earshot.Known}}, true},
		{"another thread was", []earshot.Coverage{{Thread: "x", From: began, To: began + 3600*second, State: earshot.Known}}, true},
		{"it was heard from its root", []earshot.Coverage{{From: began - 1, State: earshot.Known}}, false},
		{"it was heard from later on", []earshot.Coverage{{From: began + 1, State: earshot.Known}}, true},
		{"events may have been missed", []earshot.Coverage{{From: began - 1, State: earshot.Known}, {From: began + 60*second, To: began + 90*second, State: earshot.Known}}, true},
		{"before its root", []earshot.Coverage{{From: began - 100, State: earshot.Known}, {From: began - 80, To: began - 40, State: earshot.Known}}, false},
	} {
		st, _, at := fourteen(t, 13) // one was deleted since, and the platform's count is older
		if err := st.PutCoverage(t.Context(), general, c.list...); err != nil {
			t.Fatal(err)
		}
		set := tools.ForChannel(general, st, tools.NewIndex(st, 0), at, nil)
		got := call(t, set, tools.ChannelMessages, `{"thread_id":"r"}`).JSON
		if missing := strings.Contains(got, `"total_replies":14`) && strings.Contains(got, `"state":"missing","messages":1`); missing != c.missing {
			t.Errorf("%s: %s", c.name, got[strings.Index(got, `"truncation"`):])
		}
	}
}

// What is said in a thread after the question is no part of it, whether it is
// stored or only counted by the platform.
func TestRepliesAfterTheQuestionDoNotCount(t *testing.T) {
	t.Parallel()
	st, _, at := fourteen(t, 14)
	set := tools.ForChannel(general, st, tools.NewIndex(st, 0), at, nil)
	before := call(t, set, tools.ChannelMessages, `{"thread_id":"r"}`).JSON
	root := st.told["r"]
	root.Replies = &earshot.Activity{Count: 16, Last: at.Time + 2}
	st.told["r"] = root
	for i := range 2 {
		st.record(t, general, earshot.Message{ID: earshot.MessageID(fmt.Sprint("late", i)), Time: at.Time + 1 + earshot.Time(i), Thread: "r", Author: person("U2", "Bob"), Text: "rollback done"})
	}
	if diff := cmp.Diff(call(t, set, tools.ChannelMessages, `{"thread_id":"r"}`).JSON, before); diff != "" {
		t.Error(diff)
	}
}

func TestAnEndedContextIsAnError(t *testing.T) {
	t.Parallel()
	st, _, at := fourteen(t, 0)
	ctx, cancel := context.WithCancel(t.Context())
	f := &fetcher{t: t, st: st, err: context.Canceled}
	set := tools.ForChannel(general, st, tools.NewIndex(st, 0), at, &tools.Options{Fetcher: f})
	cancel()
	if _, err := set.Call(ctx, tools.ChannelMessages, `{"thread_id":"r"}`); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A paced Fetcher brings nothing, because the platform's rate is used up.
type paced struct{ tools.Fetcher }

func (paced) FetchThread(context.Context, earshot.Scope, earshot.MessageID, earshot.Position) error {
	return nil
}

func (paced) ThreadsIn(earshot.Scope) time.Duration { return 41500 * time.Millisecond }

// TestAThreadThatTheRateForbidsToReadIsNotCalledNotFound asks for threads that have not
// been read yet, and for what does not exist.
func TestAThreadThatTheRateForbidsToReadIsNotCalledNotFound(t *testing.T) {
	t.Parallel()
	st := open(t)
	tell := telling(t, st, general, earshot.Message{ID: "1772442000.000000", Time: began, Author: person("U1", "Alice"), Text: "staging is down", Replies: &earshot.Activity{Count: 14, Last: began + 50*second}},
		earshot.Message{ID: "1772442060.000000", Time: began + 60*second, Author: person("U1", "Alice"), Text: "well?"})
	if err := st.PutCoverage(t.Context(), general, earshot.Coverage{To: began - second, State: earshot.Missing},
		earshot.Coverage{Thread: "1772442000.000000", To: began + 60*second, State: earshot.Missing}); err != nil {
		t.Fatal(err)
	}
	asked := tell.told["1772442060.000000"]
	set := tools.ForChannel(general, st, tools.NewIndex(st, 0), asked.Position(), &tools.Options{Fetcher: paced{}})
	for id, want := range map[string]string{
		"1772442000.000000": `"readable_in_seconds":42`,
		"1772441000.000100": `{"error":"not read yet","remedy":"the channel's history of that time is not loaded, and the platform's rate allows to read more in 42 seconds; say so, or answer without it"}`,
		"p1772441000000100": `{"error":"not read yet"`,
		"1772442030.000000": notFound, // of a time that is read
		"1772442090.000000": notFound, // after the question
		"nothing":           notFound,
	} {
		if got := call(t, set, tools.ChannelMessages, `{"thread_id":"`+id+`"}`); !strings.Contains(got.JSON, want) {
			t.Errorf("%s: got %s, want %s", id, got.JSON, want)
		}
	}
}
