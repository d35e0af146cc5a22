package gather

import (
	"context"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// A readQuota is how much of a part is read, backwards from the anchor.
type readQuota struct {
	messages int // this many, and one more to show that there are more; 0 means no limit
	tokens   int // what they cost together at most; 0 means no limit
	cut      int // what one message costs at most, in tokens; 0 means no limit
	// floor is where reading stops: messages at or before it are not read.
	floor earshot.Position
	// counts tells which messages count against the quota; nil means all.
	counts func(earshot.Message) bool
	// keepOthers keeps messages that do not count, too.
	keepOthers bool
	// maxRead bounds how many messages are read, counted or not; 0 means the
	// constant of that name.
	maxRead int
}

// quotaOf returns the quota that a section's limits make.
func (r *reader) quotaOf(s assemble.Section) readQuota {
	q := readQuota{messages: s.Messages, tokens: r.req.Budget.Tokens, cut: s.Cut}
	if s.Tokens > 0 {
		q.tokens = min(q.tokens, s.Tokens)
	}
	if s.Minutes > 0 {
		q.floor = earshot.Position{Time: max(1, r.end.Time-earshot.Time(s.Minutes)*60_000_000)}
	}
	return q
}

const (
	// lineCost is the least that a message costs besides its text, in tokens: a
	// label of one token, a colon, the line's end.
	lineCost = 3
	// linkCost is about how much shorter a mention or a link may be written
	// than it is stored, in tokens.
	linkCost = 15
	// firstPage is how many messages are read first where only tokens bound a
	// section. minPage and maxPage bound each further read.
	firstPage = 64
	minPage   = 16
	maxPage   = 512
	// maxRead bounds what one section reads, in messages, whatever a policy asks
	// for. So much chat fills the budget of any model that there is today.
	maxRead = 4000
)

// A backwardScan reads a part backwards and keeps messages until the quota is used up.
type backwardScan struct {
	*reader
	readQuota
	read    int // messages looked at
	counted int // of them, those that count against the quota
	cost    int // the least that these cost together, in tokens
}

// scan returns a scan that has read nothing yet.
func (r *reader) scan(q readQuota) *backwardScan {
	if q.maxRead == 0 {
		q.maxRead = maxRead
	}
	return &backwardScan{reader: r, readQuota: q}
}

// take keeps m if it counts, and reports whether the scan goes on.
func (s *backwardScan) take(m earshot.Message) bool {
	if m.Position().Compare(s.floor) <= 0 {
		return false
	}
	s.read++
	out := s.lanes().isOut(m)
	counts := !out && !isBlank(m) && m.ID != s.anchor.ID && (s.counts == nil || s.counts(m))
	if counts {
		if s.readQuota.messages > 0 && s.counted > s.readQuota.messages || s.tokens > 0 && s.cost > s.tokens {
			return false
		}
		s.counted++
		s.cost += s.minCost(m)
	}
	if counts || s.keepOthers || out {
		s.keep(m)
	}
	return true
}

// estimateRest estimates how many more messages must be read, from what the scan
// has read so far.
func (s *backwardScan) estimateRest() int {
	switch {
	case s.readQuota.messages > 0 && s.read == 0:
		return s.readQuota.messages + 3 // the anchor, one too many, and one to know that there are more
	case s.readQuota.messages > 0:
		return (s.readQuota.messages + 2 - s.counted) * s.read / max(1, s.counted)
	case s.counted > 0:
		return (s.tokens-s.cost)*s.read/max(1, s.cost) + minPage/2
	}
	return max(firstPage, 2*s.read)
}

// fill keeps the newest messages of a part until the quota is used up. whole
// reports whether the part was read to its first message.
func (r *reader) fill(ctx context.Context, part earshot.ChannelPart, q readQuota) (whole bool, err error) {
	s := r.scan(q)
	if part.Thread() == "" || len(r.recent) == 0 {
		return s.backwards(ctx, part, earshot.Position{})
	}
	// A window has read the newest messages of the thread already.
	for _, m := range slices.Backward(r.recent) {
		if (m.ID == part.Thread() || m.Root() == part.Thread()) && !s.take(m) {
			return false, nil
		}
	}
	return s.backwards(ctx, part, r.recent[0].Position())
}

// backwards takes the messages of a part that stand before a position; the zero
// Position means the anchor and what stands before it. whole reports whether
// the part was read to its first message.
func (s *backwardScan) backwards(ctx context.Context, part earshot.ChannelPart, before earshot.Position) (whole bool, err error) {
	upTo := before
	if before.IsZero() {
		upTo = s.end
	}
	for s.read < s.readQuota.maxRead {
		size := min(max(s.estimateRest(), minPage), maxPage, s.readQuota.maxRead-s.read+1)
		list, err := s.store.Newest(ctx, s.scope, part, upTo, size)
		if err != nil {
			return false, err
		}
		for _, m := range slices.Backward(list) {
			if m.Position() == before {
				continue // taken already
			}
			if !s.take(m) {
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

// minCost returns the least that a message may cost in the section, in tokens.
// Where there is no stored count that fits the counter, eight bytes are taken
// for a token, so that too much is read rather than too little.
func (s *backwardScan) minCost(m earshot.Message) int {
	n, known := 0, false
	if s.req.Counter != nil {
		n, known = s.req.Counter.Stored(m.Tokens)
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
	if s.cut > 0 {
		n = min(n, s.cut)
	}
	return n + lineCost
}

// isBlank reports whether a message has neither text nor files nor quotes.
func isBlank(m earshot.Message) bool {
	return len(m.Files)+len(m.Shared) == 0 && strings.TrimSpace(m.Text) == ""
}
