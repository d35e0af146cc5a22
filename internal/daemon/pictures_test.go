package daemon_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/model/modeltest"
)

// A picture that an MCP server returns comes to the model as a picture, scaled, in the result of
// the call; what only calls itself one is named.
func TestAPictureOfAnMCPServerIsShown(t *testing.T) {
	server := modeltest.StartScripted(t, `{"fixtures": [
		{"match": {"userMessage": "draw it", "hasToolResult": true}, "response": {"content": "It is black."}},
		{"match": {"userMessage": "draw it", "hasToolResult": false}, "response": {"toolCalls": [{"name": "charts__draw", "arguments": {}}]}}
	]}`)
	var small bytes.Buffer
	if err := png.Encode(&small, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "charts", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "draw", Description: "draws", InputSchema: map[string]any{"type": "object"}, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{
			&mcp.TextContent{Text: "drawn"}, &mcp.ImageContent{MIMEType: "image/jpeg", Data: small.Bytes()}, &mcp.ImageContent{MIMEType: "image/png", Data: []byte("<html>")},
		}}, nil
	})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(web.Close)
	x := newSlackWorld(t, server, bySocket, nil)
	x.file = filepath.Join(t.TempDir(), "earshot.yaml")
	if err := os.WriteFile(x.file, []byte("tools:\n  mcp:\n    - {name: charts, url: \""+web.URL+"\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x.knows()
	x.start()
	root := x.Say(x.general, x.ann, x.at("draw it"))
	x.ends(earshot.TurnDone)
	x.over(1)
	x.wantSaid(root, "It is black.")
	sent := x.wire.sent()
	last := sent[len(sent)-1]
	for _, want := range []string{base64.StdEncoding.EncodeToString(small.Bytes()), `"media_type":"image/png"`, `of 6 bytes`} {
		if !strings.Contains(last, want) {
			t.Errorf("the model was not sent %s: %s", want, last)
		}
	}
}
