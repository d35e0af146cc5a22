package api_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/counted"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/store"
)

// What one request may ask of the store.
var (
	aboutOne  = counted.CallBound{Calls: 10, Rows: 15}   // what is about one channel, turn or conversation
	aContext  = counted.CallBound{Calls: 25, Rows: 30}   // a context, which is read from all parts of a channel
	aPage     = counted.CallBound{Calls: 10, Rows: 250}  // a page of a list
	turnsPage = counted.CallBound{Calls: 210, Rows: 410} // a page of turns; of each it is asked whether a user owns the conversation
)

// bounds has for each route, by its operation's id, the most that one request asks of
// the store.
var bounds = map[string]counted.CallBound{
	"list-channels":  aPage,
	"get-channel":    aboutOne,
	"put-channel":    aboutOne,
	"put-channels":   aboutOne,
	"get-coverage":   aboutOne,
	"erase-channel":  aboutOne,
	"list-messages":  aboutOne,
	"get-message":    aboutOne,
	"delete-message": aboutOne,
	"get-thread":     aboutOne,
	"search-channel": aboutOne,

	"get-me":       aboutOne,
	"list-agents":  aboutOne,
	"put-agent":    aboutOne,
	"put-authors":  aboutOne,
	"erase-author": aboutOne,
	"get-erasure":  aboutOne,
	"post-events":  aboutOne,
	"post-history": aboutOne,

	"post-coverage": aboutOne,
	"list-tools":    aboutOne,
	"call-tool":     aboutOne,

	"get-file": aboutOne,
	"put-file": aboutOne,

	"assemble":        aboutOne,
	"make-context":    aContext,
	"make-capability": aboutOne,
	"commit-turn":     aboutOne,
	"renew-turn":      aboutOne,
	"ask-approval":    aboutOne,
	"wait-turn":       aboutOne,
	"list-open-turns": aboutOne,
	"abort-turn":      aboutOne,
	"get-turn":        aboutOne,
	"list-turns":      turnsPage,
	"stream-turns":    turnsPage,
	"usage":           aPage,

	"list-feedback":   turnsPage,
	"put-feedback":    aboutOne,
	"remove-feedback": aboutOne,
	"list-approvals":  turnsPage,
	"get-approval":    aboutOne,
	"decide-approval": aboutOne,

	"list-conversations":          {Calls: 5, Rows: 1000},
	"create-conversation":         aboutOne,
	"get-conversation":            aboutOne,
	"list-conversation-messages":  aboutOne,
	"post-conversation-message":   aboutOne,
	"merge-conversation-metadata": aboutOne,
}

// everywhere has the requests that name no channel, where a route can be asked so.
var everywhere = map[string]string{
	"list-turns": "/v1/turns", "stream-turns": "/v1/turns/events", "usage": "/v1/usage", "list-approvals": "/v1/approvals", "list-feedback": "/v1/feedback",
}

// TestAmongManyChannelsEachRouteIsBounded asks every route of the document for one
// channel among 100,000, as callers of each reach, and holds what the store is asked
// to a bound.
func TestAmongManyChannelsEachRouteIsBounded(t *testing.T) {
	t.Parallel()
	file, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "crowd.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	st := counted.Crowd(t, file, counted.CrowdSize())
	m := newMatrixOver(t, st)
	operations := documented(t)
	places := 0
	for _, op := range operations {
		bound, ok := bounds[op.id]
		if !ok {
			t.Errorf("%s %s (%s) has no bound: add one", op.method, op.path, op.id)
		}
		t.Run(op.id, func(t *testing.T) {
			for _, who := range []string{"all", "workspace", "channel", "person"} {
				places++
				x := m.sow(t, "T1", fmt.Sprint("C", places))
				c := m.callers[who]
				if who == "channel" {
					c = m.key(t, x.channel, access.KeySpec{Workspaces: []earshot.WorkspaceID{"T1"}, Channels: []earshot.ChannelID{earshot.ChannelID(x.channel)}})
				}
				asked := []request{requests[op.id](x)}
				if path := everywhere[op.id]; path != "" {
					asked = append(asked, request{path: path})
				}
				for _, r := range asked {
					st.Reset(nil)
					a := m.send(t, op, c, r)
					bound.Check(t, st, who+" "+r.path)
					if (a.status < 300) != r.allowed(c) && c.whole {
						t.Errorf("%s: %s: %+v", who, r.path, a)
					}
				}
			}
		})
	}
	for _, id := range slices.Sorted(maps.Keys(bounds)) {
		if !slices.ContainsFunc(operations, func(op operation) bool { return op.id == id }) {
			t.Errorf("the table of bounds has %s, which is no route", id)
		}
	}
}
