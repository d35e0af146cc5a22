package bot

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pause"
	"github.com/earshot-ai/earshot/internal/words"
	"github.com/earshot-ai/earshot/llm"
)

// An answer is the model's reply as it is posted, with the parts of the exchange that
// the session and the ledger keep.
type answer struct {
	text string
	why  string              // nothing is said, for this reason; "" otherwise
	gave *reaction           // the emoji that is given in place of words
	left bool                // the agent listens no more in the thread
	sent []llm.Message       // the messages of the last request, without the session's
	read []earshot.MessageID // messages in tools' results, which the model has read
}

// generate asks the model until it answers without calling tools, or has called
// them [Limits.Rounds] times. What was asked before a restart is not asked again.
// placeholder, where there is one, shows the answer while it is written. hard outlives a stop
// of the bot.
func (t *turn) generate(ctx, hard context.Context, p prompt, placeholder *earshot.Post) (_ answer, err error) {
	ctx, end := t.trace(ctx, PartGenerate)
	defer end(&err)
	tooLong := giveUp(fmt.Sprintf("no answer within %s", t.limits.Generate), words.TooLong)
	ctx, limit, stop := pause.WithTimeout(ctx, t.limits.Generate, tooLong)
	defer stop()
	x := t.newExchange(p, placeholder)
	x.limit = limit
	a, err := x.run(ctx, hard)
	if err != nil {
		return answer{}, x.errorOutcome(ctx, err)
	}
	return a, nil
}

// run asks the model and runs its tools until there is a reply.
func (x *modelExchange) run(ctx, hard context.Context) (answer, error) {
	if err := x.prepare(ctx); err != nil {
		return answer{}, err
	}
	for {
		if done, err := x.advance(ctx, hard); err != nil {
			return answer{}, err
		} else if done {
			return x.reply(ctx)
		}
		x.request.NoCalls = x.rounds >= x.limits.Rounds || x.spent.passed
		if err := x.request.Check(); err != nil {
			return answer{}, giveUp("the model's answer cannot be sent back: "+err.Error(), words.Failed)
		}
		x.nameRequest()
		response, err := x.ask(ctx)
		if err != nil {
			if err := x.removeFiles(ctx, err); err != nil {
				return answer{}, err
			}
			continue
		}
		if err := x.questionStands(ctx); err != nil {
			return answer{}, err
		}
		if err := x.keep(ctx, response); err != nil {
			return answer{}, err
		}
	}
}

// prepare makes the request and appends the steps of the journal to it.
func (x *modelExchange) prepare(ctx context.Context) error {
	o := &llm.Options{MaxTokens: x.opts.MaxTokens}
	if x.tools = x.newTools(); x.tools != nil {
		o.Tools = append(x.offeredTools(), x.prompt.offer.forModel()...)
	}
	if err := x.attachFiles(ctx, o); err != nil {
		return err
	}
	request, err := llm.FromResult(x.prompt.result, o)
	if err != nil && x.prompt.continuesSession() && !x.prompt.how.newEpoch {
		x.log.Warn("the session cannot be sent: the epoch ends", "err", err)
		next := x.prompt.how
		next.newEpoch, next.noFiles = true, x.prompt.files.None()
		return outcome{kind: remake, err: errors.New("the session cannot be sent"), next: next}
	}
	if err != nil {
		return giveUp("the request cannot be made: "+err.Error(), words.Failed)
	}
	x.request = request
	if err := x.tellTurn(ctx); err != nil {
		return err
	}
	x.report.Usage, x.report.Models, x.report.Text = earshot.Usage{}, nil, ""
	return x.replay(ctx)
}

// ask asks the model once, and shows the answer while it is written.
func (x *modelExchange) ask(ctx context.Context) (llm.Response, error) {
	x.report.Calls++
	d := x.outbox.newDraft(ctx, x.placeholder, x.links)
	if d == nil && x.opts.Agent == nil {
		return x.charged(ctx, nil)
	}
	if d != nil {
		defer d.stop()
	}
	text := &x.written
	text.Reset()
	return x.charged(ctx, func(e llm.Event) {
		if e.Task != "" {
			x.keepTask(ctx, e.Task)
			return
		}
		if d == nil {
			return
		}
		if e.Status != "" {
			x.showStatus(ctx, d, e.Status)
			return
		}
		if e.Again || e.Call != "" {
			text.Reset()
		}
		text.WriteString(e.Text)
		if mayBecomeNoReply(text.String()) {
			return
		}
		d.show(ctx, text.String(), e.Again)
	})
}

