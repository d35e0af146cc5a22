package rule

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"pgregory.net/rapid"
)

// Whatever is asked of a conversation's queue, in whatever order, the decisions
// keep what package earshot promises. The store here is a handful of slices: what
// it keeps is what the decisions say.
func TestWhateverIsAskedTheRulesHold(t *testing.T) {
	t.Parallel()
	states := []earshot.TurnState{earshot.TurnDone, earshot.TurnFailed, earshot.TurnDropped, earshot.TurnPosting, earshot.TurnGenerating, earshot.TurnWaiting}
	reached := map[earshot.TurnState]int{}
	missing := func() []earshot.TurnState {
		return slices.DeleteFunc(slices.Clone(states), func(s earshot.TurnState) bool { return reached[s] > 0 })
	}
	// A few draws may miss a rare state: more are made until each was reached.
	for rounds := 0; rounds == 0 || len(missing()) > 0; rounds++ {
		if rounds == 2000 { // under the race detector with -short a round is one draw
			t.Fatalf("no turn was ever %v: the test asks for too little", missing())
		}
		rapid.Check(t, func(t *rapid.T) {
			m := &model{id: earshot.ConversationID{Agent: "a", Scope: earshot.Scope{Platform: "p", Channel: "c"}, Name: "talk"},
				turns: map[earshot.TurnID]*modelTurn{}, deleted: map[earshot.MessageID]bool{}, read: map[earshot.MessageID]map[int]bool{}}
			t.Repeat(map[string]func(*rapid.T){
				"accept": m.accept, "claim": m.claim, "give back or renew": m.giveBack, "begin": m.begin, "again, begin": m.begin, "step": m.step,
				"post": m.post, "again, post": m.post, "confirm": m.confirm, "finish": m.finish, "merge": m.merge, "reopen": m.reopen, "discard": m.discard, "delete": m.erase,
				"ask a person": m.askPerson, "wait for a person": m.wait, "decide": m.decide, "stop": m.stop,
				"": m.check,
			})
			for _, o := range m.turns {
				reached[o.State]++
			}
		})
	}
}

// A model is one conversation's queue.
type model struct {
	id      earshot.ConversationID
	stored  StoredLease
	epoch   int
	now     earshot.Time
	turns   map[earshot.TurnID]*modelTurn
	commits []earshot.Turn
	read    map[earshot.MessageID]map[int]bool
	deleted map[earshot.MessageID]bool
	leases  []earshot.Lease // all that were ever given
	revived bool            // the last operation may make final turns unfinished
}

type modelTurn struct {
	StoredTurn
	input string
	steps []earshot.Step
	posts []earshot.Post
	asked []earshot.Approval
	knows map[earshot.MessageID]bool // what its writer has seen
	was   earshot.TurnState
	sent  map[int]earshot.Post // as they were when they were first sent
	ends  int                  // that it was left since it last came further
}

func (m *model) ids() []earshot.TurnID { return slices.Sorted(maps.Keys(m.turns)) }

// repeats returns a text that repeats messages.
func repeats(of map[earshot.MessageID]bool) string {
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(of)) {
		fmt.Fprintf(&b, "<%s>", id)
	}
	return b.String()
}

func anyMessage(t *rapid.T) earshot.MessageID {
	return earshot.MessageID(fmt.Sprint("m", rapid.IntRange(0, 5).Draw(t, "message")))
}

// held draws a lease and a turn to write about.
func (m *model) held(t *rapid.T) (LeasedTurn, *modelTurn) {
	if len(m.leases) == 0 || len(m.turns) == 0 {
		t.Skip("nothing was claimed")
	}
	lease := m.leases[len(m.leases)-1]
	if rapid.IntRange(0, 9).Draw(t, "stale") == 0 {
		lease = rapid.SampledFrom(m.leases).Draw(t, "lease")
	}
	id := m.stored.Lowest
	if id == 0 || rapid.IntRange(0, 3).Draw(t, "other") == 0 {
		id = rapid.SampledFrom(m.ids()).Draw(t, "turn")
	}
	m.now++
	o := m.turns[id]
	return LeasedTurn{Lease: lease, Stored: m.stored, ID: id, Turn: o.StoredTurn, Epoch: m.epoch, Now: m.now}, o
}

