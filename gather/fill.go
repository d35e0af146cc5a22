package gather

import (
	"context"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// A want says how much of a part is read, backwards from the anchor.
type want struct {
	messages int // this many, and one more to show that there are more; 0: as tokens allow
	tokens   int // at most as many as cost this; 0: no bound of its own
	cut      int // no message costs more than this
	// floor is the position at which reading stops, itself not read.
	floor earshot.Position
	// counts tells which messages use the limits; nil: all do.
	counts func(earshot.Message) bool
	// rest keeps also those that do not use them.
	rest bool
	// most is how many messages are read whatever they are; 0: maxRead.
	most int
}

// wanted makes a want of a section's limits.
func (r *reader) wanted(s assemble.Section) want {
	w := want{messages: s.Messages, tokens: r.req.Budget.Tokens, cut: s.Cut}
	if s.Tokens > 0 {
		w.tokens = min(w.tokens, s.Tokens)
	}
	if s.Minutes > 0 {
		w.floor = earshot.Position{Time: max(1, r.anchor.Time-earshot.Time(s.Minutes)*60_000_000)}
	}
	return w
}

const (
	// lineCost is the least that a message costs besides its text: a label of
	// one token, a colon, the line's end.
	lineCost = 3
	// linkCost is about how much shorter a mention or a link may be written
	// than it is stored, in tokens.
	linkCost = 15
	// The first read of a section that only tokens bound, and the bounds of
	// each further one.
	page    = 64
	minPage = 16
	maxPage = 512
	// maxRead bounds what one section reads, whatever a policy asks for. It
	// fills any budget that a model has today with what people write.
	maxRead = 4000
)

// A tally keeps messages, newest first, until no more are wanted.
type tally struct {
	*reader
	want
	read  int // messages looked at
	shown int // those that use the limits
	cost  int // what these cost at least
}

// take keeps m where it is wanted and reports whether to go on.
func (t *tally) take(m earshot.Message) bool {
	if m.Position().Compare(t.floor) <= 0 {
		return false
	}
	t.read++
	uses := !blank(m) && m.ID != t.anchor.ID && (t.counts == nil || t.counts(m))
	if uses {
		if t.want.messages > 0 && t.shown > t.want.messages || t.tokens > 0 && t.cost > t.tokens {
			return false
		}
		t.shown++
		t.cost += t.leastCost(m)
	}
	if uses || t.rest {
		t.keep(m)
	}
	return true
}

// probable is how many more messages are needed, by what those so far were
// like.
func (t *tally) probable() int {
	switch {
	case t.want.messages > 0 && t.read == 0:
		return t.want.messages + 3 // the anchor, one too many, and one to know that there are more
	case t.want.messages > 0:
		return (t.want.messages + 2 - t.shown) * t.read / max(1, t.shown)
	case t.shown > 0:
		return (t.tokens-t.cost)*t.read/max(1, t.cost) + minPage/2
	}
	return max(page, 2*t.read)
}

// fill keeps the newest messages of a part until no more are wanted. all
// reports whether the part was read to its first message.
func (r *reader) fill(ctx context.Context, part earshot.Part, w want) (all bool, err error) {
	t := r.tally(w)
	if part.Thread() == "" || len(r.recent) == 0 {
		return t.back(ctx, part, earshot.Position{})
	}
	// What the channel's newest messages hold of the thread is known.
	for _, m := range slices.Backward(r.recent) {
		if (m.ID == part.Thread() || m.Root() == part.Thread()) && !t.take(m) {
			return false, nil
		}
	}
	return t.back(ctx, part, r.recent[0].Position())
}

func (r *reader) tally(w want) *tally {
	if w.most == 0 {
		w.most = maxRead
	}
	return &tally{reader: r, want: w}
}

// back takes the messages of a part that stand before a position; the zero
// Position is the anchor's, itself included.
func (t *tally) back(ctx context.Context, part earshot.Part, before earshot.Position) (all bool, err error) {
	upTo := before
	if before.IsZero() {
		upTo = t.anchor.Position()
	}
	for t.read < t.most {
		size := min(max(t.probable(), minPage), maxPage, t.most-t.read+1)
		list, err := t.store.Newest(ctx, t.scope, part, upTo, size)
		if err != nil {
			return false, err
		}
		for _, m := range slices.Backward(list) {
			if m.Position() == before {
				continue // taken already
			}
			if !t.take(m) {
				return false, nil
			}
		}
		if len(list) < size {
			return true, nil
		}
		upTo = list[0].Position()
		before = upTo
	}
	return false, nil
}

// leastCost returns the least that a message may cost in the section. Without
// a stored count in the counter's own tokens, one is taken to be eight bytes,
// so that too much is read and not too little.
func (t *tally) leastCost(m earshot.Message) int {
	n, known := 0, false
	if t.req.Counter != nil {
		n, known = t.req.Counter.Stored(m.Tokens)
	}
	if !known || m.Tokens == 0 {
		n = len(m.Text) / 8
	}
	for _, x := range m.Shared {
		n += len(x.Text) / 8
	}
	if links := strings.Count(m.Text, "<"); links > 0 {
		n = max(1, n/4, n-links*linkCost)
	}
	if t.cut > 0 {
		n = min(n, t.cut)
	}
	return n + lineCost
}

// blank reports whether a message shows nothing.
func blank(m earshot.Message) bool {
	return len(m.Files)+len(m.Shared) == 0 && strings.TrimSpace(m.Text) == ""
}
