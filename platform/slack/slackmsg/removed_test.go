package slackmsg

import (
	"testing"
)

// A preview that is taken away is told as a message without any, which is not to say
// nothing of previews.
func TestARemovedPreviewIsTold(t *testing.T) {
	t.Parallel()
	const with, without = `{"user":"U1","text":"a","ts":"1700000000.000100","attachments":[{"from_url":"https://x.io","title":"X"}]}`, `{"user":"U1","text":"a","ts":"1700000000.000100"}`
	for name, c := range map[string]struct {
		now, before string
		told        bool
	}{"removed": {without, with, true}, "none before": {without, without, false}} {
		d := decode(t, `{"type":"message","subtype":"message_changed","ts":"1700000050.000000","message":`+c.now+`,"previous_message":`+c.before+`}`)
		if got := d.Message.Shared; len(got) != 0 || (got != nil) != c.told {
			t.Errorf("%s: %#v", name, got)
		}
	}
}
