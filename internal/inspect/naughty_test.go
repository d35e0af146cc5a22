package inspect_test

import (
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
)

// Whatever channels, people, models, files and causes are called, pages and pictures
// show it as text.
func TestNamesFromAnywhereStayTextInChartsAndTables(t *testing.T) {
	t.Parallel()
	for _, s := range []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `</title></svg><script>alert(1)</script>`, "a\x00b\x1b[31m\u202ec", "]]>", "{{.}}"} {
		w := newWorld(t, nil)
		ch := earshot.Channel{Platform: earshot.Local, Workspace: "local", ID: "ops", Name: s, Kind: earshot.KindChannel}
		if err := w.store.PutChannel(t.Context(), ch); err != nil {
			t.Fatal(err)
		}
		now := earshot.TimeOf(march(1, 0).UTC().AddDate(1, 0, 0))
		w.answered(t, exchange{
			channel: "ops", name: "q", id: "q", by: s, ask: s, at: now, model: s, usage: []earshot.Usage{{Input: 5}}, began: earshot.BeganAnew,
			files: []earshot.File{{ID: "F", Name: s, Type: s, SHA256: strings.Repeat("a", 64)}},
			turn:  earshot.Turn{Attached: []earshot.AttachedFile{{ID: "F", SHA256: strings.Repeat("a", 64)}}, Names: []earshot.SessionName{{ID: "x", Name: s}}, Shown: []earshot.ShownRevision{{ID: "q"}}},
		})
		w.answered(t, exchange{channel: "ops", name: "q", id: "q2", thread: "q", by: s, ask: s, at: now, model: s, usage: []earshot.Usage{{Input: 5}}})
		if err := w.store.PutCoverage(t.Context(), ops, earshot.Coverage{Thread: "q", From: now, State: earshot.Missing, Why: s}); err != nil {
			t.Fatal(err)
		}
		days := "&from=2027-02-20&to=2027-03-10"
		for path, pictures := range map[string][]string{
			"/costs?by=person" + days: {"tokens"}, "/costs?by=channel" + days: {"tokens"}, "/costs?by=model" + days: {"tokens"},
			"/conversations?": nil, "/conversation?channel=ops&agent=UBOT&name=q": {"tokens", "sum"}, "/coverage?": {"coverage"}, "/coverage?channel=ops": {"coverage"},
			"/conversations?channel=" + url.QueryEscape(s): nil,
		} {
			status, body := w.do(t, browser(t), "GET", path, nil, "Authorization", "Bearer "+token)
			if status >= 500 || strings.Contains(body, "<script>alert") || strings.Contains(body, "<img src=x") || strings.Contains(body, "\x00") {
				t.Errorf("%q: GET %s: %d %s", s, path, status, body)
			}
			at, query, _ := strings.Cut(path, "?")
			for _, name := range pictures {
				d := xml.NewDecoder(strings.NewReader(w.page(t, at+"/"+name+".svg?"+query)))
				for {
					if _, err := d.Token(); errors.Is(err, io.EOF) {
						break
					} else if err != nil {
						t.Fatalf("%q: %s of %s is no XML: %v", s, name, path, err)
					}
				}
			}
		}
	}
}
