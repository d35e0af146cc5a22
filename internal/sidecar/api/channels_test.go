package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
)

// fill stores n messages in a channel, every third a reply to the first.
func (w *world) fill(t testing.TB, c earshot.Channel, n int) {
	t.Helper()
	if err := w.store.PutChannel(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	var list []earshot.Message
	for i := range n {
		m := earshot.Message{ID: earshot.MessageID(fmt.Sprintf("m%03d", i)), Time: earshot.Time(1_700_000_000_000_000 + i*1_000_000), Author: earshot.Author{ID: earshot.AuthorID(fmt.Sprintf("U%d", i%2)), Name: "Ann", Kind: earshot.Human}, Text: fmt.Sprintf("import worker %d", i)}
		if i%3 == 2 {
			m.Thread = "m000"
		}
		list = append(list, m)
	}
	if _, err := w.store.Record(t.Context(), c.Scope(), list...); err != nil {
		t.Fatal(err)
	}
}

// pages reads all pages of a list and returns the ids of its items.
func (w *world) pages(t testing.TB, as, path, items string) (ids [][]string) {
	t.Helper()
	next := ""
	for range 100 {
		u := path
		if next != "" {
			u += "&cursor=" + url.QueryEscape(next)
		}
		status, _, body := w.call(t, as, http.MethodGet, u, nil)
		var whole map[string]json.RawMessage
		var page []struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal([]byte(body), &whole); status != http.StatusOK || err != nil {
			t.Fatalf("%s: %d %s", u, status, body)
		}
		if err := json.Unmarshal(whole[items], &page); err != nil {
			t.Fatalf("%s: %v in %s", u, err, body)
		}
		var list []string
		for _, x := range page {
			list = append(list, x.ID)
		}
		ids = append(ids, list)
		if whole["next"] == nil {
			return ids
		}
		if err := json.Unmarshal(whole["next"], &next); err != nil {
			t.Fatal(err)
		}
	}
	t.Fatalf("%s: the pages have no end", path)
	return nil
}

func TestPagesHaveEveryMessageOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t, earshot.Channel{Platform: "slack", Workspace: "T1", ID: "C1", Kind: earshot.KindChannel}, 20)
	for _, limit := range []int{1, 6, 7, 20, 200} {
		var all []string
		for _, page := range w.pages(t, "C1", fmt.Sprintf("/v1/channels/C1/messages?limit=%d", limit), "messages") {
			if len(page) == 0 || len(page) > limit {
				t.Errorf("limit %d: a page of %d", limit, len(page))
			}
			all = append(slices.Clone(page), all...)
		}
		if len(all) != 20 || !slices.IsSorted(all) || all[0] != "m000" || all[19] != "m019" {
			t.Errorf("limit %d: %v", limit, all)
		}
		var replies []string
		for _, page := range w.pages(t, "C1", fmt.Sprintf("/v1/channels/C1/threads/m005?limit=%d", limit), "replies") {
			replies = append(slices.Clone(page), replies...)
		}
		if want := []string{"m002", "m005", "m008", "m011", "m014", "m017"}; !slices.Equal(replies, want) {
			t.Errorf("limit %d: replies %v, want %v", limit, replies, want)
		}
	}
	if got := w.pages(t, "T1", "/v1/channels/C1/messages?before=2023-11-14T22:13:25Z&after=2023-11-14T22:13:22Z", "messages"); !slices.Equal(got[0], []string{"m003", "m004"}) {
		t.Errorf("between two times: %v", got)
	}
}

func TestChannelsArePaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var want []string
	for i := range 9 {
		id := fmt.Sprintf("C%d", i)
		for _, workspace := range []earshot.WorkspaceID{"T1", "T2"} {
			if err := w.store.PutChannel(t.Context(), earshot.Channel{Platform: "slack", Workspace: workspace, ID: earshot.ChannelID(id), Name: fmt.Sprintf("n%d", 9-i)}); err != nil {
				t.Fatal(err)
			}
		}
		want = append([]string{id}, want...)
	}
	for _, limit := range []int{1, 4, 9, 50} {
		if got := slices.Concat(w.pages(t, "T2", fmt.Sprintf("/v1/channels?limit=%d", limit), "channels")...); !slices.Equal(got, want) {
			t.Errorf("limit %d: %v, want %v", limit, got, want)
		}
	}
}

