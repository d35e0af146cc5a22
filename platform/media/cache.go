package media

import (
	"container/list"
	"sync"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
)

// A key names a file in one channel. Channels do not share entries: that a file
// loads fast must not tell one channel what another has loaded.
type key struct {
	scope earshot.Scope
	id    earshot.ArtifactID
}

// A loadedFile is a file as a model is given it.
type loadedFile struct {
	key
	of    earshot.MessageID // the message that it was loaded for
	media llm.Media         // without a name
	sum   string            // SHA-256 of the bytes as they were shared
	size  int64             // the number of those bytes
}

// weight is roughly how many bytes of memory an entry takes.
func (l *loadedFile) weight() int64 {
	return int64(len(l.media.Data) + len(l.id) + len(l.of) + len(l.sum) + len(l.scope.Workspace) + len(l.scope.Channel))
}

// A cache keeps the most recently used files, up to a weight. It is safe for
// concurrent use.
type cache struct {
	most int64

	mu      sync.Mutex // guards what follows
	weight  int64
	byKey   map[key]*list.Element // of *loaded
	used    *list.List            // the most recently used first
	loading map[*pendingLoad]bool
}

// A pendingLoad is a file that is being loaded. If its message is forgotten meanwhile,
// the file is not cached.
type pendingLoad struct {
	scope     earshot.Scope
	of        earshot.MessageID
	forgotten bool
}

func newCache(most int64) *cache {
	return &cache{most: most, byKey: map[key]*list.Element{}, used: list.New(), loading: map[*pendingLoad]bool{}}
}

// get returns the entry of k, or nil.
func (c *cache) get(k key) *loadedFile {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[k]
	if !ok {
		return nil
	}
	c.used.MoveToFront(e)
	return e.Value.(*loadedFile)
}

// begin notes that a file is being loaded for a message.
func (c *cache) begin(s earshot.Scope, of earshot.MessageID) *pendingLoad {
	f := &pendingLoad{scope: s, of: of}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loading[f] = true
	return f
}

// end caches what a flight has loaded (nil: nothing) and drops the entries that
// were used longest ago.
func (c *cache) end(f *pendingLoad, l *loadedFile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.loading, f)
	if l == nil || f.forgotten || l.weight() > c.most {
		return
	}
	if e, ok := c.byKey[l.key]; ok {
		c.drop(e)
	}
	c.byKey[l.key] = c.used.PushFront(l)
	for c.weight += l.weight(); c.weight > c.most; {
		c.drop(c.used.Back())
	}
}

// forget drops what was loaded for a message.
func (c *cache) forget(s earshot.Scope, of earshot.MessageID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for f := range c.loading {
		f.forgotten = f.forgotten || f.scope == s && f.of == of
	}
	for k, e := range c.byKey {
		if k.scope == s && e.Value.(*loadedFile).of == of {
			c.drop(e)
		}
	}
}

// clear drops all that was loaded.
func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for f := range c.loading {
		f.forgotten = true
	}
	for c.used.Len() > 0 {
		c.drop(c.used.Back())
	}
}

// drop removes an entry. c.mu is held.
func (c *cache) drop(e *list.Element) {
	l := c.used.Remove(e).(*loadedFile)
	delete(c.byKey, l.key)
	c.weight -= l.weight()
}
