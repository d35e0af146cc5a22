package inspect

import (
	"context"
	"io"
	"mime"
	"net/http"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/platform/local"
)

// file serves the content of a file that people have shared on the local platform.
// Only a picture whose bytes say so is shown by the browser; everything else is saved,
// and nothing in it runs here.
func (s *server) file(w http.ResponseWriter, v *visit) {
	c, err := s.Reader.To(v.caller).Resolve(v.Context(), v.place())
	if err != nil {
		s.failed(w, v, err, asPage)
		return
	}
	m, _, err := s.Reader.Message(v.Context(), v.caller, c, earshot.MessageID(v.query("message")), false)
	if err != nil {
		s.failed(w, v, err, asPage)
		return
	}
	i := slices.IndexFunc(m.Files, func(f earshot.File) bool { return f.ID == earshot.ArtifactID(v.query("file")) })
	if i < 0 {
		s.failed(w, v, absent, asPage)
		return
	}
	data, ok := s.fileContent(v.Context(), c.Scope(), m.Files[i].ID, local.MaxFile)
	if !ok {
		s.failed(w, v, absent, asPage)
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	kind, how := pictureType(data), "inline"
	if kind == "" {
		kind, how = "application/octet-stream", "attachment"
	}
	h.Set("Content-Type", kind)
	h.Set("Content-Disposition", mime.FormatMediaType(how, map[string]string{"filename": plain.ID(m.Files[i].Name)}))
	_, _ = w.Write(data) // the reader has gone
}

// fileContent returns at most n of a file's first bytes, if they are still here: they
// are kept in memory, and not by other platforms than the local one.
func (s *server) fileContent(ctx context.Context, at earshot.Scope, id earshot.ArtifactID, n int64) ([]byte, bool) {
	if s.Chat == nil || !s.Chat.Has(at) {
		return nil, false
	}
	src, err := s.Chat.OpenFile(ctx, at, id)
	if err != nil {
		return nil, false
	}
	defer src.Content.Close()
	data, err := io.ReadAll(io.LimitReader(src.Content, n))
	return data, err == nil
}

// sniffed is how many bytes tell what a file is.
const sniffed = 512

// pictureType returns the type of a picture that a browser may show, as its first
// bytes say, and "" for everything else. SVG is none: it is a document.
func pictureType(data []byte) string {
	switch kind := http.DetectContentType(data[:min(len(data), sniffed)]); kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return kind
	}
	return ""
}
