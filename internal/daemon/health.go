package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

// A reach is how the platform is. The zero value is one that nothing is known
// of yet.
type reach struct {
	platform string    // "" for one that cannot be out of reach
	known    bool      // who the bot is
	down     bool      // it does not answer
	since    time.Time // if so, since when
}

// state says in a word how the platform is.
func (r reach) state() string {
	switch {
	case r.down:
		return "unreachable"
	case !r.known:
		return "unknown"
	}
	return "reachable"
}

// A condition is what probes are told, as JSON too.
type condition struct {
	Store    string     `json:"store"`
	Platform string     `json:"platform,omitempty"`
	State    string     `json:"state,omitempty"` // reachable, unreachable, or unknown: who the bot is
	Since    *time.Time `json:"since,omitempty"` // when it became unreachable
}

// text is a condition in lines.
func (c condition) text() string {
	s := c.Store + "\n"
	if c.Platform != "" {
		s += c.Platform + ": " + c.State
		if c.Since != nil {
			s += " since " + c.Since.Format(time.RFC3339)
		}
		s += "\n"
	}
	return s
}

// probes adds the two probes. Healthz is whether the process can do its work:
// 200 while the store answers. Readyz is whether it can answer people: it is
// known who the bot is, too, and the platform is within reach.
func (d *Daemon) probes(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		c, healthy, _ := d.condition(r.Context())
		c.write(w, r, healthy)
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		c, healthy, ready := d.condition(r.Context())
		c.write(w, r, healthy && ready)
	})
}

// condition looks how things are.
func (d *Daemon) condition(ctx context.Context) (c condition, healthy, ready bool) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	c.Store = "ok"
	// A look-up by key: it costs the same whatever is stored.
	if _, err := d.Store.Notes(ctx, "health", 1); err != nil {
		d.log.Error("health", "err", err)
		c.Store = "the store does not answer"
	}
	r := d.reach()
	if c.Platform = r.platform; r.platform != "" {
		c.State = r.state()
		if r.down {
			since := r.since.UTC()
			c.Since = &since
		}
	}
	return c, c.Store == "ok", r.known && !r.down
}

// write answers with the condition, as JSON to who asks for it.
func (c condition) write(w http.ResponseWriter, r *http.Request, good bool) {
	status := http.StatusOK
	if !good {
		status = http.StatusServiceUnavailable
	}
	w.Header().Set("Cache-Control", "no-store")
	// An error of writing is the caller's, who is gone.
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(c)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = fmt.Fprint(w, c.text())
}

// openHealth serves probes and metrics at an address of their own.
func (d *Daemon) openHealth(ctx context.Context, o Options) (err error) {
	if o.Config.Health.Listen == "" {
		return nil
	}
	mux := http.NewServeMux()
	d.probes(mux)
	mux.Handle("GET /metrics", d.meters.Handler(d.log))
	d.Health, err = d.front(ctx, o.Config.Health.Listen, mux)
	return err
}

// depth asks the store how many turns are in these states.
func (d *Daemon) depth(ctx context.Context, states ...earshot.TurnState) (map[earshot.TurnState]int, error) {
	return d.Store.Depth(ctx, states...)
}

// called returns what was asked of the platform's API since the start.
func (d *Daemon) called() []earshot.CallCount {
	if d.calls == nil {
		return nil
	}
	return d.calls()
}

// acknowledging measures how long events take until they are durable.
func (d *Daemon) acknowledging(handle func(context.Context, bot.Event) (bot.Outcome, error)) func(context.Context, bot.Event) (bot.Outcome, error) {
	return func(ctx context.Context, e bot.Event) (bot.Outcome, error) {
		began := time.Now()
		out, err := handle(ctx, e)
		if err == nil {
			d.meters.Acknowledged(time.Since(began))
		}
		return out, err
	}
}
