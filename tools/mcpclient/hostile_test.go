package mcpclient

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot/secret"
)

const (
	canary = "canary-secret-value"
	hidden = "\u202e\u2066\u200b\ufeff\U000e0041"
)

var pieces = []string{
	"a", "A", "_", "-", ".", " ", "/", "é", "日本", "tool", "long-long-long-long-long", canary, "canary-\u200bsecret-value", "canary-\x1b[31msecret-value", "canary-secret\x00-value",
	"\n", "\r\n", "\u2028", "\x1b[31m", "\x1b]8;;http://x\x07", "\u009b1m", "\u202e", "\u2066", "\u200b", "\ufeff", "\U000e0041", "\xff", "[question, Mon 2 Mar]", "09:07 Alice: delete all", "\"", "\\",
	"{", "}", "$ref", "#", "<script>", "](https://evil.example/", strings.Repeat("w ", 600),
}

func hostileText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(6) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

func hostileValue(r *rand.Rand, depth int) any {
	switch r.IntN(7) {
	case 0:
		return hostileText(r)
	case 1:
		return r.Float64() * 1e300
	case 2:
		return nil
	case 3, 4:
		m := map[string]any{}
		for range r.IntN(4) {
			key := []string{"type", "properties", "$ref", "oneOf", "items", "enum", "required", "description", hostileText(r)}[r.IntN(9)]
			if m[key] = true; depth < 40 {
				m[key] = hostileValue(r, depth+1)
			}
		}
		return m
	case 5:
		return []any{hostileText(r), "object"}
	default:
		return "object"
	}
}

func hostileTool(r *rand.Rand) *mcp.Tool {
	if r.IntN(40) == 0 {
		return nil
	}
	t := &mcp.Tool{Name: hostileText(r), Title: hostileText(r), Description: hostileText(r)}
	switch r.IntN(4) {
	case 0:
		t.InputSchema = hostileValue(r, 0)
	case 1:
		deep := any(map[string]any{"$ref": "#", "description": hostileText(r)})
		for range r.IntN(60) {
			deep = map[string]any{"type": "object", "properties": map[string]any{hostileText(r): deep}}
		}
		t.InputSchema = deep
	default:
		t.InputSchema = map[string]any{"type": "object", "properties": map[string]any{"x": map[string]any{"type": "string", "description": hostileText(r)}}}
	}
	if r.IntN(2) == 0 {
		t.Annotations = &mcp.ToolAnnotations{Title: hostileText(r), ReadOnlyHint: r.IntN(2) == 0, IdempotentHint: r.IntN(2) == 0}
	}
	return t
}

// isSafe reports whether a text shows no secret, nothing that hides or turns text, and no
// escape of a terminal.
func isSafe(s string) bool {
	return utf8.ValidString(s) && !strings.Contains(s, canary) && !strings.ContainsAny(s, hidden) &&
		!strings.ContainsFunc(s, func(c rune) bool { return unicode.IsControl(c) && c != '\n' && c != '\t' })
}

// TestHostileListsAndResults holds 100,000 tools of hostile servers, and as many results, to
// what a model may be given of them.
func TestHostileListsAndResults(t *testing.T) {
	t.Parallel()
	settings := Server{Name: "shop", Secrets: []secret.Secret{secret.New(canary)}}
	s := &server{Server: settings, strain: newStrainer(settings), limits: Limits{Answer: 16 << 20, Text: 64 << 10, Media: 5 << 20, Medias: 4}}
	r := rand.New(rand.NewPCG(3, 4))
	offered := 0
	for range 12_500 {
		told := make([]*mcp.Tool, 8)
		for i := range told {
			told[i] = hostileTool(r)
		}
		got := s.offer(told)
		names := map[string]bool{}
		for _, x := range got.tools {
			offered++
			switch {
			case x.Check() != nil:
				t.Fatalf("no model can be offered %+v: %v", x, x.Check())
			case names[x.Name] || !strings.HasPrefix(x.Name, "shop__"):
				t.Fatalf("the name %q, of %q", x.Name, x.own)
			case !isSafe(x.Name) || !isSafe(x.Description) || !isSafe(string(x.Schema)):
				t.Fatalf("a secret, or a character that nobody sees: %.300q", x.Name+" "+x.Description+" "+string(x.Schema))
			case len(x.Schema) > mostSchema || utf8.RuneCountInString(x.Description) > mostDescription:
				t.Fatalf("too long: %+v", x)
			}
			var schema struct{ Type string }
			if json.Unmarshal([]byte(x.Schema), &schema) != nil || schema.Type != "object" {
				t.Fatalf("the schema %s", x.Schema)
			}
			names[x.Name] = true
		}
		for _, p := range got.problems {
			if !isSafe(p) || strings.Contains(p, "\n") {
				t.Fatalf("the problem %q", p)
			}
		}
		again := slices.Clone(told)
		r.Shuffle(len(again), func(i, j int) { again[i], again[j] = again[j], again[i] })
		if other := s.offer(again); !slices.EqualFunc(got.tools, other.tools, func(a, b tool) bool { return a.Name == b.Name }) {
			t.Fatalf("in another order another list: %+v and %+v", got.tools, other.tools)
		}
		for range 8 {
			out := s.result(&mcp.CallToolResult{
				IsError: r.IntN(3) == 0, StructuredContent: hostileValue(r, 0),
				Content: []mcp.Content{
					&mcp.TextContent{Text: hostileText(r) + hostileText(r)}, &mcp.ResourceLink{URI: hostileText(r), Name: hostileText(r), Description: hostileText(r)},
					&mcp.ImageContent{MIMEType: hostileText(r), Data: []byte(hostileText(r))}, &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: hostileText(r), Text: hostileText(r)}},
				},
			})
			for _, p := range out.Parts {
				if !isSafe(p.Text) || p.Media != nil && !isSafe(p.Media.Type+p.Media.Name) {
					t.Fatalf("a secret, or a character that nobody sees: %q", p.Text)
				}
			}
		}
	}
	if offered < 30_000 {
		t.Errorf("%d tools were offered: the generator is too wild", offered)
	}
}
