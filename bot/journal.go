package bot

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
)

// The kinds of entries in a turn's journal.
const (
	stepAnswer  = "answer"  // an llm.Response
	stepResults = "results" // []told, to the answer before
	stepFailed  = "failed"  // why the person was told that there is no answer
	stepAgain   = "again"   // a turn that had failed is to be posted after all
	stepFiles   = "files"   // []handed: which files the model is given, and which not
)

// journal appends an entry.
func (t *turn) journal(ctx context.Context, kind string, data []byte, shows ...earshot.MessageID) error {
	if err := t.flush(ctx); err != nil {
		return err
	}
	t.last = &earshot.Step{N: len(t.steps), Kind: kind, Data: data, Time: t.Now(), Shows: shows}
	return t.flush(ctx)
}

// flush writes the entry that waits, if there is one, with posts that follow
// from it.
func (t *turn) flush(ctx context.Context, posts ...earshot.Post) error {
	if t.last == nil {
		return nil
	}
	s := *t.last
	if err := t.Store.AddStep(ctx, t.lease, t.queued.ID, s, posts...); err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	t.last, t.steps = nil, append(t.steps, s)
	t.Fault(faultAfterStep)
	return nil
}

// putPost writes a post, with the entry that waits for it.
func (t *turn) putPost(ctx context.Context, p earshot.Post) error {
	if t.last != nil {
		return t.flush(ctx, p)
	}
	return t.Store.PutPost(ctx, t.lease, p)
}

// journalLast has the model's last answer wait for the first post, so that the
// disk is waited for once.
func (t *turn) journalLast(a llm.Response) error {
	data, err := json.Marshal(a)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	t.last = &earshot.Step{N: len(t.steps), Kind: stepAnswer, Data: data, Time: t.Now()}
	return nil
}

func (t *turn) journalJSON(ctx context.Context, kind string, v any, shows ...earshot.MessageID) error {
	data, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("journal: %w", err)
	}
	return t.journal(ctx, kind, data, shows...)
}

// A talk is how far the model has come.
type talk struct {
	request llm.Request
	last    *llm.Response // what it said last, unless tools have answered it
	rounds  int           // of tools
	said    []string      // texts beside calls
}

// replay puts the journal behind a request.
func (t *turn) replay(ctx context.Context, r llm.Request) (talk, error) {
	k := talk{request: r}
	for _, s := range t.steps {
		switch s.Kind {
		case stepAnswer:
			a, err := response(s)
			if err != nil {
				return k, err
			}
			k.answered(a)
			t.spend(a.Usage)
		case stepResults:
			var results []told
			if err := json.Unmarshal(s.Data, &results); err != nil || k.last == nil {
				return k, fmt.Errorf("journal entry %d follows no answer: %w", s.N, err)
			}
			t.refill(ctx, results)
			t.heard(results)
			k.told(results)
		case stepFailed:
			if k.last != nil && (len(k.last.Calls()) == 0 || k.rounds >= t.Limits.Rounds) && k.text() == "" {
				k.last = nil // the turn failed of it: answered again, it asks again
			}
		}
	}
	return k, nil
}

// response reads what the model answered.
func response(s earshot.Step) (a llm.Response, err error) {
	if err = json.Unmarshal(s.Data, &a); err != nil {
		err = fmt.Errorf("journal entry %d: %w", s.N, err)
	}
	return a, err
}

func (k *talk) answered(a llm.Response) {
	k.last = &a
	if s := a.Text(); s != "" && len(a.Calls()) > 0 {
		k.said = append(k.said, s)
	}
}

func (k *talk) told(results []told) {
	list := make([]llm.Result, len(results))
	for i, r := range results {
		list[i] = r.Result
	}
	k.request = k.request.Append(*k.last, llm.Results(list...))
	k.last = nil
	k.rounds++
}

func (t *turn) spend(u earshot.Usage) {
	t.usage.Input += u.Input
	t.usage.Output += u.Output
	t.usage.CacheRead += u.CacheRead
	t.usage.CacheWrite += u.CacheWrite
}
