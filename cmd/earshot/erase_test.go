package main

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

// gone checks that a text is found nowhere in a store.
func gone(t *testing.T, db, text string) {
	t.Helper()
	if code, out, errs := ran(t, nil, "--db", db, "where", text); code != 1 {
		t.Errorf("%q is left: status %d\n%s%s", text, code, out, errs)
	}
}

func TestEraseRemovesAPersonWithEveryCopyAndTheRepliesThatQuote(t *testing.T) {
	t.Parallel()
	db, _ := quoted(t)
	code, out, errs := ran(t, nil, "--db", db, "erase", "--user", "bob")
	if code != exitUsage || !strings.Contains(errs, "--yes") || !strings.Contains(errs, "2 messages, 1 reply of the bot that quotes") || out != "" {
		t.Errorf("without --yes: got %d, %q, %q", code, out, errs)
	}
	if asked[whereJSON](t, db, "where", canary).Found == 0 {
		t.Fatal("without --yes something was erased")
	}
	e := asked[erasureJSON](t, db, "erase", "--user", "bob", "--yes")
	if e.Ended == "" || e.User == "" || e.Removed.Replies != 1 || e.Removed.Messages < 1 || e.Removed.Names != 1 || e.Files != "clean" {
		t.Errorf("got %+v, want an erasure that has ended", e)
	}
	gone(t, db, canary)
	for _, file := range []string{db, db + "-wal"} {
		if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), canary) {
			t.Errorf("%s still holds %s", filepath.Base(file), canary)
		}
	}
	if code, _, errs := ran(t, nil, "--db", db, "erase", "--user", string(e.User), "--yes"); code != exitFailed || !strings.Contains(errs, "nothing is stored of") {
		t.Errorf("once more: got %d, %q", code, errs)
	}
	log := asked[[]erasureJSON](t, db, "erase", "--log")
	if len(log) != 1 || log[0].ID != e.ID || log[0].Removed != e.Removed {
		t.Errorf("the log: got %+v, want %+v", log, e)
	}
	if _, out, _ := ran(t, nil, "--db", db, "erase", "--log"); !strings.Contains(out, "user "+string(e.User)) || strings.Contains(out, canary) {
		t.Errorf("the log for people: %q", out)
	}
	if _, out, _ := ran(t, nil, "--db", db, "export"); !strings.Contains(out, "hello all") {
		t.Error("what alice said is gone too")
	}
}

func TestEraseRemovesAMessageOrAChannel(t *testing.T) {
	t.Parallel()
	db, id := quoted(t)
	told(t, db, "/channel other", "platypus here")
	e := asked[erasureJSON](t, db, "erase", "--channel", "general", "--message", id, "--yes")
	if len(e.Messages) != 1 || e.Removed.Replies != 1 {
		t.Errorf("a message: got %+v", e)
	}
	gone(t, db, canary)
	if code, _, _ := ran(t, nil, "--db", db, "erase", "--channel", "general", "--message", "1.000001", "--yes"); code != exitFailed {
		t.Errorf("an unknown message: status %d", code)
	}
	if code, _, errs := ran(t, nil, "--db", db, "erase", "--channel", "nowhere", "--yes"); code != exitFailed || !strings.Contains(errs, "no channel") {
		t.Errorf("an unknown channel: status %d, %q", code, errs)
	}
	if _, _, errs := ran(t, nil, "--db", db, "--json", "erase", "--channel", "nowhere", "--yes"); !strings.Contains(errs, `"code":"failed"`) {
		t.Errorf("an unknown channel: %q, whose status is 1", errs)
	}
	asked[erasureJSON](t, db, "erase", "--channel", "other", "--yes")
	gone(t, db, "platypus")
	if _, out, _ := ran(t, nil, "--db", db, "export"); !strings.Contains(out, "hello all") {
		t.Error("the other channel is gone too")
	}
}

