package media

import (
	"bytes"
	"compress/zlib"
	"image"
	"io"
	"regexp"

	"github.com/earshot-ai/earshot/llm"
)

// A Size is what providers' prices for a file depend on. Fields that do not apply
// are zero.
type Size struct {
	Width, Height int // of a picture, in pixels
	Pages         int // of a PDF; at least 1, and an estimate where its pages cannot be counted
}

// Measure returns the size of a file that was loaded.
func Measure(m llm.Media) Size {
	kind, _ := llm.KindOf(m.Type)
	switch {
	case kind == llm.KindImage:
		if c, _, err := image.DecodeConfig(bytes.NewReader(m.Data)); err == nil {
			return Size{Width: c.Width, Height: c.Height}
		}
	case bareMediaType(m.Type) == "application/pdf":
		return Size{Pages: countPages(m.Data)}
	}
	return Size{}
}

var (
	pageObject = regexp.MustCompile(`/Type\s*/Page[^s\w]`)
	objects    = regexp.MustCompile(`/ObjStm[^>]*>>\s*stream\r?\n`)
)

const (
	// maxUnpacked bounds what is unpacked of a PDF's object streams, in bytes.
	maxUnpacked = 8 << 20
	// pageBytes is the assumed size of a page if no pages can be counted.
	pageBytes = 50_000
)

// countPages counts the pages of a PDF: its objects of type Page, which newer files keep in
// compressed streams. Strangers wrote the file, so a stream that cannot be unpacked is
// skipped, and at most maxUnpacked bytes are unpacked.
func countPages(data []byte) int {
	n := len(pageObject.FindAllIndex(data, -1))
	left := int64(maxUnpacked)
	for _, at := range objects.FindAllIndex(data, -1) {
		z, err := zlib.NewReader(bytes.NewReader(data[at[1]:]))
		if err != nil || left <= 0 {
			continue
		}
		list, _ := io.ReadAll(io.LimitReader(z, left))
		left -= int64(len(list))
		n += len(pageObject.FindAllIndex(list, -1))
	}
	if n == 0 {
		n = 1 + len(data)/pageBytes
	}
	return n
}
