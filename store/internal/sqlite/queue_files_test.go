package sqlite

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

var dm = earshot.ConversationID{Agent: "agent", Scope: scope, Name: "dm"}

// answer accepts the nth message and answers it, with text in every place
// that holds any.
func answer(t testing.TB, s *Store, n int, id earshot.ConversationID, text string, shows ...earshot.MessageID) earshot.TurnID {
	t.Helper()
	ctx := t.Context()
	anchor := earshot.MessageID(fmt.Sprint("m", n))
	now := earshot.Time(n + 1)
	m := said(anchor, now, text)
	m.Files = []earshot.File{{ID: "F1", Name: text}}
	out, err := s.Accept(ctx, id.Scope, earshot.Event{Delivery: fmt.Sprint("Ev", n), Raw: []byte("raw " + text), Received: now, Message: m}, &id)
	check(t, err)
	check(t, s.PutBlob(ctx, id.Scope, anchor, "F1", earshot.Blob{SHA256: fmt.Sprint("hash ", n), Name: text, Data: []byte("blob " + text)}))
	l, turns, err := s.Claim(ctx, id.Agent, "owner", now, time.Hour)
	check(t, err)
	if len(turns) != 1 || turns[0].ID != out.Turn {
		t.Fatalf("claimed %v, want turn %d", turns, out.Turn)
	}
	c, err := s.Conversation(ctx, id)
	check(t, err)
	check(t, s.Begin(ctx, l, out.Turn, earshot.Prompt{From: c.Epoch, Epoch: c.Epoch, Input: []byte("input " + text), Hash: "h", Shows: shows}))
	check(t, s.AddStep(ctx, l, out.Turn, earshot.Step{Kind: "model", Data: []byte("journal " + text)}))
	post := earshot.Post{Turn: out.Turn, Key: fmt.Sprint("key ", out.Turn), Text: "post " + text, State: earshot.PostPlanned}
	for _, post.State = range []earshot.PostState{earshot.PostPlanned, earshot.PostSending, earshot.PostSent} {
		if post.State == earshot.PostSent {
			post.Message = "r" + anchor
		}
		check(t, s.PutPost(ctx, l, post))
	}
	turn := earshot.Turn{
		Answer: earshot.Answer{Anchor: anchor, Replies: []earshot.MessageID{post.Message}}, Epoch: c.Epoch, Cursor: int64(n),
		Shown: []earshot.ShownRevision{{ID: anchor}, {ID: post.Message}}, Attached: []earshot.AttachedFile{{ID: "F1", SHA256: fmt.Sprint("hash ", n), Tokens: 85}},
		Names: []earshot.SessionName{{ID: "U1", Name: "name " + text}}, Form: "log", Zone: "UTC",
		Session: []earshot.SessionEntry{
			{Role: earshot.User, Text: "session " + text, Media: []earshot.ArtifactID{"F1"}},
			{Role: earshot.Assistant, Calls: []earshot.Call{{ID: "1", Name: "search", Args: text}}, Opaque: "opaque " + text},
			{Role: earshot.ToolRole, Call: "1", Text: "found " + text}, {Role: earshot.Assistant, Text: text},
		},
		Ledger: earshot.Ledger{{ID: anchor, Section: "anchor", Verdict: earshot.Full, Reason: "anchor", Tokens: 9}},
	}
	check(t, s.Finish(ctx, l, out.Turn, earshot.TurnDone, "", &turn))
	check(t, s.Release(ctx, l, 0))
	return out.Turn
}

