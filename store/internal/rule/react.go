package rule

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// A Gave is a row of who gave an emoji to a message. Of a person (Author) it is what is
// known of them; with Author "" it is what is known of everybody, and with Emoji ""
// too, of every emoji.
type Gave struct {
	Message earshot.MessageID
	Emoji   string
	Author  earshot.AuthorID
	First   earshot.Time // of a person, when the first thing that is known of them happened, 0: history told it; of everybody, when the platform was asked, 0: unknown
	Was     int          // of a person, 1 where they had given it before First, or when history told it; of everybody, how many history told
	Given   bool         // they have given it
	At      earshot.Time // of a person, since when; of everybody, when all was taken away
}

type reactionGiver struct {
	emoji  string
	author earshot.AuthorID
}

// persons reports whether somebody is known.
func (r *Reactions) persons() bool {
	for at := range r.now {
		if at.author != "" {
			return true
		}
	}
	return false
}

// Reactions are who gave which emojis to one message. The persons who are known are a
// set: what is told again changes nothing, and the order in which it is told neither.
// Of those whom history counts and does not name, as many are added as are not known
// by now.
type Reactions struct {
	stored, now map[reactionGiver]Gave
}

// CheckReacted normalises x. The error is [earshot.ErrInvalid].
func CheckReacted(x earshot.ReactionEvent) (earshot.ReactionEvent, error) {
	x.Message, x.Author, x.Emoji = text(x.Message), text(x.Author), Text(x.Emoji)
	switch {
	case x.Message == "":
		return x, fmt.Errorf("%w: a reaction names no message", earshot.ErrInvalid)
	case x.At <= 0:
		return x, fmt.Errorf("%w: a reaction has no time", earshot.ErrInvalid)
	case x.Emoji == "" && !x.All:
		return x, fmt.Errorf("%w: a reaction has no emoji", earshot.ErrInvalid)
	case x.All && (x.Author != "" || !x.Taken):
		return x, fmt.Errorf("%w: of everybody an emoji can only be taken away", earshot.ErrInvalid)
	}
	for _, f := range []struct{ name, id string }{{"message", string(x.Message)}, {"author", string(x.Author)}, {"emoji", x.Emoji}} {
		if len(f.id) > MaxID {
			return x, tooLong(f.name, len(f.id))
		}
	}
	return x, nil
}

// Stub is a message for [Batch.React]: with it an engine makes the batch that the
// reaction is told to.
func Stub(x earshot.ReactionEvent) Message {
	return Message{Message: earshot.Message{ID: x.Message, Reactions: []earshot.Reaction{}, Reactors: &earshot.Reactors{List: []earshot.Reactor{{ID: x.Author}}}}}
}

// NewReactions returns the reactions of a message by their rows.
func NewReactions(rows []Gave) *Reactions {
	r := &Reactions{stored: map[reactionGiver]Gave{}}
	for _, g := range rows {
		g.Message = ""
		r.stored[reactionGiver{g.Emoji, g.Author}] = g
	}
	r.now = maps.Clone(r.stored)
	return r
}

// Clone returns a copy.
func (r *Reactions) Clone() *Reactions { return &Reactions{maps.Clone(r.stored), maps.Clone(r.now)} }

// Told takes what a copy of a message tells of its reactions, and returns the copy with
// the counts that follow; they are nil where nothing is told. stored is the message as
// it is stored, nil where it is not: then the reactions may have been there before it.
// r is nil where nothing is told and nothing is known.
func (r *Reactions) Told(stored *Message, in Message, bars Bars) Message {
	switch {
	case r == nil || in.Deleted || stored != nil && stored.Deleted:
	case in.Reactions == nil && stored == nil:
		in.Reactions = r.counts(nil)
	case in.Reactions != nil:
		var have []earshot.Reaction
		if stored != nil {
			have = stored.Reactions
		}
		in.Reactions = r.tell(have, in.Reactions, in.Reactors, bars)
	}
	in.Reactors = nil
	return in
}

// React takes what somebody did, and returns the counts that follow and whether the
// stored message, nil where there is none, has others.
func (r *Reactions) React(stored *Message, x earshot.ReactionEvent) (counts []earshot.Reaction, changed bool) {
	if stored == nil {
		r.add(nil, x)
		return nil, false
	}
	counts = r.add(stored.Reactions, x)
	return counts, !slices.Equal(counts, stored.Reactions)
}

// know makes of the counts of emojis of which no row is stored what history told.
func (r *Reactions) know(counts []earshot.Reaction) {
	some := map[string]bool{}
	for at := range r.now {
		some[at.emoji] = true
	}
	for _, c := range counts {
		if !some[c.Name] {
			r.now[reactionGiver{emoji: c.Name}] = Gave{Emoji: c.Name, Was: c.Count}
		}
	}
}

