package main

import (
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/inspect"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

// turnFacts are what a terminal and a page say of a turn.
type turnFacts struct {
	ID, Took                      int64
	State, Why, Changed, Hash     string
	Agent, Channel, Conversation  string
	Opened, Updated, Began        string
	Question, By, Policy, Summary string
	Tries, Ends, Epoch            int
	Names, Posts, Steps, Files    []string
	Ledger                        []string
	Spent                         string
}

// onTerminal reads what earshot turn says.
func onTerminal(t *testing.T, db string, id earshot.TurnID) turnFacts {
	t.Helper()
	x := asked[turnJSON](t, db, "turn", fmt.Sprint(id))
	f := turnFacts{
		ID: int64(x.ID), Took: x.Took, State: string(x.State), Why: x.Why, Changed: x.Changed, Hash: x.Hash, Agent: string(x.Agent),
		Channel: fmt.Sprint(x.Platform, " ", x.Workspace, " ", x.Channel), Conversation: x.Conversation, Opened: x.Opened, Updated: x.Updated,
		Began: string(x.Began), Question: x.Question, By: x.By, Policy: x.Policy, Tries: x.Tries, Ends: x.Ends, Epoch: x.Epoch,
		Spent: fmt.Sprintf("%d calls, %d + %d + %d read, %d answered, %v, priced %v", x.Spent.Calls, x.Spent.Input, x.Spent.Read, x.Spent.Write, x.Spent.Output, x.Spent.Cost, x.Spent.Priced),
	}
	if s := x.Summary; s != nil {
		f.Summary = fmt.Sprint(s.From, s.To, s.Turns, s.By, s.Shown)
	}
	for _, n := range x.Names {
		f.Names = append(f.Names, fmt.Sprint(n.ID, n.Name))
	}
	for _, p := range x.Posts {
		f.Posts = append(f.Posts, fmt.Sprint(p.State, " ", p.Message, " ", p.Text))
	}
	for _, s := range x.Journal {
		f.Steps = append(f.Steps, fmt.Sprint(s.N, s.Time, s.Answer != nil, s.Results != nil, s.Files != nil, s.Failed))
	}
	for _, a := range x.Files {
		f.Files = append(f.Files, string(a.ID))
	}
	if x.Result != nil {
		for _, r := range x.Ledger {
			f.Ledger = append(f.Ledger, fmt.Sprint(r.ID, r.Section, r.Verdict, r.Reason, r.Tokens))
		}
	}
	return f
}

// onPage reads what the page of a turn says.
func onPage(t *testing.T, url string, id earshot.TurnID) turnFacts {
	t.Helper()
	var x struct {
		ID           int64
		State        string
		Why, Changed string
		Hash         string
		Agent        string
		Platform     string
		Workspace    string
		Channel      string
		Conversation string
		Opened       string
		Updated      string
		Began        string
		Took         int64 `json:"took_us"`
		Tries, Ends  int
		Epoch        int
		Question     struct {
			Author, Text string
			Deleted      bool
		}
		Answer  []struct{ State, Message, Text string }
		Summary *summaryJSON
		Names   []namedJSON
		Context *struct {
			Policy string
			Ledger []ledgerRowJSON
		}
		Steps []struct {
			N      int
			Time   string
			Model  any
			Tools  []any
			Files  []any
			Failed string
		}
		Spent struct {
			Calls, Input, Output int
			CacheRead            int `json:"cache_read"`
			CacheWrite           int `json:"cache_write"`
			Cost                 float64
			Priced               bool
		}
		Attached []string
	}
	if err := json.Unmarshal([]byte(served(t, fmt.Sprint(url, "/turns/", id, ".json"))), &x); err != nil {
		t.Fatal(err)
	}
	f := turnFacts{
		ID: x.ID, Took: x.Took, State: x.State, Why: x.Why, Changed: x.Changed, Hash: x.Hash, Agent: x.Agent,
		Channel: fmt.Sprint(x.Platform, " ", x.Workspace, " ", x.Channel), Conversation: x.Conversation, Opened: x.Opened, Updated: x.Updated,
		Began: x.Began, Question: x.Question.Text, By: x.Question.Author, Tries: x.Tries, Ends: x.Ends, Epoch: x.Epoch, Files: x.Attached,
		Spent: fmt.Sprintf("%d calls, %d + %d + %d read, %d answered, %v, priced %v", x.Spent.Calls, x.Spent.Input, x.Spent.CacheRead, x.Spent.CacheWrite, x.Spent.Output, x.Spent.Cost, x.Spent.Priced),
	}
	if x.Question.Deleted {
		f.By = "" // the page has a word for nobody
	}
	if s := x.Summary; s != nil {
		f.Summary = fmt.Sprint(s.From, s.To, s.Turns, s.By, s.Shown)
	}
	for _, n := range x.Names {
		f.Names = append(f.Names, fmt.Sprint(n.ID, n.Name))
	}
	for _, p := range x.Answer {
		if p.State != "" {
			f.Posts = append(f.Posts, fmt.Sprint(p.State, " ", p.Message, " ", p.Text))
		}
	}
	for _, s := range x.Steps {
		f.Steps = append(f.Steps, fmt.Sprint(s.N, s.Time, s.Model != nil, s.Tools != nil, s.Files != nil, s.Failed))
	}
	if x.Context != nil {
		f.Policy = x.Context.Policy
		for _, r := range x.Context.Ledger {
			f.Ledger = append(f.Ledger, fmt.Sprint(r.ID, r.Section, r.Verdict, r.Reason, r.Tokens))
		}
	}
	return f
}

// served returns what an address answers.
func served(t *testing.T, url string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v\n%s", url, res.Status, err, body)
	}
	return string(body)
}

