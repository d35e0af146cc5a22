// Package llmtest has a model that answers by a script, for tests of code that
// asks a model: bots, tools, retries.
//
//	m := llmtest.New(
//		llmtest.Call("channel_context", `{"intent":"deploys"}`),
//		llmtest.Say("The workers are running."),
//	)
//	… run the code under test on m …
//	asked := m.Requests()
//
// Each step answers one request: [Say] with a text, [Call] with a call of a tool,
// [Do] by a function. [Fail] and [Cut] return an error. A request that is invalid
// by [llm.Request.Check] uses up its step and gets that error.
//
// Unstable: what this package exports may change with any version.
package llmtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
)

// Provider and ModelName are in the answers and errors of steps that set no
// others.
const (
	Provider  = "script"
	ModelName = "script-1"
)

// ErrEnd is in the chain of the error of a request beyond the last step.
var ErrEnd = errors.New("the script has ended")

// A Step answers one request.
type Step func(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error)

// A Model answers the first request by the first step, and so on. It is safe
// for concurrent use.
type Model struct {
	mu       sync.Mutex // guards what follows
	steps    []Step
	requests []llm.Request
}

// New returns a model that answers by steps.
func New(steps ...Step) *Model { return &Model{steps: steps} }

// Then adds steps to the end of the script.
func (m *Model) Then(steps ...Step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.steps = append(m.steps, steps...)
}

// Requests returns the requests so far, in order, each a copy that nobody
// changes any more.
func (m *Model) Requests() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]llm.Request(nil), m.requests...)
}

// Left returns how many steps have not answered yet.
func (m *Model) Left() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return max(0, len(m.steps)-len(m.requests))
}

// Generate implements [llm.Model].
func (m *Model) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	step, n := m.take(r)
	if err := ctx.Err(); err != nil {
		return llm.Response{}, &llm.Error{Provider: Provider, Model: ModelName, Err: err}
	}
	if err := r.Check(); err != nil {
		return llm.Response{}, fmt.Errorf("request %d of the script: %w", n, err)
	}
	if step == nil {
		return llm.Response{}, &llm.Error{Provider: Provider, Model: ModelName, Message: fmt.Sprintf("request %d", n), Err: ErrEnd}
	}
	if stream == nil {
		stream = func(llm.Event) {}
	}
	answer, err := step(ctx, r, stream)
	if err != nil {
		return llm.Response{}, err
	}
	return complete(answer, r), nil
}

// take records a request and returns its step, and its number, from 1.
func (m *Model) take(r llm.Request) (Step, int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, copyRequest(r))
	if n := len(m.requests); n <= len(m.steps) {
		return m.steps[n-1], n
	}
	return nil, len(m.requests)
}

// copyRequest returns a deep copy of r, by way of its JSON, which holds everything but Turn.
func copyRequest(r llm.Request) llm.Request {
	var c llm.Request
	raw, err := json.Marshal(r)
	if err == nil {
		err = json.Unmarshal(raw, &c)
	}
	if err != nil {
		panic(fmt.Sprintf("llmtest: copy a request: %v", err))
	}
	if r.Turn != nil {
		t := *r.Turn
		c.Turn = &t
	}
	return c
}

// complete sets the fields that a step left empty: names, stop and usage, at a
// token for four bytes of text.
func complete(a llm.Response, r llm.Request) llm.Response {
	if a.Provider == "" {
		a.Provider, a.Model = Provider, ModelName
	}
	if a.Stop == "" {
		a.Stop = llm.StopEnd
		if len(a.Calls()) > 0 {
			a.Stop = llm.StopCalls
		}
	}
	if a.Usage == (earshot.Usage{}) {
		read := len(r.System)
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				read += len(p.Text)
			}
		}
		a.Usage = earshot.Usage{Input: read / 4, Output: len(a.Text()) / 4}
	}
	return a
}

// Say answers with a text, which is streamed word by word.
func Say(text string) Step {
	return func(_ context.Context, _ llm.Request, stream func(llm.Event)) (llm.Response, error) {
		streamWords(text, stream)
		return llm.Response{Parts: []llm.Part{llm.Text(text)}}, nil
	}
}

// Call answers with one call of a tool. See [Calls] for several.
func Call(name, args string) Step { return Calls(llm.Call{Name: name, Args: args}) }

// Calls answers with calls of tools. A call without an id gets one that is
// unique in the request.
func Calls(calls ...llm.Call) Step {
	return func(_ context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
		var a llm.Response
		before := 0
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				if p.Kind == llm.KindCall {
					before++
				}
			}
		}
		for i, c := range calls {
			if c.ID == "" {
				c.ID = fmt.Sprintf("call_%d", before+i+1)
			}
			a.Parts = append(a.Parts, llm.Calling(c))
			stream(llm.Event{Call: c.Name})
		}
		return a, nil
	}
}

// Fail returns err. An *llm.Error without a provider is returned as a copy with
// [Provider] and [ModelName].
func Fail(err error) Step {
	return func(context.Context, llm.Request, func(llm.Event)) (llm.Response, error) {
		var e *llm.Error
		if errors.As(err, &e) && e.Provider == "" {
			named := *e
			named.Provider, named.Model = Provider, ModelName
			return llm.Response{}, &named
		}
		return llm.Response{}, err
	}
}

// Cut streams a text and then returns err, as [Fail] does.
func Cut(text string, err error) Step {
	return func(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
		streamWords(text, stream)
		return Fail(err)(ctx, r, stream)
	}
}

// Do answers by a function of the request. The answer's text is streamed.
func Do(f func(llm.Request) (llm.Response, error)) Step {
	return func(_ context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
		a, err := f(r)
		if err == nil {
			streamWords(a.Text(), stream)
			for _, c := range a.Calls() {
				stream(llm.Event{Call: c.Name})
			}
		}
		return a, err
	}
}

// After waits for d, then answers by a step; it fails if ctx ends before.
func After(d time.Duration, step Step) Step {
	return func(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
			return step(ctx, r, stream)
		case <-ctx.Done():
			return llm.Response{}, &llm.Error{Provider: Provider, Model: ModelName, Err: ctx.Err()}
		}
	}
}

// Hang waits until ctx ends, and fails.
func Hang() Step {
	return func(ctx context.Context, _ llm.Request, _ func(llm.Event)) (llm.Response, error) {
		<-ctx.Done()
		return llm.Response{}, &llm.Error{Provider: Provider, Model: ModelName, Err: ctx.Err()}
	}
}

// streamWords streams a text word by word, each with the space behind it.
func streamWords(text string, stream func(llm.Event)) {
	for piece := range strings.SplitAfterSeq(text, " ") {
		if piece != "" {
			stream(llm.Event{Text: piece})
		}
	}
}
