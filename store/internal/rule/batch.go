package rule

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
)

// A Batch computes what Record writes for messages of one channel: each changed
// row once, however many copies of a message arrive. An engine loads the stored
// messages and revisions, calls Add for every copy in order, and then writes
// what Inserts, Updates, Relisted, Kept, Forgotten, Drops and Counters return.
type Batch struct {
	Bars  Bars // what may not be recorded
	New   bool // the channel was not stored
	Early bool // somebody reacted to messages of the channel before they were stored

	seq     int64
	awaited earshot.Time
	entries map[earshot.MessageID]*entry
	order   []*entry // those that changed, in the order of their first change
	quiet   []*entry // those that changed without a sequence, likewise
}

// An entry is a message before and after, with its older revisions.
type entry struct {
	before, after *Message // before is nil when it is not stored
	past          map[earshot.Time]Message
	kept          map[earshot.Time]bool // those of past that are to be written
	forgotten     bool                  // it was known, and became a tombstone
	quoted        QuotableWords         // of its tombstone
	changed       bool
	whole         bool       // changed in more than its lists
	quiet         bool       // changed without a sequence
	reactions     *Reactions // nil while nothing was told of them
}

// NewBatch returns a Batch for a channel whose last sequence is seq. stored are
// those of the messages to be added that are stored already.
func NewBatch(seq int64, stored []earshot.Message) *Batch {
	b := &Batch{seq: seq, entries: map[earshot.MessageID]*entry{}}
	for _, m := range stored {
		e := b.entry(m.ID)
		e.before = &Message{Message: m}
		e.after = e.before
	}
	return b
}

func (b *Batch) entry(id earshot.MessageID) *entry {
	e := b.entries[id]
	if e == nil {
		e = &entry{}
		b.entries[id] = e
	}
	return e
}

// Revised lists, by id, those of messages that have more than one revision,
// stored or among messages. Their older revisions must be passed to Load before
// Add is called.
func (b *Batch) Revised(messages []Message) []earshot.MessageID {
	type revision struct {
		edited  earshot.Time
		several bool
	}
	seen := map[earshot.MessageID]revision{}
	for id, e := range b.entries {
		if !e.before.Deleted {
			seen[id] = revision{edited: e.before.Edited}
		}
	}
	for _, m := range messages {
		if m.Deleted {
			continue
		}
		r, ok := seen[m.ID]
		if !ok {
			r.edited = m.Edited
		}
		r.several = r.several || r.edited != m.Edited
		seen[m.ID] = r
	}
	maps.DeleteFunc(seen, func(_ earshot.MessageID, r revision) bool { return !r.several })
	return slices.Sorted(maps.Keys(seen))
}

// Load adds the stored older revisions of the messages that Revised listed.
func (b *Batch) Load(revisions []earshot.Message) {
	for _, m := range revisions {
		b.entry(m.ID).keep(Message{Message: m}, false)
	}
}

// Reacted lists those of the messages whose stored reactions must be passed to
// LoadReactions before Add or React is called: what is told of them changes them, or
// they may have been there before their message.
func (b *Batch) Reacted(messages []Message) []earshot.MessageID {
	var out []earshot.MessageID
	for _, m := range messages {
		e := b.entries[m.ID]
		stored := e != nil && e.before != nil
		if !m.Deleted && (stored && m.Reactions != nil || !stored && b.Early) {
			out = append(out, m.ID)
		}
	}
	return IDs(out)
}

// LoadReactions adds the stored rows of the messages that Reacted listed.
func (b *Batch) LoadReactions(rows []Gave) {
	of := map[earshot.MessageID][]Gave{}
	for _, g := range rows {
		of[g.Message] = append(of[g.Message], g)
	}
	for id, rows := range of {
		b.entry(id).reactions = NewReactions(rows)
	}
}

// React takes what somebody did to a message. Of a message that is not stored it is
// kept until the message is. The error is [earshot.ErrNotFound] where the channel is
// not stored either.
func (b *Batch) React(x earshot.ReactionEvent) (earshot.RecordResult, error) {
	if b.New {
		return earshot.RecordResult{}, fmt.Errorf("the channel of message %q: %w", x.Message, earshot.ErrNotFound)
	}
	e := b.entry(x.Message)
	out := earshot.RecordResult{ID: x.Message, Change: earshot.Same}
	if e.after != nil {
		out.Seq = e.after.Seq
	}
	if e.after != nil && e.after.Deleted || b.Bars.Ignores(x) {
		return out, nil
	}
	if e.reactions == nil {
		e.reactions = NewReactions(nil)
	}
	counts, changed := e.reactions.React(e.after, x)
	if e.after == nil {
		b.awaited = max(b.awaited, x.At)
	}
	if !changed {
		return out, nil
	}
	next := *e.after
	next.Reactions = counts
	b.news(e, next)
	out.Change, out.Seq = earshot.Updated, b.seq
	return out, nil
}

// news gives a message that changed the next sequence.
func (b *Batch) news(e *entry, next Message) {
	b.seq++
	next.Seq = b.seq
	if e.after = &next; !e.changed {
		e.changed = true
		b.order = append(b.order, e)
	}
}

// Gave returns the rows of reactions that are to be written and to be deleted.
func (b *Batch) Gave() (write, drop []Gave) {
	for _, id := range slices.Sorted(maps.Keys(b.entries)) {
		e := b.entries[id]
		if e.after != nil && e.after.Deleted {
			continue
		}
		w, d := e.reactions.Changes(id)
		write, drop = append(write, w...), append(drop, d...)
	}
	return write, drop
}

// Awaited returns when the last reaction happened whose message is not stored; 0 where
// there is none.
func (b *Batch) Awaited() earshot.Time { return b.awaited }

// Buried lists the messages that became tombstones and may have rows of reactions,
// which are to be deleted.
func (b *Batch) Buried() []earshot.MessageID {
	var out []earshot.MessageID
	for _, e := range b.order {
		if e.after.Deleted && (b.Early || e.before != nil) {
			out = append(out, e.after.ID)
		}
	}
	return out
}

// Changed reports whether a sequence was given.
func (b *Batch) Changed() bool { return len(b.order) > 0 }

// Add decides what one copy of a message changes.
func (b *Batch) Add(in Message) earshot.RecordResult {
	known := b.entries[in.ID]
	if b.Bars.Refuses(in, known != nil && known.after != nil) {
		return earshot.RecordResult{ID: in.ID, Change: earshot.Same}
	}
	in = b.Bars.Admit(in)
	quoted := in.Quoted
	in.Quoted = nil
	e := b.entry(in.ID)
	if e.reactions == nil && in.Reactions != nil {
		e.reactions = NewReactions(nil)
	}
	in = e.reactions.Told(e.after, in, b.Bars)
	o := Revise(e.after, in)
	out := earshot.RecordResult{ID: in.ID, Change: o.Change}
	if o.Past != nil && !e.remember(*o.Past) && o.Change == earshot.Late {
		out.Change = earshot.Same
	}
	if o.Change == earshot.Gone {
		e.forgotten, e.quoted = e.after != nil, quoted
		clear(e.past)
		clear(e.kept)
	}
	next := o.Next
	if o.Quiet {
		if out.Change == earshot.Same {
			out.Change = earshot.Updated
		}
		if !e.quiet {
			e.quiet = true
			b.quiet = append(b.quiet, e)
		}
		e.after = &next
	}
	if o.Quiet || o.Change == earshot.Same || o.Change == earshot.Late || o.Change == earshot.Other {
		out.Seq = e.after.Seq
		return out
	}
	e.whole = e.whole || !o.Listed
	b.news(e, next)
	out.Seq = b.seq
	return out
}

// remember keeps an older revision and reports whether that changed anything.
func (e *entry) remember(past Message) bool {
	if have, ok := e.past[past.Edited]; ok {
		next, changed, quiet := Blend(have, past)
		if !changed && !quiet {
			return false
		}
		past = next
		past.Terms = ""
	}
	e.keep(past, true)
	return true
}

// keep notes an older revision, and whether it is to be written.
func (e *entry) keep(past Message, write bool) {
	if e.past == nil {
		e.past, e.kept = map[earshot.Time]Message{}, map[earshot.Time]bool{}
	}
	e.past[past.Edited] = past
	if write {
		e.kept[past.Edited] = true
	}
}

// Seq returns a message's sequence after what was added so far, 0 when it is not
// stored.
func (b *Batch) Seq(id earshot.MessageID) int64 {
	if e := b.entries[id]; e != nil && e.after != nil {
		return e.after.Seq
	}
	return 0
}

// Deleted reports whether a message is a tombstone after what was added so far.
func (b *Batch) Deleted(id earshot.MessageID) bool {
	e := b.entries[id]
	return e != nil && e.after != nil && e.after.Deleted
}

// Inserts are the messages that were not stored.
func (b *Batch) Inserts() []*Message { return b.rows(true) }

// Updates are the stored messages that changed in more than their lists.
func (b *Batch) Updates() []*Message { return b.rows(false) }

func (b *Batch) rows(inserts bool) []*Message {
	var out []*Message
	for _, e := range b.order {
		if (e.before == nil) == inserts && e.whole {
			out = append(out, e.after)
		}
	}
	return out
}

// Relisted are the stored messages of which only the lists changed, and the sequence
// where that is news.
func (b *Batch) Relisted() []*Message {
	var out []*Message
	for _, e := range b.order {
		if !e.whole {
			out = append(out, e.after)
		}
	}
	for _, e := range b.quiet {
		if !e.changed {
			out = append(out, e.after)
		}
	}
	return out
}

// Kept are the older revisions to be written, by id and edit time. Each replaces
// the stored one of the same id and edit time.
func (b *Batch) Kept() []Message {
	var out []Message
	for _, e := range b.entries {
		for edited := range e.kept {
			out = append(out, e.past[edited])
		}
	}
	slices.SortFunc(out, func(x, y Message) int { return cmp.Or(cmp.Compare(x.ID, y.ID), cmp.Compare(x.Edited, y.Edited)) })
	return out
}

// Forgotten are the tombstones of messages that were known. Their older
// revisions are to be deleted, and all other copies of their text.
func (b *Batch) Forgotten() []earshot.Message {
	var out []earshot.Message
	for _, e := range b.order {
		if e.forgotten {
			out = append(out, e.after.Message)
		}
	}
	return out
}

// Scrub applies Bars.Scrub to the stored messages and to their older revisions,
// which must be loaded. It returns the messages that it changed.
func (b *Batch) Scrub(bars Bars) []earshot.MessageID {
	var out []earshot.MessageID
	for _, id := range slices.Sorted(maps.Keys(b.entries)) {
		e := b.entries[id]
		if e.after == nil || e.after.Deleted {
			continue
		}
		some := false
		for _, past := range e.past {
			if next, changed := bars.Scrub(past); changed {
				next.Terms, some = "", true
				e.keep(next, true)
			}
		}
		if next, changed := bars.Scrub(*e.after); changed {
			e.whole, some = true, true
			b.news(e, next)
		}
		if some {
			out = append(out, id)
		}
	}
	return out
}

// ScrubNotes removes the values of the stored messages' metadata of which holds is true.
// That is no news, and no session has read them.
func (b *Batch) ScrubNotes(holds func(string) bool) (changed bool) {
	for _, e := range b.entries {
		if e.after == nil || e.after.Deleted {
			continue
		}
		if kept, less := NotesWithout(e.after.Metadata, holds); less {
			next := *e.after
			next.Metadata = kept
			e.after, e.quiet, changed = &next, true, true
			b.quiet = append(b.quiet, e)
		}
	}
	return changed
}

// Stored returns a message as it was before, and whether it was stored.
func (b *Batch) Stored(id earshot.MessageID) (earshot.Message, bool) {
	if e := b.entries[id]; e != nil && e.before != nil {
		return e.before.Message, true
	}
	return earshot.Message{}, false
}

// Words returns the words by which what has read a message that Forgotten returned is
// compared with it. past are its older revisions.
func (b *Batch) Words(id earshot.MessageID, past []earshot.Message) QuotableWords {
	e := b.entries[id]
	switch {
	case e == nil || e.before == nil:
		return nil
	case e.quoted != nil:
		return e.quoted
	}
	texts := MessageTexts(e.before.Message)
	for _, m := range past {
		texts = append(texts, MessageTexts(m)...)
	}
	return WordsOf(texts...)
}

// Counters are what a batch changes in a channel's counters: Seq is the last
// sequence given, the rest is to be added to what is stored. Deleted messages
// are not counted.
type Counters struct {
	Seq      int64
	Messages int64
	Top      int64                       // those at the top level
	Replies  map[earshot.MessageID]int64 // by root; no entry is 0
}

// Counters adds up what the changed rows change.
func (b *Batch) Counters() Counters {
	c := Counters{Seq: b.seq, Replies: map[earshot.MessageID]int64{}}
	add := func(m *Message, n int64) {
		if m == nil || m.Deleted {
			return
		}
		c.Messages += n
		if m.Thread == "" {
			c.Top += n
		} else {
			c.Replies[m.Thread] += n
		}
	}
	for _, e := range b.order {
		add(e.before, -1)
		add(e.after, +1)
	}
	maps.DeleteFunc(c.Replies, func(_ earshot.MessageID, n int64) bool { return n == 0 })
	return c
}
