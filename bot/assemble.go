package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot/internal/attach"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/inputref"
	"github.com/earshot-ai/earshot/internal/step"
	"github.com/earshot-ai/earshot/llm"
)

// A prompt is what the model is asked, and what it was made of.
type prompt struct {
	how    attemptOptions
	input  assemble.Input
	result assemble.Result
	files  *attach.FileSet
	offer  offer
	began  earshot.Beginning // why it cannot go on with the session, where that is known; "" otherwise
}

// continuesSession reports whether the prompt begins with the session's messages.
func (p *prompt) continuesSession() bool { return llm.SessionLength(p.result) > 0 }

// maxFileRounds bounds how often a prompt is made again because its files changed
// whether the session continues.
const maxFileRounds = 3

// assemble makes the prompt. Which files it attaches is known from a prompt
// without them, and a file's hash and cost only once it is loaded; so where there
// are files the prompt is made a second time.
//
// The epoch ends where the session's files and the turn's are more than a request
// may carry: a first turn attaches the question's files again, and no prompt loses
// files from its middle.
func (t *turn) assemble(ctx context.Context, g gatheredInput) (_ prompt, err error) {
	ctx, end := t.trace(ctx, PartAssemble)
	defer end(&err)
	res, err := t.makePrompt(ctx, &g)
	for round := 0; err == nil && round < maxFileRounds; round++ {
		continues := llm.SessionLength(res) > 0
		if continues {
			g.files.LoadSession(ctx, g.input.Conversation)
		}
		g.attached = g.files.Wanted(g.input, res, t.asked())
		g.files.Load(ctx, g.attached, nil)
		g.attached = g.files.Given(g.attached)
		switch {
		case continues && g.files.Overfull(g.input.Conversation.Attached):
			g.endSession()
			err = t.readInput(ctx, &g)
		case len(g.attached) == 0 && len(attach.PromptFiles(g.input, res)) == 0:
			return t.newPrompt(g, res), nil
		default:
			g.apply()
		}
		if err == nil {
			res, err = t.makePrompt(ctx, &g)
		}
		if err == nil && continues == (llm.SessionLength(res) > 0) {
			return t.newPrompt(g, res), nil
		}
	}
	if err != nil {
		return prompt{}, t.cannotMake(ctx, err)
	}
	return t.newPrompt(g, res), nil
}

// makePrompt assembles the input. Where the session cannot continue, it reads the
// input of a first turn and assembles that.
func (t *turn) makePrompt(ctx context.Context, g *gatheredInput) (assemble.Result, error) {
	res, err := assemble.Turn(g.input)
	if g.request.NewEpoch || !gather.SessionEnded(g.input, res, err) {
		return res, err
	}
	g.request.NewEpoch = true
	if err := t.readInput(ctx, g); err != nil {
		return res, err
	}
	return assemble.Turn(g.input)
}

func (t *turn) newPrompt(g gatheredInput, res assemble.Result) prompt {
	t.report.Result = res
	return prompt{how: g.how, input: g.input, result: res, files: g.files, offer: g.offer, began: g.began}
}

// asked returns the messages whose files a turn attaches by itself: the question,
// those answered with it from the newest, the message that it replies to, and the thread's
// root.
func (t *turn) asked() []earshot.MessageID {
	ids := []earshot.MessageID{t.queued.Anchor}
	for i := len(t.merged) - 1; i >= 0; i-- {
		ids = append(ids, t.merged[i])
	}
	return append(ids, t.place.Anchor.ReplyTo, t.place.Anchor.Root())
}

// begin records the prompt in the queue, so that a restart continues with it. The
// queue refuses a prompt that shows something that was deleted meanwhile: then it
// is made again.
func (t *turn) begin(ctx context.Context, p *prompt) error {
	err := t.recordPrompt(ctx, *p)
	if err == nil {
		err = t.recordOffer(ctx, &p.offer)
	}
	if errors.Is(err, earshot.ErrConflict) {
		return outcome{kind: remake, err: err, next: p.how}
	}
	return err
}

func (t *turn) recordPrompt(ctx context.Context, p prompt) error {
	turns, err := t.store.Turns(ctx, t.lease.Conversation, 1)
	if err != nil {
		return fmt.Errorf("count turns: %w", err)
	}
	recorded, err := inputref.Prompt(p.input, p.result, turns, p.began)
	if err != nil {
		return err
	}
	recorded.Keeps = p.how.keeps
	if err := t.store.Begin(ctx, t.lease, t.queued.ID, recorded); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	// The same prompt may have a journal already, which no resume has read.
	if len(t.journal.steps) == 0 {
		if err := t.journal.read(ctx); err != nil {
			return err
		}
	}
	t.fault(faultAfterBegin)
	if p.how.keeps && t.queued.Hash != recorded.Hash {
		return t.journal.addJSON(ctx, stepResumed, step.Earlier{Hash: t.queued.Hash})
	}
	return nil
}
