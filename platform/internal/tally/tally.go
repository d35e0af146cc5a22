// Package tally counts the calls that an adapter makes.
package tally

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
)

// Calls count calls by method. The zero value counts for no platform. It is safe for
// concurrent use.
type Calls struct {
	Platform earshot.Platform

	mu     sync.Mutex // guards counts
	counts map[string]earshot.CallCount
}

// Sent counts a request.
func (c *Calls) Sent(method string) { c.count(method, func(x *earshot.CallCount) { x.Calls++ }) }

// Failed counts a request that was refused because of a limit, or else failed.
func (c *Calls) Failed(method string, limited bool) {
	c.count(method, func(x *earshot.CallCount) {
		if limited {
			x.Limited++
		} else {
			x.Failed++
		}
	})
}

// Waited counts a call that was held back for a time, or not made, because of a limit.
func (c *Calls) Waited(method string, d time.Duration) {
	c.count(method, func(x *earshot.CallCount) {
		x.Waits++
		x.Waited += d
	})
}

func (c *Calls) count(method string, add func(*earshot.CallCount)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts = map[string]earshot.CallCount{}
	}
	x := c.counts[method]
	x.Platform, x.Method = c.Platform, method
	add(&x)
	c.counts[method] = x
}

// List returns the counts, sorted by method.
func (c *Calls) List() []earshot.CallCount {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.SortedFunc(maps.Values(c.counts), func(a, b earshot.CallCount) int { return cmp.Compare(a.Method, b.Method) })
}