// TestATerminalAndAPageSayTheSameOfATurn compares turns that were answered by the bot,
// by somebody else, not at all, and of which something was deleted since.
func TestATerminalAndAPageSayTheSameOfATurn(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	told(t, db, "@earshot what is left to do?", "@earshot and after that?", "@earshot and then?")
	st, err := store.Open(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	elsewhere := answeredElsewhere(t, st)
	unread := failedOfANewerVersion(t, st)
	list, err := st.QueuedTurns(t.Context(), earshot.TurnQuery{})
	must(t, err)
	first := list[len(list)-1]
	_, err = st.Record(t.Context(), first.Conversation.Scope, earshot.Message{ID: first.Anchor, Time: 1, Deleted: true})
	must(t, err)
	page := httptest.NewServer(inspect.New(inspect.Options{Reader: explain.New(st, search.New(st, nil), explain.Options{}), Open: true}))
	defer page.Close()
	changed := 0
	for _, q := range list {
		terminal := onTerminal(t, db, q.ID)
		if diff := cmp.Diff(terminal, onPage(t, page.URL, q.ID)); diff != "" {
			t.Errorf("turn %d (-terminal +page):\n%s", q.ID, diff)
		}
		if terminal.Changed != "" {
			changed++
		}
		_, text, errs := ran(t, nil, "--db", db, "turn", fmt.Sprint(q.ID))
		shown := html.UnescapeString(served(t, fmt.Sprint(page.URL, "/turns/", q.ID)))
		if !strings.Contains(text, terminal.Changed) || !strings.Contains(shown, terminal.Changed) {
			t.Errorf("turn %d: want %q on both: %s%s", q.ID, terminal.Changed, text, errs)
		}
	}
	if len(list) < 4 || changed < 2 || changed == len(list) {
		t.Errorf("of %d turns %d cannot be made again", len(list), changed)
	}
	for id, want := range map[earshot.TurnID][]string{elsewhere: {"It was the disk, after all."}, unread: {"pened again by an operator", "step of a newer version", "who knows"}} {
		_, text, _ := ran(t, nil, "--db", db, "turn", fmt.Sprint(id))
		shown := html.UnescapeString(served(t, fmt.Sprint(page.URL, "/turns/", id)))
		for _, x := range want {
			if !strings.Contains(text, x) || !strings.Contains(shown, x) {
				t.Errorf("turn %d: want %q on both:\n%s", id, x, text)
			}
		}
	}
}

// must ends the test where err is one.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// answeredElsewhere is a turn that a bot beside us has answered, and whose reply was
// edited since.
func answeredElsewhere(t *testing.T, st earshot.Store) earshot.TurnID {
	t.Helper()
	c := earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Name: "ops", Kind: earshot.KindChannel}
	must(t, st.PutChannel(t.Context(), c))
	service := sidecar.New(st, search.New(st, nil), nil, sidecar.Options{})
	_, err := service.PutAgent(t.Context(), operator, visible.Agent{Identity: earshot.Identity{ID: "U0BOT", Name: "helper"}, Workspace: "T1"})
	must(t, err)
	question := earshot.Message{ID: "m1", Time: 1_772_442_000_000_000, Author: earshot.Author{ID: "U1", Name: "Alice"}, Text: "<@U0BOT> why is staging down?"}
	_, err = st.Record(t.Context(), c.Scope(), question)
	must(t, err)
	open, err := service.Context(t.Context(), operator, sidecar.ContextRequest{Channel: visible.Place{Channel: "C1"}, Anchor: "m1", Agent: "U0BOT", Open: true})
	must(t, err)
	reply := earshot.Message{ID: "m2", Time: question.Time + 1e6, Text: "It is the disk."}
	done, err := service.Commit(t.Context(), operator, open.Draft.ID, sidecar.Reply{Text: reply.Text, Messages: []earshot.Message{reply}, Usage: earshot.Usage{Input: 1234, Output: 5}})
	must(t, err)
	m, err := st.Message(t.Context(), c.Scope(), "m2")
	must(t, err)
	m.Text, m.Edited = "It was the disk, after all.", m.Time+1e6
	_, err = st.Record(t.Context(), c.Scope(), m)
	must(t, err)
	return done.Turn
}

