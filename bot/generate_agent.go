package bot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/step"
	"github.com/earshot-ai/earshot/llm"
)

// An agent of one's own answers in the model's place ([Options].Agent). It is told whose
// question it is, under a key that is the same each time that it is asked the same.

// tellTurn writes into the request whose question it is.
func (x *modelExchange) tellTurn(ctx context.Context) error {
	if x.opts.Agent == nil {
		return nil
	}
	id := x.lease.Conversation
	t := &llm.Turn{
		ID: x.queued.ID, New: llm.SessionLength(x.prompt.result), Asker: x.place.Asker(), Channel: x.place.Channel, Thread: x.place.Thread,
		Conversation: opaqueID(id.Agent, id.Scope.Platform, id.Scope.Workspace, id.Scope.Channel, id.Name),
	}
	if t.Asker.Zone == "" {
		t.Asker.Zone = x.prompt.input.AskerZone
	}
	if x.opts.Access != nil && !x.isIsolated() {
		access, err := x.opts.Access(ctx, id, x.place.Anchor.Position())
		if err != nil {
			return fmt.Errorf("let the agent look further: %w", err)
		}
		t.Access = access
	}
	x.request.Turn = t
	return nil
}

// nameRequest gives the request its key: of the turn, its prompt and how often the agent was
// answered. A prompt that is made again, as after an edit of the question, is another request.
func (x *modelExchange) nameRequest() {
	if t := x.request.Turn; t != nil {
		t.Key = opaqueID(x.lease.Conversation, x.queued.Anchor, x.queued.Opened, x.queued.ID, x.prompt.result.Hash, x.rounds)
		t.Task = x.tasks[t.Key]
	}
}

// keepTask journals what the agent calls its work on the request, so that a restart takes that
// up again. Without it the agent is asked again under the same key.
func (x *modelExchange) keepTask(ctx context.Context, id string) {
	t := x.request.Turn
	if t == nil || t.Task == id {
		return
	}
	t.Task = id // a second try within this process has it too
	if err := x.journal.addJSON(ctx, stepTask, step.BegunTask{Key: t.Key, ID: id}); err != nil {
		x.log.Warn("keep an agent's task", "err", err)
	}
}

// replayTask notes a task of the journal.
func (x *modelExchange) replayTask(s earshot.Step) error {
	if s.Data == nil { // erased
		return nil
	}
	d, err := step.Decode(s)
	if err != nil {
		return err
	}
	if x.tasks == nil {
		x.tasks = map[string]string{}
	}
	x.tasks[d.Task.Key] = d.Task.ID
	return nil
}

// opaqueID returns 32 letters and digits that stand for some values.
func opaqueID(values ...any) string {
	h := sha256.New()
	for _, v := range values {
		fmt.Fprintf(h, "%v\x00", v)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// showStatus shows what an agent is doing before it writes.
func (x *modelExchange) showStatus(ctx context.Context, d *draftWriter, status string) {
	if w, ok := x.platform.(StatusWriter); ok {
		w.Working(ctx, x.place, status)
	}
	d.showPost(ctx, x.now(), status)
}
