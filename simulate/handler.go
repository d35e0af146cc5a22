package simulate

import "net/http"

// Handler returns the front of the fake Slack, for a test that calls it without
// a network: goroutines that wait for real sockets keep the clock of a bubble of
// testing/synctest from moving.
func (s *Slack) Handler() http.Handler { return s.mux() }
