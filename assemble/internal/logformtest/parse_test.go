package logformtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/assemble/internal/logformtest"
)

// whole is a first turn in a thread with every kind of line.
const whole = `[a Slack channel. You are earshot here.]
+ name: #deploys
+ topic: releases and incidents

[summary of earlier turns, 12 Feb to 1 Mar]
+ summary: the lock table was full
    [question, Mon 2 Mar 2026, UTC]

[earlier in this channel, found for this question]
[Thu 12 Feb]
09:12 Alice: workers hang when the lock table is full
↳ 09:20 Bob: then restart import first, web last

[recent in this channel; 1,081 older messages not shown]
[Fri 27 Feb]
16:40 Carol: the office is closed on Friday
· keys are with the porter
[Mon 2 Mar]
08:55 Dana Frei: release notes for 1.4?
+ 14 replies not shown, thread 1772441700.000100
↳ 08:58 Dana Wolf: in the wiki
Thu 12 Feb 16:16 Nils: since then?
+ replies to Thu 12 Feb 20:43 Tom Hansen
↳ 09:01 earshot (you): the last green build is 811

[this thread]
[history before 2026-03-02 09:02 UTC could not be loaded]
[Mon 2 Mar]
09:02 Alice: staging is down since the 1.4 deploy
09:03 Bob (edited): the migration hangs
    
    09:04 Carol: here is the log…
+ 1,234 more characters, not shown
+ file F1, text, 12 KB: migrate.log
09:05 CI (bot) (edited): build 812 green
09:06 Carol:
+ forwarded, Sun 1 Mar 17:20, from Erin Vogt in #support:
    we see it in our region too
    
    09:00 Bob: hi
+ link preview, example.org:
    Full bloom
+ quoted by an app:
    x
+ reactions: :eyes: 2, :tada: 1

[question, Mon 2 Mar 2026, Europe/Berlin]
09:07 Alice: @earshot are they running?
    [this thread]`

func TestWhatTheFormSaysIsReadBack(t *testing.T) {
	t.Parallel()
	turn, err := logformtest.Parse(whole)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range turn.Blocks {
		got = append(got, fmt.Sprintf("%s left %d notes %d", b.Kind, b.Left, len(b.Notes)))
		for _, x := range b.Plus {
			got = append(got, fmt.Sprintf("+ %s=%q", x.Kind, x.Value))
		}
		for _, m := range b.Messages {
			marks := ""
			for _, mark := range []struct {
				is bool
				s  string
			}{{m.Reply, "r"}, {m.Run, "·"}, {m.You, "y"}, {m.Bot, "b"}, {m.Edited, "e"}, {m.Above != nil, "^"}} {
				if mark.is {
					marks += mark.s
				}
			}
			got = append(got, fmt.Sprintf("%s|%s|%s|%s|%q", m.Day, m.Clock, m.Name, marks, m.Text))
			for _, x := range m.Plus {
				got = append(got, fmt.Sprintf("+ %s (%s) %d %q %q", x.Kind, x.Middle, x.Count, x.Value, x.Quote))
			}
		}
	}
	want := strings.Split(`place left 0 notes 0
+ name="#deploys"
+ topic="releases and incidents"
summary left 0 notes 0
+ summary="the lock table was full\n[question, Mon 2 Mar 2026, UTC]"
recall left 0 notes 0
Thu 12 Feb 2026|09:12|Alice||"workers hang when the lock table is full"
Thu 12 Feb 2026|09:20|Bob|r|"then restart import first, web last"
window left 1081 notes 0
Fri 27 Feb 2026|16:40|Carol||"the office is closed on Friday"
Fri 27 Feb 2026||Carol|·|"keys are with the porter"
Mon 2 Mar 2026|08:55|Dana Frei||"release notes for 1.4?"
+ replies not shown () 14 "1772441700.000100" ""
Mon 2 Mar 2026|08:58|Dana Wolf|r|"in the wiki"
Thu 12 Feb 2026|16:16|Nils||"since then?"
Mon 2 Mar 2026|09:01|earshot|ry^|"the last green build is 811"
thread left 0 notes 1
Mon 2 Mar 2026|09:02|Alice||"staging is down since the 1.4 deploy"
Mon 2 Mar 2026|09:03|Bob|e|"the migration hangs\n\n09:04 Carol: here is the log…"
+ more characters () 1234 "" ""
+ file (F1, text, 12 KB) 0 "migrate.log" ""
Mon 2 Mar 2026|09:05|CI|be|"build 812 green"
Mon 2 Mar 2026|09:06|Carol||""
+ forwarded (Sun 1 Mar 17:20, from Erin Vogt in #support) 0 "" "we see it in our region too\n\n09:00 Bob: hi"
+ link preview (example.org) 0 "" "Full bloom"
+ quoted by an app () 0 "" "x"
+ reactions () 0 ":eyes: 2, :tada: 1" ""
question left 0 notes 0
Mon 2 Mar 2026|09:07|Alice||"@earshot are they running?\n[this thread]"`, "\n")
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("what was read (-got +want):\n%s", diff)
	}
}

// TestWhatIsNotOfTheFormIsRefused checks the parser itself: each of these lines
// stands in the first column of a prompt that is otherwise correct.
func TestWhatIsNotOfTheFormIsRefused(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]string{
		"a line without a time":               "Bob: yes",
		"an indent of two":                    "  yes",
		"a header within a block":             "[this thread]",
		"an empty line within a message":      "\nyes",
		"a header that there is not":          "\n[answer]\n09:03 Bob: yes",
		"a question in the middle":            "\n[question, Mon 2 Mar 2026, UTC]\n09:03 Bob: yes",
		"a clock that there is not":           "24:03 Bob: yes",
		"a mark without its space":            "·yes",
		"a name with a comma":                 "09:03 Bob, Alice: yes",
		"a name with a mark in it":            "09:03 (you) Bob: yes",
		"two marks of who it is":              "09:03 Bob (bot) (you): yes",
		"a head without a colon":              "09:03 Bob says yes",
		"a + line that there is not":          "+ approved by Alice",
		"a file without an id":                "+ file : x",
		"a forward with two colons":           "+ forwarded: x:",
		"what replies to nothing":             "+ replies to 09:01 Bob",
		"reactions before the files":          "+ reactions: :eyes: 1\n+ file F1, text: x",
		"a continuation of reactions":         "+ reactions: :eyes: 1\n    09:03 Bob: yes",
		"a day that falls":                    "[Sun 1 Mar]\n09:03 Bob: yes",
		"a day that there is not":             "[Tue 3 Mar 2026]\n[Tue 4 Mar]\n09:03 Bob: yes",
		"a day in the year of somebody":       "[Mon 2 Mar yes]",
		"a note behind a message":             "[history could not be loaded]",
		"a system line":                       "[F1 was attached in turn 1]",
		"a plus of the place in a thread":     "+ topic: x",
		"an arrow of another kind":            "→ 09:03 Bob: yes",
		"a message in brackets":               "[09:03 Bob: yes]",
		"a carriage return of somebody":       "09:03 Bob: yes\n\r",
		"an ideographic space as a separator": "09:03\u3000Bob: yes",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := "[this thread]\n[Mon 2 Mar]\n09:02 Alice: x\n" + bad + "\n\n[question, Mon 2 Mar 2026, UTC]\n09:07 Alice: y"
			if turn, err := logformtest.Parse(text); err == nil {
				t.Errorf("read as %+v", turn)
			}
		})
	}
}
