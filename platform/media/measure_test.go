package media_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/platform/media"
)

func TestMeasure(t *testing.T) {
	t.Parallel()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewRGBA(image.Rect(0, 0, 30, 20))); err != nil {
		t.Fatal(err)
	}
	pack := func(s string) string {
		var b bytes.Buffer
		z := zlib.NewWriter(&b)
		_, _ = z.Write([]byte(s))
		_ = z.Close()
		return b.String()
	}
	page := "<</Type /Page /Parent 1 0 R>>\n"
	for _, c := range []struct {
		name, kind, data string
		want             media.Size
	}{
		{"a picture", "image/png", picture.String(), media.Size{Width: 30, Height: 20}},
		{"a picture that is none", "image/png", "no picture", media.Size{}},
		{"a PDF", "application/pdf", "%PDF-1.4\n<</Type/Pages /Count 3>>\n" + strings.Repeat(page, 3), media.Size{Pages: 3}},
		{"a PDF whose objects are compressed", "application/pdf", fmt.Sprintf("%%PDF-1.7\n<</Type /ObjStm /N 2>>\nstream\n%s\nendstream", pack(strings.Repeat(page, 2))), media.Size{Pages: 2}},
		{"a PDF that tells nothing", "application/pdf", "%PDF-1.4\n" + strings.Repeat("x", 120_000), media.Size{Pages: 3}},
		{"a stream that unpacks without end is read to a bound", "application/pdf", "%PDF-1.7\n<</Type /ObjStm>>\nstream\n" + pack(page+strings.Repeat(" ", 64<<20)+page), media.Size{Pages: 1}},
		{"a text", "text/plain", "words", media.Size{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := media.Measure(llm.Media{Type: c.kind, Data: []byte(c.data)})
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("-got +want\n%s", diff)
			}
		})
	}
}
