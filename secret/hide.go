package secret

import (
	"errors"
	"net/url"
	"strings"
)

// Hide removes secrets and URLs from the text of a network error. errors.Is still finds
// what the error wraps.
func Hide(err error, secrets ...Secret) error {
	for u := (*url.Error)(nil); errors.As(err, &u); {
		err = u.Err
	}
	text := err.Error()
	for _, s := range secrets {
		if !s.Empty() {
			text = strings.ReplaceAll(text, s.Reveal(), Hidden)
		}
	}
	if text == err.Error() {
		return err
	}
	return hiddenError{text, err}
}

// hiddenError is an error whose text is another's.
type hiddenError struct {
	text string
	err  error
}

func (h hiddenError) Error() string        { return h.text }
func (h hiddenError) Is(target error) bool { return errors.Is(h.err, target) }
