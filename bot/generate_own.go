package bot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot/internal/attach"
	"github.com/earshot-ai/earshot/bot/internal/toolresult"
	"github.com/earshot-ai/earshot/internal/pause"
	"github.com/earshot-ai/earshot/internal/step"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// Calls of tools of one's own. The journal has a call before it runs and its result after.
// After a crash between the two a call that may be repeated runs again, under the same id;
// of any other nobody knows whether it ran, and the model is told so. So what acts runs at
// most once, and what was begun is never forgotten.

const (
	maxParallel = 4                    // calls that only read, at a time
	maxOwnArgs  = earshot.ApprovalArgs // bytes
	// callGrace is how long a call may go on once its time is over, before it is left alone.
	callGrace = time.Second
)

// runOwnCalls runs the calls of tools of one's own that have no result yet: those that
// only read beside one another, what writes one after another, all in the model's order.
func (x *modelExchange) runOwnCalls(ctx, hard context.Context, calls []llm.Call) error {
	if err := x.askApprovals(ctx, hard, calls); err != nil {
		return err
	}
	var group []ownCall
	run := func() error {
		list := group
		group = nil
		return x.runGroup(ctx, hard, list)
	}
	for i, c := range calls {
		t, args, ok := x.callOf(c)
		if !ok || i >= maxCalls || x.hasResult(c) {
			continue
		}
		if t.Effect != toolbox.Reads || len(group) == maxParallel || len(group) > 0 && group[0].tool.Effect != toolbox.Reads {
			if err := run(); err != nil {
				return err
			}
		}
		group = append(group, ownCall{x: x, tool: t, of: c, args: args})
	}
	return run()
}

// runGroup journals calls, runs them beside one another, and journals their results.
func (x *modelExchange) runGroup(ctx, hard context.Context, list []ownCall) error {
	if len(list) == 0 {
		return nil
	}
	for i := range list {
		if err := list[i].begin(ctx); err != nil {
			return err
		}
	}
	x.slot.Give()
	shown := x.newProgress(ctx, list)
	var wait sync.WaitGroup
	for i := range list {
		if c := &list[i]; c.result == nil {
			c.progress = shown
			wait.Go(func() { c.run(ctx, hard) })
		}
	}
	wait.Wait()
	shown.stop()
	x.fault(faultAfterRun)
	for _, c := range list {
		if c.result == nil { // a call that may be repeated, ended by ctx
			return context.Cause(ctx)
		}
		c.showPictures()
		stored := *c.result
		stored.Parts = llm.Bare(stored.Parts)
		// What acted is written down although the bot is to stop.
		if err := x.journal.addJSON(hard, stepResult, stored); err != nil {
			return err
		}
		x.addResults([]toolResult{*c.result})
	}
	if err := x.showDecided(hard); err != nil {
		return err
	}
	return x.slot.Take(ctx)
}

// An ownCall is one call of a tool of one's own.
type ownCall struct {
	x      *modelExchange
	tool   toolbox.Tool
	of     llm.Call
	args   string      // of the tool
	id     string      // [toolbox.Call].ID
	result *toolResult // nil until it is known

	pictures []attach.Picture // of the result

	progress *progress
}

// begin writes into the journal that the call is about to run. Where that stands there
// already and the call must not be repeated, nobody knows whether it ran.
func (c *ownCall) begin(ctx context.Context) error {
	switch i := slices.IndexFunc(c.x.begun, func(b step.Begun) bool { return b.Call == c.of.ID }); {
	case i >= 0 && c.x.begun[i].Acts():
		c.fail("nobody knows whether this call ran: the program ended while it was under way", "say so, and do not call it again unless somebody asks for that")
		c.result.Unknown = true
		return nil
	case i >= 0:
		c.id = c.x.begun[i].ID
		return nil
	}
	what, remedy := wrongArgs(c.tool.Name, c.args)
	if what == "" && c.tool.Name == SendFileTool {
		what, remedy = c.x.whyNotSend(c.of)
	}
	switch {
	case what != "":
		c.fail(what, remedy)
		return nil
	case c.tool.Name == AskTool:
		c.setAnswer()
		return nil
	case c.x.opts.DryRun && c.tool.Effect != toolbox.Reads:
		c.fail("this is a dry run: nothing is done", "say what you would have done")
		return nil
	case !c.mayRun():
		return nil
	}
	if c.tool.Name == SendFileTool {
		if err := c.x.outbox.mayShow(ctx, true); err != nil {
			return err
		}
	}
	c.id = c.newID()
	b := step.Begun{Call: c.of.ID, Name: c.tool.Name, ID: c.id, Effect: c.tool.Effect, Repeat: c.tool.MayRepeat()}
	if err := c.x.journal.addJSON(ctx, stepCall, b); err != nil {
		return err
	}
	c.x.begun = append(c.x.begun, b)
	c.x.fault(faultAfterCall)
	return nil
}

