package mcpclient

import (
	"encoding/json"
	"fmt"
	"mime"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// A resultWriter makes the parts of a result within its limits.
type resultWriter struct {
	strain strainer
	most   Limits
	parts  []llm.Part
	bytes  int // of text
	medias int
	cut    bool
}

// result returns what a tool answered, as parts.
func (s *server) result(r *mcp.CallToolResult) toolbox.Result {
	w := &resultWriter{strain: s.strain, most: s.limits}
	for _, c := range r.Content {
		w.content(c)
	}
	if w.bytes == 0 && r.StructuredContent != nil {
		if text, err := json.Marshal(r.StructuredContent); err == nil {
			w.text(string(text))
		}
	}
	if w.cut {
		w.parts = append(w.parts, llm.Text(fmt.Sprintf("[the text is cut after %d bytes]", w.most.Text)))
	}
	return toolbox.Result{Parts: w.parts, Failed: r.IsError}
}

func (w *resultWriter) content(c mcp.Content) {
	switch c := c.(type) {
	case *mcp.TextContent:
		w.text(c.Text)
	case *mcp.ImageContent:
		w.media(c.MIMEType, c.Data, "")
	case *mcp.AudioContent:
		w.media(c.MIMEType, c.Data, "")
	case *mcp.ResourceLink:
		what := c.Title
		if what == "" {
			what = c.Name
		}
		w.line(strings.Join(strings.Fields(fmt.Sprintf("link: %s %s %s %s", what, c.URI, c.MIMEType, c.Description)), " "))
	case *mcp.EmbeddedResource:
		w.resource(c.Resource)
	default:
		w.line(fmt.Sprintf("[content of a kind that is not shown: %T]", c))
	}
}

func (w *resultWriter) resource(r *mcp.ResourceContents) {
	switch {
	case r == nil:
	case len(r.Blob) > 0:
		w.media(r.MIMEType, r.Blob, r.URI)
	default:
		w.line("resource: " + r.URI)
		w.text(r.Text)
	}
}

// text adds a text as far as there is room.
func (w *resultWriter) text(s string) {
	room := w.most.Text - w.bytes
	if s == "" {
		return
	}
	if room <= 0 {
		w.cut = true
		return
	}
	s, cut := w.strain.text(s, room)
	w.cut = w.cut || cut
	w.bytes += len(s)
	if s != "" {
		w.parts = append(w.parts, llm.Text(s))
	}
}

// line adds a text of one line.
func (w *resultWriter) line(s string) { w.text(w.strain.line(s, 500)) }

// media adds an image, a recording or a document, or a line on it.
func (w *resultWriter) media(kind string, data []byte, name string) {
	kind, _, err := mime.ParseMediaType(kind)
	if err != nil {
		kind = "application/octet-stream"
	}
	what := strings.TrimSpace(name + " " + kind)
	switch {
	case len(data) == 0:
		w.line(fmt.Sprintf("[%s: empty]", what))
		return
	case len(data) > w.most.Media:
		w.line(fmt.Sprintf("[%s: %d bytes, more than %d, not shown]", what, len(data), w.most.Media))
		return
	case w.medias >= w.most.Medias:
		w.line(fmt.Sprintf("[%s: %d bytes, not shown: a result has %d files at the most]", what, len(data), w.most.Medias))
		return
	}
	m := llm.Media{Type: kind, Data: data, Name: w.strain.line(name, 100)}
	var part llm.Part
	switch {
	case kind == "image/png", kind == "image/jpeg", kind == "image/gif", kind == "image/webp":
		part = llm.Image(m)
	case strings.HasPrefix(kind, "audio/"):
		part = llm.Audio(m)
	case kind == "application/pdf":
		part = llm.Document(m)
	case strings.HasPrefix(kind, "text/"), kind == "application/json":
		w.line("resource: " + what)
		w.text(string(data))
		return
	default:
		w.line(fmt.Sprintf("[%s: %d bytes, of a kind that is not shown]", what, len(data)))
		return
	}
	w.medias++
	w.parts = append(w.parts, part)
}
