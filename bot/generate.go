package bot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools"
)

// maxCalls is how many calls of one answer are run; the others are refused.
const maxCalls = 16

// generate asks the model until it answers without calling tools. What it was
// asked before a restart it is not asked again.
func (t *turn) generate(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, t.Limits.Generate, errTooLong)
	defer cancel()
	set := t.tools()
	o := &llm.Options{MaxTokens: t.MaxTokens}
	if set != nil {
		o.Tools = set.Tools()
	}
	if err := t.hand(ctx, o); err != nil {
		return t.interrupted(ctx, err)
	}
	request, err := llm.FromResult(t.result, o)
	if err != nil && llm.Held(t.result) > 0 && !t.anew {
		t.Log.Warn("the session cannot be sent: the epoch ends", append(about(t.lease.Conversation), "turn", t.queued.ID, "err", err)...)
		t.anew = true
		return errAnew
	}
	if err != nil {
		return &giveUp{"the request cannot be made: " + err.Error(), sayFailed}
	}
	t.links, t.read = t.known(), nil
	t.usage, t.text = earshot.Usage{}, ""
	k, err := t.replay(ctx, request)
	if err != nil {
		return t.interrupted(ctx, err)
	}
	for mute := 0; ; {
		if k.last != nil {
			calls := k.last.Calls()
			text := k.text()
			switch {
			case len(calls) == 0 || k.rounds >= t.Limits.Rounds:
				t.asked = k.request.Messages[min(llm.Held(t.result), len(k.request.Messages)):]
				return t.decide(ctx, k.last.Stop, text)
			default:
				if err := t.run(ctx, &k, set, calls); err != nil {
					return t.interrupted(ctx, err)
				}
			}
		}
		k.request.NoCalls = k.rounds >= t.Limits.Rounds
		if err := k.request.Check(); err != nil {
			return &giveUp{"the model's answer cannot be sent back: " + err.Error(), sayFailed}
		}
		a, err := t.ask(ctx, k.request)
		if err != nil {
			if err = t.without(ctx, &k.request, err); err != nil {
				return t.interrupted(ctx, err)
			}
			continue
		}
		t.Fault(faultAfterAnswer)
		if a.Text() == "" && len(a.Calls()) == 0 && a.Stop != llm.StopRefused && mute == 0 && strings.Join(k.said, "") == "" {
			mute++ // once more
			t.spend(a.Usage)
			continue
		}
		if len(a.Calls()) == 0 {
			err = t.journalLast(a)
		} else {
			err = t.journalJSON(ctx, stepAnswer, a)
		}
		if err != nil {
			return t.interrupted(ctx, err)
		}
		k.answered(a)
		t.spend(a.Usage)
	}
}

// text is what the model has to say: its last words, or where there are none
// what it said beside its calls.
func (k *talk) text() string {
	if s := strings.TrimSpace(k.last.Text()); s != "" {
		return s
	}
	return strings.TrimSpace(strings.Join(k.said, "\n\n"))
}

// decide makes the reply of the model's last words.
func (t *turn) decide(ctx context.Context, stop llm.Stop, text string) (err error) {
	switch {
	case text == "" && stop == llm.StopRefused:
		return &giveUp{"the model declined to answer", sayRefused}
	case text == "":
		return &giveUp{fmt.Sprintf("the model said nothing (%s)", stop), sayFailed}
	case stop == llm.StopLength:
		text += "\n\n" + sayCutOff
	}
	if t.text, err = t.guarded(ctx, text); err != nil {
		return t.interrupted(ctx, err)
	}
	if strings.TrimSpace(t.text) == "" {
		return &giveUp{"the model said nothing that can be seen", sayFailed}
	}
	return nil
}

// ask asks the model once, and shows the answer while it is written.
func (t *turn) ask(ctx context.Context, r llm.Request) (llm.Response, error) {
	t.calls++
	d := t.display(ctx)
	if d == nil {
		return t.Model.Generate(ctx, r, nil)
	}
	defer d.stop()
	var text strings.Builder
	return t.Model.Generate(ctx, r, func(e llm.Event) {
		if e.Again || e.Call != "" {
			text.Reset()
		}
		text.WriteString(e.Text)
		d.show(ctx, text.String(), e.Again)
	})
}

