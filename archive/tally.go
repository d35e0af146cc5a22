package archive

import (
	"cmp"
	"slices"
	"sync"
)

// A tally counts reasons and keeps the first places of each. It is safe for
// concurrent use, and what it keeps does not depend on who comes first.
type tally struct {
	keep int
	mu   sync.Mutex // guards reasons
	by   map[string]*Skip
}

func newTally(keep int) *tally { return &tally{keep: keep, by: map[string]*Skip{}} }

// maxReasons bounds how many reasons are told apart; the rest is counted as
// "other".
const maxReasons = 200

func (t *tally) add(reason string, p Place) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.by[reason]
	if s == nil {
		if len(t.by) >= maxReasons {
			reason = "other"
		}
		if s = t.by[reason]; s == nil {
			s = &Skip{Reason: reason}
			t.by[reason] = s
		}
	}
	s.Count++
	i, _ := slices.BinarySearchFunc(s.Places, p, comparePlaces)
	if i < t.keep {
		s.Places = slices.Insert(s.Places, i, p)
		if len(s.Places) > t.keep {
			s.Places = s.Places[:t.keep]
		}
	}
}

// list returns the reasons, the most frequent first.
func (t *tally) list() []Skip {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []Skip
	for _, s := range t.by {
		c := *s
		c.Places = slices.Clone(s.Places)
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Skip) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

func comparePlaces(a, b Place) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Record, b.Record), cmp.Compare(a.Line, b.Line))
}
