package links

import "math/bits"

// A feature is a place in the table of weights.
type feature = uint16

// A block is one table of features: a fact that has a few values, or the
// combinations of two or three facts.
type block struct {
	theme theme
	name  string
	size  int
	base  int
	row   int // how many values the last fact has
}

// A theme is what several blocks are about.
type theme string

const (
	aboutNames    theme = "names"    // names further in, who was named before
	aboutDistance theme = "distance" // in messages
	aboutTime     theme = "time"     // in minutes
	aboutHistory  theme = "history"  // who spoke with whom, guessed conversations
	aboutWording  theme = "wording"  // questions, first words, I and you, length
	aboutWords    theme = "words"    // rare words that two messages have in common, links
	aboutHabit    theme = "habit"    // how common names are here, by distance
	aboutBots     theme = "bots"
)

// blocks lists all of them, in the order of the table of weights.
var blocks []*block

// featureCount is how many features all blocks have.
var featureCount int

func newFeatureTable(about theme, name string, dims ...int) *block {
	n := 1
	for _, d := range dims {
		n *= d
	}
	b := &block{theme: about, name: name, size: n, base: featureCount, row: dims[len(dims)-1]}
	featureCount += n
	blocks = append(blocks, b)
	return b
}

// How many classes some facts have.
const (
	sides    = 14 // who
	gaps     = 12 // messages back
	spans    = 11 // minutes back
	fewer    = 4  // none, one, two, more
	ages     = 7
	sharings = 6
)

// Of the start of a conversation.
var (
	startNaming  = newFeatureTable(aboutNames, "start: naming x first words", int(namings), int(openings))
	startAsks    = newFeatureTable(aboutWording, "start: naming x asks x length", int(namings), 2, 5)
	startAgo     = newFeatureTable(aboutHistory, "start: naming x messages since the author's last", int(namings), ages)
	startMinutes = newFeatureTable(aboutTime, "start: minutes since the author's last", spans+1)
	startCalled  = newFeatureTable(aboutNames, "start: naming x named since the author's last", int(namings), 3)
	startKnown   = newFeatureTable(aboutNames, "start: how long ago the one named spoke", ages)
	startBot     = newFeatureTable(aboutBots, "start: bot", 2)
)

// Of an earlier message.
var (
	whoGap             = newFeatureTable(aboutDistance, "who x messages between", sides, gaps)
	whoSpan            = newFeatureTable(aboutTime, "who x minutes between", sides, spans)
	whoAsks            = newFeatureTable(aboutWording, "who x asks x is a question", sides, 2, 2)
	whoConversation    = newFeatureTable(aboutHistory, "who x my conversation x its newest message", sides, 3, 2)
	whoPair            = newFeatureTable(aboutHistory, "who x when we last spoke", sides, 5)
	whoPartner         = newFeatureTable(aboutHistory, "who x is whom I spoke to last x messages of mine since x later ones of its author", sides, 2, fewer, fewer)
	whoShared          = newFeatureTable(aboutWords, "who x shared rare words", sides, sharings)
	whoHabit           = newFeatureTable(aboutHabit, "who x how common names are here x messages between", sides, 3, 4)
	asked              = newFeatureTable(aboutWording, "same author x first words x it asks", 2, int(openings), 2)
	bots               = newFeatureTable(aboutBots, "bot x its author a bot x its first words a command", 2, 2, 2)
	unanswered         = newFeatureTable(aboutHistory, "who x nobody spoke to its author since x asks", sides, 2, 2)
	above              = newFeatureTable(aboutHistory, "who x what it answers itself", sides, 6)
	sharesMost         = newFeatureTable(aboutWords, "who x shares the most rare words", sides, 2)
	persons            = newFeatureTable(aboutWording, "same author x you x I x its you x its I", 2, 2, 2, 2, 2)
	opened             = newFeatureTable(aboutWording, "same author x first words x its first words", 2, int(openings), int(openings))
	whoWaits           = newFeatureTable(aboutHistory, "who x what whom I spoke to last did since", sides, 4)
	whoWithin          = newFeatureTable(aboutNames, "who x only named within", sides, 2)
	linked             = newFeatureTable(aboutWords, "holds a link x it holds a link", 2, 2)
	lengths            = newFeatureTable(aboutWording, "same author x length x its length", 2, 5, 5)
	whoLatest          = newFeatureTable(aboutHistory, "who x later messages of its author", sides, fewer)
	whoAnswers         = newFeatureTable(aboutHistory, "who x answers that it has", sides, fewer)
	pictures           = newFeatureTable(aboutWording, "who x it has files x I have", sides, 2, 2)
	conversationShared = newFeatureTable(aboutWords, "who x rare words shared with others of its conversation", sides, sharings)
	starts             = newFeatureTable(aboutHistory, "same author x it starts a conversation x size of that", 2, 2, 4)
)

