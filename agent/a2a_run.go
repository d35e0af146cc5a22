package agent

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/earshot-ai/earshot/internal/pause"
	"github.com/earshot-ai/earshot/llm"
)

// How a task is followed whose stream is lost, or that has none.
const (
	maxSubscribed = 3 // subscriptions to one task; after them it is looked at
	maxLost       = 3 // times in a row that it cannot be looked at
	firstLook     = 250 * time.Millisecond
	longestLook   = 5 * time.Second
	historyLook   = 50 // messages of its history, in which ours is looked for
)

// run asks the agent until there is an answer: it takes up the task that an earlier try began,
// or sends the message, under the same id each time.
func (x *a2aExchange) run(ctx context.Context) error {
	to := x.answer.kept
	if id := x.request.Turn.Task; id != "" {
		err := x.follow(ctx, id)
		if !isNoTask(err) && !errors.Is(err, errNotReceived) {
			return err
		}
		x.forget()
		if isNoTask(err) {
			to = nil
		}
	}
	err := x.send(ctx, to)
	if to != nil && isNoTask(err) { // the agent has lost its task, and is told everything
		x.forget()
		err = x.send(ctx, nil)
	}
	return err
}

// forget forgets a task that the agent does not know any more.
func (x *a2aExchange) forget() {
	x.answer = &a2aAnswer{stream: x.answer.stream, turn: x.answer.turn, kept: x.answer.kept, sent: x.answer.sent}
}

// send sends the message, and follows the task that it begins or goes on with.
func (x *a2aExchange) send(ctx context.Context, to *keptTask) error {
	params := map[string]any{"message": x.message(to)}
	method := x.version.stream
	if !x.card.Streaming {
		method, params["configuration"] = x.version.send, x.version.configuration
	}
	if to == nil {
		x.answer.kept = nil
	} else if err := x.answer.of(to.Task, to.Context); err != nil {
		return err
	}
	err := x.call(ctx, method, params, x.add)
	if x.answer.task != "" && isLost(err) && ctx.Err() == nil {
		return x.follow(ctx, x.answer.task)
	}
	return err
}

// add adds one result of a call to the answer.
func (x *a2aExchange) add(data json.RawMessage) (bool, error) {
	r, err := readResult(data)
	if err != nil {
		return false, err
	}
	return x.answer.add(r)
}

// errNotReceived says that a task still waits for the message of this request.
var errNotReceived = errors.New("the task waits for this message")

// follow follows a task that has begun: it looks at it, and subscribes to it until it is done.
func (x *a2aExchange) follow(ctx context.Context, id string) error {
	lost, subscribed, wait := 0, 0, firstLook
	for {
		switch err := x.look(ctx, id); {
		case isLost(err) && lost < maxLost:
			lost++
		case x.answer.done(): // also where it was told, and is forgotten by now
			return nil
		case err != nil:
			return err
		case x.waits() && !x.answer.received:
			return errNotReceived
		default:
			lost = 0
			if x.card.Streaming && subscribed < maxSubscribed {
				subscribed++
				done, err := x.subscribe(ctx, id)
				if err != nil {
					return err
				}
				if done { // what came before the subscription is in the task
					continue
				}
			}
		}
		if err := pause.For(ctx, wait); err != nil {
			return err
		}
		wait = min(2*wait, longestLook)
	}
}

// waits reports whether the task waits for the answer that this request is.
func (x *a2aExchange) waits() bool {
	a := x.answer
	return (a.state == stateInput || a.state == stateAuth) && a.isOldQuestion()
}

// look reads a task as it is.
func (x *a2aExchange) look(ctx context.Context, id string) error {
	return x.call(ctx, x.version.get, map[string]any{"id": id, "historyLength": historyLook}, func(data json.RawMessage) (bool, error) {
		var t a2aTask
		if json.Unmarshal(data, &t) != nil {
			return false, errNoProtocol
		}
		if t.ID != id {
			return false, fault("its answer is of another task", false)
		}
		_, err := x.answer.add(a2aResult{task: &t})
		return true, err
	})
}

// subscribe reads the events of a task from now on. An agent may be unable to, and the task is
// looked at then.
func (x *a2aExchange) subscribe(ctx context.Context, id string) (done bool, err error) {
	err = x.call(ctx, x.version.subscribe, map[string]any{"id": id}, x.add)
	var refused *a2aError
	if isLost(err) || errors.As(err, &refused) {
		return false, ctx.Err()
	}
	return err == nil, err
}

// isLost reports whether an error says that a connection was lost, or could not be had.
func isLost(err error) bool {
	var ours *llm.Error
	var theirs *a2aError
	switch {
	case err == nil, errors.Is(err, errTooLong), errors.As(err, &theirs), errors.Is(err, errNotReceived):
		return false
	case errors.As(err, &ours):
		return ours.Retryable
	}
	return true
}