func (m *model) accept(t *rapid.T) {
	m.now++
	n := anyMessage(t)
	h := AcceptState{Event: earshot.Event{Raw: []byte("raw"), Message: earshot.Message{ID: n}}, Asked: true, ID: m.id, Now: m.now,
		Known: rapid.Bool().Draw(t, "known"), Gone: m.deleted[n], Record: earshot.RecordResult{Change: earshot.New}}
	for _, o := range m.turns {
		if o.Anchor == n {
			h.Of = NewAnchorTurn(o.QueuedTurn)
		}
	}
	a := DecideAccept(h)
	if (a.Open != nil) != (!h.Known && !h.Gone && h.Of.ID == 0) || a.Accepted.Opened != (a.Open != nil) {
		t.Fatalf("accepted %+v of %+v", a, h)
	}
	if a.Event != nil && h.Gone && a.Event.Raw != nil {
		t.Fatal("the bytes of a deleted message's event are kept")
	}
	if a.Open != nil {
		q := *a.Open
		q.ID = earshot.TurnID(len(m.turns) + 1)
		m.turns[q.ID] = &modelTurn{StoredTurn: q, sent: map[int]earshot.Post{}, was: q.State}
		m.advance()
	}
}

func (m *model) claim(t *rapid.T) {
	m.now += earshot.Time(rapid.IntRange(0, 3_000_000).Draw(t, "later"))
	if !m.stored.Claimable(m.now, time.Second) {
		return
	}
	owner := rapid.SampledFrom([]string{"a", "b"}).Draw(t, "owner")
	left := m.stored.Left()
	next := m.stored.Claimed(owner, m.now, time.Second)
	if next.Fence != m.stored.Fence+1 {
		t.Fatalf("fence %d follows %d", next.Fence, m.stored.Fence)
	}
	m.stored = next
	first := m.turns[m.stored.Lowest]
	taken := left && first.State != earshot.TurnOpen
	before := first.StoredTurn
	first.StoredTurn = first.Claimed(left, m.now)
	if first.Tries+first.Ends != before.Tries+before.Ends+1 || (first.Ends > before.Ends) != taken {
		t.Fatalf("a turn that was %s with %d tries and %d ends has %d and %d; its lease was left: %v", before.State, before.Tries, before.Ends, first.Tries, first.Ends, left)
	}
	if taken {
		first.ends++
	}
	m.leases = append(m.leases, earshot.Lease{Conversation: m.id, Owner: owner, Fence: next.Fence})
}

func (m *model) giveBack(t *rapid.T) {
	if len(m.leases) == 0 {
		t.Skip("nothing was claimed")
	}
	lease := rapid.SampledFrom(m.leases).Draw(t, "lease")
	good := m.stored.Check(lease) == nil
	if rapid.Bool().Draw(t, "renew") {
		next, err := DecideRenew(m.stored, lease, m.now, time.Second)
		if (err == nil) != good || err != nil && !errors.Is(err, earshot.ErrFenced) {
			t.Fatalf("renew: %v", err)
		}
		if good {
			m.stored = next
		}
		return
	}
	next, ok := DecideRelease(m.stored, lease, 0)
	if ok != good {
		t.Fatalf("released: %v, held: %v", ok, good)
	}
	if !ok {
		return
	}
	m.stored = next
	for _, o := range m.turns {
		o.StoredTurn = o.Released()
	}
	m.advance()
}

