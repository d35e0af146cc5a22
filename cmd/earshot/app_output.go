package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
)

// An outputSink is standard output that keeps its first write error. That error ends the
// program's work through stop, so that temporary files are removed. A sink is
// safe for concurrent use.
type outputSink struct {
	w    io.Writer
	stop context.CancelFunc

	mu  sync.Mutex // guards err and the order of writes
	err error
}

func (s *outputSink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(p)
	if err != nil {
		s.err = err
		s.stop()
	}
	return n, err
}

// check returns err, or the sink's write error, which has then caused err. It is
// errClosed where the reader has stopped reading, as head does.
func (s *outputSink) check(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.err == nil:
		return err
	case errors.Is(s.err, syscall.EPIPE):
		return errClosed
	}
	return fmt.Errorf("cannot write: %w", s.err)
}

// errClosed ends a program whose output's reader has gone; it is not reported.
var errClosed = errors.New("the output was closed")
