package archive

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/earshot-ai/earshot"
)

// authorCollector collects a workspace's authors while messages go by. A name from a
// users list stands; of the others the one that was said last counts. It is
// safe for concurrent use, and what it keeps does not depend on who comes
// first.
type authorCollector struct {
	listed map[earshot.AuthorID]earshot.Author // not changed after start
	mu     sync.Mutex                          // guards met
	met    map[earshot.AuthorID]sighting
}

// maxPeople bounds how many authors without a list are kept. Those beyond are
// still named in their messages.
const maxPeople = 500_000

type sighting struct {
	author earshot.Author
	at     earshot.Time
}

func (p *authorCollector) meet(a earshot.Author, at earshot.Time) {
	if a.ID == "" || a.Kind == earshot.System {
		return
	}
	if _, ok := p.listed[a.ID]; ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.met == nil {
		p.met = map[earshot.AuthorID]sighting{}
	}
	old, ok := p.met[a.ID]
	if !ok && len(p.met) >= maxPeople {
		return
	}
	if !ok || cmp.Or(cmp.Compare(old.at, at), cmp.Compare(old.author.Name, a.Name),
		cmp.Compare(old.author.FullName, a.FullName), cmp.Compare(old.author.Kind, a.Kind)) < 0 {
		p.met[a.ID] = sighting{a, at}
	}
}

// put stores everyone, in groups, and returns how many there are.
func (p *authorCollector) put(ctx context.Context, store Sink, platform earshot.Platform, w earshot.WorkspaceID) (int, error) {
	all := make([]earshot.Author, 0, len(p.listed)+len(p.met))
	all = slices.AppendSeq(all, maps.Values(p.listed))
	for _, s := range p.met {
		all = append(all, s.author)
	}
	slices.SortFunc(all, func(a, b earshot.Author) int { return cmp.Compare(a.ID, b.ID) })
	for group := range slices.Chunk(all, groupSize) {
		if err := store.PutAuthors(ctx, platform, w, group...); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}
