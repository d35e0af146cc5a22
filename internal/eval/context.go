package eval

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/eval/chats"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

// ContextOptions say what Context measures. Zero fields mean the defaults.
type ContextOptions struct {
	Policies []assemble.Policy // default: the built-in ones
	NoPeers  bool              // leave out what other bots do
	Tokens   []int             // budgets of a turn; default: 2,000, 4,000 and 8,000
	Judge    *Judge            // nil: nothing is answered
	// Search opens the search over a conversation's messages; nil: by words.
	Search func(earshot.Store) (*search.Searcher, error)
	// Progress is told after each query how many were asked, of how many.
	Progress func(done, of int)
}

// The kinds of rows.
const (
	KindPolicy = "policy"
	KindPeer   = "peer"
)

// A ContextRow is what one policy or peer showed with one budget, averaged over
// the queries that have gold: messages that hold the answer. Shares are 0 to 1.
type ContextRow struct {
	Policy     string   `json:"policy"`
	Kind       string   `json:"kind"`
	Tokens     int      `json:"tokens"` // the budget
	Queries    int      `json:"queries"`
	Gold       int      `json:"gold"`
	GoldShown  float64  `json:"gold_shown"`  // share of gold that is whole in the prompt
	AllShown   float64  `json:"all_shown"`   // share of queries all of whose gold is whole in it
	GoldCut    float64  `json:"gold_cut"`    // share of gold that is in it in part
	MeanTokens float64  `json:"mean_tokens"` // besides the guide and the question
	Right      *float64 `json:"right,omitempty"`
	// Unclear is how many answers the judge did not judge; they are not right.
	Unclear  int            `json:"unclear,omitempty"`
	BySource []ContextGroup `json:"by_source"` // in the order of names
}

// A ContextGroup is what a row shows of one source's queries.
type ContextGroup struct {
	Name      string  `json:"name"`
	Queries   int     `json:"queries"`
	GoldShown float64 `json:"gold_shown"`
	AllShown  float64 `json:"all_shown"`
}

// A promptResult is what one prompt shows of the messages: whole, or in part.
type promptResult struct {
	full, cut map[earshot.MessageID]bool
	tokens    int
	request   func() (llm.Request, error)
}

// Context makes for each query the prompt of a first turn by each policy and
// budget, over what is older than the query in its own conversation, and looks
// for the query's gold in it. Rows are in the order of the policies, then peers,
// and of the budgets within each. Queries without gold are passed over.
func Context(ctx context.Context, tasks []chats.Task, counter assemble.Counter, o *ContextOptions) ([]ContextRow, error) {
	opts := o.withDefaults()
	rows := opts.rows()
	done, total := 0, 0
	for _, t := range tasks {
		total += len(t.Queries)
	}
	for _, t := range tasks {
		w, err := newWorld(ctx, t, counter, opts.Search)
		if err != nil {
			return nil, err
		}
		err = w.each(ctx, func(q chats.Query, anchor earshot.Message) error {
			done++
			defer func() { opts.Progress(done, total) }()
			if len(q.Gold) == 0 {
				return nil
			}
			return w.measure(ctx, q, anchor, opts, rows)
		})
		w.store.Close()
		w.log.index.close()
		if err != nil {
			return nil, fmt.Errorf("conversation %s of %s: %w", t.Conversation.Name, t.Source, err)
		}
	}
	for i := range rows {
		rows[i].average()
	}
	return rows, nil
}

// withDefaults returns the options with what is left out, and all where there are none.
func (o *ContextOptions) withDefaults() ContextOptions {
	var opts ContextOptions
	if o != nil {
		opts = *o
	}
	if opts.Policies == nil {
		opts.Policies = assemble.Policies()
	}
	if opts.Tokens == nil {
		opts.Tokens = []int{2000, 4000, 8000}
	}
	if opts.Progress == nil {
		opts.Progress = func(int, int) {}
	}
	if opts.Search == nil {
		opts.Search = func(st earshot.Store) (*search.Searcher, error) { return search.New(st, nil), nil }
	}
	return opts
}

