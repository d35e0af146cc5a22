package inspect_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

var ops = earshot.Scope{Platform: earshot.Local, Workspace: "local", Channel: "ops"}

// talkedWorld has a thread in #ops with three turns in two epochs, of which the second
// failed, and a conversation in #hr.
func talkedWorld(t *testing.T) world {
	w := newWorld(t, nil)
	say := func(id earshot.MessageID, thread earshot.MessageID, hour int, text string) {
		m := earshot.Message{ID: id, Time: march(2, hour), Thread: thread, Author: earshot.Author{ID: "ana", Name: "Ana", Kind: earshot.Human}, Text: text}
		if _, err := w.store.Record(t.Context(), ops, m); err != nil {
			t.Fatal(err)
		}
	}
	say("before", "", 7, "one two three four five six")
	say("root", "", 8, "Who knows <b>the importer</b>?")
	say("r1", "root", 9, "one two three four")
	shown := func(ids ...earshot.MessageID) (l earshot.Ledger) {
		for _, id := range ids {
			l = append(l, earshot.LedgerRow{ID: id, Verdict: earshot.Full, Tokens: 100})
		}
		return append(l, earshot.LedgerRow{ID: "far", Verdict: earshot.Out, Tokens: 1000})
	}
	w.answered(t, exchange{
		channel: "ops", name: "root", id: "q1", thread: "root", by: "Ana", ask: "one two", at: march(2, 10), model: "m", began: earshot.BeganAnew,
		usage: []earshot.Usage{{Input: 400, Output: 10, CacheWrite: 100}, {Input: 50, Output: 20, CacheRead: 450}},
		files: []earshot.File{{ID: "F1", Name: "plan.pdf", Type: "application/pdf", SHA256: strings.Repeat("a", 64)}},
		turn: earshot.Turn{
			Ledger: shown("before", "root", "r1", "q1"), Shown: []earshot.ShownRevision{{ID: "q1"}}, Attached: []earshot.AttachedFile{{ID: "F1", SHA256: strings.Repeat("a", 64), Tokens: 258}},
			Session: []earshot.SessionEntry{{Role: earshot.User, Text: "one two three"}, {Role: earshot.Assistant, Text: "four"}},
		},
	})
	say("r2", "root", 11, "one two three")
	w.answered(t, exchange{channel: "ops", name: "root", id: "q2", thread: "root", by: "Ben", ask: "one", at: march(2, 12), model: "m", usage: []earshot.Usage{{Input: 5, CacheRead: 500}}, failed: "the provider was down"})
	w.answered(t, exchange{
		channel: "ops", name: "root", id: "q3", thread: "root", by: "Ben", ask: "one two three", at: march(2, 13), model: "m", began: earshot.BeganFull, epoch: 1,
		usage: []earshot.Usage{{Input: 60, Output: 6}},
		turn:  earshot.Turn{Ledger: shown("q3"), Shown: []earshot.ShownRevision{{ID: "q3"}}, Names: []earshot.SessionName{{ID: "ben", Name: "Ben (2)"}}, Session: []earshot.SessionEntry{{Role: earshot.User, Text: "one two"}}},
	})
	w.answered(t, exchange{channel: "hr", id: "h1", by: "Cem", ask: "secret of hr", at: march(3, 9), model: "m", usage: []earshot.Usage{{Input: 9}}, began: earshot.BeganAnew})
	return w
}

const opsConversation = "channel=ops&agent=UBOT&name=root"

type conversationJSON struct {
	Begins string
	Epoch  int
	Turns  []struct {
		State, Why, By, Question, Began, Link string
		Epoch, Calls, Read, Cached, Answered  int
		History                               int
	}
	Sum     struct{ Turns, Calls, Read, Cached, Answered, History int }
	Session struct{ Entries, Bytes, Tokens int }
	Shown   int
	Summary *struct {
		Text, From, To, By string
		Turns              int
	}
	Files []struct {
		Name, Type string
		Turn       int
		Tokens     int
		InSession  bool `json:"in_session"`
		Kept       bool
	}
	Names []struct{ ID, Name string }
}

