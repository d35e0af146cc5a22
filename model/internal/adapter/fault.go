package adapter

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/secret"
)

// A Fault is what an adapter knows of a request that was not answered. Zero
// fields are filled in from the exchange.
type Fault struct {
	// Status is the one that the provider means: an error in the middle of a
	// stream has a status of its own, other than the answer's 200.
	Status  int
	Code    string // the provider's own, such as rate_limit_error
	Message string // as the provider wrote it
	// Final says that no repetition will help, whatever the status.
	Final bool
	// Wait is how long the provider asks to wait, where its body says so.
	Wait time.Duration
	// Err is why the answer cannot be read. It is used only without a message.
	Err error
}

// Error makes of a fault the error that a model returns. It is never nil. It
// holds neither the key nor a URL, and ctx.Err() where ctx has ended.
func (x *Exchange) Error(ctx context.Context, f Fault) error {
	e := &llm.Error{Provider: x.provider, Model: x.options.Model, Status: f.Status, Code: f.Code, Message: f.Message}
	if err := ctx.Err(); err != nil {
		e.Err = err
		return e
	}
	if x.invalid {
		e.Message, e.Err = "it was not sent: a schema or a kept part in it is no JSON", llm.ErrInvalid
		return e
	}
	status, header := 0, http.Header{}
	if x.response != nil {
		status, header = x.response.StatusCode, x.response.Header
	}
	if e.Status == 0 && status >= 300 {
		e.Status = status
	}
	noStream := e.Message == "" && status/100 == 2 && strings.HasPrefix(header.Get("Content-Type"), "application/json") && json.Valid(x.said)
	switch {
	case noStream: // asking again would cost the same answer again
		e.Message = "the server answered with JSON in place of a stream"
	case e.Message == "":
		e.Message, e.Err = describeFault(f.Err, x.broken, status)
	}
	e.Message = x.scrub(e.Message)
	e.Code = x.scrub(e.Code)

	var certificate *tls.CertificateVerificationError
	e.TooLarge = tooLarge(e.Status, e.Code, e.Message)
	e.Retryable = !f.Final && !noStream && !e.TooLarge && isRetryable(e.Status, header) && !errors.As(x.broken, &certificate) && !errors.Is(x.broken, errTooLong)
	e.RetryAfter = max(f.Wait, retryAfter(header, time.Now()))
	return e
}

// describeFault says what happened where the provider did not.
func describeFault(err, broken error, status int) (message string, cause error) {
	switch {
	case broken != nil && status == 0:
		return "no connection: " + innermostError(broken).Error(), nil
	case broken != nil:
		return "the answer broke off: " + innermostError(broken).Error(), io.ErrUnexpectedEOF
	case status >= 300 && status < 400:
		return "redirected to elsewhere; the base URL is not the API's", nil
	case status >= 400:
		return http.StatusText(status), nil
	case err != nil:
		return "the answer cannot be read: " + innermostError(err).Error(), nil
	}
	return "the answer broke off", io.ErrUnexpectedEOF
}

// innermostError returns the error below those that tell the URL.
func innermostError(err error) error {
	var u *url.Error
	for errors.As(err, &u) {
		err = u.Err
	}
	return err
}

// isRetryable reports whether the same request may succeed later.
func isRetryable(status int, header http.Header) bool {
	switch header.Get("X-Should-Retry") {
	case "true":
		return true
	case "false":
		return false
	}
	switch status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests:
		return true
	case http.StatusNotImplemented:
		return false
	}
	return status < 300 || status >= 500
}

// maxRetryAfter bounds what retryAfter returns, so that it fits a Duration.
const maxRetryAfter = 1000 * time.Hour

// retryAfter reads how long to wait, from a header with seconds, milliseconds
// or a date.
func retryAfter(header http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return time.Duration(min(ms*float64(time.Millisecond), float64(maxRetryAfter)))
	}
	s := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(s, 64); err == nil && seconds > 0 {
		return time.Duration(min(seconds*float64(time.Second), float64(maxRetryAfter)))
	}
	at, err := http.ParseTime(s)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		now = date // the server's clock, which the header is by
	}
	return max(0, at.Sub(now))
}

// tooLargeWords are how providers and servers say that a request is larger than
// the model can read.
var tooLargeWords = regexp.MustCompile(`(?i)` + strings.Join([]string{
	`prompt is too long`,                              // Anthropic
	`exceed (the )?context limit`,                     // Anthropic, with max_tokens
	`context_length_exceeded|string_above_max_length`, // OpenAI, codes
	`maximum context length`,                          // OpenAI, vLLM
	`context window`,                                  // OpenAI, others
	`request too large`,                               // OpenAI, above the tokens of a minute
	`tokens_limit_reached`,                            // Azure
	`input token count.*exceeds`,                      // Gemini
	`payload size exceeds`,                            // Gemini
	`exceeds? (the )?(model's )?(maximum|available) (context|model length)`, // vLLM, llama.cpp
	`longer than the maximum model length`,                                  // vLLM
	`exceed_context_size`,                                                   // llama.cpp, code
	`exceeds? the context length`,                                           // Ollama
	`exceeded max context length`,                                           // Ollama
	`context the overflows|context overflow`,                                // LM Studio
}, "|"))

func tooLarge(status int, code, message string) bool {
	if status == http.StatusRequestEntityTooLarge {
		return true
	}
	return status >= 400 && tooLargeWords.MatchString(code+" "+message)
}

// maxMessage bounds what an error holds of the provider's words, in bytes.
const maxMessage = 400

var (
	urls = regexp.MustCompile(`(?i)\b[a-z][a-z0-9+.-]*://[^\s"'<>)\]}]+`)
	// What looks like a key of some provider, perhaps with its middle masked.
	keys = regexp.MustCompile(`(?i)\b(?:(?:sk|pk|rk|gsk|xai|key)[-_]|AIza|bearer )[A-Za-z0-9_*.\-]{8,}`)
)

// scrub returns a provider's words without keys and URLs, in one line of
// bounded length.
func (x *Exchange) scrub(s string) string {
	if key := x.options.APIKey.Reveal(); key != "" {
		s = strings.ReplaceAll(s, key, secret.Hidden)
	}
	s = urls.ReplaceAllString(s, "[url]")
	s = keys.ReplaceAllString(s, secret.Hidden)
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if len(s) > maxMessage {
		s = strings.ToValidUTF8(s[:maxMessage], "") + "…"
	}
	return s
}