func (m *model) begin(t *rapid.T) {
	h, o := m.held(t)
	shows := []earshot.MessageID{anyMessage(t)}
	gathered := max(0, m.epoch-rapid.SampledFrom([]int{0, 0, 0, 1}).Draw(t, "epochs ago"))
	p := earshot.Prompt{From: gathered, Epoch: gathered, Shows: shows, Hash: string(shows[0]), Keeps: rapid.Bool().Draw(t, "keeps")}
	if rapid.IntRange(0, 4).Draw(t, "compact") == 0 {
		p.Epoch++
	}
	knows := map[earshot.MessageID]bool{o.Anchor: true, shows[0]: true}
	for _, c := range m.commits {
		if c.Epoch == p.Epoch {
			for _, s := range c.Shown {
				knows[s.ID] = true
			}
		}
	}
	p.Input = []byte(repeats(knows))
	c, err := DecideBegin(h, p, m.deleted[shows[0]] || m.deleted[o.Anchor], WholeJournal(o.steps))
	if err != nil {
		return
	}
	if m.stored.Lowest != o.ID {
		t.Fatalf("turn %d began before turn %d", o.ID, m.stored.Lowest)
	}
	if gathered != m.epoch {
		t.Fatalf("turn %d began in epoch %d, gathered in %d", o.ID, m.epoch, gathered)
	}
	if len(c.Turns) > 0 {
		if !c.EmptyJournal {
			maps.Copy(knows, o.knows)
		}
		o.knows = knows
	}
	m.apply(o, c)
}

func (m *model) step(t *rapid.T) {
	h, o := m.held(t)
	n := rapid.IntRange(max(0, len(o.steps)-1), len(o.steps)+1).Draw(t, "n")
	s := earshot.Step{N: n, Shows: []earshot.MessageID{anyMessage(t)}}
	knows := maps.Clone(o.knows)
	if knows == nil {
		knows = map[earshot.MessageID]bool{}
	}
	knows[s.Shows[0]] = true
	s.Data = []byte(repeats(knows))
	c, err := AddStep(h, s, len(o.steps), m.deleted[s.Shows[0]])
	if err != nil {
		if h.Stored.Check(h.Lease) == nil && HasBegun(o.State) && o.From >= 0 && n <= len(o.steps) {
			t.Fatalf("step %d of %d is refused: %v", n, len(o.steps), err)
		}
		return
	}
	if c.Step != nil {
		if o.Outdated(m.epoch) && c.Step.Data != nil {
			t.Fatal("an outdated turn keeps a step's text")
		}
		o.knows = knows
	}
	m.apply(o, c)
}

func (m *model) post(t *rapid.T) {
	h, o := m.held(t)
	p := earshot.Post{Turn: o.ID, Chunk: rapid.IntRange(0, 1).Draw(t, "chunk"), Text: repeats(o.knows),
		State: rapid.SampledFrom([]earshot.PostState{earshot.PostPlanned, earshot.PostSending, earshot.PostSent, earshot.PostAmbiguous, earshot.PostFailed}).Draw(t, "state")}
	p.Key = fmt.Sprint(o.ID, " ", rapid.IntRange(0, 2).Draw(t, "key"))
	if p.State == earshot.PostSent {
		p.Message = earshot.MessageID(rapid.SampledFrom([]string{"r1", "r2"}).Draw(t, "as"))
	}
	put := PostCall{Post: p, Keyed: m.keyed(p.Key)}
	for i := range o.posts {
		if o.posts[i].Chunk == p.Chunk {
			put.Stored = &o.posts[i]
		}
	}
	c, err := PutPost(h, put)
	if err == nil {
		m.apply(o, c)
	}
}

func (m *model) keyed(key string) *earshot.Post {
	for _, o := range m.turns {
		for i := range o.posts {
			if o.posts[i].Key == key {
				return &o.posts[i]
			}
		}
	}
	return nil
}

func (m *model) confirm(t *rapid.T) {
	x := Confirmation{Key: fmt.Sprint(rapid.IntRange(1, 4).Draw(t, "turn"), " 0"), Message: "r1"}
	x.Stored = m.keyed(x.Key)
	c, err := DecideConfirm(m.now, x)
	if err == nil && len(c.Posts) > 0 {
		m.apply(m.turns[c.Posts[0].Turn], c)
	}
}

