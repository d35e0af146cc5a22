package earshot_test

import (
	"testing"

	"github.com/earshot-ai/earshot"
)

func TestWhereAMentionCounts(t *testing.T) {
	t.Parallel()
	self := earshot.Identity{ID: "U0BOT", Name: "earshot", Aliases: []earshot.AuthorID{"B0BOT"}}
	for _, c := range []struct {
		name              string
		message           earshot.Message
		mentioned, called bool
	}{
		{"an id in the text", earshot.Message{Text: "<@U0BOT> why?"}, true, true},
		{"an alias with a label", earshot.Message{Text: "hey <@B0BOT|bot>"}, true, true},
		{"Discord's form with an exclamation mark", earshot.Message{Text: "<@!U0BOT> hi"}, true, true},
		{"the list alone", earshot.Message{Text: "bot, why?", Mentions: []earshot.AuthorID{"U0BOT"}}, true, true},
		{"in a code block only", earshot.Message{Text: "```\n<@U0BOT>\n``` like this", Mentions: []earshot.AuthorID{"U0BOT"}}, true, false},
		{"in inline code only", earshot.Message{Text: "type `<@U0BOT>`"}, true, false},
		{"in an address only", earshot.Message{Text: "https://example.org/<@U0BOT>"}, true, false},
		{"in code and outside of it", earshot.Message{Text: "`<@U0BOT>` <@U0BOT>"}, true, true},
		{"somebody else", earshot.Message{Text: "<@U1> why?", Mentions: []earshot.AuthorID{"U1"}}, false, false},
		{"a longer id", earshot.Message{Text: "<@U0BOTS>"}, false, false},
		{"the name in running text", earshot.Message{Text: "earshot, why?"}, false, false},
		{"a mention that was never closed", earshot.Message{Text: "<@U0BOT"}, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := self.MentionedIn(&c.message); got != c.mentioned {
				t.Errorf("MentionedIn = %v", got)
			}
			if got := self.CalledIn(&c.message); got != c.called {
				t.Errorf("CalledIn = %v", got)
			}
		})
	}
}
