package explain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// How many turns a page of a list looks at, at most: where a filter asks for what only
// journals say, fewer, because each turn's is read.
const (
	MaxLook     = 5000
	MaxLookDeep = 1000
)

// outOfOrder is how much earlier a turn may have been opened than one with a smaller
// id: what came while a process was away is opened later.
const outOfOrder = earshot.Time(24 * time.Hour / time.Microsecond)

// A TurnFilter selects turns for a list, newest first. Zero fields select all.
type TurnFilter struct {
	TurnQuery
	Person   string       // the id or the name of who asked
	Model    string       // one that was asked
	Cost     float64      // what the turn has cost at least
	From, To earshot.Time // opened at From or later, and before To

	Journals bool  // read the journals; else nothing is known of models and costs
	Price    Price // nil: nothing has a price
	Posts    bool  // read the posts too

	Feedback Opinion // only of which somebody thinks so
}

// An Opinion selects turns by what people think of their answers.
type Opinion string

// The opinions; the zero value selects all turns.
const (
	AnyOpinion  Opinion = "any" // somebody said what they think
	GoodOpinion Opinion = "good"
	BadOpinion  Opinion = "bad"
)

// has reports whether somebody thinks so of a turn.
func (o Opinion) has(r TurnRow) bool {
	switch o {
	case GoodOpinion:
		return r.Good > 0
	case BadOpinion:
		return r.Bad > 0
	case AnyOpinion:
		return r.Good+r.Bad > 0
	}
	return true
}

// A TurnRow is a turn of a list.
type TurnRow struct {
	Queued   earshot.QueuedTurn // without Input
	Channel  earshot.Channel
	Question *earshot.Message // nil when it is deleted or not stored
	Policy   string           // "" until the turn is done
	Models   []string         // that were asked, in the order of their first answers
	Usage    earshot.Usage    // of all calls
	Calls    int
	Cost     float64 // of the calls whose model has a price
	Priced   bool    // all have one
	Posts    []earshot.Post

	Good, Bad int // how many people found the answer so
}

// Took is how long the turn took until it ended; 0 until it has.
func (r TurnRow) Took() time.Duration {
	if !r.Queued.State.Final() || r.Queued.Updated < r.Queued.Opened {
		return 0
	}
	return time.Duration(r.Queued.Updated-r.Queued.Opened) * time.Microsecond
}

// Waits reports whether the turn waits for an operator.
func (r TurnRow) Waits() bool {
	return r.Queued.State == earshot.TurnParked || r.Queued.State == earshot.TurnFailed
}

// A TurnList is a page of turns.
type TurnList struct {
	Rows   []TurnRow
	Before earshot.TurnID // where the next page begins; 0 where there is none
	Looked int            // how many turns were looked at
	// Stopped: the page was ended because so many turns were looked at, not because it
	// is full.
	Stopped bool
}

// TurnList returns a page of the turns that the caller may see. It looks at a bounded
// number of turns, and then says where to go on.
func (r *Reader) TurnList(ctx context.Context, p access.Principal, f TurnFilter) (TurnList, error) {
	if p.Fixed != nil {
		return TurnList{}, visible.ToolsOnly
	}
	if f.Limit <= 0 {
		f.Limit = 50
	}
	f.Limit = min(f.Limit, MaxTurns)
	l := r.listing(p, f)
	bound := MaxLook
	if l.deep() {
		bound = MaxLookDeep
	}
	if err := l.look(ctx, bound); err != nil {
		return TurnList{}, err
	}
	if len(l.Rows) > f.Limit {
		l.Rows = l.Rows[:f.Limit]
		l.Before, l.Stopped = l.Rows[f.Limit-1].Queued.ID, false
	}
	return l.TurnList, l.fill(ctx)
}

// NewestTurns returns those of the newest turns that the caller may see, newest first,
// without Input, at most limit. It looks at 500 turns at most, so that it can be asked
// often, whatever the caller may see of a large store.
func (r *Reader) NewestTurns(ctx context.Context, p access.Principal, limit int) ([]earshot.QueuedTurn, error) {
	if p.Fixed != nil {
		return nil, visible.ToolsOnly
	}
	l := r.listing(p, TurnFilter{TurnQuery: TurnQuery{Limit: min(limit, MaxTurns)}})
	if err := l.look(ctx, visible.LookTurns-MaxTurns); err != nil { // the last page may begin below it
		return nil, err
	}
	var list []earshot.QueuedTurn
	for _, row := range l.Rows[:min(len(l.Rows), limit)] {
		list = append(list, row.Queued)
	}
	return list, nil
}

// A turnListing is a list that is being made.
type turnListing struct {
	*Reader
	TurnList
	f        TurnFilter
	caller   access.Principal
	mine     *visible.View
	channels map[earshot.Scope]earshot.Channel
}

func (r *Reader) listing(p access.Principal, f TurnFilter) *turnListing {
	return &turnListing{Reader: r, f: f, caller: p, mine: r.To(p), channels: map[earshot.Scope]earshot.Channel{}}
}