// gapClass sorts messages back: 1, 2, 3, 4, 5 to 6, 7 to 9, to 13, to 19, to
// 29, to 44, to 62, more.
func gapClass(n int) int {
	for i, top := range [...]int{1, 2, 3, 4, 6, 9, 13, 19, 29, 44, 62} {
		if n <= top {
			return i
		}
	}
	return gaps - 1
}

// spanClass sorts microseconds by minutes: below 1, 2, 3, 5, 9, 16, 40, 120.
func spanClass(us int64) int {
	for i, top := range [...]int64{10, 30, 60, 120, 180, 300, 540, 960, 2400, 7200} {
		if us < top*1e6 {
			return i
		}
	}
	return spans - 1
}

// ageClass sorts how far back a message is, -1 for none.
func ageClass(back int) int {
	for i, top := range [...]int{-1, 1, 3, 8, 20, 60} {
		if back <= top {
			return i
		}
	}
	return ages - 1
}

func bucketCount(n int32) int { return int(min(n, fewer-1)) }

func boolIndex(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (l *Linker) add(b *block, at int) { l.features = append(l.features, feature(b.base+at)) }

// weigh returns the features of a candidate. They are valid until the next call.
// Candidate 0, the start of a conversation, comes first.
func (l *Linker) weigh(q *message, c int) []feature {
	l.features = l.features[:0]
	if c == 0 {
		l.words.compare(q.words, len(l.messages))
		for back := 1; back <= l.reach(); back++ {
			l.conversations[l.messages[len(l.messages)-back].conversation].shared = 0
		}
		for back := 1; back <= l.reach(); back++ {
			l.conversations[l.messages[len(l.messages)-back].conversation].shared += l.words.shared[back]
		}
		l.weighStart(q)
		return l.features
	}
	l.weighParent(q, len(l.messages)-c, c)
	return l.features
}

func (l *Linker) weighStart(q *message) {
	at := len(l.messages)
	n := int(q.naming)
	l.add(startNaming, n*int(openings)+int(q.opening))
	l.add(startAsks, (n*2+boolIndex(q.asks))*5+int(q.length))
	ago, span := None, spans
	if q.before != None {
		ago = at - int(q.before)
		span = spanClass(int64(q.time - l.messages[q.before].time))
	}
	l.add(startAgo, n*ages+ageClass(ago))
	l.add(startMinutes, span)
	me := &l.people.list[q.author]
	called := 0
	if me.called != None && me.called > q.before {
		called = 1
		if at-int(me.called) > 15 {
			called = 2
		}
	}
	l.add(startCalled, n*3+called)
	if len(q.to) > 0 {
		ago := None
		if last := l.people.list[q.to[0]].last; last != None {
			ago = at - int(last)
		}
		l.add(startKnown, ageClass(ago))
	}
	l.add(startBot, boolIndex(q.bot))
}

// authorClass returns the class of how two messages' authors, and those whom they name, relate: 9 classes where the authors differ, 5 where they are the same.
func authorClass(q, c *message) int {
	if q.author == c.author {
		switch {
		case len(q.to) == 0 && q.naming != namesStranger:
			return 9 + boolIndex(len(c.to) > 0)
		case len(c.to) == 0:
			return 11
		case len(q.to) > 0 && containsNumber(c.to, q.to[0]):
			return 12
		}
		return 13
	}
	x, y := 0, 0
	switch {
	case containsNumber(q.to, c.author):
		x = 1
	case len(q.to) > 0 || q.naming == namesStranger:
		x = 2
	}
	switch {
	case containsNumber(c.to, q.author):
		y = 1
	case len(c.to) > 0 || c.naming == namesStranger:
		y = 2
	}
	return x*3 + y
}

func (l *Linker) weighParent(q *message, at, back int) {
	c := &l.messages[at]
	who := authorClass(q, c)
	same := boolIndex(q.author == c.author)
	them, me := &l.people.list[c.author], &l.people.list[q.author]
	l.add(whoGap, who*gaps+gapClass(back))
	l.add(whoSpan, who*spans+spanClass(int64(q.time-c.time)))
	l.add(whoAsks, who*4+boolIndex(q.asks)*2+boolIndex(c.asks))
	t := &l.conversations[c.conversation]
	mine := 0
	if q.before != None && l.messages[q.before].conversation == c.conversation {
		mine = 2
	} else if containsNumber(t.people, q.author) {
		mine = 1
	}
	l.add(whoConversation, (who*3+mine)*2+boolIndex(int(t.last) == at))
	l.add(whoPair, who*5+l.lastSpoke(q.author, c.author))
	l.add(whoPartner, ((who*2+boolIndex(me.partner == c.author))*fewer+bucketCount(l.since(q, at)))*fewer+bucketCount(them.count-c.nth))
	l.add(whoShared, who*sharings+shareClass(l.words.shared[back]))
	l.add(whoHabit, (who*3+l.habit())*4+min(bits.Len(uint(back-1)), 3))
	l.add(asked, (same*int(openings)+int(q.opening))*2+boolIndex(c.asks))
	l.add(bots, boolIndex(q.bot)*4+boolIndex(c.bot)*2+boolIndex(c.opening == opensCommand))
	l.add(unanswered, (who*2+boolIndex(!c.replied && c.answers == 0))*2+boolIndex(c.asks))
	l.add(above, who*6+l.above(q, c))
	l.add(sharesMost, who*2+boolIndex(l.words.most > 35 && l.words.shared[back] == l.words.most))
	l.add(persons, (((same*2+boolIndex(q.you))*2+boolIndex(q.me))*2+boolIndex(c.you))*2+boolIndex(c.me))
	l.add(opened, (same*int(openings)+int(q.opening))*int(openings)+int(c.opening))
	l.add(whoWaits, who*4+l.waits(me, at))
	l.add(whoWithin, who*2+boolIndex(q.naming == namesWithin))
	l.add(linked, boolIndex(q.links)*2+boolIndex(c.links))
	l.add(lengths, (same*5+int(q.length))*5+int(c.length))
	l.add(whoLatest, who*fewer+bucketCount(them.count-c.nth))
	l.add(whoAnswers, who*fewer+bucketCount(c.answers))
	l.add(pictures, (who*2+boolIndex(c.files))*2+boolIndex(q.files))
	l.add(conversationShared, who*sharings+shareClass(t.shared-l.words.shared[back]))
	l.add(starts, (same*2+boolIndex(c.parent == None))*4+min(bits.Len(uint(t.size)), 4)-1)
}

// above is the class of what a candidate answers itself: nothing, its own author, the
// last message of q's author, an older one, one of the person that q names, or
// something else.
func (l *Linker) above(q, c *message) int {
	if c.parent == None {
		return 0
	}
	up := &l.messages[c.parent]
	switch {
	case c.parent == q.before:
		return 2
	case up.author == q.author:
		return 3
	case up.author == c.author:
		return 1
	case containsNumber(q.to, up.author):
		return 4
	}
	return 5
}

// waits is the class of what the person that the author spoke to last did after the
// message at: 0 there is none, 1 nothing, 2 spoke, 3 named the
// author.
func (l *Linker) waits(me *person, at int) int {
	if me.partner == None {
		return 0
	}
	switch them := &l.people.list[me.partner]; {
	case int(them.last) <= at:
		return 1
	case int(me.called) > at && me.caller == me.partner:
		return 3
	}
	return 2
}

// since counts the author's messages after the one with this number, up to 3.
func (l *Linker) since(q *message, at int) int32 {
	n := int32(0)
	for b := q.before; b > int32(at) && n < fewer-1; b = l.messages[b].before {
		n++
	}
	return n
}

// lastSpoke sorts how long ago two people spoke to each other: never, or up to
// 5, 20, 60 and more messages.
func (l *Linker) lastSpoke(a, b int32) int {
	if a == b {
		return 0
	}
	last, ok := l.pairs[pairOf(a, b)]
	if !ok {
		return 0
	}
	switch ago := len(l.messages) - int(last); {
	case ago <= 5:
		return 1
	case ago <= 20:
		return 2
	case ago <= 60:
		return 3
	}
	return 4
}

// shareClass sorts the weight of shared words, see [log2].
func shareClass(worth int32) int {
	for i, top := range [...]int32{0, 35, 58, 92, 150} {
		if worth <= top {
			return i
		}
	}
	return sharings - 1
}
