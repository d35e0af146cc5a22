package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot/internal/sidecar/api"
)

// A route is an operation with what the document says of its body and parameters.
type route struct {
	operation
	body    bool
	may     bool // the body may be left out
	example jsontext.Value
	limits  map[string][2]int64 // the bounds of each bounded number in the query
	bytes   bool                // the body is a file
}

// routes returns the routes of the document.
func routes(t testing.TB) []route {
	t.Helper()
	raw, err := api.Document("test")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
			RequestBody *struct {
				Required bool
				Content  map[string]struct{ Example jsontext.Value }
			} `json:"requestBody"`
			Parameters []struct {
				In, Name string
				Schema   struct {
					Type             any
					Minimum, Maximum *float64
				}
			}
		}
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		t.Fatal(err)
	}
	var out []route
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(doc.Paths[path])) {
			op := doc.Paths[path][method]
			r := route{operation: operation{op.OperationID, strings.ToUpper(method), path}, limits: map[string][2]int64{}}
			if op.RequestBody != nil {
				r.body, r.may, r.example = true, !op.RequestBody.Required, op.RequestBody.Content["application/json"].Example
				_, r.bytes = op.RequestBody.Content["application/octet-stream"]
			}
			for _, p := range op.Parameters {
				if s := p.Schema; p.In == "query" && s.Type == "integer" && s.Minimum != nil && s.Maximum != nil {
					r.limits[p.Name] = [2]int64{int64(*s.Minimum), int64(*s.Maximum)}
				}
			}
			out = append(out, r)
		}
	}
	return out
}

// A spoiled body is one that is refused, and with which status.
type spoiled struct {
	name, body, kind string
	status           int
}