// wrongArgs says what is wrong with the arguments of a call, and what to do about it; ""
// where nothing is.
func wrongArgs(tool, args string) (what, remedy string) {
	most := maxOwnArgs
	if tool == SendFileTool {
		most = maxFileArgs
	}
	switch {
	case len(args) > most:
		return "the arguments are too long", fmt.Sprintf("use at most %d bytes", most)
	case !json.Valid([]byte(args)) || args[0] != '{':
		return "the arguments are no JSON object", "write them as the tool's schema says"
	}
	return "", ""
}

// newID returns the id of the call: of the turn, the round and what is called.
func (c *ownCall) newID() string {
	x := c.x
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%d\x00%d\x00%s\x00%s\x00%s",
		x.lease.Conversation, x.queued.Anchor, x.queued.Opened, x.queued.ID, x.rounds, c.of.ID, c.tool.Name, c.args))
	return hex.EncodeToString(sum[:16])
}

// run calls the tool. What acts goes on while the bot stops.
func (c *ownCall) run(ctx, hard context.Context) {
	under := ctx
	if !c.tool.MayRepeat() {
		under = hard
	}
	under, limit, stop := pause.WithTimeout(under, c.x.limits.Call, context.DeadlineExceeded)
	defer stop()
	under, end := c.x.traceTool(under, c.of)
	asker := c.newAsker(ctx, hard, limit)
	r, err := c.call(under, asker)
	asker.end()
	end(&err)
	if err != nil && errors.Is(context.Cause(under), context.DeadlineExceeded) {
		err = fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	switch why := reasonFor(err); {
	case asker.cut:
		// As below: what it made of no answer counts for nothing.
	case err == nil:
		r = c.takePictures(under, r)
		c.set(toolresult.Of(r, c.x.limits.Result), r.Failed)
	case errors.Is(err, toolbox.ErrNotRun):
		c.fail("the tool did not run"+why, "go on without it, or say that it cannot be reached")
		c.result.NotRun = true
	case c.tool.MayRepeat() && ctx.Err() != nil:
		// The turn ends here, and goes on with this call.
	case c.tool.MayRepeat():
		c.fail("the tool failed"+why, "go on without it, or say that it does not work")
	default:
		c.fail("nobody knows whether this call ran"+why, "say so, and do not call it again unless somebody asks for that")
		c.result.Unknown = true
	}
	if err != nil {
		c.x.log.Warn("a tool failed", "tool", c.tool.Name, "err", err)
	}
}

// reasonFor is what the model is told of an error.
func reasonFor(err error) string {
	var told interface{ Reason() string }
	switch {
	case errors.As(err, &told):
		return ": " + told.Reason()
	case errors.Is(err, context.DeadlineExceeded):
		return ": its time was over"
	}
	return ""
}

// call calls the tool, and leaves it alone where it does not return when its time is over.
func (c *ownCall) call(ctx context.Context, asker *toolAsker) (toolbox.Result, error) {
	type outcome struct {
		r   toolbox.Result
		err error
	}
	done := make(chan outcome, 1)
	box, place := c.x.prompt.offer.boxes[c.tool.Name], c.x.toolPlace()
	if c.tool.Name == SendFileTool && c.x.maySendFile() {
		box = fileBox{c.x.platform.(FileSender), c.x.place}
	}
	if box == nil {
		return toolbox.Result{}, fmt.Errorf("%w: it is not there any more", toolbox.ErrNotRun)
	}
	go func() {
		var o outcome
		defer func() {
			if p := recover(); p != nil {
				o = outcome{err: fmt.Errorf("the tool panicked: %v", p)}
			}
			done <- o
		}()
		o.r, o.err = box.Call(ctx, place, toolbox.Call{
			ID: c.id, Turn: c.x.queued.ID, Name: c.tool.Name, Args: c.args,
			Progress: func(text string) { c.progress.show(ctx, c.tool, text) },
			Ask:      func(within context.Context, q toolbox.Question) (string, error) { return asker.ask(ctx, within, q) },
		})
	}()
	select {
	case o := <-done:
		return o.r, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-done:
		return o.r, o.err
	case <-time.After(callGrace):
		return toolbox.Result{}, context.Cause(ctx)
	}
}

// fail makes a result that says what went wrong, and what to do about it.
func (c *ownCall) fail(what, remedy string) {
	c.set(toolresult.Failure(what, remedy), true)
}

func (c *ownCall) set(answer string, failed bool) {
	c.result = &toolResult{Result: llm.Result{Call: c.of.ID, Name: c.of.Name, Parts: []llm.Part{llm.Text(answer)}, Failed: failed}}
}

// hasActed reports whether a journal has a call of a tool that must not be made again, unless
// it certainly did not run. Of an erased one it takes that to be so.
func hasActed(steps []earshot.Step) bool {
	acted := map[string]bool{}
	for _, s := range steps {
		if s.Kind != stepCall && s.Kind != stepResult {
			continue
		}
		e, err := step.Decode(s)
		switch {
		case s.Data == nil || err != nil:
			if s.Kind == stepCall {
				return true
			}
		case e.Begun != nil && e.Begun.Acts():
			acted[e.Begun.Call] = true
		case len(e.Results) == 1 && e.Results[0].NotRun:
			delete(acted, e.Results[0].Call)
		}
	}
	return len(acted) > 0
}