func (m *model) finish(t *rapid.T) {
	h, o := m.held(t)
	e := FinishCall{State: rapid.SampledFrom([]earshot.TurnState{earshot.TurnDone, earshot.TurnDone, earshot.TurnFailed, earshot.TurnParked, earshot.TurnDropped}).Draw(t, "state"), Why: "why"}
	if e.State == earshot.TurnDone {
		e.Why = ""
		knows := map[earshot.MessageID]bool{anyMessage(t): true} // one that no prompt or step told of
		maps.Copy(knows, o.knows)
		e.Turn = &earshot.Turn{Answer: earshot.Answer{Anchor: o.Anchor}, Epoch: max(o.Epoch, 0),
			Session: []earshot.SessionEntry{{Text: repeats(knows)}}}
		for id := range knows {
			e.Turn.Shown = append(e.Turn.Shown, earshot.ShownRevision{ID: id})
			e.Answered.Gone = e.Answered.Gone || m.deleted[id]
		}
		e.Answered.Gone = e.Answered.Gone || m.deleted[o.Anchor]
		e.Answered.Conversation.Epoch, e.Answered.Turns = m.epoch, len(m.commits)
	}
	c, err := DecideFinish(h, e)
	if err != nil {
		return
	}
	if c.Commit != nil && m.stored.Lowest != o.ID {
		t.Fatalf("turn %d is done before turn %d", o.ID, m.stored.Lowest)
	}
	m.apply(o, c)
}

// merge drops other unfinished turns for one, as the bot does, or leaves some
// out.
func (m *model) merge(t *rapid.T) {
	h, o := m.held(t)
	var ids []earshot.TurnID
	var others []StoredTurn
	ends, passed, before := o.ends, false, false
	for _, in := range m.inLine() {
		id, q := in.ID, m.turns[in.ID].StoredTurn
		if id != o.ID && rapid.IntRange(0, 3).Draw(t, "left out") == 0 {
			passed = true
			continue
		}
		before = before || passed
		if id == o.ID {
			continue
		}
		if HasBegun(q.State) {
			t.Skip("one is being answered")
		}
		ids, others = append(ids, id), append(others, q)
		ends = max(ends, m.turns[id].ends)
	}
	c, err := DecideMerge(h, ids, others, m.inLine())
	if err != nil {
		return
	}
	if before {
		t.Fatalf("turns %v are merged into turn %d, past one that stays", ids, o.ID)
	}
	o.ends = ends
	m.apply(o, c)
}

// inLine returns the turns in line, the first of them first.
func (m *model) inLine() []earshot.QueuedTurn {
	var out []earshot.QueuedTurn
	for _, id := range m.ids() {
		if InLine(m.turns[id].State) {
			out = append(out, m.turns[id].QueuedTurn)
		}
	}
	slices.SortFunc(out, CompareInLine)
	return out
}

func (m *model) reopen(t *rapid.T) {
	if len(m.turns) == 0 {
		t.Skip("no turn")
	}
	o := m.turns[rapid.SampledFrom(m.ids()).Draw(t, "turn")]
	c, err := DecideReopen(o.StoredTurn, m.deleted[o.Anchor], m.inLine(), m.now)
	if err == nil {
		m.revived, o.ends = true, 0
		m.apply(o, c)
	}
}

func (m *model) discard(t *rapid.T) {
	if len(m.turns) == 0 {
		t.Skip("no turn")
	}
	o := m.turns[rapid.SampledFrom(m.ids()).Draw(t, "turn")]
	before, posts := o.StoredTurn, slices.Clone(o.posts)
	c, err := DecideDiscard(o.StoredTurn, "gone stale", m.now)
	waits := before.State == earshot.TurnParked || before.State == earshot.TurnFailed
	if (err == nil) != (waits || WasDiscarded(before.QueuedTurn)) {
		t.Fatalf("a turn that was %s (%s) is discarded: %v", before.State, before.Why, err)
	}
	if err != nil {
		return
	}
	m.apply(o, c)
	if o.State != earshot.TurnDropped || !slices.Equal(o.posts, posts) || !waits && o.StoredTurn.Why != before.Why {
		t.Fatalf("a turn that was %s (%s) is %s (%s) after it was discarded, with the posts %v", before.State, before.Why, o.State, o.Why, o.posts)
	}
	if _, err := DecideReopen(o.StoredTurn, false, nil, m.now); !errors.Is(err, earshot.ErrConflict) {
		t.Fatalf("a discarded turn is opened again: %v", err)
	}
}