func TestReads(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c1 := earshot.Channel{Platform: "slack", Workspace: "T1", ID: "C1", Name: "deploys", Kind: earshot.KindChannel}
	w.fill(t, c1, 9)
	w.fill(t, earshot.Channel{Platform: "slack", Workspace: "T2", ID: "C1", Name: "other", Kind: earshot.KindChannel}, 2)
	for _, m := range []earshot.Message{
		{ID: "m001", Time: 1_700_000_001_000_000, Edited: 1_700_000_100_000_000, Author: earshot.Author{ID: "U1"}, Text: "rollback at noon"},
		{ID: "m003", Deleted: true},
	} {
		if _, err := w.store.Record(t.Context(), c1.Scope(), m); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		as, path string
		status   int
		holds    string
	}{
		{"T1", "/v1/channels/C1", 200, `"messages":8`},
		{"all", "/v1/channels/C1", 400, "ambiguous_channel"},
		{"all", "/v1/channels/C1?workspace=T2", 200, `"name":"other"`},
		{"T1", "/v1/channels/C1/messages/m001", 200, `"text":"rollback at noon"`},
		{"T1", "/v1/channels/C1/messages/m001?revisions=true", 200, `"import worker 1"`},
		{"T1", "/v1/channels/C1/messages/m003", 404, "not_found"},
		{"T1", "/v1/channels/C1/messages/none", 404, "not_found"},
		{"T1", "/v1/channels/C1/threads/m008?limit=1", 200, `"total":3`},
		{"T1", "/v1/channels/C1/threads/m004", 200, `"replies":[]`},
		{"T1", "/v1/channels/C1/threads/m003", 404, "not_found"},
		{"T1", "/v1/channels/C1/threads/none", 404, "not_found"},
		{"T1", "/v1/channels/C1/search?q=rollback", 200, `"id":"m001"`},
		{"T1", "/v1/channels/C1/search?q=worker&author=U0&limit=1", 200, `"author":{"id":"U0"`},
		{"T1", "/v1/channels/C1/search?q=rollback&from=2024-01-01T00:00:00Z", 200, `{"hits":[],"missing":[]}`},
		{"T1", "/v1/channels/C1/search?q=", 400, "q has no word"},
		{"T1", "/v1/channels/C1/search?q=x&limit=51", 400, "limit"},
		{"T1", "/v1/channels/C1/search?q=x&from=soon", 400, "from is"},
		{"T1", "/v1/channels/C1/messages?cursor=abc", 400, "cursor is not one"},
		{"T1", "/v1/channels/C1/messages?limit=0", 400, "limit"},
		{"T2", "/v1/channels/C1/search?q=rollback", 200, `{"hits":[],"missing":[]}`},
	} {
		if status, _, got := w.call(t, c.as, http.MethodGet, c.path, nil); status != c.status || !strings.Contains(got, c.holds) {
			t.Errorf("%s %s: %d %s; want %d with %s", c.as, c.path, status, got, c.status, c.holds)
		}
	}
	status, _, got := w.call(t, "T1", http.MethodGet, "/v1/channels/C1/messages/m003?revisions=true", nil)
	if status != 404 || strings.Contains(got, "import") {
		t.Errorf("revisions of what is deleted: %d %s", status, got)
	}
}

// What a model reads with a capability goes through its tools, which stop at the
// anchor and count what they return.
func TestACapabilityReadsNothingButThroughItsTools(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t, earshot.Channel{Platform: "slack", Workspace: "T1", ID: "C1", Kind: earshot.KindChannel}, 3)
	const c = "/v1/channels/C1"
	for _, path := range []string{"/v1/channels", "/v1/agents", "/v1/turns", c, c + "/messages", c + "/messages/m001", c + "/threads/m000", c + "/search?q=import"} {
		if status, _, got := w.call(t, "tools", http.MethodGet, path, nil); status != http.StatusForbidden || !strings.Contains(got, "tools_only") {
			t.Errorf("%s: %d %s", path, status, got)
		}
	}
}

// What a caller may not see is answered byte for byte as what does not exist.
func TestForeignIsUnknown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.fill(t, earshot.Channel{Platform: "slack", Workspace: "T1", ID: "C2", Name: "secret", Kind: earshot.KindChannel}, 9)
	w.fill(t, earshot.Channel{Platform: "slack", Workspace: "T1", ID: "C1", Kind: earshot.KindChannel}, 1)
	for _, as := range []string{"C1", "T2", "read"} {
		for _, c := range []struct{ method, path string }{
			{"GET", "/v1/channels/%s"}, {"GET", "/v1/channels/%s/messages"}, {"GET", "/v1/channels/%s/messages/m001"}, {"GET", "/v1/channels/%s/messages/m001?revisions=true"},
			{"GET", "/v1/channels/%s/threads/m000"}, {"GET", "/v1/channels/%s/search?q=import"}, {"GET", "/v1/turns?channel=%s"}, {"GET", "/v1/usage?channel=%s"},
			{"DELETE", "/v1/channels/%s"}, {"DELETE", "/v1/channels/%s/messages/m001"}, {"DELETE", "/v1/authors/U1?workspace=T1&channel=%s"},
			{"GET", "/v1/channels/%s?workspace=T1&platform=slack"},
		} {
			answer := func(channel string) string {
				status, header, body := w.call(t, as, c.method, fmt.Sprintf(c.path, channel), nil)
				header = header.Clone()
				header.Del("X-Request-Id")
				header.Del("Date")
				return fmt.Sprint(status, header, body)
			}
			foreign, unknown := answer("C2"), answer("C9")
			if foreign != unknown || !strings.HasPrefix(foreign, "404") {
				t.Errorf("%s as %s: foreign %s\nunknown %s", c.path, as, foreign, unknown)
			}
		}
	}
}
