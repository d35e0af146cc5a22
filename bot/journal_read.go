package bot

import (
	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/step"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// The kinds of steps in a turn's journal.
const (
	stepAnswer   = step.Answer
	stepDecision = step.Decision
	stepResults  = step.Results
	stepFailed   = step.Failed
	stepReopened = step.Reopened
	stepResumed  = step.Resumed
	stepFiles    = step.Files
	stepTools    = step.Tools
	stepCall     = step.Call
	stepTask     = step.Task
	stepResult   = step.ResultOfOne
)

// A JournalEntry is one step of a turn's journal, decoded. One of Answer, Results,
// Files, Tools, Call, Task and Failed is set; none is where the step was erased, and where it says
// that an operator has opened the turn again or that it goes on under another prompt.
type JournalEntry struct {
	N       int
	Time    earshot.Time
	Answer  *llm.Response  // what the model said
	Results []llm.Result   // what tools answered to it
	Files   []JournalFile  // which files the model was given, and which not
	Tools   []toolbox.Tool // which tools of one's own the model was offered; nil where an earlier turn of the epoch has the list
	Call    *BegunCall     // of one of them, about to run
	Task    string         // what an agent calls its work on the request
	Failed  string         // why the person was told that there is no answer
}

// A BegunCall is a call of a tool of one's own that was about to run. Where no result
// follows, nobody knows whether it ran.
type BegunCall struct {
	Call   string         `json:"call"` // the model's id of it
	Name   string         `json:"name"`
	ID     string         `json:"id"` // as the tool was given it
	Effect toolbox.Effect `json:"effect,omitempty"`
}

// A JournalFile is what became of a file that a turn attaches.
type JournalFile struct {
	ID     earshot.ArtifactID `json:"id"`
	Name   string             `json:"name"`
	Type   string             `json:"type,omitempty"`   // as the model was given it
	Bytes  int                `json:"bytes,omitempty"`  // likewise
	SHA256 string             `json:"sha256,omitempty"` // of what was shared
	Why    string             `json:"why,omitempty"`    // it was not given
}

// ReadJournal decodes a turn's journal, as [earshot.Queue] returns its steps. It
// returns an error for a step of a kind that this version does not write.
func ReadJournal(steps []earshot.Step) ([]JournalEntry, error) {
	entries, err := step.Read(steps)
	if err != nil {
		return nil, err
	}
	var list []JournalEntry
	for _, d := range entries {
		e := JournalEntry{N: d.N, Time: d.Time, Answer: d.Answer, Failed: d.Failed}
		if d.Offer != nil {
			e.Tools = d.Offer.List
		}
		if d.Begun != nil {
			e.Call = &BegunCall{d.Begun.Call, d.Begun.Name, d.Begun.ID, d.Begun.Effect}
		}
		if d.Task != nil {
			e.Task = d.Task.ID
		}
		for _, r := range d.Results {
			e.Results = append(e.Results, r.Result)
		}
		for _, f := range d.Files {
			e.Files = append(e.Files, JournalFile{ID: f.ID, Name: f.Name, Type: f.Type, Bytes: f.Bytes, SHA256: f.SHA256, Why: f.Why})
		}
		list = append(list, e)
	}
	return list, nil
}

// A toolResult is what a tool answered to a call, with the files that it added.
// The journal has it without their content.
type toolResult = step.Result