// rows returns the empty rows.
func (o ContextOptions) rows() []ContextRow {
	var rows []ContextRow
	row := func(name, kind string) {
		for _, n := range o.Tokens {
			r := ContextRow{Policy: name, Kind: kind, Tokens: n}
			if o.Judge != nil {
				r.Right = new(float64)
			}
			rows = append(rows, r)
		}
	}
	for _, p := range o.Policies {
		row(p.Name, KindPolicy)
	}
	if !o.NoPeers {
		for _, p := range peers {
			row(p.name, KindPeer)
		}
	}
	return rows
}

// Calls is how often a judge asks its models for so many queries.
func (o ContextOptions) Calls(queries int) int { return 2 * queries * len(o.rows()) }

// A filledChannel is one conversation as a channel, filled up to a query.
type filledChannel struct {
	task    chats.Task
	agent   earshot.Identity // who is asked
	counter assemble.Counter
	store   earshot.Store
	finder  *search.Searcher
	channel earshot.Channel
	log     *peerLog
	next    int // of the messages, the first that is not stored
}

// self is the agent that is asked the queries of files.
var self = earshot.Identity{ID: "earshot", Name: "earshot"}

func newWorld(ctx context.Context, t chats.Task, counter assemble.Counter, open func(earshot.Store) (*search.Searcher, error)) (*filledChannel, error) {
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		return nil, err
	}
	finder, err := open(st)
	if err != nil {
		st.Close()
		return nil, err
	}
	w := &filledChannel{
		task: t, agent: self, counter: counter, store: st, finder: finder, log: newPeerLog(counter),
		channel: earshot.Channel{Platform: earshot.Local, Workspace: "eval", ID: "channel", Name: t.Conversation.Name, Kind: earshot.KindChannel},
	}
	if err := st.PutChannel(ctx, w.channel); err != nil {
		st.Close()
		return nil, err
	}
	return w, nil
}

// each calls ask for each query when the store holds what is older than it, and
// the query as the newest message. It is taken out again afterwards.
func (w *filledChannel) each(ctx context.Context, ask func(chats.Query, earshot.Message) error) error {
	for _, q := range w.task.Queries {
		if err := w.fill(ctx, q.At); err != nil {
			return err
		}
		if err := w.finder.Fill(ctx, w.channel.Scope(), func(int) {}); err != nil {
			return err
		}
		anchor := earshot.Message{
			ID: earshot.MessageID(fmt.Sprintf("earshot.question.%d", q.Number)), Time: cmp.Or(q.At, 1), Mentions: []earshot.AuthorID{self.ID},
			Author: q.Author(),
			Text:   fmt.Sprintf("<@%s|%s> %s", self.ID, self.Name, q.Text),
		}
		if _, err := w.store.Record(ctx, w.channel.Scope(), anchor); err != nil {
			return fmt.Errorf("query %d: %w", q.Number, err)
		}
		if err := ask(q, anchor); err != nil {
			return fmt.Errorf("query %d: %w", q.Number, err)
		}
		if _, err := w.store.Record(ctx, w.channel.Scope(), earshot.Message{ID: anchor.ID, Time: anchor.Time, Deleted: true}); err != nil {
			return fmt.Errorf("query %d: %w", q.Number, err)
		}
	}
	return nil
}

// batch is how many messages are recorded at a time.
const batch = 2000

// fill stores what is older than at.
func (w *filledChannel) fill(ctx context.Context, at earshot.Time) error {
	var messages []earshot.Message
	for list := w.task.Conversation.Messages; w.next < len(list) && list[w.next].Time < at; w.next++ {
		messages = append(messages, list[w.next].Stored())
		w.log.add(list[w.next])
	}
	for some := range slices.Chunk(messages, batch) {
		if _, err := w.store.Record(ctx, w.channel.Scope(), some...); err != nil {
			return err
		}
	}
	return nil
}

