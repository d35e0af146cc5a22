package api_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// list returns the ids of all pages, and checks that no page is larger than limit.
func (w *world) list(t *testing.T, as, query string, limit int) (ids []string) {
	t.Helper()
	at := fmt.Sprintf("%s?%s&limit=%d", conversations, query, limit)
	for cursor := ""; ; {
		_, _, raw := w.call(t, as, http.MethodGet, at+cursor, nil)
		var a struct {
			Success bool
			Data    struct {
				Conversations []struct{ ID string }
				HasMore       bool   `json:"has_more"`
				Next          string `json:"next_cursor"`
			}
		}
		if err := json.Unmarshal([]byte(raw), &a); err != nil || !a.Success || len(a.Data.Conversations) > limit || a.Data.HasMore != (a.Data.Next != "") {
			t.Fatalf("%s as %s: %v %s", at+cursor, as, err, raw)
		}
		for _, c := range a.Data.Conversations {
			ids = append(ids, c.ID)
		}
		if cursor = "&cursor=" + url.QueryEscape(a.Data.Next); a.Data.Next == "" {
			return ids
		}
	}
}

func TestConversationsAreListed(t *testing.T) {
	t.Parallel()
	for name, spec := range chatStores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newChat(t, spec(t))
			var inC1 []string
			for i := range 7 {
				inC1 = append(inC1, w.create(t, "T1", fields{"metadata": fields{"channel_id": "C1", "thread_ts": fmt.Sprintf("177315432%d.000100", i)}}))
			}
			alice := w.create(t, "alice", fields{"metadata": fields{"channel_id": "C2", "thread_ts": "1773154329.000100"}})
			free := w.create(t, "bob", fields{})
			other := w.create(t, "T1", fields{"agent_id": "agent-2", "metadata": fields{"channel_id": "C1", "thread_ts": "1773154320.000100"}})
			foreign := w.create(t, "T2", fields{"metadata": fields{"channel_id": "C3", "thread_ts": "1773154320.000100"}})
			slices.Reverse(inC1)
			all := append([]string{foreign, free, alice}, inC1...)
			agent := "agent_id=agent-1"
			for _, c := range []struct {
				as, query string
				want      []string
			}{
				{"all", agent, all},
				{"T1", agent, all[1:]},
				{"T2", agent, all[:1]},
				{"read", agent, all[1:]},
				{"C1", agent, inC1},
				{"C2", agent, []string{alice}},
				{"two channels", agent, append([]string{alice}, inC1...)},
				{"alice", agent, append([]string{alice}, inC1...)},
				{"bob", agent, append([]string{free}, inC1...)},
				{"T1", agent + "&owner_id=alice", []string{alice}},
				{"bob", agent + "&owner_id=alice", nil},
				{"T1", agent + "&channel_id=C1", inC1},
				{"all", agent + "&workspace_id=T2", []string{foreign}},
				{"T1", agent + "&platform=api", []string{free}},
				{"T1", "agent_id=agent-2", []string{other}},
				{"T1", "agent_id=nobody", nil},
			} {
				for _, limit := range []int{1, 2, 100} {
					if got := w.list(t, c.as, c.query, limit); !slices.Equal(got, c.want) {
						t.Errorf("as %s, %s, pages of %d: %d %q, want %d %q", c.as, c.query, limit, len(got), got, len(c.want), c.want)
					}
				}
			}
			for _, query := range []string{"", agent + "&limit=0", agent + "&limit=101", agent + "&cursor=x", agent + "&limit=x"} {
				w.chat(t, "T1", http.MethodGet, conversations+"?"+query, nil, http.StatusBadRequest)
			}
			for _, query := range []string{agent + "&channel_id=C1", agent + "&workspace_id=T2", agent + "&channel_id=nowhere"} {
				w.chat(t, "C2", http.MethodGet, conversations+"?"+query, nil, http.StatusNotFound)
			}
			w.chat(t, "tools", http.MethodGet, conversations+"?"+agent, nil, http.StatusForbidden)
		})
	}
}

// Of what a caller does not see a list gives away nothing, in its cursors either.
func TestAListPassesOverWhatOthersOwnAndNamesNoneOfIt(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	mine := w.create(t, "alice", fields{"metadata": fields{"channel_id": "C1", "thread_ts": "1.1"}})
	for i := range 1100 {
		w.create(t, "bob", fields{"metadata": fields{"channel_id": "C1", "thread_ts": fmt.Sprintf("99.%d", i+1)}})
	}
	at, pages := conversations+"?limit=1&agent_id="+"agent-1", 0
	var got []string
	for cursor := ""; ; pages++ {
		_, _, raw := w.call(t, "alice", http.MethodGet, at+cursor, nil)
		var a struct {
			Data struct {
				Conversations []struct{ ID string }
				Next          string `json:"next_cursor"`
			}
		}
		if err := json.Unmarshal([]byte(raw), &a); err != nil {
			t.Fatal(err)
		}
		for _, c := range a.Data.Conversations {
			got = append(got, c.ID)
		}
		if a.Data.Next == "" {
			break
		}
		if text, err := base64.RawURLEncoding.DecodeString(a.Data.Next); err != nil || strings.Contains(string(text), "99.") {
			t.Errorf("the cursor has %s, %v", text, err)
		}
		cursor = "&cursor=" + a.Data.Next
	}
	if !slices.Equal(got, []string{mine}) || pages == 0 {
		t.Errorf("got %q on %d pages, want %q", got, pages+1, mine)
	}
}
