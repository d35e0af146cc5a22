package inspect

import (
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/local"
)

// A chatChoice is what can be chosen at a message of the bot: a button.
type chatChoice struct {
	ID       string          `json:"id"`
	Label    string          `json:"label"`
	Style    bot.ChoiceStyle `json:"style,omitempty"`
	Words    string          `json:"words,omitempty"` // the label of a field for words
	Required bool            `json:"required,omitempty"`
}

// choices returns what can be chosen at a message, as far as this process knows: one that
// another process has posted is answered with words, or by an operator.
func (r *chatReader) choices(m earshot.Message) (list []chatChoice) {
	if !r.data.local || m.Deleted {
		return nil
	}
	for _, c := range r.Chat.Choices(r.channel.Scope(), m.ID) {
		list = append(list, chatChoice(c))
	}
	return list
}

// choose tells the bot what somebody chose. What they alone are told stands at the message.
func (s *server) choose(x *chatWrite) (*chatTyped, error) {
	typed := &chatTyped{form: "act", message: earshot.MessageID(x.field("message"))}
	private, err := s.Chat.Choose(x.Context(), local.Choice{
		Channel: string(x.channel.ID), Message: typed.message, Choice: x.field("choice"), As: x.field("as"),
		Words: strings.ReplaceAll(x.field("words"), "\r\n", "\n"),
	})
	if err == nil && private != "" {
		err = toldAlone(private)
	}
	return typed, err
}

// toldAlone is what a person is told who chose something. It is shown once, and not by an
// address, which anybody could write.
type toldAlone string

func (t toldAlone) Error() string { return string(t) }

// buttonClass is the class of a choice's button.
func (c chatChoice) buttonClass() string {
	switch c.Style {
	case bot.ChoiceDo:
		return "primary"
	case bot.ChoiceDanger:
		return "danger"
	}
	return ""
}