// deep reports whether each turn's journal is needed to decide.
func (l *turnListing) deep() bool { return l.f.Journals && (l.f.Model != "" || l.f.Cost > 0) }

// look collects rows, one more than fit a page, until so many turns were looked at.
func (l *turnListing) look(ctx context.Context, bound int) error {
	f := l.f
	of := earshot.TurnQuery{Agent: f.Agent, States: f.States, Before: f.Before, Limit: MaxTurns}
	if f.Person == "" && f.Feedback == "" && !l.deep() {
		of.Limit = f.Limit + 1
	}
	if f.Channel.Channel != "" {
		c, err := l.mine.Find(ctx, f.Channel)
		if err != nil {
			return err
		}
		sc := c.Scope()
		of.Scope, l.channels[sc] = &sc, c
	}
	if f.To != 0 {
		var err error
		if of.Before, err = l.until(ctx, of.Before, f.To+outOfOrder); err != nil {
			return err
		}
	}
	for l.Looked < bound && len(l.Rows) <= f.Limit {
		list, err := l.store.QueuedTurns(ctx, of)
		if err != nil {
			return fmt.Errorf("list turns: %w", err)
		}
		l.Looked += len(list)
		rows, over, err := l.visibleTurns(ctx, list)
		if err == nil {
			err = l.pick(ctx, rows)
		}
		if err != nil {
			return err
		}
		if over || len(list) < of.Limit {
			return nil
		}
		of.Before, of.Limit = list[len(list)-1].ID, MaxTurns
	}
	l.Before, l.Stopped = of.Before, true
	return nil
}

// until returns the id before which turns were opened before a time: those from it on
// were opened at the time or later.
func (l *turnListing) until(ctx context.Context, before earshot.TurnID, to earshot.Time) (earshot.TurnID, error) {
	at := func(before earshot.TurnID) (earshot.QueuedTurn, error) {
		list, err := l.store.QueuedTurns(ctx, earshot.TurnQuery{Before: before, Limit: 1})
		if err != nil || len(list) == 0 {
			return earshot.QueuedTurn{}, err
		}
		return list[0], nil
	}
	newest, err := at(before)
	if err != nil || newest.Opened < to {
		return before, err
	}
	low, high := earshot.TurnID(1), newest.ID // the turn high is later, what is before low is not
	for low < high {
		middle := low + (high-low)/2
		t, err := at(middle + 1)
		if err != nil {
			return 0, err
		}
		if t.ID == 0 || t.Opened < to {
			low = middle + 1
		} else {
			high = min(middle, t.ID)
		}
	}
	return low, nil
}

// visibleTurns returns those turns of a list that the caller may see and that were opened in
// time. over says that no later page has any.
func (l *turnListing) visibleTurns(ctx context.Context, list []earshot.QueuedTurn) (rows []TurnRow, over bool, err error) {
	for _, t := range list {
		if l.f.From != 0 && t.Opened < l.f.From-outOfOrder {
			return rows, true, nil
		}
		if !l.caller.Sees(t.Conversation.Scope) || t.Opened < l.f.From || l.f.To != 0 && t.Opened >= l.f.To {
			continue
		}
		ok, err := l.mine.Owns(ctx, t.Conversation)
		if err != nil {
			return nil, false, err
		}
		if ok {
			rows = append(rows, TurnRow{Queued: t})
		}
	}
	return rows, false, nil
}

// pick appends those rows that fit, until the page is full.
func (l *turnListing) pick(ctx context.Context, rows []TurnRow) error {
	if l.f.Person != "" {
		if err := l.questions(ctx, rows); err != nil {
			return err
		}
		rows = slices.DeleteFunc(rows, func(r TurnRow) bool { return r.Question == nil || !isPerson(r.Question.Author, l.f.Person) })
	}
	if l.f.Feedback != "" {
		if err := l.opinions(ctx, rows); err != nil {
			return err
		}
		rows = slices.DeleteFunc(rows, func(r TurnRow) bool { return !l.f.Feedback.has(r) })
	}
	for _, r := range rows {
		if len(l.Rows) > l.f.Limit {
			return nil
		}
		if l.deep() {
			if err := l.calls(ctx, &r); err != nil {
				return err
			}
			if l.f.Model != "" && !slices.Contains(r.Models, l.f.Model) || r.Cost < l.f.Cost {
				continue
			}
		}
		l.Rows = append(l.Rows, r)
	}
	return nil
}

// isPerson reports whether somebody has this id or name.
func isPerson(a earshot.Author, who string) bool {
	who = strings.TrimPrefix(who, "@")
	return string(a.ID) == who || strings.EqualFold(a.Name, who) || strings.EqualFold(a.FullName, who)
}

