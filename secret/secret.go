// Package secret keeps keys and tokens out of whatever is printed, logged or
// marshalled. Start with [New]; [Secret.Reveal] is the only way to the text.
package secret

import (
	"fmt"
	"log/slog"
	"strings"
	"unicode"
)

// Hidden is what stands in place of a secret.
const Hidden = "***"

// A Secret is a text that is never shown: whatever prints, logs or marshals it
// writes ***. The zero Secret is empty. Secrets are compared by what
// Reveal returns, not by ==.
type Secret struct {
	// A pointer, so that a print of a struct with an unexported Secret, where
	// fmt cannot call its methods, shows an address and not the text.
	text *string
}

// New returns a Secret that hides s.
func New(s string) Secret {
	if s == "" {
		return Secret{}
	}
	return Secret{&s}
}

// Reveal returns the text. Call it only where the text goes to whom it belongs.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Empty reports whether there is nothing to hide.
func (s Secret) Empty() bool { return s.text == nil }

// Flaw says in words what a key or token of a service cannot be, because it was copied
// with more than itself, such as "has a line break in it"; "" where nothing is wrong. It
// does not show the secret.
func (s Secret) Flaw() string {
	text := s.Reveal()
	switch {
	case len(text) > 1 && strings.ContainsRune("\"'`", rune(text[0])) && text[0] == text[len(text)-1]:
		return "has quotes around it"
	case strings.ContainsAny(text, "\r\n"):
		return "has a line break in it"
	case strings.ContainsFunc(text, unicode.IsSpace):
		return "has a space in it"
	case strings.ContainsFunc(text, func(r rune) bool { return r < '!' || r > '~' }):
		return "has a character in it that no key has"
	}
	return ""
}

// String returns ***, or nothing when the secret is empty.
func (s Secret) String() string {
	if s.Empty() {
		return ""
	}
	return Hidden
}

// Format writes *** for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(s.String())) }

// MarshalText returns ***, in JSON and YAML too.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText takes the text as it is.
func (s *Secret) UnmarshalText(text []byte) error {
	*s = New(string(text))
	return nil
}

// LogValue returns ***.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }
