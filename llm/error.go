package llm

import (
	"fmt"
	"strings"
	"time"
)

// An Error says why a provider did not answer a request. Message is what the
// provider wrote, without keys and URLs. It is for the operator and is never
// shown in a chat.
type Error struct {
	Provider string
	Model    string
	Status   int    // of HTTP; 0 when there was no answer
	Code     string // the provider's own, such as rate_limit_error
	Message  string
	// Retryable says that the same request may succeed later: after a rate limit
	// (429), an overload (529), a 5xx, a broken connection or stream.
	Retryable bool
	// TooLarge says that the request exceeds what the model can read. A smaller
	// one may succeed; the same one never will.
	TooLarge bool
	// RetryAfter is how long the provider asks to wait; 0 when it names no time.
	RetryAfter time.Duration
	Err        error // the cause, where there is one
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.Provider)
	if e.Model != "" {
		b.WriteString(" " + e.Model)
	}
	if e.Status != 0 {
		fmt.Fprintf(&b, ": status %d", e.Status)
	}
	for _, s := range []string{e.Code, e.Message} {
		if s != "" {
			b.WriteString(": " + s)
		}
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }
