package rule

import (
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
)

// What makes a reply a quote of a message: a stretch of at least three consecutive
// words with at least twelve letters, or one rare word. A word is rare if it is long,
// or if it has a digit. Twelve letters are more than "let me know" or "I think so" have,
// which many replies say.
const (
	quotedWeight  = 6  // of three words; a word of a script without spaces is one character, and weighs half
	quotedLetters = 12 // one character of a script without spaces counts as two
	rareLetters   = 10 // a word that is as long is rare
	rareDigits    = 4  // so is one that is as long and has a digit
)

// A word of a text, in lower case, with its weight and its letters.
type quotedWord struct {
	text            string
	weight, letters int
}

// quotedWords cuts a text into words. Punctuation parts words and is no word.
func quotedWords(s string) []quotedWord {
	var out []quotedWord
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			out = append(out, quotedWord{b.String(), 2, utf8.RuneCountInString(b.String())})
			b.Reset()
		}
	}
	for _, r := range strings.ToLower(s) {
		switch {
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
			end()
			out = append(out, quotedWord{string(r), 1, 2})
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			b.WriteRune(r)
		default:
			end()
		}
	}
	end()
	return out
}

// QuotableWords are what a text can be quoted by: its stretches and its rare words.
type QuotableWords map[string]bool

// WordsOf returns the words of texts. A text that is too short for a stretch is one,
// unless it is a single word.
func WordsOf(texts ...string) QuotableWords {
	out := QuotableWords{}
	for _, s := range texts {
		words := quotedWords(s)
		whole := len(words) > 1
		for i, w := range words {
			if isRare(w.text) {
				out[w.text] = true
			}
			if stretch, ok := stretchAt(words, i); ok {
				out[stretch], whole = true, false
			}
		}
		if whole {
			out[joinWords(words)] = true
		}
	}
	return out
}

// stretchAt returns the shortest stretch from word i on that weighs enough.
func stretchAt(words []quotedWord, i int) (string, bool) {
	weight, letters := 0, 0
	for n, w := range words[i:] {
		weight, letters = weight+w.weight, letters+w.letters
		if weight >= quotedWeight && letters >= quotedLetters {
			return joinWords(words[i : i+n+1]), true
		}
	}
	return "", false
}

// joinWords writes words with spaces around them, which no rare word has.
func joinWords(words []quotedWord) string {
	var b strings.Builder
	for _, w := range words {
		b.WriteByte(' ')
		b.WriteString(w.text)
	}
	b.WriteByte(' ')
	return b.String()
}

func isRare(word string) bool {
	n := utf8.RuneCountInString(word)
	return n >= rareLetters || n >= rareDigits && strings.ContainsFunc(word, unicode.IsNumber)
}

// In returns those of the words that text has too.
func (w QuotableWords) In(text string) QuotableWords {
	if len(w) == 0 {
		return nil
	}
	spaced := joinWords(quotedWords(text))
	var out QuotableWords
	for s := range w {
		if has := strings.Contains(spaced, s); has && (s[0] == ' ' || strings.Contains(spaced, " "+s+" ")) {
			if out == nil {
				out = QuotableWords{}
			}
			out[s] = true
		}
	}
	return out
}

// Without removes the words that text has too.
func (w QuotableWords) Without(text string) {
	for s := range w.In(text) {
		delete(w, s)
	}
}

// MessageTexts returns all that was written in a message: its text, what it shares, and the
// names of its files.
func MessageTexts(m earshot.Message) []string {
	out := []string{m.Text}
	for _, x := range m.Shared {
		out = append(out, x.Text)
	}
	for _, f := range m.Files {
		out = append(out, f.Name)
	}
	return out
}

// Quoting are replies that quote deleted messages, with the words that they quote.
type Quoting map[earshot.MessageID]QuotableWords

// Add adds more quotes.
func (q Quoting) Add(more Quoting) {
	for id, words := range more {
		if q[id] == nil {
			q[id] = QuotableWords{}
		}
		maps.Copy(q[id], words)
	}
}

// Tombstones returns the tombstones of the replies, by id. What quotes one of them
// in turn goes only for the words that came from the deleted message: a reply's
// own words are not erased.
func (q Quoting) Tombstones() []Message {
	out := make([]Message, 0, len(q))
	for _, id := range slices.Sorted(maps.Keys(q)) {
		out = append(out, Message{Message: Tombstone(id, 0), Quoted: q[id]})
	}
	return out
}

// QuotedBy returns those of replies that quote a deleted message, whose words are
// given. A word is no sign of a quote if it stands in one of the messages that the
// conversation was rightly shown, which excuses loads; they are asked for only
// where a reply shares words.
func QuotedBy(words QuotableWords, replies []earshot.Message, excuses func() ([]earshot.Message, error)) (Quoting, error) {
	out := Quoting{}
	var shown []earshot.Message
	loaded := false
	own := map[earshot.MessageID]bool{}
	for _, r := range replies {
		own[r.ID] = true
	}
	for _, r := range replies {
		shared := words.In(strings.Join(MessageTexts(r), "\n"))
		if r.Deleted || len(shared) == 0 {
			continue
		}
		if !loaded {
			var err error
			if shown, err = excuses(); err != nil {
				return nil, err
			}
			loaded = true
		}
		for _, m := range shown {
			if len(shared) > 0 && !m.Deleted && !own[m.ID] {
				shared.Without(strings.Join(MessageTexts(m), "\n"))
			}
		}
		if len(shared) > 0 {
			out[r.ID] = shared
		}
	}
	return out, nil
}
