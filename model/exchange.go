package model

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// maxSaid bounds what is kept of an answer that is an error, in bytes.
const maxSaid = 64 << 10

// maxBody bounds what is read of one answer, in bytes.
const maxBody = 64 << 20

// errTooLong says that an answer is longer than maxBody.
var errTooLong = fmt.Errorf("the answer is longer than %d MiB", maxBody>>20)

// An Exchange stands between an SDK and the network for one request. It does
// not follow redirects, bounds what is read, and remembers the status, the
// headers and what broke: an SDK reads to what looks like the end, whatever
// happened, and whether the answer is whole is for the adapter to say.
type Exchange struct {
	options Options

	mu     sync.Mutex // guards what follows
	status int
	header http.Header
	broken error
	said   []byte // the beginning of an error's body
}

// Exchange returns an exchange for one request.
func (o Options) Exchange() *Exchange { return &Exchange{options: o} }

// Client returns the client that the SDK is given.
func (x *Exchange) Client() *http.Client {
	c := &http.Client{
		Transport:     x,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	if x.options.HTTPClient != nil {
		c.Timeout, c.Jar = x.options.HTTPClient.Timeout, x.options.HTTPClient.Jar
	}
	return c
}

type exchangeKey struct{}

// Carry returns a ctx for a request of a [Relay], which goes through x. It is
// for an SDK whose client is not to be made for each request.
func (x *Exchange) Carry(ctx context.Context) context.Context {
	return context.WithValue(ctx, exchangeKey{}, x)
}

// Relay returns a client that sends each request through the exchange that its
// ctx carries, and none that carries none.
func (o Options) Relay() *http.Client {
	c := o.Exchange().Client()
	c.Transport = relay{}
	return c
}

type relay struct{}

func (relay) RoundTrip(r *http.Request) (*http.Response, error) {
	x, ok := r.Context().Value(exchangeKey{}).(*Exchange)
	if !ok {
		return nil, errors.New("the request belongs to no exchange")
	}
	return x.RoundTrip(r)
}

// RoundTrip sends one request.
func (x *Exchange) RoundTrip(r *http.Request) (*http.Response, error) {
	send := http.DefaultTransport
	if c := x.options.HTTPClient; c != nil && c.Transport != nil {
		send = c.Transport
	}
	answer, err := send.RoundTrip(r)
	x.mu.Lock()
	defer x.mu.Unlock()
	if err != nil {
		x.broken = err
		return nil, err
	}
	x.status, x.header = answer.StatusCode, answer.Header
	answer.Body = &body{ReadCloser: answer.Body, x: x, left: maxBody}
	return answer, nil
}

// A body is an answer's. What breaks is remembered, and the reader is told that
// the answer ends: an SDK may log what it is told.
type body struct {
	io.ReadCloser
	x    *Exchange
	left int64
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		b.x.broke(errTooLong)
		return 0, io.EOF
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.ReadCloser.Read(p)
	b.left -= int64(n)
	b.x.keep(p[:n])
	if err != nil && !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		b.x.broke(err)
		err = io.EOF
	}
	return n, err
}

// keep keeps what an error says.
func (x *Exchange) keep(p []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.status >= 400 {
		x.said = append(x.said, p[:min(len(p), maxSaid-len(x.said))]...)
	}
}

// Said returns the body of an answer that is an error, as far as the SDK has
// read it: not every SDK passes on what is not of its provider's form.
func (x *Exchange) Said() []byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	return bytes.Clone(x.said)
}

func (x *Exchange) broke(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.broken == nil {
		x.broken = err
	}
}

// seen returns what is known of the answer.
func (x *Exchange) seen() (status int, header http.Header, broken error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.status, x.header, x.broken
}
