package daemon

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
)

// An Entry is one step of a turn's journal, as it is read by people. One of
// Answer, Results, Files and Failed is set; none, where it was erased.
type Entry struct {
	N       int
	Time    earshot.Time
	Answer  *llm.Response // what the model said
	Results []llm.Result  // what tools said to it
	Files   []File        // which files the model was given, and which not
	Failed  string        // why the person was told that there is no answer
}

// A File is what became of a file that a turn attaches.
type File struct {
	ID     earshot.ArtifactID `json:"id"`
	Name   string             `json:"name"`
	Type   string             `json:"type,omitempty"`   // as the model was given it
	Bytes  int                `json:"bytes,omitempty"`  // likewise
	SHA256 string             `json:"sha256,omitempty"` // of what was shared
	Why    string             `json:"why,omitempty"`    // it was not given
}

// The kinds of steps that package bot writes.
const (
	kindAnswer  = "answer"
	kindResults = "results"
	kindFiles   = "files"
	kindFailed  = "failed"
)

// Journal reads a turn's journal.
func Journal(ctx context.Context, st bot.Store, id earshot.TurnID) ([]Entry, error) {
	steps, err := st.Steps(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("journal of turn %d: %w", id, err)
	}
	var list []Entry
	for _, s := range steps {
		e := Entry{N: s.N, Time: s.Time}
		if s.Data != nil {
			switch s.Kind {
			case kindAnswer:
				e.Answer = new(llm.Response)
				err = json.Unmarshal(s.Data, e.Answer)
			case kindResults:
				err = json.Unmarshal(s.Data, &e.Results)
			case kindFiles:
				err = json.Unmarshal(s.Data, &e.Files)
			case kindFailed:
				e.Failed = string(s.Data)
			default:
				err = fmt.Errorf("unknown kind %q", s.Kind)
			}
			if err != nil {
				return nil, fmt.Errorf("journal of turn %d, entry %d: %w", id, s.N, err)
			}
		}
		list = append(list, e)
	}
	return list, nil
}
