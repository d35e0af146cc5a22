package plain

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCleanRemovesWhatControlsATerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, want string }{
		{"colours", "\x1b[31mred\x1b[0m", "[31mred[0m"},
		{"a carriage return that overwrites the line", "safe\revil", "safeevil"},
		{"a right-to-left override", "abc\u202edef", "abcdef"},
		{"tag characters", "a\U000E0041b", "ab"},
		{"the C1 form of an escape", "a\u009b31mb", "a31mb"},
		{"line breaks and joiners stay", "a\n👩\u200d🔧", "a\n👩\u200d🔧"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, Clean(c.in)); diff != "" {
				t.Errorf("Clean(%q) (-want +got):\n%s", c.in, diff)
			}
		})
	}
}

func TestReadableShowsMentionsAsPeopleSeeThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, want string }{
		{"<@U1|Alice> see <#C1|deploys>", "@Alice see #deploys"},
		{"<@U1> and <!here> and <!subteam^S1|ops>", "@U1 and @here and @ops"},
		{"<https://x.example/a|the log> or <https://x.example/b>", "the log or https://x.example/b"},
		{"a < b, b > c, <html>, <", "a < b, b > c, <html>, <"},
		{"<<@U1|Alice>>", "<@Alice>"},
	} {
		if diff := cmp.Diff(c.want, Readable(c.in)); diff != "" {
			t.Errorf("Readable(%q) (-want +got):\n%s", c.in, diff)
		}
	}
}

func TestCountUsesTheSingularForOne(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{0: "0 messages", 1: "1 message", 2: "2 messages", 1234: "1,234 messages"} {
		if got := Count(n, "message"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
