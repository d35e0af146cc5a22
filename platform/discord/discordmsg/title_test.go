package discordmsg_test

import (
	"testing"

	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

func TestTitled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, title, text, want string }{
		{"a body below its title", "How do I drain a node?", "It hangs.", "How do I drain a node?\nIt hangs."},
		{"a body that has the title already", "Help", "Help\nIt hangs.", "Help\nIt hangs."},
		{"a body that only begins alike", "Help", "Helpless", "Help\nHelpless"},
		{"no body, as with a picture", "Look", "", "Look"},
		{"no title", "", "It hangs.", "It hangs."},
		{"a title with line breaks is one line", "a\nb", "c", "a b\nc"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := discordmsg.PrependTitle(c.title, c.text); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if twice := discordmsg.PrependTitle(c.title, discordmsg.PrependTitle(c.title, c.text)); twice != c.want {
				t.Errorf("twice: got %q, want %q", twice, c.want)
			}
		})
	}
}
