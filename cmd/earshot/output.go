package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"syscall"
)

// A sink is standard output that remembers that it could not be written to.
// The first failure ends the program's work through stop, so that what is
// temporary is removed. It is safe for concurrent use.
type sink struct {
	w    io.Writer
	stop context.CancelFunc

	mu  sync.Mutex // guards err and the order of writes
	err error
}

func (s *sink) Write(p []byte) (int, error) {
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

// check returns err, or what the sink failed with, which is where err then
// comes from. A reader that has seen enough, as head has, is errClosed.
func (s *sink) check(err error) error {
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

// errClosed is an output whose reader has gone: nobody is left to be told.
var errClosed = errors.New("the output was closed")
