package media

import (
	"bytes"
	"net/http"
	"strings"
)

// Types that are recognised by their first bytes in addition to those of net/http:
// the recordings that phones and chat clients make.
var recordings = []struct {
	at    int
	magic string
	kind  string
}{
	{0, "fLaC", "audio/flac"},
	{0, "OggS", "audio/ogg"},
	{4, "ftypM4A", "audio/mp4"},
	{4, "ftypM4B", "audio/mp4"},
	{4, "ftyp", "video/mp4"}, // net/http knows some of its brands
	{0, "\xff\xfb", "audio/mpeg"}, {0, "\xff\xf3", "audio/mpeg"}, {0, "\xff\xf2", "audio/mpeg"}, {0, "\xff\xfa", "audio/mpeg"},
	{0, "\xff\xf1", "audio/aac"}, {0, "\xff\xf9", "audio/aac"},
}

// sniffType returns the media type of data by its first bytes, without parameters;
// application/octet-stream if they match no type.
func sniffType(data []byte) string {
	for _, r := range recordings {
		if len(data) > r.at && bytes.HasPrefix(data[r.at:], []byte(r.magic)) {
			return r.kind
		}
	}
	kind := bareMediaType(http.DetectContentType(data))
	if kind == "audio/wave" {
		return "audio/wav" // the name that providers use
	}
	return kind
}

// bareMediaType returns a media type without its parameters, in lower case.
func bareMediaType(kind string) string {
	kind, _, _ = strings.Cut(kind, ";")
	return strings.ToLower(strings.TrimSpace(kind))
}
