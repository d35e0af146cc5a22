package modeltest

import (
	"path/filepath"
	"regexp"
	"testing"
)

// Agent starts an agent of .ci/peers for the time of a test, made with its protocol's own
// packages, and returns where it is, and what stops it before. program is its file without
// ".mjs" (a2a, agui), and mode how it is asked: for a2a the version, with -poll after it for an
// agent that does not stream. What it was called with and what it did is appended to
// the file log; port is "0" for a free one. Its key is the-key-of-the-agent.
func Agent(t *testing.T, program, mode, log, port string) (url string, stop func()) {
	t.Helper()
	return runPeer(t, regexp.MustCompile(`^(http://\S+/)$`), filepath.Join(peers, program+".mjs"), mode, log, port)
}
