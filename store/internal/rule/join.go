package rule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search/index"
)

// A JoinState is what decides whether a channel that gets another id can be joined with
// what is stored under that id.
type JoinState struct {
	From, To      earshot.Scope
	Conversations []JoinedConversation // those of one agent and name that both have
	Twice         *earshot.ConversationID
	Anchor        earshot.MessageID // of two turns of an agent's, in the conversation Twice
	Post          string            // the key of two posts
	Was, Is       JoinSide
}

// A JoinSide is one of two channels.
type JoinSide struct {
	Bars    []Bar // its own, by author
	Reached []Bar // bars of the other one that reach something it has, see [Unbarred]
}

// A JoinedConversation is a conversation that both channels have.
type JoinedConversation struct {
	ID      earshot.ConversationID // in the channel that moves
	Was, Is ConversationSide
}

// A ConversationSide is one of two conversations.
type ConversationSide struct {
	Turns int  // that are committed
	Said  bool // it has a key, metadata, or something is said of it
	Begun bool // it has a turn that began and has not ended
}

func (x ConversationSide) isBare() bool { return x.Turns == 0 && !x.Said && !x.Begun }

// KeepsOld reports whether what is kept of both is the row of the channel that moves.
func (x JoinedConversation) KeepsOld() bool { return x.Is.isBare() }

// Check returns an [earshot.ErrConflict] that names what cannot be joined, and what can be
// done about it.
func (x JoinState) Check() error {
	refused := func(format string, args ...any) error {
		return fmt.Errorf("move channel %s to %s: %s: %w", x.From.Channel, x.To.Channel, fmt.Sprintf(format, args...), earshot.ErrConflict)
	}
	apart := fmt.Sprintf("what was said before stays under %s: it can be read there, or erased (earshot erase --channel %s)", x.From.Channel, x.From.Channel)
	for _, c := range x.Conversations {
		switch {
		case c.Was.isBare() || c.Is.isBare():
		case c.Was.Turns > 0 && c.Is.Turns > 0:
			return refused("%s has a session of conversation %q in both; %s", c.ID.Agent, c.ID.Name, apart)
		case c.Was.Begun || c.Is.Begun:
			return refused("%s is answering in conversation %q, which both have; it can be moved once that turn has ended", c.ID.Agent, c.ID.Name)
		default:
			return refused("conversation %q of %s was created in both; %s", c.ID.Name, c.ID.Agent, apart)
		}
	}
	if x.Twice != nil {
		return refused("%s has a turn for message %s in both; %s", x.Twice.Agent, x.Anchor, apart)
	}
	if x.Post != "" {
		return refused("both have a post with the key %q; %s", x.Post, apart)
	}
	for _, side := range []struct {
		of, in earshot.ChannelID
		bars   []Bar
	}{{x.From.Channel, x.To.Channel, x.Is.Reached}, {x.To.Channel, x.From.Channel, x.Was.Reached}} {
		if len(side.bars) > 0 {
			who := "what everybody"
			if id := side.bars[0].Author; id != "" {
				who = "what " + string(id)
			}
			return refused("%s said in %s was erased, and %s has something of it; erase the same of %s (earshot erase), and it can be moved", who, side.of, side.in, side.in)
		}
	}
	return nil
}

// Unbarred returns those of others, the bars of another channel, that bar more than mine do.
func Unbarred(mine, others []Bar) (out []Bar) {
	for _, b := range others {
		i := slices.IndexFunc(mine, func(m Bar) bool { return m.Author == b.Author })
		if i < 0 || mine[i].Until < b.Until || mine[i].Floor < b.Floor {
			out = append(out, b)
		}
	}
	return out
}

// Reaches reports whether a stored message may not stand where the bar holds as it is.
func (x Bar) Reaches(m Message) bool {
	bars := NewBars([]Bar{x})
	if m.Deleted {
		return false
	}
	_, changed := bars.Scrub(m)
	return changed || bars.Refuses(m, false) || m.Time <= bars.until(m.Author.ID)
}

// JoinBars returns the bars of two channels as those of one.
func JoinBars(a, b []Bar) []Bar {
	of := map[earshot.AuthorID]Bar{}
	for _, x := range slices.Concat(a, b) {
		have := of[x.Author]
		of[x.Author] = Bar{Author: x.Author, Until: max(have.Until, x.Until), Floor: max(have.Floor, x.Floor)}
	}
	var out []Bar
	for _, x := range of {
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b Bar) int { return strings.Compare(string(a.Author), string(b.Author)) })
	return out
}

