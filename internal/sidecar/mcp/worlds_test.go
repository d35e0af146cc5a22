package mcp_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/internal/hostile"
	"github.com/earshot-ai/earshot/internal/sidecar/mcp"
)

// TestNoMessageTellsWhatIsOutOfReach compares what MCP answers one caller in pairs of
// worlds that differ in what is out of its reach alone, stored after its own channel
// and before. All bytes are the same, but for the ids of turns, which count for the
// whole store (docs/threats.md says what they tell).
func TestNoMessageTellsWhatIsOutOfReach(t *testing.T) {
	t.Parallel()
	const neighbour, elsewhere, far = 1, hostile.PerWorkspace, 2 * hostile.PerWorkspace
	alone := newCrowd(t, 0)
	after, before := newCrowd(t, 0, neighbour, elsewhere, far), newCrowd(t, far, elsewhere, neighbour, 0)
	afterWorkspace, beforeWorkspace := newCrowd(t, 0, elsewhere, far), newCrowd(t, far, elsewhere, 0)
	for who, others := range [][]*crowd{{after, before}, {after, before}, {afterWorkspace, beforeWorkspace}} {
		want, found := alone.transcript(t, who)
		if found < len(want)/20 {
			t.Errorf("caller %d: only %d of %d messages found something", who, found, len(want))
		}
		for n, c := range others {
			got, _ := c.transcript(t, who)
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("caller %d, world %d:\n%s\nalone:\n%s", who, n, got[i], want[i])
					break
				}
			}
		}
	}
}

// transcript asks as a caller of the channel with index 0, and returns each message
// with its answer, and how many answers had a word of the channel. The callers are 0,
// the channel's key, 1, its capability, and 2, the workspace's key.
func (c *crowd) transcript(t *testing.T, who int) (all []string, found int) {
	t.Helper()
	own := fmt.Sprint(c.turns[0])
	k := c.callers[c.first+who]
	rng := rand.New(rand.NewPCG(16, 18))
	var messages []string
	for _, method := range []string{"tools/list", "resources/list", "resources/templates/list", "prompts/list", "ping"} {
		messages = append(messages, `{"jsonrpc":"2.0","id":1,"method":"`+method+`"}`)
	}
	for _, uri := range []string{"channels/slack/T0/C0/threads/m0", "channels/slack/T0/C0/threads/m9", "channels/slack/T0/C1/threads/m0", "channels/slack/T1/C0/threads/m0", "turns/" + own, "turns/404"} {
		messages = append(messages, `{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"earshot://`+uri+`"}}`)
	}
	for _, args := range []string{`{}`, `{"channel":"C0"}`, `{"channel":"C0","message":"q1"}`, `{"message":"q1"}`, `{"channel":"deploys"}`} {
		for _, name := range []string{"catch_up", "answer_as_bot", "why_did_it_say"} {
			messages = append(messages, `{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"`+name+`","arguments":`+args+`}}`)
		}
	}
	messages = append(messages, toolsCall(mcp.ExplainTurn, `{"turn":`+own+`}`), toolsCall(mcp.ListChannels, `{}`), toolsCall(mcp.ListChannels, `{"limit":1}`), toolsCall(mcp.ListChannels, `{"name":"c0"}`), toolsCall(mcp.ListChannels, `{"name":"C1"}`))
	for _, args := range []string{`{"intent":"deploy"}`, `{"intent":"deploy 3","until":"2026-03-02T09:00:05Z"}`, `{"intent":"says","authors":["Alice","Bob"]}`, `{"intent":"deploy","workspace":"T1"}`, `{"intent":"deploy","platform":"slack","since":"2020-01-01"}`} {
		messages = append(messages, toolsCall(mcp.Search, args))
	}
	scopes := hostile.Scopes()
	for range 300 {
		o := scopes[rng.IntN(len(scopes))]
		tool, args := hostile.Call(rng, o)
		if who == 2 {
			tool, args = atDesk(rng, o, tool, args)
		}
		if tool == mcp.ExplainTurn && strings.Contains(args, `"turn"`) {
			continue // another world's ids are others
		}
		messages = append(messages, toolsCall(tool, args))
	}
	ids := strings.NewReplacer(`turn":`+own+"}", `turn":ID}`, `turn":`+own+",", `turn":ID,`, `turn\":`+own+",", `turn\":ID,`, "turns/"+own+`"`, `turns/ID"`, "turn "+own+`"`, `turn ID"`, "turn "+own+",", "turn ID,", `"id\":`+own+",", `"id\":ID,`, `"id":`+own+",", `"id":ID,`, `\"id\":`+own+",", `\"id\":ID,`)
	for _, m := range messages {
		m = strings.Replace(m, `"id":1,`, `"id":"x",`, 1)
		status, got := serve(t, c.mcp, k, mcp.Path, m)
		lines := slices.DeleteFunc(strings.Split(got, "\r\n"), func(l string) bool { return strings.HasPrefix(l, "X-Request-Id:") })
		if k.check(t, m, got) {
			found++
		}
		all = append(all, fmt.Sprintf("%s\n%d %s", ids.Replace(m), status, ids.Replace(strings.Join(lines, "\n"))))
	}
	return all, found
}
