// Package digest summarises a stretch of chat without a model: who took part, from
// when to when, what was decided, which questions stayed open, and the most
// telling messages, as they stood.
//
// [Make] is pure: the same messages give the same text, in whatever order they are
// given. A digest can continue the digest before it ([Input.Before]): the lines of
// both compete for the room that there is.
//
// Unstable: what this package exports may change with any version.
package digest

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/search/index"
)

// Head is the first line of every digest.
const Head = "digest made without a model, from messages as they stood:"

// DefaultTokens is how long a digest may be unless the input says otherwise.
const DefaultTokens = 1200

// minTokens is the least room that a digest is made for.
const minTokens = 100

// An Input is what a digest is made of. Messages, Identity and Counter are
// required.
type Input struct {
	Messages []earshot.Message // in any order; deleted, blank and isolated ones are left out
	Identity earshot.Identity  // the agent, whose own lines count less
	Zone     string            // IANA name of the zone of all times; "" is UTC
	Trust    earshot.Trust     // whose words are left out, or told with the mark of inert ones
	Asked    []earshot.Answer  // turns of the agent: what it was asked is not left out
	Bots     string            // the word behind another bot's name, bot or agent; "" is bot
	Before   earshot.Summary   // the summary that this one continues; zero when there is none
	Counter  assemble.Counter
	Tokens   int // the most tokens of the text; 0 means DefaultTokens, fewer than 100 mean 100
}

// Make returns a digest of the input's messages and of the summary before. By is
// [earshot.ByDigest], From and To cover both; Turns is for the caller to set. Text
// is "" where nothing was said. The error is an [*assemble.InputError].
func Make(in Input) (earshot.Summary, error) {
	if in.Tokens == 0 {
		in.Tokens = DefaultTokens
	}
	in.Tokens = max(in.Tokens, minTokens)
	said := slices.Clone(in.Messages)
	said = slices.DeleteFunc(said, func(m earshot.Message) bool { return m.Isolated() })
	written, err := assemble.Transcribe(assemble.Input{Messages: said, Identity: in.Identity, Zone: in.Zone, Counter: in.Counter, Policy: assemble.Policy{Bots: in.Bots},
		Trust: in.Trust, Conversation: assemble.ConversationState{Turns: in.Asked}}, 0)
	if err != nil {
		return earshot.Summary{}, err
	}
	byID := make(map[earshot.MessageID]*earshot.Message, len(said))
	for i := range said {
		if m := &said[i]; byID[m.ID] == nil || m.Edited > byID[m.ID].Edited {
			byID[m.ID] = m
		}
	}
	d := &digest{in: in, people: map[string]int{}}
	out := earshot.Summary{By: earshot.ByDigest, From: in.Before.From, To: in.Before.To}
	d.before()
	var list []*earshot.Message
	for _, w := range written {
		list = append(list, byID[w.ID])
	}
	open := unansweredQuestions(list)
	for i, w := range written {
		m := list[i]
		if out.From == 0 || m.Time < out.From {
			out.From = m.Time
		}
		out.To = max(out.To, m.Time)
		if m.Author.Kind == earshot.System {
			continue
		}
		d.people[w.Speaker]++
		d.add(w, in.Identity.Is(m.Author.ID), open[m.ID])
	}
	if len(d.people)+len(d.lines) == 0 && d.earlier == "" {
		return earshot.Summary{}, nil
	}
	d.rate()
	out.Text = d.write(out.From, out.To)
	return out, nil
}

// A part is one of the lists of a digest.
type part int

const (
	decided part = iota
	asked
	telling
)

// headings stand above the lists, in this order; share is the part of the room
// that a list may take at most while others need it, in percent.
var headings = [...]struct {
	title string
	share int
}{
	decided: {"Decided:", 35},
	asked:   {"Asked, and not answered then:", 20},
	telling: {"Also said:", 100},
}

// A line is one message in a digest.
type line struct {
	part  part
	order int    // of time; below 0 in what the digest before had
	text  string // day, time, speaker and text on one line
	said  string // the text alone, for its terms
	own   bool
	score float64
	cost  int
}

// A digest is one that is being made.
type digest struct {
	in      Input
	people  map[string]int // how many messages each speaker said
	lines   []line
	earlier string // of a summary before that is no digest
}

// lineTokens is how many tokens are shown of one message.
const lineTokens = 60

// add adds a message.
func (d *digest) add(w assemble.WrittenMessage, own, open bool) {
	text := oneLine(w.Text)
	if text == "" { // a file or a quote alone
		text = oneLine(strings.TrimPrefix(w.Plus, "+ "))
	}
	if text == "" {
		return
	}
	p := telling
	switch {
	case open:
		p = asked
	case !own && isDecision(text):
		p = decided
	}
	when := strings.TrimLeft(w.Date[strings.IndexByte(w.Date, ' ')+1:], " ") + " " + w.Clock
	text = cutTokens(d.in.Counter, text, lineTokens)
	d.lines = append(d.lines, line{part: p, order: len(d.lines), own: own, said: text, text: when + " " + w.Speaker + ": " + text})
}

// rate scores all lines by the weights of search, for the room that they take, and
// leaves out near copies.
func (d *digest) rate() {
	cutter := new(index.Cutter)
	terms := make([][]string, len(d.lines))
	for i, l := range d.lines {
		terms[i] = cutter.Terms(l.said)
	}
	for i, score := range index.Telling(terms) {
		l := &d.lines[i]
		l.score = score
		if l.own {
			l.score *= ownShare
		}
		l.cost = d.in.Counter.Count(bullet+l.text) + 1
		l.score /= math.Sqrt(float64(l.cost))
	}
	d.lines = slices.DeleteFunc(d.lines, func(l line) bool { return l.score == 0 })
}

// ownShare is the weight of the agent's own lines: what people said can be found
// nowhere else, and an answer repeats what it was made of.
const ownShare = 0.5

// oneLine joins the lines of a text.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// cutTokens returns the beginning of s with at most limit tokens, at the end of a word
// where there is one, with a mark where something is missing.
func cutTokens(c assemble.Counter, s string, limit int) string {
	if len(s) <= limit || c.Count(s) <= limit {
		return s
	}
	end := c.Prefix(s, limit-1)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	head := s[:end]
	if i := strings.LastIndexByte(head, ' '); i > len(head)/2 {
		head = head[:i]
	}
	return strings.TrimSpace(head) + "…"
}

// maxOpen is how many questions are watched for an answer at a time.
const maxOpen = 200

// unansweredQuestions returns people's questions after which nobody else said anything in the
// same place: their thread, or the one that they began. list is in the order of
// Position.
func unansweredQuestions(list []*earshot.Message) map[earshot.MessageID]bool {
	var open []*earshot.Message
	for _, m := range list {
		open = slices.DeleteFunc(open, func(q *earshot.Message) bool {
			return q.Author.ID != m.Author.ID && (m.Root() == q.Root() || m.Root() == q.ID)
		})
		if m.Author.Kind == earshot.Human && isQuestion(m.Text) {
			open = append(open[max(0, len(open)+1-maxOpen):], m)
		}
	}
	out := make(map[earshot.MessageID]bool, len(open))
	for _, q := range open {
		out[q.ID] = true
	}
	return out
}
