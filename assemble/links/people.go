package links

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
)

// A person is an author, or somebody who joined.
type person struct {
	last    int32 // the newest message, by index in messages, or None
	count   int32 // messages
	called  int32 // the newest message that names them, or None
	caller  int32 // who wrote it
	partner int32 // whom they spoke to last, or None
}

// peopleIndex finds everybody by id and by name.
type peopleIndex struct {
	list   []person
	byID   map[earshot.AuthorID]int32
	byName map[string]int32
}

func newPeople() peopleIndex {
	return peopleIndex{byID: map[earshot.AuthorID]int32{}, byName: map[string]int32{}}
}

func (p *peopleIndex) add() int32 {
	p.list = append(p.list, person{last: None, called: None, caller: None, partner: None})
	return int32(len(p.list) - 1)
}

// author returns the person who wrote a message; without an id, by name.
func (p *peopleIndex) author(a earshot.Author) int32 {
	if who, ok := p.byID[a.ID]; ok && a.ID != "" {
		return who
	}
	name := foldName(a.Name)
	who, ok := p.byName[name]
	if !ok || name == "" {
		who = p.add()
	}
	if a.ID != "" {
		p.byID[a.ID] = who
	}
	p.call(name, who)
	return who
}

// call makes a person known by a name, and by the name without marks around it.
func (p *peopleIndex) call(name string, who int32) {
	if name != "" {
		p.byName[name] = who
	}
	if bare := trimMarks(name); len(bare) > 2 {
		if _, taken := p.byName[bare]; !taken {
			p.byName[bare] = who
		}
	}
}

// meet reads a note of who joined or changed their name, as IRC logs have them:
// "=== name [host] has joined", "=== old is now known as new".
func (p *peopleIndex) meet(text string) {
	rest, ok := strings.CutPrefix(text, "=== ")
	if !ok {
		return
	}
	words := strings.Fields(rest)
	switch {
	case len(words) == 6 && words[1] == "is" && words[4] == "as":
		old, renamed := foldName(words[0]), foldName(words[5])
		who, ok := p.byName[old]
		if !ok {
			who = p.add()
			p.call(old, who)
		}
		if _, taken := p.byName[renamed]; !taken {
			p.call(renamed, who)
		}
	case len(words) >= 4 && strings.HasSuffix(rest, "joined "+words[len(words)-1]):
		if name := foldName(words[0]); p.byName[name] == 0 {
			if _, ok := p.byName[name]; !ok {
				p.call(name, p.add())
			}
		}
	}
}

// begins finds whom a text begins with, and returns the text without that name.
func (p *peopleIndex) begins(q *message, text string) string {
	who, length, kind := p.first(text)
	if kind == namesNobody {
		return text
	}
	q.naming = kind
	if kind == namesFirst {
		p.point(q, who)
	}
	return strings.TrimLeft(text[length:], " \t:,;>")
}

// findNamed finds whom a message names: in its list of mentions, and among the words
// behind the name that it begins with.
func (p *peopleIndex) findNamed(q *message, m *earshot.Message, words []string) {
	for _, id := range m.Mentions {
		if who, ok := p.byID[id]; ok {
			p.within(q, who)
		}
	}
	for _, w := range words[:min(len(words), 60)] {
		if id, ok := strings.CutPrefix(w, "<@"); ok {
			if end := strings.IndexAny(id, ">|"); end > 0 {
				if who, ok := p.byID[earshot.AuthorID(strings.TrimPrefix(id[:end], "!"))]; ok {
					p.within(q, who)
				}
			}
			continue
		}
		bare := foldName(trimMarks(w))
		if len(bare) < 3 {
			continue
		}
		if who, ok := p.byName[bare]; ok && !common[bare] {
			p.within(q, who)
		}
	}
}

