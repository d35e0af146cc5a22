package mcp_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/counted"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/sidecar/mcp"
	"github.com/earshot-ai/earshot/internal/sidecar/mcp/mcptest"
	"github.com/earshot-ai/earshot/store"
)

// A result is one of search in all channels.
type result struct {
	Channel struct {
		Workspace, ID, Name string
	}
	Score float64
}

// A found is an answer of search in all channels.
type found struct {
	Results        []result
	UnknownAuthors []string `json:"unknown_authors"`
	Coverage       struct {
		Searched    int `json:"channels_searched"`
		NotSearched int `json:"channels_not_searched"`
		Missing     []struct {
			Channel struct{ ID string }
			State   string
		}
	}
}

// structured calls a tool and reads its answer into v.
func (w *world) structured(t *testing.T, token, tool, args string, v any) {
	t.Helper()
	var answer struct {
		Result struct {
			StructuredContent json.RawMessage
			IsError           bool
		}
	}
	raw := w.tool(t, token, tool, args)
	must(t, json.Unmarshal([]byte(raw), &answer))
	if answer.Result.IsError || json.Unmarshal(answer.Result.StructuredContent, v) != nil {
		t.Fatalf("%s %s: %s", tool, args, raw)
	}
}

// rooms puts channels into a world, the first of which was active last.
func (w *world) rooms(t *testing.T, n int, say func(i int) []earshot.Message) {
	t.Helper()
	for i := range n {
		c := earshot.Channel{Platform: earshot.Slack, Workspace: "T3", ID: earshot.ChannelID(fmt.Sprintf("R%03d", i)), Name: fmt.Sprint("room-", i), Kind: earshot.KindChannel}
		must(t, w.store.PutChannel(t.Context(), c))
		_, err := w.store.Record(t.Context(), c.Scope(), say(i)...)
		must(t, err)
	}
}

// chat is what an author says, a second apart, so that it ends at a time.
func chat(end earshot.Time, author string, texts ...string) []earshot.Message {
	var list []earshot.Message
	for i, text := range texts {
		at := end - earshot.Time(len(texts)-1-i)*1_000_000
		list = append(list, earshot.Message{ID: earshot.MessageID(at.TS()), Time: at, Author: earshot.Author{ID: earshot.AuthorID("U" + author), Name: author, Kind: earshot.Human}, Text: text})
	}
	return list
}

const day = earshot.Time(24 * 3600 * 1_000_000)

func TestSearchMergesWhatAllChannelsHave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	end := 20_000 * day
	// In each room half of the words stand once; the whole question stands where both
	// words are said daily.
	w.rooms(t, 4, func(i int) []earshot.Message {
		switch i {
		case 0:
			return chat(end, "Ann", "the porter has keys", "lunch is ready", "who has the ladder?")
		case 1:
			return chat(end-day, "Bob", "the migration is late", "keys again", "the migration is late again", "the migration needs the keys of the database")
		case 2:
			return chat(end-2*day, "Ann", "the migration is a matter of birds here", "swallows leave", "geese too")
		}
		return chat(end-3*day, "Cem", "nothing of all this")
	})
	of := func(args string) (ids []string, f found) {
		w.structured(t, w.all, mcp.Search, args, &f)
		for _, r := range f.Results {
			ids = append(ids, r.Channel.ID)
		}
		return ids, f
	}
	ids, f := of(`{"intent":"migration keys","workspace":"T3"}`)
	if f.Coverage.Searched != 4 || f.Coverage.NotSearched != 0 || len(ids) < 3 || ids[0] != "R001" || f.Results[0].Channel.Name != "room-1" || slices.Contains(ids, "R003") {
		t.Errorf("got %v, %+v; want what has both words first", ids, f.Coverage)
	}
	if !slices.IsSortedFunc(f.Results, func(x, y result) int { return cmp.Compare(y.Score, x.Score) }) {
		t.Errorf("got %+v, want the scores to fall", f.Results)
	}
	for range 3 {
		if again, _ := of(`{"intent":"migration keys","workspace":"T3"}`); !slices.Equal(again, ids) {
			t.Errorf("got %v, then %v", ids, again)
		}
	}
	for args, want := range map[string][]string{
		`{"intent":"migration","workspace":"T3","authors":["Ann"]}`:                   {"R002"},
		`{"intent":"migration","channel":"room-2"}`:                                   {""},
		`{"intent":"migration","workspace":"T3","until":"2024-10-02"}`:                {"R002"},
		`{"intent":"keys","workspace":"T3","since":"2024-10-03T12:00:00Z"}`:           {"R000"},
		`{"intent":"migration keys","workspace":"T3","max_results":1}`:                {"R001"},
		`{"intent":"migration","workspace":"T1","until":"1970-01-01T00:00:01Z"}`:      {"C1", "C2"},
		`{"intent":"migration","workspace":"T3","platform":"discord","authors":[]}`:   nil,
		`{"intent":"migration","workspace":"T3","authors":["Nobody at all"]}`:         {},
		`{"intent":"migration","workspace":"T1","channel":"C1","until":"1970-01-01"}`: {""},
	} {
		if want == nil {
			if got := w.tool(t, w.all, mcp.Search, args); !strings.Contains(got, "there is no channel to search") {
				t.Errorf("%s: got %s", args, got)
			}
			continue
		}
		got, f := of(args)
		got = slices.Compact(got)
		if len(got) < len(want) || !slices.Equal(got[:len(want)], want) || strings.Contains(args, "Nobody") != (len(f.UnknownAuthors) > 0) {
			t.Errorf("%s: got %v %v, want %v", args, got, f.UnknownAuthors, want)
		}
	}
}

