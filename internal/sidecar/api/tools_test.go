package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
)

func TestToolsReadOneChannel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "the ferry needs the blue cable"), said(1, "Bob", "which ferry?"), said(2, "Bob", "the ferry after the anchor"))
	bounded := w.gate["tools"]
	fixed := *bounded.Fixed
	fixed.At = earshot.Position{Time: said(1, "", "").Time, ID: "m1"}
	bounded.Fixed = &fixed
	w.gate["bounded"] = bounded
	for name, c := range map[string]struct {
		as, tool, args string
		status         int
		holds, lacks   string
	}{
		"with a capability":          {"tools", "channel_context", `{"intent":"ferry cable"}`, 200, "blue cable", `"failed":true`},
		"with a key for one channel": {"C1", "channel_messages", `{"message_ids":["m2"]}`, 200, "after the anchor", `"failed":true`},
		"up to the anchor":           {"bounded", "channel_messages", `{"message_ids":["m2"]}`, 200, `"answer":{"`, "after the anchor"},
		"found up to the anchor":     {"bounded", "channel_context", `{"intent":"ferry"}`, 200, "blue cable", "after the anchor"},
		"the ids of what is shown":   {"tools", "channel_messages", `{"message_ids":["m0"]}`, 200, `"messages":["m0"]`, `"failed":true`},
		"earlier turns":              {"tools", "conversation_search", `{"query":"ferry"}`, 200, `"failed":false`, `"failed":true`},
		"with a wide key":            {"T1", "channel_context", `{"intent":"ferry"}`, 403, `"code":"capability_needed"`, "cable"},
		"another channel's argument": {"tools", "channel_context", `{"intent":"ferry","channel":"C2"}`, 200, `"failed":true`, "cable"},
		"an argument twice":          {"tools", "channel_context", `{"intent":"ferry","intent":"x"}`, 200, `"failed":true`, "cable"},
		"an argument in other case":  {"tools", "channel_context", `{"Intent":"ferry"}`, 200, `"failed":true`, "cable"},
		"no JSON":                    {"tools", "channel_context", `ferry`, 200, `"failed":true`, "cable"},
		"too deep":                   {"tools", "channel_context", strings.Repeat("[", 65), 400, "64", "cable"},
		"an unknown tool":            {"tools", "delete_channel", `{}`, 404, `"code":"not_found"`, "cable"},
		"an unknown tool, wide key":  {"T1", "delete_channel", `{}`, 404, `"code":"not_found"`, "cable"},
	} {
		status, _, body := w.call(t, c.as, http.MethodPost, "/v1/tools/"+c.tool, c.args)
		if status != c.status || !strings.Contains(body, c.holds) || strings.Contains(body, c.lacks) {
			t.Errorf("%s: got %d %s, want %d with %s and without %s", name, status, body, c.status, c.holds, c.lacks)
		}
	}
}

func TestTheToolsAreDescribedWithoutAChannel(t *testing.T) {
	t.Parallel()
	status, _, body := newWorld(t).call(t, "tools", http.MethodGet, "/v1/tools", nil)
	if status != http.StatusOK || strings.Count(body, `"input_schema":{"type":"object"`) != 3 || strings.Contains(body, `"channel"`) || strings.Contains(body, `"channel_id"`) {
		t.Errorf("got %d %s", status, body)
	}
}

func TestCapabilitiesAreMadeForWhatTheCallerSees(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "hi"), said(1, "Alice", "gone"), earshot.Message{ID: "m1", Deleted: true})
	absent := func(as string) string {
		_, _, raw := w.call(t, as, http.MethodPost, "/v1/capabilities", object{"channel": "C9"})
		return raw
	}
	for name, c := range map[string]struct {
		as     string
		body   any
		status int
		holds  string
	}{
		"of a channel":           {"T1", object{"channel": "C1"}, 200, `"capability":"ec_test","expires":"`},
		"up to a message":        {"C1", object{"channel": object{"id": "C1"}, "anchor": "m0", "agent": "U0BOT", "minutes": 5}, 200, "ec_test"},
		"by a key that reads":    {"read", object{"channel": "C1"}, 200, "ec_test"},
		"for too long":           {"C1", object{"channel": "C1", "minutes": 61}, 400, "minutes must be 1 to 60"},
		"for no time":            {"C1", object{"channel": "C1", "minutes": 0}, 400, "minutes must be 1 to 60"},
		"of no channel":          {"C1", object{}, 400, "channel is required"},
		"of an unknown agent":    {"C1", object{"channel": "C1", "agent": "U9"}, 400, "unknown_agent"},
		"of a foreign channel":   {"T2", object{"channel": "C1"}, 404, absent("T2")},
		"up to a deleted one":    {"C1", object{"channel": "C1", "anchor": "m1"}, 404, absent("C1")},
		"up to an unknown one":   {"C1", object{"channel": "C1", "anchor": "m9"}, 404, absent("C1")},
		"by another capability":  {"tools", object{"channel": "C1"}, 403, "tools_only"},
		"with an unknown field":  {"C1", object{"channel": "C1", "channels": "C2"}, 400, "channels unknown field"},
		"for a number of months": {"C1", `{"channel":"C1","minutes":1e9}`, 400, "minutes"},
	} {
		status, _, body := w.call(t, c.as, http.MethodPost, "/v1/capabilities", c.body)
		if status != c.status || !strings.Contains(body, c.holds) {
			t.Errorf("%s: got %d %s, want %d with %s", name, status, body, c.status, c.holds)
		}
	}
}
