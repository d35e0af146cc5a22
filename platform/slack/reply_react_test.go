package slack_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/simulate"
)

// TestAnEmojiIsPutAtAQuestionOnce puts it there twice, and meets refusals.
func TestAnEmojiIsPutAtAQuestionOnce(t *testing.T) {
	t.Parallel()
	x := newSpeaker(t, nil)
	at := x.asked(t, x.general, "", "thanks")
	for range 2 {
		if err := x.React(t.Context(), at, "👀"); err != nil {
			t.Fatal(err)
		}
	}
	var e *bot.PostError
	if err := x.React(t.Context(), at, "🦜"); !errors.As(err, &e) || e.Retry != 0 {
		t.Errorf("an emoji without a name: %v", err)
	}
	for _, code := range []string{"missing_scope", "message_not_found", "too_many_reactions"} {
		x.slack.Inject(simulate.Fault{Kind: simulate.APIError, Error: code, On: "reactions.add", Times: 1})
		if err := x.React(t.Context(), at, "👍"); !errors.As(err, &e) || e.Retry != 0 {
			t.Errorf("%s: %v, want it refused for good", code, err)
		}
	}
	calls := x.slack.Calls("reactions.add")
	if !slices.ContainsFunc(calls, func(c simulate.Call) bool {
		return c.Args["name"] == "eyes" && c.Args["timestamp"] == string(at.Anchor.ID)
	}) {
		t.Errorf("calls: %+v", calls)
	}
}
