package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot/internal/attach"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/words"
)

// A gatheredInput is the input of a prompt and its files. While the prompt is made, the
// files are loaded, and the input is read again where the session cannot continue.
type gatheredInput struct {
	how      attemptOptions
	request  gather.Request
	input    assemble.Input
	files    *attach.FileSet
	attached []attach.File // those of files that the prompt attaches
	offer    offer
	began    earshot.Beginning // as in a prompt
}

// gather reads the platform's history and what the store has for the prompt.
func (t *turn) gather(ctx context.Context, how attemptOptions) (_ gatheredInput, err error) {
	ctx, end := t.trace(ctx, PartGather)
	defer end(&err)
	t.journal.steps = nil
	if !t.ambient { // the platform's limits are for questions
		t.fillHistory(ctx)
	}
	if err := t.awaitRepost(ctx); err != nil {
		return gatheredInput{}, err
	}
	t.awaitPreview(ctx)
	if err := t.slot.Take(ctx); err != nil {
		return gatheredInput{}, err
	}
	if ctx.Err() != nil {
		return gatheredInput{}, context.Cause(ctx)
	}
	g := gatheredInput{how: how, files: t.newFiles(how), request: gather.Request{
		Channel: t.place.Channel, Anchor: t.queued.Anchor, Identity: t.identity, Policy: t.opts.Policy, Budget: how.budget,
		Counter: how.counter, Instructions: t.opts.withCitations(), Conversation: t.lease.Conversation, DefaultZone: t.opts.Zone,
		Finder: &recallSearch{claimedTurn: &t.claimedTurn}, Trust: t.opts.Trust, AllowList: t.opts.AllowList,
		Notices: words.In(t.opts.Language, t.opts.Words).Notices(),
	}}
	if by, ok := t.queued.AskedBy(); ok {
		g.request.AskedBy = assemble.EmojiAsker{Emoji: by.Emoji, ID: by.ID, Time: t.queued.Opened}
		if err := gather.NameAsker(ctx, t.store, t.scope(), &g.request.AskedBy); err != nil {
			return gatheredInput{}, err
		}
	}
	if how.newEpoch {
		g.endSession()
		g.began = earshot.BeganRefused
	}
	if g.offer, err = t.recordedOffer(ctx); err != nil {
		return gatheredInput{}, err
	}
	if len(g.offer.list) > 0 {
		g.request.Instructions = strings.TrimLeft(g.request.Instructions+"\n\n"+howToAct, "\n")
		g.offer.takeFrom(&g.request.Budget, how.counter)
	}
	if err := t.readInput(ctx, &g); err != nil {
		return gatheredInput{}, t.cannotMake(ctx, err)
	}
	if why := g.otherThanBefore(t.opts.agentName); why != "" {
		g.endSession()
		g.began = why
		if err := t.readInput(ctx, &g); err != nil {
			return gatheredInput{}, t.cannotMake(ctx, err)
		}
	}
	t.fault(faultAfterGather)
	return g, nil
}

// otherThanBefore returns why the session cannot go on, where the list of tools is another
// than that of the turn before, or what that was written under; "" where neither is.
func (g *gatheredInput) otherThanBefore(agent string) earshot.Beginning {
	switch {
	case len(g.input.Conversation.Session) == 0:
	case g.offer.sha256 != g.offer.before:
		return earshot.BeganTools
	case g.offer.rule != "" && g.offer.rule != ruleOf(g.input, agent):
		return earshot.BeganRule
	}
	return ""
}

// endSession has the prompt made as the first of a new epoch.
func (g *gatheredInput) endSession() { g.request.NewEpoch, g.request.Budget.Session = true, 1 }

// readInput reads the input from the store.
func (t *turn) readInput(ctx context.Context, g *gatheredInput) (err error) {
	if g.input, err = gather.Input(ctx, t.store, g.request); err == nil {
		g.apply()
	}
	return err
}

// apply writes what is known of the files into the input.
func (g *gatheredInput) apply() {
	g.files.Apply(&g.input, g.attached)
	if c := &g.input.Conversation; g.request.NewEpoch || len(c.Session) == 0 {
		c.Attached = g.files.WithoutLost(c.Attached)
	}
}

