package links

import (
	"strings"
	"unicode"

	"github.com/earshot-ai/earshot"
)

// said is what is known of a message of talk.
type said struct {
	number  int // among all that the Linker got
	author  int32
	time    earshot.Time
	naming  naming
	to      []int32 // whom it names, whom it begins with first
	opening opening
	asks    bool
	bot     bool
	length  int8 // class, 0 to 4
	links   bool // holds a URL
	files   bool
	you, me bool // speaks to somebody, of itself
	words   []int32

	before  int32 // the author's message before it, or None
	nth     int32 // how many the author has said, this one included
	parent  int32 // as guessed, or None
	talk    int32
	answers int32 // guessed
	replied bool  // somebody named its author since
}

// A naming is how a message says to whom it speaks.
type naming uint8

const (
	namesNobody   naming = iota
	namesFirst           // it begins with the name of somebody who spoke
	namesStranger        // it begins with a name that nobody here has
	namesWithin          // a name or mention stands further in
	namings
)

// An opening is what a message begins like.
type opening uint8

const (
	opensOther opening = iota
	opensGreeting
	opensYesNo
	opensThanks
	opensWelcome // an answer to thanks
	opensBack    // "it", "that", "then": about what was said
	opensAsking  // a question word: how, what
	opensWhether // is, can, does
	opensAll     // "anyone", "does somebody"
	opensCommand // "!word", for a bot
	openings
)

// A pair is two people, the lower number first.
type pair struct{ a, b int32 }

func pairOf(a, b int32) pair { return pair{min(a, b), max(a, b)} }

// A talk is a conversation as guessed.
type talk struct {
	people []int32
	last   int32 // its newest message, by number in said
	size   int32
	shared int32 // weight of the rare words that the message being weighed shares with it
}

// habit tells how often people here begin with a name, over the last hundred
// messages: 0 hardly ever, 1 now and then or too early to say, 2 often.
func (l *Linker) habit() int {
	switch all := min(len(l.said), lately); {
	case all < 15:
		return 1
	case l.named*12 < all:
		return 0
	case l.named*4 < all:
		return 1
	}
	return 2
}

// lately is how many messages tell a habit.
const lately = 100

// begins reports whether a message begins with a name.
func (q *said) begins() bool { return q.naming == namesFirst || q.naming == namesStranger }

// What is known of a message comes from this many bytes of its text, and a
// conversation remembers this many people.
const (
	farEnough = 2000
	crowded   = 24
)

// read finds out what there is to know of a message before it is weighed.
func (l *Linker) read(m *earshot.Message) said {
	text := strings.TrimSpace(m.Text[:min(len(m.Text), farEnough)])
	q := said{
		number: l.count, time: m.Time, bot: m.Author.Kind == earshot.Bot,
		author: l.people.author(m.Author), before: None, parent: None, talk: None,
	}
	rest := l.people.named(&q, m, text)
	q.opening, q.asks = open(rest)
	q.links = strings.Contains(text, "://") || strings.Contains(text, "www.")
	q.files = len(m.Files) > 0
	q.words = l.words.of(rest)
	for _, w := range strings.Fields(rest) {
		switch strings.ToLower(strings.TrimFunc(w, isMark)) {
		case "you", "your", "u", "ur", "yours", "you're", "you'll", "you've", "you'd":
			q.you = true
		case "i", "my", "me", "i'm", "i've", "i'll", "i'd", "im", "mine", "we", "our":
			q.me = true
		}
	}
	switch n := len(strings.Fields(rest)); {
	case n <= 2:
		q.length = 0
	case n <= 6:
		q.length = 1
	case n <= 15:
		q.length = 2
	case n <= 35:
		q.length = 3
	default:
		q.length = 4
	}
	p := &l.people.list[q.author]
	q.before, q.nth = p.last, p.count+1
	return q
}

// settle records a message whose parent is decided; parent is a number in
// l.said, or None.
func (l *Linker) settle(q said, parent int) {
	at := int32(len(l.said))
	q.parent = int32(parent)
	if parent == None {
		q.talk = int32(len(l.talks))
		l.talks = append(l.talks, talk{})
	} else {
		up := &l.said[parent]
		q.talk = up.talk
		up.answers++
		l.speak(q.author, up.author, at)
	}
	for _, who := range q.to {
		l.speak(q.author, who, at)
		p := &l.people.list[who]
		p.called, p.caller = at, q.author
		if p.last != None {
			l.said[p.last].replied = true
		}
	}
	t := &l.talks[q.talk]
	t.last, t.size = at, t.size+1
	if len(t.people) < crowded && !has(t.people, q.author) {
		t.people = append(t.people, q.author)
	}
	if q.begins() {
		l.named++
	}
	if len(l.said) >= lately && l.said[len(l.said)-lately].begins() {
		l.named--
	}
	p := &l.people.list[q.author]
	p.last, p.count = at, p.count+1
	l.words.add(q.words, at)
	l.said = append(l.said, q)
	l.count++
}

// speak notes that a spoke to b.
func (l *Linker) speak(a, b, at int32) {
	if a != b {
		l.pairs[pairOf(a, b)] = at
		l.people.list[a].partner = b
	}
}

func has(list []int32, v int32) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}

// open reads how a text begins, and whether it asks something.
func open(text string) (opening, bool) {
	asks := strings.Contains(text, "?")
	if strings.HasPrefix(text, "!") && len(text) > 1 {
		return opensCommand, asks
	}
	fields := strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '+' && r != '-'
	})
	found := opensOther
	for i, w := range fields[:min(len(fields), 4)] {
		k := openers[strings.ToLower(w)]
		if i == 0 {
			found = k
		}
		if k == opensThanks && i < 3 || k == opensAll {
			found = k
			break
		}
	}
	if found == opensAsking {
		asks = true
	}
	return found, asks
}

// openers are first words that tell something.
var openers = func() map[string]opening {
	m := map[string]opening{}
	for kind, list := range map[opening]string{
		opensGreeting: "hi hello hey hiya greetings morning evening yo hallo moin sup heya howdy",
		opensYesNo:    "yes yeah yep yup ya no nope nah ok okay k sure right true exactly correct indeed maybe probably possibly ja nein agreed aha ah oh hmm hm well lol haha heh nice cool great done same i'm",
		opensThanks:   "thanks thank thx ty cheers thanx tnx danke merci",
		opensWelcome:  "np welcome pleasure anytime worries",
		opensBack:     "it it's its that that's this then so but and or because also still both neither he she they those these if you",
		opensAsking:   "how what why where when which who whose whats what's hows",
		opensWhether:  "is are can could does do did has have will would should was were am isn't can't doesn't don't",
		opensAll:      "anyone anybody someone somebody everyone everybody all folks guys",
	} {
		for _, w := range strings.Fields(list) {
			m[w] = kind
		}
	}
	return m
}()
