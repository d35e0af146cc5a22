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
	timer *time.Timer

	mu    sync.Mutex   // guards what follows
	draft *draftWriter // nil: nobody sees it
	over  bool
}

const (
	progressAfter = time.Duration(draftEvery) * time.Microsecond
	maxProgress   = 80 // graphemes of a tool's own words
)

// newProgress begins to show a group of calls.
func (x *modelExchange) newProgress(ctx context.Context, list []ownCall) *progress {
	p := &progress{x: x, draft: x.outbox.newDraft(ctx, x.placeholder, x.links)}
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

// pause shows nothing until goOn is called, while a person is asked something.
func (p *progress) pause() {
	p.mu.Lock()
	d := p.draft
	p.draft = nil
	p.mu.Unlock()
	if d != nil {
		d.stop()
	}
}

// goOn shows again what tools do.
func (p *progress) goOn(ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.over {
		p.draft = p.x.outbox.newDraft(ctx, p.x.placeholder, p.x.links)
	}
}

// stop ends it. Nothing is shown afterwards.
func (p *progress) stop() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	p.timer.Stop()
	p.pause()
}