// erase deletes a message: what the engines do with rows, from the same rules.
func (m *model) erase(t *rapid.T) {
	n := anyMessage(t)
	if rapid.IntRange(0, 2).Draw(t, "really") > 0 || m.deleted[n] {
		return
	}
	m.deleted[n] = true
	for _, id := range m.ids() {
		o := m.turns[id]
		if o.Anchor != n {
			continue
		}
		var states []earshot.PostState
		for _, p := range o.posts {
			states = append(states, p.State)
		}
		c := DropAnchored(o.StoredTurn, states, m.now)
		m.revived = m.revived || c.Unmerge != 0
		m.apply(o, c)
	}
	reads := maps.Clone(m.read[n])
	if reads == nil {
		reads = map[int]bool{}
	}
	if rapid.Bool().Draw(t, "a summary was made of it") {
		from, to := SummaryState{Since: rapid.IntRange(0, m.epoch).Draw(t, "since"), Epoch: m.epoch}.Dropped()
		for epoch := from; epoch <= to; epoch++ {
			reads[epoch] = true
		}
	}
	for epoch := range reads {
		to := epoch
		for i, c := range m.commits {
			if epoch <= c.Epoch && c.Epoch <= to {
				m.commits[i] = WithoutText(c)
			}
		}
		for _, o := range m.turns {
			if epoch <= o.Epoch && o.Epoch <= to {
				o.erase()
			}
		}
		m.epoch = max(m.epoch, to+1)
	}
}

func (o *modelTurn) erase() {
	o.input = ""
	for i := range o.steps {
		o.steps[i].Data, o.steps[i].Erased = nil, true
	}
	if !o.KeepsPosts() {
		o.blank()
	}
	o.blankWords()
}

func (o *modelTurn) blankWords() {
	for i := range o.asked {
		o.asked[i] = WithoutWords(o.asked[i])
	}
}

func (o *modelTurn) blank() {
	for i := range o.posts {
		o.posts[i].Text = ""
	}
}

func (m *model) advance() {
	m.stored.Lowest = 0
	if list := m.inLine(); len(list) > 0 {
		m.stored.Lowest = list[0].ID
	}
}

// apply writes a change as its fields say.
func (m *model) apply(o *modelTurn, c Change) {
	if c.EmptyJournal {
		o.steps = nil
	}
	if c.DropCalls {
		for i := range o.asked {
			o.asked[i].Call = ""
		}
	}
	if c.ErasePosts {
		o.blank()
		o.blankWords()
	}
	m.hasRead(c.Epoch, c.Read)
	for _, epochs := range m.read {
		if c.CopyRead && epochs[c.CopyFrom] {
			epochs[c.Epoch] = true
		}
	}
	if c.EndEpoch {
		m.epoch = max(m.epoch, c.Epoch+1)
	}
	if c.Step != nil {
		o.steps = append(o.steps, *c.Step)
	}
	for _, p := range c.Posts {
		o.posts = append(slices.DeleteFunc(o.posts, func(x earshot.Post) bool { return x.Chunk == p.Chunk }), p)
	}
	if c.Ask != nil {
		o.asked = append(o.asked, *c.Ask)
	}
	for i := range o.asked {
		if c.Approval != nil && o.asked[i].ID == c.Approval.ID {
			o.asked[i] = *c.Approval
		}
	}
	for _, id := range c.Withdraw {
		for i, a := range m.turns[id].asked {
			m.turns[id].asked[i] = Withdrawn(a, m.now)
		}
	}
	if c.Commit != nil {
		m.commits = append(m.commits, c.Commit.Turn)
		m.epoch = c.Commit.Conversation.Epoch
		m.hasRead(c.Commit.Turn.Epoch, c.Commit.Read)
	}
	if c.Step != nil || len(c.Posts) > 0 && len(c.Turns) > 0 {
		o.ends = 0
	}
	for _, q := range c.Turns {
		if c.OnlyUpdated { // a store writes no more of it
			q.Ends = m.turns[q.ID].Ends
		}
		m.turns[q.ID].StoredTurn = q
		if c.Input {
			m.turns[q.ID].input = string(q.Input)
		}
	}
	for _, x := range m.turns {
		if next, ok := ReopenMerged(x.StoredTurn, c.Unmerge, m.now); ok && c.Unmerge != 0 {
			x.StoredTurn = next
		}
	}
	if c.Erase {
		o.erase()
	}
	if c.FindLowest {
		m.advance()
	}
	if c.Free && m.stored.Owner == "" {
		m.stored.Until = 0
	}
}

