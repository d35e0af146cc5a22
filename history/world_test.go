package history_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/history"
	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/earshot-ai/earshot/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	ops     = earshot.Identity{ID: "A-ops", Name: "ops", Aliases: []earshot.AuthorID{"B-ops"}}
	desk    = earshot.Identity{ID: "A-desk", Name: "desk"}
	channel = history.Conversation{Channel: earshot.Channel{Platform: "myapp", Workspace: "w", ID: "c", Name: "deploys", Kind: earshot.KindChannel}}
	dm      = history.Conversation{Channel: earshot.Channel{Platform: "myapp", Workspace: "w", ID: "d", Kind: earshot.KindDM}}
	nine    = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
)

// at is the time of a minute after nine.
func at(minute int) earshot.Time {
	return earshot.TimeOf(nine.Add(time.Duration(minute) * time.Minute))
}

// said is a message of a minute, whose id is m and the minute. Authors that begin
// with "A-" are agents.
func said(minute int, author, text string) earshot.Message {
	a := earshot.Author{ID: earshot.AuthorID(author), Name: strings.TrimPrefix(author, "A-"), Kind: earshot.Human}
	if strings.HasPrefix(author, "A-") {
		a.Kind = earshot.Bot
	}
	return earshot.Message{ID: earshot.MessageID(fmt.Sprint("m", minute)), Time: at(minute), Author: a, Text: text}
}

// answers is said as the answer to another message.
func answers(minute int, author, text string, to int) earshot.Message {
	m := said(minute, author, text)
	m.ReplyTo = earshot.MessageID(fmt.Sprint("m", to))
	return m
}

func edited(m earshot.Message, minute int, text string) earshot.Message {
	m.Text, m.Edited = text, at(minute)
	return m
}

// everyStore runs a test over each kind of store, those for messages alone too.
func everyStore(t *testing.T, test func(t *testing.T, st history.Store)) {
	t.Helper()
	everyWhole(t, func(t *testing.T, st earshot.Store) { test(t, st) })
	for name, st := range map[string]history.Store{
		"messages alone": struct{ history.Store }{open(t, "memory:")}, // without the other methods
		"a map":          newShelf(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, st)
		})
	}
}

// everyWhole runs a test over each kind of store that keeps turns and summaries too.
func everyWhole(t *testing.T, test func(t *testing.T, st earshot.Store)) {
	t.Helper()
	for name, spec := range map[string]func(*testing.T) string{
		"memory":   func(*testing.T) string { return "memory:" },
		"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "x.db") },
		"postgres": func(t *testing.T) string { return pgtest.Spec(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open(t, spec(t)))
		})
	}
}

func open(t testing.TB, spec string) earshot.Store {
	t.Helper()
	st, err := store.Open(t.Context(), spec, &store.Options{Now: func() time.Time { return nine }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return st
}

// of is the history of an agent whose clock stands at nine.
func of(t testing.TB, st history.Store, self earshot.Identity, o history.Options) *history.History {
	t.Helper()
	if o.Now == nil {
		o.Now = func() time.Time { return nine }
	}
	h := history.New(st, self, &o)
	t.Cleanup(func() { h.Close() })
	return h
}

func add(t testing.TB, h *history.History, c history.Conversation, list ...earshot.Message) []earshot.RecordResult {
	t.Helper()
	out, err := h.Append(t.Context(), c, list...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// prompt is the prompt for a message without its system text, one line "role:"
// before what each role says.
func prompt(t testing.TB, h *history.History, c history.Conversation, id earshot.MessageID) string {
	t.Helper()
	r, err := h.Prompt(t.Context(), c, id)
	if err != nil {
		t.Fatal(err)
	}
	return turns(r)
}

func turns(r assemble.Result) string {
	var b strings.Builder
	for _, m := range r.Messages {
		fmt.Fprintf(&b, "%s:\n%s\n", m.Role, m.Text)
	}
	return b.String()
}

// texts are the texts of messages.
func texts(list []earshot.Message) []string {
	out := []string{}
	for _, m := range list {
		out = append(out, m.Text)
	}
	return out
}

// broken is a store whose methods fail or hang once fail says so.
type broken struct {
	earshot.Store
	fail func(ctx context.Context) error
}

func (b broken) Record(ctx context.Context, s earshot.Scope, list ...earshot.Message) ([]earshot.RecordResult, error) {
	if err := b.fail(ctx); err != nil {
		return nil, err
	}
	return b.Store.Record(ctx, s, list...)
}
