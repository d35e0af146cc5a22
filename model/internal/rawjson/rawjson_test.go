package rawjson_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/model/internal/rawjson"
)

func TestObject(t *testing.T) {
	t.Parallel()
	kept := rawjson.Value(`{ "a" : "\u003c<" }`)
	o := rawjson.New("s", "<&>\u2028\"", "n", 1, "kept", kept, "list", rawjson.List(kept, rawjson.Of("x")), "none", rawjson.List(), "o", rawjson.New("b", true), "bytes", []byte{1, 2})
	want := `{"s":"<&>\u2028\"","n":1,"kept":{ "a" : "\u003c<" },"list":[{ "a" : "\u003c<" },"x"],"none":[],"o":{"b":true},"bytes":"AQI="}`
	if got := string(o.JSON()); got != want || !json.Valid([]byte(got)) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := string(rawjson.New().JSON()); got != `{}` || !rawjson.New().Empty() || o.Empty() {
		t.Errorf("an empty object is %s", got)
	}
	o = rawjson.New("a", 1)
	first := o.JSON()
	o.Set("b", 2)
	if got := string(first) + string(o.JSON()); got != `{"a":1}{"a":1,"b":2}` {
		t.Errorf("got %s", got)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ object, name, want string }{
		{`{"a":1,"b":2}`, "a", `{"a":[],"b":2}`},
		{`{"a":1, "b" : 2 }`, "b", `{"a":1, "b" : [] }`},
		{` { } `, "a", ` {"a":[] } `},
		{`{"a":{"b":1}}`, "b", `{"a":{"b":1},"b":[]}`},
		{`{"\u0061":"{}"}`, "a", `{"\u0061":[]}`},
		{`{"a":1 ,"é":"\u00e9 <"}`, "a", `{"a":[] ,"é":"\u00e9 <"}`},
		{`[1]`, "a", `[1]`},
		{`{"a":`, "a", `{"a":`},
		{``, "a", ``},
	} {
		if got := string(rawjson.Replace([]byte(c.object), c.name, rawjson.Value(`[]`))); got != c.want {
			t.Errorf("%s of %s: got %s, want %s", c.name, c.object, got, c.want)
		}
	}
}

// Members returns what encoding/json sees, each value byte for byte, and Replace
// changes the one member alone.
func FuzzReplace(f *testing.F) {
	for _, s := range []string{`{"a":1}`, `{ "b" : [ {"a": 1.0} ] , "a":"\u003c" }`, `{}`, `{"a":1,"a":2}`, `[]`, `{"a"`, `{"":null}x`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, object string) {
		var want map[string]json.RawMessage
		valid := json.Valid([]byte(object)) && json.Unmarshal([]byte(object), &want) == nil && want != nil
		members, ok := rawjson.Members([]byte(object))
		if valid && !ok {
			t.Fatalf("%q is no object", object)
		}
		if !valid {
			return
		}
		got := map[string]json.RawMessage{}
		for _, m := range members {
			got[m.Name] = json.RawMessage(m.Value)
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Fatalf("-got +want\n%s", diff)
		}
		replaced := rawjson.Replace([]byte(object), "a", rawjson.Value(`"new"`))
		var now map[string]json.RawMessage
		if err := json.Unmarshal(replaced, &now); err != nil {
			t.Fatalf("%v in %q", err, replaced)
		}
		if len(members) == len(want) { // no name stands twice
			want["a"] = json.RawMessage(`"new"`)
			if diff := cmp.Diff(now, want); diff != "" {
				t.Errorf("%q: -got +want\n%s", replaced, diff)
			}
		}
	})
}