func TestAConversationHasItsTurnsWithWhatTheFullHistoryWouldHaveCost(t *testing.T) {
	t.Parallel()
	w := talkedWorld(t)
	got := jsonOf[conversationJSON](t, w, "/conversation.json?"+opsConversation)
	var turns []string
	for _, x := range got.Turns {
		turns = append(turns, fmt.Sprintf("%s %s: %q, epoch %d %s, %d calls, %d read, %d cached, %d answered, %d of history", x.State, x.By, x.Question, x.Epoch, x.Began, x.Calls, x.Read, x.Cached, x.Answered, x.History))
	}
	// In the thread stand root (7 tokens), r1 (4), q1 (2), r2 (3), q2 (1) and q3 (3);
	// the first prompt has shown one message from outside with 100 tokens. Each turn's
	// history is sent with each of its calls.
	root := tokensOf(t, w, "root")
	want := []string{
		fmt.Sprintf(`done Ana: "one two", epoch 0 conversation, 2 calls, 1000 read, 450 cached, 30 answered, %d of history`, 2*(root+4+2+100)),
		fmt.Sprintf(`failed Ben: "one", epoch 0 , 1 calls, 505 read, 500 cached, 0 answered, %d of history`, root+4+2+100+3+1),
		fmt.Sprintf(`done Ben: "one two three", epoch 1 budget, 1 calls, 60 read, 0 cached, 6 answered, %d of history`, root+4+2+100+3+1+3),
	}
	if diff := cmp.Diff(turns, want); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
	if got.Sum.Turns != 3 || got.Sum.Calls != 4 || got.Sum.Read != 1565 || got.Sum.Cached != 950 {
		t.Errorf("the sum is %+v", got.Sum)
	}
	if got.Epoch != 1 || got.Session.Entries != 1 || got.Session.Tokens != 2 || got.Shown != 1 || len(got.Names) != 1 || got.Names[0].Name != "Ben (2)" {
		t.Errorf("epoch %d, session %+v, %d shown, names %+v", got.Epoch, got.Session, got.Shown, got.Names)
	}
	if len(got.Files) != 1 || got.Files[0].Name != "plan.pdf" || got.Files[0].Tokens != 258 || got.Files[0].InSession || got.Files[0].Kept || got.Files[0].Turn != 1 {
		t.Errorf("the files are %+v", got.Files)
	}
}

// tokensOf returns a stored message's count.
func tokensOf(t *testing.T, w world, id earshot.MessageID) int {
	t.Helper()
	m, err := w.store.Message(t.Context(), ops, id)
	if err != nil || m.Tokens == 0 {
		t.Fatal(m, err)
	}
	return m.Tokens
}

