// Package words holds the bot's own sentences, in the languages of the folder languages: what
// it says where it has no answer, what it asks, and what is on its buttons.
//
// Start with [In], and [Table.Say].
package words

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// A Table has the sentences of one language, some of them in an operator's own words. The zero
// Table is English.
type Table struct {
	language string
	own      map[string]string // by key
}

// English is the language of sentences that nobody has chosen.
const English = "en"

// In returns the sentences of a language, and own in place of some of them, by key. A language
// that is not there is English, and what [Check] refuses counts for nothing.
func In(language string, own map[string]string) Table {
	if _, there := languages[language]; !there {
		language = English
	}
	return Table{language, own}
}

// CheckLanguage returns what is wrong with the code of a language, "" being English.
func CheckLanguage(code string) error {
	if _, there := languages[code]; !there && code != "" {
		return fmt.Errorf("%q is no language of the bot's sentences; use one of %s, or English with words of your own", code, strings.Join(Languages(), ", "))
	}
	return nil
}

// maxOwn bounds a sentence of one's own, in bytes, and maxLabel what is on a button or above a
// field, in characters: what each platform takes.
const (
	maxOwn    = 1000
	maxLabel  = 40
	minBeside = 8 // of a sentence of a limit, besides its time: it is told by that
)

// Check returns what is wrong with a sentence in words of one's own.
func Check(k Key, text string) error {
	english, there := languages[English].Sentences[k]
	switch {
	case !there:
		return errors.New("there is no such sentence; language.md lists them")
	case strings.TrimSpace(text) == "":
		return errors.New("it is empty")
	case len(text) > maxOwn:
		return fmt.Errorf("it is longer than %d bytes", maxOwn)
	case slices.Contains(labels, k) && len([]rune(text)) > maxLabel:
		return fmt.Errorf("it is longer than %d characters, and stands on a button", maxLabel)
	case slices.Contains(limits, k) && len([]rune(strings.TrimSpace(strings.Replace(text, "{time}", "", 1)))) < minBeside:
		return fmt.Errorf("it has to say something besides the time, in %d characters at least", minBeside)
	case !slices.Equal(places(text), places(english)):
		return fmt.Errorf("it has the places %q and has to have %q, each once", places(text), places(english))
	}
	return nil
}

// places returns the names in braces of a sentence, in the order of the alphabet.
func places(text string) []string {
	var out []string
	for _, part := range strings.Split(text, "{")[1:] {
		name, _, _ := strings.Cut(part, "}")
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// Say returns a sentence. with are pairs of a place in the sentence and what stands there, such
// as "time", "an hour"; what stands there is not read again.
func (t Table) Say(k Key, with ...string) string {
	text := t.own[string(k)]
	if text == "" || Check(k, text) != nil {
		text = t.Standing(k)
	}
	for i := 0; i < len(with); i += 2 {
		with[i] = "{" + with[i] + "}"
	}
	return strings.NewReplacer(with...).Replace(text)
}

// Standing returns a sentence as the language has it, with its places.
func (t Table) Standing(k Key) string {
	if text := languages[t.language].Sentences[k]; text != "" {
		return text
	}
	return languages[English].Sentences[k]
}

// Notices returns the operator's own words of what the bot says where it has no answer. A
// sentence of a limit has its place {time}.
func (t Table) Notices() []string {
	var out []string
	for _, k := range slices.Concat(notices, limits) {
		if text := t.own[string(k)]; text != "" && Check(k, text) == nil {
			out = append(out, text)
		}
	}
	return out
}

// KeyOf returns which sentence a text is; "" where it is none. Sentences with places are never
// found.
func (t Table) KeyOf(text string) Key {
	for _, k := range Keys() {
		if t.own[string(k)] == text && text != "" {
			return k
		}
	}
	return keys[text]
}

// IsNotice reports whether a text is what the bot says, in any language or in words of an
// operator's own ([Table.Notices]), where it has no answer.
func IsNotice(text string, own []string) bool {
	said := func(sentence string) bool { return says(sentence, text) }
	return slices.Contains(notices, keys[text]) || slices.ContainsFunc(limitSentences, said) || slices.ContainsFunc(own, said)
}

// says reports whether a text is a sentence, whatever stands in its one place.
func says(sentence, text string) bool {
	before, after, ok := strings.Cut(sentence, "{time}")
	return sentence == text || ok && before+after != "" && len(text) > len(before+after) && strings.HasPrefix(text, before) && strings.HasSuffix(text, after)
}

// limitSentences are those of limits, in all languages.
var limitSentences = sentencesOfLimits()

func sentencesOfLimits() []string {
	var out []string
	for _, code := range Languages() {
		for _, k := range limits {
			out = append(out, languages[code].Sentences[k])
		}
	}
	return out
}

// Languages returns which languages there are, by their ISO 639 codes, in the order of these.
func Languages() []string { return slices.Sorted(maps.Keys(languages)) }

// Keys returns the keys of all sentences, in the order of the alphabet.
func Keys() []Key { return slices.Sorted(maps.Keys(languages[English].Sentences)) }

// A language is a file of the folder languages.
type language struct {
	Name      string            `json:"name"`
	Sentences map[Key]string    `json:"sentences"`
	Said      map[Said][]string `json:"said"`
}

//go:embed languages/*.json
var files embed.FS

// languages are the files by the codes that are their names.
var languages = readLanguages()

func readLanguages() map[string]language {
	list, err := files.ReadDir("languages")
	if err != nil {
		panic(err) // they are part of the program
	}
	out := map[string]language{}
	for _, f := range list {
		data, err := files.ReadFile("languages/" + f.Name())
		if err != nil {
			panic(err)
		}
		var l language
		if err := json.Unmarshal(data, &l); err != nil {
			panic(fmt.Errorf("%s: %w", f.Name(), err))
		}
		out[strings.TrimSuffix(f.Name(), path.Ext(f.Name()))] = l
	}
	return out
}

// keys are the keys of sentences by their texts, of all languages.
var keys = keysByText()

func keysByText() map[string]Key {
	out := map[string]Key{}
	for _, l := range languages {
		for k, text := range l.Sentences {
			if len(places(text)) == 0 && (out[text] == "" || slices.Contains(notices, k)) {
				out[text] = k
			}
		}
	}
	return out
}
