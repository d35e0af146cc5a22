package tools_test

import (
	"context"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/tools"
)

// TestAnswersWithholdWhatIsOutAndMarkWhatIsInert: Bob is out or inert, in each tool.
func TestAnswersWithholdWhatIsOutAndMarkWhatIsInert(t *testing.T) {
	t.Parallel()
	said := talk()
	said[4].Shared[0].ID = "U2" // Alice forwards what Bob said
	set := func(lane earshot.Lane) *tools.Set {
		st := open(t)
		record(t, st, general, said...)
		return tools.ForChannel(general, st, tools.NewIndex(st, 0), earshot.Position{}, &tools.Options{Identity: self,
			Lanes: func(_ context.Context, list []earshot.Message) (map[earshot.AuthorID]earshot.Lane, error) {
				for i := range list {
					for k := range list[i].Shared {
						if list[i].Shared[k].ID == "U2" {
							list[i].Shared[k].Lane = lane
						}
					}
				}
				return map[earshot.AuthorID]earshot.Lane{"U2": lane}, nil
			}})
	}
	inert, out := set(earshot.LaneInert), set(earshot.LaneOut)
	for _, c := range []struct {
		name, tool, args string
		inert            string
		out              []string
		notFound         bool // where Bob is out
	}{
		{"a search", tools.ChannelContext, `{"intent":"migration hangs"}`, `"display_name":"Bob","is_bot":false,"trust":"inert"}`, []string{`"results":[]`, `"withheld":3`}, false},
		{"a search that finds others in the thread", tools.ChannelContext, `{"intent":"deploy"}`, `"participant_names":["Alice","Bob","CI"]`, []string{`"participant_names":["Alice","CI"]`}, false},
		{"a thread", tools.ChannelMessages, `{"thread_id":"m1"}`, `"display_name":"Bob","is_bot":false,"trust":"inert"}`, []string{`"total_replies":3,"included_replies":1`, `"withheld":2`}, false},
		{"by id", tools.ChannelMessages, `{"message_ids":["m2","m1","m9"]}`, `"trust":"inert"}`, []string{`"message_id":"m1"`, `"not_found":["m9"]`, `"withheld":1`}, false},
		{"by id, and nothing else", tools.ChannelMessages, `{"message_ids":["m2"]}`, `"trust":"inert"}`, []string{`{"messages":[],"not_found":[],"withheld":1}`}, false},
		{"a file", tools.ChannelMessages, `{"media_artifact_id":"F1"}`, ``, nil, true},
		{"what another forwards", tools.ChannelMessages, `{"message_ids":["m5"]}`, ` today","trust":"inert"}`, []string{`{"kind":"withheld","text":""}`}, false},
	} {
		if got := call(t, inert, c.tool, c.args).JSON; !strings.Contains(got, c.inert) || strings.Contains(got, "withheld") {
			t.Errorf("%s, inert: %s", c.name, got)
		}
		got := call(t, out, c.tool, c.args)
		if got.JSON == notFound != c.notFound {
			t.Errorf("%s, out: %s", c.name, got.JSON)
		}
		for _, want := range c.out {
			if !strings.Contains(got.JSON, want) {
				t.Errorf("%s, out: no %s in %s", c.name, want, got.JSON)
			}
		}
		for _, word := range []string{"hangs", "forget", "b.log", "soup", "done"} {
			if strings.Contains(got.JSON, word) && !strings.Contains(c.args, word) {
				t.Errorf("%s, out: %s stands in %s", c.name, word, got.JSON)
			}
		}
	}
}
