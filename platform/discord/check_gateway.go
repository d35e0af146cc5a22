package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/earshot-ai/earshot/platform/check"
	shard "github.com/earshot-ai/earshot/platform/discord/internal/gateway"
)

// What a check asks the gateway for (Gateway, Intents): servers, messages in them and
// to the bot, and what they say.
const (
	checkContent = 1 << 15
	checkIntents = 1<<0 | 1<<9 | 1<<12 | checkContent
)

// A hearing is a check's connection to the gateway.
type hearing struct {
	messages *check.Heard
	running  sync.WaitGroup
	ready    chan struct{} // closed when a session has begun
	ended    chan error    // holds why Run has returned

	mu      sync.Mutex // guards what follows
	refused bool       // the intent MESSAGE_CONTENT
	open    bool       // ready is closed
}

// listen connects as serve does, and tells whether that works.
func (c *checking) listen(ctx context.Context) *hearing {
	h := &hearing{messages: check.NewHeard(), ready: make(chan struct{}), ended: make(chan error, 1)}
	id, of := 0, max(c.o.Shards, 1)
	address := func(ctx context.Context) (string, error) {
		if c.o.GatewayURL != "" {
			return c.o.GatewayURL, nil
		}
		g, err := c.client.Gateway(ctx)
		return g.URL, err
	}
	if g, err := c.client.Gateway(ctx); err == nil {
		of = max(of, g.Shards)
	}
	if len(c.request.Channels) > 0 && of > 1 {
		if x, err := c.directory.place(ctx, c.request.Channels[0]); err == nil {
			n, _ := strconv.ParseUint(x.Guild, 10, 64)
			id = int(n >> 22 % uint64(of)) // Gateway, Sharding
		}
	}
	s := shard.New(shard.Options{
		URL: address, Token: c.o.Token, Intents: checkIntents, Content: checkContent, Refused: h.refuse,
		ID: id, Of: of, Handle: h.hear, Dialer: c.o.Dialer, Now: c.o.Now, Jitter: c.o.Jitter, Log: c.o.Log,
	})
	h.running.Go(func() { h.ended <- s.Run(ctx) })
	late := time.NewTimer(c.request.Patience)
	defer late.Stop()
	const costs, remedy = "nothing is heard", "see that the network lets connections to gateway.discord.gg out"
	select {
	case <-h.ready:
		c.Good("gateway", "a session can be opened")
		if h.isRefused() {
			c.Say("intent MESSAGE_CONTENT", check.Poor, "the gateway refuses it", contentCosts, contentRemedy)
		} else {
			c.Good("intent MESSAGE_CONTENT", "the gateway grants it")
		}
	case err := <-h.ended:
		h.ended <- err
		c.Say("gateway", check.Bad, fmt.Sprint(err), costs, "")
	case <-late.C:
		c.Say("gateway", check.Bad, fmt.Sprintf("no session has begun within %s", c.request.Patience), costs, remedy)
	case <-ctx.Done():
	}
	return h
}

// wait waits for the connection's end.
func (h *hearing) wait() { h.running.Wait() }

func (h *hearing) refuse() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refused = true
}

func (h *hearing) isRefused() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.refused
}

// hear notes the messages that came as events.
func (h *hearing) hear(_ context.Context, d shard.Dispatch) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch d.Type {
	case "READY":
		if !h.open {
			h.open = true
			close(h.ready)
		}
	case "MESSAGE_CREATE":
		var m struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(d.Data, &m) == nil {
			h.messages.Note(m.ID)
		}
	}
	return nil
}

// up reports whether a session has begun.
func (h *hearing) up() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.open
}
