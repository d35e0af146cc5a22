package bot

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// A progress shows what tools of one's own are doing, in the placeholder and in the
// platform's status line, once they have taken a second.
type progress struct {
	x     *modelExchange
	draft *draftWriter // nil: nobody sees it
	timer *time.Timer

	mu   sync.Mutex // guards what follows
	over bool
}

const (
	progressAfter = time.Duration(draftEvery) * time.Microsecond
	maxProgress   = 80 // graphemes of a tool's own words
)

// newProgress begins to show a group of calls.
func (x *modelExchange) newProgress(ctx context.Context, list []ownCall) *progress {
	p := &progress{x: x, draft: x.outbox.newDraft(ctx, x.placeholder, x.links)}
	if p.draft == nil {
		return p
	}
	p.timer = time.AfterFunc(progressAfter, func() { p.show(ctx, list[0].tool, "") })
	return p
}

// show shows that a tool is at work, with its own words, which nobody trusts.
func (p *progress) show(ctx context.Context, t toolbox.Tool, words string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.draft == nil || p.over {
		return
	}
	says := "using " + t.Name
	if t.Effect == toolbox.Reads {
		says = "looking into " + t.Name
	}
	if words, _ = assemble.CutGraphemes(strings.Join(strings.Fields(assemble.Clean(words)), " "), maxProgress); words != "" {
		says += ": " + words
	}
	if w, ok := p.x.platform.(StatusWriter); ok {
		w.Working(ctx, p.x.place, says)
	}
	p.draft.showPost(ctx, p.x.now(), says)
}

// stop ends it. Nothing is shown afterwards.
func (p *progress) stop() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	if p.draft != nil {
		p.timer.Stop()
		p.draft.stop()
	}
}
