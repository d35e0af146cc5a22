package mcp_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"testing"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/archive"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/sidecar/mcp"
	"github.com/earshot-ai/earshot/internal/sidecar/mcp/mcptest"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/testdata"
	"github.com/earshot-ai/earshot/tools"
)

// TestAnswersAreAsShortAsTheLogForm compares what a model reads for the same messages
// of the demo's #deploys as text and as JSON with a field for everything, which is what
// it was given before. docs/mcp.md has the figures; `go test -v` prints them.
func TestAnswersAreAsShortAsTheLogForm(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	st, err := store.Open(ctx, "memory:", nil)
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	export, err := fs.Sub(testdata.Workspace, "workspace")
	must(t, err)
	importWorkspace(t, st, export)
	w := newWorldOver(t, st)
	c := w.overStreams(t, access.Principal{ID: "local:test", Kind: access.Local, ReadOnly: true, Reach: access.Reach{Workspaces: []earshot.WorkspaceID{"T0HARBOR"}}})
	measured := func(name, text, before string) {
		got, was := utf8.RuneCountInString(text), utf8.RuneCountInString(before)
		t.Logf("%-20s %6d characters as text, %6d as JSON", name, got, was)
		if got*2 > was {
			t.Errorf("%s: %d characters, want at most half of %d", name, got, was)
		}
	}

	list, err := st.Newest(ctx, earshot.Scope{Platform: "slack", Workspace: "T0HARBOR", Channel: "C0DEPLOYS"}, earshot.Whole(), earshot.Position{}, 100)
	must(t, err)
	var ids []earshot.MessageID
	for _, m := range list {
		ids = append(ids, m.ID)
	}
	prompt, err := c.GetPrompt(ctx, &sdk.GetPromptParams{Name: mcp.CatchUp, Arguments: map[string]string{"channel": "deploys"}})
	must(t, err)
	set, err := w.service.ToolsAt(ctx, mcptest.Everyone, earshot.Scope{Platform: "slack", Workspace: "T0HARBOR", Channel: "C0DEPLOYS"})
	must(t, err)
	was, err := set.Call(ctx, tools.ChannelMessages, encoded(t, map[string]any{"message_ids": ids}))
	must(t, err)
	measured("catch_up", prompt.Messages[1].Content.(*sdk.TextContent).Text, was.JSON)

	p, err := w.reader.Preview(ctx, mcptest.Everyone, explain.PreviewRequest{Channel: visible.Place{Channel: "C0DEPLOYS"}, Message: explain.Newest})
	must(t, err)
	for name, args := range map[string]string{"get_context": "", "get_context, ledger": `,"ledger":true`} {
		res, err := c.CallTool(ctx, &sdk.CallToolParams{Name: mcp.GetContext, Arguments: json.RawMessage(`{"channel":"deploys","message":"last"` + args + `}`)})
		must(t, err)
		if res.StructuredContent != nil {
			t.Errorf("%s has structured content, which models are given in place of the text", name)
		}
		text := res.Content[0].(*sdk.TextContent).Text
		if args == "" {
			measured(name, text, fieldByField(t, p))
		} else {
			t.Logf("%-20s %6d characters as text", name, utf8.RuneCountInString(text))
		}
	}
}

// importWorkspace stores the demo's workspace.
func importWorkspace(t *testing.T, st earshot.Store, export fs.FS) {
	t.Helper()
	dir := t.TempDir()
	must(t, os.CopyFS(dir, export))
	_, err := archive.ImportSlack(t.Context(), st, dir, &archive.Options{})
	must(t, err)
}

// fieldByField is a context as get_context gave it before: the prompt as a text in JSON,
// and a row with a text for each message, the newest 20 of those that it left out.
func fieldByField(t *testing.T, p explain.Preview) string {
	t.Helper()
	texts := map[earshot.MessageID]earshot.Message{}
	for _, m := range p.Input.Messages {
		texts[m.ID] = m
	}
	var prompt, shown, out []map[string]any
	for _, m := range p.Result.Messages {
		prompt = append(prompt, map[string]any{"role": m.Role, "text": m.Text, "sections": m.Sections})
	}
	for _, r := range p.Result.Ledger {
		m := texts[r.ID]
		row := map[string]any{
			"id": r.ID, "author": m.Author.Name, "ts": m.Time.String(), "text": string([]rune(m.Text)[:min(200, utf8.RuneCountInString(m.Text))]),
			"section": r.Section, "verdict": r.Verdict, "reason": r.Reason, "tokens": r.Tokens,
		}
		if r.Verdict != earshot.Out {
			shown = append(shown, row)
		} else {
			out = append(out, row)
		}
	}
	return encoded(t, map[string]any{
		"message": p.Anchor.ID, "policy": p.Policy, "hash": p.Result.Hash, "tokens": p.Result.Tokens, "notes": p.Result.Notes,
		"prompt": map[string]any{"system": p.Result.System, "messages": prompt}, "shown": shown, "left_out": map[string]any{"count": len(out), "examples": out[max(0, len(out)-20):]},
	})
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	must(t, err)
	return string(raw)
}