// add takes what somebody did. counts are the message's, and so is what it returns.
func (r *Reactions) add(counts []earshot.Reaction, x earshot.ReactionEvent) []earshot.Reaction {
	r.know(counts)
	all := reactionGiver{emoji: x.Emoji}
	switch {
	case x.All:
		for at, g := range r.now {
			if x.Emoji != "" && x.Emoji != at.emoji {
				continue
			}
			g.Was = 0
			if at.author != "" && g.At <= x.At {
				g.Given, g.At = false, x.At
			}
			r.now[at] = g
		}
		g := r.now[all]
		r.now[all] = Gave{Emoji: x.Emoji, First: g.First, At: max(g.At, x.At)}
	case x.At <= max(r.now[reactionGiver{}].At, r.now[all].At): // it was taken away with all
	case x.Author == "":
		g := r.now[all]
		_, in := r.known(x.Emoji)
		g.Emoji, g.Was = x.Emoji, max(g.Was, in)+1
		if x.Taken {
			g.Was -= 2 // below in: nothing that could be taken back
		}
		r.now[all] = g
	default:
		at := reactionGiver{x.Emoji, x.Author}
		g, known := r.now[at]
		if !known {
			g = Gave{Emoji: x.Emoji, Author: x.Author, First: x.At, Was: boolToInt(x.Taken), Given: !x.Taken, At: x.At}
		}
		if g.First != 0 && (x.At < g.First || x.At == g.First && !x.Taken) {
			g.First, g.Was = x.At, boolToInt(x.Taken)
		}
		if x.At > g.At || x.At == g.At && x.Taken {
			g.Given, g.At = !x.Taken, x.At
		}
		r.now[at] = g
	}
	return r.counts(counts)
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// tell takes what a copy of the message tells of its reactions. counts are those that
// are stored. People who are barred are counted and not named.
func (r *Reactions) tell(counts, told []earshot.Reaction, by *earshot.Reactors, bars Bars) []earshot.Reaction {
	r.know(counts)
	if by == nil {
		by = &earshot.Reactors{}
	}
	listed, names := map[reactionGiver]bool{}, map[string]int{}
	for _, x := range by.List {
		at := reactionGiver{x.Emoji, x.ID}
		if x.ID == "" || listed[at] {
			continue
		}
		listed[at] = true
		names[x.Emoji]++
		if _, known := r.now[at]; !known && bars.until(x.ID) == 0 {
			r.now[at] = Gave{Emoji: x.Emoji, Author: x.ID, Given: true, At: x.At}
		}
	}
	n := map[string]int{}
	for _, c := range told {
		n[c.Name] = max(n[c.Name], c.Count, names[c.Name])
	}
	given := map[string]int{} // those known to have given it when the platform was asked
	for at, g := range r.now {
		if at.author != "" && g.Given && g.At <= by.AsOf {
			given[at.emoji]++
		}
	}
	for at, g := range r.now {
		n[at.emoji] += 0
		if at.author == "" {
			continue
		}
		switch {
		case listed[at]:
			if !g.Given && g.At < by.AsOf {
				g.Given, g.At = true, g.At+1
			}
			g.Was, g.First = 1, 0
		case names[at.emoji] == n[at.emoji]: // all are listed
			if g.Given && g.At < by.AsOf {
				g.Given, g.At = false, g.At+1
			}
			g.Was, g.First = 0, 0
		case given[at.emoji] > n[at.emoji] && g.Given && g.At <= by.AsOf: // one of them took it back: nobody knows who
			delete(r.now, at)
			continue
		case by.AsOf == 0 || g.At <= by.AsOf:
			g.Was, g.First = boolToInt(g.Given), 0
		case g.First <= by.AsOf:
			g.Was, g.First = boolToInt(!g.Given), 0
		}
		r.now[at] = g
	}
	for emoji, n := range n {
		r.count(emoji, n, by.AsOf)
	}
	if !r.persons() {
		return slices.Clone(told)
	}
	return r.counts(nil)
}

// count notes how many history told. Where all of them are known there is nothing to
// note, and where the number is the old one it stays as it was told first.
func (r *Reactions) count(emoji string, n int, asOf earshot.Time) {
	if emoji == "" {
		return
	}
	all := reactionGiver{emoji: emoji}
	have := r.now[all]
	if have.Was != n || have.First == 0 {
		have.First = asOf
	}
	have.Emoji, have.Was = emoji, n
	r.now[all] = have
	if _, in := r.known(emoji); n <= in {
		have.Was, have.First = 0, 0
		r.now[all] = have
	}
}

// known returns how many persons are known to have given an emoji, and how many of
// those whom history counts are known. Where nobody knows when history was asked,
// everybody who is known is taken for one of them, so that nobody counts twice.
func (r *Reactions) known(emoji string) (given, in int) {
	asked := r.now[reactionGiver{emoji: emoji}].First
	for at, g := range r.now {
		if at.emoji != emoji || at.author == "" {
			continue
		}
		given += boolToInt(g.Given)
		switch {
		case g.First == 0 || asked != 0 && g.First > asked:
			in += g.Was
		case asked != 0 && g.At <= asked:
			in += boolToInt(g.Given)
		default:
			in++
		}
	}
	return given, in
}

// counts returns the count of each emoji: first those of which some are unknown, then
// by since when somebody who is known has given it. While nobody is known they stand as
// before. It is never nil.
func (r *Reactions) counts(before []earshot.Reaction) []earshot.Reaction {
	type emoji struct {
		earshot.Reaction
		since earshot.Time
		place int
	}
	since, persons := map[string]earshot.Time{}, r.persons()
	for at, g := range r.now {
		if at.author == "" {
			if _, ok := since[at.emoji]; !ok {
				since[at.emoji] = Forever
			}
			continue
		}
		t := Forever
		if g.Given {
			t = g.At
		}
		if have, ok := since[at.emoji]; !ok || t < have {
			since[at.emoji] = t
		}
	}
	var list []emoji
	for name, t := range since {
		given, in := r.known(name)
		unknown := max(0, r.now[reactionGiver{emoji: name}].Was-in)
		e := emoji{earshot.Reaction{Name: name, Count: given + unknown}, t, 0}
		if unknown > 0 {
			e.since = 0
		}
		if !persons {
			e.place = slices.IndexFunc(before, func(c earshot.Reaction) bool { return c.Name == name })
		}
		if e.Count > 0 {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b emoji) int {
		return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.since, b.since), strings.Compare(a.Name, b.Name))
	})
	out := []earshot.Reaction{}
	for _, e := range list {
		out = append(out, e.Reaction)
	}
	return out
}

