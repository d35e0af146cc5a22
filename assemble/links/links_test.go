package links_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble/links"
)

// chat makes messages of "name: text" lines, half a minute apart; "-- text" is a
// note of the platform's, and "name+9: text" is nine minutes later.
func chat(lines ...string) []earshot.Message {
	var out []earshot.Message
	at := earshot.Time(1_772_442_000_000_000)
	for i, line := range lines {
		m := earshot.Message{ID: earshot.MessageID(fmt.Sprint("m", i)), Author: earshot.Author{Kind: earshot.Human}}
		if text, ok := strings.CutPrefix(line, "-- "); ok {
			m.Author.Kind, m.Text = earshot.System, text
		} else {
			name, text, _ := strings.Cut(line, ": ")
			if who, later, ok := strings.Cut(name, "+"); ok {
				var minutes int64
				fmt.Sscan(later, &minutes)
				name, at = who, at+earshot.Time(minutes*60e6)
			}
			m.Author.ID, m.Author.Name, m.Text = earshot.AuthorID("U"+name), name, text
		}
		at += 30e6
		m.Time = at
		out = append(out, m)
	}
	return out
}

// parents links all of the messages.
func parents(messages []earshot.Message) []int {
	l := links.New()
	var out []int
	for i := range messages {
		out = append(out, l.Next(&messages[i]).Parent)
	}
	return out
}

const none = links.None

func TestWhoAnswersWhomIsGuessed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		chat []earshot.Message
		want []int
	}{
		{
			name: "by name, in two conversations at once",
			chat: chat(
				"anders: how do I make the importer read semicolons?",
				"berit: my printer prints nothing since the upgrade, any idea?",
				"carla: anders: pass --delimiter, it is in the manual",
				"dorian: berit: does the queue show the job?",
				"anders: carla: thanks, that works",
				"berit: dorian: yes, it says paused",
			),
			want: []int{none, none, 0, 1, 2, 3},
		},
		{
			name: "by mention",
			chat: chat(
				"anders: the nightly build fails again, who touched the linker flags?",
				"berit: lunch at noon?",
				"carla: <@Uanders> that was me, fixed on the branch",
			),
			want: []int{none, none, 0},
		},
		{
			name: "whatever case the name is written in, and whatever stands around it",
			chat: chat(
				"[Anders]: is there a mirror of the package index in the office?",
				"berit: does anybody here run the beta on a laptop?",
				"carla: anders, yes: the old file server has one",
			),
			want: []int{none, none, 0},
		},
		{
			name: "notes of the platform's answer nothing and are answered by nobody",
			chat: chat(
				"anders: is the staging database up?",
				"-- === dorian [~dorian@example.org] has joined #ops",
				"carla: anders: it is, since nine",
			),
			want: []int{none, none, 0},
		},
		{
			name: "a question after hours of silence begins anew",
			chat: chat(
				"anders: thanks for the help",
				"berit+600: hello, does anyone know where the release notes are kept?",
			),
			want: []int{none, none},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := parents(c.chat); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// anyChat draws unlikely messages.
func anyChat(t *rapid.T) []earshot.Message {
	names := []string{"anders", "Berit", "carla_", "d", "", "[e]", "anders2", "the"}
	word := rapid.SampledFrom(append(slices.Clone(names), "<@U1>", "<@!U2|x>", "<@", "@Berit", "anders:", "carla_,", "?", "!help", "thanks", "yes", "why", "https://example.org/a", "anyone", "ß", "\xff", "42", ":", "x:"))
	var out []earshot.Message
	at := earshot.Time(0)
	for i := range rapid.IntRange(0, 120).Draw(t, "messages") {
		who := rapid.IntRange(0, len(names)-1).Draw(t, "who")
		at += earshot.Time(rapid.Int64Range(0, 3600e6).Draw(t, "later"))
		out = append(out, earshot.Message{
			ID: earshot.MessageID(fmt.Sprint(i)), Time: at, Text: strings.Join(rapid.SliceOfN(word, 0, 8).Draw(t, "text"), " "),
			Author:   earshot.Author{ID: earshot.AuthorID(fmt.Sprint("U", who)), Name: names[who], Kind: rapid.SampledFrom([]earshot.AuthorKind{earshot.Human, earshot.Human, earshot.Bot, earshot.System}).Draw(t, "kind")},
			Mentions: rapid.SliceOfN(rapid.SampledFrom([]earshot.AuthorID{"U0", "U1", "U9"}), 0, 2).Draw(t, "mentions"),
		})
	}
	return out
}

func TestAGuessLooksBackOnly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		messages := anyChat(t)
		l := links.New()
		var guesses []links.Guess
		for i := range messages {
			g := l.Next(&messages[i])
			guesses = append(guesses, g)
			seen := map[int]bool{}
			for k, n := range g.Ranked {
				switch {
				case n == none:
					if slices.ContainsFunc(g.Ranked[k:], func(n int) bool { return n != none }) {
						t.Fatalf("message %d: a gap in %v", i, g.Ranked)
					}
				case n < 0 || n >= i || seen[n] || messages[n].Author.Kind == earshot.System:
					t.Fatalf("message %d cannot answer %d: %v", i, n, g.Ranked)
				}
				seen[n] = true
			}
			if g.Parent != none && g.Parent != g.Ranked[0] || messages[i].Author.Kind == earshot.System && g.Ranked[0] != none {
				t.Fatalf("message %d: %+v", i, g)
			}
		}
		// Later messages change no guess, and the same messages give the same guesses.
		l = links.New()
		for i := range messages[:len(messages)/2] {
			if g := l.Next(&messages[i]); g != guesses[i] {
				t.Fatalf("message %d: %+v and then %+v", i, guesses[i], g)
			}
		}
	})
}

