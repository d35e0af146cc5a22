package daemon_test

import (
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/model/modeltest"
)

// reactScript answers a question, and thanks with an emoji.
const reactScript = `{"fixtures": [
	{"match": {"userMessage": "thank you"}, "response": {"toolCalls": [{"name": "react", "arguments": {"emoji": "pray"}}]}},
	{"match": {"userMessage": "?"}, "response": {"content": "Since noon."}}
]}`

// TestThanksGetAnEmojiOnSlack in a thread that the bot owns.
func TestThanksGetAnEmojiOnSlack(t *testing.T) {
	t.Parallel()
	x := newSlackWorld(t, modeltest.StartScripted(t, reactScript), byHTTP, nil, "EARSHOT_OWNED_THREADS=true")
	x.knows()
	x.start()
	root := x.Say(x.general, x.ann, x.at("since when is it red?"))
	x.ends(earshot.TurnDone)
	x.settled()
	thanks := x.Reply(x.general, root, x.ann, "thank you")
	x.ends(earshot.TurnDone)
	x.settled()
	calls := x.Calls("reactions.add")
	if len(calls) != 1 || calls[0].Args["name"] != "pray" || calls[0].Args["timestamp"] != thanks {
		t.Errorf("emoji: %+v", calls)
	}
	if said := x.said(root); len(said) != 1 || said[0] != "Since noon." {
		t.Errorf("it said %q", said)
	}
}

// TestThanksGetAnEmojiOnDiscord in a thread that the bot has begun.
func TestThanksGetAnEmojiOnDiscord(t *testing.T) {
	t.Parallel()
	x := newDiscordWorld(t, modeltest.StartScripted(t, reactScript), nil, "EARSHOT_OWNED_THREADS=true", "EARSHOT_DISCORD_THREAD=on_mention")
	x.start()
	thread := x.Say(x.general, x.ann, x.at("since when is it red?"))
	x.ends(earshot.TurnDone)
	x.settled()
	thanks := x.Say(thread, x.ann, "thank you")
	x.ends(earshot.TurnDone)
	x.settled()
	given := 0
	for _, m := range x.Messages(thread) {
		for emoji := range m.Reactions {
			if given++; m.ID != thanks || emoji != "🙏" {
				t.Errorf("%s has %s", m.ID, emoji)
			}
		}
	}
	if said := x.said(thread); given != 1 || len(said) != 1 || said[0] != "Since noon." {
		t.Errorf("%d emoji, and it said %q", given, said)
	}
}
