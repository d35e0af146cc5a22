package discord

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// What threads are called is stored with the messages that they begin with. Discord tells
// it with the thread, and tells of a rename without the message.

// tagsOf returns the tags of a forum by id, and asks Discord for them where they are not
// known; ok is false where it does not tell them now.
func (d *directory) tagsOf(ctx context.Context, forum string) (tags map[string]string, ok bool) {
	if tags, ok = d.tags.Get(forum); ok {
		return tags, true
	}
	_, err := d.ask(ctx, forum)
	if tags, ok = d.tags.Get(forum); ok {
		return tags, true
	}
	if err == nil || errors.Is(err, errNoAccess) { // it has none, or will not tell
		d.tags.Put(forum, nil)
		return nil, true
	}
	d.p.o.Log.Debug("the tags of a forum are not known", "channel", forum, "err", err)
	return nil, false
}

// learnTags remembers the tags that a channel's object offers.
func (d *directory) learnTags(id string, raw []byte) {
	if tags, ok := discordmsg.ReadTags(raw); ok {
		d.tags.Put(id, tags)
	}
}

// subject returns what a thread is called, nil where it has no name. post says that the
// thread is known to be a forum's post. Where its tags are not known it takes no other's
// place.
func (d *directory) subject(ctx context.Context, c discordmsg.ChannelInfo, post bool) *earshot.Subject {
	if parent, ok := d.places.Get(c.Parent); ok && parent.forum() {
		post = true
	}
	var tags map[string]string
	known := true
	if c.Applied != "" {
		tags, known = d.tagsOf(ctx, c.Parent)
	}
	x := c.Subject(post, tags)
	switch {
	case x == nil:
	case known:
		x.AsOf = earshot.TimeOf(d.p.o.Now())
	default:
		x.AsOf = unsureOf
	}
	return x
}

// unsureOf is the time of a subject of which not all is known: before any other.
const unsureOf earshot.Time = 1

// ownName reports whether a thread is called what we call a thread that we begin from a
// message: that is the message's own words.
func (p *Platform) ownName(m earshot.Message, x *earshot.Subject) bool {
	return x != nil && !x.Post && x.Name == threadName(p.identity, m)
}

// learnSubject stores what a thread is called with the message that it begins with, where
// the store has that message and another name.
func (p *Platform) learnSubject(ctx context.Context, at place) error {
	if at.thread() == "" || string(at.channel().ID) == at.ID {
		return nil
	}
	if told, ok := p.subjects.Get(at.ID); ok && told == (toldSubject{at.Name, at.Applied}) {
		return nil
	}
	s := at.channel().Scope()
	root, err := p.o.Store.Message(ctx, s, at.thread())
	if errors.Is(err, earshot.ErrNotFound) {
		return nil // the name comes with it
	}
	if err != nil {
		return fmt.Errorf("thread %s: %w", at.ID, err)
	}
	x := p.directory.subject(ctx, at.ChannelInfo, root.Subject != nil && root.Subject.Post)
	if x != nil && x.AsOf == unsureOf && root.Subject != nil {
		return nil // told with the next message
	}
	if !root.Deleted && x != nil && !x.Equal(root.Subject) && !(root.Subject == nil && p.ownName(root, x)) {
		root.Subject = x
		root.Mentions, root.Reactions, root.Shared, root.Files, root.Metadata = nil, nil, nil, nil, nil // what is stored stays
		told, err := p.o.Store.Record(ctx, s, root)
		if err == nil && told[0].Change == earshot.New { // erased since it was read: it does not come back with its thread's name
			_, err = p.o.Store.Record(ctx, s, discordmsg.Tombstone(root.ID))
		}
		if err != nil {
			return fmt.Errorf("thread %s: %w", at.ID, err)
		}
	}
	if x == nil || x.AsOf != unsureOf {
		p.subjects.Put(at.ID, toldSubject{at.Name, at.Applied})
	}
	return nil
}

// A toldSubject is what of a thread was stored last.
type toldSubject struct{ name, tags string }
