package eval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/eval/chats"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/search/index"
	"github.com/earshot-ai/earshot/tokens"
)

// DefaultLimit is how many hits a query asks for by default.
const DefaultLimit = 200

// RetrievalOptions are the options of Retrieve. Zero fields mean the defaults.
type RetrievalOptions struct {
	Limit int // hits of a query; default: DefaultLimit
	// Section is the recall section of a policy. One measure counts only what its
	// limits of messages and tokens leave; nil: without this measure.
	Section *assemble.Section
	// Progress is told after each query how many were asked, of how many.
	Progress func(done, of int)
}

// An Answer is what search found for one query.
type Answer struct {
	Source string
	Query  chats.Query
	IDs    []earshot.MessageID // the best first
	// What is measured of it; all zero for a query without gold.
	Figures Figures
}

// Figures are shares, 0 to 1, of one query or averaged over several.
type Figures struct {
	RecallAt10 float64 `json:"recall_at_10"` // the share of gold among the first ten hits
	HitAt10    float64 `json:"hit_at_10"`    // 1 where any gold is among them
	RecallAt50 float64 `json:"recall_at_50"`
	MRR        float64 `json:"mrr"` // 1 / the place of the first gold
	// The share of gold among the hits that fit so many tokens as lines.
	RecallIn4000 float64 `json:"recall_in_4000"`
	RecallIn8000 float64 `json:"recall_in_8000"`
	// The share within the limits of a policy's section recall; nil where no
	// policy is measured.
	RecallInSection *float64 `json:"recall_in_section,omitempty"`
}

// Retrieve indexes the conversation of each task and asks its queries, each when
// the index holds what is older than it and nothing else. The answers are in
// the order of the queries' numbers.
func Retrieve(ctx context.Context, tasks []chats.Task, o *RetrievalOptions) ([]Answer, error) {
	var opts RetrievalOptions
	if o != nil {
		opts = *o
	}
	opts.Limit = cmp.Or(opts.Limit, DefaultLimit)
	if opts.Progress == nil {
		opts.Progress = func(int, int) {}
	}
	total := 0
	for _, t := range tasks {
		total += len(t.Queries)
	}
	answers := make([]Answer, 0, total)
	for _, t := range tasks {
		x := newRetrieval(t)
		for _, q := range t.Queries {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			answers = append(answers, x.ask(q, opts))
			opts.Progress(len(answers), total)
		}
	}
	slices.SortStableFunc(answers, func(a, b Answer) int { return cmp.Compare(a.Query.Number, b.Query.Number) })
	return answers, nil
}

// A retrieval is one conversation's index, filled up to a query.
type retrieval struct {
	task    chats.Task
	index   *index.Index
	cutter  index.Cutter
	next    int                       // of the messages, the first that is not indexed
	byID    map[earshot.MessageID]int // of those that are
	printed map[earshot.MessageID]int // of those that were hit: what each costs as a line, in tokens
}

func newRetrieval(t chats.Task) *retrieval {
	return &retrieval{task: t, index: index.New(), byID: map[earshot.MessageID]int{}, printed: map[earshot.MessageID]int{}}
}

// fill indexes what is older than at.
func (r *retrieval) fill(at earshot.Time) {
	list := r.task.Conversation.Messages
	for ; r.next < len(list) && list[r.next].Time < at; r.next++ {
		m := list[r.next]
		r.byID[m.ID] = r.next
		r.index.Add(m.Terms(int64(r.next)+1, r.cutter.Terms(m.Text)))
	}
}

// ask asks one query.
func (r *retrieval) ask(q chats.Query, o RetrievalOptions) Answer {
	a := Answer{Source: r.task.Source, Query: q}
	r.fill(q.At)
	if r.index.Len() > 0 {
		// The index holds nothing newer; Before is the moment from which recency
		// is counted.
		for _, h := range r.index.Search(search.Query{Text: q.Text, Asker: q.Author(), At: q.At, Before: earshot.Position{Time: q.At - 1}, Limit: o.Limit}) {
			a.IDs = append(a.IDs, h.ID)
		}
	}
	if len(q.Gold) > 0 {
		a.Figures = r.measure(q, a.IDs, o.Section)
	}
	return a
}

// measure compares hits with a query's gold.
func (r *retrieval) measure(q chats.Query, ids []earshot.MessageID, section *assemble.Section) Figures {
	gold := goldOf(q)
	f := Figures{RecallAt10: gold.share(firstIDs(ids, 10)), RecallAt50: gold.share(firstIDs(ids, 50))}
	if f.RecallAt10 > 0 {
		f.HitAt10 = 1
	}
	if at := slices.IndexFunc(ids, func(id earshot.MessageID) bool { return gold[id] }); at >= 0 {
		f.MRR = 1 / float64(at+1)
	}
	f.RecallIn4000 = gold.share(r.pack(ids, 4000))
	f.RecallIn8000 = gold.share(r.pack(ids, 8000))
	if section != nil {
		share := gold.share(r.pack(firstIDs(ids, section.Messages), section.Tokens))
		f.RecallInSection = &share
	}
	return f
}

