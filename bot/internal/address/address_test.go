package address_test

import (
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot/internal/address"
)

var self = earshot.Identity{ID: "U0BOT", Name: "earshot", Aliases: []earshot.AuthorID{"B0BOT"}}

// Decisions that depend on the message and the settings alone ask the store for
// nothing, so there is none.
func TestDecide(t *testing.T) {
	t.Parallel()
	human, bot := earshot.Author{ID: "U1", Kind: earshot.Human}, earshot.Author{ID: "B1", Kind: earshot.Bot}
	for _, c := range []struct {
		name    string
		message earshot.Message
		kind    earshot.ChannelKind
		past    bool
		form    bool
		rules   address.Rules
		why     string
		answer  bool
		refused earshot.Refusal
	}{
		{name: "a mention", message: earshot.Message{Author: human, Text: "<@U0BOT> hi"}, why: address.Mention, answer: true},
		{name: "a reply that pings its author", message: earshot.Message{Author: human, Text: "why?", ReplyTo: "m0", Mentions: []earshot.AuthorID{"U0BOT"}}, why: address.Mention, answer: true},
		{name: "a reply that pings its author, and names somebody else", message: earshot.Message{Author: human, Text: "<@U2> see?", ReplyTo: "m0", Mentions: []earshot.AuthorID{"U2", "U0BOT"}}, why: address.Mention, answer: true},
		{name: "a reply without the ping", message: earshot.Message{Author: human, Text: "why?", ReplyTo: "m0"}, why: address.NotAddressed},
		{name: "a reply without the ping where roots are answered", message: earshot.Message{Author: human, Text: "why?", ReplyTo: "m0"}, rules: address.Rules{Roots: true}, why: address.NotAddressed},
		{name: "a mention of a role that stands for the agent", message: earshot.Message{Author: human, Text: "<@&B0BOT> hi"}, why: address.Mention, answer: true},
		{name: "a mention of another role", message: earshot.Message{Author: human, Text: "<@&R7> hi"}, why: address.NotAddressed},
		{name: "talk in a group of people", message: earshot.Message{Author: human, Text: "hi"}, kind: earshot.KindGroup, why: address.NotAddressed},
		{name: "a reply in a direct message", message: earshot.Message{Author: human, Text: "why?", ReplyTo: "m0"}, kind: earshot.KindDM, why: address.Direct, answer: true},
		{name: "a mention in code only", message: earshot.Message{Author: human, Text: "try `<@U0BOT> hi`"}, why: address.NotAddressed},
		{name: "a direct message", message: earshot.Message{Author: human, Text: "hi"}, kind: earshot.KindDM, why: address.Direct, answer: true},
		{name: "a direct message that shows nothing", message: earshot.Message{Author: human, Text: " \u200b"}, kind: earshot.KindDM, why: address.Silence},
		{name: "an edit", message: earshot.Message{Author: human, Text: "hi", Edited: 1}, why: address.Edit},
		{name: "an edited message of the history", message: earshot.Message{Author: human, Text: "<@U0BOT> hi", Edited: 1}, past: true, why: address.Mention, answer: true},
		{name: "a deletion", message: earshot.Message{Author: human, Deleted: true}, why: address.Deletion},
		{name: "a bot that may not ask", message: earshot.Message{Author: bot, Text: "<@U0BOT> hi"}, why: address.FromBot, refused: earshot.RefusedBot},
		{name: "a bot that says something to nobody", message: earshot.Message{Author: bot, Text: "hi"}, why: address.FromBot},
		{name: "a form where forms are not answered", message: earshot.Message{Author: bot, Text: "<@U0BOT> hi"}, form: true, rules: address.Rules{NoForms: true, Bots: true}, why: "form", refused: earshot.RefusedForm},
		{name: "a form that names nobody", message: earshot.Message{Author: bot, Text: "hi"}, form: true, why: address.FromBot},
		{name: "a bot that says nothing", message: earshot.Message{Author: bot, Text: "<@U0BOT>"}, rules: address.Rules{Bots: true}, why: address.Silence, refused: earshot.RefusedSilence},
		{name: "a root", message: earshot.Message{Author: human, Text: "hi"}, rules: address.Rules{Roots: true}, why: address.Root, answer: true},
		{name: "a reply", message: earshot.Message{Author: human, Text: "hi", Thread: "m0"}, rules: address.Rules{Roots: true}, why: address.NotAddressed},
		{name: "a reply to somebody else", message: earshot.Message{Author: human, Text: "<@U2> hi", Thread: "m0"}, rules: address.Rules{OwnedThreads: true}, why: address.OtherNamed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.rules.Self = self
			c.message.ID = "m1"
			v, err := c.rules.Decide(t.Context(), earshot.Channel{Kind: c.kind}, address.Question{Message: &c.message, Past: c.past, Form: c.form}, earshot.ConversationID{})
			if err != nil || v.Why != c.why || v.Answer != c.answer || v.Refused != c.refused {
				t.Errorf("got %+v, %v, want %q, %v, refused %q", v, err, c.why, c.answer, c.refused)
			}
		})
	}
}

func TestOnlyMention(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"<@U0BOT>": true, " <@U0BOT> … ": true, "<@U0BOT> 🚫": true, "": true,
		"<@U0BOT> ?": false, "<@U0BOT> 👍": false, "<@U0BOT> hi": false, "<@U1>": false,
	} {
		if got := address.OnlyMention(self, &earshot.Message{Text: text}); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
	if address.OnlyMention(self, &earshot.Message{Text: "<@U0BOT>", Files: []earshot.File{{ID: "F1"}}}) {
		t.Error("a mention with a file is a question")
	}
}

func TestWhatAsksTheAgentToStop(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"stop listening":                     true,
		"<@U0BOT>: Stop listening here!":     true,
		"Earshot, please stop listening.":    true,
		"stop listening to this thread now":  true,
		"stop listening to her":              false,
		"why did you stop listening?":        false,
		"stop":                               false,
		"":                                   false,
		"don't stop listening":               false,
		"`stop listening` makes it go away.": false,
	} {
		for kind, may := range map[earshot.AuthorKind]bool{earshot.Human: true, earshot.Bot: false} {
			m := &earshot.Message{Text: text, Author: earshot.Author{ID: "U1", Kind: kind}}
			if got := address.AsksToStop(self, m); got != (want && may) {
				t.Errorf("%q of a %s: %v", text, kind, got)
			}
		}
	}
}
