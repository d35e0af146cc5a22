package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/search/index"
)

// A searchData is what a search of one channel found, and why it ranks as it does.
type searchData struct {
	Channel string    `json:"channel,omitempty"` // its name
	Query   string    `json:"q"`
	Person  string    `json:"person,omitempty"`
	Before  string    `json:"before,omitempty"`
	Ignored []string  `json:"ignored"`           // words of the query that say nothing
	Unknown []string  `json:"unknown,omitempty"` // words that no hit has
	Problem string    `json:"problem,omitempty"` // why nothing was searched
	Took    int64     `json:"took_us"`
	Hits    []hitData `json:"hits"`

	scope    earshot.Scope
	channels []earshot.ChannelInfo
	searched bool
}

// A hitData is one message that was found.
type hitData struct {
	ID      earshot.MessageID `json:"id"`
	Time    earshot.Time      `json:"time"`
	Author  string            `json:"author"`
	Text    string            `json:"text"`
	Score   float64           `json:"score"`
	Cover   float64           `json:"cover"` // share of the query's words, by weight, that it has
	Parts   []partData        `json:"parts"`
	Chat    string            `json:"chat"`
	Context string            `json:"context"`

	message earshot.Message
	pieces  []piece
	share   int // of the best score, in percent
}

// A partData is one reason of a score.
type partData struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Means string  `json:"means"`

	share int // of the result's best score, in percent
}

// A piece is a stretch of a text that matches, or one that does not.
type piece struct {
	text string
	hit  bool
}

// partMeans explains the parts of a score.
var partMeans = map[string]string{
	index.PartWords:    "It has the words of the query; rare words count more.",
	index.PartAuthor:   "The query names who said it.",
	index.PartNear:     "Messages beside it have the words: what it replies to, its replies, its neighbours.",
	index.PartTime:     "It was said when the query says.",
	index.PartNumber:   "The query asks how many or when, and it has a number.",
	index.PartRecency:  "Few messages were said since.",
	index.PartPhrase:   "The words stand next to each other as in the query.",
	index.PartExact:    "It has an id, an address or another exact text of the query.",
	index.PartActivity: "It was replied to.",
	index.PartTalk:     "A message beside it was found too.",
	index.PartMeaning:  "An encoder finds that it means much the same.",
	index.PartID:       "The query is its id.",
}

// maxHits is how many messages a page of hits has.
const maxHits = 25

// search finds messages of one channel.
func (s *server) search(v *visit) (page, error) {
	d := searchData{Query: v.query("q"), Person: v.query("person"), Before: v.query("before"), Ignored: []string{}, Hits: []hitData{}}
	var err error
	var more bool
	if d.channels, more, err = s.Reader.RecentChannels(v.Context(), v.caller, maxChoices); err != nil {
		return page{}, err
	}
	at := v.place()
	for _, c := range d.channels {
		if len(d.channels) == 1 && at.Channel == "" || d.value(c) != string(c.ID) && d.value(c) == string(at.Channel) {
			at = placeOf(string(c.Platform), string(c.Workspace), string(c.ID))
		}
	}
	if at.Channel != "" {
		c, err := s.Reader.To(v.caller).Find(v.Context(), at)
		if err != nil {
			return page{}, err
		}
		d.scope, d.Channel = c.Scope(), cmp.Or(c.Name, string(c.ID))
		if more && !slices.ContainsFunc(d.channels, d.isAt) {
			d.channels = append(d.channels, earshot.ChannelInfo{Channel: c})
		}
		if err := s.searchIn(v, &d, c); err != nil {
			return page{}, err
		}
	}
	title := "Search"
	if d.Query != "" {
		title = "Search: " + plain.Line(d.Query, 60)
	}
	return page{title: title, nav: "search", data: d, body: searchBody(d)}, nil
}

// nobodySaid is the answer where nobody has a name and where somebody has it who said
// nothing that fits: whoever sees this channel alone does not learn who else there is.
const nobodySaid = "Nobody of this name said anything here that fits. Give the name as it stands beside a message, or an id."

// searchIn fills the hits.
func (s *server) searchIn(v *visit, d *searchData, c earshot.Channel) error {
	if d.Query == "" && d.Person == "" {
		return nil
	}
	q := search.Query{Text: d.Query, Limit: maxHits}
	var err error
	if q.Before, err = beforeOf(d.Before); err != nil {
		d.Problem = "“before” is not a day such as 2026-03-05."
		return nil
	}
	if d.Person != "" {
		if q.Authors, err = s.Reader.People(v.Context(), v.caller, c.Scope(), d.Person); err != nil {
			return err
		}
		if len(q.Authors) == 0 {
			d.Problem = nobodySaid
			return nil
		}
	}
	if err := s.Reader.Hold(c.Scope()); err != nil {
		return err
	}
	began := time.Now()
	hits, err := s.Reader.Search(v.Context(), v.caller, c, q)
	if r, ok := visible.AsRefusal(err); ok && r.Kind == visible.Invalid {
		d.Problem = "There is no word to look for in this query."
		return nil
	}
	if err != nil {
		return err
	}
	if d.Person != "" && len(hits) == 0 {
		d.Problem = nobodySaid
		return nil
	}
	d.searched, d.Took = true, time.Since(began).Microseconds()
	if list := index.IgnoredTerms(d.Query); list != nil {
		d.Ignored = list
	}
	d.show(hits)
	return nil
}