func TestSearchOfManyChannelsIsBounded(t *testing.T) {
	t.Parallel()
	of, err := store.Open(t.Context(), "memory:", nil)
	must(t, err)
	t.Cleanup(func() { _ = of.Close() })
	st := counted.New(of)
	w := newWorldOver(t, st)
	w.rooms(t, 70, func(i int) []earshot.Message {
		return chat(20_000*day-earshot.Time(i)*day, "Ann", fmt.Sprint("the migration of room ", i))
	})
	must(t, w.store.PutCoverage(t.Context(), earshot.Scope{Platform: earshot.Slack, Workspace: "T3", Channel: "R007"}, earshot.Coverage{From: 1, To: day, State: earshot.Missing}))
	st.Reset(nil)
	var f found
	w.structured(t, w.all, mcp.Search, `{"intent":"migration","workspace":"T3","max_results":50}`, &f)
	counted.CallBound{Calls: 50 * 12, Rows: 50 * 40}.Check(t, st, "a search of 50 channels")
	var ids []string
	for _, r := range f.Results {
		ids = append(ids, r.Channel.ID)
	}
	slices.Sort(ids)
	if f.Coverage.Searched != 50 || f.Coverage.NotSearched != 20 || len(ids) != 50 || ids[0] != "R000" || ids[49] != "R049" {
		t.Errorf("got %+v %v, want the 50 that were active last", f.Coverage, ids)
	}
	if m := f.Coverage.Missing; len(m) != 1 || m[0].Channel.ID != "R007" || m[0].State != "missing" {
		t.Errorf("got %+v, want the gap of R007", m)
	}
	// A channel that is read too often is left out, and the answer says so.
	gate, err := access.Open(w.store, access.Options{Rates: access.Rates{Principal: access.Rate{PerSecond: -1}, Channel: access.Rate{PerSecond: 0.001, Burst: 1}}})
	must(t, err)
	slow := newWorldOf(t, w, gate)
	slow.tool(t, slow.team, mcp.Search, `{"channel":"C1","intent":"lock"}`)
	slow.structured(t, slow.team, mcp.Search, `{"intent":"lock"}`, &f)
	if f.Coverage.Searched != 1 || f.Coverage.NotSearched != 1 {
		t.Errorf("got %+v, want one channel searched and one not", f.Coverage)
	}
}

