package postgres

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var scope = earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}

func opened(t testing.TB, spec string) *Store {
	t.Helper()
	s, err := Open(t.Context(), spec, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { check(t, s.Close()) })
	return s
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

// exec runs a statement past the store.
func exec(t testing.TB, s *Store, query string, args ...any) {
	t.Helper()
	_, err := s.pool.Exec(context.WithoutCancel(t.Context()), query, args...)
	check(t, err)
}

func stored(t testing.TB, s *Store) int {
	t.Helper()
	c, err := s.Count(t.Context(), scope, earshot.Whole(), earshot.Position{})
	check(t, err)
	return c.Count
}