// failedOfANewerVersion is a turn that was opened again, with a step that this version
// cannot read.
func failedOfANewerVersion(t *testing.T, st earshot.Store) earshot.TurnID {
	t.Helper()
	at := earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}
	id := earshot.ConversationID{Agent: "other", Scope: at, Name: "m9"}
	m := earshot.Message{ID: "m9", Time: 1_772_442_060_000_000, Author: earshot.Author{ID: "U1", Name: "Alice"}, Text: "and now?"}
	out, err := st.Accept(t.Context(), at, earshot.Event{Received: m.Time, Message: m}, &id)
	must(t, err)
	l, _, err := st.Claim(t.Context(), id.Agent, "test", m.Time, time.Hour)
	must(t, err)
	must(t, st.Begin(t.Context(), l, out.Turn, earshot.Prompt{Hash: "h", Input: []byte("{}")}))
	answer, err := json.Marshal(map[string]any{"stop": "end", "provider": "p", "model": "big", "parts": []any{}, "usage": earshot.Usage{Input: 7, CacheRead: 3, Output: 2}})
	must(t, err)
	for n, s := range []earshot.Step{{Kind: "answer", Data: answer}, {Kind: "again", Data: []byte{}}, {Kind: "newer", Data: []byte("x")}, {Kind: "failed", Data: []byte("who knows")}} {
		s.N, s.Time = n, m.Time+earshot.Time(n+1)*1e6
		must(t, st.AddStep(t.Context(), l, out.Turn, s))
	}
	must(t, st.Finish(t.Context(), l, out.Turn, earshot.TurnFailed, "who knows", nil))
	must(t, st.Release(t.Context(), l, 0))
	return out.Turn
}
