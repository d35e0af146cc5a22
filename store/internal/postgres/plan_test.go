package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
	"github.com/jackc/pgx/v5"
)

// A recorder keeps what a store sends to its server.
type recorder struct {
	mu   sync.Mutex // guards sent
	sent []statement
}

type statement struct {
	query string
	args  []any
}

func (*recorder) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	return ctx
}

func (r *recorder) TraceBatchQuery(_ context.Context, _ *pgx.Conn, d pgx.TraceBatchQueryData) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(r.sent, statement{d.SQL, d.Args})
}

func (*recorder) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (*recorder) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

func (*recorder) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// crowded is a database with tables of some size.
var crowded = pgtest.NewTemplate(func(ctx context.Context, spec string) error {
	s, err := Open(ctx, spec, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer s.Close()
	return fill(ctx, s)
})

// recorded opens a store on tables of some size that records what it sends.
func recorded(t *testing.T) (*Store, *recorder) {
	t.Helper()
	c, err := parse(crowded.Spec(t))
	check(t, err)
	r := &recorder{}
	c.pool.ConnConfig.Tracer = r
	s, err := openConfig(context.Background(), c, time.Now, slog.New(slog.DiscardHandler))
	check(t, err)
	t.Cleanup(func() { s.Close() })
	return s, r
}

// usesIndexes fails t for each statement without a good plan that was sent, but for
// those that except names, and returns how many it looked at.
func (r *recorder) usesIndexes(t *testing.T, s *Store, except func(query string) bool) int {
	t.Helper()
	seen := map[string]bool{}
	for _, st := range r.sent {
		word, _, _ := strings.Cut(st.query, " ")
		if seen[st.query] || !slices.Contains([]string{"SELECT", "UPDATE", "DELETE", "INSERT", "WITH"}, word) || except(st.query) {
			continue
		}
		seen[st.query] = true
		for _, bad := range explain(t, s, st) {
			t.Errorf("%s\n\t%s", st.query, bad)
		}
	}
	return len(seen)
}

// Every call that there is runs once on tables of some size; then the plan of
// each statement that it sent is looked at.
func TestEveryReadAndWriteUsesAnIndex(t *testing.T) {
	t.Parallel()
	s, r := recorded(t)
	everyCall(t, s)
	if n := r.usesIndexes(t, s, func(string) bool { return false }); n < 80 {
		t.Errorf("only %d statements were seen", n)
	}
}

// Channels are asked for in every way in which a query can name them: by an id or a name
// the index of that finds them, and a page is read in order.
func TestEachLookUpOfChannelsUsesItsIndex(t *testing.T) {
	t.Parallel()
	spec := pgtest.Spec(t)
	c, err := parse(spec)
	check(t, err)
	r := &recorder{}
	c.pool.ConnConfig.Tracer = r
	s, err := openConfig(t.Context(), c, time.Now, slog.New(slog.DiscardHandler))
	check(t, err)
	t.Cleanup(func() { s.Close() })
	for _, query := range []string{
		`INSERT INTO channel SELECT 'slack', CASE WHEN n % 2 = 0 THEN 'T1' ELSE 'W' || n / 100 END, 'C' || n, 'room-' || n, 'channel', '', '', 0, 0, 0, 0 FROM generate_series(1, 20000) AS n`,
		`ANALYZE`,
	} {
		_, err := s.pool.Exec(t.Context(), query)
		check(t, err)
	}
	for _, q := range rule.ChannelLookUps() {
		index := rule.ChannelPicks(q)[0].Index()
		if q.Limit == 0 && index == "" {
			continue // a large part of a table may be read in another order, and sorted
		}
		r.sent = nil
		_, err := s.FindChannels(t.Context(), q)
		check(t, err)
		for _, st := range r.sent {
			by := indexOf(planOf(t, s, st), "channel")
			if by == "channel_pkey" && q.IDs != nil || by == "channel_by_name" && q.Names != nil {
				continue // as good as the id alone
			}
			if by == "" || !strings.HasPrefix(by, index) {
				t.Errorf("%+v is answered by %q, not %s", q, by, index)
			}
		}
	}
}

// fill writes 200,000 messages of one large channel and 300 small ones, past
// the store, with rows of the other tables to match.
func fill(ctx context.Context, s *Store) error {
	for _, query := range []string{
		`INSERT INTO message (platform, workspace, channel, id, time, thread, reply_to, edited, deleted, seq, tokens, author, author_name, author_kind, lists, text, terms)
			SELECT 'slack', CASE WHEN n < 170000 THEN 'T1' ELSE 'T' || n % 3 END, CASE WHEN n < 170000 THEN 'C1' ELSE 'X' || n % 300 END, 'old' || n, 1000 + n,
			CASE WHEN n % 3 = 2 THEN 'old' || n / 100 * 100 ELSE '' END, CASE WHEN n % 7 = 0 THEN 'old' || n - 7 ELSE '' END,
			0, 0, n + 1, 20, 'U' || n % 17, 'Alice', 'human', '', 'some text of a message', 'text messag' FROM generate_series(0, 199999) AS n`,
		`INSERT INTO thread SELECT platform, workspace, channel, thread, count(*) FROM message WHERE thread <> '' GROUP BY 1, 2, 3, 4`,
		`INSERT INTO channel SELECT platform, workspace, channel, '', '', '', '', max(seq), count(*), count(*) FILTER (WHERE thread = ''), count(DISTINCT nullif(thread, ''))
			FROM message GROUP BY 1, 2, 3`,
		`INSERT INTO revision SELECT platform, workspace, channel, id, time, thread, reply_to, edited, deleted, seq, tokens, author, author_name, author_kind, lists, text
			FROM message WHERE seq % 20 = 0`,
		`INSERT INTO conversation SELECT 'a', 'slack', 'T1', 'C1', 'm' || n, CASE WHEN n % 2 = 0 THEN 'key' || n ELSE '' END, 0, 0, 1, '{}', 1, 1 FROM generate_series(1, 20000) AS n`,
		`INSERT INTO draft (` + rule.DraftColumns + `) SELECT 1000000 + n, 'a', 'slack', 'T1', CASE WHEN n % 20 = 0 THEN 'C1' ELSE 'X' || n % 300 END, 'm' || n, 'old' || n, '',
			CASE WHEN n % 3 = 0 THEN 'open' ELSE 'committed' END, 0, n, n, 0, 0, 0, 'h', '', 0, 0, 'asked', 'input', 'turn' FROM generate_series(1, 20000) AS n`,
		`INSERT INTO draft_reading SELECT platform, workspace, channel, anchor, id FROM draft`,
		`INSERT INTO turn SELECT 'a', 'slack', 'T1', 'C1', 'm' || n / 10, n % 10, 'old' || n, 'null', '', '', 0, 0, 0, 0, 0, 0, 1 FROM generate_series(1, 20000) AS n`,
		`INSERT INTO session SELECT 'a', 'slack', 'T1', 'C1', 'm' || n / 10, 0, n % 10, 0, 'user', 'text' FROM generate_series(1, 20000) AS n`,
		`INSERT INTO manifest SELECT 'a', 'slack', 'T1', 'C1', 'm' || n / 10, 0, n % 10, 0, 'old1', 0 FROM generate_series(1, 20000) AS n`,
		`INSERT INTO attachment SELECT 'a', 'slack', 'T1', 'C1', 'm' || n / 10, 0, n % 10, 0, 'F1', '' FROM generate_series(1, 20000) AS n`,
		`INSERT INTO named SELECT 'a', 'slack', 'T1', 'C1', 'm' || n / 10, 0, n % 10, 0, 'U1', 'Alice' FROM generate_series(1, 20000) AS n`,
		`INSERT INTO blob SELECT 'slack', 'T1', CASE WHEN n % 20 = 0 THEN 'C1' ELSE 'X' || n % 300 END, 'hash' || n, '', '', 4096, n, 'x' FROM generate_series(1, 20000) AS n`,
		`INSERT INTO blob_file SELECT platform, workspace, channel, 'old' || put, 'F1', sha256 FROM blob`,
		`INSERT INTO ledger SELECT 'a', 'slack', 'T1', 'C1', 'm' || n / 10, n % 10, '[]' FROM generate_series(1, 20000) AS n`,
		`INSERT INTO summary SELECT 'a', 'slack', 'T1', 'C1', 'm' || n, '', 0, 0, 0 FROM generate_series(1, 20000) AS n`,
		`INSERT INTO summarised SELECT 'a', 'slack', 'T1', 'C1', 'm' || n / 10, 'old' || n FROM generate_series(1, 20000) AS n`,
		`INSERT INTO reaction SELECT 'slack', 'T1', CASE WHEN n % 2 = 0 THEN 'C1' ELSE 'X' || n % 300 END, 'old' || n, 'eyes', 'U' || n % 17, 1, 0, 1, 1 FROM generate_series(1, 20000) AS n`,
		`UPDATE conversation SET weight = length(name), summed = length(name)`,
		`INSERT INTO barred SELECT 'slack', 'T1', CASE WHEN n % 2 = 0 THEN 'X' || n % 300 ELSE '' END, 'W' || n, 1, 0 FROM generate_series(1, 20000) AS n`,
		`INSERT INTO erasure (` + rule.ErasureColumns + `) SELECT 'slack', 'T1', '', 'W' || n, 'null', 0, 0, n, n, n, 0, '', '', '{}' FROM generate_series(1, 20000) AS n`,
		`INSERT INTO note SELECT 'key' || n, 'data' FROM generate_series(1, 20000) AS n`,
		`INSERT INTO author SELECT 'slack', 'T' || n % 50, 'U' || n, '', '' FROM generate_series(1, 20000) AS n`,
		`INSERT INTO coverage SELECT 'slack', 'T1', 'X' || n % 300, 'old' || n, 0, 0, 'known', '' FROM generate_series(1, 20000) AS n`,
		`INSERT INTO event (platform, workspace, channel, delivery, message, client, received, raw)
			SELECT 'slack', 'T1', 'C1', 'Ev' || n, 'old' || n, '', 1000 + n, '{}' FROM generate_series(1, 20000) AS n`,
		`INSERT INTO queued_turn (agent, platform, workspace, channel, conversation, anchor, client, author, said,
				state, why, tries, opened, updated, from_epoch, epoch, number, hash, input)
			SELECT 'a', 'slack', 'T1', CASE WHEN n % 2 = 0 THEN 'C1' ELSE 'X1' END, 'm' || n / 10, 'old' || n, 'c' || n, 'U1', n,
			CASE WHEN n % 50 = 0 THEN 'open' WHEN n % 3 = 0 THEN 'failed' ELSE 'done' END, '', 1, 1, 1, 0, 0, n % 10, 'hash', 'input' FROM generate_series(1, 20000) AS n`,
		`INSERT INTO approval (` + rule.ApprovalColumns + `) SELECT 'ask' || id, id, agent, platform, workspace, channel, conversation, anchor, 'U' || id % 1000, 'call', 'deploy', 'args', 'sum', 1, 1,
			CASE WHEN id % 200 = 0 THEN 'open' WHEN id % 3 = 0 THEN 'refused' ELSE 'agreed' END, 'U' || id % 1001, 0, '', 1, '' FROM queued_turn`,
		`INSERT INTO feedback (` + rule.FeedbackColumns + `) SELECT id, 'U' || id % 1000, agent, platform, workspace, channel, conversation, id % 2, 'reason', 1 FROM queued_turn`,
		`UPDATE queued_turn SET stopped = 1, stopped_by = 'U' || id % 1000 WHERE id % 10 = 0`,
		`INSERT INTO lease SELECT agent, platform, workspace, channel, conversation, '', 0, 0, coalesce(min(id) FILTER (WHERE state = 'open'), 0)
			FROM queued_turn GROUP BY 1, 2, 3, 4, 5`,
		`INSERT INTO journal SELECT id, step, 'model', 1, 0, convert_to(repeat('answer ', 50), 'UTF8') FROM queued_turn, generate_series(0, 9) AS step`,
		`INSERT INTO outbox SELECT id, 0, platform, workspace, channel, 'key' || id, 'sent', 'post' || id, 1, 1, 'text' FROM queued_turn`,
		`INSERT INTO reading SELECT platform, workspace, channel, 'old' || n, 'a', 'm' || n / 10, 0
			FROM generate_series(1, 20000) AS n, (VALUES ('slack', 'T1', 'C1')) AS s (platform, workspace, channel)`,
		`ANALYZE`,
	} {
		if _, err := s.pool.Exec(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

// explain returns what is wrong with a statement's plan.
func explain(t *testing.T, s *Store, st statement) (bad []string) {
	t.Helper()
	root := planOf(t, s, st)
	text, err := json.Marshal(root)
	check(t, err)
	listsAll := strings.Contains(st.query, "FROM channel c") || strings.Contains(st.query, "thread_now") || strings.Contains(st.query, "GROUP BY state")
	sorts := !strings.Contains(st.query, "LIMIT") // what is read whole anyway
	var walk func(n node)
	walk = func(n node) {
		switch {
		case n.Type == "Seq Scan" && !listsAll && n.Relation != "erased", n.Type == "Sort" && !listsAll && !sorts, n.Type == "Incremental Sort":
			bad = append(bad, fmt.Sprintf("%s of %s in %s", n.Type, n.Relation, text))
		case strings.Contains(st.query, "(time, id) <=") && n.Index != "" && n.Relation == "message" && !strings.Contains(n.Condition, "time") &&
			n.Index != "message_pkey" && !strings.Contains(st.query, "count(*)"):
			bad = append(bad, fmt.Sprintf("%s is read without its bounds in %s", n.Index, text))
		}
		for _, p := range n.Plans {
			walk(p)
		}
	}
	walk(root)
	return bad
}

// indexOf returns the index by which a plan reads a table, "" for none.
func indexOf(n node, table string) string {
	if n.Relation == table && n.Index != "" {
		return n.Index
	}
	for _, p := range n.Plans {
		if n.Relation == table && p.Type == "Bitmap Index Scan" {
			return p.Index
		}
		if by := indexOf(p, table); by != "" {
			return by
		}
	}
	return ""
}

// planOf returns the plan of a statement.
func planOf(t *testing.T, s *Store, st statement) node {
	t.Helper()
	ctx := t.Context()
	conn, err := s.pool.Acquire(ctx)
	check(t, err)
	defer conn.Release()
	tx, err := conn.Begin(ctx)
	check(t, err)
	defer func() { check(t, tx.Rollback(ctx)) }()
	var text []byte
	check(t, tx.QueryRow(ctx, "EXPLAIN (FORMAT JSON) "+st.query, st.args...).Scan(&text))
	var plans []struct{ Plan node }
	check(t, json.Unmarshal(text, &plans))
	return plans[0].Plan
}

type node struct {
	Type      string `json:"Node Type"`
	Relation  string `json:"Relation Name"`
	Index     string `json:"Index Name"`
	Condition string `json:"Index Cond"`
	Plans     []node
}

// everyCall calls every method so that it sends all that it can send.
func everyCall(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	var ids []earshot.MessageID
	var many []earshot.Message
	for i := range 61 {
		m := said(earshot.MessageID(fmt.Sprint("new", i)), earshot.Time(2_000_000+i), "text")
		m.Thread, m.ReplyTo = "old100", "old100"
		many, ids = append(many, m), append(ids, m.ID)
	}
	edit, again := many[1], many[1]
	edit.Edited, edit.Text = 3_000_000, "edit"
	again.Text = "text, greater"
	other := scope
	other.Channel = "X300" // one that is not known
	_, err := s.Record(ctx, other, many...)
	check(t, err)
	for _, list := range [][]earshot.Message{many, {edit}, {again}, {{ID: "new1", Time: 2, Deleted: true}}} {
		_, err := s.Record(ctx, scope, list...)
		check(t, err)
	}
	small := earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "X1"}
	for _, scope := range []earshot.Scope{scope, small} {
		for _, upTo := range []earshot.Position{{}, {Time: 1000 + 85_000, ID: "x"}} {
			for _, part := range []earshot.ChannelPart{earshot.Whole(), earshot.TopLevel(), earshot.ThreadOf("old100")} {
				_, err := s.Newest(ctx, scope, part, upTo, 50)
				check(t, err)
				n := 0
				for _, err := range s.Range(ctx, scope, part, upTo, earshot.Position{}) {
					check(t, err)
					if n++; n > tables.Page {
						break
					}
				}
			}
			_, err := s.Activity(ctx, scope, upTo, "old100", "old200")
			check(t, err)
		}
		for _, part := range []earshot.ChannelPart{earshot.Whole(), earshot.TopLevel(), earshot.ThreadOf("old100")} {
			_, err := s.Count(ctx, scope, part, earshot.Position{Time: 1_990_000})
			check(t, err)
		}
	}
	for range s.Terms(ctx, scope, 169_990) {
	}
	id := earshot.ConversationID{Agent: "a", Scope: scope, Name: "new"}
	for _, f := range []func() error{
		func() error { _, err := s.Since(ctx, scope, 169_000, 100); return err },
		func() error { _, err := s.ByID(ctx, scope, ids...); return err },
		func() error { _, err := s.Replying(ctx, scope, earshot.Position{}, "old100"); return err },
		func() error { _, err := s.Revisions(ctx, scope, "new0"); return err },
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
		func() error { summarise(t, s, id, "x", "A"); return nil },
		func() error { _, err := s.Summary(ctx, id); return err },
		func() error { _, err := s.Session(ctx, id); return err },
		func() error { _, err := s.Manifest(ctx, id); return err },
		func() error { _, err := s.Turns(ctx, id, 5); return err },
		func() error { _, err := s.Turn(ctx, id, 0); return err },
	} {
		check(t, f())
	}
	everyCallOfQueue(t, s)
	everyCallOfApprovals(t, s, small)
	everyCallOfBlobs(t, s)
}

// everyCallOfBlobs puts blobs new and again, in the place of others, and takes
// them away in each way that there is.
func everyCallOfDrafts(ctx context.Context, s *Store) error {
	for i, end := range []func(earshot.TurnID, earshot.Turn) (earshot.Draft, error){
		func(id earshot.TurnID, t earshot.Turn) (earshot.Draft, error) {
			return s.CommitDraft(ctx, id, t, 1, said("reply", 2_100_001, "reply"))
		},
		func(id earshot.TurnID, _ earshot.Turn) (earshot.Draft, error) { return s.AbortDraft(ctx, id) },
		func(id earshot.TurnID, _ earshot.Turn) (earshot.Draft, error) {
			_, err := s.Record(ctx, scope, earshot.Message{ID: "new12", Deleted: true}) // erases it
			return earshot.Draft{}, err
		},
	} {
		id := earshot.ConversationID{Agent: "outside", Scope: scope, Name: fmt.Sprint("d", i)}
		d, err := s.OpenDraft(ctx, earshot.Draft{Conversation: id, Anchor: earshot.MessageID(fmt.Sprint("new", 10+i)), Expires: 20_000, Prompt: earshot.Prompt{Hash: "h"}})
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

func everyCallOfBlobs(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	m := said("shares", 2_200_000, "x")
	m.Files = []earshot.File{{ID: "F1"}, {ID: "F2"}}
	_, err := s.Record(ctx, scope, m)
	check(t, err)
	put := func(id earshot.ArtifactID, hash string, size int) {
		t.Helper()
		check(t, s.PutBlob(ctx, scope, m.ID, id, earshot.Blob{SHA256: hash, Data: make([]byte, size)}))
	}
	put("F1", "aa", 1)
	put("F2", "bb", 1)
	put("F1", "aa", 1)
	_, err = s.pool.Exec(ctx, `UPDATE blob SET size = $1 WHERE sha256 = 'bb'`, earshot.BlobBytes)
	check(t, err)
	put("F1", "cc", 1)
	_, err = s.Blob(ctx, scope, "cc")
	check(t, err)
	m.Files, m.Edited = m.Files[1:], m.Time+1
	for _, next := range []earshot.Message{m, {ID: m.ID, Deleted: true}} {
		_, err = s.Record(ctx, scope, next)
		check(t, err)
	}
	_, err = s.PruneTurns(ctx, 100)
	check(t, err)
}

func everyCallOfQueue(t *testing.T, s *Store) {
	t.Helper()
	ctx := t.Context()
	id := earshot.ConversationID{Agent: "fresh", Scope: scope, Name: "m9"}
	e := earshot.Event{Delivery: "new", Client: "c", Raw: []byte("x"), Received: 5, Message: said("q1", 2_100_000, "asked")}
	out, err := s.Accept(ctx, scope, e, &id)
	check(t, err)
	answer := e
	answer.Delivery, answer.Client, answer.Message = "answer", "", said("q2", 2_100_001, "answer")
	answer.Message.Thread, answer.Message.ReplyTo = "q1", "q1"
	_, err = s.Accept(ctx, scope, answer, &id)
	check(t, err)
	l, _, err := s.Claim(ctx, "fresh", "me", 10, time.Hour)
	check(t, err)
	step := earshot.Step{Kind: "model", Data: []byte("x"), Shows: []earshot.MessageID{"old5"}}
	post := earshot.Post{Turn: out.Turn, Key: "new", State: earshot.PostSending, Text: "x"}
	turn := earshot.Turn{Answer: earshot.Answer{Anchor: "q1"}, Session: make([]earshot.SessionEntry, 1), Shown: []earshot.ShownRevision{{ID: "old6"}}}
	for _, f := range []func() error{
		func() error { _, err := s.Events(ctx, scope, "q1"); return err },
		func() error { _, err := s.PruneEvents(ctx, 1100); return err },
		func() error { _, err := s.PruneTurns(ctx, 9); return err },
		func() (err error) { l, err = s.Renew(ctx, l, 20, time.Hour); return err },
		func() error {
			return s.Begin(ctx, l, out.Turn, earshot.Prompt{Hash: "h", Input: []byte("x"), Shows: []earshot.MessageID{"old7"}})
		},
		func() error { return s.AddStep(ctx, l, out.Turn, step) },
		func() error { _, err := s.Steps(ctx, out.Turn); return err },
		func() error { return s.PutPost(ctx, l, post) },
		func() error { _, err := s.Posts(ctx, out.Turn); return err },
		func() error { return s.Confirm(ctx, scope, "new", "posted") },
		func() error { _, err := s.Posted(ctx, scope, "posted"); return err },
		func() error { return s.Finish(ctx, l, out.Turn, earshot.TurnDone, "", &turn) },
		func() error { summarise(t, s, id, "x", "old5"); return nil },
		func() error { return s.Finish(ctx, l, out.Turn+1, earshot.TurnFailed, "x", nil) },
		func() error { return s.Release(ctx, l, 0) },
		func() error { return s.Reopen(ctx, out.Turn+1) },
		func() error {
			if err := s.Discard(ctx, out.Turn+1, "x"); !errors.Is(err, earshot.ErrConflict) { // its rows are read all the same
				return fmt.Errorf("discard an open turn: %w", err)
			}
			return nil
		},
		func() error { _, err := s.Record(ctx, scope, tombstones("old5", "q2")...); return err },
		func() error { _, err := s.QueuedTurn(ctx, out.Turn); return err },
		func() error { _, err := s.QueuedTurns(ctx, earshot.TurnQuery{}); return err },
		func() error { _, err := s.QueuedTurns(ctx, earshot.TurnQuery{Scope: &scope}); return err },
		func() error {
			_, err := s.QueuedTurns(ctx, earshot.TurnQuery{Agent: "a", States: []earshot.TurnState{earshot.TurnOpen}})
			return err
		},
		func() error {
			_, err := s.QueuedTurns(ctx, earshot.TurnQuery{Oldest: true, States: []earshot.TurnState{earshot.TurnOpen, earshot.TurnPosting}, Limit: 1})
			return err
		},
		func() error { _, err := s.Depth(ctx); return err },
		func() error { _, err := s.Depth(ctx, earshot.TurnOpen, earshot.TurnParked); return err },
		func() error { _, err := s.Erasure(ctx, 1); return err },
		func() error { return s.PutNote(ctx, earshot.Note{Key: "k"}) },
		func() error { _, err := s.Notes(ctx, "k", 1); return err },
		func() error { return s.DropNote(ctx, "k") },
	} {
		check(t, f())
	}
}

// everyCallOfApprovals calls what people have to do with a turn: they are asked, stop it,
// and think something of it.
func everyCallOfApprovals(t *testing.T, s *Store, scope earshot.Scope) {
	t.Helper()
	ctx := t.Context()
	id := earshot.ConversationID{Agent: "asks", Scope: scope, Name: "talk"}
	out, err := s.Accept(ctx, scope, earshot.Event{Message: said("asks", 2_100_000, "x")}, &id)
	check(t, err)
	var l earshot.Lease
	claim := func() (err error) { l, _, err = s.Claim(ctx, id.Agent, "me", 10, time.Hour); return err }
	ask := func(call string) func() error {
		return func() error {
			_, err := s.AskApproval(ctx, l, earshot.Approval{ID: earshot.ApprovalID("the " + call), Turn: out.Turn, Call: call, Args: []byte("x"), Expires: 100})
			return err
		}
	}
	decide := func(call string) func() error {
		return func() error {
			a, err := s.Approval(ctx, earshot.ApprovalID("the "+call))
			if err == nil {
				_, err = s.DecideApproval(ctx, a.ID, earshot.Decision{State: earshot.ApprovalAgreed, SHA256: a.SHA256, By: "U2", Time: 50})
			}
			return err
		}
	}
	wait := func() error { _, err := s.AwaitApprovals(ctx, l, out.Turn); return err }
	for _, f := range []func() error{
		claim,
		func() error { return s.Begin(ctx, l, out.Turn, earshot.Prompt{Hash: "h"}) },
		func() error { return s.AddStep(ctx, l, out.Turn, earshot.Step{Data: []byte("x")}) },
		ask("1"), wait, func() error { return s.Release(ctx, l, 0) }, decide("1"), claim,
		func() error { return s.Begin(ctx, l, out.Turn, earshot.Prompt{Hash: "i", Epoch: 1, Keeps: true}) },
		func() error { return s.NoteApproval(ctx, l, "the 1", "x") },
		func() error { return s.Begin(ctx, l, out.Turn, earshot.Prompt{Hash: "j", Epoch: 2}) },
		ask("2"), wait,
		func() error { _, err := s.StopTurn(ctx, out.Turn, "U2"); return err },
		func() error { return s.Finish(ctx, l, out.Turn, earshot.TurnFailed, "x", nil) },
		func() error {
			return s.PutFeedback(ctx, earshot.Feedback{Turn: out.Turn, Author: "U2", Reason: "x", Time: 1})
		},
		func() error { return s.RemoveFeedback(ctx, out.Turn, "U2") },
		func() error {
			return s.Apply(ctx, "forget", func(ctx context.Context, tx *tables.Tx) error {
				return tables.Eraser{Tx: tx}.ForgetDeeds(ctx, scope, "U2", 100)
			})
		},
	} {
		check(t, f())
	}
	good := true
	for i := range 64 { // every way to ask
		q, f := earshot.ApprovalQuery{Limit: 10}, earshot.FeedbackQuery{Limit: 10}
		if i&1 != 0 {
			q.Scope, f.Scope = &scope, &scope
		}
		if i&2 != 0 {
			q.Turn, f.Turn = out.Turn, out.Turn
		}
		if i&4 != 0 {
			q.States, f.Good = []earshot.ApprovalState{earshot.ApprovalOpen}, &good
		}
		if i&8 != 0 {
			q.States = append(q.States, earshot.ApprovalRefused)
		}
		if i&16 != 0 {
			q.Before, f.Before = "the 2", out.Turn
		}
		if i&32 != 0 {
			q.Due, q.Agent, f.Agent = 50, "a", "a"
		}
		_, err := s.Approvals(ctx, q)
		check(t, err)
		_, err = s.Feedback(ctx, f)
		check(t, err)
	}
}

func tombstones(ids ...earshot.MessageID) (out []earshot.Message) {
	for _, id := range ids {
		out = append(out, earshot.Message{ID: id, Time: 1, Deleted: true})
	}
	return out
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
