package sqlite

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
)

// person fills a channel with what a person, U7, leaves everywhere, and with others'
// messages between. Whatever is theirs contains text.
func person(t *testing.T, s *Store, text string) {
	t.Helper()
	ctx := t.Context()
	check(t, s.PutAuthors(ctx, scope.Platform, scope.Workspace, earshot.Author{ID: "U7", Name: text, FullName: text + " whole"}, earshot.Author{ID: "U1", Name: "Alice"}))
	long := strings.Repeat(text+" overflows a page ", 700)
	for i := range 90 {
		m := said(earshot.MessageID(fmt.Sprint("p", i)), earshot.Time(1000+i), text+strings.Repeat(" zebra", i*i%700))
		m.Author = earshot.Author{ID: "U7", Name: text, FullName: text, Kind: earshot.Human}
		m.Files = []earshot.File{{ID: "F", Name: text + ".png"}}
		other := said(earshot.MessageID(fmt.Sprint("o", i)), earshot.Time(1000+i), strings.Repeat("stays ", i*7%60)+"<@U7|"+text+">")
		other.Thread, other.ReplyTo = m.ID, m.ID
		other.Shared = []earshot.SharedContent{{Kind: earshot.Forward, ID: "U7", Author: text, Text: text}}
		if i%20 == 3 {
			m.Text, other.Shared[0].Text = long, long
		}
		edit := m
		edit.Edited, edit.Text = m.Time+1, m.Text+" edited"
		later := other
		later.Edited, later.Text = other.Time+1, "stays "+other.Text
		for _, x := range []earshot.Message{m, other, edit, later} {
			_, err := s.Accept(ctx, scope, earshot.Event{Delivery: fmt.Sprint(x.ID, x.Edited), Raw: []byte(`{"user":"U7","text":"` + x.Text + `"}`), Message: x}, nil)
			check(t, err)
		}
		check(t, s.PutBlob(ctx, scope, m.ID, "F", earshot.Blob{SHA256: fmt.Sprint("hash ", i), Name: text, Data: []byte(m.Text)}))
	}
	for i := range 12 {
		id := earshot.ConversationID{Agent: earshot.AgentID(fmt.Sprint("agent", i%2)), Scope: scope, Name: fmt.Sprint("c", i%4)}
		answer(t, s, i, id, text, "p3", "o4")
		reply := said(earshot.MessageID(fmt.Sprint("rm", i)), earshot.Time(2000+i), "They said: "+text+" overflows a page")
		reply.Author = earshot.Author{ID: "UBOT", Kind: earshot.Bot}
		_, err := s.Record(ctx, scope, reply, earshot.Message{ID: earshot.MessageID(fmt.Sprint("m", i)), Deleted: true})
		check(t, err)
		again := earshot.ConversationID{Agent: "agent", Scope: scope, Name: fmt.Sprint("d", i)}
		answerAs(t, s, 100+i, again, text)
		_, err = s.MergeMetadata(ctx, again, map[string]*string{"who": &text})
		check(t, err)
	}
}

// answerAs answers a question of Alice's that contains none of a text, with a prompt,
// a session and a reply that do, because they show p3.
func answerAs(t *testing.T, s *Store, n int, id earshot.ConversationID, text string) {
	t.Helper()
	ctx := t.Context()
	anchor, reply := earshot.MessageID(fmt.Sprint("q", n)), earshot.MessageID(fmt.Sprint("a", n))
	_, _, err := s.OpenConversation(ctx, id, "")
	check(t, err)
	m := said(reply, earshot.Time(3000+n), "They said: "+text+" overflows a page")
	m.Author = earshot.Author{ID: "UBOT", Kind: earshot.Bot}
	_, err = s.Record(ctx, scope, said(anchor, earshot.Time(3000+n), "what was it?"), m)
	check(t, err)
	_, err = s.CommitTurn(ctx, id, earshot.Turn{
		Answer: earshot.Answer{Anchor: anchor, Replies: []earshot.MessageID{reply}}, Shown: []earshot.ShownRevision{{ID: anchor}, {ID: "p3"}},
		Names: []earshot.SessionName{{ID: "U7", Name: text}}, Session: []earshot.SessionEntry{{Role: earshot.User, Text: text}, {Role: earshot.Assistant, Text: m.Text}},
	})
	check(t, err)
	summarise(t, s, id, text, "p4")
}