// Forget removes what a person did at or before until. What they have given stays as a count of which nobody knows
// who it was.
func (r *Reactions) Forget(id earshot.AuthorID, until, now earshot.Time) {
	for at, g := range r.now {
		if at.author != id || id == "" || g.At > until {
			continue
		}
		all := reactionGiver{emoji: at.emoji}
		_, in := r.known(at.emoji)
		unknown := max(0, r.now[all].Was-in) + boolToInt(g.Given)
		delete(r.now, at)
		x := r.now[all]
		x.First = now // what is done later is done by others
		r.now[all] = x
		if _, in = r.known(at.emoji); unknown > 0 {
			unknown += in
		}
		r.count(at.emoji, unknown, now)
	}
}

// Changes returns the rows of a message that are to be written and those that are to be
// deleted. What is known of everybody is a row only where the count does not say it.
func (r *Reactions) Changes(message earshot.MessageID) (write, drop []Gave) {
	if r == nil {
		return nil, nil
	}
	persons := map[string]bool{}
	for at := range r.now {
		persons[at.emoji] = persons[at.emoji] || at.author != ""
	}
	keep := func(at reactionGiver, g Gave) bool {
		return at.author != "" || g.At != 0 || g.Was != 0 && (persons[at.emoji] || g.First != 0)
	}
	for at, g := range r.now {
		if have, ok := r.stored[at]; keep(at, g) && (!ok || have != g) {
			write = append(write, g)
		}
	}
	for at, g := range r.stored {
		if now, ok := r.now[at]; !ok || !keep(at, now) {
			drop = append(drop, g)
		}
	}
	order := func(a, b Gave) int {
		return cmp.Or(strings.Compare(a.Emoji, b.Emoji), cmp.Compare(a.Author, b.Author))
	}
	for _, list := range [][]Gave{write, drop} {
		slices.SortFunc(list, order)
		for i := range list {
			list[i].Message = message
		}
	}
	return write, drop
}

// Given returns the persons who are known to have given an emoji, by emoji and id.
func (r *Reactions) Given() []earshot.Reactor {
	var out []earshot.Reactor
	for at, g := range r.now {
		if g.Given {
			out = append(out, earshot.Reactor{Emoji: at.emoji, ID: at.author, At: g.At})
		}
	}
	slices.SortFunc(out, func(a, b earshot.Reactor) int {
		return cmp.Or(strings.Compare(a.Emoji, b.Emoji), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// Has reports whether something is known of a person at or before a time.
func (r *Reactions) Has(id earshot.AuthorID, until earshot.Time) bool {
	for at, g := range r.now {
		if at.author == id && id != "" && g.At <= until {
			return true
		}
	}
	return false
}

// Before reports whether all that is known happened before a time.
func (r *Reactions) Before(t earshot.Time) bool {
	for _, g := range r.now {
		if g.At >= t {
			return false
		}
	}
	return true
}