// newFiles returns an empty set for the files of a request.
func (t *turn) newFiles(how attemptOptions) *attach.FileSet {
	section, _ := attach.FilesSection(t.opts.Policy)
	source := attach.Source{
		Store: t.store, Scope: t.scope(), Most: section.Bytes, Keep: !t.opts.DryRun && !t.isIsolated(), Timeout: t.limits.Files,
		Refused: how.refused, Tokens: t.opts.FileTokens, Texts: how.counter, Log: t.log,
	}
	if t.opts.Files != nil {
		source.Loader = t.opts.Files
	}
	return attach.NewFileSet(source, how.noFiles)
}

// cannotMake returns the outcome of an error of gathering or assembling.
func (t *turn) cannotMake(ctx context.Context, err error) error {
	var invalid *assemble.InputError
	switch {
	case errors.Is(err, assemble.ErrBudgetTooSmall):
		return giveUp(err.Error(), words.TooLarge)
	case errors.As(err, &invalid):
		if m, e := t.store.Message(ctx, t.scope(), t.queued.Anchor); e == nil && m.Deleted {
			return outcome{kind: withdrawn}
		}
		return giveUp("the context cannot be made: "+err.Error(), words.Failed)
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("gather: %w", err)
}

// resume returns the prompt that an earlier process recorded, with its journal.
// It reports false where there is none, where something of it was erased since,
// and for attempts that leave something out.
func (t *turn) resume(ctx context.Context, how attemptOptions) (p prompt, ok bool, err error) {
	if how.halved || how.newEpoch || how.edits > 0 || t.queued.Hash == "" {
		return p, false, nil
	}
	q, err := t.store.QueuedTurn(ctx, t.queued.ID)
	if err != nil || q.Input == nil {
		return p, false, err
	}
	in, err := Input(ctx, t.store, q)
	if errors.Is(err, ErrChanged) {
		return p, false, nil
	}
	if err != nil {
		return p, false, err
	}
	res, err := assemble.Turn(in)
	if err != nil || res.Hash != q.Hash {
		return p, false, nil
	}
	if overtaken, err := t.isOvertaken(ctx, in); err != nil || overtaken {
		return p, false, err
	}
	steps, err := t.store.Steps(ctx, q.ID)
	if err != nil {
		return p, false, err
	}
	for _, s := range steps {
		if s.Erased {
			return p, false, nil
		}
	}
	t.journal.steps = steps
	t.report.Result = res
	offer, err := t.recordedOffer(ctx)
	if err != nil {
		return p, false, err
	}
	t.fault(faultAfterGather)
	return prompt{how: how, input: in, result: res, files: t.newFiles(how), offer: offer}, true, nil
}

// mayGoOn reports whether a turn that has waited for a person goes on under another prompt:
// its own is outdated, since others of its conversation were answered meanwhile, and what it
// asked is decided.
func (t *turn) mayGoOn(ctx context.Context, how attemptOptions) (bool, error) {
	if how.keeps || !t.hasAsked || how.edits > 0 {
		return how.keeps, nil
	}
	steps, err := t.store.Steps(ctx, t.queued.ID)
	if err != nil {
		return false, err
	}
	return len(steps) > 0 && !slices.ContainsFunc(steps, func(s earshot.Step) bool { return s.Erased || s.Data == nil && s.Kind != stepReopened }), nil
}

// isOvertaken reports whether others of the conversation were answered since the prompt of a
// turn that has waited for a person.
func (t *turn) isOvertaken(ctx context.Context, in assemble.Input) (bool, error) {
	if !t.hasAsked {
		return false, nil
	}
	turns, err := t.store.Turns(ctx, t.lease.Conversation, 1)
	if err != nil || len(turns) == 0 {
		return false, err
	}
	newest := turns[0].Answer.Anchor
	return len(in.Conversation.Turns) == 0 || in.Conversation.Turns[len(in.Conversation.Turns)-1].Anchor != newest, nil
}

// mayBeginAgain returns the outcome of a turn whose prompt would be made anew although a
// tool of one's own has acted, or may have: the model, asked from the start, would do the
// same again.
func (t *turn) mayBeginAgain(ctx context.Context, how attemptOptions) error {
	if how.keeps {
		return nil
	}
	if t.queued.Hash != "" {
		if err := t.journal.read(ctx); err != nil {
			return err
		}
	}
	if hasActed(t.journal.steps) {
		return giveUp("what the prompt had shown has changed after a tool had acted: it is not asked again, since that might do the same twice", words.Acted)
	}
	return nil
}
