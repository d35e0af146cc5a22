package memory

import (
	"cmp"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// A channel is all that is stored of one scope. The lists hold the same
// values as byID, which are never changed in place.
type channel struct {
	info      earshot.Channel
	told      rule.ChannelTimes
	seq       int64
	byID      map[earshot.MessageID]*rule.Message
	known     []*rule.Message                       // by Seq; an entry is stale when byID has another
	stale     int                                   // how many in known are
	whole     []*rule.Message                       // by Position, without deleted ones
	threads   map[earshot.MessageID][]*rule.Message // likewise, by root; "" is the top level
	replying  map[earshot.MessageID][]*rule.Message // likewise, by reply reference
	history   map[earshot.MessageID][]rule.Message  // older revisions by Edited
	reactions map[earshot.MessageID]*rule.Reactions // also of messages that are not stored yet
	coverage  map[coverageKey]earshot.Coverage
	embedded  map[earshot.MessageID]embedding
	blobs     blobs

	// What a bound has evicted: the last of them for search indexes, and up to when
	// history is missing, by thread and of threads of which nothing is left.
	evicted    []earshot.Terms
	lost       map[earshot.MessageID]earshot.Time
	lostThread earshot.Time
}

type coverageKey struct {
	thread   earshot.MessageID
	from, to earshot.Time
}

func newChannel() *channel {
	return &channel{
		byID:      map[earshot.MessageID]*rule.Message{},
		threads:   map[earshot.MessageID][]*rule.Message{},
		replying:  map[earshot.MessageID][]*rule.Message{},
		history:   map[earshot.MessageID][]rule.Message{},
		reactions: map[earshot.MessageID]*rule.Reactions{},
		coverage:  map[coverageKey]earshot.Coverage{},
		embedded:  map[earshot.MessageID]embedding{},
		blobs:     newBlobs(),
	}
}

// record stores one copy of a message.
func (c *channel) record(in rule.Message, bars rule.Bars) earshot.RecordResult {
	stored := c.byID[in.ID]
	if in.Reactions != nil {
		c.reactionsOf(in.ID)
	}
	in = c.reactions[in.ID].Told(stored, in, bars)
	o := rule.Revise(stored, in)
	change := o.Change
	if o.Past != nil && !c.remember(*o.Past) && o.Change == earshot.Late {
		change = earshot.Same
	}
	if o.Change == earshot.Gone {
		delete(c.history, in.ID)
	}
	if in.Deleted || stored != nil && stored.Deleted {
		delete(c.reactions, in.ID)
	}
	switch {
	case o.Quiet:
		if change == earshot.Same {
			change = earshot.Updated
		}
		c.relist(o.Next)
	case o.Change != earshot.Same && o.Change != earshot.Late && o.Change != earshot.Other:
		c.replace(stored, o.Next)
	}
	return earshot.RecordResult{ID: in.ID, Change: change, Seq: c.byID[in.ID].Seq}
}

// reactionsOf returns who reacted to a message, creating it.
func (c *channel) reactionsOf(id earshot.MessageID) *rule.Reactions {
	if c.reactions[id] == nil {
		c.reactions[id] = rule.NewReactions(nil)
	}
	return c.reactions[id]
}

// relist replaces a message by next, which has the same sequence and position.
func (c *channel) relist(next rule.Message) {
	m := &next
	c.byID[m.ID] = m
	i, _ := slices.BinarySearchFunc(c.known, m.Seq, bySeq)
	c.known[i] = m
	for _, list := range [][]*rule.Message{c.whole, c.threads[m.Thread], c.replying[m.ReplyTo]} {
		if i, at := find(list, m.Position()); at {
			list[i] = m
		}
	}
}

// remember keeps an older revision and reports whether that changed anything.
func (c *channel) remember(past rule.Message) bool {
	list := c.history[past.ID]
	i, found := slices.BinarySearchFunc(list, past, func(a, b rule.Message) int { return cmp.Compare(a.Edited, b.Edited) })
	if !found {
		c.history[past.ID] = slices.Insert(list, i, past)
		return true
	}
	next, changed, quiet := rule.Blend(list[i], past)
	next.Terms = ""
	list[i] = next
	return changed || quiet
}

// replace puts next in stored's place under the next sequence.
func (c *channel) replace(stored *rule.Message, next rule.Message) {
	c.seq++
	next.Seq = c.seq
	m := &next
	if stored != nil {
		c.blobs.revised(stored.Message, m.Message)
		c.stale++
		if m.Text != stored.Text || m.Deleted != stored.Deleted {
			delete(c.embedded, m.ID)
		}
		if i, found := slices.BinarySearchFunc(c.known, stored.Seq, bySeq); found { // its text must not outlive it
			c.known[i] = &rule.Message{Message: earshot.Message{ID: stored.ID, Seq: stored.Seq}}
		}
		if !stored.Deleted {
			c.whole = without(c.whole, stored)
			c.threads[stored.Thread] = without(c.threads[stored.Thread], stored)
			c.replying[stored.ReplyTo] = without(c.replying[stored.ReplyTo], stored)
		}
	}
	c.byID[m.ID] = m
	c.known = append(c.known, m)
	c.compact()
	if !m.Deleted {
		c.begins(m)
		c.whole = with(c.whole, m)
		c.threads[m.Thread] = with(c.threads[m.Thread], m)
		if m.ReplyTo != "" {
			c.replying[m.ReplyTo] = with(c.replying[m.ReplyTo], m)
		}
	}
}

func bySeq(m *rule.Message, seq int64) int { return cmp.Compare(m.Seq, seq) }

// compact removes stale entries from known once they are the greater part.
func (c *channel) compact() {
	if c.stale > len(c.known)/2 {
		c.known = slices.DeleteFunc(c.known, func(k *rule.Message) bool { return c.byID[k.ID] != k })
		c.stale = 0
	}
}

// since returns what became known after seq, by Seq.
func (c *channel) since(seq int64) []*rule.Message {
	i, _ := slices.BinarySearchFunc(c.known, seq+1, bySeq)
	var out []*rule.Message
	for _, m := range c.known[i:] {
		if c.byID[m.ID] == m {
			out = append(out, m)
		}
	}
	return out
}

// part returns the messages of a part by Position. The result is the
// channel's own unless the part is a thread.
func (c *channel) part(p earshot.ChannelPart) []*rule.Message {
	switch {
	case p.IsWhole():
		return c.whole
	case p.IsTopLevel():
		return c.threads[""]
	}
	list := c.threads[p.Thread()]
	root := c.byID[p.Thread()]
	if root == nil || root.Deleted {
		return list
	}
	return with(slices.Clone(list), root)
}

// find returns the index of the first message of list at or after p, and whether it
// is at p.
func find(list []*rule.Message, p earshot.Position) (int, bool) {
	return slices.BinarySearchFunc(list, p, func(m *rule.Message, p earshot.Position) int { return m.Position().Compare(p) })
}

// upTo returns list's messages at or before p; a zero p is no bound.
func upTo(list []*rule.Message, p earshot.Position) []*rule.Message {
	if p.IsZero() {
		return list
	}
	i, at := find(list, p)
	if at {
		i++
	}
	return list[:i]
}

// from returns list's messages at or after p.
func from(list []*rule.Message, p earshot.Position) []*rule.Message {
	if p.IsZero() {
		return list
	}
	i, _ := find(list, p)
	return list[i:]
}

func with(list []*rule.Message, m *rule.Message) []*rule.Message {
	i, at := find(list, m.Position())
	if at {
		return list
	}
	return slices.Insert(list, i, m)
}

func without(list []*rule.Message, m *rule.Message) []*rule.Message {
	i, at := find(list, m.Position())
	switch {
	case !at:
		return list
	case i == 0: // the oldest: the others stay where they are
		list[0] = nil
		return list[1:]
	}
	return slices.Delete(list, i, i+1)
}
