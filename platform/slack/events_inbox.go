package slack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

// A gate says whether deliveries can be taken. The zero value is closed.
type gate struct {
	mu     sync.RWMutex // guards opened; held while a delivery is kept
	opened bool
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.opened = true
}

// keptKey begins the keys of deliveries that came before it was known who the
// bot is; the app's id, the moment and a hash of the delivery follow.
const keptKey = "slack/inbox/"

// keep stores a delivery as it came while the gate is closed, and reports
// whether it did. What [Admit] lists afterwards has it.
func (p *Platform) keep(ctx context.Context, c slackmsg.Callback, raw []byte) (bool, error) {
	p.gate.mu.RLock()
	defer p.gate.mu.RUnlock()
	if p.gate.opened {
		return false, nil
	}
	sum := sha256.Sum256(raw)
	app := c.App
	if app == "" {
		app = "-"
	}
	key := fmt.Sprintf("%s%s/%016x/%s", keptKey, app, p.o.Now().UnixMicro(), hex.EncodeToString(sum[:8]))
	if err := p.o.Store.PutNote(ctx, earshot.Note{Key: key, Data: withoutToken(raw, c.Token)}); err != nil {
		return true, fmt.Errorf("keep a delivery: %w", err)
	}
	p.heard.count("kept_for_later", true, p.o.Now())
	return true, nil
}

// admitAgain is after what time kept deliveries are tried again that the store
// did not take.
const admitAgain = 5 * time.Second

// Admit lets deliveries in: those that come from now on, and those that were
// kept, in the order in which they came. It returns when none is left, or with
// ctx's error. Before it [Platform.Enter] or [Platform.Recall] must have said
// who the bot is.
func (p *Platform) Admit(ctx context.Context, handle Handler) error {
	p.gate.open()
	prefixes := []string{keptKey}
	if p.app != "" {
		prefixes = []string{keptKey + p.app + "/", keptKey + "-/"}
	}
	for _, prefix := range prefixes {
		for {
			n, err := p.admit(ctx, prefix, handle)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				p.o.Log.Error("a kept event was not taken; it is tried again", "again", admitAgain, "err", err)
				if err := sleep(ctx, admitAgain); err != nil {
					return err
				}
			} else if n == 0 {
				break
			}
		}
	}
	return nil
}

// admit takes the next of the kept deliveries and drops them. It returns how
// many there were.
func (p *Platform) admit(ctx context.Context, prefix string, handle Handler) (int, error) {
	list, err := p.o.Store.Notes(ctx, prefix, 100)
	if err != nil {
		return 0, err
	}
	for _, n := range list {
		c, err := slackmsg.ReadCallback(n.Data)
		if err != nil {
			p.o.Log.Error("a kept delivery cannot be read", "err", err)
		} else if err := p.use(ctx, c, n.Data, handle); err != nil && !errors.Is(err, errPanic) {
			return 0, err
		}
		if err := p.o.Store.DropNote(ctx, n.Key); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}
