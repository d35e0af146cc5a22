package daemon_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
)

func TestADaemonDescribesItselfInItsStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := config.Default()
		c.Store = "memory:"
		d, err := daemon.Open(t.Context(), daemon.Options{Config: c, Policy: assemble.Standard(), Version: "1.2"})
		if err != nil {
			t.Fatal(err)
		}
		only := func() (daemon.Presence, earshot.Time) {
			t.Helper()
			list, err := daemon.Presences(t.Context(), d.Store)
			if err != nil || len(list) != 1 {
				t.Fatalf("got %+v, %v, want one daemon", list, err)
			}
			return list[0], earshot.TimeOf(time.Now())
		}
		began := earshot.TimeOf(time.Now())
		ctx, stop := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- d.Run(ctx) }()
		time.Sleep(25 * time.Second)
		synctest.Wait()
		p, now := only()
		if p.Since != began || now-p.Seen != 5_000_000 || !p.Running(now) {
			t.Errorf("got %+v at %d, want it to run since %d, seen 5 s ago", p, now, began)
		}
		if p.Provider != "offline" || p.Model != "offline" || p.Platform != "local" || p.Policy != "standard" || p.Version != "1.2" {
			t.Errorf("got %+v", p)
		}
		if later := p.Seen + 31_000_000; p.Running(later) {
			t.Error("it is taken to run 31 s after it was seen")
		}
		stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		if p, now := only(); p.Running(now) || !p.Ended {
			t.Errorf("got %+v, want it ended", p)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A daemon died while its clock was a year ahead. It must not be listed as running
// for a year, nor before the daemons that run.
func TestADaemonWhoseClockWasAheadIsNotListedAsRunning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := earshot.TimeOf(time.Now())
		dead := daemon.Presence{Owner: "dead", Seen: now + earshot.Time(365*24*time.Hour/time.Microsecond)}
		if dead.Running(now) {
			t.Error("it is taken to run")
		}
		if near := (daemon.Presence{Seen: now + earshot.Time(time.Minute/time.Microsecond)}); !near.Running(now) {
			t.Error("a replica whose clock is a minute ahead is not taken to run")
		}
		c := config.Default()
		c.Store = "memory:"
		d, err := daemon.Open(t.Context(), daemon.Options{Config: c, Policy: assemble.Standard()})
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(dead)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Store.PutNote(t.Context(), earshot.Note{Key: "daemon/dead", Data: data}); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ran := make(chan error, 1)
		go func() { ran <- d.Run(ctx) }()
		synctest.Wait()
		list, err := daemon.Presences(t.Context(), d.Store)
		if err != nil || len(list) != 1 || list[0].Owner == dead.Owner {
			t.Errorf("got %+v, %v, want the daemon that runs alone", list, err)
		}
		stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
}