func TestChannelsAreListedInPages(t *testing.T) {
	t.Parallel()
	for _, n := range []int{30, 1100} { // as many as are looked at for a page, and more
		w := newWorld(t)
		w.rooms(t, n, func(i int) []earshot.Message { return chat(20_000*day-earshot.Time(i)*day, "Ann", "hello") })
		walk := func(args string, limit int) (ids []string, pages int) {
			cursor := ""
			for {
				var out struct {
					Channels []struct{ ID, Workspace string }
					Next     string
				}
				w.structured(t, w.all, mcp.ListChannels, fmt.Sprintf(`{%s%s"limit":%d}`, args, cursor, limit), &out)
				pages++
				if len(out.Channels) > limit {
					t.Fatalf("%d channels on a page of %d", len(out.Channels), limit)
				}
				for _, c := range out.Channels {
					if c.Workspace == "T3" {
						ids = append(ids, c.ID)
					}
				}
				if out.Next == "" {
					return ids, pages
				}
				cursor = fmt.Sprintf(`"cursor":%q,`, out.Next)
			}
		}
		all, pages := walk("", 7)
		if n < 1000 {
			if pages != 5 || len(all) != n || !slices.IsSorted(all) { // by activity
				t.Errorf("%d channels: got %d on %d pages: %v", n, len(all), pages, all)
			}
		} else if slices.Sort(all); len(slices.Compact(all)) != n {
			t.Errorf("%d channels: got %d", n, len(slices.Compact(all)))
		}
		for filter, want := range map[string][]string{"r002": {"R002"}, "#room-17": {"R017"}, "ROOM-29": {"R029"}, "nothing": nil} {
			got, _ := walk(fmt.Sprintf(`"name":%q,`, filter), 200)
			slices.Sort(got)
			got = slices.DeleteFunc(slices.Compact(got), func(id string) bool { return len(want) > 0 && id > "R030" }) // room-170 and the like
			if diff := gocmp.Diff(got, want); diff != "" {
				t.Errorf("%d channels, %s: got -, want +:\n%s", n, filter, diff)
			}
		}
		if got := w.tool(t, w.team, mcp.ListChannels, `{"name":"R002"}`); strings.Contains(got, "R002") || strings.Contains(got, mcptest.Canary(mcptest.Elsewhere)) {
			t.Errorf("a filter shows a channel out of reach: %s", got)
		}
	}
}

func TestACatchUpSaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	end := 20_000*day + 9*3600*1_000_000
	w.rooms(t, 1, func(int) []earshot.Message {
		var texts []string
		for i := range 130 {
			texts = append(texts, fmt.Sprint("message ", i))
		}
		list := chat(end, "Ann", texts...)
		for _, i := range []int{3, 127, 129} { // of a thread whose root is older than the newest 100
			list[i].Thread = list[2].ID
		}
		return append(list, chat(end+day, "Ann", " ")...) // blank: it is not shown
	})
	at := earshot.Scope{Platform: earshot.Slack, Workspace: "T3", Channel: "R000"}
	must(t, w.store.PutCoverage(t.Context(), at, earshot.Coverage{To: end - 125*1_000_000, State: earshot.Missing}, earshot.Coverage{From: end - 3_000_000, To: end - 2_000_000, State: earshot.Missing}))
	caught := func(since earshot.Time) string {
		args := map[string]string{"channel": "R000"}
		if since != 0 {
			args["since"] = since.String()
		}
		res, err := w.overHTTP(t, w.all).GetPrompt(t.Context(), &sdk.GetPromptParams{Name: mcp.CatchUp, Arguments: args})
		must(t, err)
		return res.Messages[1].Content.(*sdk.TextContent).Text
	}
	for name, c := range map[string]struct {
		text      string
		has, lack []string
	}{
		"the newest 100": {caught(0), []string{
			"; 30 older messages not shown]", "Ann: message 2\n+ 1 reply not shown, thread ", "↳ 08:59 Ann: message 127\n", "[history at 2024-10-04 08:59 UTC could not be loaded]", "message 31\n",
		}, []string{"history before", "message 30\n", "message 3\n"}},
		"more than 100 since a time": {caught(end - 120*1_000_000), []string{"; 21 older messages not shown]", "message 31\n"}, []string{"message 30\n"}},
		"few since a time":           {caught(end - 9*1_000_000), []string{"message 120\n", "Ann: message 2\n", "[what was said until"}, []string{"older", "message 119\n", "history before"}},
		"nothing since a time":       {caught(end + 2*day), []string{"[nothing was said]"}, []string{"+ id"}},
	} {
		for _, x := range c.has {
			if !strings.Contains(c.text, x) {
				t.Errorf("%s lacks %q:\n%.600s", name, x, c.text)
			}
		}
		for _, x := range c.lack {
			if strings.Contains(c.text, x) {
				t.Errorf("%s has %q:\n%.600s", name, x, c.text)
			}
		}
	}
}