// run runs the tools that an answer calls.
func (t *turn) run(ctx context.Context, k *talk, set *tools.Set, calls []llm.Call) error {
	var results []told
	var shows []earshot.MessageID
	for i, c := range calls {
		answer := tools.Answer{JSON: `{"error":"too many calls at once"}`, Failed: true}
		if set == nil {
			answer.JSON = `{"error":"there is no such tool"}`
		} else if i < maxCalls {
			var err error
			if answer, err = set.Call(ctx, c.Name, c.Args); err != nil {
				return err
			}
			if err := t.slot.take(ctx); err != nil {
				return err
			}
		}
		r := told{Result: llm.Result{Call: c.ID, Name: c.Name, Parts: []llm.Part{llm.Text(answer.JSON)}, Failed: answer.Failed}}
		for _, m := range answer.Shows {
			r.Shows = append(r.Shows, m.ID)
		}
		for _, m := range answer.Media {
			r.Shows = append(r.Shows, t.files.of[m.ID])
			t.giveByTool(&r, m)
		}
		shows = append(shows, r.Shows...)
		results = append(results, r)
	}
	t.Fault(faultAfterTools)
	if err := t.journalJSON(ctx, stepResults, bared(results), shows...); err != nil {
		return err
	}
	t.heard(results)
	k.told(results)
	return nil
}

// tools returns the tools of the turn's channel, up to the anchor; nil when
// there are none, as for a message that is answered alone.
func (t *turn) tools() *tools.Set {
	if t.NoTools || t.alone() {
		return nil
	}
	o := &tools.Options{
		Identity: t.Identity, Known: t.input.Messages, Names: slices.Concat(t.input.Conversation.Names, t.result.Next.Names),
		Zone: t.input.Zone, MaxBytes: t.Limits.Result, Turns: t.Store, Conversation: t.lease.Conversation,
		Given: func(f earshot.File) bool { return t.files.given(f.ID, cmp.Or(f.SHA256, t.files.sums[f.ID])) },
	}
	if f, ok := t.Platform.(tools.Fetcher); ok {
		o.Fetcher = awayFetcher{f, t.slot}
	}
	if _, ok := mediaOf(t.Policy); ok && t.Files != nil {
		o.Media = t.openFile
	}
	return tools.ForChannel(t.lease.Conversation.Scope, t.Store, t.index, t.place.Anchor.Position(), o)
}

// alone reports whether the message is answered alone: it reads no session and
// leaves nothing.
func (t *turn) alone() bool { return strings.Contains(t.place.Anchor.Text, isolation) }

// heard notes which messages tools have told of: the model has read them, and
// their addresses may stay live in the reply.
func (t *turn) heard(results []told) {
	for _, r := range results {
		t.read = append(t.read, r.Shows...)
		for _, p := range r.Parts {
			t.links.more = append(t.links.more, idsIn(p.Text)...)
		}
	}
}

// idsIn returns every id in a tool's answer, whatever the answer is of.
func idsIn(answer string) []earshot.MessageID {
	var ids []earshot.MessageID
	var look func(v any)
	look = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				look(x)
			}
		case map[string]any:
			for _, name := range slices.Sorted(maps.Keys(v)) {
				if id, ok := v[name].(string); ok && id != "" && (name == "id" || name == "message_id") {
					ids = append(ids, earshot.MessageID(id))
				}
				look(v[name])
			}
		}
	}
	var v any
	if json.Unmarshal([]byte(answer), &v) == nil {
		look(v)
	}
	return ids
}

// interrupted says what the end of asking means.
func (t *turn) interrupted(ctx context.Context, err error) error {
	var e *llm.Error
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errTooLong):
		return &giveUp{fmt.Sprintf("no answer within %s", t.Limits.Generate), sayTooLong}
	case cause != nil:
		return cause
	case !errors.As(err, &e):
		return err
	case isRefusal(err) && t.sessionHolds() && !t.declined:
		return err // [turn.withoutSession]
	case e.TooLarge && t.halved:
		return &giveUp{"the context is too large, halved too: " + err.Error(), sayTooLarge}
	case e.TooLarge:
		return err
	case e.Retryable:
		return &later{err, e.RetryAfter}
	}
	return &giveUp{err.Error(), sayFailed}
}
