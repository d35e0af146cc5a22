package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestNoMetadataIsLost has 1,000 callers patch 20 conversations at once: everyone
// one key, and everyone of a conversation the cursor.
func TestNoMetadataIsLost(t *testing.T) {
	t.Parallel()
	const talks, patches = 20, 50
	for name, spec := range chatStores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newChat(t, spec(t))
			w.server.Config.SetKeepAlivesEnabled(true)
			ids := make([]string, talks)
			for i := range ids {
				ids[i] = w.create(t, "T1", fields{"metadata": fields{"first": true}})
			}
			room := make(chan struct{}, 64) // sockets
			var wg sync.WaitGroup
			for i := range talks * patches {
				wg.Go(func() {
					room <- struct{}{}
					defer func() { <-room }()
					at, n := ids[i%talks], i/talks
					patch := fields{fmt.Sprintf("key_%d", n): n, "last_processed_ts": fmt.Sprintf("1773154325.%06d", n)}
					if status, _, raw := w.call(t, "T1", http.MethodPatch, conversations+"/"+at+"/metadata", fields{"metadata": patch}); status != http.StatusOK {
						t.Errorf("patch %d: %d %s", i, status, raw)
					}
				})
			}
			wg.Wait()
			lost := 0
			for _, id := range ids {
				got := w.chat(t, "T1", http.MethodGet, conversations+"/"+id, nil, http.StatusOK).Data.Conversation.Metadata
				for n := range patches {
					if string(got[fmt.Sprintf("key_%d", n)]) != fmt.Sprint(n) {
						lost++
					}
				}
				if string(got["first"]) != "true" || string(got["last_processed_ts"]) != fmt.Sprintf(`"1773154325.%06d"`, patches-1) {
					t.Errorf("first %s, last_processed_ts %s", got["first"], got["last_processed_ts"])
				}
			}
			if lost > 0 {
				t.Errorf("%d of %d keys are lost", lost, talks*patches)
			}
		})
	}
}

func TestMetadataIsMerged(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	first := w.chat(t, "T1", http.MethodPost, conversations, newBody(fields{"owner_id": "U1", "tags": []string{"x"}, "metadata": fields{"kept": "old", "gone": "old", "channel_id": "C1"}}), http.StatusCreated).Data.Conversation
	at := conversations + "/" + first.ID + "/metadata"
	a := w.chat(t, "T1", http.MethodPatch, at, `{"metadata":{"gone":null,"never":null,"text":"new","one":1,"yes":true,"no":false,"half":1.50,"big":9007199254740993,"tiny":-1e-7,"zero":-0,"quoted":"1","prefix":"json:1","empty":"","nul":"a\u0000b","emoji":"\ud83d\ude00","list":[ 1.50, null, {"b":"\u00e9\u0000","a":[]} ],"none":{},"deep":[[[[[[[[0]]]]]]]]}}`, http.StatusOK)
	if a.Data.Created != nil {
		t.Error("a merge says created")
	}
	want := map[string]string{
		"kept": `"old"`, "channel_id": `"C1"`, "text": `"new"`, "one": "1", "yes": "true", "no": "false", "half": "1.50", "big": "9007199254740993", "tiny": "-1e-7", "zero": "-0",
		"quoted": `"1"`, "prefix": `"json:1"`, "empty": `""`, "nul": `"a␀b"`, "emoji": `"😀"`,
		"list": `[1.50,null,{"b":"é␀","a":[]}]`, "none": "{}", "deep": "[[[[[[[[0]]]]]]]]",
	}
	check := func(what string, c chatAnswer) {
		t.Helper()
		got := map[string]string{}
		for k, v := range c.Data.Conversation.Metadata {
			got[k] = string(v)
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", what, diff)
		}
	}
	check("the answer", a)
	check("what is read", w.chat(t, "T1", http.MethodGet, conversations+"/"+first.ID, nil, http.StatusOK))
	// Nothing else changes.
	got := a.Data.Conversation
	got.Metadata, got.Updated = first.Metadata, first.Updated
	if diff := cmp.Diff(got, first); diff != "" {
		t.Errorf("a merge changed more than metadata (-after +before):\n%s", diff)
	}
	check("an empty patch", w.chat(t, "T1", http.MethodPatch, at, `{"metadata":{}}`, http.StatusOK))
	want["workspace_id"] = `"T1"`
	check("where it stands, once more", w.chat(t, "T1", http.MethodPatch, at, `{"metadata":{"channel_id":"C1","workspace_id":"T1"}}`, http.StatusOK))
}

