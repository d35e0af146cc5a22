package emoji_test

import (
	"testing"

	"github.com/earshot-ai/earshot/internal/emoji"
)

func TestEmojiByNameAndCharacter(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, name := range emoji.Names() {
		char, ok := emoji.Char(" :" + name + ": ")
		back, same := emoji.Name(char)
		if !ok || !same || back != name || seen[char] {
			t.Errorf("%s is %q, which is %s", name, char, back)
		}
		seen[char] = true
	}
	if char, ok := emoji.Char("❤"); !ok || char != "❤️" {
		t.Errorf("without the variant it is %q", char)
	}
	for _, s := range []string{"", "::", "nothing", "party_parrot"} {
		if _, ok := emoji.Char(s); ok {
			t.Errorf("%q is an emoji", s)
		}
	}
}
