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
	return p.take(ctx, &delivery{Dispatch: gateway.Dispatch{Type: kind, Data: data, Delivery: "s-1", State: gateway.State{Session: "s", Sequence: 1}}, of: 1, handle: handle})
}

// ErrPanic is what Take returns where the handling of an event panicked.
var ErrPanic = rescue.ErrPanic

// A Recent is a bounded map.
type Recent struct{ m recent[int, int] }

// NewRecent returns one of generations of so many.
func NewRecent(most int) *Recent { return &Recent{recent[int, int]{most: most}} }

func (r *Recent) Get(k int) (int, bool) { return r.m.get(k) }
func (r *Recent) Put(k, v int)          { r.m.put(k, v) }
func (r *Recent) Drop(k int)            { r.m.drop(k) }
func (r *Recent) Len() int              { return len(r.m.young) + len(r.m.old) }

// ReadRoot reads the first message of a thread; none where it was started from no
// message.
func (p *Platform) ReadRoot(ctx context.Context, c earshot.Channel, root earshot.MessageID) (list []backfill.Found, err error) {
	at, err := p.threadOf(ctx, c, root)
	if err != nil || at.rootless() {
		return nil, err
	}
	found, ok, err := p.root(ctx, c, at)
	if err != nil || !ok {
		return nil, err
	}
	return []backfill.Found{found}, nil
}