func TestWhatTheQueueHeldOfADeletedMessageStandsInNoFile(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	ctx := t.Context()
	const n = 60
	for i := range n {
		id := dm
		id.Name = fmt.Sprint("c", i%7)
		answer(t, s, i, id, fmt.Sprintf("canary-%d %s", i, strings.Repeat("zebra ", i*i%900)))
	}
	id := dm // one is failed, one is parked, one under way, one waits
	id.Name = "others"
	for i, state := range []earshot.TurnState{earshot.TurnFailed, earshot.TurnParked, earshot.TurnGenerating, earshot.TurnOpen} {
		id.Name = fmt.Sprint("other ", i)
		out, err := s.Accept(ctx, scope, earshot.Event{Raw: []byte("raw canary"), Message: said(earshot.MessageID(fmt.Sprint("o", i)), 500, "canary")}, &id)
		check(t, err)
		if state == earshot.TurnOpen {
			break
		}
		l, _, err := s.Claim(ctx, "agent", "owner", 600, time.Hour)
		check(t, err)
		check(t, s.Begin(ctx, l, out.Turn, earshot.Prompt{Input: []byte("canary"), Hash: "h"}))
		check(t, s.AddStep(ctx, l, out.Turn, earshot.Step{Kind: "tool", Data: []byte("canary")}))
		check(t, s.PutPost(ctx, l, earshot.Post{Turn: out.Turn, Text: "canary", State: earshot.PostPlanned}))
		if state != earshot.TurnGenerating {
			check(t, s.Finish(ctx, l, out.Turn, state, "why", nil))
		}
	}
	if !occurs(t, s, "canary") || !occurs(t, s, "zebra") {
		t.Fatal("the canaries were never in the files")
	}
	for i := range n {
		late := fmt.Sprintf("canary-%d late", i)
		gone := earshot.Message{ID: earshot.MessageID(fmt.Sprint("m", i)), Time: earshot.Time(i + 1), Deleted: true}
		_, err := s.Accept(ctx, scope, earshot.Event{Delivery: fmt.Sprint("EvD", i), Raw: []byte(late), Message: gone}, nil)
		check(t, err)
		_, err = s.Accept(ctx, scope, earshot.Event{Delivery: fmt.Sprint("EvL", i), Raw: []byte(late), Message: said(gone.ID, gone.Time, late)}, &dm)
		check(t, err)
	}
	for i := range 4 {
		_, err := s.Record(ctx, scope, earshot.Message{ID: earshot.MessageID(fmt.Sprint("o", i)), Time: 500, Deleted: true})
		check(t, err)
	}
	s.scrubNow(t)
	for _, canary := range []string{"canary", "zebra"} {
		if occurs(t, s, canary) {
			t.Errorf("%q still stands in a file", canary)
		}
	}
}

// Each place that holds a canary held one while its message was there.
func TestWhatASessionQuotedOfADeletedMessageStandsInNoFile(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	answer(t, s, 0, dm, "x")
	places := []string{"in args", "in opaque", "in a result", "in a name", "in a file's name", "in a file"}
	m := said("m1", 9, "x")
	m.Files = []earshot.File{{ID: "F1"}}
	_, err := s.Record(t.Context(), scope, m)
	check(t, err)
	check(t, s.PutBlob(t.Context(), scope, "m1", "F1", earshot.Blob{SHA256: "aa", Name: places[4], Data: []byte(places[5])}))
	_, err = s.CommitTurn(t.Context(), dm, earshot.Turn{
		Answer: earshot.Answer{Anchor: "m1"}, Shown: []earshot.ShownRevision{{ID: "m1"}}, Names: []earshot.SessionName{{ID: "U2", Name: places[3]}},
		Session: []earshot.SessionEntry{
			{Role: earshot.Assistant, Calls: []earshot.Call{{ID: "1", Name: "search", Args: places[0]}}, Opaque: places[1]},
			{Role: earshot.ToolRole, Call: "1", Text: places[2]},
		}})
	check(t, err)
	for _, place := range places {
		if !occurs(t, s, place) {
			t.Errorf("%q was never in the files", place)
		}
	}
	_, err = s.Record(t.Context(), scope, earshot.Message{ID: "m1", Deleted: true})
	check(t, err)
	s.scrubNow(t)
	for _, place := range places {
		if occurs(t, s, place) {
			t.Errorf("%q still stands in a file", place)
		}
	}
}

