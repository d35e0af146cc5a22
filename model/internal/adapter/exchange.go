package adapter

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"

	"github.com/earshot-ai/earshot/internal/sse"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
)

// maxSaid bounds what is kept of an answer that is no stream, in bytes.
const maxSaid = 64 << 10

// maxBody bounds what is read of one answer, in bytes.
const maxBody = 64 << 20

// errTooLong says that an answer is longer than maxBody.
var errTooLong = fmt.Errorf("the answer is longer than %d MiB", maxBody>>20)

// An Exchange is one HTTP request and its answer. It does not follow redirects
// (the key in a header would go along), bounds what is read, and remembers what
// went wrong, so that [Exchange.Error] can tell it. It belongs to one goroutine.
type Exchange struct {
	provider string
	options  model.Options

	response *http.Response
	said     []byte // the beginning of an answer without events
	broken   error  // of the network
	invalid  bool   // the request is no JSON and was not sent
	sum      string // SHA-256 of the body that was sent
	bytes    int    // its length
}

// NewExchange returns an exchange of a provider's model, which the options may name
// otherwise. Whoever makes one closes it.
func NewExchange(provider string, o model.Options) *Exchange {
	return &Exchange{provider: cmp.Or(o.Provider, provider), options: o}
}

// URL returns the address at a base URL that [model.Options.Check] has passed. A
// query of the base URL is kept.
func URL(base string, path ...string) *url.URL {
	u, err := url.Parse(base)
	if err != nil {
		u = &url.URL{}
	}
	return u.JoinPath(path...)
}

// Post sends a JSON body and waits for the head of the answer. It reports
// whether the answer is a success, whose [Exchange.Events] are to be read; else
// [Exchange.Error] tells why, and [Exchange.Said] returns the answer's body.
func (x *Exchange) Post(ctx context.Context, u *url.URL, header http.Header, body []byte) bool {
	if !json.Valid(body) {
		x.invalid = true
		return false
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		x.broken = err
		return false
	}
	r.Header = header.Clone()
	r.Header.Set("Content-Type", "application/json")
	if r.Header.Get("Accept") == "" {
		r.Header.Set("Accept", "text/event-stream")
	}
	r.Header.Set("User-Agent", "earshot")
	if r.Header.Get("Idempotency-Key") != "" {
		r.GetBody = nil // net/http would send it a second time by itself
	}
	client := http.Client{}
	if c := x.options.HTTPClient; c != nil {
		client = *c
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	sum := sha256.Sum256(body)
	x.sum, x.bytes = hex.EncodeToString(sum[:]), len(body)
	x.response, err = client.Do(r) //nolint:bodyclose // Close closes it
	if err != nil {
		x.broken = err
		return false
	}
	if x.response.StatusCode/100 == 2 {
		return true
	}
	if x.response.StatusCode >= 400 {
		x.said, _ = io.ReadAll(io.LimitReader(x.response.Body, maxSaid))
	}
	return false
}

// Answered returns an answer to a request with who gave it and the body that
// [Exchange.Post] sent. path is the API's, below the base URL; form is the adapter's
// word for how it wrote the body.
func (x *Exchange) Answered(answer llm.Response, path, form string, r llm.Request) llm.Response {
	answer.Provider = x.provider
	answer.Sent = &llm.SentBody{
		Model: x.options.Model, Path: "/" + path, Form: form, Bytes: x.bytes, SHA256: x.sum,
		MaxTokens: r.MaxTokens, Tools: len(r.Tools), NoCalls: r.NoCalls,
	}
	return answer
}

// Body reads an answer that is no stream.
func (x *Exchange) Body() ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(x.response.Body, maxBody+1))
	if err == nil && len(data) > maxBody {
		err = errTooLong
	}
	if err != nil {
		x.broken = err
	}
	return data, err
}

// Events returns the events of the answer until it ends, breaks off or gets too
// long. The last two are told by [Exchange.Error], which must be asked unless
// the events themselves say that the answer is whole.
func (x *Exchange) Events() iter.Seq[sse.Event] {
	return func(yield func(sse.Event) bool) {
		beginning := &beginning{in: io.LimitReader(x.response.Body, maxBody+1)}
		events := sse.NewReader(beginning)
		none := true
		for {
			e, err := events.Next()
			if err == nil && beginning.read > maxBody {
				err = errTooLong
			}
			if err != nil {
				if !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
					x.broken = err
				} else if beginning.read > maxBody {
					x.broken = errTooLong
				}
				if none {
					x.said = beginning.kept
				}
				return
			}
			none = false
			if !yield(e) {
				return
			}
		}
	}
}

// A beginning keeps the first bytes that are read through it, and counts all.
type beginning struct {
	in   io.Reader
	read int64
	kept []byte
}

func (b *beginning) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	b.read += int64(n)
	b.kept = append(b.kept, p[:min(n, maxSaid-len(b.kept))]...)
	return n, err
}

// Said returns the beginning of an answer that was no stream of events: an
// error's body, or whatever a server sent in place of events.
func (x *Exchange) Said() []byte { return x.said }

// Close ends the exchange.
func (x *Exchange) Close() {
	if x.response != nil {
		_ = x.response.Body.Close()
	}
}

// Decode reads JSON into v. A field of another type than v's is left out and no
// error: what a server writes differently is not missed where it is not needed.
func Decode(data []byte, v any) error {
	err := json.Unmarshal(data, v)
	var mistyped *json.UnmarshalTypeError
	if errors.As(err, &mistyped) {
		return nil
	}
	return err
}
