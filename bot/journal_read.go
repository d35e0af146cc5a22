package bot

import (
	"encoding/json"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot/internal/attach"
	"github.com/earshot-ai/earshot/llm"
)

// The kinds of steps in a turn's journal, as they are stored.
const (
	stepAnswer   = "answer"  // an llm.Response
	stepResults  = "results" // []toolResult, to the answer before
	stepFailed   = "failed"  // why the person was told that there is no answer
	stepReopened = "again"   // a turn that had failed is to be posted after all
	stepFiles    = "files"   // []attach.Record: which files the model was given, and which not
)

// A JournalEntry is one step of a turn's journal, decoded. One of Answer, Results,
// Files and Failed is set; none is where the step was erased, or where it says that
// an operator has opened the turn again.
type JournalEntry struct {
	N       int
	Time    earshot.Time
	Answer  *llm.Response // what the model said
	Results []llm.Result  // what tools answered to it
	Files   []JournalFile // which files the model was given, and which not
	Failed  string        // why the person was told that there is no answer
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
	var list []JournalEntry
	for _, s := range steps {
		e := JournalEntry{N: s.N, Time: s.Time}
		if s.Data != nil {
			d, err := decodeStep(s)
			if err != nil {
				return nil, err
			}
			e.Answer, e.Failed = d.answer, d.failed
			for _, r := range d.results {
				e.Results = append(e.Results, r.Result)
			}
			for _, f := range d.files {
				e.Files = append(e.Files, JournalFile{ID: f.ID, Name: f.Name, Type: f.Type, Bytes: f.Bytes, SHA256: f.SHA256, Why: f.Why})
			}
		}
		list = append(list, e)
	}
	return list, nil
}

// A toolResult is what a tool answered to a call, with the files that it added.
// The journal has it without their content.
type toolResult struct {
	llm.Result
	Shows []earshot.MessageID `json:"shows,omitempty"` // whose text or file is in it
	Files []attach.Record     `json:"files,omitempty"`
}

// A decoded is a step's data. The field of its kind is set.
type decoded struct {
	answer  *llm.Response
	results []toolResult
	files   []attach.Record
	failed  string
}

func decodeStep(s earshot.Step) (d decoded, err error) {
	switch s.Kind {
	case stepAnswer:
		d.answer = new(llm.Response)
		err = json.Unmarshal(s.Data, d.answer)
	case stepResults:
		err = json.Unmarshal(s.Data, &d.results)
	case stepFiles:
		err = json.Unmarshal(s.Data, &d.files)
	case stepFailed:
		d.failed = string(s.Data)
	case stepReopened:
	default:
		err = fmt.Errorf("unknown kind %q", s.Kind)
	}
	if err != nil {
		return d, fmt.Errorf("journal entry %d: %w", s.N, err)
	}
	return d, nil
}