// beforeOf reads a day, up to whose end messages are found, or a time; zero for "".
func beforeOf(s string) (earshot.Position, error) {
	if s == "" {
		return earshot.Position{}, nil
	}
	if t, err := time.Parse(time.DateOnly, s); err == nil {
		return earshot.Position{Time: earshot.TimeOf(t.AddDate(0, 0, 1)) - 1}, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	return earshot.Position{Time: earshot.TimeOf(t)}, err
}

// show makes the hits ready for the page.
func (d *searchData) show(hits []search.Hit) {
	wanted := map[string]bool{}
	for _, t := range index.Terms(d.Query) {
		wanted[t] = !slices.Contains(d.Ignored, t)
	}
	best := 0.0
	for _, h := range hits {
		best = max(best, h.Score)
		for _, p := range h.Parts {
			best = max(best, p.Value)
		}
	}
	seen := map[string]bool{}
	for _, h := range hits {
		text := plain.Clean(plain.Readable(h.Message.Text))
		x := hitData{
			ID: h.ID, Time: h.Message.Time, Author: nameOf(h.Message.Author), Text: h.Message.Text, Score: h.Score, Cover: h.Cover, Parts: []partData{},
			Chat: chatAt(d.scope, h.ID), Context: contextLink(d.scope, h.ID), message: h.Message, pieces: aroundHit(markedIn(text, wanted)), share: percentOf(h.Score, best),
		}
		for _, p := range h.Parts {
			x.Parts = append(x.Parts, partData{Name: p.Name, Value: p.Value, Means: partMeans[p.Name], share: percentOf(p.Value, best)})
		}
		slices.SortStableFunc(x.Parts, func(a, b partData) int { return cmp.Compare(b.Value, a.Value) })
		for _, t := range index.Terms(text + " " + x.Author) {
			seen[t] = true
		}
		d.Hits = append(d.Hits, x)
	}
	for _, t := range index.Terms(d.Query) {
		if wanted[t] && !seen[t] && len(hits) > 0 && !slices.Contains(d.Unknown, t) {
			d.Unknown = append(d.Unknown, t)
		}
	}
}

func percentOf(x, of float64) int {
	if of <= 0 || x <= 0 {
		return 0
	}
	return min(100, int(100*x/of+0.5))
}

// markedIn cuts a text into stretches that have a wanted term and stretches that have
// none. Joined they are the text.
func markedIn(text string, wanted map[string]bool) []piece {
	var out []piece
	add := func(s string, hit bool) {
		if s == "" {
			return
		}
		if n := len(out); n > 0 && out[n-1].hit == hit {
			out[n-1].text += s
			return
		}
		out = append(out, piece{s, hit})
	}
	for text != "" {
		n := strings.IndexFunc(text, unicode.IsSpace)
		if n < 0 {
			n = len(text)
		}
		word := text[:n]
		if slices.ContainsFunc(index.Terms(word), func(t string) bool { return wanted[t] }) {
			// Signs around the word are not what was looked for.
			core := strings.TrimFunc(word, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsNumber(c) })
			i := strings.Index(word, core)
			add(word[:i], false)
			add(core, true)
			word = word[i+len(core):]
		}
		add(word, false)
		text = text[n:]
		if n = strings.IndexFunc(text, func(c rune) bool { return !unicode.IsSpace(c) }); n < 0 {
			n = len(text)
		}
		add(text[:n], false)
		text = text[n:]
	}
	return out
}

// Bounds of a text in a list of hits, in bytes.
const (
	hitLead = 120 // shown before the first match
	hitMost = 900 // shown in all
)

// aroundHit returns the part of a text that is around its first match.
func aroundHit(list []piece) []piece {
	i := max(0, slices.IndexFunc(list, func(p piece) bool { return p.hit }))
	var out []piece
	if i > 0 {
		if before := list[i-1].text; i > 1 || len(before) > hitLead {
			out = append(out, piece{"… " + textEnding(before, hitLead), false})
		} else {
			out = append(out, list[i-1])
		}
	}
	left := hitMost
	for _, p := range list[i:] {
		if len(p.text) > left {
			return append(out, piece{textBeginning(p.text, left) + " …", p.hit})
		}
		out = append(out, p)
		left -= len(p.text)
	}
	return out
}

// textBeginning and ending return about n bytes of a text from its beginning or its end, whole
// characters.
func textBeginning(s string, n int) string { return strings.ToValidUTF8(s[:min(n, len(s))], "") }

func textEnding(s string, n int) string { return strings.ToValidUTF8(s[max(0, len(s)-n):], "") }

// scoreText writes a part of a score.
func scoreText(x float64) string { return strconv.FormatFloat(x, 'f', 1, 64) }

// found says how many hits there are.
func (d searchData) found() string {
	n := plural(len(d.Hits), "message", "messages")
	if len(d.Hits) == maxHits {
		n = fmt.Sprintf("The best %d messages", maxHits)
	}
	return n + " in #" + plain.ID(d.Channel)
}

// isAt reports whether a channel is the one that is searched.
func (d searchData) isAt(c earshot.ChannelInfo) bool { return c.Scope() == d.scope }

// value is how the form sends a channel: its id, with platform and workspace where
// channels of several have it.
func (d searchData) value(c earshot.ChannelInfo) string {
	for _, x := range d.channels {
		if x.ID == c.ID && x.Scope() != c.Scope() {
			return strings.Join([]string{string(c.Platform), string(c.Workspace), string(c.ID)}, "|")
		}
	}
	return string(c.ID)
}

// choice is how the form shows a channel: its name, with the rest where several have
// the same.
func (d searchData) choice(c earshot.ChannelInfo) string {
	label := "#" + plain.Line(cmp.Or(c.Name, string(c.ID)), 40)
	same := 0
	for _, x := range d.channels {
		if x.Name == c.Name {
			same++
		}
	}
	if same > 1 {
		label += " · " + plain.Line(string(c.Workspace), 30) + " · " + plain.Line(string(c.ID), 40)
	}
	return label
}
