// Package gateway holds one shard's connection to Discord's gateway.
package gateway

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/gorilla/websocket"

	"github.com/earshot-ai/earshot/secret"
)

// A State is where a session continues. It is stored with the events, as JSON.
type State struct {
	Session  string `json:"session"`
	Sequence int64  `json:"sequence"` // the last that was handled
	URL      string `json:"url"`      // resume_gateway_url
}

// A Dispatch is one event.
type Dispatch struct {
	Type  string          // such as MESSAGE_CREATE
	Data  json.RawMessage // d
	Shard int
	State State // where the session continues once this event is handled
	// Delivery names the event: session and sequence.
	Delivery string
}

// Options configure a [Shard].
type Options struct {
	URL     func(ctx context.Context) (string, error) // of the gateway, such as GET /gateway/bot has it
	Token   secret.Secret
	Intents int64
	// Content is the bit of Intents that is left out once Discord has refused it
	// (4014); Refused is then called.
	Content int64
	Refused func()
	ID, Of  int // the shard, and how many there are
	Resume  State
	// Handle is called for each event, one after another. After an error it is
	// called with the same event again, after a while.
	Handle func(ctx context.Context, d Dispatch) error
	// Missed is called with the time for which events are lost: the session could
	// not be resumed. It must not block.
	Missed func(from, to time.Time)
	// Identify returns when the shard may identify: there are 1,000 a day.
	Identify func(ctx context.Context) error
	Dialer   *websocket.Dialer
	Now      func() time.Time
	Jitter   func(most time.Duration) time.Duration
	Log      *slog.Logger
}

// A Shard is one shard's connection.
type Shard struct{ o Options }

// New returns a shard that is not connected.
func New(o Options) *Shard { return &Shard{o: o} }

// Run connects and stays connected, until ctx ends or going on is useless (a
// [CloseError]). It returns after its goroutines have ended.
func (s *Shard) Run(ctx context.Context) error { return ctx.Err() }
