package assemble

import (
	"cmp"
	"slices"

	"github.com/earshot-ai/earshot"
)

// A gapScope is the history of a section: where a stretch of it is missing or
// stale, the section has a line that says so.
type gapScope uint8

const (
	noGaps           gapScope = iota
	conversationGaps          // of the anchor's thread or DM
	topLevelGaps              // of the anchor's thread; without one, of the channel's top level
	channelGaps               // of the channel
)

// chooseGaps gives each block the lines that say which stretches of its
// history are missing or stale, oldest first, and notes them for the operator.
// A line that the session has is not repeated.
func (t *turn) chooseGaps() {
	list := slices.Clone(t.in.Coverage)
	slices.SortFunc(list, func(a, b earshot.Coverage) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.State, b.State), cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Why, b.Why))
	})
	for _, c := range list {
		kind := NoteGap
		switch c.State {
		case earshot.Missing:
		case earshot.Stale:
			kind = NoteStale
		default:
			continue
		}
		b := t.gapBlock(c)
		if b == nil || !t.mayHide(c) {
			continue
		}
		text := t.gapText(c)
		if line := "[" + text + "]"; !slices.Contains(b.gaps, line) && !t.sessionHasGap(c) {
			b.gaps = append(b.gaps, line)
		}
		if c.Why != "" {
			text += " (" + oneLine(c.Why, 200) + ")"
		}
		if n := (Note{kind, text}); !slices.Contains(t.notes, n) {
			t.notes = append(t.notes, n)
		}
	}
}

// mayHide reports whether a message from before the anchor may stand in c: its
// stretch has a length, and begins before the anchor.
func (t *turn) mayHide(c earshot.Coverage) bool {
	return c.From < t.end.Time && (c.To == 0 || c.From < c.To)
}

// gapBlock returns the block whose history has the stretch c: one of the
// anchor's conversation, or where the channel is shown, the channel's. It is
// nil for other conversations.
func (t *turn) gapBlock(c earshot.Coverage) *block {
	root := t.anchor.Root()
	switch {
	case c.Thread != "" && (c.Thread == root || root == "" && c.Thread == t.anchor.ID):
		return cmp.Or(t.blockWith(conversationGaps, topLevelGaps), t.blockWith(channelGaps))
	case c.Thread != "":
		return nil
	case root == "" && (t.in.Channel.Kind == earshot.KindDM || t.later && t.turnsAtTop()):
		return cmp.Or(t.blockWith(channelGaps), t.blockWith(conversationGaps, topLevelGaps))
	case root == "":
		return cmp.Or(t.blockWith(channelGaps), t.blockWith(topLevelGaps))
	}
	return t.blockWith(channelGaps)
}

// blockWith returns the first block with one of these scopes, or nil.
func (t *turn) blockWith(scopes ...gapScope) *block {
	for _, b := range t.blocks {
		if slices.Contains(scopes, b.kind.gaps) {
			return b
		}
	}
	return nil
}

// sessionHasGap reports whether an earlier turn of this session has a line for
// c: the stretch ends before that turn's question. Other gaps are repeated in
// each turn.
func (t *turn) sessionHasGap(c earshot.Coverage) bool {
	return t.later && c.To != 0 && c.To <= t.last.Time
}

// gapText names the stretch and says whether it is missing or stale.
func (t *turn) gapText(c earshot.Coverage) string {
	s := "history"
	switch {
	case c.From != 0 && c.To != 0 && t.when.minute(c.From) == t.when.minute(c.To):
		s += " at " + t.when.minute(c.To)
	case c.From != 0 && c.To != 0:
		s += " between " + t.when.minute(c.From) + " and " + t.when.minute(c.To)
	case c.To != 0:
		s += " before " + t.when.minute(c.To)
	case c.From != 0:
		s += " after " + t.when.minute(c.From)
	}
	if c.State == earshot.Stale {
		return s + " may be out of date"
	}
	return s + " could not be loaded"
}
