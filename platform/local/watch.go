package local

import (
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

// An Update is something that happened on the platform. Either Message is set, as it
// is stored now, or Draft, an answer that is being written.
type Update struct {
	Channel earshot.Channel
	Change  earshot.Change // of Message
	Message earshot.Message
	Choices []bot.Choice // what can be chosen at Message, as far as this process knows
	Content string       // of the file that Message is, where the bot has sent one
	Draft   *Draft
}

// A Draft is an answer that is being written.
type Draft struct {
	Anchor earshot.MessageID // the question
	Thread earshot.MessageID // the thread of the answer
	Text   string            // the whole text so far; "" when it starts again
	Done   bool              // it is posted or given up
}

// channelDraft is a draft in its channel.
type channelDraft struct {
	scope earshot.Scope
	Draft
}

// Drafts returns the answers that are being written in a channel by this process, in
// the order in which they were begun.
func (p *Platform) Drafts(s earshot.Scope) []Draft {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []Draft
	for _, d := range p.drafts {
		if d.scope == s {
			list = append(list, d.Draft)
		}
	}
	return list
}

// writes remembers a draft until it is done. p.mu is held.
func (p *Platform) writes(s earshot.Scope, d Draft) {
	i := slices.IndexFunc(p.drafts, func(x channelDraft) bool { return x.scope == s && x.Anchor == d.Anchor })
	switch {
	case d.Done && i >= 0:
		p.drafts = slices.Delete(p.drafts, i, i+1)
	case d.Done:
	case i >= 0:
		p.drafts[i].Draft = d
	default:
		p.drafts = append(p.drafts, channelDraft{s, d})
	}
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
	if u.Draft != nil {
		p.writes(u.Channel.Scope(), *u.Draft)
	} else {
		u.Choices = p.Choices(u.Channel.Scope(), u.Message.ID)
	}
	kept := p.watchers[:0]
	for _, w := range p.watchers {
		if w.f != nil {
			w.f(u)
			kept = append(kept, w)
		}
	}
	p.watchers = kept
}
