package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"

	"github.com/earshot-ai/earshot/internal/sse"
)

// Errors of JSON-RPC, and of the protocol.
const (
	codeInternal = -32603
	codeNoTask   = -32001
)

// An a2aError is the error with which an agent answers a call.
type a2aError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *a2aError) Error() string { return oneLine(e.Message) }

// isNoTask reports whether an error says that the agent does not know a task.
func isNoTask(err error) bool {
	var e *a2aError
	return errors.As(err, &e) && e.Code == codeNoTask
}

// An a2aReply is a response of JSON-RPC.
type a2aReply struct {
	ID     json.RawMessage `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *a2aError       `json:"error"`
}

// call calls a method and reads its results, one or a stream, until each says that it is done
// or the answer ends. An answer that ends before is errBrokenOff, if it was to be done.
func (x *a2aExchange) call(ctx context.Context, method string, params map[string]any, each func(json.RawMessage) (done bool, err error)) error {
	if x.card.tenant != "" {
		params["tenant"] = x.card.tenant
	}
	x.calls++
	id := strconv.Itoa(x.calls)
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		return fmt.Errorf("write a request to the agent: %w", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, x.card.url, bytes.NewReader(body))
	if err != nil {
		return fault("its url cannot be used", false)
	}
	request.GetBody = nil // net/http would send it a second time by itself
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream, application/json")
	request.Header.Set("A2A-Version", x.version.name)
	request.Header.Set(x.version.extensions, TurnExtension)
	x.authorize(request)
	response, err := x.o.client().Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return refusedCall(response)
	}
	return readReplies(response.Header.Get("Content-Type"), response.Body, id, each)
}

// refusedCall is the error of an answer that has no status of success: some agents answer so
// with an error of JSON-RPC all the same.
func refusedCall(response *http.Response) error {
	said, _ := io.ReadAll(io.LimitReader(response.Body, maxFault))
	var r a2aReply
	if json.Unmarshal(said, &r) == nil && r.Error != nil && r.Error.Code != codeInternal {
		return r.Error
	}
	again := *response
	again.Body = io.NopCloser(bytes.NewReader(said))
	return refused(&again)
}

// readReplies reads the responses to the call of an id, as JSON or as a stream.
func readReplies(kind string, in io.Reader, id string, each func(json.RawMessage) (done bool, err error)) error {
	limited := &io.LimitedReader{R: in, N: maxAnswer + 1}
	one := func(data []byte) (bool, error) {
		var r a2aReply
		if json.Unmarshal(data, &r) != nil {
			return false, fault("its answer is no JSON-RPC", false)
		}
		var same string
		if json.Unmarshal(r.ID, &same) != nil || same != id {
			if r.Error == nil || string(r.ID) != "null" { // an error may be of a request that could not be read
				return false, fault("its answer is to another request", false)
			}
		}
		if r.Error != nil {
			return false, r.Error
		}
		return each(r.Result)
	}
	var err error
	switch kind, _, _ = mime.ParseMediaType(kind); kind {
	case "text/event-stream":
		err = readStream(limited, one)
	case "application/json":
		var data []byte
		if data, err = io.ReadAll(limited); err != nil {
			err = errBrokenOff
		} else if limited.N > 0 {
			var done bool
			if done, err = one(data); err == nil && !done {
				err = errBrokenOff
			}
		}
	default:
		return fault("it answered neither with events nor with JSON", false)
	}
	if limited.N <= 0 {
		return errTooLong
	}
	return err
}

func readStream(in io.Reader, one func([]byte) (bool, error)) error {
	events := sse.NewReader(in)
	for {
		e, err := events.Next()
		if err != nil {
			return errBrokenOff
		}
		if done, err := one(e.Data); err != nil || done {
			return err
		}
	}
}
