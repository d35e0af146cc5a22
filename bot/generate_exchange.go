package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pause"
	"github.com/earshot-ai/earshot/internal/step"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools"
)

// A modelExchange is how far the model has come with one prompt.
type modelExchange struct {
	*turn
	prompt      prompt
	placeholder *earshot.Post
	tools       *tools.Set // nil: the model has none
	links       *linkGuard
	called      bool // the question calls the agent as the prompt has it, or did before it was edited

	requestDialog
	begun        []step.Begun                // calls of tools of one's own that were begun
	approvals    map[string]earshot.Approval // of calls, by the model's id of them
	read         []earshot.MessageID
	tasks        map[string]string // of an agent, by the key of the request
	written      strings.Builder   // of the answer that the model is writing, as far as anybody sees it
	askedAgain   bool              // after an empty response
	refusedQuiet bool              // the model has asked for silence where the agent was called
	limit        *pause.Timeout    // of the whole exchange
	asking       chan struct{}     // is full while a tool asks a person, see generate_question.go
}

// A requestDialog is a request as it grows by what the model answers and its tools return.
type requestDialog struct {
	request llm.Request
	last    *llm.Response // what the model said last, unless tools have answered it
	results []toolResult  // to calls of last, as they came
	rounds  int           // of tools
	asks    int           // results of the tool that asks a person
	beside  []string      // texts that the model wrote beside calls
	left    bool          // the model has called stopListening
}

func (t *turn) newExchange(p prompt, placeholder *earshot.Post) *modelExchange {
	called := t.called
	if m := p.question(); m != nil {
		called = called || t.identity.CalledIn(m)
	}
	return &modelExchange{turn: t, prompt: p, placeholder: placeholder, links: t.newLinkGuard(p), called: called, asking: make(chan struct{}, 1)}
}

// advance runs the tools that the last response calls. It reports whether that
// response is the answer.
func (x *modelExchange) advance(ctx, hard context.Context) (done bool, err error) {
	if x.last == nil {
		return false, nil
	}
	if _, ok, err := x.reaction(ctx); err != nil || ok {
		return ok, err
	}
	if _, ok := x.silence(); ok {
		return true, nil
	}
	calls := x.last.Calls()
	if len(calls) == 0 || x.rounds >= x.limits.Rounds || x.insists(calls) {
		return true, nil
	}
	return false, x.runTools(ctx, hard, calls)
}

// text returns the text of the model's last response or, where that is empty, the
// texts beside its earlier calls.
func (d *requestDialog) text() string {
	if s := strings.TrimSpace(d.last.Text()); s != "" {
		return s
	}
	return strings.TrimSpace(strings.Join(d.beside, "\n\n"))
}

// addResponse notes a response of the model.
func (d *requestDialog) addResponse(a llm.Response) {
	d.last = &a
	d.left = d.left || slices.ContainsFunc(a.Calls(), func(c llm.Call) bool { return c.Name == stopListening })
	if s := a.Text(); s != "" && len(a.Calls()) > 0 {
		d.beside = append(d.beside, s)
	}
}

// addResults notes results of tools. Once each call of the last response has one, they are
// appended in the order of the calls.
func (d *requestDialog) addResults(results []toolResult) {
	d.results = append(d.results, results...)
	for _, r := range results {
		if r.Name == AskTool {
			d.asks++
		}
	}
	calls := d.last.Calls()
	if len(d.results) < len(calls) {
		return
	}
	at := func(r toolResult) int {
		return slices.IndexFunc(calls, func(c llm.Call) bool { return c.ID == r.Call })
	}
	slices.SortStableFunc(d.results, func(a, b toolResult) int { return at(a) - at(b) })
	list := make([]llm.Result, len(d.results))
	for i, r := range d.results {
		list[i] = r.Result
	}
	said := *d.last
	d.renameCalls(&said, list)
	d.request = d.request.Append(said, llm.Results(list...))
	d.last, d.results = nil, nil
	d.rounds++
}

