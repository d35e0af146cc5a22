package simtest

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"
)

// A pipes is a network with one server, whose connections are net.Pipe.
type pipes struct {
	waiting chan net.Conn
	closed  chan struct{}
	once    sync.Once
}

func newPipes() *pipes { return &pipes{waiting: make(chan net.Conn), closed: make(chan struct{})} }

// dial returns the caller's end of a new connection.
func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.waiting <- newBuffered(theirs):
		return ours, nil
	case <-p.closed:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: errors.New("connection refused")}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// A buffered connection takes a write at once, like a socket with its buffer. A bare
// net.Pipe has no buffer: both sides may wait for the other to read.
type buffered struct {
	net.Conn

	mu     sync.Mutex // guards what follows
	queue  []byte
	failed error
	more   chan struct{} // holds a token when there may be something to send
}

func newBuffered(c net.Conn) *buffered {
	b := &buffered{Conn: c, more: make(chan struct{}, 1)}
	go b.send()
	return b
}

// Write implements [net.Conn].
func (b *buffered) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed != nil {
		return 0, b.failed
	}
	b.queue = append(b.queue, p...)
	b.wake()
	return len(p), nil
}

// Close closes the connection behind what was written.
func (b *buffered) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failed == nil {
		b.failed = net.ErrClosed
	}
	b.wake()
	return nil
}

// SetWriteDeadline implements [net.Conn]: no write waits.
func (b *buffered) SetWriteDeadline(time.Time) error { return nil }

// SetDeadline implements [net.Conn].
func (b *buffered) SetDeadline(t time.Time) error { return b.SetReadDeadline(t) }

func (b *buffered) wake() {
	select {
	case b.more <- struct{}{}:
	default:
	}
}

// send sends the buffered bytes until the connection ends.
func (b *buffered) send() {
	defer b.Conn.Close()
	for range b.more {
		b.mu.Lock()
		part, end := b.queue, b.failed
		b.queue = nil
		b.mu.Unlock()
		_, err := b.Conn.Write(part)
		if err != nil || end != nil {
			b.mu.Lock()
			b.failed = net.ErrClosed
			b.mu.Unlock()
			return
		}
	}
}

// Accept implements [net.Listener].
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.waiting:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements [net.Listener]. Nothing listens on the port: a connection that
// leaves the bubble by mistake is refused.
func (p *pipes) Addr() net.Addr { return address{} }

type address struct{}

func (address) Network() string { return "pipe" }
func (address) String() string  { return "127.0.0.1:1" }
