package simulate

import "net/http"

// Handler returns the Web API as a handler, for tests that call it without a network:
// in a bubble of testing/synctest, a goroutine that waits for a real connection keeps
// the clock from advancing.
func (s *Slack) Handler() http.Handler { return s.mux() }