// renameCalls gives calls other ids whose own the request has already: where a turn has waited
// for a person, a later one of its conversation may have made the same.
func (d *requestDialog) renameCalls(said *llm.Response, results []llm.Result) {
	used := map[string]bool{}
	for _, m := range d.request.Messages {
		for _, p := range m.Parts {
			if p.Call != nil {
				used[p.Call.ID] = true
			}
		}
	}
	said.Parts = slices.Clone(said.Parts)
	for i, p := range said.Parts {
		if p.Call == nil {
			continue
		}
		c := *p.Call
		for n := 2; used[c.ID]; n++ {
			c.ID = fmt.Sprint(p.Call.ID, "_", n)
		}
		used[c.ID], said.Parts[i].Call = true, &c
		for k := range results {
			if results[k].Call == p.Call.ID {
				results[k].Call = c.ID
				break
			}
		}
	}
}

// hasResult reports whether a call of the last response has its result.
func (d *requestDialog) hasResult(c llm.Call) bool {
	return slices.ContainsFunc(d.results, func(r toolResult) bool { return r.Call == c.ID })
}

// addResults appends the results of tools, and notes which messages they show.
func (x *modelExchange) addResults(results []toolResult) {
	x.requestDialog.addResults(results)
	for _, r := range results {
		x.read = append(x.read, r.Shows...)
		if !slices.ContainsFunc(tools.Tools(), func(t llm.Tool) bool { return t.Name == r.Name }) {
			continue // its ids are no messages
		}
		for _, p := range r.Parts {
			x.links.alsoIn(idsIn(p.Text))
		}
	}
}

// replay appends the journal's steps to the request.
func (x *modelExchange) replay(ctx context.Context) error {
	for _, s := range x.journal.steps {
		switch s.Kind {
		case stepAnswer:
			d, err := step.Decode(s)
			if err != nil {
				return err
			}
			x.addResponse(*d.Answer)
			x.spend(*d.Answer)
		case stepCall:
			d, err := step.Decode(s)
			if err != nil {
				return err
			}
			x.begun = append(x.begun, *d.Begun)
		case stepTask:
			if err := x.replayTask(s); err != nil {
				return err
			}
		case stepDecision:
			d, err := step.Decode(s)
			if err != nil {
				return err
			}
			x.spend(*d.Answer)
		case stepResults, stepResult:
			d, err := step.Decode(s)
			if err != nil || x.last == nil {
				return fmt.Errorf("journal entry %d follows no answer: %w", s.N, err)
			}
			x.reloadFiles(ctx, d.Results)
			x.refusedQuiet = x.refusedQuiet || slices.ContainsFunc(x.last.Calls(), x.isRefusedQuiet)
			x.addResults(d.Results)
		case stepFailed:
			x.tasks = nil // the turn was opened again: the agent is asked anew
			if x.last == nil {
				continue
			}
			calls := x.last.Calls()
			whole := len(calls) == 0 || x.rounds >= x.limits.Rounds || x.insists(calls)
			if whole && x.text() == "" {
				x.last = nil // the turn failed because of it, and was opened again: the model is asked again
			}
		}
	}
	return nil
}

// reloadFiles gives results of the journal the content of their files again.
func (x *modelExchange) reloadFiles(ctx context.Context, results []toolResult) {
	later, err := x.journal.fileRecords()
	if err != nil {
		x.log.Warn("read the journal's files", "err", err)
	}
	for _, r := range results {
		x.prompt.files.ReloadOpened(ctx, r.Parts, r.Files, later)
	}
}

// spend adds what a response has used to the turn's report.
func (t *turn) spend(a llm.Response) {
	r := &t.report
	r.Usage = sum(r.Usage, a.Usage)
	if r.Models == nil {
		r.Models = map[string]earshot.Usage{}
	}
	r.Models[a.Model] = sum(r.Models[a.Model], a.Usage)
}

func sum(a, b earshot.Usage) earshot.Usage {
	return earshot.Usage{
		Input: a.Input + b.Input, Output: a.Output + b.Output, CacheRead: a.CacheRead + b.CacheRead, CacheWrite: a.CacheWrite + b.CacheWrite,
	}
}
