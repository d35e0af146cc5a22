package slack_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/simulate"
)

// TestOneReplyEachAfterAnOutage has Slack refuse more calls in a row than five,
// in each mode of replying, and asks once it takes them again.
func TestOneReplyEachAfterAnOutage(t *testing.T) {
	t.Parallel()
	const calls = 7 // each wait is twice the one before
	down := simulate.Fault{Kind: simulate.ServerError, Status: http.StatusServiceUnavailable, On: "chat.*", Times: calls}
	unavailable := simulate.Fault{Kind: simulate.APIError, Error: "service_unavailable", On: "chat.*", Times: calls}
	noUpdates := simulate.Fault{Kind: simulate.ServerError, Status: http.StatusServiceUnavailable, On: "chat.update", Times: calls}
	once := simulate.Fault{Kind: simulate.ServerError, Status: http.StatusServiceUnavailable, On: "chat.*", Times: 1}
	noReads := simulate.Fault{Kind: simulate.APIError, Error: "fatal_error", On: "conversations.replies", Times: 3} // one look: a read is tried three times
	for _, c := range []struct {
		name, reply string
		faults      []simulate.Fault
	}{
		{"chat.* answers 503, replies are posted", slack.ReplyPost, []simulate.Fault{down}},
		{"chat.* answers 503, replies are updates", slack.ReplyUpdate, []simulate.Fault{down}},
		{"chat.* answers 503, replies are streams", slack.ReplyStream, []simulate.Fault{down}},
		{"chat.* answers service_unavailable", slack.ReplyPost, []simulate.Fault{unavailable}},
		{"updates answer 503", slack.ReplyUpdate, []simulate.Fault{noUpdates}},
		{"updates answer 503, and streams", slack.ReplyStream, []simulate.Fault{noUpdates}},
		{"reads fail as well", slack.ReplyPost, []simulate.Fault{once, noReads}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			x := newAsked(t, c.reply, time.Minute, llmtest.New(repeat(10, llmtest.Say("It is so."))...))
			x.slack.Inject(c.faults...)
			x.ask(t, 1)
			if parked := x.check(t); parked > 0 {
				t.Errorf("%d turns are parked", parked)
			}
		})
	}
}

// TestNoPlaceholderStaysWhereUpdatesAreRefused has Slack refuse each update.
func TestNoPlaceholderStaysWhereUpdatesAreRefused(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"edit_window_closed", "cant_update_message", "message_not_found", "msg_too_long", "is_inactive"} {
		for _, deletes := range []simulate.Fault{
			{Kind: simulate.LostResponse, On: "chat.delete", Times: 3},
			{Kind: simulate.ServerError, On: "chat.delete", Times: 3},
		} {
			t.Run(code+", deletions answer "+string(deletes.Kind), func(t *testing.T) {
				t.Parallel()
				x := newAsked(t, slack.ReplyUpdate, time.Minute, llmtest.New(repeat(10, llmtest.Say("It is so."))...))
				x.slack.Inject(simulate.Fault{Kind: simulate.APIError, Error: code, On: "chat.update"}, deletes)
				x.ask(t, 1)
				if parked := x.check(t); parked > 0 {
					t.Errorf("%d turns are parked", parked)
				}
			})
		}
	}
}
