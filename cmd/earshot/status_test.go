package main

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/store"
)

// Status once told the model of its own configuration, whatever the daemon had.
func TestStatusTellsWhatTheRunningDaemonHas(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	st, err := store.Open(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	now := earshot.TimeOf(time.Now())
	const hour = 3_600_000_000
	says := func(p daemon.Presence) {
		t.Helper()
		data, err := json.Marshal(p)
		if err == nil {
			err = st.PutNote(t.Context(), earshot.Note{Key: "daemon/" + p.Owner, Data: data})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	shows := func(want string) {
		t.Helper()
		if _, out, errs := ran(t, nil, "--db", db, "status"); !regexp.MustCompile(want).MatchString(out) {
			t.Errorf("got %q, %q, want %s", out, errs, want)
		}
	}
	shows(`(?m)^daemon +none has been seen over this store\nmodel +offline \(offline, .*\) would answer, by this configuration`)

	says(daemon.Presence{Owner: "a", Platform: "slack", Provider: "openai", Model: "old", Policy: "standard", Since: now - 2*hour, Seen: now - hour})
	shows(`(?m)^daemon +none has been seen since 2.*; the last had the model old\nmodel +offline `)

	says(daemon.Presence{Owner: "b", Platform: "slack", Provider: "openai", Model: "qwen3", Fallback: "small", Policy: "thread", Version: "1.2", Since: now - hour, Seen: now})
	shows(`(?m)^daemon +running since 2.* on slack, model qwen3 \(openai\), then small; policy thread, version 1.2\n`)
	got := asked[statusJSON](t, db, "status")
	if len(got.Daemons) != 1 || !got.Daemons[0].Running || got.Model != "qwen3" || got.Provider != "openai" || got.Policy != "thread" {
		t.Errorf("got %+v, want the model of the daemon that runs", got)
	}

	says(daemon.Presence{Owner: "b", Model: "qwen3", Since: now - hour, Seen: now, Ended: true})
	shows(`(?m)^daemon +none has been seen since `)
}
