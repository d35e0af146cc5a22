// Package step decodes the steps of a turn's journal, as package bot writes them and
// as the desk and the inspector show them.
//
// Start with [Read] and [Entry].
package step

import (
	"encoding/json"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// The kinds of steps, as they are stored.
const (
	Answer      = "answer"   // an llm.Response
	Results     = "results"  // []Result, to the answer before
	Failed      = "failed"   // why the person was told that there is no answer
	Reopened    = "again"    // a turn that had failed is to be posted after all
	Resumed     = "resumed"  // an Earlier: what follows, and what came before, goes on under another prompt
	Files       = "files"    // []File: which files the model was given, and which not
	Tools       = "tools"    // an Offer: which tools of one's own the model may call
	Call        = "call"     // a Begun: one of them is about to run
	ResultOfOne = "result"   // a Result: what it answered
	Task        = "task"     // a BegunTask: an agent has begun to work on a request
	Decision    = "decision" // an llm.Response: whether to say something where nobody called the agent
)

// An Entry is one step of a turn's journal, decoded. The field of its kind is set;
// none is where the step was erased, or where it says that an operator has opened the
// turn again.
type Entry struct {
	N       int
	Kind    string
	Time    earshot.Time // when it was written: when the model had answered, when the tools had
	Erased  bool         // something that the model had read was deleted, and this with it
	Answer  *llm.Response
	Results []Result
	Files   []File
	Failed  string
	Offer   *Offer
	Begun   *Begun
	Earlier *Earlier
	Task    *BegunTask
}

// A BegunTask is what an agent called its work on a request, so that it is taken up after a
// crash.
type BegunTask struct {
	Key string `json:"key"` // [llm.Turn].Key
	ID  string `json:"id"`  // [llm.Turn].Task
}

// An Earlier is the prompt of a turn that has waited for a person, and goes on under another
// one because its conversation did not wait.
type Earlier struct {
	Hash string `json:"hash"` // of the prompt before
}

// An Offer is the list of tools of one's own that the model has in a turn, by name. One
// turn of an epoch has the list; later ones name that turn while the list is the same.
type Offer struct {
	SHA256 string         `json:"sha256"` // of List as JSON
	List   []toolbox.Tool `json:"list,omitempty"`
	Of     earshot.TurnID `json:"of,omitempty"`     // has List in its journal
	Hidden bool           `json:"hidden,omitempty"` // the model searches List, and is not given it
	Tokens int            `json:"tokens,omitempty"` // of the descriptions that the model is given, by the prompt's counter
}

// A Begun is a call of a tool of one's own that is about to run.
type Begun struct {
	Call   string         `json:"call"` // the model's id of it
	Name   string         `json:"name"`
	ID     string         `json:"id"` // [toolbox.Call].ID
	Effect toolbox.Effect `json:"effect,omitempty"`
	Repeat bool           `json:"repeat,omitempty"` // it may be made again
}

// Acts reports whether the call may change something, and must not be made again.
func (b Begun) Acts() bool { return b.Effect != toolbox.Reads && !b.Repeat }

// A Result is what a tool answered to a call, with the files that it added. The
// journal has it without their content.
type Result struct {
	llm.Result
	Unknown bool                `json:"unknown,omitempty"` // nobody knows whether the tool ran
	NotRun  bool                `json:"not_run,omitempty"` // the tool certainly did not run
	Shows   []earshot.MessageID `json:"shows,omitempty"`   // whose text or file is in it
	Files   []File              `json:"files,omitempty"`
}

// A File says what became of one file, never its content.
type File struct {
	ID     earshot.ArtifactID `json:"id"`
	Name   string             `json:"name"`
	Type   string             `json:"type,omitempty"`    // as the model was given it
	Bytes  int                `json:"bytes,omitempty"`   // likewise
	SHA256 string             `json:"sha256,omitempty"`  // of what was shared
	Of     earshot.MessageID  `json:"message,omitempty"` // which shared it
	Why    string             `json:"why,omitempty"`     // it was not attached
}

// Decode decodes one step. An error says that it is of a kind that this version does
// not write, or damaged.
func Decode(s earshot.Step) (Entry, error) {
	e := Entry{N: s.N, Kind: s.Kind, Time: s.Time}
	var err error
	switch s.Kind {
	case Answer, Decision:
		e.Answer = new(llm.Response)
		err = json.Unmarshal(s.Data, e.Answer)
	case Results:
		err = json.Unmarshal(s.Data, &e.Results)
	case Files:
		err = json.Unmarshal(s.Data, &e.Files)
	case ResultOfOne:
		e.Results = make([]Result, 1)
		err = json.Unmarshal(s.Data, &e.Results[0])
	case Tools:
		e.Offer = new(Offer)
		err = json.Unmarshal(s.Data, e.Offer)
	case Call:
		e.Begun = new(Begun)
		err = json.Unmarshal(s.Data, e.Begun)
	case Task:
		e.Task = new(BegunTask)
		err = json.Unmarshal(s.Data, e.Task)
	case Resumed:
		e.Earlier = new(Earlier)
		err = json.Unmarshal(s.Data, e.Earlier)
	case Failed:
		e.Failed = string(s.Data)
	case Reopened:
	default:
		err = fmt.Errorf("unknown kind %q", s.Kind)
	}
	if err != nil {
		return e, fmt.Errorf("journal entry %d: %w", s.N, err)
	}
	return e, nil
}

// Read decodes a turn's journal, as [earshot.Queue] returns its steps.
func Read(steps []earshot.Step) ([]Entry, error) {
	var list []Entry
	for _, s := range steps {
		if s.Data == nil {
			list = append(list, Entry{N: s.N, Kind: s.Kind, Time: s.Time, Erased: s.Kind != Reopened})
			continue
		}
		e, err := Decode(s)
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}
