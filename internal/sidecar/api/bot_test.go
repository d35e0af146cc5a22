package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/contexts"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/sidecar/api"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
)

// A round is what people say, and how the last of it is answered.
type round struct {
	said   []earshot.Message
	calls  []llm.Call // of tools, before the answer
	answer string
}

// rounds is a chat with an edit, a late message, and a call of a tool.
func rounds() []round {
	began := earshot.TimeOf(time.Now()) - 5*60e6
	at := func(n int, who, text string) earshot.Message {
		m := said(n, who, text)
		m.Time = began + earshot.Time(n)*1e6
		return m
	}
	edited := at(1, "Bob", "since noon, I think (edited)")
	edited.Edited = began + 10e6
	return []round{
		{said: []earshot.Message{at(0, "Alice", "staging is down"), at(1, "Bob", "since noon"), at(3, "Alice", "<@U0BOT> why?")}, answer: "The disk is *full*."},
		{
			said:   []earshot.Message{edited, at(2, "Chen", "I came late"), at(12, "Bob", "<@U0BOT> which disk, <@U-Alice|Alice>?")},
			calls:  []llm.Call{{Name: "channel_messages", Args: `{"message_ids":["m0","m2"]}`}},
			answer: "The first.",
		},
		{said: []earshot.Message{at(20, "Chen", "good to know"), at(21, "Alice", "<@U0BOT> thanks")}, answer: "You're welcome."},
	}
}

// answerOf returns the message that the nth answer becomes.
func answerOf(n int, anchor earshot.Message) earshot.Message {
	return earshot.Message{ID: earshot.MessageID(fmt.Sprint("r", n)), Time: anchor.Time + 1000, Thread: anchor.Root()}
}

// A poster is a platform that numbers its posts.
type poster struct{ n int }

func (p *poster) Post(_ context.Context, d bot.Draft) (earshot.Message, error) {
	m := answerOf(p.n, d.Anchor)
	m.Text = d.Text
	p.n++
	return m, nil
}

// A played chat is what was asked of the model, turn by turn, and the store behind it.
type played struct {
	store   earshot.Store
	prompts [][]earshot.SessionEntry
}

func opened(t *testing.T) earshot.Store {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	if err := st.PutChannel(t.Context(), ops); err != nil {
		t.Fatal(err)
	}
	return st
}

// playBot has the bot answer a chat.
func playBot(t *testing.T, policy assemble.Policy, chat []round) played {
	t.Helper()
	out, model, done := played{store: opened(t)}, llmtest.New(), make(chan bot.Report, 1)
	counter, err := tokens.For("")
	if err != nil {
		t.Fatal(err)
	}
	b := bot.New(bot.Options{
		Store: out.store, Model: model, Platform: &poster{}, Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"}, Counter: counter, Policy: policy,
		Done: func(r bot.Report) { done <- r },
	})
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- b.Run(ctx) }()
	for _, r := range chat {
		for _, c := range r.calls {
			model.Then(llmtest.Call(c.Name, c.Args))
		}
		model.Then(llmtest.Say(r.answer))
		before := len(model.Requests())
		for _, m := range r.said {
			if _, err := b.Handle(t.Context(), bot.Event{Channel: ops, Event: earshot.Event{Message: m}}); err != nil {
				t.Fatal(err)
			}
		}
		if r := <-done; r.Turn.State != earshot.TurnDone {
			t.Fatalf("the bot's turn: %+v", r.Turn)
		}
		out.prompts = append(out.prompts, entriesOf(model.Requests()[before].Messages))
	}
	cancel()
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	return out
}

