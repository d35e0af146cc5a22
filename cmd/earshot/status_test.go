package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/counted"
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

// Of the turns that wait status counts all, and reads the oldest.
func TestStatusReadsOneOfTheTurnsThatWait(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	st, err := store.Open(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	counted.Queue(t, st, 200)
	bounded{CallBound: onePass}.run(t, db, 1, []string{"status"})
	if got := asked[statusJSON](t, db, "status"); got.Turns[earshot.TurnOpen] != 200 || got.Oldest == nil || got.Oldest.Anchor != "q0" {
		t.Errorf("got %+v, want 200 open turns, the oldest of q0", got)
	}
}

// Beside a daemon costs and models know its prices; those of an own configuration win.
func TestPricesOfTheDaemonAreKnownBesideIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := filepath.Join(dir, "x.db")
	own := filepath.Join(dir, "own.yaml")
	if err := os.WriteFile(own, []byte("model:\n  provider: offline\n  prices:\n    offline: {input: 2, output: 2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	say := func(config string) {
		t.Helper()
		in := strings.NewReader("@earshot what is new?\n")
		var out, errs bytes.Buffer
		if code := run(t.Context(), []string{"earshot", "--db", db, "serve", "--config", config}, []string{"HOME=" + dir}, in, &out, &errs); code != 0 {
			t.Fatal(code, out.String(), errs.String())
		}
	}
	shows := func(from string, args ...string) {
		t.Helper()
		type priced struct {
			Priced     bool
			Cost       float64
			PricesFrom string `json:"prices_from"`
			PriceFrom  string `json:"price_from"`
		}
		costs, models := asked[[]priced](t, db, append([]string{"costs"}, args...)...), asked[[]priced](t, db, append([]string{"models"}, args...)...)
		if len(costs) != 1 || costs[0].PricesFrom != from || costs[0].Priced != (from != "") || costs[0].Priced && costs[0].Cost == 0 {
			t.Errorf("costs %v: got %+v, want prices from %q", args, costs, from)
		}
		if len(models) == 0 || models[0].PriceFrom != from || models[0].Priced != (from != "") {
			t.Errorf("models %v: got %+v, want a price from %q", args, models, from)
		}
	}
	none := filepath.Join(dir, "none.yaml")
	if err := os.WriteFile(none, []byte("model:\n  provider: offline\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	say(none)
	shows("")
	shows("config", "--config", own)
	say(own)
	shows("daemon")
	shows("config", "--config", own)
}
