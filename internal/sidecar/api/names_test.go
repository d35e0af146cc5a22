package api_test

import (
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
)

func TestNamesAreStoredWithinReach(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.store.PutChannel(t.Context(), earshot.Channel{Platform: "slack", Workspace: "T1", ID: "C2", Name: "old", Kind: earshot.KindGroup}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		as, method, path, body string
		status                 int
		holds                  string
	}{
		{"T1", "PUT", "/v1/agents/U9", `{"name":"helper","aliases":["B9"]}`, 200, `"id":"U9","name":"helper","aliases":["B9"],"workspace":"T1"}`},
		{"all", "PUT", "/v1/agents/U9", `{"name":"helper"}`, 400, "workspace is required"},
		{"read", "PUT", "/v1/agents/U9", `{"name":"helper"}`, 403, "read_only"},
		{"tools", "PUT", "/v1/agents/U9", `{"name":"helper"}`, 403, "read_only"},
		{"T2", "PUT", "/v1/agents/U9", `{"name":"helper","workspace":"T1"}`, 404, "not_found"},
		{"T1", "PUT", "/v1/agents/U9", `{"name":""}`, 400, "name must have"},
		{"T1", "PUT", "/v1/agents/U9", `{"name":"x","Name":"y"}`, 400, "unknown field"},
		{"C1", "PUT", "/v1/agents/U8", `{"name":"narrow"}`, 200, `"U8"`},
		{"T2", "GET", "/v1/agents", "", 200, `{"agents":[]}`},
		{"T1", "GET", "/v1/agents", "", 200, `"channel":"C1"`},
		{"T1", "PUT", "/v1/channels/C2", `{"name":"deploys","topic":"go"}`, 200, `{"platform":"slack","workspace":"T1","id":"C2","name":"deploys","kind":"group","topic":"go"}`},
		{"T1", "PUT", "/v1/channels/C5", `{"name":"new"}`, 200, `{"platform":"api","workspace":"T1","id":"C5","name":"new","kind":"channel"}`},
		{"C1", "PUT", "/v1/channels/C2", `{"name":"mine"}`, 404, "not_found"},
		{"C1", "PUT", "/v1/channels/C7", `{"name":"mine"}`, 404, "not_found"},
		{"read", "PUT", "/v1/channels/C1", `{"name":"mine"}`, 403, "read_only"},
		{"T1", "PUT", "/v1/channels/C5", `{"kind":"cave"}`, 400, "kind must be"},
		{"all", "PUT", "/v1/channels/C6", `{"name":"new"}`, 400, "workspace is required"},
		{"T1", "PUT", "/v1/authors", `{"authors":[{"id":"U1","name":"Ann","zone":"Europe/Berlin"}]}`, 200, `{"stored":1}`},
		{"C1", "PUT", "/v1/authors", `{"authors":[{"id":"U1","name":"Bob"}]}`, 403, "workspace_key_needed"},
		{"T1", "PUT", "/v1/authors", `{"authors":[]}`, 400, "authors must be"},
		{"T1", "PUT", "/v1/authors", `{"authors":[null]}`, 400, "authors[0]"},
		{"read", "PUT", "/v1/authors", `{"authors":[{"id":"U1","name":"Bob"}]}`, 403, "read_only"},
	} {
		var body any
		if c.body != "" {
			body = c.body
		}
		if status, _, got := w.call(t, c.as, c.method, c.path, body); status != c.status || !strings.Contains(got, c.holds) {
			t.Errorf("%s %s %s %s: %d %s; want %d with %s", c.as, c.method, c.path, c.body, status, got, c.status, c.holds)
		}
	}
	for _, platform := range []earshot.Platform{"slack", "api"} {
		list, err := w.store.Authors(t.Context(), platform, "T1", "U1")
		if err != nil || len(list) != 1 || list[0].Name != "Ann" || list[0].Zone != "Europe/Berlin" {
			t.Errorf("%s: %+v, %v", platform, list, err)
		}
	}
}
