package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
)

// Reactions say what an emoji means that a person gives to a message of the bot.
type Reactions struct {
	// Feedback: a thumb up or down at an answer is what they think of it, and is none any
	// more once they take it back.
	Feedback bool
	// Choose is given the yes or the no that a thumb, a tick or a cross at a question is, as
	// [Bot.Choose]; nil: they are none.
	Choose func(context.Context, Chosen) (string, error)
}

// HearReactions returns a store for a platform's adapter, which records reactions with it.
func HearReactions(st Store, o Reactions) Store { return hearingStore{st, o} }

type hearingStore struct {
	Store
	o Reactions
}

// React implements [earshot.Messages].
func (s hearingStore) React(ctx context.Context, at earshot.Scope, x earshot.ReactionEvent) (earshot.RecordResult, error) {
	r, err := s.Store.React(ctx, at, x)
	if err != nil {
		return r, err
	}
	return r, s.hear(ctx, at, x)
}

// hear takes what an emoji says. A repeat changes nothing.
func (s hearingStore) hear(ctx context.Context, at earshot.Scope, x earshot.ReactionEvent) error {
	yes, thumb, says := meaningOf(x.Emoji)
	if !says && (x.Emoji != "" || !x.All) {
		return nil
	}
	q, p, err := s.postAt(ctx, at, x.Message)
	if err != nil {
		return err
	}
	switch kind := KindOf(p); {
	case kind == PostApproval && s.o.Choose != nil && says && !x.Taken:
		c := Chosen{Scope: at, Message: x.Message, Key: p.Key, Choice: chooseDont, By: earshot.Author{ID: x.Author}}
		if yes {
			c.Choice = chooseDo
		}
		_, err := s.o.Choose(ctx, c) // what they alone would be told has no place
		return err
	case kind != PostReply && kind != PostPlaceholder, !s.o.Feedback, says && !thumb:
		return nil
	case !x.Taken:
		if is, err := s.isPerson(ctx, at, x.Author, q); err != nil || !is {
			return err
		}
		return s.PutFeedback(ctx, earshot.Feedback{Turn: q.ID, Author: x.Author, Good: yes, Time: x.At})
	}
	list, err := s.Store.Feedback(ctx, earshot.FeedbackQuery{Turn: q.ID, Limit: maxOpinions})
	if err != nil {
		return fmt.Errorf("look up feedback: %w", err)
	}
	for _, f := range list {
		if (x.All || f.Author == x.Author) && (!says || f.Good == yes) && f.Time <= x.At {
			if err := s.RemoveFeedback(ctx, q.ID, f.Author); err != nil {
				return fmt.Errorf("remove feedback: %w", err)
			}
		}
	}
	return nil
}

// maxOpinions is how many people's feedback to one turn is looked at.
const maxOpinions = 1000

// postAt returns the post of ours that a message is, with its turn; zero where it is none.
func (s hearingStore) postAt(ctx context.Context, at earshot.Scope, id earshot.MessageID) (q earshot.QueuedTurn, p earshot.Post, err error) {
	q, err = s.Posted(ctx, at, id)
	if errors.Is(err, earshot.ErrNotFound) {
		return q, p, nil
	}
	var posts []earshot.Post
	if err == nil {
		posts, err = s.Posts(ctx, q.ID)
	}
	if err != nil {
		return q, p, fmt.Errorf("look up whose message it is: %w", err)
	}
	for _, p := range posts {
		if p.Message == id {
			return q, p, nil
		}
	}
	return q, p, nil
}

// isPerson reports whether somebody is a person, as far as the store knows.
func (s hearingStore) isPerson(ctx context.Context, at earshot.Scope, id earshot.AuthorID, q earshot.QueuedTurn) (bool, error) {
	if id == "" || string(id) == string(q.Conversation.Agent) {
		return false, nil
	}
	list, err := s.Authors(ctx, at.Platform, at.Workspace, id)
	if err != nil {
		return false, fmt.Errorf("look up who gave an emoji: %w", err)
	}
	return len(list) == 0 || list[0].Kind == earshot.Human, nil
}

// meaningOf returns what an emoji says, by its name or character and of any skin: a yes or a
// no, and whether it is a thumb, which also says what somebody thinks of an answer.
func meaningOf(s string) (yes, thumb, ok bool) {
	s, _, _ = strings.Cut(strings.Trim(s, ":"), "::")
	s = strings.TrimRight(s, "\U0001F3FB\U0001F3FC\U0001F3FD\U0001F3FE\U0001F3FF\uFE0F")
	switch s {
	case "+1", "thumbsup", "👍":
		return true, true, true
	case "-1", "thumbsdown", "👎":
		return false, true, true
	case "white_check_mark", "✅", "heavy_check_mark", "✔":
		return true, false, true
	case "x", "❌", "no_entry_sign", "🚫":
		return false, false, true
	}
	return false, false, false
}