func firstIDs(ids []earshot.MessageID, n int) []earshot.MessageID { return ids[:min(n, len(ids))] }

// pack returns the hits that fit, best first, and skips those that do not.
func (r *retrieval) pack(ids []earshot.MessageID, room int) []earshot.MessageID {
	var out []earshot.MessageID
	for _, id := range ids {
		cost, ok := r.printed[id]
		if !ok {
			cost = tokens.Base(lineOf(r.task.Conversation.Messages[r.byID[id]]))
			r.printed[id] = cost
		}
		if cost <= room {
			room -= cost
			out = append(out, id)
		}
	}
	return out
}

// lineOf is a message as a line.
func lineOf(m chats.Message) string { return m.Author + ": " + m.Text + "\n" }

// An answerMessages is the messages that hold an answer.
type answerMessages map[earshot.MessageID]bool

func goldOf(q chats.Query) answerMessages {
	g := answerMessages{}
	for _, id := range q.Gold {
		g[id] = true
	}
	return g
}

// share is the share of g that is among ids.
func (g answerMessages) share(ids []earshot.MessageID) float64 {
	if len(g) == 0 {
		return 0
	}
	n := 0
	seen := map[earshot.MessageID]bool{}
	for _, id := range ids {
		if g[id] && !seen[id] {
			seen[id] = true
			n++
		}
	}
	return float64(n) / float64(len(g))
}

// A Group is the figures of some queries, averaged.
type Group struct {
	Name    string `json:"name"`
	Queries int    `json:"queries"` // with gold: those that are measured
	Gold    int    `json:"gold"`    // messages
	Figures
}

// A Summary is the figures of all queries, and by category and by source, each
// in the order of names.
type Summary struct {
	Overall    Group   `json:"overall"`
	ByCategory []Group `json:"by_category"`
	BySource   []Group `json:"by_source"`
}

// Summarise averages the answers' figures. Queries without gold do not count.
func Summarise(answers []Answer) Summary {
	s := Summary{Overall: Group{Name: "all"}, ByCategory: []Group{}, BySource: []Group{}}
	byCategory, bySource := map[string]*Group{}, map[string]*Group{}
	into := func(groups map[string]*Group, name string) *Group {
		if groups[name] == nil {
			groups[name] = &Group{Name: name}
		}
		return groups[name]
	}
	for _, a := range answers {
		if len(a.Query.Gold) == 0 {
			continue
		}
		s.Overall.add(a)
		into(byCategory, a.Query.Category).add(a)
		into(bySource, a.Source).add(a)
	}
	s.Overall.average()
	for _, part := range []struct {
		groups map[string]*Group
		out    *[]Group
	}{{byCategory, &s.ByCategory}, {bySource, &s.BySource}} {
		for _, g := range part.groups {
			g.average()
			*part.out = append(*part.out, *g)
		}
		slices.SortFunc(*part.out, func(a, b Group) int { return strings.Compare(a.Name, b.Name) })
	}
	return s
}

// fields are the figures, for sums.
func (f *Figures) fields() []*float64 {
	all := []*float64{&f.RecallAt10, &f.HitAt10, &f.RecallAt50, &f.MRR, &f.RecallIn4000, &f.RecallIn8000}
	if f.RecallInSection != nil {
		all = append(all, f.RecallInSection)
	}
	return all
}

func (g *Group) add(a Answer) {
	if a.Figures.RecallInSection != nil && g.RecallInSection == nil {
		g.RecallInSection = new(float64)
	}
	mine, theirs := g.fields(), a.Figures.fields()
	for i := range theirs {
		*mine[i] += *theirs[i]
	}
	g.Queries++
	g.Gold += len(goldOf(a.Query))
}

func (g *Group) average() {
	for _, v := range g.fields() {
		*v /= float64(max(1, g.Queries))
	}
}

// WriteAnswers writes a line for each of the queries: its number and what was found for
// it. One that was not asked has no ids.
func WriteAnswers(queries []chats.Query, answers []Answer, line func(any) error) error {
	byNumber := make(map[int][]earshot.MessageID, len(answers))
	for _, a := range answers {
		byNumber[a.Query.Number] = a.IDs
	}
	for _, q := range queries {
		ids := byNumber[q.Number]
		if ids == nil {
			ids = []earshot.MessageID{}
		}
		err := line(struct {
			Q   int                 `json:"q"`
			IDs []earshot.MessageID `json:"ids"`
		}{q.Number, ids})
		if err != nil {
			return fmt.Errorf("query %d: %w", q.Number, err)
		}
	}
	return nil
}