// JoinChannelInfo returns what is stored of two channels as of one: of each field what was
// told later, and what is known under the new id where nobody knows when.
func JoinChannelInfo(was, is earshot.Channel, told, now ChannelTimes) (earshot.Channel, ChannelTimes) {
	join := func(have *string, old string, at *earshot.Time, then earshot.Time) {
		if old != "" && (*have == "" || then > *at) {
			*have, *at = old, then
		}
	}
	kind := string(is.Kind)
	join(&is.Name, was.Name, &now.Name, told.Name)
	join(&kind, string(was.Kind), &now.Kind, told.Kind)
	join(&is.Topic, was.Topic, &now.Topic, told.Topic)
	join(&is.Purpose, was.Purpose, &now.Purpose, told.Purpose)
	is.Kind, is.Shared = earshot.ChannelKind(kind), is.Shared || was.Shared
	return is, now
}

// Copies returns a stored message, nil where only reactions are, with those of past that
// are its older revisions, as copies that can be recorded again in another channel; by is
// added to their sequences. Reactions are told apart, see [Batch.Join].
func Copies(id earshot.MessageID, past []earshot.Message, m *earshot.Message, by int64) []Message {
	var list []earshot.Message
	for _, p := range past {
		if p.ID == id {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b earshot.Message) int { return cmp.Compare(a.Edited, b.Edited) })
	if m != nil {
		list = append(list, *m)
	}
	out := make([]Message, len(list))
	cutter := cutters.Get().(*index.Cutter)
	defer cutters.Put(cutter)
	for i, c := range list {
		c.Reactions, c.Reactors = nil, nil
		c.Mentions = toldList(c.Mentions, c.AsOf.Mentions)
		c.Shared = toldList(c.Shared, c.AsOf.Shared)
		c.Files = toldList(c.Files, c.AsOf.Files)
		if c.Seq > 0 {
			c.Seq += by
		}
		out[i].Message = c
		out[i].measure(cutter)
	}
	return out
}

// toldList returns a list as it was told at a time, 0 if it was not: that it was empty is
// not stored.
func toldList[T any](list []T, at earshot.Time) []T {
	if list == nil && at != 0 {
		return []T{}
	}
	return list
}

// Join adds the copies of a message that another channel has, and who reacted to it there:
// counts are its reactions, nil where nothing is known of them or it is not stored.
func (b *Batch) Join(id earshot.MessageID, copies []Message, gave []Gave, counts []earshot.Reaction) {
	for _, c := range copies {
		b.Add(c)
	}
	e := b.entry(id)
	if e.after != nil && e.after.Deleted {
		return
	}
	if e.reactions == nil {
		e.reactions = NewReactions(nil)
	}
	var have []earshot.Reaction
	if e.after != nil {
		have = e.after.Reactions
	}
	joined := e.reactions.Join(have, NewReactions(gave), counts)
	if e.after != nil && !SameCounts(joined, have) {
		next := *e.after
		next.Reactions = joined
		b.news(e, next)
	}
}

// SameCounts reports whether two lists of reactions say the same; nil is unknown.
func SameCounts(a, b []earshot.Reaction) bool { return (a == nil) == (b == nil) && slices.Equal(a, b) }

// Join takes over what is known of a message's reactions elsewhere, and returns the counts
// that follow; nil where nothing is known at all. have and theirs are the counts of both.
func (r *Reactions) Join(have []earshot.Reaction, o *Reactions, theirs []earshot.Reaction) []earshot.Reaction {
	if have == nil && theirs == nil && len(r.now) == 0 && len(o.now) == 0 {
		return nil
	}
	r.know(have)
	o.know(theirs)
	r.clearedBy(o)
	o.clearedBy(r)
	for at, g := range o.now {
		r.now[at] = joinGave(r.now[at], g)
	}
	return r.counts(slices.Concat(have, theirs))
}

// clearedBy takes away what o knows to have been taken away with all, and r does not.
func (r *Reactions) clearedBy(o *Reactions) {
	for at, g := range r.now {
		gone := o.gone(at.emoji)
		switch {
		case at.emoji == "" || gone <= r.gone(at.emoji):
			continue
		case at.author != "":
			if g.Was = 0; g.Given && g.At <= gone {
				g.Given, g.At = false, gone
			}
		case g.First <= gone:
			g.Was = 0
		}
		r.now[at] = g
	}
}

// gone is when all of an emoji were taken away; 0: they were not.
func (r *Reactions) gone(emoji string) earshot.Time {
	return max(r.now[reactionGiver{}].At, r.now[reactionGiver{emoji: emoji}].At)
}

// joinGave returns two rows of one person, or of everybody, as one; a zero row knows
// nothing.
func joinGave(a, b Gave) Gave {
	switch {
	case a == (Gave{}):
		return b
	case a.Author == "":
		if b.First > a.First || b.First == a.First && b.Was > a.Was {
			a.First, a.Was = b.First, b.Was
		}
		a.At = max(a.At, b.At)
		return a
	}
	switch {
	case b.First < a.First:
		a.First, a.Was = b.First, b.Was
	case b.First == a.First && a.First != 0: // of one moment, giving comes before taking away, see add
		a.Was = min(a.Was, b.Was)
	}
	if b.At > a.At || b.At == a.At && !b.Given {
		a.Given, a.At = b.Given, b.At
	}
	return a
}
