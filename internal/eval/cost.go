package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/eval/chats"
)

// CostOptions say what [Cost] replays. Counter is required; zero values of the
// rest mean the defaults.
type CostOptions struct {
	Counter assemble.Counter
	Policy  assemble.Policy // default: standard
	Budget  assemble.Budget // default: [assemble.DefaultBudget]
	Turns   int             // of each talk; default 200
	Talks   int             // how many of the longest; default 3
	Every   int             // at most every so many messages of people one is a question; default 5
	Folder  string          // for databases, which are removed again; default: the system's
	// Tell is called with a line on each talk that was replayed; nil: nothing is.
	Tell func(line string)
}

func (o CostOptions) withDefaults() CostOptions {
	if o.Policy.Name == "" && o.Policy.First == nil {
		o.Policy = assemble.Standard()
	}
	if o.Budget == (assemble.Budget{}) {
		o.Budget = assemble.DefaultBudget()
	}
	for _, d := range []struct {
		v   *int
		def int
	}{{&o.Turns, 200}, {&o.Talks, 3}, {&o.Every, 5}} {
		if *d.v <= 0 {
			*d.v = d.def
		}
	}
	o.Folder = cmp.Or(o.Folder, os.TempDir())
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	return o
}

// A CostReport is what talks cost, ours against the full history sent at each
// turn. Its numbers are means over the talks.
type CostReport struct {
	Policy       string     `json:"policy"`
	Counter      string     `json:"counter"`
	Turns        int        `json:"turns"`
	Limit        int        `json:"limit"`         // of the full history, in tokens
	AnswerTokens int        `json:"answer_tokens"` // of each answer, which is scripted
	Talks        []CostTalk `json:"talks"`
	Rows         []CostRow  `json:"rows"` // one for each 25 turns
}

// A CostTalk is one replayed talk.
type CostTalk struct {
	Conversation string     `json:"conversation"`
	Thread       string     `json:"thread,omitempty"` // "" where the whole conversation was read as one thread
	Messages     int        `json:"messages"`         // that were replayed, answers not counted
	Every        int        `json:"every"`            // one in so many of people's messages is a question
	Epochs       []int      `json:"epochs"`           // the turns, from 1, that began a new epoch
	Turns        []CostTurn `json:"turns"`
}

// A CostTurn is one turn of a talk. Number counts from 1.
type CostTurn struct {
	Number int      `json:"turn"`
	Ours   CostSide `json:"ours"`
	Full   CostSide `json:"full"`
}

// A CostSide is what one turn cost one of the two.
type CostSide struct {
	Prompt int   `json:"prompt"` // tokens
	Cached int   `json:"cached"` // tokens of the prefix that it shares with the prompt before
	Stored int64 `json:"stored"` // bytes kept after the turn
}

// A CostRow is what the turns up to one number cost.
type CostRow struct {
	Turn   int     `json:"turn"`
	Ours   CostSum `json:"ours"`
	Full   CostSum `json:"full"`
	Epochs int     `json:"epochs"` // begun since the row before, all talks together
}

// A CostSum is one side of a row: means over the talks.
type CostSum struct {
	Prompt    int     `json:"prompt"`    // tokens of this turn's prompt
	Sum       int     `json:"sum"`       // tokens of all prompts so far
	New       int     `json:"new"`       // of those, what was not in the prefix shared with the prompt before
	Charged   int     `json:"charged"`   // New, and a tenth of the rest: the price with a provider that caches every shared prefix
	Cacheable float64 `json:"cacheable"` // share of the tokens since the row before that was, 0 to 1
	Stored    int64   `json:"stored"`    // bytes
}

// cachedPrice is the price of a cached token, as a share of that of a new one.
// Providers ask a tenth to a half.
const cachedPrice = 0.1

// costStep is how many turns a row sums.
const costStep = 25

// errNoTalk says that there is nothing to replay.
var errNoTalk = errors.New("no conversation has a question of a person to replay")

// Cost replays the longest talks of conversations through a bot on SQLite, whose
// model gives the same answer at each turn, and compares what this bot sends and
// stores with a bot that sends the full history at each turn. The same
// conversations and options give the same report.
//
// The full history is one line a message, "Name: text", its own answers as the
// assistant's, nothing else: no system text and no tools, which ours are charged
// for. It is cut at its beginning when it is longer than the budget's limit. What
// it stores is the messages, as ours are stored, and the prompt of each turn as
// it was sent, which ours stores too: any turn can be replayed byte for byte.
func Cost(ctx context.Context, conversations []chats.Conversation, o CostOptions) (CostReport, error) {
	o = o.withDefaults()
	list, turns := longestTalks(conversations, o)
	if turns == 0 {
		return CostReport{}, errNoTalk
	}
	r := CostReport{Policy: o.Policy.Name, Counter: o.Counter.Name(), Limit: o.Budget.Limit, AnswerTokens: o.Counter.Count(scriptedAnswer)}
	o.Turns = turns
	r.Turns = turns
	for _, t := range list {
		told, err := replay(ctx, t, o)
		if err != nil {
			return CostReport{}, fmt.Errorf("replay %s: %w", t.name(), err)
		}
		r.Talks = append(r.Talks, told)
		r.Turns = min(r.Turns, len(told.Turns))
		o.Tell(fmt.Sprintf("%s: %d turns over %d messages", t.name(), len(told.Turns), told.Messages))
	}
	r.Rows = costRows(r.Talks, r.Turns)
	return r, nil
}

