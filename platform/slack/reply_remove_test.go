package slack_test

import (
	"errors"
	"net/http"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/simulate"
)

// TestAPostIsRemoved deletes what was posted; a second time, or where somebody
// else was first, that is no error.
func TestAPostIsRemoved(t *testing.T) {
	t.Parallel()
	x := newSpeaker(t, nil)
	at := x.asked(t, x.general, "", "anyone?")
	m, err := x.Post(t.Context(), bot.Draft{Place: at, Key: "p1", Text: "…", Growing: true})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := x.Remove(t.Context(), at, m.ID); err != nil {
			t.Fatal(err)
		}
	}
	if left := x.slack.Posts(); len(left) > 0 {
		t.Errorf("it is still seen: %+v", left)
	}
}

// TestWhatARefusedRemovalMeans tells a deletion that is never allowed from one
// that may be repeated.
func TestWhatARefusedRemovalMeans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault simulate.Fault
		never bool
	}{
		{simulate.Fault{Kind: simulate.APIError, Error: "cant_delete_message"}, true},
		{simulate.Fault{Kind: simulate.APIError, Error: "compliance_exports_prevent_deletion"}, true},
		{simulate.Fault{Kind: simulate.APIError, Error: "internal_error"}, false},
		{simulate.Fault{Kind: simulate.ServerError, Status: http.StatusServiceUnavailable}, false},
		{simulate.Fault{Kind: simulate.RateLimit}, false},
	} {
		x := newSpeaker(t, nil)
		at := x.asked(t, x.general, "", "anyone?")
		c.fault.On = "chat.delete"
		x.slack.Inject(c.fault)
		err := x.Remove(t.Context(), at, earshot.MessageID("1700000000.000100"))
		var post *bot.PostError
		if err == nil || (errors.As(err, &post) && post.Retry <= 0) != c.never {
			t.Errorf("%s %s: %v, never %v", c.fault.Kind, c.fault.Error, err, c.never)
		}
	}
}