// measure adds what each prompt shows of a query's gold to its row.
func (w *filledChannel) measure(ctx context.Context, q chats.Query, anchor earshot.Message, o ContextOptions, rows []ContextRow) error {
	i := 0
	add := func(s promptResult) error {
		r := &rows[i]
		i++
		r.add(w.task.Source, goldOf(q), s)
		if o.Judge == nil {
			return nil
		}
		request, err := s.request()
		if err != nil {
			return err
		}
		v, err := o.Judge.try(ctx, q.Text, w.evidence(q), request)
		if err != nil {
			return fmt.Errorf("policy %s: %w", r.Policy, err)
		}
		switch v {
		case right:
			*r.Right++
		case unclear:
			r.Unclear++
		}
		return nil
	}
	for _, p := range o.Policies {
		for _, n := range o.Tokens {
			s, err := w.assemble(ctx, anchor, p, n)
			if err != nil {
				return fmt.Errorf("policy %s: %w", p.Name, err)
			}
			if err := add(s); err != nil {
				return err
			}
		}
	}
	if o.NoPeers {
		return nil
	}
	for _, p := range peers {
		for _, n := range o.Tokens {
			list, used := w.log.choose(p, q.Text, n)
			if err := w.log.index.err; err != nil {
				return err
			}
			s := promptResult{full: map[earshot.MessageID]bool{}, tokens: used, request: func() (llm.Request, error) { return plainRequest(list, q.Text), nil }}
			for _, m := range list {
				s.full[m.ID] = true
			}
			if err := add(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// assemble makes the prompt of a policy.
func (w *filledChannel) assemble(ctx context.Context, anchor earshot.Message, p assemble.Policy, tokens int) (promptResult, error) {
	budget := assemble.DefaultBudget()
	budget.Tokens, budget.Session = tokens, 4*tokens
	var failed error
	_, res, err := gather.Turn(ctx, w.store, gather.Request{
		Channel: w.channel, Anchor: anchor.ID, Identity: w.agent, Policy: p, Budget: budget, Counter: w.counter, Finder: w.finder,
		Failed: func(err error) { failed = err },
	})
	if err = cmp.Or(err, failed); err != nil {
		return promptResult{}, err
	}
	s := promptResult{full: map[earshot.MessageID]bool{}, cut: map[earshot.MessageID]bool{}, tokens: tokensWithout(res.Tokens, assemble.Guide, assemble.Anchor)}
	for _, row := range res.Ledger {
		switch row.Verdict {
		case earshot.Full:
			s.full[row.ID] = true
		case earshot.Cut, earshot.Snippet:
			s.cut[row.ID] = true
		}
	}
	s.request = func() (llm.Request, error) { return promptRequest(res) }
	return s, nil
}

// evidence is the gold's lines, in the order of time.
func (w *filledChannel) evidence(q chats.Query) []string {
	gold := goldOf(q)
	var lines []string
	for _, m := range w.task.Conversation.Messages[:w.next] {
		if gold[m.ID] {
			lines = append(lines, m.Author+": "+m.Text)
		}
	}
	return lines
}

func (r *ContextRow) add(source string, g answerMessages, s promptResult) {
	full, cut := 0, 0
	for id := range g {
		switch {
		case s.full[id]:
			full++
		case s.cut[id]:
			cut++
		}
	}
	share, all := float64(full)/float64(len(g)), 0.0
	if full == len(g) {
		all = 1
	}
	r.Queries++
	r.Gold += len(g)
	r.GoldShown += share
	r.AllShown += all
	r.GoldCut += float64(cut) / float64(len(g))
	r.MeanTokens += float64(s.tokens)
	at, ok := slices.BinarySearchFunc(r.BySource, source, func(x ContextGroup, name string) int { return strings.Compare(x.Name, name) })
	if !ok {
		r.BySource = slices.Insert(r.BySource, at, ContextGroup{Name: source})
	}
	part := &r.BySource[at]
	part.Queries++
	part.GoldShown += share
	part.AllShown += all
}

func (r *ContextRow) average() {
	for i := range r.BySource {
		part := &r.BySource[i]
		part.GoldShown /= float64(part.Queries)
		part.AllShown /= float64(part.Queries)
	}
	n := float64(max(1, r.Queries))
	for _, v := range []*float64{&r.GoldShown, &r.GoldCut, &r.AllShown, &r.MeanTokens, r.Right} {
		if v != nil {
			*v /= n
		}
	}
}
