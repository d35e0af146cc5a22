package history

import (
	"errors"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/summarize/digest"
)

// digest makes a summary without a model: who took part and the most telling
// messages, as they stood.
func (h *History) digest(m Material) (earshot.Summary, error) {
	share := h.o.Budget * summaryShare / 100
	s, err := digest.Make(digest.Input{
		Messages: m.Messages, Identity: h.self, Before: m.Before, Counter: h.o.Counter, Bots: "agent",
		Tokens: min(digest.DefaultTokens, share-share/8), // the prompt adds a header and indents each line
	})
	if err == nil && s.Text == "" {
		err = errors.New("the digest is empty")
	}
	return s, err
}

// summaryShare is how much of the budget a prompt gives to the summary, in
// percent.
const summaryShare = 25
