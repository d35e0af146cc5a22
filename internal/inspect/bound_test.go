package inspect_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/counted"
	"github.com/earshot-ai/earshot/internal/inspect"
	"github.com/earshot-ai/earshot/platform/local"
	"github.com/earshot-ai/earshot/store"
)

// What one request may ask of the store.
var (
	nothing  = counted.CallBound{}
	aboutOne = counted.CallBound{Calls: 30, Rows: 40}   // what is about one channel, turn or conversation
	aPage    = counted.CallBound{Calls: 45, Rows: 1100} // a list, beside which the first 500 channels can be chosen; the first page counts up to 1,000
)

// bounds has for each route, by its pattern, the most that one request asks of the
// store.
var bounds = map[string]counted.CallBound{
	"GET /static/":                                nothing,
	"GET /login":                                  nothing,
	"POST /login":                                 nothing,
	"POST /logout":                                nothing,
	"GET /events":                                 aboutOne,
	"GET /index/{picture}":                        aPage,
	"GET /{$}":                                    aPage,
	"GET /index.json":                             aPage,
	"GET /costs/{picture}":                        aboutOne,
	"GET /costs":                                  aboutOne,
	"GET /costs.json":                             aboutOne,
	"GET /coverage/{picture}":                     aPage,
	"GET /coverage":                               aPage,
	"GET /coverage.json":                          aPage,
	"GET /conversations/{picture}":                aPage,
	"GET /conversations":                          aPage,
	"GET /conversations.json":                     aPage,
	"GET /conversation/{picture}":                 aboutOne,
	"GET /conversation":                           aboutOne,
	"GET /conversation.json":                      aboutOne,
	"GET /turns":                                  aPage,
	"GET /turns.json":                             aPage,
	"GET /parked":                                 aPage,
	"GET /parked.json":                            aPage,
	"GET /approvals":                              aPage,
	"GET /approvals.json":                         aPage,
	"POST /approvals/{id}":                        aboutOne,
	"POST /turns/{id}/retry":                      aboutOne,
	"POST /turns/{id}/discard":                    aboutOne,
	"POST /turns/{id}/stop":                       aboutOne,
	"GET /chat/{picture}":                         aPage,
	"GET /chat":                                   aPage,
	"GET /chat.json":                              aPage,
	"POST /chat/say":                              aboutOne,
	"POST /chat/edit":                             aboutOne,
	"POST /chat/delete":                           aboutOne,
	"POST /chat/choose":                           aPage, // which says what somebody is told alone
	"GET /turns/{id}/{picture}":                   aboutOne,
	"GET /turns/{id}":                             aboutOne,
	"GET /turns/{id}/what-if/{picture}":           aboutOne,
	"GET /turns/{id}/what-if":                     aboutOne,
	"GET /turns/{id}/what-if.json":                aboutOne,
	"GET /context/{picture}":                      aboutOne,
	"GET /context":                                aboutOne,
	"GET /context.json":                           aboutOne,
	"GET /context/what-if/{picture}":              aboutOne,
	"GET /context/what-if":                        aboutOne,
	"GET /context/what-if.json":                   aboutOne,
	"GET /turns/{turn}/steps/{step}/request":      aboutOne,
	"GET /turns/{turn}/steps/{step}/request.json": aboutOne,
	"GET /turns/{turn}/case.txt":                  aboutOne,
	"GET /search/{picture}":                       aPage,
	"GET /search":                                 aPage,
	"GET /search.json":                            aPage,
	"GET /health/{picture}":                       aboutOne,
	"GET /health":                                 aboutOne,
	"GET /health.json":                            aboutOne,
	"GET /":                                       nothing,
}

// TestAmongManyChannelsEachPageIsBounded asks every route of the mux for one channel
// among 100,000, and those that show a list for the list, as visitors of each reach,
// and holds what the store is asked to a bound. What a daemon adds to the page of its
// health is bounded in package daemon.
func TestAmongManyChannelsEachPageIsBounded(t *testing.T) {
	t.Parallel()
	file, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "crowd.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	st := counted.Crowd(t, file, counted.CrowdSize())
	m := newMatrixOver(t, st, file)
	own, slack := m.territories[0], m.territories[2]
	ended := map[string]territory{ // whose parked turn this ends
		"POST /turns/{id}/retry":   slack,
		"POST /turns/{id}/discard": own,
	}
	patterns := inspect.Patterns()
	for _, p := range patterns {
		bound, ok := bounds[p]
		if !ok {
			t.Errorf("%s has no bound: add one", p)
		}
		t.Run(p, func(t *testing.T) {
			ask := func(who string, x territory, method string, paths []string, form url.Values) {
				t.Helper()
				for _, path := range paths {
					st.Reset(nil)
					status, said := m.ask(t, m.callers[who], method, path, form)
					bound.Check(t, st, who+" "+path)
					if status >= 400 && !missing(path) && !strings.HasSuffix(path, "/x.svg") && !strings.Contains(path, "/costs/") {
						t.Errorf("%s, %s: %d %s", who, path, status, said)
					}
				}
			}
			method, _, _ := strings.Cut(p, " ")
			if method == http.MethodPost {
				x, ok := ended[p]
				if !ok {
					x = own
				}
				heard, err := m.chat.Say(t.Context(), local.NewMessage{Channel: "ops", As: x.canary, Text: "so"})
				if err != nil {
					t.Fatal(err)
				}
				form := x.form()
				form.Set("as", x.canary)
				form.Set("message", string(heard.Message.ID))
				form.Set("token", token)
				if p == "POST /chat/choose" {
					asks, err := m.chat.Post(t.Context(), bot.Draft{Key: "AQUESTION", Text: "May I?", Choices: []bot.Choice{{ID: "do", Label: "Do it"}}, Place: bot.Place{
						Channel: earshot.Channel{Platform: earshot.Local, Workspace: "local", ID: "ops"}, Anchor: heard.Message,
					}})
					if err != nil {
						t.Fatal(err)
					}
					form.Set("message", string(asks.ID))
					form.Set("choice", "do")
				}
				place := strings.Replace(strings.Fields(p)[1], "{id}", fmt.Sprint(x.parked), 1)
				if strings.HasPrefix(place, "/approvals/") || strings.HasSuffix(place, "/stop") {
					place = asked[p](x)[0]
				}
				ask("token", x, method, []string{place}, form)
				return
			}
			for who, x := range map[string]territory{"token": own, "channel": own, "workspace": slack, "user": slack} {
				ask(who, x, method, lists[p], nil)
				if asked[p] != nil {
					ask(who, x, method, asked[p](x), nil)
				}
			}
		})
	}
	for _, p := range slices.Sorted(maps.Keys(bounds)) {
		if !slices.Contains(patterns, p) {
			t.Errorf("the table of bounds has %s, which is no route", p)
		}
	}
}
