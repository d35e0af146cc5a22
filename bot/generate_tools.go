package bot

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot/internal/attach"
	"github.com/earshot-ai/earshot/bot/internal/slots"
	"github.com/earshot-ai/earshot/bot/internal/toolresult"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools"
)

// maxCalls is how many calls of one response are run; further ones are refused.
const maxCalls = 16

// newTools returns the tools of the turn's channel, up to the question; nil when
// there are none, as for a question that is answered without context.
func (x *modelExchange) newTools() *tools.Set {
	if x.opts.NoTools || x.opts.Agent != nil || x.isIsolated() {
		return nil
	}
	p := x.prompt
	o := &tools.Options{
		Identity: x.identity, Known: p.input.Messages, Names: slices.Concat(p.input.Conversation.Names, p.result.Next.Names),
		Zone: cmp.Or(p.input.AskerZone, p.input.Zone), MaxBytes: x.limits.Result, Turns: x.store, Conversation: x.lease.Conversation,
		Given: func(f earshot.File) bool { return p.files.Has(f.ID, f.SHA256) },
	}
	if !x.opts.Trust.IsFull() {
		o.Lanes = gather.Lanes{Store: x.store, Scope: x.scope(), Trust: x.opts.Trust, AllowList: x.opts.AllowList, Identity: x.identity, Asker: x.place.Asker().ID}.Of
		o.Known = p.trusted()
	}
	if f, ok := x.platform.(tools.Fetcher); ok {
		o.Fetcher = waitingFetcher{f, x.slot}
	}
	if _, ok := attach.FilesSection(x.opts.Policy); ok && x.opts.Files != nil {
		o.Media = p.files.Open
	}
	return tools.ForChannel(x.scope(), x.store, x.index, x.place.Anchor.Position(), o)
}

// trusted returns the messages of the input but those of which the prompt has no word.
func (p *prompt) trusted() []earshot.Message {
	withheld := map[earshot.MessageID]bool{}
	for _, row := range p.result.Ledger {
		withheld[row.ID] = row.Reason == assemble.Untrusted
	}
	return slices.DeleteFunc(slices.Clone(p.input.Messages), func(m earshot.Message) bool { return withheld[m.ID] })
}

// runTools runs the calls of the last response that have no result yet, and journals the
// results. hard outlives a stop of the bot: what acts is not cut off.
func (x *modelExchange) runTools(ctx, hard context.Context, calls []llm.Call) error {
	if err := x.runOwnCalls(ctx, hard, calls); err != nil || x.last == nil {
		return err
	}
	var results, stored []toolResult
	var shows []earshot.MessageID
	for i, c := range calls {
		if x.hasResult(c) {
			continue
		}
		r, err := x.runTool(ctx, c, i)
		if err != nil {
			return err
		}
		shows = append(shows, r.Shows...)
		results = append(results, r)
		r.Parts = llm.Bare(r.Parts)
		stored = append(stored, r)
	}
	x.fault(faultAfterTools)
	if err := x.journal.addJSON(ctx, stepResults, stored, shows...); err != nil {
		return err
	}
	x.addResults(results)
	return nil
}

// runTool runs the nth call of a response.
func (x *modelExchange) runTool(ctx context.Context, c llm.Call, n int) (_ toolResult, err error) {
	ctx, end := x.traceTool(ctx, c)
	defer end(&err)
	a := tools.Answer{JSON: `{"error":"too many calls at once"}`, Failed: true}
	own, is := x.ownTool(c)
	if found, failed, ok := x.prompt.offer.finderAnswer(c); ok {
		own, is = tools.Answer{JSON: toolresult.JSON(found), Failed: failed}, true
	}
	switch {
	case x.tools == nil:
		a.JSON = `{"error":"there is no such tool"}`
	case is:
		a = own
	case n < maxCalls:
		var err error
		if a, err = x.tools.Call(ctx, c.Name, c.Args); err != nil {
			return toolResult{}, err
		}
		if err := x.slot.Take(ctx); err != nil {
			return toolResult{}, err
		}
	}
	r := toolResult{Result: llm.Result{Call: c.ID, Name: c.Name, Parts: []llm.Part{llm.Text(a.JSON)}, Failed: a.Failed}}
	for _, m := range a.Shows {
		r.Shows = append(r.Shows, m.ID)
	}
	for _, m := range a.Media {
		r.Shows = append(r.Shows, x.prompt.files.SharedBy(m.ID))
		part, record := x.prompt.files.AddOpened(m)
		r.Parts = append(r.Parts, part)
		if record != nil {
			r.Files = append(r.Files, *record)
		}
	}
	return r, nil
}

// A waitingFetcher gives the turn's slot back while a tool waits for history. The
// turn takes one again when the tool has returned.
type waitingFetcher struct {
	tools.Fetcher
	slot *slots.Slot
}

// FetchThread implements [tools.Fetcher].
func (f waitingFetcher) FetchThread(ctx context.Context, s earshot.Scope, root earshot.MessageID, upTo earshot.Position) error {
	f.slot.Give()
	return f.Fetcher.FetchThread(ctx, s, root, upTo)
}

// FetchSince implements [tools.Fetcher].
func (f waitingFetcher) FetchSince(ctx context.Context, s earshot.Scope, since earshot.Time, upTo earshot.Position) error {
	f.slot.Give()
	return f.Fetcher.FetchSince(ctx, s, since, upTo)
}

// ThreadsIn implements [tools.Pacer].
func (f waitingFetcher) ThreadsIn(s earshot.Scope) time.Duration {
	if p, ok := f.Fetcher.(tools.Pacer); ok {
		return p.ThreadsIn(s)
	}
	return 0
}

// idsIn returns every message id in a tool's JSON, whichever tool it is of.
func idsIn(result string) []earshot.MessageID {
	var ids []earshot.MessageID
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if id, ok := v[name].(string); ok && id != "" && (name == "id" || name == "message_id") {
					ids = append(ids, earshot.MessageID(id))
				}
				walk(v[name])
			}
		}
	}
	var v any
	if json.Unmarshal([]byte(result), &v) == nil {
		walk(v)
	}
	return ids
}