func (m *model) hasRead(epoch int, ids []earshot.MessageID) {
	for _, id := range ids {
		if m.read[id] == nil {
			m.read[id] = map[int]bool{}
		}
		m.read[id][epoch] = true
	}
}

// check is what holds after each operation.
func (m *model) check(t *rapid.T) {
	good := map[int64]bool{}
	for _, l := range m.leases {
		if m.stored.Check(l) == nil {
			good[l.Fence] = true
		}
	}
	if len(good) > 1 {
		t.Fatalf("leases %v are good at once", good)
	}
	begun := 0
	for _, id := range m.ids() {
		o := m.turns[id]
		if HasBegun(o.State) {
			begun++
			if id != m.stored.Lowest {
				t.Fatalf("turn %d is being answered before turn %d", id, m.stored.Lowest)
			}
		}
		if !o.State.Final() && o.was.Final() && !m.revived {
			t.Fatalf("turn %d was %s and is %s", id, o.was, o.State)
		}
		o.was = o.State
		m.checkTurn(t, o)
	}
	m.revived = false
	if begun > 1 {
		t.Fatalf("%d turns are being answered", begun)
	}
	anchors := map[earshot.MessageID]bool{}
	for _, c := range m.commits {
		if anchors[c.Answer.Anchor] {
			t.Fatalf("%s was answered twice", c.Answer.Anchor)
		}
		anchors[c.Answer.Anchor] = true
		for _, e := range c.Session {
			m.forgotten(t, "session", e.Text)
		}
	}
}

func (m *model) checkTurn(t *rapid.T, o *modelTurn) {
	if o.Ends != o.ends {
		t.Fatalf("turn %d has %d ends, was left %d times since it last came further", o.ID, o.Ends, o.ends)
	}
	for n, s := range o.steps {
		if s.N != n {
			t.Fatalf("step %d of turn %d stands at %d", s.N, o.ID, n)
		}
		m.forgotten(t, "a journal", string(s.Data))
	}
	m.forgotten(t, "an input", o.input)
	for _, a := range o.asked {
		m.forgotten(t, "an approval", string(a.Args))
	}
	if asks := o.asks(""); asks && o.State.Final() || !asks && o.State == earshot.TurnWaiting {
		t.Fatalf("turn %d is %s, and somebody is asked: %v", o.ID, o.State, asks)
	}
	for _, p := range o.posts {
		was, known := o.sent[p.Chunk]
		if known && (p.State != was.State || p.Key != was.Key || p.Message != was.Message) {
			t.Fatalf("a post that was sent as %+v became %+v", was, p)
		}
		if p.State == earshot.PostSent {
			o.sent[p.Chunk] = p
		}
		if o.State.Final() {
			m.forgotten(t, "the posts of a turn that ended", p.Text)
		}
	}
}

// forgotten checks that a text repeats nothing that is deleted.
func (m *model) forgotten(t *rapid.T, what, text string) {
	for id := range m.deleted {
		if strings.Contains(text, fmt.Sprintf("<%s>", id)) {
			t.Fatalf("%s still has %s, which is deleted", what, id)
		}
	}
}
