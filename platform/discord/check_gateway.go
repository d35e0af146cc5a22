package discord

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
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
	messages *check.HeardMessages
	running  sync.WaitGroup
	ready    chan struct{} // closed when a session has begun
	ended    chan error    // holds why Run has returned
	open     func()        // closes ready
	refused  atomic.Bool   // the intent MESSAGE_CONTENT
}

// listen connects as serve does, and tells whether that works.
func (c *checking) listen(ctx context.Context) *hearing {
	h := &hearing{messages: check.NewHeardMessages(), ready: make(chan struct{}), ended: make(chan error, 1)}
	h.open = sync.OnceFunc(func() { close(h.ready) })
	id, of := 0, max(c.o.Shards, 1)
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
		URL: c.gatewayURL(""), Token: c.o.Token, Intents: checkIntents, Content: checkContent, Refused: func() { h.refused.Store(true) },
		ID: id, Of: of, Handle: h.hear, Dialer: c.o.Dialer, Now: c.o.Now, Jitter: c.o.Jitter, Log: c.o.Log,
	})
	h.running.Go(func() { h.ended <- s.Run(ctx) })
	late := time.NewTimer(c.request.Patience)
	defer late.Stop()
	const costs, remedy = "nothing is heard", "see that the network lets connections to gateway.discord.gg out"
	select {
	case <-h.ready:
		c.Good("gateway", "a session can be opened")
		if h.refused.Load() {
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

// hear notes the messages that came as events.
func (h *hearing) hear(_ context.Context, d shard.Dispatch) error {
	switch d.Type {
	case "READY":
		h.open()
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
	select {
	case <-h.ready:
		return true
	default:
		return false
	}
}
