package mcpclient

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// mostToolName is how long a tool's name may be for every provider.
const mostToolName = 64

// hashLength is how much of the hash stands behind a name that had to be changed.
const hashLength = 8

// toolName returns the name of a server's tool for models: server__tool. Where that is no
// valid name it is made one, and ends in a hash of the tool's own name, so that it depends
// on nothing but the two names. A secret of the server's is struck out.
func (s *server) toolName(tool string) (name string, changed bool) {
	shown := s.strain.secrets.Replace(tool)
	made := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, shown)
	name = s.Name + "__" + made
	if made == tool && tool != "" && len(name) <= mostToolName {
		return name, false
	}
	sum := sha256.Sum256([]byte(tool))
	end := "_" + hex.EncodeToString(sum[:])[:hashLength]
	return name[:min(len(name), mostToolName-len(end))] + end, true
}
