package discordapi

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// A RouteCalls counts the calls of one route.
type RouteCalls struct {
	Route   string        // such as "POST /channels/{channel.id}/messages"
	Calls   int           // requests sent
	Limited int           // of them, answered by 429
	Failed  int           // of them, refused otherwise, or not answered
	Waits   int           // calls that were held back, or not made, because of a limit
	Waited  time.Duration // the sum of the waits
}

// routes count calls.
type routes struct {
	mu     sync.Mutex // guards counts
	counts map[string]*RouteCalls
}

func (r *routes) count(route string, add func(*RouteCalls)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.counts[route]
	if x == nil {
		x = &RouteCalls{Route: route}
		r.counts[route] = x
	}
	add(x)
}

// Calls returns the calls of each route since New, sorted by route.
func (c *Client) Calls() []RouteCalls {
	r := &c.routes
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]RouteCalls, 0, len(r.counts))
	for _, x := range r.counts {
		list = append(list, *x)
	}
	slices.SortFunc(list, func(a, b RouteCalls) int { return cmp.Compare(a.Route, b.Route) })
	return list
}
