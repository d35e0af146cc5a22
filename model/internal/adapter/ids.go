package adapter

import (
	"strconv"

	"github.com/earshot-ai/earshot/llm"
)

// IDs gives the calls of an answer their ids: the provider's, or one that is
// made here where the provider gives none, or gives one that the request holds
// already. An id is unique in a request; the same request gets the same ids.
type IDs struct {
	provider string
	used     map[string]bool
	next     int
}

// NewIDs returns the ids for the answer to r.
func NewIDs(provider string, r llm.Request) *IDs {
	ids := &IDs{provider: provider, used: map[string]bool{}}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Kind == llm.KindCall && p.Call != nil {
				ids.used[p.Call.ID] = true
			}
		}
	}
	ids.next = len(ids.used)
	return ids
}

// Of returns the provider's id, or one that is made in its place.
func (x *IDs) Of(id string) string {
	for id == "" || x.used[id] {
		x.next++
		id = "earshot_" + x.provider + "_" + strconv.Itoa(x.next)
	}
	x.used[id] = true
	return id
}
