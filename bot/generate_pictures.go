package bot

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/earshot-ai/earshot/bot/internal/attach"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// maxPictures is how many pictures of one result are shown.
const maxPictures = 4

// A FileTaker brings files that were not shared in a channel into the form in which a model is
// given them. Where [Options].Files is one, pictures in results of tools of one's own are shown
// to the model.
type FileTaker interface {
	// Take returns a file by its bytes, whatever its declared type, and the SHA-256 of these.
	Take(ctx context.Context, data []byte, declared string) (llm.Media, string, error)
}

// takePictures takes the pictures out of a result that can be shown, as those that people share.
// What is left is named in the result's text. What a picture is its bytes say, not the tool.
func (c *ownCall) takePictures(ctx context.Context, r toolbox.Result) toolbox.Result {
	section, ok := attach.FilesSection(c.x.opts.Policy)
	taker, able := c.x.opts.Files.(FileTaker)
	if !ok || !able || r.Failed {
		return r
	}
	var rest []llm.Part
	for _, p := range r.Parts {
		if p.Media == nil || len(c.pictures) == maxPictures || int64(len(p.Media.Data)) > section.Bytes || !strings.HasPrefix(http.DetectContentType(p.Media.Data), "image/") {
			rest = append(rest, p)
			continue
		}
		m, sum, err := taker.Take(ctx, p.Media.Data, "")
		if kind, _ := llm.KindOf(m.Type); err != nil || kind != llm.KindImage {
			c.x.log.Warn("a picture of a tool cannot be shown", "tool", c.tool.Name, "err", err)
			rest = append(rest, p)
			continue
		}
		n := len(c.pictures) + 1
		m.ID, m.Name = attach.ShownID(c.id, n), fmt.Sprintf("picture %d of %s", n, c.tool.Name)
		c.pictures = append(c.pictures, attach.Picture{Media: m, SHA256: sum})
	}
	r.Parts = rest
	return r
}

// showPictures puts the pictures behind the text of the result.
func (c *ownCall) showPictures() {
	for _, p := range c.pictures {
		part, record := c.x.prompt.files.AddShown(p)
		c.result.Parts = append(c.result.Parts, part)
		if record != nil {
			c.result.Files = append(c.result.Files, *record)
		}
	}
}
