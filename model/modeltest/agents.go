package modeltest

import (
	"path/filepath"
	"regexp"
	"testing"
)

// A2A starts an agent behind Agent2Agent for the time of a test, made with the protocol's own
// SDK, and returns where it is, and what stops it before. version is 1.0 or 0.3, with -poll
// after it for an agent that does not stream; what it was called with and what it did is
// appended to the file log; port is "0" for a free one. Its key is the-key-of-the-agent.
func A2A(t *testing.T, version, log, port string) (url string, stop func()) {
	t.Helper()
	return runPeer(t, regexp.MustCompile(`^(http://\S+/)$`), filepath.Join(peers, "a2a.mjs"), version, log, port)
}
