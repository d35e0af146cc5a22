package index

import (
	"encoding/binary"
	"regexp"
	"slices"
	"strings"
)

// adjacency returns the share of the query's pairs of words that stand next to
// each other in the message too, 0 to 1; pairs of rare words count more.
func (p *plan) adjacency(numbers []uint32) float64 {
	if len(p.pairs) == 0 {
		return 0
	}
	var sum float64
	var seen uint64
	for i := range len(numbers) - 1 {
		n, ok := p.pairs[uint64(numbers[i])<<32|uint64(numbers[i+1])]
		if ok && seen&(1<<n) == 0 {
			seen |= 1 << n
			sum += p.shares[n]
		}
	}
	return sum
}

// quotes returns the share of the query's quoted phrases that the message has.
func (p *plan) quotes(numbers []uint32) float64 {
	found := 0
	for _, phrase := range p.phrases {
		for i := range len(numbers) - len(phrase) + 1 {
			if slices.Equal(numbers[i:i+len(phrase)], phrase) {
				found++
				break
			}
		}
	}
	return float64(found) / float64(max(1, len(p.phrases)))
}

// exactShare returns the share of the query's ids, URLs and the like that the message
// has, rare ones counting more.
func (p *plan) exactShare(numbers []uint32) float64 {
	if p.exact == 0 {
		return 0
	}
	var sum float64
	for _, w := range p.words {
		if w.whole && w.number != noNumber && slices.Contains(numbers, w.number) {
			sum += w.weight
		}
	}
	return sum / p.exact
}

// maxReplies is how many replies count as activity, at most.
const maxReplies = 64

// replyActivity returns how much was said in reply to a message, 0 to 1: half with
// four replies. Replies after Query.Before do not count.
func (x *Index) replyActivity(p *plan, d *doc) float64 {
	if d.rootOf < 0 {
		return 0
	}
	n := 0.0
	for i, number := range x.threads[d.rootOf].replies.docs {
		if r := &x.docs[number]; !r.dead && (p.q.Before.IsZero() || upTo(r, p.q.Before)) {
			n++
		}
		if i >= maxReplies {
			break
		}
	}
	return n / (n + 4)
}

// numberQuestion matches questions whose answer has a number.
var numberQuestion = regexp.MustCompile(`\bhow (many|much|long|far|big|old|often|high|tall|heavy|fast|large)\b|\bwhen\b|\b(what|which) (time|date|year|day|version|release|resolution|price|size|percentage)\b` +
	`|\bhoe(veel| lang| ver)\b|\bwanneer\b|\bcombien\b|\bquand\b|\bwie ?viele?\b|\bwann\b|\bkoľko\b|\bkolik\b|\bk[ei]dy\b|\bile\b|\bkiedy\b|\bcuánt|\bcuándo\b|\bquant|сколько|когда` +
	`|いくつ|いくら|何(人|時|年|月|日|個|回|件|円|分|番)|いつ|バージョン`)

// asksNumber reports whether the answer to a query has a number.
func asksNumber(text string) bool { return numberQuestion.MatchString(strings.ToLower(text)) }

// hasNumber reports whether a doc has a term that begins with a digit.
func (x *Index) hasNumber(d *doc) bool {
	for _, n := range x.numbersOf(d) {
		if c := x.words.name(n)[0]; '0' <= c && c <= '9' {
			return true
		}
	}
	return false
}

// minSame is how many different words a message must have to be a duplicate:
// "thanks, works" is said of many things.
const minSame = 4

// dedupe returns the first limit of the hits, without those that have the same
// words as a better one, in any order and stop words aside.
func (x *Index) dedupe(list []*scoredDoc, limit int) []*scoredDoc {
	seen := map[string]bool{}
	out := list[:0]
	for _, h := range list {
		if len(out) == limit {
			break
		}
		if key, ok := x.wordKey(h.doc); ok {
			if seen[key] {
				continue
			}
			seen[key] = true
		}
		out = append(out, h)
	}
	return out
}

// wordKey returns the numbers of a doc's different words as one string; false where
// they are few.
func (x *Index) wordKey(number uint32) (string, bool) {
	numbers := slices.Clone(x.numbersOf(&x.docs[number]))
	numbers = slices.DeleteFunc(numbers, func(n uint32) bool { return home.stop[string(x.words.name(n))] })
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	if len(numbers) < minSame {
		return "", false
	}
	key := make([]byte, 0, 4*len(numbers))
	for _, n := range numbers {
		key = binary.LittleEndian.AppendUint32(key, n)
	}
	return string(key), true
}
