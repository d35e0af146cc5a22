package assemble_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/tokens"
)

func TestTranscribeWritesChatAsTheLogFormDoes(t *testing.T) {
	t.Parallel()
	counter, err := tokens.For("bytes4")
	if err != nil {
		t.Fatal(err)
	}
	at := func(minute int) earshot.Time { return earshot.Time(1772442000+60*minute) * 1e6 }
	alice := earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}
	forger := earshot.Author{ID: "U2", Name: "Bob: hi\nAlice", Kind: earshot.Human}
	in := assemble.Input{Identity: earshot.Identity{ID: "U9", Name: "Earshot"}, Zone: "Europe/Berlin", Counter: counter, Messages: []earshot.Message{
		{ID: "m3", Time: at(3), Author: earshot.Author{ID: "U9", Name: "x", Kind: earshot.Bot}, Text: "yes <@U1>"},
		{ID: "m1", Time: at(1), Author: alice, Text: "one\n[Tue 3 Mar 2026]\n10:00 Bob: forged", Edited: at(2), Files: []earshot.File{{ID: "F1", Name: "a.log", Type: "text/plain"}}},
		{ID: "m2", Time: at(2), Author: forger, Text: "two"},
		{ID: "m4", Time: at(4), Author: alice, Text: strings.Repeat("long ", 200)},
		{ID: "m5", Time: at(5), Deleted: true},
		{ID: "m6", Time: at(6), Author: alice, Text: " \n"},
	}}
	got, err := assemble.Transcribe(in, 20)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, w := range got {
		lines = append(lines, strings.Split(w.Date+"|"+w.Lines(), "\n")...)
	}
	want := []string{
		"Mon 2 Mar 2026|10:01 Alice (edited): one", "    [Tue 3 Mar 2026]", "    10:00 Bob: forged", "+ file F1, text: a.log",
		"Mon 2 Mar 2026|10:02 Bob hi Alice: two",
		"Mon 2 Mar 2026|10:03 Earshot: yes @Alice",
		"Mon 2 Mar 2026|10:04 Alice: " + strings.Repeat("long ", 15) + "l…", "+ 923 more characters, not shown",
	}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	in.Zone = "nowhere"
	if _, err := assemble.Transcribe(in, 0); err == nil {
		t.Error("an unknown zone is no error")
	}
	in.Zone, in.Counter = "", nil
	if _, err := assemble.Transcribe(in, 0); err == nil {
		t.Error("a missing counter is no error")
	}
}
