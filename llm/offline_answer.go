package llm

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rivo/uniseg"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search/index"
)

// How much the offline model quotes.
const (
	maxQuotes = 3
	maxLast   = 2   // quotes where none fits
	maxQuote  = 280 // bytes of a quote
)

const (
	offlineIntro = "I am the offline model: I do not understand what you ask, I quote what was said here."
	offlineNone  = "I found no message here that has the words of your question."
	offlineLast  = "No message here has the words of your question. The last ones before it:"
	offlineGap   = "Part of the history could not be loaded, so there may be more."
	offlineFiles = "I cannot look at files."
)

// answer returns the text of the answer.
func (s *promptView) answer() string {
	if len(s.told) > 0 {
		return offlineNamed + "\n\n" + strings.Join(s.told, "\n")
	}
	lines := []string{offlineIntro}
	best := s.best(maxQuotes)
	switch {
	case len(best) > 0:
		lines = append(lines, "", "These fit best:")
	default:
		best = s.last(maxLast)
		if len(best) > 0 {
			lines = append(lines, "", offlineLast)
		} else {
			lines = append(lines, "", offlineNone)
		}
	}
	inOrder(best)
	for _, q := range best {
		who := q.speaker
		if !q.time.IsZero() {
			who += ", " + q.time.UTC().Format("2 Jan 2006 15:04") + " UTC"
		}
		text := strings.Join(strings.Fields(q.text), " ")
		if short := cutWords(text, maxQuote); short != text {
			text = short + "…"
		}
		lines = append(lines, "- "+who+": “"+text+"”")
	}
	if s.gap {
		lines = append(lines, "", offlineGap)
	}
	if s.files {
		lines = append(lines, "", offlineFiles)
	}
	return strings.Join(lines, "\n")
}

// best returns the quotes that fit the question best, best first, each text
// once. A quote that shares no word with the question does not fit.
func (s *promptView) best(limit int) []quote {
	quotes := s.distinct()
	if len(index.Terms(s.intent())) == 0 {
		return nil
	}
	x := index.New()
	for i, q := range quotes {
		// The place stands in for the time, which not every quote has.
		x.Add(earshot.Terms{
			ID: earshot.MessageID(strconv.Itoa(i)), Seq: int64(i + 1), Author: earshot.AuthorID(q.speaker),
			Time: earshot.TimeOf(time.Unix(int64(i)*3600, 0)), Terms: index.Terms(q.text),
		})
	}
	var best []quote
	for _, hit := range x.Search(index.Query{Text: s.intent(), At: earshot.TimeOf(time.Unix(int64(len(quotes))*3600, 0)), Limit: limit}) {
		i, err := strconv.Atoi(string(hit.ID))
		if err == nil && hit.Score > 0 {
			best = append(best, quotes[i])
		}
	}
	return best
}

// last returns the last quotes of the prompt.
func (s *promptView) last(limit int) []quote {
	said := slices.DeleteFunc(s.distinct(), func(q quote) bool { return q.found })
	return said[max(0, len(said)-limit):]
}

// inOrder sorts quotes by time where all have one, else by their places.
func inOrder(quotes []quote) {
	timed := !slices.ContainsFunc(quotes, func(q quote) bool { return q.time.IsZero() })
	slices.SortStableFunc(quotes, func(a, b quote) int {
		if timed {
			return cmp.Compare(a.time, b.time)
		}
		return cmp.Compare(a.place, b.place)
	})
}

// distinct returns the quotes that have a speaker, without the question. Two with
// the same text of the same speaker become one that has the time and the id of
// either.
func (s *promptView) distinct() []quote {
	question := foldText(s.question)
	at := map[string]int{}
	var out []quote
	for _, q := range s.quotes {
		key := foldText(q.text)
		own := strings.HasPrefix(key, foldText(offlineIntro)) || strings.HasPrefix(key, foldText(offlineNamed)) // an earlier answer of this model
		if key == "" || key == question || q.speaker == "" || own {
			continue
		}
		key = foldText(q.speaker) + "\x00" + key
		if i, ok := at[key]; ok {
			if out[i].time.IsZero() {
				out[i].time = q.time
			}
			if out[i].id == "" {
				out[i].id = q.id
			}
			continue
		}
		at[key] = len(out)
		out = append(out, q)
	}
	// A cut message is left out where the whole message is there.
	return slices.DeleteFunc(out, func(q quote) bool {
		return q.cut && slices.ContainsFunc(s.quotes, func(o quote) bool { return !o.cut && o.id != "" && o.id == q.id })
	})
}

// foldText returns a text in the form in which texts are compared.
func foldText(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// cutWords returns at most n bytes of the beginning of s. It cuts at a space where
// there is one in the second half, and never within a character.
func cutWords(s string, n int) string {
	if len(s) <= n {
		return s
	}
	end, state, rest := 0, -1, s
	for rest != "" {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if end+len(cluster) > n {
			break
		}
		end += len(cluster)
	}
	if i := strings.LastIndexByte(s[:end], ' '); i > end/2 {
		end = i
	}
	return strings.TrimRight(s[:end], " \n")
}