// Contents of all sizes go, whatever took them away: a deletion, an edit, the
// bound with a deletion after it, or age.
func TestWhatABlobHeldStandsInNoFile(t *testing.T) {
	t.Parallel()
	if raceEnabled {
		t.Skip("one goroutine and large data: it runs without the race detector")
	}
	s := fresh(t)
	ctx := t.Context()
	const n = 48
	lines := func(n int) []byte { return []byte(strings.Repeat("canary in a file\n", 1+n*n*10)) }
	message := func(n int, files ...earshot.ArtifactID) earshot.Message {
		m := said(earshot.MessageID(fmt.Sprint("m", n)), earshot.Time(n+1), "x")
		m.Files = []earshot.File{}
		for _, id := range files {
			m.Files = append(m.Files, earshot.File{ID: id})
		}
		return m
	}
	for i := range n {
		_, err := s.Record(ctx, scope, message(i, "F1", "F2"))
		check(t, err)
		check(t, s.PutBlob(ctx, scope, message(i).ID, "F1", earshot.Blob{SHA256: fmt.Sprint("hash ", i), Data: lines(i)}))
	}
	if !occurs(t, s, "canary") {
		t.Fatal("the canary was never in the files")
	}
	due := func(what string) {
		t.Helper()
		s.alone(t, func() {
			if !s.writer.tx.erased {
				t.Errorf("%s: no scrub is due", what)
			}
			s.writer.tx.erased = false
		})
	}
	s.alone(t, func() { // as the bound does
		check(t, s.writer.tx.exec("BEGIN IMMEDIATE"))
		for i := range n / 4 {
			of := tables.Args(scope, fmt.Sprint("hash ", i))
			s.writer.tx.DeleteBlobs(new(int), " AND sha256 = $4", of...)
			s.writer.tx.Write("DELETE FROM blob_file"+tables.In+" AND sha256 = $4", of...)
			check(t, s.writer.tx.Send(t.Context()))
		}
		check(t, s.writer.tx.exec("COMMIT"))
	})
	for i := n / 4; i < n/2; i++ {
		edit := message(i, "F2")
		edit.Edited = 500
		_, err := s.Record(ctx, scope, edit)
		check(t, err)
	}
	due("an edit")
	for i := range 3 * n / 4 {
		if i < n/4 || i >= n/2 {
			_, err := s.Record(ctx, scope, earshot.Message{ID: message(i).ID, Deleted: true})
			check(t, err)
		}
	}
	if _, err := s.Blob(ctx, scope, fmt.Sprint("hash ", n-1)); err != nil {
		t.Errorf("what nothing took away: %v", err)
	}
	due("a deletion")
	_, err := s.PruneTurns(ctx, 1<<62)
	check(t, err)
	due("age")
	s.scrubNow(t)
	if occurs(t, s, "canary") {
		t.Error("the canary still stands in a file")
	}
}

func TestWhatIsPrunedStandsInNoFile(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	for i := range 700 {
		_, err := s.Accept(t.Context(), scope, earshot.Event{Delivery: fmt.Sprint(i), Raw: []byte("canary " + strings.Repeat("z", i)), Received: 5,
			Message: said(earshot.MessageID(fmt.Sprint("m", i)), 1, "x")}, nil)
		check(t, err)
	}
	n, err := s.PruneEvents(t.Context(), 6)
	check(t, err)
	if n != 700 {
		t.Fatalf("pruned %d", n)
	}
	s.scrubNow(t)
	if occurs(t, s, "canary") {
		t.Error("a pruned event still stands in a file")
	}
}

// The second hundred turns of a conversation add no more rows and bytes than
// the first.
func TestAConversationGrowsByWhatEachTurnAdds(t *testing.T) {
	t.Parallel()
	if raceEnabled {
		t.Skip("one goroutine and large data: it runs without the race detector")
	}
	s := fresh(t)
	text := strings.Repeat("a word ", 60)
	rows, bytes := []int{s.rows(t)}, []int64{s.size(t)}
	for i := range 200 {
		answer(t, s, i, dm, text)
		if i%100 == 99 {
			rows, bytes = append(rows, s.rows(t)), append(bytes, s.size(t))
		}
	}
	t.Logf("rows %v, bytes %v", rows, bytes)
	if first, second := rows[1]-rows[0], rows[2]-rows[1]; second > first || first < 1000 {
		t.Errorf("the first hundred turns added %d rows, the second %d", first, second)
	}
	// What is half empty in a new file takes some of the first hundred.
	if first, second := bytes[1]-bytes[0], bytes[2]-bytes[1]; second > first*14/10 {
		t.Errorf("the first hundred turns added %d bytes, the second %d", first, second)
	}
}

// rows counts the rows of all tables.
func (s *Store) rows(t *testing.T) int {
	t.Helper()
	names, err := tables.List(t.Context(), s, "tables", `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`, nil, tables.Scan[string])
	check(t, err)
	if !slices.Contains(names, "reading") || !slices.Contains(names, "event") {
		t.Fatalf("found the tables %v", names)
	}
	total := 0
	for _, table := range names {
		var n int
		check(t, s.reader.QueryRowContext(t.Context(), `SELECT count(*) FROM `+table).Scan(&n))
		total += n
	}
	return total
}

// size returns the bytes of the database's main file, with all written back.
func (s *Store) size(t *testing.T) int64 {
	t.Helper()
	s.alone(t, func() { check(t, s.writer.tx.truncateWAL()) })
	info, err := os.Stat(files(t, s)[0])
	check(t, err)
	return info.Size()
}

// scrubNow runs scrubs until one has come to its end: on a busy machine the checkpointer
// may keep the WAL from being emptied, and the store tries again.
func (s *Store) scrubNow(t *testing.T) {
	t.Helper()
	s.alone(t, func() {
		for s.writer.tx.erased = true; s.writer.tx.erased; {
			s.writer.startScrub()
			for s.writer.scrub.page != 0 {
				s.writer.scrubStep()
			}
		}
	})
}
