package discord

import (
	"context"
	"encoding/json"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/platform/discord/internal/gateway"
	"github.com/earshot-ai/earshot/platform/internal/rescue"
)

// Take handles an event as if the gateway had brought it.
func (p *Platform) Take(ctx context.Context, kind string, data json.RawMessage, handle Handler) error {
	return p.take(ctx, &delivery{Dispatch: gateway.Dispatch{Type: kind, Data: data, Delivery: "s-1", State: gateway.State{Session: "s", Sequence: 1}, Received: p.o.Now()}, of: 1, handle: handle})
}

// ErrPanic is what Take returns where the handling of an event panicked.
var ErrPanic = rescue.ErrPanic

// ReadRoot reads the first message of a thread; none where it was started from no
// message.
func (p *Platform) ReadRoot(ctx context.Context, c earshot.Channel, root earshot.MessageID) (list []backfill.HistoryMessage, err error) {
	at, err := p.threadOf(ctx, c, root)
	if err != nil || at.rootless() {
		return nil, err
	}
	found, ok, err := p.root(ctx, c, at)
	if err != nil || !ok {
		return nil, err
	}
	return []backfill.HistoryMessage{found}, nil
}
