package inspect

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// written writes a diff as text: a sign and the line.
func written(was, now []string) string {
	var b strings.Builder
	for _, l := range diffOf(was, now) {
		from, at := was, l.Was
		if at < 0 {
			from, at = now, l.Now
		}
		b.WriteString(string(l.Sign) + from[at] + "\n")
	}
	return b.String()
}

func TestADiffFindsTheLinesThatDiffer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, was, now, want string }{
		{"nothing in both", "", "", ""},
		{"the same", "a b", "a b", " a\n b\n"},
		{"only added", "", "a b", "+a\n+b\n"},
		{"only removed", "a b", "", "-a\n-b\n"},
		{"one added in the middle", "a c", "a b c", " a\n+b\n c\n"},
		{"one removed in the middle", "a b c", "a c", " a\n-b\n c\n"},
		{"one replaced", "a b c", "a x c", " a\n-b\n+x\n c\n"},
		{"changes far apart", "a b c d e f g", "b c d x e f g h", "-a\n b\n c\n d\n+x\n e\n f\n g\n+h\n"},
		{"repeated lines", "a a a", "a a", " a\n a\n-a\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := written(strings.Fields(c.was), strings.Fields(c.now)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// TestADiffHasEveryLineOfBothTextsOnce holds for any two texts, those that differ too
// much to be compared line by line included.
func TestADiffHasEveryLineOfBothTextsOnce(t *testing.T) {
	t.Parallel()
	check := func(t interface{ Fatalf(string, ...any) }, was, now []string) {
		wasAt, nowAt := 0, 0
		for _, l := range diffOf(was, now) {
			switch {
			case l.Sign == diffSame && l.Was == wasAt && l.Now == nowAt && was[wasAt] == now[nowAt]:
				wasAt, nowAt = wasAt+1, nowAt+1
			case l.Sign == diffRemoved && l.Was == wasAt && l.Now == -1:
				wasAt++
			case l.Sign == diffAdded && l.Now == nowAt && l.Was == -1:
				nowAt++
			default:
				t.Fatalf("%+v is out of order, or not of its sign", l)
			}
		}
		if wasAt != len(was) || nowAt != len(now) {
			t.Fatalf("%d of %d old lines and %d of %d new ones are in the diff", wasAt, len(was), nowAt, len(now))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 30)
		check(t, lines.Draw(t, "was"), lines.Draw(t, "now"))
	})
	was, now := make([]string, 3*maxDiff), make([]string, 3*maxDiff)
	for i := range was {
		was[i], now[i] = "was "+string(rune('a'+i%26)), "now "+string(rune('a'+i%26))
	}
	check(t, was, now)
}
