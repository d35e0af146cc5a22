package sqlite

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
)

func TestARowInOneTextIsReadOrRefused(t *testing.T) {
	t.Parallel()
	row := func(fields ...string) string { return strings.Join(fields, "\x00") }
	for name, c := range map[string]struct {
		row, terms string
		want       earshot.Terms
	}{
		"whole": {
			row("7", "1700", "0", "m1", "U1", "Alice Maier", "system", "m0", "m9", "deploy\nhang"), "deploy\nhang",
			earshot.Terms{ID: "m1", Seq: 7, Time: 1700, Author: "U1", Name: "Alice Maier", Thread: "m0", ReplyTo: "m9", System: true},
		},
		"deleted": {row("8", "-5", "1", "m1", "", "", "", "", "", ""), "", earshot.Terms{ID: "m1", Seq: 8, Time: -5, Deleted: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got earshot.Terms
			terms, err := readTermRow(c.row, &got)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, c.want); diff != "" || terms != c.terms {
				t.Errorf("terms %q\n-got +want\n%s", terms, diff)
			}
		})
	}
	for name, bad := range map[string]string{
		"a field too few":  row("7", "1700", "0", "m1", "U1", "Alice", "human", "m0", ""),
		"a field too many": row("7", "1700", "0", "m1", "U1", "Al", "ice", "human", "m0", "", "deploy"),
		"no sequence":      row("", "1700", "0", "m1", "U1", "Alice", "human", "m0", "", "deploy"),
		"no time":          row("7", "soon", "0", "m1", "U1", "Alice", "human", "m0", "", "deploy"),
		"nothing":          "",
	} {
		if _, err := readTermRow(bad, &earshot.Terms{}); err == nil {
			t.Errorf("%s: read without an error", name)
		}
	}
}

// Rows of neighbouring channels stand one after the other: whatever sequence
// is asked for, only the channel's own are read.
func TestNoSequenceReachesIntoAnotherChannel(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	for _, id := range []earshot.ChannelID{"C0", "C1", "C2"} {
		_, err := s.Record(t.Context(), earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: id}, said(earshot.MessageID("in "+id), 1, "x"))
		check(t, err)
	}
	for _, after := range []int64{math.MinInt64, -1 << 41, -1, 0, 1, 1 << 40, 1 << 41, math.MaxInt64} {
		list, err := s.Since(t.Context(), scope, after, 0)
		check(t, err)
		for m, err := range s.Terms(t.Context(), scope, after) {
			check(t, err)
			list = append(list, earshot.Message{ID: m.ID})
		}
		want := 2
		if after >= 1 {
			want = 0
		}
		if len(list) != want {
			t.Errorf("after %d: got %d messages, want %d", after, len(list), want)
		}
		for _, m := range list {
			if m.ID != "in C1" {
				t.Errorf("after %d: got %q", after, m.ID)
			}
		}
	}
}
