package main

import (
	"encoding/json"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/llm"
)

// A turnJSON is a whole turn as --json writes it.
type turnJSON struct {
	queuedJSON
	turnPeople
	Policy  string             `json:"policy,omitempty"`
	Form    string             `json:"form,omitempty"`
	Zone    string             `json:"zone,omitempty"`
	Began   earshot.Beginning  `json:"began,omitempty"` // why the turn is the first of its epoch
	Summary *summaryJSON       `json:"summary,omitempty"`
	Names   []namedJSON        `json:"names"`
	Result  json.RawMessage    `json:"result,omitempty"`
	Changed string             `json:"changed,omitempty"` // why the prompt cannot be made again
	Ledger  []ledgerRowJSON    `json:"ledger"`
	Files   []attachmentJSON   `json:"attachments"`
	Journal []journalEntryJSON `json:"journal"`
	Posts   []postJSON         `json:"posts"`
	Tools   int                `json:"tool_tokens,omitempty"` // of the descriptions of tools of one's own, beside the prompt
	Spent   explain.Spending   `json:"spent"`
	Took    int64              `json:"took_us"`
	Page    string             `json:"page"` // its address on the inspector
}

// A journalEntryJSON is a step of a turn. One of Answer, Results, Files and Failed
// is set; none where the step was erased.
type journalEntryJSON struct {
	N       int    `json:"n"`
	Time    string `json:"time"`
	Answer  any    `json:"answer,omitempty"`
	Results any    `json:"results,omitempty"`
	Files   any    `json:"files,omitempty"`
	Offer   any    `json:"offer,omitempty"` // which tools of one's own the model has
	Begun   any    `json:"begun,omitempty"` // a call of one of them that is about to run
	Task    string `json:"task,omitempty"`  // what an agent calls its work
	Failed  string `json:"failed,omitempty"`
}

// A postJSON is a post of a turn's reply.
type postJSON struct {
	Chunk   int               `json:"chunk"`
	State   earshot.PostState `json:"state"`
	Message earshot.MessageID `json:"message,omitempty"`
	Text    string            `json:"text"`
}

func (w *wholeTurn) writeJSON(a *app, prices map[string]config.Price) error {
	names, form := w.Names()
	out := turnJSON{
		queuedJSON: w.row, turnPeople: w.people, Form: form, Zone: w.Zone(), Began: w.Queued.Began, Summary: w.summary(), Names: []namedJSON{}, Changed: w.Changed,
		Ledger: ledgerJSON(w.Ledger()), Files: w.attachments(), Journal: w.journalJSON(), Posts: []postJSON{},
		Spent: w.Spent(priceOf(prices)), Took: w.Took().Microseconds(), Page: w.page,
	}
	out.Tools, _ = w.OwnTools()
	for _, n := range names {
		out.Names = append(out.Names, namedJSON(n))
	}
	if w.Prompt != nil {
		raw, err := contract.Encode(*w.Prompt)
		if err != nil {
			return err
		}
		out.Result, out.Policy = raw, w.Input.Policy.Name
	}
	for _, p := range w.Posts {
		out.Posts = append(out.Posts, postJSON{p.Chunk, p.State, p.Message, p.Text})
	}
	return a.writeJSON(out)
}

func (w *wholeTurn) journalJSON() []journalEntryJSON {
	out := []journalEntryJSON{}
	for _, e := range w.Steps {
		x := journalEntryJSON{N: e.N, Time: e.Time.String(), Failed: e.Failed}
		if e.Answer != nil {
			x.Answer = e.Answer
		}
		if e.Results != nil {
			var results []llm.Result
			for _, r := range e.Results {
				results = append(results, r.Result)
			}
			x.Results = results
		}
		if e.Offer != nil {
			x.Offer = e.Offer
		}
		if e.Begun != nil {
			x.Begun = e.Begun
		}
		if e.Task != nil {
			x.Task = e.Task.ID
		}
		if e.Files != nil {
			files := slices.Clone(e.Files)
			for i := range files {
				files[i].Of = "" // attachments say which message shared a file
			}
			x.Files = files
		}
		out = append(out, x)
	}
	return out
}

// A namedJSON is the name by which a session knows somebody.
type namedJSON struct {
	ID   earshot.AuthorID `json:"id"`
	Name string           `json:"name"`
}

// A ledgerRowJSON is a row of a ledger, with the field names of a Result
// (docs/context.md).
type ledgerRowJSON struct {
	ID      earshot.MessageID `json:"id"`
	Section string            `json:"section"`
	Verdict earshot.Verdict   `json:"verdict"`
	Reason  string            `json:"reason"`
	Tokens  int               `json:"tokens"`

	Score float64            `json:"score,omitempty"` // of what search found
	Cover float64            `json:"cover,omitempty"`
	Parts map[string]float64 `json:"parts,omitempty"`
}

func ledgerJSON(l earshot.Ledger) []ledgerRowJSON {
	out := []ledgerRowJSON{}
	for _, r := range l {
		out = append(out, ledgerRowJSON(r))
	}
	return out
}

// An attachmentJSON is a file that a turn gave to the model, from the manifest.
type attachmentJSON struct {
	ID      earshot.ArtifactID `json:"artifact_id"`
	Name    string             `json:"display_name"` // "" when the message was deleted since, as is the type
	Type    string             `json:"media_type"`
	Hash    string             `json:"content_hash"` // SHA-256
	Message earshot.MessageID  `json:"source_message_id"`
	Thread  earshot.MessageID  `json:"source_thread_id"` // "" for a message at the top level that begins no thread
	Turn    int                `json:"included_at_turn"` // of the conversation, from 1
	Tokens  int                `json:"tokens,omitempty"` // by the provider's formula
}

// attachments returns what a turn attached.
func (w *wholeTurn) attachments() []attachmentJSON {
	out := []attachmentJSON{}
	for _, a := range w.Attachments() {
		out = append(out, attachmentJSON{a.ID, a.Name, a.Type, a.SHA256, a.Message, a.Thread, a.AttachedFile.Turn + 1, a.Tokens})
	}
	return out
}

// A summaryJSON is the summary in a turn's prompt.
type summaryJSON struct {
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
	Turns int    `json:"turns"`
	By    string `json:"by,omitempty"` // a model, or digest
	Shown bool   `json:"shown"`        // false: the budget had no room for it, or what it covers was deleted
}

// summary returns the summary that the turn could show; nil where it had none.
func (w *wholeTurn) summary() *summaryJSON {
	s, shown := w.Summary()
	if s == nil {
		return nil
	}
	return &summaryJSON{From: s.From.String(), To: s.To.String(), Turns: s.Turns, By: s.By, Shown: shown}
}
