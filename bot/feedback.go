package bot

import (
	"context"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/words"
)

// What people think of an answer: buttons below it ([Answer].Feedback), or an emoji that they
// give it ([HearReactions]). The store keeps one opinion of a person for a turn.

// The choices below an answer.
const (
	chooseGood = "good"
	chooseBad  = "bad"
)

func (o *Options) feedbackChoices() []Choice {
	return []Choice{{ID: chooseGood, Label: "👍"}, {ID: chooseBad, Label: "👎", Words: o.say(words.WhatIsWrong)}}
}

// noteFeedback keeps what somebody thinks of an answer below which they chose.
func (b *Bot) noteFeedback(ctx context.Context, c Chosen) (private words.Key, err error) {
	q, ok, err := b.turnOfPost(ctx, c)
	if err != nil || !ok {
		return words.NotOpen, err
	}
	if c.By.ID == "" || b.identity.Is(c.By.ID) || c.By.Kind == earshot.Bot || c.By.Kind == earshot.System {
		return words.NotYou, nil
	}
	err = b.store.PutFeedback(ctx, earshot.Feedback{
		Turn: q.ID, Author: c.By.ID, Good: c.Choice == chooseGood, Reason: strings.ToValidUTF8(cut(strings.TrimSpace(c.Words), earshot.FeedbackBytes), ""), Time: b.now(),
	})
	if err != nil {
		return "", fmt.Errorf("store feedback: %w", err)
	}
	b.log.Info("feedback", append(conversationAttrs(q.Conversation), "turn", q.ID, "good", c.Choice == chooseGood)...)
	return words.Thanks, nil
}