// fill reads what the rows of the page show.
func (l *turnListing) fill(ctx context.Context) error {
	if l.f.Person == "" {
		if err := l.questions(ctx, l.Rows); err != nil {
			return err
		}
	}
	if l.f.Feedback == "" {
		if err := l.opinions(ctx, l.Rows); err != nil {
			return err
		}
	}
	for i := range l.Rows {
		r := &l.Rows[i]
		var err error
		if r.Channel, err = l.channel(ctx, r.Queued.Conversation.Scope); err != nil {
			return err
		}
		if !l.deep() {
			if err := l.calls(ctx, r); err != nil {
				return err
			}
		}
		if err := l.readCommitted(ctx, r); err != nil {
			return err
		}
		if l.f.Posts {
			if r.Posts, err = l.store.Posts(ctx, r.Queued.ID); err != nil {
				return fmt.Errorf("posts of turn %d: %w", r.Queued.ID, err)
			}
		}
	}
	return nil
}

// questions reads the questions of rows, by one query for each channel.
func (l *turnListing) questions(ctx context.Context, rows []TurnRow) error {
	ids := map[earshot.Scope][]earshot.MessageID{}
	for _, r := range rows {
		sc := r.Queued.Conversation.Scope
		ids[sc] = append(ids[sc], r.Queued.Anchor)
	}
	type place struct {
		earshot.Scope
		earshot.MessageID
	}
	found := map[place]*earshot.Message{}
	for sc, list := range ids {
		messages, err := l.store.ByID(ctx, sc, list...)
		if err != nil {
			return fmt.Errorf("read questions: %w", err)
		}
		for i, m := range messages {
			if !m.Deleted {
				found[place{sc, m.ID}] = &messages[i]
			}
		}
	}
	for i, r := range rows {
		rows[i].Question = found[place{r.Queued.Conversation.Scope, r.Queued.Anchor}]
	}
	return nil
}

// opinionsPage is how much feedback is read at a time.
const opinionsPage = 200

// opinions counts what people think of rows, which are in the order of the list. It reads the
// feedback of the turns between the first and the last of them.
func (l *turnListing) opinions(ctx context.Context, rows []TurnRow) error {
	if len(rows) == 0 {
		return nil
	}
	at := make(map[earshot.TurnID]*TurnRow, len(rows))
	for i := range rows {
		at[rows[i].Queued.ID] = &rows[i]
	}
	q := earshot.FeedbackQuery{Before: rows[0].Queued.ID + 1, Limit: opinionsPage}
	if len(l.channels) == 1 && l.f.Channel.Channel != "" {
		for scope := range l.channels {
			q.Scope = &scope
		}
	}
	for {
		list, more, err := l.feedbackOfWholeTurns(ctx, q)
		if err != nil {
			return err
		}
		for _, x := range list {
			r := at[x.Turn]
			switch {
			case r == nil:
			case x.Good:
				r.Good++
			default:
				r.Bad++
			}
		}
		if !more || list[len(list)-1].Turn <= rows[len(rows)-1].Queued.ID {
			return nil
		}
		q.Before = list[len(list)-1].Turn
	}
}

func (l *turnListing) channel(ctx context.Context, sc earshot.Scope) (earshot.Channel, error) {
	if c, ok := l.channels[sc]; ok {
		return c, nil
	}
	c, err := l.store.Channel(ctx, sc)
	if errors.Is(err, earshot.ErrNotFound) { // erased meanwhile
		c, err = earshot.Channel{Platform: sc.Platform, Workspace: sc.Workspace, ID: sc.Channel}, nil
	}
	l.channels[sc] = c
	return c, err
}

// calls reads from a turn's journal what models were asked.
func (l *turnListing) calls(ctx context.Context, r *TurnRow) error {
	if !l.f.Journals {
		return nil
	}
	steps, err := l.store.Steps(ctx, r.Queued.ID)
	if err != nil {
		return fmt.Errorf("journal of turn %d: %w", r.Queued.ID, err)
	}
	entries, _ := readSteps(steps)
	calls := Calls(entries, nil)
	r.Priced = len(calls) > 0
	for _, c := range calls {
		r.add(c, l.f.Price)
	}
	return nil
}

func (r *TurnRow) add(c Call, price Price) {
	r.Calls++
	r.Usage.Input += c.Usage.Input
	r.Usage.Output += c.Usage.Output
	r.Usage.CacheRead += c.Usage.CacheRead
	r.Usage.CacheWrite += c.Usage.CacheWrite
	if c.Model != "" && !slices.Contains(r.Models, c.Model) {
		r.Models = append(r.Models, c.Model)
	}
	if price == nil {
		r.Priced = false
		return
	}
	cost, priced := price(c.Model, c.Usage)
	r.Cost += cost
	r.Priced = r.Priced && priced
}

// readCommitted reads what a turn that is done says of itself: its policy, and its tokens
// where the journal is gone.
func (l *turnListing) readCommitted(ctx context.Context, r *TurnRow) error {
	t, err := l.Reader.readCommitted(ctx, r.Queued)
	if err != nil || t == nil {
		return err
	}
	r.Policy = t.Policy
	if r.Calls == 0 {
		r.Usage = t.Usage
	}
	return nil
}
