package bot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot/internal/attach"
	"github.com/earshot-ai/earshot/internal/step"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools"
)

// A SentRequest is the request that an answer in a turn's journal came for.
type SentRequest struct {
	N        int           // the answer's step in the journal
	Provider string        // which answered
	Sent     *llm.SentBody // what was recorded when it was sent; nil where nothing was
	// Body is what was sent, to the byte: its hash is the recorded one. It is nil
	// where it cannot be shown, and Why says why.
	Body []byte
	Why  string

	media []llm.Media // the files in Body
}

// A BodyWriter writes the body of a request as a provider's adapter sends it.
type BodyWriter func(provider string, s llm.SentBody, r llm.Request) ([]byte, error)

// Requests yields the request of each answer in a turn's journal, in order: made
// again from the recorded prompt, the journal and the files that the store kept,
// and compared with the hash of what was sent. Nothing is asked and nothing is
// written. Bodies may be long, because files are in them: keep only what is needed.
func Requests(ctx context.Context, st Store, q earshot.QueuedTurn, write BodyWriter) iter.Seq2[SentRequest, error] {
	return func(yield func(SentRequest, error) bool) {
		steps, err := st.Steps(ctx, q.ID)
		if err != nil {
			yield(SentRequest{}, fmt.Errorf("journal of turn %d: %w", q.ID, err))
			return
		}
		x := &requestReplay{store: st, queued: q, steps: steps, write: write}
		for i, s := range steps {
			if s.Data == nil && s.Kind != stepReopened {
				x.whyNot("something that the model had read was deleted, and this with it")
				if s.Kind == stepAnswer && !yield(SentRequest{N: s.N, Why: x.why}, nil) {
					return
				}
				continue
			}
			d, err := step.Decode(s)
			if err == nil && x.files == nil && x.why == "" {
				err = x.begin(ctx)
			}
			if err != nil {
				yield(SentRequest{}, err)
				return
			}
			if d.Answer != nil && !yield(x.requestAt(d, i), nil) {
				return
			}
			x.apply(ctx, s.Kind, d, i)
		}
	}
}

// A requestReplay makes the requests of one turn again, step by step of its journal.
type requestReplay struct {
	store  Store
	queued earshot.QueuedTurn
	steps  []earshot.Step
	write  BodyWriter

	requestDialog
	why      string          // no request from here on can be shown
	own      []llm.Tool      // tools of one's own, as the journal has them
	files    *attach.FileSet // nil until begin
	attached bool            // the step of the attached files, where the prompt attaches any, is behind us
	input    assemble.Input
	result   assemble.Result
}

// whyNot notes the first reason why requests cannot be shown.
func (x *requestReplay) whyNot(format string, args ...any) {
	if x.why == "" {
		x.why = fmt.Sprintf(format, args...)
	}
}

// begin makes the request of the prompt. Where that cannot be, x.why says why.
func (x *requestReplay) begin(ctx context.Context) error {
	in, err := Input(ctx, x.store, x.queued)
	if errors.Is(err, ErrChanged) {
		x.whyNot("%v", err)
		return nil
	}
	if err != nil {
		return err
	}
	res, err := assemble.Turn(in)
	if err != nil || res.Hash != x.queued.Hash {
		x.whyNot("this version of the program makes another prompt of the same messages")
		return nil
	}
	first, err := x.firstRecords()
	if err != nil {
		return err
	}
	x.input, x.result = in, res
	x.files = attach.NewFileSet(attach.Source{
		Store: x.store, Scope: x.queued.Conversation.Scope, Timeout: loadKept, Log: slog.New(slog.DiscardHandler),
	}, false)
	if llm.SessionLength(res) > 0 {
		x.files.LoadSession(ctx, in.Conversation)
	}
	list := attach.PromptFiles(in, res)
	x.files.Load(ctx, list, first)
	x.attached = len(list) == 0
	o := &llm.Options{Tools: tools.Tools()}
	o.Media, o.Missing = x.files.Request(list)
	if x.requestDialog.request, err = llm.FromResult(res, o); err != nil {
		x.whyNot("the request cannot be made of the prompt: %v", err)
	}
	return nil
}

// loadKept bounds how long files of one turn are read from the store.
const loadKept = 10 * time.Second

