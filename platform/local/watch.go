package local

import "github.com/earshot-ai/earshot"

// An Update is something that happened on the platform. Either Message is set, as it
// is stored now, or Draft, an answer that is being written.
type Update struct {
	Channel earshot.Channel
	Change  earshot.Change // of Message
	Message earshot.Message
	Draft   *Draft
}

// A Draft is an answer that is being written.
type Draft struct {
	Anchor earshot.MessageID // the question
	Thread earshot.MessageID // the thread of the answer
	Text   string            // the whole text so far; "" when it starts again
	Done   bool              // it is posted or given up
}

type watcher struct{ f func(Update) }

// Watch calls f for each update, in order and never concurrently, until stop is
// called. f must return quickly and must not call the platform.
func (p *Platform) Watch(f func(Update)) (stop func()) {
	w := &watcher{f}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watchers = append(p.watchers, w)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		w.f = nil
	}
}

func (p *Platform) tell(u Update) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := p.watchers[:0]
	for _, w := range p.watchers {
		if w.f != nil {
			w.f(u)
			kept = append(kept, w)
		}
	}
	p.watchers = kept
}
