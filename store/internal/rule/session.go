package rule

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
)

// A database keeps a session entry's role and text in columns of their own, and
// the rest as JSON in one column.

type entryJSON struct {
	Media  []earshot.ArtifactID `json:"media,omitempty"`
	Calls  []callJSON           `json:"calls,omitempty"`
	Call   string               `json:"call,omitempty"`
	Failed bool                 `json:"failed,omitempty"`
	Opaque string               `json:"opaque,omitempty"`
}

type callJSON struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args,omitempty"`
}

// WriteEntry writes e without its role and text as JSON; "" when nothing is left.
func WriteEntry(e earshot.SessionEntry) (string, error) {
	if len(e.Media)+len(e.Calls) == 0 && e.Call == "" && !e.Failed && e.Opaque == "" {
		return "", nil
	}
	j := entryJSON{Media: e.Media, Call: e.Call, Failed: e.Failed, Opaque: e.Opaque}
	for _, c := range e.Calls {
		j.Calls = append(j.Calls, callJSON(c))
	}
	b, err := json.Marshal(j)
	if err != nil {
		return "", fmt.Errorf("write a session entry: %w", err)
	}
	return string(b), nil
}

// ReadEntry sets in e what WriteEntry wrote.
func ReadEntry(text string, e *earshot.SessionEntry) error {
	if text == "" {
		return nil
	}
	var j entryJSON
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		return fmt.Errorf("read a session entry: %w", err)
	}
	e.Media, e.Call, e.Failed, e.Opaque = j.Media, j.Call, j.Failed, j.Opaque
	for _, c := range j.Calls {
		e.Calls = append(e.Calls, earshot.Call(c))
	}
	return nil
}

// checkEntry returns e as it is stored. Its lists are copies, nil when empty.
func checkEntry(e earshot.SessionEntry) earshot.SessionEntry {
	e.Role, e.Text, e.Call, e.Opaque = text(e.Role), Text(e.Text), Text(e.Call), Text(e.Opaque)
	e.Media = nonEmpty(normaliseList(e.Media, text[earshot.ArtifactID]))
	e.Calls = nonEmpty(normaliseList(e.Calls, func(c earshot.Call) earshot.Call {
		return earshot.Call{ID: Text(c.ID), Name: Text(c.Name), Args: Text(c.Args)}
	}))
	return e
}

// CloneSession returns a copy of a session that shares nothing with it.
func CloneSession(list []earshot.SessionEntry) []earshot.SessionEntry {
	out := slices.Clone(list)
	for i := range out {
		out[i].Media, out[i].Calls = slices.Clone(out[i].Media), slices.Clone(out[i].Calls)
	}
	return out
}

// Names returns list with the first entry of each id.
func Names(list []earshot.SessionName) []earshot.SessionName {
	seen := make(map[earshot.AuthorID]bool, len(list))
	return slices.DeleteFunc(slices.Clone(list), func(n earshot.SessionName) bool {
		double := seen[n.ID]
		seen[n.ID] = true
		return double
	})
}