func TestMetadataThatIsRefused(t *testing.T) {
	t.Parallel()
	w := newChat(t, "memory:")
	id := w.create(t, "T1", fields{"metadata": fields{"channel_id": "C1", "thread_ts": "1.2", "last_processed_ts": "1773154325.000200", "kept": 1}})
	at := conversations + "/" + id + "/metadata"
	many, long := fields{}, strings.Repeat("x", 16<<10)
	for i := range 65 {
		many[fmt.Sprintf("k%d", i)] = i
	}
	for _, body := range []any{
		`[]`, `"x"`, `1`, `null`, `{}`, ``, `{`, `{"metadata":null}`, `{"metadata":[]}`, `{"metadata":"x"}`, `{"metadata":1}`, `{"metadata":{"a":{"b":1,"b":2}}}`, `{"metadata":{"a":[` + strings.Repeat("1", 65) + `]}}`,
		`{"metadata":{"a":` + strings.Repeat("[", 9) + strings.Repeat("]", 9) + `}}`, `{"metadata":{"channel_id":["C1"]}}`, `{"metadata":{"last_processed_ts":{}}}`,
		`{"metadata":{"a":1,"a":2}}`, `{"metadata":{"a":1},"metadata":{}}`, `{"metadata":{},"title":"x"}`, `{"Metadata":{}}`, `{"metadata":{}} {}`, `{"metadata":{"a":1e999}}`, `{"metadata":{"a":01}}`, `{"metadata":{"a":NaN}}`,
		`{"metadata":{"a":` + strings.Repeat("1", 65) + `}}`, `{"metadata":{"a.b":1}}`, `{"metadata":{"A":1}}`, `{"metadata":{"":1}}`, `{"metadata":{"1a":1}}`, `{"metadata":{"$set":1}}`, `{"metadata":{"__proto__":1}}`,
		`{"metadata":{"` + strings.Repeat("a", 65) + `":1}}`, `{"metadata":{"a\u0000":1}}`, `{"metadata":{"last_processed_ts":null}}`, `{"metadata":{"last_processed_ts":1773154325.0003}}`, `{"metadata":{"last_processed_ts":"yesterday"}}`,
		`{"metadata":{"channel_id":"C2"}}`, `{"metadata":{"channel_id":null}}`, `{"metadata":{"workspace_id":"T2"}}`, `{"metadata":{"thread_ts":"1.3"}}`, `{"metadata":{"thread_id":null,"thread_ts":null}}`, `{"metadata":{"platform":"discord"}}`,
		`{"metadata":{"thread_owner":"U1"}}`, `{"metadata":` + strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 71),
		fields{"metadata": many}, fields{"metadata": fields{"a": long}},
	} {
		if s, ok := body.(string); ok && s == "" {
			body = " "
		}
		w.chat(t, "T1", http.MethodPatch, at, body, http.StatusBadRequest)
		if status, _, raw := w.call(t, "T1", http.MethodPost, conversations, strings.Replace(fmt.Sprint(body), `{"metadata":`, `{"title":"t","client_type":"c","agent_id":"a","metadata":`, 1)); status >= 500 {
			t.Errorf("create with %v: %d %s", body, status, raw)
		}
	}
	got := w.chat(t, "T1", http.MethodGet, conversations+"/"+id, nil, http.StatusOK).Data.Conversation.Metadata
	if len(got) != 4 || string(got["kept"]) != "1" {
		t.Errorf("a patch that was refused left something: %v", got)
	}
	// Older, newer and equal cursors.
	for ts, want := range map[string]string{"1773154325.000100": "1773154325.000200", "1773154325.000200": "1773154325.000200"} {
		if got := w.chat(t, "T1", http.MethodPatch, at, fields{"metadata": fields{"last_processed_ts": ts}}, http.StatusOK).Data.Conversation.Metadata["last_processed_ts"]; string(got) != `"`+want+`"` {
			t.Errorf("after %s the cursor is %s, want %s", ts, got, want)
		}
	}
	if got := w.chat(t, "T1", http.MethodPatch, at, fields{"metadata": fields{"last_processed_ts": "1773154326.000000"}}, http.StatusOK).Data.Conversation.Metadata["last_processed_ts"]; string(got) != `"1773154326.000000"` {
		t.Errorf("the cursor did not move: %s", got)
	}
	// 64 keys and 16 KiB fit.
	full, sixteen := fields{}, w.create(t, "T1", nil)
	for i := range 64 {
		full[fmt.Sprintf("k%d", i)] = "v"
	}
	w.chat(t, "T1", http.MethodPatch, conversations+"/"+sixteen+"/metadata", fields{"metadata": full}, http.StatusOK)
	w.chat(t, "T1", http.MethodPatch, conversations+"/"+sixteen+"/metadata", fields{"metadata": fields{"one_more": "v"}}, http.StatusBadRequest)
	w.chat(t, "T1", http.MethodPatch, conversations+"/"+sixteen+"/metadata", fields{"metadata": fields{"one_more": "v", "k0": nil}}, http.StatusOK)
	big := w.create(t, "T1", nil)
	w.chat(t, "T1", http.MethodPatch, conversations+"/"+big+"/metadata", fields{"metadata": fields{"a": long[1:]}}, http.StatusOK)
	w.chat(t, "T1", http.MethodPatch, conversations+"/"+big+"/metadata", fields{"metadata": fields{"b": ""}}, http.StatusBadRequest)
}
