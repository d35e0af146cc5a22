package bot

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot/internal/attach"
	"github.com/earshot-ai/earshot/internal/step"
	"github.com/earshot-ai/earshot/llm"
)

// A journal is the steps of one turn, so that a restart asks nothing again. One
// step may be pending: it is written together with the first post that follows
// from it, so that the disk is waited for once.
type journal struct {
	*claimedTurn
	steps   []earshot.Step
	pending *earshot.Step
}

// read reads the steps from the store again.
func (j *journal) read(ctx context.Context) error {
	steps, err := j.store.Steps(ctx, j.queued.ID)
	if err == nil {
		j.steps = steps
	}
	return err
}

// add appends a step. shows are the messages whose text is in it.
func (j *journal) add(ctx context.Context, kind string, data []byte, shows ...earshot.MessageID) error {
	if err := j.flush(ctx); err != nil {
		return err
	}
	j.addPending(kind, data, shows...)
	return j.flush(ctx)
}

// addPending makes a step the pending one; there must be none.
func (j *journal) addPending(kind string, data []byte, shows ...earshot.MessageID) {
	j.pending = &earshot.Step{N: len(j.steps), Kind: kind, Data: data, Time: j.now(), Shows: shows}
}

func (j *journal) addJSON(ctx context.Context, kind string, v any, shows ...earshot.MessageID) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return j.add(ctx, kind, data, shows...)
}

// addLastAnswer appends the model's last answer as the pending step.
func (j *journal) addLastAnswer(a llm.Response) error {
	data, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	j.addPending(stepAnswer, data)
	return nil
}

// flush writes the pending step, if there is one, with posts that follow from it.
func (j *journal) flush(ctx context.Context, posts ...earshot.Post) error {
	if j.pending == nil {
		return nil
	}
	s := *j.pending
	if err := j.store.AddStep(ctx, j.lease, j.queued.ID, s, posts...); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	j.pending, j.steps = nil, append(j.steps, s)
	j.fault(faultAfterStep)
	return nil
}

// putPost writes a post, with the pending step.
func (j *journal) putPost(ctx context.Context, p earshot.Post) error {
	if j.pending != nil {
		return j.flush(ctx, p)
	}
	return j.store.PutPost(ctx, j.lease, p)
}

// failedStep returns the last step when it says that the turn failed.
func (j *journal) failedStep() (s earshot.Step, ok bool) {
	if n := len(j.steps); n > 0 && j.steps[n-1].Kind == stepFailed {
		return j.steps[n-1], true
	}
	return s, false
}

// resultOf returns what came of a call of a tool of one's own; known is false where the
// journal does not have it.
func (j *journal) resultOf(call string) (r toolResult, known bool) {
	for _, s := range j.steps {
		if s.Kind != stepResult {
			continue
		}
		if d, err := step.Decode(s); err == nil && len(d.Results) == 1 && d.Results[0].Call == call {
			r, known = d.Results[0], true // the last: an earlier one may be of a call that was made again
		}
	}
	return r, known
}

// fileRecords returns what the journal says of the turn's files, the last record
// of each; nil where it says nothing.
func (j *journal) fileRecords() (map[earshot.ArtifactID]attach.Record, error) {
	var out map[earshot.ArtifactID]attach.Record
	for _, s := range j.steps {
		if s.Kind != stepFiles {
			continue
		}
		d, err := step.Decode(s)
		if err != nil {
			return nil, err
		}
		if out == nil {
			out = map[earshot.ArtifactID]attach.Record{}
		}
		for _, r := range d.Files {
			out[r.ID] = r
		}
	}
	return out, nil
}

// answeredAt returns when the model gave its whole answer; ok is false where the
// journal holds none. The times are the journal's, so that a restart does not
// count from its own start; it counts from when an operator opened the turn again.
func (b *Bot) answeredAt(steps []earshot.Step) (at earshot.Time, ok bool) {
	rounds := 0
	for _, s := range steps {
		switch s.Kind {
		case stepAnswer:
			d, err := step.Decode(s)
			at, ok = s.Time, err == nil && (len(d.Answer.Calls()) == 0 || rounds >= b.limits.Rounds)
			rounds++
		case stepReopened:
			at = s.Time
		}
	}
	return at, ok
}

// answerTime returns when the turn got its answer, the pending step included. A
// turn without an answer counts from when it was opened.
func (j *journal) answerTime() earshot.Time {
	steps := j.steps
	if j.pending != nil {
		steps = append(steps[:len(steps):len(steps)], *j.pending)
	}
	if at, ok := j.answeredAt(steps); ok {
		return at
	}
	return j.queued.Opened
}
