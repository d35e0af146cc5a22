package bot_test

import (
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

// The first letter of a key is stored, and sent to platforms: it says for good what a
// post is for.
func TestTheKeyOfAPostSaysWhatItIsFor(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]bot.PostKind{
		"r1": bot.PostReply, "p1": bot.PostPlaceholder, "a1": bot.PostApology, "w1": bot.PostPrivate, "q1": bot.PostQuestion, "n1": bot.PostNotice, "s1": bot.PostAway,
		"": "", "x1": "", "é": "",
	} {
		if got := bot.KindOf(earshot.Post{Key: key}); got != want {
			t.Errorf("the key %q is of a %q, want a %q", key, got, want)
		}
	}
}
