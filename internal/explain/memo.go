package explain

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/inputref"
)

// A replayCache is a store for replays of several turns of one conversation, which read the
// same turns and messages again and count the same texts. It is for one request, of one goroutine.
type replayCache struct {
	inputref.Store
	lists  map[earshot.ConversationID][]earshot.Turn
	turns  map[turnKey]earshot.Turn
	counts map[string]map[string]int // of texts, by the counter's name
	// messages are those of one channel; nil where one is not stored.
	messages map[earshot.MessageID]*earshot.Message
	scope    earshot.Scope
}

type turnKey struct {
	of     earshot.ConversationID
	number int
}

func newMemo(st inputref.Store) *replayCache {
	return &replayCache{Store: st, lists: map[earshot.ConversationID][]earshot.Turn{}, turns: map[turnKey]earshot.Turn{}, counts: map[string]map[string]int{}, messages: map[earshot.MessageID]*earshot.Message{}}
}

// ByID implements [inputref.Store].
func (m *replayCache) ByID(ctx context.Context, at earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error) {
	if at != m.scope {
		m.scope = at
		clear(m.messages)
	}
	var missing []earshot.MessageID
	for _, id := range ids {
		if _, ok := m.messages[id]; !ok {
			m.messages[id] = nil
			missing = append(missing, id)
		}
	}
	if len(missing) > 0 {
		list, err := m.Store.ByID(ctx, at, missing...)
		if err != nil {
			clear(m.messages)
			return nil, err
		}
		for i := range list {
			m.messages[list[i].ID] = &list[i]
		}
	}
	out := make([]earshot.Message, 0, len(ids))
	for _, id := range ids {
		if x := m.messages[id]; x != nil {
			out = append(out, *x)
		}
	}
	return out, nil
}

// Turns implements [inputref.Store]; only all turns are kept.
func (m *replayCache) Turns(ctx context.Context, of earshot.ConversationID, limit int) ([]earshot.Turn, error) {
	if limit != 0 {
		return m.Store.Turns(ctx, of, limit)
	}
	if list, ok := m.lists[of]; ok {
		return list, nil
	}
	list, err := m.Store.Turns(ctx, of, 0)
	if err == nil {
		m.lists[of] = list
	}
	return list, err
}

// Turn implements [inputref.Store].
func (m *replayCache) Turn(ctx context.Context, of earshot.ConversationID, number int) (earshot.Turn, error) {
	key := turnKey{of, number}
	if t, ok := m.turns[key]; ok {
		return t, nil
	}
	t, err := m.Store.Turn(ctx, of, number)
	if err == nil {
		m.turns[key] = t
	}
	return t, err
}

// counting is a counter that counts each text once.
func (m *replayCache) counting(c assemble.Counter) assemble.Counter {
	if m.counts[c.Name()] == nil {
		m.counts[c.Name()] = map[string]int{}
	}
	return countedOnce{c, m.counts[c.Name()]}
}

type countedOnce struct {
	assemble.Counter
	counts map[string]int
}

// Count implements [assemble.Counter].
func (c countedOnce) Count(s string) int {
	n, ok := c.counts[s]
	if !ok {
		n = c.Counter.Count(s)
		c.counts[s] = n
	}
	return n
}
