package slack_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/internal/platform/slack"
	"github.com/earshot-ai/earshot/internal/simulate"
	"github.com/earshot-ai/earshot/llm/llmtest"
)

// TestOneReplyEachAfterAnOutage has Slack refuse more calls in a row than five,
// in each mode of replying, and asks once it takes them again.
func TestOneReplyEachAfterAnOutage(t *testing.T) {
	t.Parallel()
	const calls = 40
	for name, faults := range map[string][]simulate.Fault{
		"chat.* answers 503":                 {{Kind: simulate.ServerError, Status: http.StatusServiceUnavailable, On: "chat.*", Times: calls}},
		"chat.* answers service_unavailable": {{Kind: simulate.APIError, Error: "service_unavailable", On: "chat.*", Times: calls}},
		"updates answer 503":                 {{Kind: simulate.ServerError, Status: http.StatusServiceUnavailable, On: "chat.update", Times: calls}},
		"reads answer 503 as well": {
			{Kind: simulate.ServerError, Status: http.StatusServiceUnavailable, On: "chat.*", Times: calls},
			{Kind: simulate.APIError, Error: "fatal_error", On: "conversations.replies", Times: 4},
		},
	} {
		for _, reply := range []string{slack.ReplyPost, slack.ReplyUpdate, slack.ReplyStream} {
			t.Run(name+", "+reply, func(t *testing.T) {
				t.Parallel()
				x := newAsked(t, reply, time.Minute, llmtest.New(repeat(10, llmtest.Say("It is so."))...))
				x.slack.Inject(faults...)
				x.ask(t, 5)
				if parked := x.check(t); parked > 0 {
					t.Errorf("%d turns are parked", parked)
				}
			})
		}
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
				x.ask(t, 3)
				if parked := x.check(t); parked > 0 {
					t.Errorf("%d turns are parked", parked)
				}
			})
		}
	}
}
