package slack

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pause"
	"github.com/earshot-ai/earshot/platform/internal/rescue"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

// A deliveryGate says whether deliveries are handled at once or stored for later. The
// zero gate stores them.
type deliveryGate struct {
	mu     sync.RWMutex // guards opened; held while a delivery is stored
	opened bool
}

func (g *deliveryGate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opened = true
}

func (g *deliveryGate) isOpen() bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.opened
}

// inboxKey begins the keys of the notes in which deliveries are stored that came
// before it was known who the bot is; the app's id, or Options.Workspace, the moment
// and a hash of the delivery follow.
const inboxKey = "slack/inbox/"

// storeEarly stores a delivery as it came, until [Platform.Admit] opens the gate,
// and reports whether it did. Admit lists what was stored only after that.
func (p *Platform) storeEarly(ctx context.Context, c slackmsg.Callback, raw []byte) (bool, error) {
	p.gate.mu.RLock()
	defer p.gate.mu.RUnlock()
	if p.gate.opened {
		return false, nil
	}
	sum := sha256.Sum256(raw)
	app := cmp.Or(string(p.o.Workspace), c.App, "-")
	key := fmt.Sprintf("%s%s/%016x/%s", inboxKey, app, p.o.Now().UnixMicro(), hex.EncodeToString(sum[:8]))
	if err := p.o.Store.PutNote(ctx, earshot.Note{Key: key, Data: withoutToken(raw, c.Token)}); err != nil {
		return true, fmt.Errorf("keep a delivery: %w", err)
	}
	return true, nil
}

// admitRetry is after what time stored deliveries are tried again after an error of
// the store.
const admitRetry = 5 * time.Second

// Admit handles deliveries: those that come from now on at once, and those that were
// stored, in the order in which they came. It returns when none of these is left,
// or with ctx's error. Call it after [Platform.Enter] or [Platform.Recall] has
// found out who the bot is.
func (p *Platform) Admit(ctx context.Context, handle Handler) error {
	p.gate.open()
	prefixes := []string{inboxKey}
	switch {
	case p.o.Workspace != "": // of its own, beside those of other workspaces of the app
		prefixes = []string{inboxKey + string(p.o.Workspace) + "/"}
	case p.app != "":
		prefixes = []string{inboxKey + p.app + "/", inboxKey + "-/"}
	}
	for _, prefix := range prefixes {
		for {
			n, err := p.admit(ctx, prefix, handle)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				p.o.Log.Error("a kept event was not taken; it is tried again", "again", admitRetry, "err", err)
				if err := pause.For(ctx, admitRetry); err != nil {
					return err
				}
			} else if n == 0 {
				break
			}
		}
	}
	return nil
}

// admit handles up to 100 stored deliveries and removes them. It returns how many
// there were.
func (p *Platform) admit(ctx context.Context, prefix string, handle Handler) (int, error) {
	list, err := p.o.Store.Notes(ctx, prefix, 100)
	if err != nil {
		return 0, err
	}
	for _, n := range list {
		c, err := slackmsg.ReadCallback(n.Data)
		if err != nil {
			p.o.Log.Error("a kept delivery cannot be read", "err", err)
		} else if err := p.use(ctx, c, n.Data, handle); err != nil && !errors.Is(err, rescue.ErrPanic) {
			return 0, err
		}
		if err := p.o.Store.DropNote(ctx, n.Key); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}
