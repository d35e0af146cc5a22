package assemble

import (
	"cmp"
	"slices"

	"github.com/earshot-ai/earshot"
)

// chooseGaps gives each block the lines that say which stretches of its
// history are missing or stale, oldest first, and notes them. What the session
// says already is not said again.
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
		if line := "[" + text + "]"; !slices.Contains(b.gaps, line) && !t.toldOf(c) {
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

// mayHide reports whether something that was said before the anchor may stand
// in c: its stretch has a length, and begins before the anchor.
func (t *turn) mayHide(c earshot.Coverage) bool {
	return c.From < t.anchor.Time && (c.To == 0 || c.From < c.To)
}

// gapBlock returns the block that a stretch of history belongs to: that of the
// anchor's conversation, or where the channel is shown, the channel's. It is
// nil for other conversations.
func (t *turn) gapBlock(c earshot.Coverage) *block {
	first := func(names ...SectionName) *block {
		for _, n := range names {
			if b := t.blocks[n]; b != nil {
				return b
			}
		}
		return nil
	}
	root := t.anchor.Root()
	switch {
	case c.Thread != "" && (c.Thread == root || root == "" && c.Thread == t.anchor.ID):
		return first(Delta, Thread, Transcript, Window, Snapshot)
	case c.Thread != "":
		return nil
	case root == "" && (t.in.Channel.Kind == earshot.KindDM || t.later && t.turnsAtTop()):
		return first(Window, Snapshot, Delta, Thread, Transcript)
	case root == "":
		return first(Window, Snapshot, Transcript)
	}
	return first(Window, Snapshot)
}

// toldOf reports whether an earlier turn of this session has told of a gap: it
// ends before that turn's question. Of the others the model is told each time.
func (t *turn) toldOf(c earshot.Coverage) bool {
	return t.later && c.To != 0 && c.To <= t.last.Time
}

// gapText says which stretch it is and what is wrong with it.
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