// spoil returns a valid body in every way in which it is refused. Each object in it
// gets a key that is unknown, one twice, and one in another case, except where keys
// are the caller's own.
func spoil(body string) []spoiled {
	const kind = "application/json"
	list := []spoiled{
		{"a second value", body + "{}", kind, 400},
		{"text after it", body + "x", kind, 400},
		{"a byte order mark", "\ufeff" + body, kind, 400},
		{"nothing", "", kind, 400},
		{"a list", "[" + body + "]", kind, 400},
		{"a text", `"x"`, kind, 400},
		{"null", "null", kind, 400},
		{"cut off", body[:len(body)-1], kind, 400},
		{"depth 65", `{"a":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + "}", kind, 400},
		{"1 MiB and a byte", body[:len(body)-1] + strings.Repeat(" ", 1<<20-len(body)+1) + "}", kind, 413},
		{"1 MiB and a broken end", body[:len(body)-1] + strings.Repeat(" ", 1<<20-len(body)) + "]", kind, 400},
		{"as text", body, "text/plain", 415},
		{"as a form", "channel=C1", "application/x-www-form-urlencoded", 415},
	}
	for at, o := range objects(body) {
		first, value, rest := o.key, o.value, body[o.end:]
		before := body[:o.begin]
		put := func(name, members string) {
			list = append(list, spoiled{fmt.Sprintf("%s in object %d", name, at), before + members + "," + rest, kind, 400})
		}
		put("a key twice", fmt.Sprintf("%q:%s,%q:%s", first, value, first, value))
		put("a key twice, escaped", fmt.Sprintf("%q:%s,\"\\u%04x%s\":%s", first, value, first[0], first[1:], value))
		if o.free {
			continue
		}
		put("an unknown key", fmt.Sprintf("%q:%s,\"zz_unknown\":1", first, value))
		put("a key in upper case", fmt.Sprintf("%q:%s", strings.ToUpper(first), value))
		put("a key in another case too", fmt.Sprintf("%q:%s,%q:%s", first, value, strings.ToUpper(first[:1])+first[1:], value))
	}
	for i := range list {
		list[i].body = strings.ReplaceAll(list[i].body, ",}", "}")
	}
	return list
}

// An object of a body: its first member, which stands from begin to end.
type member struct {
	begin, end int64
	key        string
	value      string
	free       bool // its keys are the caller's own
}

// objects returns the objects of a body that have members.
func objects(body string) []member {
	var out []member
	var walk func(text string, offset int64, free bool)
	walk = func(text string, offset int64, free bool) {
		d := jsontext.NewDecoder(strings.NewReader(text))
		open, err := d.ReadToken()
		if err != nil {
			return
		}
		object := open.Kind() == '{'
		if !object && open.Kind() != '[' {
			return
		}
		for n := 0; d.PeekKind() != '}' && d.PeekKind() != ']'; n++ {
			key := ""
			begin := d.InputOffset()
			if object {
				tok, err := d.ReadToken()
				if err != nil {
					return
				}
				key = tok.String()
				begin = d.InputOffset() - int64(len(key)) - 2
			}
			v, err := d.ReadValue()
			if err != nil {
				return
			}
			value, end := string(v), d.InputOffset()
			if object && n == 0 {
				stop := end
				if int(stop) < len(text) && text[stop] == ',' {
					stop++
				}
				out = append(out, member{offset + begin, offset + stop, key, value, free})
			}
			walk(value, offset+end-int64(len(value)), key == "metadata")
		}
	}
	walk(body, 0, false)
	return out
}

// TestEveryBodyIsReadStrictly spoils the body of each route that takes one, in every
// way, and gets the right refusal, in the route's own form, and nothing is stored.
func TestEveryBodyIsReadStrictly(t *testing.T) {
	t.Parallel()
	m := newMatrix(t)
	home := m.territories[0]
	before := m.state(t, home)
	sent := 0
	for _, r := range routes(t) {
		if !r.body || r.bytes { // a file has no JSON to be strict about
			continue
		}
		req := requests[r.id](home)
		bodies := []string{req.body}
		if len(r.example) > 0 {
			if e := r.example; e.Compact() == nil {
				bodies = append(bodies, string(e))
			}
		}
		for _, body := range bodies {
			for _, s := range spoil(body) {
				sent++
				status, header, got := m.raw(t, r.method, req.path, "workspace", s.kind, s.body)
				if r.id == "call-tool" {
					status, header, got = m.raw(t, r.method, req.path, "channel", s.kind, s.body)
					if s.status == 400 && status == http.StatusOK && strings.Contains(got, `"failed":true`) {
						continue // which the model is told
					}
				}
				if s.body == "" && r.may {
					if status != http.StatusOK {
						t.Errorf("%s without a body: %d %s", r.id, status, got)
					}
					continue
				}
				if status != s.status {
					t.Errorf("%s: %s: %d %s, want %d; for %.300s", r.id, s.name, status, got, s.status, s.body)
					continue
				}
				if problem := refusal(r.path, header, got, status); problem != "" {
					t.Errorf("%s: %s: %s: %v %s", r.id, s.name, problem, header, got)
				}
			}
		}
	}
	if after := m.state(t, home); after != before {
		t.Errorf("something was stored:\n%s\n%s", before, after)
	}
	if sent < 300 {
		t.Errorf("only %d bodies were sent", sent)
	}
	t.Logf("%d bodies", sent)
}

// refusal says what is wrong with the form of a refusal, "" for nothing.
func refusal(path string, header http.Header, body string, status int) string {
	var p map[string]any
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		return err.Error()
	}
	code, _ := p["code"].(string)
	switch {
	case code == "":
		return "it has no code"
	case strings.HasPrefix(path, "/api/chat"):
		if text, _ := p["error"].(string); p["success"] != false || text == "" || !strings.HasPrefix(header.Get("Content-Type"), "application/json") {
			return "it is no envelope"
		}
	case p["status"] != float64(status) || p["title"] == "" || header.Get("Content-Type") != "application/problem+json":
		return "it is no problem"
	}
	return ""
}

// raw sends a request as a caller.
func (m *matrix) raw(t testing.TB, method, path, who, kind, body string) (int, http.Header, string) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	req.Header.Set("Authorization", "Bearer "+m.callers[who].bearer)
	req.Host = "localhost"
	w := httptest.NewRecorder()
	m.handler.ServeHTTP(w, req)
	return w.Code, w.Header(), w.Body.String()
}

// TestEveryPageIsBounded asks each route that pages for more than a page, for less
// than one, and for no number.
func TestEveryPageIsBounded(t *testing.T) {
	t.Parallel()
	m := newMatrix(t)
	home := m.territories[0]
	found := 0
	for _, r := range routes(t) {
		for name, bounds := range r.limits {
			found++
			for value, want := range map[string]int{
				fmt.Sprint(bounds[0]): 200, fmt.Sprint(bounds[1]): 200, fmt.Sprint(bounds[0] - 1): 400, fmt.Sprint(bounds[1] + 1): 400,
				"-1": 400, "2147483648": 400, "99999999999999999999": 400, "x": 400, "1.5": 400, "1e1": 400, "0x1": 400, "１": 400,
			} {
				u, err := url.Parse(requests[r.id](home).path)
				if err != nil {
					t.Fatal(err)
				}
				q := u.Query()
				q.Set(name, value)
				u.RawQuery = q.Encode()
				status, header, got := m.raw(t, r.method, u.String(), "workspace", "", "")
				if status != want {
					t.Errorf("%s: %s=%s: %d %.300s, want %d", r.id, name, value, status, got, want)
				} else if problem := refusal(r.path, header, got, status); status >= 400 && problem != "" {
					t.Errorf("%s: %s=%s: %s: %s", r.id, name, value, problem, got)
				}
			}
		}
	}
	if found < 6 {
		t.Errorf("only %d bounded parameters", found)
	}
}
