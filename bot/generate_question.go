package bot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pause"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// A tool of one's own may ask who is answered while it runs, as MCP servers do by elicitation.
// It is a question as of the tool ask, of which the turn keeps its lease, because the call is
// under way here. Where the process ends, so does the call; one that may be repeated asks the
// same question again, and has the answer that was given meanwhile.

// isOfTool reports whether an approval is a question of a tool.
func isOfTool(a earshot.Approval) bool {
	q, _ := readQuestion(a.Args)
	return a.Tool == AskTool && q.Tool != ""
}

// A toolAsker asks for one call.
type toolAsker struct {
	c          *ownCall
	soft, hard context.Context //nolint:containedctx // of the turn: a tool asks with its own
	limit      *pause.Timeout  // of the call

	free  chan struct{}  // holds its value while the call asks nothing, and guards what follows
	asked map[string]int // how often, by what is asked
	count int
	cut   bool // the process stops, and the next one makes the call again
}

func (c *ownCall) newAsker(soft, hard context.Context, limit *pause.Timeout) *toolAsker {
	k := &toolAsker{c: c, soft: soft, hard: hard, limit: limit, free: make(chan struct{}, 1), asked: map[string]int{}}
	k.free <- struct{}{}
	return k
}

// end waits until nothing is asked any more; the call has returned, or was left alone.
func (k *toolAsker) end() { <-k.free }

// ask is [toolbox.Call].Ask. call ends with the call.
func (k *toolAsker) ask(call, within context.Context, q toolbox.Question) (string, error) {
	x := k.c.x
	select {
	case <-k.free:
		defer func() { k.free <- struct{}{} }()
	case <-call.Done():
		return "", toolbox.ErrNoAnswer
	}
	if call.Err() != nil || x.opts.DryRun || x.ambient || k.count == toolbox.MaxQuestions {
		return "", toolbox.ErrNoAnswer
	}
	k.count++
	within, stop := eitherEnds(within, call)
	defer stop()
	within, stopSoft := eitherEnds(within, k.soft) // nobody is waited for by a turn that is stopped
	defer stopSoft()
	defer x.limit.Hold()()
	defer k.limit.Hold()()
	select { // the calls beside this one ask after it
	case x.asking <- struct{}{}:
		defer func() { <-x.asking }()
	case <-within.Done():
		return "", toolbox.ErrNoAnswer
	}
	k.c.progress.pause()
	defer k.c.progress.goOn(call)
	a, err := k.open(within, q)
	if err == nil {
		a, err = k.answered(within, a)
	}
	if err != nil {
		x.log.Warn("a tool's question has no answer", "tool", k.c.tool.Name, "err", err)
		return "", toolbox.ErrNoAnswer
	}
	if a.State != earshot.ApprovalAgreed {
		return "", toolbox.ErrNoAnswer
	}
	return a.Why, nil
}

// open asks the question, unless that was done before a restart.
func (k *toolAsker) open(ctx context.Context, q toolbox.Question) (earshot.Approval, error) {
	args, err := json.Marshal(personQuestion{Question: q.Text, Options: q.Options, Tool: k.c.tool.Name})
	if err != nil {
		return earshot.Approval{}, err
	}
	if _, ok := readQuestion(args); !ok || len(args) > maxOwnArgs {
		return earshot.Approval{}, errors.New("it asks nothing, or too much")
	}
	sum := sha256.Sum256(args)
	key := hex.EncodeToString(sum[:8])
	k.asked[key]++
	x := k.c.x
	asked := k.c.of
	asked.ID += "/" + key + "/" + strconv.Itoa(k.asked[key])
	return x.askApproval(ctx, k.hard, asked, toolbox.Tool{Tool: askTool()}, string(args))
}

// answered waits until a question is decided. Where ctx ends before, the question is withdrawn,
// unless the next process asks it again.
func (k *toolAsker) answered(ctx context.Context, a earshot.Approval) (earshot.Approval, error) {
	x := k.c.x
	for a.State == earshot.ApprovalOpen {
		if pause.For(ctx, x.limits.Poll) == nil {
			if now, err := x.store.Approval(ctx, a.ID); err == nil { // else it is looked at again
				a = now
			}
			continue
		}
		cause := context.Cause(ctx)
		if k.cut = k.soft.Err() != nil && k.c.tool.MayRepeat(); k.cut {
			return a, cause
		}
		_, err := x.store.DecideApproval(k.hard, a.ID, earshot.Decision{State: earshot.ApprovalWithdrawn, Time: x.now()})
		if err != nil && !errors.Is(err, earshot.ErrConflict) {
			return a, fmt.Errorf("withdraw a question: %w", err)
		}
		return a, errors.Join(cause, x.showDecided(k.hard))
	}
	x.outbox.startWaiting(x.now())
	return a, x.showDecided(k.hard)
}
