package sqlite

import (
	"context"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

var scope = earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}

func opened(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// empty is an empty database: migrations take five times as long as a copy.
var empty = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "empty")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "x.db")
	if _, _, err := Migrate(context.Background(), path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

// blank returns the path of an empty database of t's own.
func blank(t testing.TB) string {
	t.Helper()
	db, err := empty()
	check(t, err)
	path := filepath.Join(t.TempDir(), "x.db")
	check(t, os.WriteFile(path, db, 0o600))
	return path
}

func fresh(t testing.TB) *Store {
	t.Helper()
	return opened(t, blank(t))
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func said(id earshot.MessageID, at earshot.Time, text string) earshot.Message {
	return earshot.Message{ID: id, Time: at, Text: text, Author: earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}}
}

// Every read that there is runs once; then the plan of each statement that
// was prepared for it is looked at.
func TestEveryReadAndWriteOfMessagesUsesAnIndex(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	everyCall(t, s)
	plans := s.plans(t)
	if len(plans) < 40 {
		t.Fatalf("only %d statements were seen", len(plans))
	}
	for query, steps := range plans {
		for _, step := range steps {
			listsAll := strings.Contains(query, "FROM channel c")
			unbound := strings.Contains(query, "(time, id)") && strings.HasPrefix(step, "SEARCH message") &&
				strings.Count(query, "SELECT") == 1 && !strings.Contains(step, "(time,id)")
			wrong := strings.Contains(query, "thread = ") && strings.Contains(step, "message_by_position")
			if (scans(step) || strings.Contains(step, "TEMP B-TREE")) && !listsAll || unbound || wrong {
				t.Errorf("%s\n\t%s", query, strings.Join(steps, "\n\t"))
			}
		}
	}
}

// plans returns the steps of every statement that was prepared.
func (s *Store) plans(t *testing.T) map[string][]string {
	t.Helper()
	plans := map[string][]string{}
	for query := range s.stmts {
		plans[query] = plan(t.Context(), t, s, query)
	}
	for query := range s.writer.tx.stmts {
		if word, _, _ := strings.Cut(query, " "); slices.Contains([]string{"SELECT", "UPDATE", "DELETE", "INSERT"}, word) {
			plans[query] = plan(t.Context(), t, s, query)
		}
	}
	return plans
}

// scans reports whether a step reads a whole table or index. The scrub, which
// begins by itself where a test takes long, finds its pages by their number; the values
// of a parameter are no table.
func scans(step string) bool {
	return strings.HasPrefix(step, "SCAN") && !strings.HasPrefix(step, "SCAN json_each VIRTUAL TABLE INDEX") && !strings.HasPrefix(step, "SCAN sqlite_dbpage VIRTUAL TABLE INDEX") && !strings.HasSuffix(step, "VALUES CLAUSE") && step != "SCAN CONSTANT ROW"
}

// parameters returns how many parameters a statement has, numbered or not.
func parameters(query string) int {
	n := strings.Count(query, "?")
	for strings.Contains(query, "$"+strconv.Itoa(n+1)) {
		n++
	}
	return n
}

func plan(ctx context.Context, t *testing.T, s *Store, query string) []string {
	t.Helper()
	rows, err := s.reader.QueryContext(ctx, "EXPLAIN QUERY PLAN "+query, make([]any, parameters(query))...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		check(t, rows.Scan(&id, &parent, &unused, &detail))
		steps = append(steps, detail)
	}
	check(t, rows.Err())
	return steps
}

// everyCall calls every method so that it runs all that it can run.
func everyCall(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	var many []earshot.Message
	var ids []earshot.MessageID
	for i := range tables.Page + 1 {
		m := said(earshot.MessageID(rune('A'+i)), earshot.Time(i+1), "text")
		m.Thread, m.ReplyTo = "A", "A"
		many, ids = append(many, m), append(ids, m.ID)
	}
	edit, again := many[1], many[1]
	edit.Edited, edit.Text = 5, "edit"
	again.Text = "text, greater"
	reported := again
	reported.Replies = &earshot.Activity{Count: 1}
	for _, list := range [][]earshot.Message{many, {edit}, {again}, {reported}, {{ID: "B", Time: 2, Deleted: true}}} {
		_, err := s.Record(ctx, scope, list...)
		check(t, err)
	}
	for _, part := range []earshot.ChannelPart{earshot.Whole(), earshot.TopLevel(), earshot.ThreadOf("A")} {
		_, err := s.Newest(ctx, scope, part, earshot.Position{}, 5)
		check(t, err)
		_, err = s.Count(ctx, scope, part, earshot.Position{})
		check(t, err)
		for _, err := range s.Range(ctx, scope, part, earshot.Position{}, earshot.Position{}) {
			check(t, err)
		}
	}
	for _, err := range s.Terms(ctx, scope, 0) {
		check(t, err)
	}
	id := earshot.ConversationID{Agent: "a", Scope: scope, Name: "A"}
	for _, f := range []func() error{
		func() error { _, err := s.Since(ctx, scope, 0, 0); return err },
		func() error { _, err := s.ByID(ctx, scope, ids...); return err },
		func() error { _, err := s.Revised(ctx, scope, ids...); return err },
		func() error { _, err := s.Replying(ctx, scope, earshot.Position{}, "A"); return err },
		func() error { _, err := s.Revisions(ctx, scope, "A"); return err },
		func() error { _, err := s.Activity(ctx, scope, earshot.Position{}, "A"); return err },
		func() error { return s.PutChannel(ctx, earshot.Channel{Platform: "slack", Workspace: "T1", ID: "C1"}) },
		func() error { _, err := s.Channels(ctx); return err },
		func() error { return s.PutAuthors(ctx, "slack", "T1", earshot.Author{ID: "U1"}) },
		func() error { _, err := s.Authors(ctx, "slack", "T1"); return err },
		func() error { _, err := s.Authors(ctx, "slack", "T1", "U1"); return err },
		func() error { return s.PutCoverage(ctx, scope, earshot.Coverage{State: earshot.Known}) },
		func() error { _, err := s.Coverage(ctx, scope); return err },
		func() error { _, _, err := s.OpenConversation(ctx, id, ""); return err },
		func() error { _, _, err := s.OpenConversation(ctx, id, "key"); return err },
		func() error { _, err := s.Conversation(ctx, id); return err },
		func() error { return everyCallOfDrafts(ctx, s) },
		func() error { _, err := s.MergeMetadata(ctx, id, map[string]*string{"a": new(string)}); return err },
		func() error { return s.AdvanceCursor(ctx, id, 1) },
		func() error {
			_, err := s.CommitTurn(ctx, id, earshot.Turn{
				Answer: earshot.Answer{Anchor: "A"}, Shown: make([]earshot.ShownRevision, 1), Attached: make([]earshot.AttachedFile, 1),
				Names: make([]earshot.SessionName, 1), Session: make([]earshot.SessionEntry, 1), Ledger: make(earshot.Ledger, 1)})
			return err
		},
		func() error { return everyCallOfBlobs(t, s) },
		func() error { summarise(t, s, id, "x", "A"); return nil },
		func() error { _, err := s.Summary(ctx, id); return err },
		func() error { _, err := s.Session(ctx, id); return err },
		func() error { _, err := s.Manifest(ctx, id); return err },
		func() error { _, err := s.Turns(ctx, id, 5); return err },
		func() error { _, err := s.Turn(ctx, id, 0); return err },
	} {
		check(t, f())
	}
}

// everyCallOfBlobs puts blobs new and again, in the place of others, and takes
// them away in each way that there is.
func everyCallOfDrafts(ctx context.Context, s *Store) error {
	for i, end := range []func(earshot.TurnID, earshot.Turn) (earshot.Draft, error){
		func(id earshot.TurnID, t earshot.Turn) (earshot.Draft, error) {
			return s.CommitDraft(ctx, id, t, 1, said("reply", 800, "reply"))
		},
		func(id earshot.TurnID, _ earshot.Turn) (earshot.Draft, error) { return s.AbortDraft(ctx, id) },
		func(id earshot.TurnID, _ earshot.Turn) (earshot.Draft, error) {
			_, err := s.Record(ctx, scope, earshot.Message{ID: "F", Deleted: true}) // erases it
			return earshot.Draft{}, err
		},
	} {
		id := earshot.ConversationID{Agent: "outside", Scope: scope, Name: string(rune('D' + i))}
		d, err := s.OpenDraft(ctx, earshot.Draft{Conversation: id, Anchor: earshot.MessageID(id.Name), Expires: 5, Prompt: earshot.Prompt{Hash: "h"}})
		if err == nil {
			_, err = s.Draft(ctx, d.ID)
		}
		if err == nil {
			_, err = end(d.ID, d.Turn)
		}
		if err != nil {
			return err
		}
	}
	_, err := s.PruneDrafts(ctx, 100)
	return err
}

func everyCallOfBlobs(t *testing.T, s *Store) error {
	t.Helper()
	ctx := t.Context()
	m := said("shares", 900, "x")
	m.Files = []earshot.File{{ID: "F1"}, {ID: "F2"}}
	_, err := s.Record(ctx, scope, m)
	check(t, err)
	put := func(id earshot.ArtifactID, hash string, size int) {
		check(t, s.PutBlob(ctx, scope, m.ID, id, earshot.Blob{SHA256: hash, Data: make([]byte, size)}))
	}
	put("F1", "aa", 1)
	put("F2", "bb", 1)
	put("F1", "aa", 1)
	put("F1", "cc", earshot.BlobBytes)
	_, err = s.Blob(ctx, scope, "cc")
	check(t, err)
	m.Files, m.Edited = m.Files[1:], 901
	_, err = s.Record(ctx, scope, m)
	check(t, err)
	put("F2", "bb", 1)
	_, err = s.PruneTurns(ctx, 1<<62)
	check(t, err)
	put("F2", "bb", 1)
	_, err = s.Record(ctx, scope, earshot.Message{ID: m.ID, Deleted: true})
	return err
}

func TestRevisedGivesOnlyWhatWasEditedOrDeleted(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	edited, gone := said("m2", 2, "what it says now"), said("m3", 3, "")
	edited.Edited, gone.Deleted = 9, true
	_, err := s.Record(t.Context(), scope, said("m1", 1, "as it was"), said("m2", 2, "as it was"), said("m3", 3, "as it was"), said("m4", 4, "as it was"))
	check(t, err)
	_, err = s.Record(t.Context(), scope, gone, edited)
	check(t, err)
	var got []string
	list, err := s.Revised(t.Context(), scope, "m4", "m3", "m2", "m1", "m0")
	check(t, err)
	for _, m := range list {
		got = append(got, string(m.ID)+" "+m.Text)
	}
	if want := []string{"m2 what it says now", "m3 "}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// summarise puts a summary that continues the one before.
func summarise(t testing.TB, s *Store, id earshot.ConversationID, text string, of ...earshot.MessageID) {
	t.Helper()
	for range 100 {
		c, err := s.ClaimSummary(t.Context(), id.Agent, "summariser", 0, 1, time.Hour)
		check(t, err)
		if c.Conversation == id {
			check(t, s.PutSummary(t.Context(), c, earshot.Summary{Text: text, Turns: c.Next}, of...))
			return
		}
	}
	t.Fatalf("conversation %q is not due", id.Name)
}

// Channels are asked for in every way in which a query can name them: by an id or a name
// the index of that finds them, with all of the key that is known, and everything else
// is read in order.
func TestEachLookUpOfChannelsUsesItsIndex(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	for _, q := range rule.ChannelLookUps() {
		index := rule.ChannelPicks(q)[0].Index()
		before := maps.Clone(s.stmts)
		_, err := s.FindChannels(t.Context(), q)
		check(t, err)
		for query := range s.stmts {
			if before[query] != nil {
				continue
			}
			steps := plan(t.Context(), t, s, query)
			named, whole := index != "", q.Platform == "" && q.Workspaces == nil && q.After == nil
			if !strings.Contains(steps[0], index) || scans(steps[0]) && !whole || !named && strings.Contains(strings.Join(steps, " "), "TEMP B-TREE") ||
				named && q.Workspaces != nil && !strings.Contains(steps[0], "workspace=?") {
				t.Errorf("%+v, by %s:\n%s\n\t%s", q, index, query, strings.Join(steps, "\n\t"))
			}
		}
	}
}