// firstRecords returns what the journal says of the files that the prompt attached,
// before the provider refused any.
func (x *requestReplay) firstRecords() (map[earshot.ArtifactID]attach.Record, error) {
	for i, s := range x.steps {
		if s.Kind == stepFiles && s.Data != nil {
			return (&journal{steps: x.steps[i : i+1]}).fileRecords()
		}
	}
	return nil, nil
}

// apply brings the request forward by a step.
func (x *requestReplay) apply(ctx context.Context, kind string, d step.Entry, n int) {
	if x.why != "" {
		return
	}
	switch kind {
	case stepAnswer:
		x.addResponse(*d.Answer)
	case stepTools:
		o, err := offerOf(ctx, x.store, x.steps[n])
		if err != nil {
			x.whyNot("%v", err)
			return
		}
		x.own = offer{list: o.List, hidden: o.Hidden}.forModel()
	case stepResults, stepResult:
		if x.last == nil {
			x.whyNot("entry %d of the journal follows no answer", n)
			return
		}
		for _, r := range d.Results {
			// What the provider refused later stood in the request until then.
			x.files.ReloadOpened(ctx, r.Parts, r.Files, nil)
		}
		x.addResults(d.Results)
	case stepFiles:
		if !x.attached {
			x.attached = true
			return
		}
		x.requestDialog.request.Messages, _ = x.files.Remove(x.requestDialog.request.Messages, x.input.Messages)
	case stepFailed:
		if x.last != nil && x.text() == "" && (len(x.last.Calls()) == 0 || x.last.Sent != nil && x.last.Sent.NoCalls) {
			x.last = nil // the turn was opened again, and the model asked again
		}
	}
}

// requestAt is request, but of a step before the turn went on under another prompt.
func (x *requestReplay) requestAt(d step.Entry, i int) SentRequest {
	later := func(s earshot.Step) bool { return s.Kind == stepResumed }
	if d.Answer.Sent != nil && slices.ContainsFunc(x.steps[i:], later) {
		return SentRequest{N: d.N, Provider: d.Answer.Provider, Sent: d.Answer.Sent, Why: "the turn waited for a person while its conversation went on, and the prompt of before is not kept"}
	}
	return x.request(d)
}

// request returns the request that an answer, or a decision, came for.
func (x *requestReplay) request(d step.Entry) SentRequest {
	a := *d.Answer
	out := SentRequest{N: d.N, Provider: a.Provider, Sent: a.Sent}
	switch {
	case a.Provider == llm.OfflineName:
		out.Why = "nothing was sent: the offline model answers inside this program, without a network"
	case a.Sent == nil:
		out.Why = "what was sent was not recorded: the answer is older than the record, or of a model without one"
	default:
		out.Why = x.why
	}
	if out.Why != "" {
		return out
	}
	var body []byte
	for _, r := range x.requests(d.Kind, a.Sent.Tools) {
		r.MaxTokens, r.NoCalls = a.Sent.MaxTokens, a.Sent.NoCalls
		var err error
		if body, err = x.write(a.Provider, *a.Sent, r); err != nil {
			out.Why = err.Error()
			return out
		}
		sum := sha256.Sum256(body)
		if hex.EncodeToString(sum[:]) == a.Sent.SHA256 {
			out.Body, out.media = body, mediaIn(r)
			return out
		}
	}
	out.Why = x.whyOther(len(body), *a.Sent)
	return out
}

// requests returns the requests with n tools that a turn may have sent: the journal has
// their number alone.
func (x *requestReplay) requests(kind string, n int) (list []llm.Request) {
	r := x.requestDialog.request
	if kind == stepDecision {
		return decisionRequests(x.result)
	}
	for _, offered := range toolLists(n - len(x.own)) {
		offered = append(offered, x.own...)
		if r.Tools = offered; len(offered) == 0 {
			r.Tools, r.Cache = nil, r.System != ""
		}
		list = append(list, r)
	}
	return list
}

// whyOther says why the request is not the one that was sent, as far as that is
// known.
func (x *requestReplay) whyOther(bytes int, s llm.SentBody) string {
	if lost := x.files.Lost(); len(lost) > 0 {
		return fmt.Sprintf("the store does not have %s any more as it was sent", quoteNames(lost))
	}
	return fmt.Sprintf("made again it has %d bytes and another hash, and %d bytes were sent: the program, or a setting, has changed since", bytes, s.Bytes)
}