// A process that was killed, or stopped with Ctrl-C, leaves an erasure in the middle.
func TestEraseGoesOnWithWhatWasLeftInTheMiddle(t *testing.T) {
	t.Parallel()
	db, _ := quoted(t)
	st, err := store.Open(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = st.BeginErasure(t.Context(), earshot.ErasureOf{Platform: earshot.Local, Workspace: "local", User: "bob"})
	if err = errors.Join(err, st.Close()); err != nil {
		t.Fatal(err)
	}
	code, out, errs := ran(t, nil, "--db", db, "erase", "--user", "bob", "--yes")
	if code != exitOK || !strings.Contains(errs, "going on with erasure 1, begun ") || !strings.Contains(out, "erased: 2 messages") {
		t.Errorf("got %d, %q, %q", code, out, errs)
	}
	gone(t, db, canary)
	if log := asked[[]erasureJSON](t, db, "erase", "--log"); len(log) != 1 || log[0].Ended == "" {
		t.Errorf("the log: %+v", log)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var o, e2 strings.Builder
	if code := run(ctx, []string{"earshot", "--db", db, "erase", "--user", "alice", "--yes"}, nil, strings.NewReader(""), &o, &e2); code != exitFailed || !strings.Contains(e2.String(), "interrupted") {
		t.Errorf("stopped: got %d, %q", code, e2.String())
	}
}

// Ctrl-C at the question once did nothing until Enter was pressed.
func TestCtrlCEndsEraseAtItsQuestion(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	in, keys := io.Pipe() // a terminal where nobody presses Enter
	defer keys.Close()
	var out strings.Builder
	a := newApp(nil, in, &out, &out, &out)
	a.asks = true
	cancel()
	err := (&eraseCmd{}).confirm(ctx, a, earshot.ErasureOf{}, "bob", earshot.ErasureCounts{Messages: 2})
	if err == nil || err.Error() != "interrupted; nothing was erased" {
		t.Errorf("got %v", err)
	}
}

// While another process reads, erase waits for the write-ahead log. Ctrl-C then once
// ended it with status 0 and "context canceled".
func TestCtrlCWhileTheFileIsReadSaysThatBytesMayStand(t *testing.T) {
	t.Parallel()
	db, _ := quoted(t)
	other, err := sql.Open("sqlite", db)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	reads, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reads.Rollback()
	if err := reads.QueryRow(`SELECT count(*) FROM message`).Scan(new(int)); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	logged := writer(func(p []byte) (int, error) {
		if strings.Contains(string(p), "msg=erased") {
			time.AfterFunc(300*time.Millisecond, cancel)
		}
		return len(p), nil
	})
	var out, errs strings.Builder
	code := run(ctx, []string{"earshot", "--db", db, "erase", "--user", "bob", "--yes"}, nil, strings.NewReader(""), &out, io.MultiWriter(&errs, logged))
	if code != exitFailed || !strings.Contains(errs.String(), "interrupted; erasure 1 is done, but its bytes may stand") {
		t.Errorf("got %d, %q, %q", code, out.String(), errs.String())
	}
}

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func TestAForgottenPersonIsRecordedAgainOnceRemembered(t *testing.T) {
	t.Parallel()
	db, _ := quoted(t)
	if code, _, errs := ran(t, nil, "--db", db, "erase", "--user", "bobb", "--forget", "--yes"); code != exitFailed || !strings.Contains(errs, "nothing is stored of bobb") {
		t.Errorf("a mistyped name: got %d, %q", code, errs)
	}
	if log := asked[[]erasureJSON](t, db, "erase", "--log"); len(log) != 0 {
		t.Errorf("a mistyped name was erased: %+v", log)
	}
	e := asked[erasureJSON](t, db, "erase", "--user", "bob", "--forget", "--yes")
	told(t, db, "/as bob", "numbat one")
	gone(t, db, "numbat")
	if code, _, errs := ran(t, nil, "--db", db, "erase", "--remember", "alice"); code != exitFailed || !strings.Contains(errs, "forgotten") {
		t.Errorf("remembering who was not forgotten: got %d, %q", code, errs)
	}
	if code, _, errs := ran(t, nil, "--db", db, "erase", "--remember", string(e.User)); code != exitOK {
		t.Fatalf("remember: status %d, %q", code, errs)
	}
	told(t, db, "/as bob", "numbat two")
	if asked[whereJSON](t, db, "where", "numbat two").Found == 0 {
		t.Error("what bob says after --remember is not recorded")
	}
}

func TestEraseSaysWhatIsMissingOrAmbiguous(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	st, err := store.Open(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []earshot.WorkspaceID{"T1", "T2"} {
		s := earshot.Scope{Platform: earshot.Slack, Workspace: w, Channel: "C1"}
		if err := st.PutChannel(t.Context(), earshot.Channel{Platform: s.Platform, Workspace: w, ID: "C1", Name: "deploys"}); err != nil {
			t.Fatal(err)
		}
		if err := st.PutAuthors(t.Context(), s.Platform, w, earshot.Author{ID: "U1", Name: "alice"}); err != nil {
			t.Fatal(err)
		}
		if _, err := st.Record(t.Context(), s, earshot.Message{ID: "1.000001", Time: 1_000_001, Text: "hi", Author: earshot.Author{ID: "U1", Name: "alice"}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		errs string
	}{
		{"--user U1 --yes", 2, "slack/T1, "},
		{"--user alice --yes", 2, "--workspace"},
		{"--user U9 --yes", 1, "slack/T1"},
		{"--channel deploys --yes", 2, "more than one channel"},
		{"--user U1 --workspace T9 --yes", 2, `there is no workspace "T9"; there are slack/T1`},
		{"--user U9 --workspace T1 --yes", 1, "nothing is stored of U9"},
		{"--message 1.000001", 2, "--channel CHANNEL --message ID"},
		{"--forget --channel deploys", 2, "--user USER --forget"},
		{"--yes", 2, "what is to be erased?"},
		{"--log --user U1", 2, "--log lists all"},
		{"--remember U1 --user U1", 2, "--remember stands alone"},
	} {
		code, out, errs := ran(t, nil, append([]string{"--db", db, "erase"}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(errs, c.errs) || out != "" {
			t.Errorf("erase %s: got %d, %q, %q, want %d, %q", c.args, code, out, errs, c.code, c.errs)
		}
	}
	if code, _, errs := ran(t, nil, "--db", db, "erase", "--user", "@alice", "--workspace", "slack/T2", "--yes"); code != 0 {
		t.Fatalf("got %d, %q", code, errs)
	}
	if n := len(asked[[]erasureJSON](t, db, "erase", "--log")); n != 1 {
		t.Errorf("%d erasures are in the log, want one", n)
	}
}

func TestExportOfAPerson(t *testing.T) {
	t.Parallel()
	db, _ := quoted(t)
	code, out, errs := ran(t, nil, "--db", db, "export", "--user", "bob")
	if code != exitOK || !strings.Contains(out, canary) || strings.Contains(out, "hello all") || !strings.HasPrefix(out, `{"earshot":"person"`) {
		t.Errorf("got %d, %q, %q", code, out, errs)
	}
	file := filepath.Join(t.TempDir(), "x.jsonl")
	if code, _, errs := ran(t, nil, "--db", db, "export", "--user", "bobb", "-o", file); code != exitFailed || !strings.Contains(errs, "nothing is stored of bobb") {
		t.Errorf("an unknown person: got %d, %q", code, errs)
	}
	if list, _ := filepath.Glob(file + "*"); len(list) != 0 {
		t.Errorf("left: %v", list)
	}
}
