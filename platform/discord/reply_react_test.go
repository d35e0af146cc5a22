package discord_test

import (
	"cmp"
	"testing"

	fake "github.com/earshot-ai/earshot/simulate/discord"
)

// TestAnEmojiAtAQuestionIsPutThereOnce puts it at a question of a channel and of a
// thread, twice, and meets the refusals of both kinds.
func TestAnEmojiAtAQuestionIsPutThereOnce(t *testing.T) {
	t.Parallel()
	x := speak(t, nil)
	thread := x.fake.Thread(x.general, x.fake.Say(x.general, x.mara, "what now?"), x.mara, "a thread")
	for _, in := range []string{"", thread} {
		q := x.question(x.general, in, "is it up?")
		for range 2 {
			if err := x.React(t.Context(), q, "💤"); err != nil {
				t.Fatal(err)
			}
		}
		seen := x.fake.Messages(cmp.Or(in, x.general))
		if last := seen[len(seen)-1]; last.ID != string(q.Anchor.ID) || last.Reactions["💤"] != 1 {
			t.Errorf("the question is seen as %+v", last)
		}
	}
	q := x.question(x.general, "", "is it up?")
	x.fake.Inject(fake.Fault{Kind: fake.Forbidden, On: "add_my_message_reaction", Times: 1})
	if e := refusal(x.React(t.Context(), q, "💤")); e == nil || e.Retry != 0 {
		t.Errorf("without the permission: %v, want it refused for good", e)
	}
	x.fake.Inject(fake.Fault{Kind: fake.LostResponse, On: "add_my_message_reaction", Times: 1})
	if err := x.React(t.Context(), q, "💤"); err == nil || refusal(err) != nil {
		t.Errorf("with a lost answer: %v, want an error that says nothing", err)
	}
}