// A talk is messages that are replayed as one thread.
type talk struct {
	conversation string
	thread       earshot.MessageID // of the platform; "" where the whole conversation is read as one
	messages     []chats.Message
	questions    int // messages that can be questions
	every        int
}

func (t talk) name() string {
	if t.thread == "" {
		return t.conversation
	}
	return t.conversation + " " + string(t.thread)
}

// longestTalks returns the talks with the most messages of people, and how many
// turns each has. A thread of the platform that is long enough is a talk; a
// conversation without one is a talk as a whole. If no talk has the number of
// turns that is wanted, only the longest is returned.
func longestTalks(list []chats.Conversation, o CostOptions) (talks []talk, turns int) {
	var all []talk
	for _, c := range list {
		threads := threadsOf(c)
		threads = slices.DeleteFunc(threads, func(t talk) bool { return t.questions < o.Turns })
		if len(threads) == 0 {
			threads = []talk{newTalk(c.Name, "", c.Messages)}
		}
		all = append(all, threads...)
	}
	slices.SortFunc(all, func(a, b talk) int {
		return cmp.Or(cmp.Compare(b.questions, a.questions), cmp.Compare(a.name(), b.name()))
	})
	if len(all) == 0 || all[0].questions == 0 {
		return nil, 0
	}
	turns = min(o.Turns, all[0].questions)
	for _, t := range all[:min(o.Talks, len(all))] {
		if t.questions < turns {
			break
		}
		t.every = min(o.Every, t.questions/turns)
		talks = append(talks, t)
	}
	return talks, turns
}

// threadsOf returns the platform's threads of a conversation, in any order.
func threadsOf(c chats.Conversation) []talk {
	of := map[earshot.MessageID][]chats.Message{}
	var roots []earshot.MessageID
	for _, m := range c.Messages {
		root := cmp.Or(m.Thread, m.ID)
		if _, ok := of[root]; !ok {
			roots = append(roots, root)
		}
		of[root] = append(of[root], m)
	}
	var out []talk
	for _, root := range roots {
		if len(of[root]) > 1 {
			out = append(out, newTalk(c.Name, root, of[root]))
		}
	}
	return out
}

// newTalk returns a talk of messages, each id once.
func newTalk(conversation string, thread earshot.MessageID, messages []chats.Message) talk {
	t := talk{conversation: conversation, thread: thread}
	known := map[earshot.MessageID]bool{}
	for _, m := range messages {
		if known[m.ID] {
			continue
		}
		known[m.ID] = true
		t.messages = append(t.messages, m)
		if isQuestion(m) {
			t.questions++
		}
	}
	return t
}

// isQuestion reports whether a message can be a question to the bot: a person wrote it,
// and it has text.
func isQuestion(m chats.Message) bool {
	return m.Stored().Author.Kind == earshot.Human && strings.ContainsFunc(m.Text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) &&
		!strings.Contains(m.Text, "🚫") // which asks to be answered alone
}

// costRows sums talks by each 25 turns, and at the last.
func costRows(talks []CostTalk, turns int) []CostRow {
	var rows []CostRow
	for from := 0; from < turns; from += costStep {
		upTo := min(from+costStep, turns)
		row := CostRow{
			Turn: upTo,
			Ours: costSum(talks, from, upTo, func(t CostTurn) CostSide { return t.Ours }),
			Full: costSum(talks, from, upTo, func(t CostTurn) CostSide { return t.Full }),
		}
		for _, t := range talks {
			for _, n := range t.Epochs {
				if n > from && n <= upTo {
					row.Epochs++
				}
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// costSum sums one side of the turns up to a number. The cacheable share is that
// of the turns after from.
func costSum(talks []CostTalk, from, upTo int, side func(CostTurn) CostSide) CostSum {
	var s CostSum
	read, cached := 0, 0
	for _, t := range talks {
		for i, turn := range t.Turns[:upTo] {
			x := side(turn)
			s.Sum += x.Prompt
			s.New += x.Prompt - x.Cached
			if i >= from {
				read += x.Prompt
				cached += x.Cached
			}
		}
		last := side(t.Turns[upTo-1])
		s.Prompt += last.Prompt
		s.Stored += last.Stored
	}
	n := len(talks)
	s.Charged = (s.New + int(cachedPrice*float64(s.Sum-s.New))) / n
	s.Prompt, s.Sum, s.New, s.Stored = s.Prompt/n, s.Sum/n, s.New/n, s.Stored/int64(n)
	if read > 0 {
		s.Cacheable = float64(cached) / float64(read)
	}
	return s
}
