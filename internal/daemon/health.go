package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/metrics"
)

// healthHandler serves probes and metrics, for an address of their own.
func healthHandler(s sharedParts, p platform) http.Handler {
	mux := http.NewServeMux()
	probes{store: s.store, disk: s.disk, connection: p.connection, log: s.options.Log}.addTo(mux)
	mux.Handle("GET /metrics", s.meters.Handler(s.sources(p), s.options.Log))
	return mux
}

// sources are what the metrics are read from.
func (s sharedParts) sources(p platform) metrics.Sources {
	return metrics.Sources{
		Depth: s.store.Depth, Oldest: s.oldestTurn, Now: func() earshot.Time { return earshot.TimeOf(s.options.Outside.clock()) },
		Limits: s.limitShares, Calls: p.calls, Up: func() bool { return p.connection().up() }, SignedOut: func() bool { return p.connection().signedOut != "" }, Indexed: s.search.Bytes, Unread: p.unread,
	}
}

// oldestTurn returns the turn that was opened first of those in some states.
func (s sharedParts) oldestTurn(ctx context.Context, states ...earshot.TurnState) (earshot.QueuedTurn, bool, error) {
	list, err := s.store.QueuedTurns(ctx, earshot.TurnQuery{States: states, Oldest: true, Limit: 1})
	if err != nil || len(list) == 0 {
		return earshot.QueuedTurn{}, false, err
	}
	return list[0], true, nil
}

// probes answer what an orchestrator asks about the process.
type probes struct {
	store      earshot.Store
	disk       *storeWatch
	connection func() connection
	log        *slog.Logger
}

// addTo adds the two probes. /healthz answers 200 while the store answers: the
// process can do its work. /readyz answers 200 when it can also answer people:
// the store can be written to, the bot's identity is known and the platform is within
// reach. A full disk is not mended by a restart, so it is no matter of /healthz.
func (p probes) addTo(mux *http.ServeMux) {
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		c, healthy, _ := p.check(r.Context())
		c.write(w, r, healthy)
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		c, healthy, ready := p.check(r.Context())
		c.write(w, r, healthy && ready)
	})
}

// check asks the store and looks at the connection to the platform.
func (p probes) check(ctx context.Context) (c condition, healthy, ready bool) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	c.Store = "ok"
	// A look-up by key: it costs the same however much is stored.
	if _, err := p.store.Notes(ctx, "health", 1); err != nil {
		p.log.Error("health", "err", err)
		c.Store = p.disk.name + " does not answer"
		return p.linked(c), false, false
	}
	since, down := p.disk.down()
	if down {
		c.Store = fmt.Sprintf("%s cannot be written to since %s, so events are refused; the log says why", p.disk.name, since.UTC().Format(time.RFC3339))
	}
	return p.linked(c), true, !down && p.connection().up()
}

// linked returns a condition with that of the connection.
func (p probes) linked(c condition) condition {
	link := p.connection()
	if c.Platform = link.platform; link.platform != "" {
		c.State, c.Lacks, c.Reason = link.state(), link.lacks, link.signedOut
		if link.down || link.signedOut != "" {
			since := link.since.UTC()
			c.Since = &since
		}
	}
	return c
}

// A condition is the body of a probe's answer.
type condition struct {
	Store    string     `json:"store"`
	Platform string     `json:"platform,omitempty"`
	State    string     `json:"state,omitempty"`  // reachable, unreachable, signed out: the token is refused, or unknown: the bot's identity is not known
	Since    *time.Time `json:"since,omitempty"`  // when the platform became unreachable, or refused the token
	Reason   string     `json:"reason,omitempty"` // signed out: why, and what to do
	Lacks    string     `json:"lacks,omitempty"`  // what the platform withholds from the bot, in words
}

// text returns the condition as lines.
func (c condition) text() string {
	s := c.Store + "\n"
	if c.Platform != "" {
		s += c.Platform + ": " + c.State
		if c.Since != nil {
			s += " since " + c.Since.Format(time.RFC3339)
		}
		if c.Reason != "" {
			s += ", " + c.Reason
		}
		if c.Lacks != "" {
			s += ", " + c.Lacks
		}
		s += "\n"
	}
	return s
}

// write answers with the condition, as JSON where the request accepts it.
func (c condition) write(w http.ResponseWriter, r *http.Request, good bool) {
	status := http.StatusOK
	if !good {
		status = http.StatusServiceUnavailable
	}
	w.Header().Set("Cache-Control", "no-store")
	// Errors of writing are ignored: the client has gone.
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