func TestAConversationsPageSaysWhyEpochsBegan(t *testing.T) {
	t.Parallel()
	w := talkedWorld(t)
	body := w.page(t, "/conversation?"+opsConversation)
	for _, want := range []string{
		"Epoch 0 begins: the conversation begins", "Epoch 1 begins: the session was over its budget", "the provider was down", "plan.pdf",
		"Who knows &lt;b&gt;the importer&lt;/b&gt;?", `href="/turns/1"`, "/conversation/tokens.svg?", "/conversation/sum.svg?", "<svg", "There is none. One is made between turns",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	if body := w.page(t, "/conversation?channel=hr&agent=UBOT&name=h1"); strings.Contains(body, "<svg") || !strings.Contains(body, "With the second turn") {
		t.Errorf("a conversation with one turn has a picture, or does not say when it has one: %s", body)
	}
	for _, name := range []string{"tokens", "sum"} {
		if svg := w.page(t, "/conversation/"+name+".svg?"+opsConversation); !strings.Contains(svg, "epoch 1: the session was over its budget") {
			t.Errorf("%s.svg does not mark the epoch: %s", name, svg)
		}
	}
}

func TestAConversationHasItsSummaryAndWhoWroteIt(t *testing.T) {
	t.Parallel()
	w := talkedWorld(t)
	c, err := w.store.ClaimSummary(t.Context(), agent, "test", 1, march(4, 1), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.PutSummary(t.Context(), c, earshot.Summary{Text: "They spoke of the importer.", From: march(2, 8), To: march(2, 10), Turns: 1, By: earshot.ByDigest}, "root"); err != nil {
		t.Fatal(err)
	}
	got := jsonOf[conversationJSON](t, w, "/conversation.json?"+opsConversation)
	if s := got.Summary; s == nil || s.Text != "They spoke of the importer." || s.Turns != 1 || s.By != "digest" || s.To != "2026-03-02T10:00:00Z" {
		t.Errorf("the summary is %+v", s)
	}
	if body := w.page(t, "/conversation?"+opsConversation); !strings.Contains(body, "It covers the first 1 turn, from 2026-03-02 08:00 to 2026-03-02 10:00 UTC. It was made without a model") {
		t.Errorf("the page does not say what the summary covers: %s", body)
	}
}

func TestConversationsAreListedByTheirNewestTurn(t *testing.T) {
	t.Parallel()
	w := talkedWorld(t)
	type list struct {
		Conversations []struct {
			Begins, Link, Agent string
			ChannelName         string `json:"channel_name"`
			Turns, Epoch        int
		}
	}
	got := jsonOf[list](t, w, "/conversations.json")
	if len(got.Conversations) != 2 || got.Conversations[0].Begins != "secret of hr" || got.Conversations[1].ChannelName != "#ops" || got.Conversations[1].Turns != 2 || got.Conversations[1].Epoch != 1 {
		t.Errorf("all: %+v", got)
	}
	if body := w.page(t, got.Conversations[1].Link); !strings.Contains(body, "Epoch 1 begins") {
		t.Errorf("the link leads to %s", body)
	}
	if got := jsonOf[list](t, w, "/conversations.json?channel=ops"); len(got.Conversations) != 1 || got.Conversations[0].ChannelName != "#ops" {
		t.Errorf("of #ops: %+v", got)
	}
	if got := jsonOf[list](t, w, "/conversations.json?agent=other"); len(got.Conversations) != 0 {
		t.Errorf("of another agent: %+v", got)
	}
	if body := newWorld(t, nil).page(t, "/conversations"); !strings.Contains(body, "There is no conversation yet") {
		t.Errorf("an empty list says %s", body)
	}
}

func TestAConversationOfAnotherChannelDoesNotExist(t *testing.T) {
	t.Parallel()
	w := talkedWorld(t)
	key := w.key(t, access.KeySpec{Name: "ops", Workspaces: []earshot.WorkspaceID{"local"}, Channels: []earshot.ChannelID{"ops"}, ReadOnly: true})
	for _, path := range []string{
		"/conversation?channel=hr&agent=UBOT&name=h1", "/conversation.json?channel=hr&agent=UBOT&name=h1", "/conversation/tokens.svg?channel=hr&agent=UBOT&name=h1", "/conversations?channel=hr",
		"/conversation?channel=ops&agent=UBOT&name=nothing", "/conversation?channel=ops", "/conversation",
	} {
		if status, body := w.do(t, browser(t), "GET", path, nil, "Authorization", "Bearer "+key); status != http.StatusNotFound || strings.Contains(body, "secret of hr") {
			t.Errorf("GET %s: %d %s", path, status, body)
		}
	}
	if body := w.pageFor(t, "/conversations.json", key); strings.Contains(body, "secret") || !strings.Contains(body, "#ops") {
		t.Errorf("a key of #ops lists %s", body)
	}
}
