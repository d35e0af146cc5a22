package tools

import (
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/search/index"
)

// maxWords is how many of the intent's words are named.
const maxWords = 6

// explainRank says why the search ranks a message where it does. It names words of
// the question, never of the message.
func explainRank(cut *index.Cutter, intent string, h search.Hit) string {
	parts := map[string]float64{}
	for _, p := range h.Parts {
		parts[p.Name] = p.Value
	}
	var reasons []string
	add := func(reason string, holds bool) {
		if holds {
			reasons = append(reasons, reason)
		}
	}
	add("has this id", parts[index.PartID] > 0)
	score := parts[index.PartWords]
	if score > 0 {
		has, all := matchingWords(cut, intent, h.Message)
		if len(has) > 0 {
			reasons = append(reasons, "has "+strings.Join(has, ", ")+" of "+strconv.Itoa(all)+" words")
		} else {
			reasons = append(reasons, "has words of it")
		}
	}
	add("stands next to what has words of it", parts[index.PartNear]+parts[index.PartTalk] > score/2)
	add("means much the same", parts[index.PartMeaning] > 0)
	add("said by who is named", parts[index.PartAuthor] > 0)
	add("said at the time that is named", parts[index.PartTime] > 0)
	add("has a number", parts[index.PartNumber] > 0)
	add("quoted or neighbouring words together", parts[index.PartPhrase] > 0)
	add("an exact name, number or address", parts[index.PartExact] > 0)
	add("said lately", score > 0 && parts[index.PartRecency] >= score/4)
	add("has replies", parts[index.PartActivity] > 0)
	if len(reasons) == 0 {
		return "among the newest"
	}
	return strings.Join(reasons, "; ")
}

// matchingWords returns words of the intent that a message has, at most maxWords of
// them, and how many different words the intent has.
func matchingWords(cut *index.Cutter, intent string, m earshot.Message) (has []string, all int) {
	terms := map[string]bool{} // of the message
	texts := []string{m.Text}
	for _, q := range m.Shared {
		texts = append(texts, q.Text)
	}
	for _, f := range m.Files {
		texts = append(texts, f.Name)
	}
	for _, text := range texts {
		for _, t := range cut.Terms(text) {
			terms[t] = true
		}
	}
	seen := map[string]bool{}
	for w := range strings.FieldsSeq(strings.NewReplacer(`"`, " ", "“", " ", "”", " ").Replace(intent)) {
		key := strings.Join(cut.Terms(w), " ")
		if key == "" || seen[key] {
			continue
		}
		seen[key] = true
		all++
		for _, t := range cut.Terms(w) {
			if terms[t] {
				if len(has) < maxWords {
					has = append(has, cleanLine(strings.Trim(w, ".,;:!?()"), maxName))
				}
				break
			}
		}
	}
	return has, all
}