func TestReferencesAreNotSeen(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		messages := anyChat(t)
		want := parents(messages)
		for i := range messages {
			messages[i].ReplyTo, messages[i].Thread = "0", "1"
		}
		if got := parents(messages); !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

// crowd is a channel in which everybody names everybody.
func crowd(n int) []earshot.Message {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprint("person", i))
	}
	text := strings.Join(all, " ") + "? " + strings.Repeat("why? ", 1000)
	var out []earshot.Message
	for i := range n {
		out = append(out, earshot.Message{
			ID: earshot.MessageID(fmt.Sprint(i)), Time: earshot.Time(i) * 1e6, Text: "perso: " + text,
			Author: earshot.Author{ID: earshot.AuthorID(fmt.Sprint("U", i)), Name: fmt.Sprint("person", i), Kind: earshot.Human},
		})
	}
	return out
}

// TestACrowdThatNamesEverybodyIsBounded measures memory, which grows with the work
// of reading a message; scoring is bounded by [links.Reach].
func TestACrowdThatNamesEverybodyIsBounded(t *testing.T) {
	per := func(n int) float64 {
		messages := crowd(n)
		return testing.AllocsPerRun(3, func() { parents(messages) }) / float64(n)
	}
	if few, many := per(50), per(400); many > 2*few+50 {
		t.Errorf("%.0f allocations a message in a crowd of 50, %.0f in one of 400", few, many)
	}
}

func BenchmarkWindow(b *testing.B) {
	names := []string{"anders", "berit", "carla", "dorian", "elif", "frode", "gerd", "hanne"}
	says := []string{"%s: does the importer read semicolons on the second run?", "yes, it says paused in the queue", "I restarted the workers and the table is empty now, see https://example.org/%s/run", "%s, try the other branch", "thanks", "how do I start the beta on a laptop with two screens?"}
	var lines []string
	for i := range 300 {
		text := says[i*7%len(says)]
		if strings.Contains(text, "%s") {
			text = fmt.Sprintf(text, names[(i*5+1)%len(names)])
		}
		lines = append(lines, names[i*3%len(names)]+": "+text)
	}
	messages := chat(lines...)
	b.ReportAllocs()
	for b.Loop() {
		parents(messages)
	}
}

func BenchmarkCrowd(b *testing.B) {
	messages := crowd(200)
	b.ReportAllocs()
	for b.Loop() {
		parents(messages)
	}
}

func TestWhatIsKnownIsFollowedAndTeachesTheGuess(t *testing.T) {
	t.Parallel()
	messages := chat(
		"anders: the importer chokes on semicolons",
		"-- edda joined",
		"berit: my printer prints nothing since the upgrade",
		"carla: there is a flag",
		"dorian: restart the spooler",
		"anders: which one?",
		"berit: how?",
	)
	l := links.New()
	var got []int
	for i := range messages {
		switch i {
		case 3:
			l.Follow(&messages[i], 0)
		case 4:
			l.Follow(&messages[i], 2)
		default:
			got = append(got, l.Next(&messages[i]).Parent)
		}
	}
	if want := []int{none, none, none, 3, 4}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v: who was answered answers who answered", got, want)
	}
	// What the Linker does not have, a note, and what was not said yet are nobody's
	// parent: the message starts a conversation.
	after := func(parent int) links.Guess {
		l := links.New()
		for i := range messages[:5] {
			l.Next(&messages[i])
		}
		l.Follow(&messages[5], parent)
		return l.Next(&messages[6])
	}
	for _, parent := range []int{1, 5, 6, 99} {
		if got, want := after(parent), after(none); got != want {
			t.Errorf("parent %d: %+v, want %+v", parent, got, want)
		}
	}
}
