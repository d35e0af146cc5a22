package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/llm"
)

// Bounds of what is read of one answer, in bytes.
const (
	maxAnswer = 16 << 20
	maxFault  = 16 << 10
)

var (
	errBrokenOff = errors.New("its answer broke off")
	errTooLong   = fmt.Errorf("its answer is longer than %d MiB", maxAnswer>>20)
)

// client returns what asks an agent: it follows no redirection, which would take the key along.
func (o Options) client() *http.Client {
	client := http.Client{}
	if o.HTTPClient != nil {
		client = *o.HTTPClient
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

// fault is an error that says nothing of the URL, which may hold a key.
func fault(message string, retry bool) *llm.Error {
	return &llm.Error{Provider: provider, Message: message, Retryable: retry}
}

// broken is the error of a connection or a stream that ended too early.
func broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return &llm.Error{Provider: provider, Err: ctx.Err()}
	}
	message := "it cannot be reached"
	switch {
	case errors.Is(err, errBrokenOff):
		message = errBrokenOff.Error()
	case errors.Is(err, errTooLong):
		return fault(errTooLong.Error(), false)
	}
	return fault(message, true)
}

// refused is the error of an answer that is none.
func refused(response *http.Response) error {
	said, _ := io.ReadAll(io.LimitReader(response.Body, maxFault))
	e := fault("", comesAgain(response.StatusCode))
	e.Status = response.StatusCode
	e.TooLarge = response.StatusCode == http.StatusRequestEntityTooLarge
	var f struct {
		Message string `json:"message"`
		Error   struct {
			Message string `json:"message"` // as OpenAI's API has it
		} `json:"error"`
	}
	_ = json.Unmarshal(said, &f)
	e.Message = oneLine(cmp.Or(f.Message, f.Error.Message))
	if n, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && n > 0 && n <= 3600 {
		e.RetryAfter = time.Duration(n) * time.Second
	}
	return e
}

// comesAgain reports whether a request comes again after a status.
func comesAgain(status int) bool {
	return status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout || status == http.StatusConflict
}

// oneLine makes a line of what an agent says, cut, without what cannot be seen.
func oneLine(s string) string { return plain.Line(s, 500) }
