package discord

import (
	"context"
	"encoding/json"

	"github.com/earshot-ai/earshot/platform/discord/internal/gateway"
)

// Take handles an event as if the gateway had brought it.
func (p *Platform) Take(ctx context.Context, kind string, data json.RawMessage, handle Handler) error {
	return p.take(ctx, &delivery{Dispatch: gateway.Dispatch{Type: kind, Data: data, Delivery: "s-1", State: gateway.State{Session: "s", Sequence: 1}}, of: 1, handle: handle})
}

// ErrPanic is what Take returns where the handling of an event panicked.
var ErrPanic = errPanic
