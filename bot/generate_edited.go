package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
)

// maxEdits is how often the prompt of a turn is made again because its question was
// edited. What is edited after that is told in the next turn.
const maxEdits = 2

// questionStands returns the outcome remake where the question was edited since its
// prompt was made, nothing of the answer is written yet, and nobody was asked anything for it. What the model said to the
// text before is dropped: it is not in the journal.
func (x *modelExchange) questionStands(ctx context.Context) error {
	if x.prompt.how.edits == maxEdits || x.hasAsked || hasActed(x.journal.steps) {
		return nil
	}
	anchor, asked := x.prompt.input.Anchor, x.prompt.question()
	now, err := x.store.Message(ctx, x.scope(), anchor)
	if err != nil {
		return fmt.Errorf("look up the question: %w", err)
	}
	if asked == nil || now.Deleted || now.Edited <= asked.Edited || now.Text == asked.Text {
		return nil
	}
	posts, err := x.store.Posts(ctx, x.queued.ID)
	if err != nil || len(ofKind(posts, kindReply)) > 0 {
		return err
	}
	x.log.Info("the question was edited: the prompt is made again", "message", anchor)
	next := x.prompt.how
	next.edits++
	return outcome{kind: remake, err: errors.New("the question was edited"), next: next}
}

// question returns the question as the prompt has it, nil where it has none.
func (p *prompt) question() *earshot.Message {
	i := slices.IndexFunc(p.input.Messages, func(m earshot.Message) bool { return m.ID == p.input.Anchor })
	if i < 0 {
		return nil
	}
	return &p.input.Messages[i]
}