// first returns whose name a text begins with, the length of the name in bytes, and
// how it names them.
func (p *peopleIndex) first(text string) (who int32, length int, kind addressingForm) {
	if rest, ok := strings.CutPrefix(text, "<@"); ok {
		end := strings.IndexByte(rest, '>')
		if end <= 0 {
			return 0, 0, namesNobody
		}
		id, _, _ := strings.Cut(strings.TrimPrefix(rest[:end], "!"), "|")
		if who, ok := p.byID[earshot.AuthorID(id)]; ok {
			return who, end + 3, namesFirst
		}
		return 0, end + 3, namesStranger
	}
	head, at := strings.CutPrefix(text, "@")
	skip := len(text) - len(head)
	end := strings.IndexAny(head, ":,;>\n")
	if end > 0 && end <= 40 && head[end] != '\n' && !strings.HasPrefix(head[end:], "://") {
		name := foldName(head[:end])
		if who, ok := p.byName[name]; ok {
			return who, skip + end, namesFirst
		}
		if !strings.ContainsAny(name, " \t") && len(name) > 1 {
			if who, ok := p.starting(name); ok {
				return who, skip + end, namesFirst
			}
			if (head[end] == ':' || at) && len(head) > end+1 && head[end+1] == ' ' {
				return 0, skip + end, namesStranger
			}
		}
	}
	end = strings.IndexFunc(head, unicode.IsSpace)
	if end < 0 {
		end = len(head)
	}
	name := foldName(head[:end])
	if who, ok := p.byName[name]; ok && (len(name) > 2 || at) && !common[name] {
		return who, skip + end, namesFirst
	}
	if bare := trimMarks(name); len(bare) > 2 && !common[bare] {
		if who, ok := p.byName[bare]; ok {
			return who, skip + end, namesFirst
		}
	}
	return 0, 0, namesNobody
}

// starting returns the only author whose name begins with name; ok is false where
// there is none or there are several.
func (p *peopleIndex) starting(name string) (who int32, ok bool) {
	if len(name) < 3 || common[name] {
		return 0, false
	}
	found := int32(None)
	for known, who := range p.byName {
		if strings.HasPrefix(known, name) && p.list[who].count > 0 && who != found {
			if found != None {
				return 0, false
			}
			found = who
		}
	}
	return found, found != None
}

// point adds a person whom the message begins with.
func (p *peopleIndex) point(q *message, who int32) {
	if who != q.author && !containsNumber(q.to, who) {
		q.to = append(q.to, who)
	}
}

// within adds a person who is named further in.
func (p *peopleIndex) within(q *message, who int32) {
	if who == q.author || containsNumber(q.to, who) {
		return
	}
	if q.naming == namesNobody {
		q.naming = namesWithin
	}
	if len(q.to) < 4 {
		q.to = append(q.to, who)
	}
}

// foldName returns a name in lower case, without white space around it.
func foldName(name string) string {
	for i := 0; i < len(name); i++ {
		if c := name[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return strings.ToLower(strings.TrimSpace(name))
		}
	}
	return strings.TrimSpace(name)
}

// trimMarks returns s without what is no part of a name at its ends: characters of
// ASCII that are neither letters nor digits.
func trimMarks(s string) string {
	isMark := func(c byte) bool { return c < utf8.RuneSelf && !isLetterOrDigit(rune(c)) }
	for len(s) > 0 && isMark(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isMark(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// common are words that are not taken for a name, though people have such names.
var common = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`the and for are but not you all any can had her was one our out day get has him his how man new now old
		see two way who boy did its let put say she too use that with have this will your from they know want been good much some time very
		when come here just like long make many more only over such take than them well were what where which why would there their about
		could other after first never these think again also back even most need into please thanks hello hey yes yeah okay sure right
		then still maybe anyone someone linux ubuntu windows help test user root admin guest mac work works no so if it is in on to
		a i me my we do go be by or at an as of up he hi oh ok lol hmm done nice cool great http https`) {
		m[w] = true
	}
	return m
}()
