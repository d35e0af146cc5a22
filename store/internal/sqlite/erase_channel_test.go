package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
)

// fill writes text into every table that a channel has rows in.
func fill(t *testing.T, s *Store, scope earshot.Scope, from int, text string) {
	t.Helper()
	ctx := t.Context()
	author := earshot.Author{ID: earshot.AuthorID("U-" + text), Name: text, FullName: text, Kind: earshot.Human, Zone: text}
	check(t, s.PutChannel(ctx, earshot.Channel{Platform: scope.Platform, Workspace: scope.Workspace, ID: scope.Channel, Name: text, Topic: text}))
	check(t, s.PutAuthors(ctx, scope.Platform, scope.Workspace, author))
	check(t, s.PutCoverage(ctx, scope, earshot.Coverage{State: earshot.Missing, Why: text}))
	for i := range 60 {
		m := said(earshot.MessageID(fmt.Sprint("s", i)), earshot.Time(1000+i), text+strings.Repeat(" zebra", i*i%700))
		m.Author = author
		m.Shared = []earshot.SharedContent{{Kind: earshot.Forward, Author: text, Place: text, Text: text + " quoted"}}
		if i%3 == 2 {
			m.Thread, m.ReplyTo = "s0", "s1"
		}
		m.Files = []earshot.File{{ID: "F", Name: text}}
		edit := m
		edit.Edited, edit.Text = m.Time+1, m.Text+" edited"
		_, err := s.Record(ctx, scope, m, edit)
		check(t, err)
		check(t, s.PutBlob(ctx, scope, m.ID, "F", earshot.Blob{SHA256: fmt.Sprint("hash ", from, i), Name: text, Data: []byte(m.Text)}))
	}
	for i := range 12 {
		id := earshot.ConversationID{Agent: earshot.AgentID(fmt.Sprint("agent", i%2)), Scope: scope, Name: fmt.Sprint("c", i%4)}
		answer(t, s, from+i, id, text, "s3")
		summarise(t, s, id, text, "s3")
		_, err := s.MergeMetadata(ctx, id, map[string]*string{"text": &text})
		check(t, err)
	}
	waits := earshot.ConversationID{Agent: "waiter", Scope: scope, Name: "waits"}
	_, err := s.Accept(ctx, scope, earshot.Event{Raw: []byte(text), Message: said("waits", 5000, text)}, &waits)
	check(t, err)
}

func TestAChannelThatIsErasedLeavesNoRowAndStandsInNoFile(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	other := scope
	other.Channel = "C2"
	fill(t, s, other, 0, "stays")
	before := s.rows(t)
	fill(t, s, scope, 100, "canary")
	if !occurs(t, s, "canary") {
		t.Fatal("the canary was never in the files")
	}
	check(t, s.Erase(t.Context(), scope))
	s.scrubNow(t)
	if occurs(t, s, "canary") {
		t.Error("the canary still stands in a file")
	}
	if !occurs(t, s, "stays") {
		t.Error("the other channel's text is gone")
	}
	if got := s.rows(t); got != before {
		t.Errorf("got %d rows, want the %d of the other channel", got, before)
	}
}

// A job that erases and is refused takes its note of the scrub back with it.
// Another of the same transaction that erases writes the note anew, so that a
// crash before the scrub does not leave deleted text in the file.
func TestARefusedErasureLeavesTheNextOneItsScrub(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "x.db"))
	var noted bool
	err := s.writer.do(t.Context(), &job{apply: func(x *tx) error { // the writer's goroutine
		return x.all([]*job{
			{apply: func(x *tx) error { return errors.Join(x.needScrub(), earshot.ErrConflict) }},
			{apply: func(x *tx) error {
				if err := x.needScrub(); err != nil {
					return err
				}
				_, err := x.one(`SELECT count(*) > 0 FROM chore WHERE name = 'scrub'`, nil, []any{&noted})
				return err
			}},
		})
	}})
	if err != nil {
		t.Fatal(err)
	}
	if !noted {
		t.Error("the database holds no note that a scrub is due")
	}
}
