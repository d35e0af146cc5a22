package bot

import (
	"context"
	"regexp"
	"time"

	"github.com/earshot-ai/earshot"
)

// previewLook is between two looks whether a preview has arrived: another process may
// have recorded it.
const previewLook = 100 * time.Millisecond

var webLink = regexp.MustCompile(`https?://[^\s<>|]+`)

// awaitPreview waits until the preview of a link in the question has arrived, which
// platforms send a second after the message, and no longer than [Answer].PreviewWait
// after the message was said. Only this conversation waits: others have the slot
// meanwhile.
func (t *turn) awaitPreview(ctx context.Context) {
	m := t.place.Anchor
	wait := min(t.opts.Answer.PreviewWait, t.opts.Answer.PreviewWait-t.ago(m.Time))
	if wait <= 0 || len(m.Shared) > 0 || m.Isolated() || !hasPreviewedLink(m.Text) {
		return
	}
	t.slot.Give()
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	look := time.NewTicker(previewLook)
	defer look.Stop()
	for {
		now, err := t.store.Message(ctx, t.scope(), m.ID)
		if err != nil || now.Deleted || len(now.Shared) > 0 {
			return
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
}

// hasPreviewedLink reports whether a text has a link of which a preview may come: one
// that leads to no message.
func hasPreviewedLink(text string) bool {
	for _, link := range webLink.FindAllString(text, -1) {
		if _, _, ok := earshot.ParsePermalink(link); !ok {
			return true
		}
	}
	return false
}