// charged makes the request, and counts what it used for the day's limits.
func (x *modelExchange) charged(ctx context.Context, on func(llm.Event)) (llm.Response, error) {
	a, err := x.opts.Model.Generate(ctx, x.request, on)
	if err == nil {
		x.charge(ctx, a)
	}
	return a, err
}

// keep journals a response of the model. Where the agent was called, one that says nothing
// is dropped the first time, and the model is asked once more.
func (x *modelExchange) keep(ctx context.Context, a llm.Response) (err error) {
	x.fault(faultAfterAnswer)
	x.spend(a)
	empty := (a.Text() == "" || isNoReply(a.Text())) && len(a.Calls()) == 0 && a.Stop != llm.StopRefused && strings.Join(x.beside, "") == ""
	if empty && x.called && !x.askedAgain {
		x.askedAgain = true
		return nil
	}
	if len(a.Calls()) == 0 {
		err = x.journal.addLastAnswer(a)
	} else {
		err = x.journal.addJSON(ctx, stepAnswer, a)
	}
	if err == nil {
		x.addResponse(a)
	}
	return err
}

// reply makes the reply of the model's last words.
func (x *modelExchange) reply(ctx context.Context) (answer, error) {
	sent := x.request.Messages[min(llm.SessionLength(x.prompt.result), len(x.request.Messages)):]
	left := x.left && x.mayStop() || x.asksToLeave()
	if gave, ok, err := x.reaction(ctx); err != nil || ok {
		return answer{text: noReply, why: reacted + ":" + gave.name + ":", gave: &gave, left: left, sent: sent, read: x.read}, err
	}
	if why, ok := x.silence(); ok {
		return answer{text: noReply, why: why, left: left, sent: sent, read: x.read}, nil
	}
	text, stop := x.text(), x.last.Stop
	if isNoReply(text) {
		text = "" // it was called
	}
	switch {
	case text == "" && stop == llm.StopRefused:
		return answer{}, giveUp("the model declined to answer", words.Refused)
	case text == "":
		return answer{}, giveUp(fmt.Sprintf("the model said nothing (%s)", stop), words.Failed)
	case stop == llm.StopLength:
		text += "\n\n" + x.opts.say(words.CutOff)
	}
	text, err := x.links.guard(ctx, text)
	if err != nil {
		return answer{}, err
	}
	if strings.TrimSpace(text) == "" {
		return answer{}, giveUp("the model said nothing that can be seen", words.Failed)
	}
	x.report.Text = text
	return answer{text: text, left: left, sent: sent, read: x.read}, nil
}

// errorOutcome returns what an error of the exchange means for the turn.
func (x *modelExchange) errorOutcome(ctx context.Context, err error) error {
	var known outcome
	var e *llm.Error
	how := x.prompt.how
	how.noFiles = x.prompt.files.None()
	switch {
	case errors.As(err, &known):
		return err
	case ctx.Err() != nil:
		o := outcomeOf(context.Cause(ctx))
		if o.kind == stopped && !mayBecomeNoReply(x.written.String()) {
			o.text, _ = x.links.guard(context.WithoutCancel(ctx), strings.TrimSpace(x.written.String()))
		}
		return o
	case !errors.As(err, &e):
		return err
	case mayBeFiles(err) && x.sessionFiles() && !how.refused:
		// Without its files the session would be another one from its middle on, in
		// each turn that follows. So a new epoch begins, and no file is attached.
		x.log.Warn("the model's provider refused the session's files: the epoch ends", "err", err)
		how.newEpoch, how.refused = true, true
		return outcome{kind: remake, err: err, next: how}
	case e.TooLarge && how.halved:
		return giveUp("the context is too large, halved too: "+err.Error(), words.TooLarge)
	case e.TooLarge:
		x.log.Info("the context was too large, half of it is tried")
		how.halved = true
		how.budget.Tokens, how.budget.Session, how.budget.Limit = how.budget.Tokens/2, how.budget.Session/2, how.budget.Limit/2
		return outcome{kind: remake, err: err, next: how}
	case e.Retryable:
		return outcome{kind: retry, err: err, wait: e.RetryAfter, model: true}
	}
	return giveUp(err.Error(), words.Failed)
}
