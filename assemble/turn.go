package assemble

import (
	"errors"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/zones"
)

// A turn is the state of one call of Turn: the input, facts about it that do not
// depend on what is shown, and a pass.
type turn struct {
	in       *Input
	isolated bool // the question carries [earshot.Isolation]
	broken   bool // the session ends with this turn: it is full, or something it shows was deleted

	elsewhere bool // the caller keeps the session, and has processed the conversation up to some time

	msgs   []*msg // all, in the order of Position
	rising bool   // their ids ascend
	upTo   []*msg // those at or before the end
	byID   map[earshot.MessageID]*msg
	anchor *msg
	end    earshot.Position                  // the anchor's, or that of the emoji that asks about it
	live   []*msg                            // those before the end, without the anchor, that a section may show or withhold: not deleted, not blank
	lanes  map[earshot.AuthorID]earshot.Lane // of those who are not in [earshot.LaneFull]

	shown    map[earshot.MessageID]shownState // the manifest, newest revision of each
	answered map[earshot.MessageID]bool       // anchors of recorded turns that got a reply
	recorded map[earshot.MessageID]bool       // replies of recorded turns
	first    earshot.Position                 // of the first recorded turn's anchor
	last     earshot.Position                 // of the last recorded turn's anchor, or up to which the caller has processed
	summary  *earshot.Summary                 // nil when there is none, it covers what was deleted, or what it covers is shown
	stands   bool                             // the summary stands for the messages that it covers

	when      calendar
	asked     calendar       // the asker's, by which the question's own date and time are written
	counts    map[string]int // tokens of headers and the like
	dayCosts  map[day]int    // what the lines of days cost
	clockCost int            // tokens of a time of day in the log form
	writing   []byte         // the message that the log form writes

	passState
}

// A passState is what one way through the steps from relate to render makes: with
// the session, or where the limit has no room for that, without it.
type passState struct {
	later    bool // the session is kept and added to
	sections []turnSection
	blocks   []*block // of sections, in the order in which they are filled
	oneBlock bool     // at most one of them has anything to show
	notes    []Note

	names  *uniqueNames
	labels map[earshot.AuthorID]*label

	guessed map[earshot.MessageID]earshot.MessageID // what messages answer by a guess
	active  map[earshot.MessageID]earshot.Activity  // the replies of each root

	// Of the log form.
	askersLast   *msg                         // the asker's last message before the question
	named        map[earshot.AuthorID]bool    // of those with a mark: who was named in the block that is being written
	newestOf     map[earshot.AuthorID]*msg    // of each author whose name has changed: the newest message
	replies      map[earshot.MessageID]int    // how many replies of each thread are loaded
	repliesShown map[earshot.MessageID]int    // how many of them the prompt and the session show
	ownAnswers   map[earshot.MessageID]*msg   // the agent's first message in each thread
	threads      map[earshot.MessageID][]*msg // the messages of each thread, and single ones
	unsure       bool                         // search is not sure that what it found is about the question
	namedParents []*msg                       // messages whose authors are named in lines above replies
}

// Turn assembles the prompt for one message, the anchor. It changes nothing in
// the input, and may be called from several goroutines. An error is an
// [*InputError], for a field that cannot be used, or wraps [ErrBudgetTooSmall].
func Turn(in Input) (Result, error) {
	if in.Policy.isZero() {
		in.Policy = Standard()
	}
	if err := checkInput(&in); err != nil {
		return Result{}, err
	}
	t := &turn{in: &in, counts: map[string]int{}, dayCosts: map[day]int{}}
	t.msgs, t.rising = normalise(in.Messages)
	if err := t.findAnchor(); err != nil {
		return Result{}, err
	}
	zone, err := zones.Load(in.Zone)
	if err != nil {
		return Result{}, inputError("zone", "%v", err)
	}
	t.when = calendar{zone: zone, name: firstOf(in.Zone, "UTC")}
	if t.asked = t.when; in.AskerZone != "" {
		if zone, err = zones.Load(in.AskerZone); err != nil {
			return Result{}, inputError("asker_zone", "%v", err)
		}
		t.asked = calendar{zone: zone, name: in.AskerZone}
	}
	t.when.year = t.asked.local(t.end.Time).Year()
	t.asked.year = t.when.year
	t.readConversation()
	if t.isolated {
		return t.alone()
	}
	otherForm := in.Conversation.Form != "" && in.Conversation.Form != in.Policy.Frame && len(in.Conversation.Session) > 0
	t.broken = t.shownWasDeleted() || otherForm
	session := t.sessionTokens()
	full := session > in.Budget.Session
	if in.Conversation.Later(in.Policy) && !t.broken && !full {
		res, err := t.assemble(session, true)
		if !errors.Is(err, ErrBudgetTooSmall) {
			return res, err
		}
		t.forget()
	}
	// A first turn: of the conversation, or of the epoch that starts here.
	t.broken = t.broken || in.Policy.Session && len(in.Conversation.Session) > 0
	return t.firstTurn()
}

// assemble makes one pass: the steps from relate to render.
func (t *turn) assemble(session int, later bool) (Result, error) {
	t.later = later
	list := t.in.Policy.First
	if later {
		list = t.in.Policy.Later
	}
	t.useSections(list)
	var used []earshot.SessionName
	if !t.broken {
		used = t.in.Conversation.Names
	}
	t.names = newNames(t.in.Identity, t.in.Policy.Bots, t.upTo, t.in.Mentioned, t.in.AskedBy, used)
	t.names.lanes = t.lanes
	t.labels = map[earshot.AuthorID]*label{}
	t.relate()
	if t.stands {
		for _, m := range t.covered() {
			m.out(&summarySection, reasonSummarised)
			m.taken = true
		}
	}
	t.findAskersLast()
	t.findRenamed()
	t.choose()
	p, err := t.fit(session)
	if err != nil {
		return Result{}, err
	}
	return t.render(p), nil
}

// forget drops what a pass has made.
func (t *turn) forget() {
	for _, m := range t.live {
		m.undecide()
	}
	t.anchor.undecide()
	for _, m := range t.msgs {
		m.tree = ""
	}
	t.passState = passState{}
}

// undecide drops the decisions about m and its written form.
func (m *msg) undecide() {
	*m = msg{Message: m.Message, withheld: m.withheld, withheldQuotes: m.withheldQuotes}
}
