package mcp_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot/internal/counted"
	"github.com/earshot-ai/earshot/internal/sidecar/mcp"
	"github.com/earshot-ai/earshot/internal/sidecar/mcp/mcptest"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tools"
)

// What one call may ask of the store.
var (
	aboutOne = counted.CallBound{Calls: 30, Rows: 60}   // what is about one channel or turn
	aLook    = counted.CallBound{Calls: 15, Rows: 1300} // a list of channels: 1,000 are looked at
)

// bounds has for each tool its arguments, for the channel of mcptest.Deploys, and the
// most that one call asks of the store.
var bounds = map[string]struct {
	args string
	counted.CallBound
}{
	tools.ChannelContext:     {`{"intent":"migration"}`, aboutOne},
	tools.ChannelMessages:    {`{"thread_id":"1.000000"}`, aboutOne},
	tools.ConversationSearch: {`{"query":"lock"}`, aboutOne},

	mcp.ListChannels: {`{"name":"deploys"}`, aLook},
	mcp.GetContext:   {`{"channel":"deploys","workspace":"T1","message":"last"}`, aboutOne},
	mcp.ExplainTurn:  {`{"channel":"C1","workspace":"T1"}`, aboutOne},
	mcp.Search:       {`{"intent":"migration"}`, counted.CallBound{Calls: aLook.Calls + 2*aboutOne.Calls, Rows: aLook.Rows + 2*aboutOne.Rows}},
}

// TestAmongManyChannelsEachToolIsBounded calls every tool, as callers of each reach,
// among 100,000 channels, gets every prompt, lists and reads resources, and holds what
// the store is asked to a bound.
func TestAmongManyChannelsEachToolIsBounded(t *testing.T) {
	t.Parallel()
	file, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "crowd.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	st := counted.Crowd(t, file, counted.CrowdSize())
	w := newWorldOver(t, st)
	called := map[string]bool{}
	for who, token := range map[string]string{"all": w.all, "workspace": w.team, "channel": w.one, "capability": w.capability} {
		c := w.overHTTP(t, token)
		check := func(what string, b counted.CallBound, ask func() error) {
			t.Helper()
			st.Reset(nil)
			if err := ask(); err != nil {
				t.Errorf("%s, %s: %v", who, what, err)
			}
			b.Check(t, st, who+", "+what)
		}
		var list *sdk.ListToolsResult
		check("tools/list", aboutOne, func() (err error) {
			list, err = c.ListTools(t.Context(), nil)
			return err
		})
		for _, tool := range list.Tools {
			b, ok := bounds[tool.Name]
			if !ok {
				t.Errorf("%s has no bound: add one", tool.Name)
				continue
			}
			called[tool.Name] = true
			check(tool.Name, b.CallBound, func() error {
				res, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: tool.Name, Arguments: json.RawMessage(b.args)})
				if err == nil && res.IsError {
					err = fmt.Errorf("%+v", res.Content[0])
				}
				return err
			})
		}
		if who == "capability" {
			continue // has neither prompts nor resources
		}
		check("resources/list", counted.CallBound{Calls: 60, Rows: 1300}, func() error { // of the channels that were active last
			_, err := c.ListResources(t.Context(), nil)
			return err
		})
		for _, uri := range []string{"earshot://channels/slack/T1/C1/threads/1.000000", fmt.Sprint("earshot://turns/", w.turns[mcptest.Deploys.Scope()])} {
			check(uri, aboutOne, func() error {
				_, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
				return err
			})
		}
		prompts, err := c.ListPrompts(t.Context(), nil)
		must(t, err)
		for _, p := range prompts.Prompts {
			args := map[string]string{"message": "3.000000"}
			if who != "channel" {
				args["channel"], args["workspace"] = "deploys", "T1"
			}
			if p.Name == mcp.CatchUp {
				delete(args, "message")
			}
			check(p.Name, aboutOne, func() error {
				_, err := c.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: p.Name, Arguments: args})
				return err
			})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(bounds)) {
		if !called[name] {
			t.Errorf("the table of bounds has %s, which is no tool", name)
		}
	}
}
