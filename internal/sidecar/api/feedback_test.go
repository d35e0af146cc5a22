package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// thinks puts what somebody thinks of a turn.
func (w *world) thinks(t *testing.T, as string, turn earshot.TurnID, body object, want int, code string) {
	t.Helper()
	status, _, text := w.call(t, as, http.MethodPut, fmt.Sprintf("/v1/turns/%d/feedback", turn), body)
	var p struct{ Code string }
	if err := json.Unmarshal([]byte(text), &p); err != nil || status != want || p.Code != code {
		t.Errorf("%s %v: %d %s", as, body, status, text)
	}
}

// opinions lists what people think, in pages.
func (w *world) opinions(t *testing.T, as, query string) (out []string) {
	t.Helper()
	for cursor := ""; ; {
		status, _, text := w.call(t, as, "GET", "/v1/feedback?"+query+cursor, nil)
		var page struct {
			Feedback []struct {
				Turn           int64
				Author, Reason string
				Good           bool
			}
			Next string
		}
		if err := json.Unmarshal([]byte(text), &page); err != nil || status != http.StatusOK {
			t.Fatalf("%d %s: %v", status, text, err)
		}
		for _, f := range page.Feedback {
			out = append(out, strings.TrimSpace(fmt.Sprint(f.Turn, " ", f.Author, " ", f.Good, " ", f.Reason)))
		}
		if page.Next == "" {
			return out
		}
		cursor = "&cursor=" + page.Next
	}
}

func TestWhatPeopleThinkIsToldAndListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.asks(t, "m1", "one")[0].Turn, w.asks(t, "m2", "one")[0].Turn
	w.thinks(t, "C1", first, object{"author": "UAnn", "good": false, "reason": "it is down"}, 200, "")
	w.thinks(t, "C1", first, object{"author": "UAnn", "good": false}, 200, "")
	w.thinks(t, "C1", first, object{"author": "UBen", "good": true}, 200, "")
	w.thinks(t, "T1", second, object{"author": "UAnn", "good": true, "reason": "ok"}, 200, "")
	w.thinks(t, "T1", second, object{"author": "UAnn", "good": false}, 200, "")
	for name, c := range map[string]struct {
		as     string
		turn   earshot.TurnID
		body   object
		status int
		code   string
	}{
		"a key that only reads": {"read", first, object{"author": "U1", "good": true}, 403, "read_only"},
		"a capability":          {"tools", first, object{"author": "U1", "good": true}, 403, "tools_only"},
		"from elsewhere":        {"T2", first, object{"author": "U1", "good": true}, 404, "not_found"},
		"of no turn":            {"C1", 999, object{"author": "U1", "good": true}, 404, "not_found"},
		"of nobody":             {"C1", first, object{"good": true}, 400, "invalid"},
		"neither good nor bad":  {"C1", first, object{"author": "U1"}, 400, "invalid"},
		"at too great length":   {"C1", first, object{"author": "U1", "good": true, "reason": strings.Repeat("x", earshot.FeedbackBytes+1)}, 400, "invalid"},
	} {
		t.Run(name, func(t *testing.T) { w.thinks(t, c.as, c.turn, c.body, c.status, c.code) })
	}
	of1 := []string{fmt.Sprint(first, " UAnn false it is down"), fmt.Sprint(first, " UBen true")}
	of2 := []string{fmt.Sprint(second, " UAnn false")}
	for query, want := range map[string][]string{
		"": append(of2, of1...), "limit=1": append(of2, of1...), "limit=2": append(of2, of1...), "good=false": {of2[0], of1[0]}, "good=true&limit=1": {of1[1]},
		fmt.Sprint("turn=", first): of1, "channel=C1": append(of2, of1...), fmt.Sprint("turn=", first, "&limit=1"): of1,
	} {
		if got := w.opinions(t, "C1", query); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	if got := w.opinions(t, "T2", "limit=1"); len(got) != 0 {
		t.Errorf("T2 reads %q", got)
	}
	for range 2 {
		if status, _, text := w.call(t, "C1", http.MethodDelete, fmt.Sprintf("/v1/turns/%d/feedback?author=UAnn", first), nil); status != http.StatusNoContent {
			t.Errorf("taken back: %d %s", status, text)
		}
	}
	if got := w.opinions(t, "C1", fmt.Sprint("turn=", first)); len(got) != 1 {
		t.Errorf("left is %q", got)
	}
}

func TestAUsersTokenThinksForItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.gate["ben"] = access.Principal{ID: "user:ben", Kind: access.User, Subject: "UBen", Reach: access.Reach{Workspaces: []earshot.WorkspaceID{"T1"}}}
	turn := w.asks(t, "m1", "one")[0].Turn
	w.thinks(t, "ben", turn, object{"author": "UAnn", "good": false}, 403, "foreign_person")
	w.thinks(t, "ben", turn, object{"good": false}, 200, "")
	if got := w.opinions(t, "C1", ""); fmt.Sprint(got) != fmt.Sprintf("[%d UBen false]", turn) {
		t.Errorf("stored is %q", got)
	}
}
