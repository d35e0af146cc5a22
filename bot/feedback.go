package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
)

// What people think of an answer: buttons below it ([Answer].Feedback), or an emoji that they
// give it ([HearFeedback]). The store keeps one opinion of a person for a turn.

// The choices below an answer.
const (
	chooseGood = "good"
	chooseBad  = "bad"
)

const sayThanks = "Thank you. The people who run me can see that."

func feedbackChoices() []Choice {
	return []Choice{{ID: chooseGood, Label: "👍"}, {ID: chooseBad, Label: "👎", Words: "What was wrong with it?"}}
}

// noteFeedback keeps what somebody thinks of an answer below which they chose.
func (b *Bot) noteFeedback(ctx context.Context, c Chosen) (private string, err error) {
	q, ok, err := b.turnOfPost(ctx, c)
	if err != nil || !ok {
		return sayNotOpen, err
	}
	if c.By.ID == "" || b.identity.Is(c.By.ID) || c.By.Kind == earshot.Bot || c.By.Kind == earshot.System {
		return sayNotYou, nil
	}
	err = b.store.PutFeedback(ctx, earshot.Feedback{
		Turn: q.ID, Author: c.By.ID, Good: c.Choice == chooseGood, Reason: strings.ToValidUTF8(cut(strings.TrimSpace(c.Words), earshot.FeedbackBytes), ""), Time: b.now(),
	})
	if err != nil {
		return "", fmt.Errorf("store feedback: %w", err)
	}
	b.log.Info("feedback", append(conversationAttrs(q.Conversation), "turn", q.ID, "good", c.Choice == chooseGood)...)
	return sayThanks, nil
}

// HearFeedback returns a store for a platform's adapter, under which a thumb up or down that a
// person gives to an answer is feedback too, and is none any more once they take it back.
func HearFeedback(st Store) Store { return feedbackStore{st} }

type feedbackStore struct{ Store }

// React implements [earshot.Messages].
func (s feedbackStore) React(ctx context.Context, at earshot.Scope, x earshot.ReactionEvent) (earshot.RecordResult, error) {
	r, err := s.Store.React(ctx, at, x)
	if err != nil {
		return r, err
	}
	return r, s.hear(ctx, at, x)
}

// hear keeps what an emoji says of an answer. A repeat changes nothing.
func (s feedbackStore) hear(ctx context.Context, at earshot.Scope, x earshot.ReactionEvent) error {
	good, says := thumb(x.Emoji)
	if !says && (x.Emoji != "" || !x.All) {
		return nil
	}
	q, err := s.answerOf(ctx, at, x.Message)
	if err != nil || q.ID == 0 {
		return err
	}
	if !x.Taken {
		if is, err := s.isPerson(ctx, at, x.Author, q); err != nil || !is {
			return err
		}
		return s.PutFeedback(ctx, earshot.Feedback{Turn: q.ID, Author: x.Author, Good: good, Time: x.At})
	}
	list, err := s.Feedback(ctx, earshot.FeedbackQuery{Turn: q.ID, Limit: maxApprovals})
	if err != nil {
		return fmt.Errorf("look up feedback: %w", err)
	}
	for _, f := range list {
		if (x.All || f.Author == x.Author) && (!says || f.Good == good) && f.Time <= x.At {
			if err := s.RemoveFeedback(ctx, q.ID, f.Author); err != nil {
				return fmt.Errorf("remove feedback: %w", err)
			}
		}
	}
	return nil
}

// answerOf returns the turn that a message of ours answers, or the zero turn.
func (s feedbackStore) answerOf(ctx context.Context, at earshot.Scope, id earshot.MessageID) (earshot.QueuedTurn, error) {
	q, err := s.Posted(ctx, at, id)
	if errors.Is(err, earshot.ErrNotFound) {
		return earshot.QueuedTurn{}, nil
	}
	if err != nil {
		return q, fmt.Errorf("look up whose answer it is: %w", err)
	}
	posts, err := s.Posts(ctx, q.ID)
	if err != nil {
		return q, fmt.Errorf("look up whose answer it is: %w", err)
	}
	for _, p := range posts {
		if kind := KindOf(p); p.Message == id && (kind == PostReply || kind == PostPlaceholder) {
			return q, nil
		}
	}
	return earshot.QueuedTurn{}, nil
}

// isPerson reports whether somebody is a person, as far as the store knows.
func (s feedbackStore) isPerson(ctx context.Context, at earshot.Scope, id earshot.AuthorID, q earshot.QueuedTurn) (bool, error) {
	if id == "" || string(id) == string(q.Conversation.Agent) {
		return false, nil
	}
	list, err := s.Authors(ctx, at.Platform, at.Workspace, id)
	if err != nil {
		return false, fmt.Errorf("look up who gave an emoji: %w", err)
	}
	return len(list) == 0 || list[0].Kind == earshot.Human, nil
}

// thumb returns what an emoji says of an answer, by its name or character, of any skin.
func thumb(s string) (good, ok bool) {
	s, _, _ = strings.Cut(strings.Trim(s, ":"), "::")
	s = strings.TrimRight(s, "\U0001F3FB\U0001F3FC\U0001F3FD\U0001F3FE\U0001F3FF\uFE0F")
	switch s {
	case "+1", "thumbsup", "👍":
		return true, true
	case "-1", "thumbsdown", "👎":
		return false, true
	}
	return false, false
}
