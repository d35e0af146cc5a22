package rule

import (
	"errors"
	"testing"

	"github.com/earshot-ai/earshot"
)

func TestTheCoreOfAllFormsIsInEach(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"plain": "plain", "two words": "words", "é": "", "caf\u00e9 au lait": "lait", "a\nnoon": "noon", "<b>": "b", "n\tnn": "nn", "": "",
	} {
		forms, err := Forms(text)
		if text == "" {
			if !errors.Is(err, earshot.ErrInvalid) {
				t.Errorf("an empty text: %v", err)
			}
			continue
		}
		if got := string(Core(forms)); got != want {
			t.Errorf("%q: got %q, want %q of %q", text, got, want, forms)
		}
	}
}
