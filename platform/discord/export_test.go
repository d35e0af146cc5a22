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

// A Recent is a bounded map.
type Recent struct{ m recent[int, int] }

// NewRecent returns one of generations of so many.
func NewRecent(most int) *Recent { return &Recent{recent[int, int]{most: most}} }

func (r *Recent) Get(k int) (int, bool) { return r.m.get(k) }
func (r *Recent) Put(k, v int)          { r.m.put(k, v) }
func (r *Recent) Drop(k int)            { r.m.drop(k) }
func (r *Recent) Len() int              { return len(r.m.young) + len(r.m.old) }
