package links

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
)

// A message is what is known of a message.
type message struct {
	number  int // among all that the Linker got, from 0
	author  int32
	time    earshot.Time
	naming  addressingForm
	to      []int32 // whom it names; first whom it begins with
	opening openingKind
	asks    bool
	bot     bool
	length  int8 // class, 0 to 4
	links   bool // holds a URL
	files   bool
	you, me bool // it has "you", "I"
	words   []int32

	before       int32 // the author's message before it, or None
	nth          int32 // how many messages the author has, with this one
	parent       int32 // guessed, or None
	conversation int32
	answers      int32 // how many, guessed
	replied      bool  // somebody named its author since
}

// An addressingForm is how a message names the person it is for.
type addressingForm uint8

const (
	namesNobody   addressingForm = iota
	namesFirst                   // it begins with the name of somebody who spoke
	namesStranger                // it begins with a name that nobody here has
	namesWithin                  // a name or mention stands further in
	namings
)

// An openingKind is the kind of a message's first words.
type openingKind uint8

const (
	opensOther openingKind = iota
	opensGreeting
	opensYesNo
	opensThanks
	opensWelcome // answers thanks
	opensBack    // "it", "that", "then": refers to something said before
	opensAsking  // a question word: how, what
	opensWhether // is, can, does
	opensAll     // "anyone", "does somebody"
	opensCommand // "!word", for a bot
	openings
)

// A pair is two people, the lower number first.
type pair struct{ a, b int32 }

func pairOf(a, b int32) pair { return pair{min(a, b), max(a, b)} }

// A guessedConversation is a guessed one.
type guessedConversation struct {
	people []int32
	last   int32 // its newest message, by index in messages
	size   int32
	shared int32 // weight of the rare words that it has in common with the message being scored
}

// habit is how often people here begin with a name, over the last hundred messages:
// 0 hardly ever, 1 sometimes or too few messages to know, 2 often.
func (l *Linker) habit() int {
	switch all := min(len(l.messages), lately); {
	case all < 15:
		return 1
	case l.named*12 < all:
		return 0
	case l.named*4 < all:
		return 1
	}
	return 2
}

// lately is over how many messages habits are counted.
const lately = 100

// beginsWithName reports whether a message begins with a name.
func (q *message) beginsWithName() bool { return q.naming == namesFirst || q.naming == namesStranger }

// Bounds, so that hostile messages cost little.
const (
	farEnough = 2000 // how many bytes of a text are read
	crowded   = 24   // how many people of a conversation are remembered
)

// longestOfYouAndMe is how many bytes the words for "you" and "I" have at most, in
// lower case or upper.
const longestOfYouAndMe = 6

// read collects what is known of a message before it is scored.
func (l *Linker) read(m *earshot.Message) message {
	text := strings.TrimSpace(m.Text[:min(len(m.Text), farEnough)])
	q := message{
		number: l.count, time: m.Time, bot: m.Author.Kind == earshot.Bot,
		author: l.people.author(m.Author), before: None, parent: None, conversation: None,
	}
	rest := l.people.begins(&q, text)
	l.fields = l.fields[:0]
	for w := range strings.FieldsSeq(rest) {
		l.fields = append(l.fields, w)
	}
	l.people.findNamed(&q, m, l.fields)
	q.opening, q.asks = classifyOpening(rest)
	q.links = strings.Contains(text, "://") || strings.Contains(text, "www.")
	q.files = len(m.Files) > 0
	q.words = l.words.of(rest)
	for _, w := range l.fields {
		if w = trimMarks(w); len(w) > longestOfYouAndMe {
			continue
		}
		switch strings.ToLower(w) {
		case "you", "your", "u", "ur", "yours", "you're", "you'll", "you've", "you'd":
			q.you = true
		case "i", "my", "me", "i'm", "i've", "i'll", "i'd", "im", "mine", "we", "our":
			q.me = true
		}
	}
	switch n := len(l.fields); {
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

// settle records a message whose parent is decided; parent is an index in
// l.messages, or None.
func (l *Linker) settle(q message, parent int) {
	at := int32(len(l.messages))
	q.parent = int32(parent)
	if parent == None {
		q.conversation = int32(len(l.conversations))
		l.conversations = append(l.conversations, guessedConversation{})
	} else {
		up := &l.messages[parent]
		q.conversation = up.conversation
		up.answers++
		l.speak(q.author, up.author, at)
	}
	for _, who := range q.to {
		l.speak(q.author, who, at)
		p := &l.people.list[who]
		p.called, p.caller = at, q.author
		if p.last != None {
			l.messages[p.last].replied = true
		}
	}
	t := &l.conversations[q.conversation]
	t.last, t.size = at, t.size+1
	if len(t.people) < crowded && !containsNumber(t.people, q.author) {
		t.people = append(t.people, q.author)
	}
	if q.beginsWithName() {
		l.named++
	}
	if len(l.messages) >= lately && l.messages[len(l.messages)-lately].beginsWithName() {
		l.named--
	}
	p := &l.people.list[q.author]
	p.last, p.count = at, p.count+1
	l.words.add(q.words, at)
	l.messages = append(l.messages, q)
	l.count++
}

// speak records that a spoke to b in the message at.
func (l *Linker) speak(a, b, at int32) {
	if a != b {
		l.pairs[pairOf(a, b)] = at
		l.people.list[a].partner = b
	}
}

// isLetterOrDigit is quick where most letters are.
func isLetterOrDigit(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

func containsNumber(list []int32, v int32) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}

// classifyOpening returns the kind of a text's first words, and whether it asks something.
func classifyOpening(text string) (openingKind, bool) {
	asks := strings.Contains(text, "?")
	if strings.HasPrefix(text, "!") && len(text) > 1 {
		return opensCommand, asks
	}
	found, i := opensOther, 0
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !isLetterOrDigit(r) && r != '\'' && r != '+' && r != '-'
	}) {
		k := openers[strings.ToLower(w)]
		if i == 0 {
			found = k
		}
		if k == opensThanks && i < 3 || k == opensAll {
			found = k
			break
		}
		if i++; i == 4 {
			break
		}
	}
	if found == opensAsking {
		asks = true
	}
	return found, asks
}

// openers are the first words that have a kind.
var openers = func() map[string]openingKind {
	m := map[string]openingKind{}
	for kind, list := range map[openingKind]string{
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