// steps takes at most n steps of an erasure, all if n is 0, and reports whether it has
// ended.
func steps(t *testing.T, s *Store, id earshot.ErasureID, n int) bool {
	t.Helper()
	for i := 0; n == 0 || i < n; i++ {
		e, err := s.StepErasure(t.Context(), id)
		check(t, err)
		if e.Ended != 0 {
			return true
		}
	}
	return false
}

// An erased person stands in no file, also where the process died between two steps
// and another one went on.
func TestAnErasedPersonStandsInNoFile(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "x.db"))
	person(t, s, "canary4711")
	if !occurs(t, s, "canary4711") {
		t.Fatal("the canary was never in the files")
	}
	e, err := s.BeginErasure(t.Context(), earshot.ErasureOf{Platform: scope.Platform, Workspace: scope.Workspace, User: "U7"})
	check(t, err)
	if steps(t, s, e.ID, 2) {
		t.Fatal("the erasure ended in two steps")
	}
	killed := filepath.Join(t.TempDir(), "x.db") // as a kill leaves the files
	s.alone(t, func() {
		for _, end := range []string{"", "-wal"} {
			b, err := os.ReadFile(files(t, s)[0] + end)
			check(t, err)
			check(t, os.WriteFile(killed+end, b, 0o600))
		}
	})
	for name, s := range map[string]*Store{"the same process": s, "after a kill": openAt(t, killed)} {
		steps(t, s, e.ID, 0)
		scrubbed(t, s)
		for p, err := range s.Locate(t.Context(), "canary", nil) {
			check(t, err)
			t.Errorf("%s: the canary stands in %+v", name, p)
		}
		if occurs(t, s, "canary") {
			t.Errorf("%s: the canary still stands in a file", name)
		}
		if !occurs(t, s, "stays") || !occurs(t, s, "what was it?") {
			t.Errorf("%s: what others said is gone", name)
		}
	}
}

// scrubbed scrubs a store's files. A reader may keep the WAL for longer than a scrub
// waits, on a machine that is busy; then it is tried again.
func scrubbed(t *testing.T, s *Store) {
	t.Helper()
	err := s.Scrub(t.Context())
	for until := time.Now().Add(5 * time.Minute); err != nil && time.Now().Before(until); err = s.Scrub(t.Context()) {
		time.Sleep(50 * time.Millisecond)
	}
	check(t, err)
}

// Whatever an erasure asks the database uses an index.
func TestEveryStatementOfAnErasureUsesAnIndex(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	person(t, s, "canary4711")
	of := earshot.ErasureOf{Platform: scope.Platform, Workspace: scope.Workspace}
	kinds := []earshot.ErasureOf{of, of, of, of}
	kinds[0].Channel, kinds[0].Messages = scope.Channel, []earshot.MessageID{"p1"}
	kinds[1].User = "U7"
	kinds[2].Channel, kinds[2].Before = scope.Channel, 1050
	kinds[3].Channel = scope.Channel
	for _, of := range kinds {
		_, err := s.PlanErasure(t.Context(), of)
		check(t, err)
		e, err := s.BeginErasure(t.Context(), of)
		check(t, err)
		steps(t, s, e.ID, 0)
	}
	check(t, s.Remember(t.Context(), scope.Platform, scope.Workspace, "U7"))
	_, err := s.Coverage(t.Context(), scope)
	check(t, err)
	for query, steps := range s.plans(t) {
		for _, step := range steps {
			if scans(step) && step != "SCAN erasure USING INDEX erasure_open" || strings.Contains(step, "TEMP B-TREE") {
				t.Errorf("%s\n\t%s", query, strings.Join(steps, "\n\t"))
			}
		}
	}
}
