// Package assemble turns what was said into what a model reads: a bounded,
// deterministic, explainable prompt.
//
// [Turn] takes an [Input], which is messages, a [Policy], a [Budget] and the
// state of the conversation, and returns a [Result]: the prompt, a ledger with
// one row for every message, and what to store with the reply. It is a pure
// function: the same input gives the same bytes, on every machine.
//
//	in := assemble.Input{Identity: self, Channel: channel, Anchor: id, Messages: messages, Counter: counter}
//	res, err := assemble.Turn(in)
//
// Reading order: turn.go is the pipeline, and each step has a file: normalise,
// relate, select, fit, render. docs/policies.md explains what comes out.
package assemble

import (
	"errors"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/zones"
)

// isolation is the sign that a person puts into a message that is to be
// answered alone.
const isolation = "🚫"

// A turn is the state of one call of Turn: the input, and what each step of
// the pipeline has made of it.
type turn struct {
	in       *Input
	sections []Section // of this turn, limits filled in
	later    bool      // the session is kept and added to
	broken   bool      // the session ended here: overflow, or a deletion of what it showed
	isolated bool

	msgs   []*msg // all, in the order of Position
	rising bool   // their ids ascend
	upto   []*msg // those at or before the anchor
	byID   map[earshot.MessageID]*msg
	anchor *msg
	live   []*msg // those that a section may take: before the anchor, not deleted, not blank

	names    *names
	shown    map[earshot.MessageID]earshot.Time // the manifest, newest revision of each
	answered map[earshot.MessageID]bool         // anchors of recorded turns that got a reply
	recorded map[earshot.MessageID]bool         // replies of recorded turns
	first    earshot.Position                   // of the first recorded turn's anchor
	last     earshot.Position                   // of the last recorded turn's anchor
	when     calendar
	counts   map[string]int // tokens of headers and the like
	labels   map[earshot.AuthorID]*label
	trees    map[earshot.MessageID]earshot.MessageID // each message's tree
	active   map[earshot.MessageID]earshot.Activity  // each root's replies
	guessed  map[earshot.MessageID]earshot.MessageID

	// Of the log form.
	clockCost int                        // of a time of day
	writing   []byte                     // the message that is being written
	asked     *msg                       // the asker's last message before the question
	threads   map[earshot.MessageID]int  // replies of each thread in the input
	told      map[earshot.MessageID]int  // of these, what the prompt and the session show
	own       map[earshot.MessageID]*msg // the agent's first words in each thread
	replied   []*msg                     // named in lines that say what a reply answers

	summary *earshot.Summary
	blocks  map[SectionName]*block
	notes   []Note
}

// Turn assembles the prompt for one message, the anchor. Errors are an
// [*InputError] for a field that cannot be used, or [ErrBudgetTooSmall].
func Turn(in Input) (Result, error) {
	if in.Policy.isZero() {
		in.Policy = Standard()
	}
	if err := check(&in); err != nil {
		return Result{}, err
	}
	t := &turn{in: &in, counts: map[string]int{}}
	t.msgs, t.rising = normalise(in.Messages)
	if err := t.place(); err != nil {
		return Result{}, err
	}
	zone, err := zones.Load(in.Zone)
	if err != nil {
		return Result{}, inputError("zone", "%v", err)
	}
	t.when = calendar{zone: zone, name: firstOf(in.Zone, "UTC")}
	t.when.year = t.when.local(t.anchor.Time).Year()
	t.remember()
	if t.isolated {
		return t.alone()
	}
	other := in.Conversation.Form != "" && in.Conversation.Form != in.Policy.Frame && len(in.Conversation.Session) > 0
	t.broken = t.takenBack() || other
	session := t.sessionTokens()
	overflow := session > in.Budget.Session
	t.later = in.Policy.Session && len(in.Conversation.Session) > 0 && !t.broken && !overflow
	if t.later {
		res, err := t.assemble(session)
		if !errors.Is(err, ErrBudgetTooSmall) {
			return res, err
		}
		t.later = false
	}
	// A first turn: of the conversation, or of the epoch that starts here.
	t.broken = t.broken || in.Policy.Session && len(in.Conversation.Session) > 0
	return t.assemble(0)
}

// check returns an error for what can be seen to be wrong without looking at
// the messages' relations.
func check(in *Input) error {
	if errs := in.Policy.Check(); len(errs) > 0 {
		path, reason, _ := strings.Cut(errs[0].Error(), ": ")
		return inputError("policy."+path, "%s", reason)
	}
	switch {
	case in.Counter == nil:
		return inputError("counter", "is required")
	case in.Budget.Tokens < 0:
		return inputError("budget.tokens", "must not be negative")
	case in.Budget.Session < 0:
		return inputError("budget.session", "must not be negative")
	case in.Budget.Limit < 0:
		return inputError("budget.limit", "must not be negative")
	case in.Identity.ID == "":
		return inputError("identity.id", "is required")
	case in.Anchor == "":
		return inputError("anchor", "is required: the id of the message to answer")
	}
	if in.Budget == (Budget{}) {
		in.Budget = DefaultBudget()
	}
	if in.Policy.Frame == Log {
		return checkIDs(in.Messages)
	}
	return nil
}

