package bot

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
)

// minShortened is the length from which the base64 of a file is shortened. Shorter
// ones might stand elsewhere in a body by chance.
const minShortened = 64

// Shortened returns the body for reading: in place of the bytes of a file stands
// what file it is. It is nil where the body is.
func (r SentRequest) Shortened() []byte {
	body := r.Body
	for _, m := range r.media {
		long := []byte(base64.StdEncoding.EncodeToString(m.Data))
		if len(long) < minShortened {
			continue
		}
		said, err := json.Marshal(fmt.Sprintf("…(base64 of %s, %s bytes)", cmp.Or(m.Name, string(m.ID)), formatThousands(len(m.Data))))
		if err == nil { // a text always has a JSON form
			body = bytes.ReplaceAll(body, long, said[1:len(said)-1])
		}
	}
	return body
}

// formatThousands writes a number with a comma between groups of three digits.
func formatThousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// mediaIn returns the files of a request, each once.
func mediaIn(r llm.Request) []llm.Media {
	var out []llm.Media
	known := map[earshot.ArtifactID]bool{}
	var walk func(parts []llm.Part)
	walk = func(parts []llm.Part) {
		for _, p := range parts {
			if p.Media != nil && !known[p.Media.ID] {
				known[p.Media.ID] = true
				out = append(out, *p.Media)
			}
			if p.Result != nil {
				walk(p.Result.Parts)
			}
		}
	}
	for _, m := range r.Messages {
		walk(m.Parts)
	}
	// The longest first: a file may contain another.
	slices.SortStableFunc(out, func(a, b llm.Media) int { return cmp.Compare(len(b.Data), len(a.Data)) })
	return out
}

// quoteNames writes names for a sentence.
func quoteNames(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = strconv.Quote(n)
	}
	return strings.Join(out, ", ")
}
