package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot/internal/pause"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// CallIDKey is the key of a call's id in the _meta of its request. Over HTTP the id is the
// header Idempotency-Key too.
const CallIDKey = "earshot/call-id"

// mostProgress is how long a word on progress may be.
const mostProgress = 120

// renewTime is how long a call waits for a new session in place of a forgotten one.
const renewTime = 10 * time.Second

// An attempt is one sending of a call. The transports find it in the call's context, which
// is all that the SDK hands through.
type attempt struct {
	id     string
	sent   atomic.Bool  // something of it may have reached the server
	status atomic.Int32 // of the HTTP answer
	asked  atomic.Bool  // the server has asked for input, and so was at work
	// ask asks a person, see elicit.go; nil where nobody can be asked.
	ask func(context.Context, toolbox.Question) (string, error)
}

type attemptKey struct{}

// attemptOf returns the attempt of a call's context, or nil.
func attemptOf(ctx context.Context) *attempt {
	a, _ := ctx.Value(attemptKey{}).(*attempt)
	return a
}

// refused reports whether the server certainly did not run the call: nothing was sent, or
// it refused the request.
func (a *attempt) refused() bool {
	status := a.status.Load()
	return !a.asked.Load() && (!a.sent.Load() || status >= 400 && status < 500 && status != 408)
}

// call calls a tool.
func (s *server) call(ctx context.Context, t tool, call toolbox.Call) (toolbox.Result, error) {
	args, err := arguments(call.Args)
	if err != nil {
		return toolbox.Result{}, fmt.Errorf("%w: %w", toolbox.ErrNotRun, err)
	}
	session, why := s.current()
	if session == nil {
		return toolbox.Result{}, fmt.Errorf("%w: %s cannot be reached just now: %s", toolbox.ErrNotRun, s.Name, why)
	}
	outer := ctx
	ctx, limit, cancel := pause.WithTimeout(ctx, s.Timeout, context.DeadlineExceeded)
	defer cancel()
	ended, open := s.ends.add(cancel)
	defer ended()
	if !open {
		return toolbox.Result{}, fmt.Errorf("%w: this process is stopping", toolbox.ErrNotRun)
	}
	token, done := s.watch(call.Progress)
	defer done()
	s.called.Store(true)
	for renewed := false; ; renewed = true {
		a := &attempt{id: call.ID, ask: asks(call, limit)}
		params := &mcp.CallToolParams{Meta: mcp.Meta{CallIDKey: call.ID}, Name: t.own, Arguments: args}
		params.SetProgressToken(token)
		ends := s.begins(session, a)
		r, err := session.CallTool(context.WithValue(ctx, attemptKey{}, a), params)
		ends(err == nil || answered(err) != nil)
		switch {
		case err == nil:
			return s.result(r), nil
		case errors.Is(err, mcp.ErrSessionMissing) && !renewed:
			s.forget(session)
			wait, stop := context.WithTimeout(ctx, renewTime)
			session = s.next(wait, session)
			stop()
			if session == nil {
				return toolbox.Result{}, fmt.Errorf("%w: %s has ended the session, and a new one could not be had", toolbox.ErrNotRun, s.Name)
			}
		case answered(err) != nil:
			return s.refusal(answered(err))
		case a.refused():
			return toolbox.Result{}, fmt.Errorf("%w: %s did not take the call: %s", toolbox.ErrNotRun, s.Name, s.strain.err(err))
		case outer.Err() == nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded):
			return toolbox.Result{}, fmt.Errorf("%s did not answer within %s", s.Name, s.Timeout)
		case ctx.Err() != nil:
			return toolbox.Result{}, fmt.Errorf("the call of %s was ended: %w", s.Name, ctx.Err())
		default:
			return toolbox.Result{}, fmt.Errorf("%s did not answer: %s", s.Name, s.strain.err(err))
		}
	}
}

// asks returns what asks a person for a call, whose time does not run meanwhile; nil where
// nobody can be asked.
func asks(call toolbox.Call, limit *pause.Timeout) func(context.Context, toolbox.Question) (string, error) {
	if call.Ask == nil {
		return nil
	}
	return func(ctx context.Context, q toolbox.Question) (string, error) {
		defer limit.Hold()()
		return call.Ask(ctx, q)
	}
}

// arguments returns the arguments as they are sent.
func arguments(args string) (json.RawMessage, error) {
	if strings.TrimSpace(args) == "" {
		args = "{}"
	}
	if sound([]byte(args)) != nil || strings.TrimSpace(args)[0] != '{' {
		return nil, errors.New("the arguments are no JSON object")
	}
	return json.RawMessage(args), nil
}

// answered returns the error that a server answered with, or nil where the error is this
// side's.
func answered(err error) *jsonrpc.Error {
	var e *jsonrpc.Error
	if !errors.As(err, &e) {
		return nil
	}
	switch e.Code {
	case -32003, -32004, -32005, codeBroken: // the SDK's own for a closing side and a failed transport, and ours
		return nil
	}
	return e
}

// refusal is the result of a call that the server answered with an error.
func (s *server) refusal(e *jsonrpc.Error) (toolbox.Result, error) {
	text := s.strain.line(e.Message, 1000)
	if text == "" {
		text = "error " + strconv.FormatInt(e.Code, 10)
	}
	return toolbox.Result{Parts: []llm.Part{llm.Text(text)}, Failed: true}, nil
}

// A progress is who is told how far a call has come.
type progress struct {
	mu   sync.Mutex // guards what follows, and is held while show runs
	show func(string)
}

// watch returns a token for the progress of a call, and what ends it: show is not called
// after that.
func (s *server) watch(show func(string)) (token string, done func()) {
	p := &progress{show: show}
	s.mu.Lock()
	s.calls++
	token = "call-" + strconv.Itoa(s.calls)
	s.progress[token] = p
	s.mu.Unlock()
	return token, func() {
		s.mu.Lock()
		delete(s.progress, token)
		s.mu.Unlock()
		p.mu.Lock()
		p.show = nil
		p.mu.Unlock()
	}
}

// progressed is told of progress.
func (s *server) progressed(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
	if r == nil || r.Params == nil {
		return
	}
	token, _ := r.Params.ProgressToken.(string)
	s.mu.Lock()
	p := s.progress[token]
	s.mu.Unlock()
	if p == nil {
		return
	}
	text := s.strain.line(r.Params.Message, mostProgress)
	if text == "" && r.Params.Total > 0 {
		text = fmt.Sprintf("%.4g of %.4g", r.Params.Progress, r.Params.Total)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.show != nil && text != "" {
		p.show(text)
	}
}
