package daemon

import (
	"context"
	"sync/atomic"

	"github.com/earshot-ai/earshot"
)

// An allowList is the platform's list of who is answered, once the platform is open. Before
// that, and where there is no platform, it names everybody.
type allowList struct {
	of atomic.Pointer[earshot.AllowList]
}

// set makes the platform's list the one that is asked.
func (l *allowList) set(list earshot.AllowList) { l.of.Store(&list) }

// ask is an [earshot.AllowList].
func (l *allowList) ask(ctx context.Context, s earshot.Scope, ids []earshot.AuthorID) (map[earshot.AuthorID]bool, error) {
	if list := l.of.Load(); list != nil {
		return (*list)(ctx, s, ids)
	}
	return nil, nil
}