// checkIDs refuses ids that would not stand in a line of the log form as one
// word: no platform makes such.
func checkIDs(messages []earshot.Message) error {
	var thread earshot.MessageID // of the message before: many stand in one
	for i := range messages {
		m := &messages[i]
		field, id := "", ""
		switch {
		case !isWord(string(m.ID)):
			field, id = "id", string(m.ID)
		case m.Thread != thread && !isWord(string(m.Thread)):
			field, id = "thread", string(m.Thread)
		case !isWord(string(m.ReplyTo)):
			field, id = "reply_to", string(m.ReplyTo)
		}
		for j, f := range m.Files {
			if !isWord(string(f.ID)) {
				field, id = "files["+strconv.Itoa(j)+"].id", string(f.ID)
			}
		}
		thread = m.Thread
		if field != "" {
			return inputError("messages["+strconv.Itoa(i)+"]."+field, "%q holds a space or a control character", id)
		}
	}
	return nil
}

// isWord reports whether s holds nothing that parts words or cannot be seen.
func isWord(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c <= ' ' || c == 0x7F {
			return false
		} else if c >= 0x80 {
			return !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || invisible(r) || r == utf8.RuneError })
		}
	}
	return true
}

// place finds the anchor and parts the messages at it. What stands after the
// anchor changes nothing.
func (t *turn) place() error {
	at := -1
	for i, m := range t.msgs {
		if m.ID == t.in.Anchor {
			at = i
		}
	}
	if at < 0 {
		return inputError("anchor", "%q is not the id of one of the messages", t.in.Anchor)
	}
	t.anchor = t.msgs[at]
	t.upto = t.msgs[:at+1]
	if t.anchor.Deleted {
		return inputError("anchor", "message %q is deleted", t.in.Anchor)
	}
	t.isolated = strings.Contains(t.anchor.Text, isolation)
	if isBlank(strings.ReplaceAll(t.anchor.Text, isolation, "")) && len(t.anchor.Files)+len(t.anchor.Shared) == 0 {
		return inputError("anchor", "message %q is blank", t.in.Anchor)
	}
	for _, m := range t.msgs[at+1:] {
		m.out("", reasonAfter)
	}
	t.live = make([]*msg, 0, at)
	for _, m := range t.upto[:at] {
		switch {
		case m.Deleted:
			m.out("", reasonDeleted)
		case len(m.Files)+len(m.Shared) == 0 && isBlank(m.Text):
			m.out("", reasonBlank)
		default:
			t.live = append(t.live, m)
		}
	}
	return nil
}

// remember reads the manifest and the recorded turns.
func (t *turn) remember() {
	c := &t.in.Conversation
	t.summary = c.Summary
	t.shown = make(map[earshot.MessageID]earshot.Time, len(c.Shown))
	for _, s := range c.Shown {
		if r, ok := t.shown[s.ID]; !ok || s.Revision > r {
			t.shown[s.ID] = s.Revision
		}
	}
	t.answered, t.recorded = map[earshot.MessageID]bool{}, map[earshot.MessageID]bool{}
	for _, a := range c.Turns {
		if len(a.Replies) > 0 {
			t.answered[a.Anchor] = true
		}
		for _, id := range a.Replies {
			t.recorded[id] = true
		}
		if m := t.find(a.Anchor); m != nil && m.Position().Compare(t.last) > 0 {
			t.last = m.Position()
		}
	}
	if len(c.Turns) == 0 {
		return
	}
	if m := t.find(c.Turns[0].Anchor); m != nil {
		t.first = m.Position()
		return
	}
	for _, m := range t.upto { // the turn is not loaded: the first message of the session
		if _, ok := t.shown[m.ID]; ok {
			t.first = m.Position()
			return
		}
	}
}

// takenBack reports whether something that the model was shown is deleted now.
// A summary that covers it is dropped too.
func (t *turn) takenBack() bool {
	gone := false
	for _, m := range t.upto {
		if _, ok := t.shown[m.ID]; !ok || !m.Deleted {
			continue
		}
		gone = true
		if s := t.summary; s != nil && (s.From == 0 || m.Time >= s.From) && (s.To == 0 || m.Time <= s.To) {
			t.summary = nil
		}
	}
	return gone
}

func (t *turn) sessionTokens() int {
	n := 0
	if t.in.Policy.Session {
		for _, e := range t.in.Conversation.Session {
			n += t.countLines(e.Text) + len(e.Opaque)/bytesAToken
			for _, c := range e.Calls {
				n += t.countLines(c.Args) + t.tok(c.Name)
			}
		}
		for _, a := range t.in.Conversation.Attached {
			n += t.heldFileCost(a)
		}
	}
	return n
}

// assemble runs the steps from relate to explain, once with the session or
// once without.
func (t *turn) assemble(session int) (Result, error) {
	if t.sections != nil { // the second time: forget what the first has made of it
		for _, m := range t.live {
			*m = msg{Message: m.Message}
		}
		*t.anchor = msg{Message: t.anchor.Message}
		t.notes, t.threads, t.told, t.own, t.asked, t.active, t.replied = nil, nil, nil, nil, nil, nil, nil
	}
	t.sections = nil
	list := t.in.Policy.First
	if t.later {
		list = t.in.Policy.Later
	}
	for _, s := range list {
		t.sections = append(t.sections, s.limits())
	}
	var held []earshot.Named
	if !t.broken {
		held = t.in.Conversation.Names
	}
	t.names = newNames(t.in.Identity, t.in.Policy.Bots, t.upto, held)
	t.labels = map[earshot.AuthorID]*label{}
	t.relate()
	t.findAsked()
	t.choose()
	p, err := t.fit(session)
	if err != nil {
		return Result{}, err
	}
	return t.render(p), nil
}

// has reports whether this turn has a section, and with which limits.
func (t *turn) has(name SectionName) (Section, bool) {
	for _, s := range t.sections {
		if s.Section == name {
			return s, true
		}
	}
	return Section{}, false
}