// playSidecar has a bot of another make answer the chat, over HTTP.
func playSidecar(t *testing.T, policy assemble.Policy, chat []round) played {
	t.Helper()
	out := played{store: opened(t)}
	gate, err := access.Open(out.store, access.Options{})
	if err != nil {
		t.Fatal(err)
	}
	key, _, err := access.CreateKey(t.Context(), out.store, access.KeySpec{Name: "bot", Workspaces: []earshot.WorkspaceID{"T1"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := out.store.PutAuthors(t.Context(), ops.Platform, ops.Workspace, earshot.Author{ID: "U0BOT", Name: "earshot", Kind: earshot.Bot}); err != nil {
		t.Fatal(err)
	}
	service := sidecar.New(out.store, search.New(out.store, nil), gate, sidecar.Options{Maker: contexts.New(out.store, search.New(out.store, nil), contexts.Options{Policy: policy})})
	w := &world{store: out.store, server: httptest.NewServer(api.New(api.Options{Service: service, Reader: explain.New(out.store, search.New(out.store, nil), explain.Options{}), Gate: gate}))}
	t.Cleanup(w.server.Close)
	post := func(as, path string, body, answer any) {
		t.Helper()
		status, _, text := w.call(t, as, http.MethodPost, path, body)
		if err := json.Unmarshal([]byte(text), answer); err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %s %v", path, status, text, err)
		}
	}
	for n, r := range chat {
		if _, err := out.store.Record(t.Context(), ops.Scope(), r.said...); err != nil {
			t.Fatal(err)
		}
		anchor := r.said[len(r.said)-1]
		var c struct {
			Prompt     struct{ Messages []entryJSON }
			Turn       struct{ ID int64 }
			Capability string
		}
		post(key.Reveal(), "/v1/context", object{"channel": "C1", "anchor": anchor.ID, "agent": "U0BOT", "open": true}, &c)
		var prompt []earshot.SessionEntry
		for _, m := range c.Prompt.Messages {
			e := earshot.SessionEntry{Role: m.Role, Text: m.Text, Call: m.Call, Failed: m.Failed, Opaque: m.Opaque}
			for _, x := range m.Calls {
				e.Calls = append(e.Calls, earshot.Call{ID: x.ID, Name: x.Name, Args: x.Args})
			}
			prompt = append(prompt, e)
		}
		out.prompts = append(out.prompts, prompt)
		var entries []object
		for i, x := range r.calls {
			var a struct{ Answer json.RawMessage }
			post(c.Capability, "/v1/tools/"+x.Name, x.Args, &a)
			id := fmt.Sprintf("call_%d", i+1)
			entries = append(entries, object{"role": "assistant", "calls": []object{{"id": id, "name": x.Name, "args": x.Args}}}, object{"role": "tool", "call": id, "text": string(a.Answer)})
		}
		reply := answerOf(n, anchor)
		post(key.Reveal(), fmt.Sprintf("/v1/turns/%d/commit", c.Turn.ID), object{"reply": object{"text": r.answer, "ids": []string{string(reply.ID)}, "time": reply.Time.String()}, "entries": entries}, &struct{}{})
	}
	return out
}

// The tools of a turn write times as its prompt does, in the zone that the context was
// asked for in, from the conversation's first turn on.
func TestAToolWritesTimesInTheZoneOfItsContext(t *testing.T) {
	t.Parallel()
	st := opened(t)
	gate, err := access.Open(st, access.Options{})
	if err != nil {
		t.Fatal(err)
	}
	key, _, err := access.CreateKey(t.Context(), st, access.KeySpec{Name: "bot", Workspaces: []earshot.WorkspaceID{"T1"}})
	if err != nil {
		t.Fatal(err)
	}
	service := sidecar.New(st, search.New(st, nil), gate, sidecar.Options{})
	w := &world{store: st, server: httptest.NewServer(api.New(api.Options{Service: service, Reader: explain.New(st, search.New(st, nil), explain.Options{}), Gate: gate}))}
	t.Cleanup(w.server.Close)
	if err := st.PutAuthors(t.Context(), ops.Platform, ops.Workspace, earshot.Author{ID: "U0BOT", Name: "earshot", Kind: earshot.Bot}); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Record(t.Context(), ops.Scope(), said(0, "Alice", "<@U0BOT> why?"), said(1, "Alice", "<@U0BOT> well?")); err != nil {
		t.Fatal(err)
	}
	for _, open := range []bool{false, true} {
		_, _, text := w.call(t, key.Reveal(), http.MethodPost, "/v1/context", object{"channel": "C1", "anchor": "m1", "agent": "U0BOT", "zone": "Pacific/Auckland", "open": open})
		var c struct{ Capability string }
		if err := json.Unmarshal([]byte(text), &c); err != nil || c.Capability == "" {
			t.Fatalf("%v: %s", err, text)
		}
		if _, _, got := w.call(t, c.Capability, http.MethodPost, "/v1/tools/channel_messages", object{"message_ids": []string{"m0"}}); !strings.Contains(got, "2026-03-02T22:00:00+13:00") {
			t.Errorf("open %v: %s", open, got)
		}
	}
}

type entryJSON struct {
	Role   earshot.Role
	Text   string
	Calls  []struct{ ID, Name, Args string }
	Call   string
	Failed bool
	Opaque string
}

// entriesOf returns the messages of a request, one for each text that the prompt keeps
// apart: a request has them as parts of one message, with an empty line between them.
func entriesOf(messages []llm.Message) []earshot.SessionEntry {
	var out []earshot.SessionEntry
	for _, m := range messages {
		if slices.ContainsFunc(m.Parts, func(p llm.Part) bool { return p.Kind != llm.KindText }) {
			out = append(out, llm.Record([]llm.Message{m})...)
			continue
		}
		for i, p := range m.Parts {
			if i < len(m.Parts)-1 {
				p.Text = strings.TrimSuffix(p.Text, "\n\n")
			}
			out = append(out, llm.Record([]llm.Message{{Role: m.Role, Parts: []llm.Part{p}}})...)
		}
	}
	return out
}

// TestABotOfAnyMakeGetsThePromptsOfOurs plays one chat twice: the bot answers it, and
// a program that opens turns and commits them. Both ask the same, byte for byte, and
// leave the same behind.
func TestABotOfAnyMakeGetsThePromptsOfOurs(t *testing.T) {
	t.Parallel()
	for _, policy := range assemble.Policies() {
		t.Run(policy.Name, func(t *testing.T) {
			t.Parallel()
			chat := rounds()
			ours, theirs := playBot(t, policy, chat), playSidecar(t, policy, chat)
			if diff := cmp.Diff(theirs.prompts, ours.prompts, cmp.Transformer("ids", withoutCallIDs)); diff != "" {
				t.Errorf("the prompts; -sidecar +bot\n%s", diff)
			}
			if diff := cmp.Diff(left(t, theirs.store), left(t, ours.store)); diff != "" {
				t.Errorf("what is left; -sidecar +bot\n%s", diff)
			}
		})
	}
}

// withoutCallIDs removes the ids of calls, which models make up.
func withoutCallIDs(e earshot.SessionEntry) map[string]any {
	calls := []string{}
	for _, c := range e.Calls {
		calls = append(calls, c.Name+c.Args)
	}
	return map[string]any{"role": e.Role, "text": e.Text, "media": e.Media, "calls": calls, "tool": e.Call != "", "failed": e.Failed, "opaque": e.Opaque}
}

// left is what a chat leaves in a store.
func left(t *testing.T, st earshot.Store) map[string]any {
	t.Helper()
	c, err := st.Conversation(t.Context(), inThread)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := st.Manifest(t.Context(), inThread)
	if err != nil {
		t.Fatal(err)
	}
	turns, err := st.Turns(t.Context(), inThread, 0)
	if err != nil {
		t.Fatal(err)
	}
	var list []any
	for _, turn := range turns {
		if turn, err = st.Turn(t.Context(), inThread, turn.Number); err != nil {
			t.Fatal(err)
		}
		var session []any
		for _, e := range turn.Session {
			session = append(session, withoutCallIDs(e))
		}
		turn.Usage, turn.Time, turn.Session = earshot.Usage{}, 0, nil
		list = append(list, turn, session)
	}
	queued, err := st.QueuedTurns(t.Context(), earshot.TurnQuery{})
	if err != nil {
		t.Fatal(err)
	}
	var ends []any
	for _, q := range queued {
		if q, err = st.QueuedTurn(t.Context(), q.ID); err != nil {
			t.Fatal(err)
		}
		// It can be replayed.
		in, err := bot.Input(t.Context(), st, q)
		if err != nil {
			t.Fatal(err)
		}
		res, err := assemble.Turn(in)
		if err != nil || res.Hash != q.Hash {
			t.Errorf("turn %d replays to %.12s, %v, want %.12s", q.ID, res.Hash, err, q.Hash)
		}
		ends = append(ends, q.Anchor, q.State, q.Epoch, q.Hash, q.Began, q.Number)
	}
	answers, err := st.ByID(t.Context(), ops.Scope(), "r0", "r1", "r2")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]any{"cursor": c.Cursor, "epoch": c.Epoch, "metadata": c.Metadata, "manifest": manifest, "turns": list, "queue": ends, "answers": answers}
}
