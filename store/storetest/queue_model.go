package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/earshot-ai/earshot"
	"pgregory.net/rapid"
)

var queueModelCases = []testCase{
	{"whatever happens, nothing is lost, answered twice or out of order, and nothing deleted is kept", func(s *suite) {
		q := earshot.Queue(s.Store)
		var tries atomic.Int64 // each try has a channel and an agent of its own
		rapid.Check(s.T, func(t *rapid.T) {
			w := newQueueModel(s, q, tries.Add(1))
			w.t = t
			for range sizeUnderRace(3, 1) { // long enough for turns to be finished
				t.Repeat(map[string]func(*rapid.T){
					"":     w.check,
					"hear": w.deliver,
					"work": w.work,
					"wake": w.work,
					"crash, wait, renew, release, reopen or discard": w.disturb,
				})
			}
			w.t = t
			w.drain(t)
			w.settled()
		})
	}},
}

// A queueModel is a simple model of a queue, which says what the store must return,
// and a fake platform, on which replies become visible.
type queueModel struct {
	t         *rapid.T
	q         earshot.Queue
	st        earshot.Store
	agent     earshot.AgentID
	scope     earshot.Scope
	now       earshot.Time
	replicas  []*replica
	delivered map[string]bool // delivery ids
	events    map[int]int     // how many events were accepted of each message
	texts     map[int]string  // the newest revision of each message
	revised   map[int]int
	deleted   map[int]bool
	refused   map[int]bool // messages whose turn was refused, and that have no other
	turns     []*modelTurn // by id
	leases    map[string]*earshot.Lease
	visible   map[string]int // posts by key
}

type modelTurn struct {
	id        earshot.TurnID
	n         int // the anchor
	state     earshot.TurnState
	perhaps   bool // one of its posts may be visible
	reopened  bool
	discarded bool
}

// A replica answers turns. Its fields are what it would forget in a crash.
type replica struct {
	name    string
	lease   *earshot.Lease
	turns   []earshot.TurnID          // of the lease's conversation, as claimed
	knows   map[earshot.TurnID]string // what its prompts, tools and models returned
	sending earshot.TurnID            // stored as sending, not yet sent to the platform
}

func (o *replica) forget() { *o = replica{name: o.name, knows: map[earshot.TurnID]string{}} }

const (
	modelMessages      = 4
	modelConversations = 2
)

func conversationOf(n int) string { return fmt.Sprint("c", n%modelConversations) }

// repeatMark returns a mark that every text which repeats message n contains.
func repeatMark(n int) string { return fmt.Sprintf("<m%d>", n) }

func newQueueModel(s *suite, q earshot.Queue, try int64) *queueModel {
	w := &queueModel{
		q: q, st: s.Store, agent: earshot.AgentID(fmt.Sprint("agent ", try)), scope: s.scope, now: timeAt(1000),
		delivered: map[string]bool{}, events: map[int]int{}, texts: map[int]string{}, revised: map[int]int{}, deleted: map[int]bool{}, refused: map[int]bool{},
		leases: map[string]*earshot.Lease{}, visible: map[string]int{},
	}
	w.scope.Channel = earshot.ChannelID(fmt.Sprint("queue ", try))
	for _, name := range []string{"a", "b", "a"} { // two of one name, as after a restart of one that hangs
		o := &replica{name: name}
		o.forget()
		w.replicas = append(w.replicas, o)
	}
	return w
}

// disturb does one thing that is neither a delivery nor an answer.
func (w *queueModel) disturb(t *rapid.T) {
	w.t = t
	o := w.draw(t)
	switch rapid.SampledFrom([]string{"crash", "wait", "wait", "renew", "release", "reopen", "discard"}).Draw(t, "what") {
	case "crash":
		o.forget()
	case "wait":
		w.now += timeAt(rapid.IntRange(1, 12).Draw(t, "seconds")) - timeAt(0)
	case "renew":
		w.renew(o)
	case "release":
		w.release(o)
	case "reopen":
		w.reopen(t)
	case "discard":
		w.discard(t)
	}
}

func (w *queueModel) draw(t *rapid.T) *replica {
	return rapid.SampledFrom(w.replicas).Draw(t, "owner")
}

func (w *queueModel) id(conversation string) earshot.ConversationID {
	return earshot.ConversationID{Agent: w.agent, Scope: w.scope, Name: conversation}
}

func (w *queueModel) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *queueModel) want(what string, got, want error) {
	w.t.Helper()
	if !errors.Is(got, want) || want == nil && got != nil {
		w.t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

func (w *queueModel) equal(what string, got, want any) {
	w.t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		w.t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// deliver delivers an original, an edit or a deletion, in any order and repeatedly.
func (w *queueModel) deliver(t *rapid.T) {
	w.t = t
	n := rapid.IntRange(0, modelMessages-1).Draw(t, "message")
	revision := rapid.SampledFrom([]int{0, 0, 1, -1}).Draw(t, "revision, -1 is a deletion")
	e := earshot.Event{
		Delivery: fmt.Sprint(n, " ", revision, " ", rapid.IntRange(0, 1).Draw(t, "copy")),
		Raw:      []byte("raw " + repeatMark(n)), Received: w.now, Message: plainMessage(n, fmt.Sprint(repeatMark(n), revision)),
	}
	switch {
	case revision > 0:
		e.Message.Edited = timeAt(100 + revision)
	case revision < 0:
		e.Message = tombstone(n)
	}
	if rapid.IntRange(0, 3).Draw(t, "refused") == 0 {
		e.Refused = earshot.RefusedBot
		e.Delivery += " refused"
	}
	ask := w.id(conversationOf(n))
	out, err := w.q.Accept(background, w.scope, e, &ask)
	w.must(err)
	turn := w.turnOf(n)
	w.equal("duplicate", out.Duplicate, w.delivered[e.Delivery])
	may := !out.Duplicate && revision >= 0 && !w.deleted[n] && turn == nil
	opens := may && revision == 0 && e.Refused == ""
	w.equal("opened", out.Opened, opens)
	w.equal("refused", out.Refused, may && e.Refused != "" && !w.refused[n])
	if out.Refused {
		w.refused[n] = true
	}
	if opens {
		delete(w.refused, n)
		if len(w.turns) > 0 && out.Turn <= w.turns[len(w.turns)-1].id {
			t.Fatalf("turn %d was opened after turn %d", out.Turn, w.turns[len(w.turns)-1].id)
		}
		turn = &modelTurn{id: out.Turn, n: n, state: earshot.TurnOpen}
		w.turns = append(w.turns, turn)
	}
	if turn != nil {
		w.equal("turn", out.Turn, turn.id)
	}
	if out.Duplicate {
		return
	}
	w.delivered[e.Delivery] = true
	w.events[n]++
	switch _, known := w.texts[n]; {
	case revision < 0:
		w.deleted[n] = true
		if turn != nil && isUnfinished(turn.state) && !turn.perhaps {
			turn.state = earshot.TurnDropped
		}
	case !known || revision > w.revised[n]:
		w.texts[n], w.revised[n] = e.Message.Text, revision
	}
}

func isUnfinished(s earshot.TurnState) bool {
	return slices.Contains([]earshot.TurnState{earshot.TurnOpen, earshot.TurnClaimed, earshot.TurnGenerating, earshot.TurnPosting}, s)
}

func (w *queueModel) turnOf(n int) *modelTurn {
	i := slices.IndexFunc(w.turns, func(t *modelTurn) bool { return t.n == n })
	if i < 0 {
		return nil
	}
	return w.turns[i]
}

func (w *queueModel) turn(id earshot.TurnID) *modelTurn {
	return w.turns[slices.IndexFunc(w.turns, func(t *modelTurn) bool { return t.id == id })]
}

// unfinished returns a conversation's unfinished turns, its next one first: one that has
// been claimed goes on, although an earlier one was opened again.
func (w *queueModel) unfinished(conversation string) []*modelTurn {
	var out []*modelTurn
	for _, t := range w.turns {
		if conversationOf(t.n) == conversation && isUnfinished(t.state) {
			out = append(out, t)
		}
	}
	if i := slices.IndexFunc(out, func(t *modelTurn) bool { return t.state != earshot.TurnOpen }); i > 0 {
		out = slices.Concat(out[i:i+1], out[:i], out[i+1:])
	}
	return out
}

func (w *queueModel) claim(o *replica) {
	if o.lease != nil {
		return
	}
	var expected []*modelTurn
	for _, t := range w.turns { // of the free conversations, the one whose next turn is the lowest
		l := w.leases[conversationOf(t.n)]
		if isUnfinished(t.state) && (l == nil || l.Until <= w.now) {
			if list := w.unfinished(conversationOf(t.n)); expected == nil || list[0].id < expected[0].id {
				expected = list
			}
		}
	}
	l, turns, err := w.q.Claim(background, w.agent, o.name, w.now, hold)
	if expected == nil {
		w.want("claim", err, earshot.ErrNotFound)
		return
	}
	w.must(err)
	first := expected[0]
	if first.state == earshot.TurnOpen {
		first.state = earshot.TurnClaimed
	}
	fence := int64(1)
	if old := w.leases[conversationOf(first.n)]; old != nil {
		fence = old.Fence + 1
	}
	w.equal("lease", l, earshot.Lease{Conversation: w.id(conversationOf(first.n)), Owner: o.name, Fence: fence, Until: w.now + earshot.Time(hold/time.Microsecond)})
	var ids []earshot.TurnID
	for _, t := range expected {
		ids = append(ids, t.id)
	}
	w.equal("turns", turnIDs(turns), ids)
	kept := l
	w.leases[conversationOf(first.n)] = &kept
	o.forget()
	o.lease, o.turns = &l, ids
}

// holds reports whether the replica's lease is valid.
func (w *queueModel) holds(o *replica) bool {
	l := w.leases[o.lease.Conversation.Name]
	return l != nil && l.Owner == o.name && l.Fence == o.lease.Fence
}

func (w *queueModel) renew(o *replica) {
	if o.lease == nil {
		return
	}
	l, err := w.q.Renew(background, *o.lease, w.now, hold)
	if !w.holds(o) {
		w.want("renew", err, earshot.ErrFenced)
		o.forget()
		return
	}
	w.must(err)
	*o.lease, *w.leases[l.Conversation.Name] = l, l
}

func (w *queueModel) release(o *replica) {
	if o.lease == nil {
		return
	}
	w.must(w.q.Release(background, *o.lease, 0))
	if w.holds(o) {
		*w.leases[o.lease.Conversation.Name] = earshot.Lease{Fence: o.lease.Fence}
		for _, t := range w.unfinished(o.lease.Conversation.Name) {
			if t.state == earshot.TurnClaimed {
				t.state = earshot.TurnOpen
			}
		}
	}
	o.forget()
}

func (w *queueModel) reopen(t *rapid.T) {
	if len(w.turns) == 0 {
		return
	}
	turn := rapid.SampledFrom(w.turns).Draw(t, "turn")
	err := w.q.Reopen(background, turn.id)
	running := slices.ContainsFunc(w.unfinished(conversationOf(turn.n)), func(o *modelTurn) bool {
		return o.state == earshot.TurnGenerating || o.state == earshot.TurnPosting
	})
	if turn.state != earshot.TurnFailed && turn.state != earshot.TurnParked || w.deleted[turn.n] || running {
		w.want("reopen", err, earshot.ErrConflict)
		return
	}
	w.must(err)
	turn.state, turn.reopened = earshot.TurnOpen, true
}

func (w *queueModel) discard(t *rapid.T) {
	if len(w.turns) == 0 {
		return
	}
	turn := rapid.SampledFrom(w.turns).Draw(t, "turn")
	err := w.q.Discard(background, turn.id, "why")
	switch {
	case turn.state == earshot.TurnFailed || turn.state == earshot.TurnParked:
		turn.state, turn.discarded = earshot.TurnDropped, true
		w.must(err)
	case turn.discarded:
		w.must(err)
	default:
		w.want("discard", err, earshot.ErrConflict)
	}
}

// check compares the store's turns with the model's.
func (w *queueModel) check(t *rapid.T) {
	w.t = t
	list, err := w.q.QueuedTurns(background, earshot.TurnQuery{Scope: &w.scope, Limit: 100})
	w.must(err)
	slices.Reverse(list)
	refused := map[int]bool{}
	list = slices.DeleteFunc(list, func(got earshot.QueuedTurn) bool {
		if got.State != earshot.TurnRefused {
			return false
		}
		for n := range modelMessages {
			if got.Anchor == plainMessage(n, "").ID {
				refused[n] = true
			}
		}
		return true
	})
	w.equal("refused", refused, w.refused)
	w.equal("turns", len(list), len(w.turns))
	begun := map[string]int{}
	for i, got := range list {
		w.equal(fmt.Sprint("turn ", got.ID), []any{got.ID, got.State}, []any{w.turns[i].id, w.turns[i].state})
		if got.State == earshot.TurnDropped || got.State == earshot.TurnFailed || got.State == earshot.TurnParked {
			w.equal("a reason is given", got.Why != "", true)
		}
		if got.State == earshot.TurnGenerating || got.State == earshot.TurnPosting {
			begun[got.Conversation.Name]++
		}
	}
	for name, n := range begun {
		w.equal("turns under way in "+name, n, 1)
	}
	for key, n := range w.visible {
		w.equal("posts with "+key, n, 1)
	}
}

// drain lets one replica that never fails answer all turns that are left.
func (w *queueModel) drain(t *rapid.T) {
	for _, o := range w.replicas {
		o.forget()
	}
	w.now += timeAt(3600) - timeAt(0)
	o := w.replicas[0]
	for range 1000 {
		if w.claim(o); o.lease == nil {
			return
		}
		for o.lease != nil {
			w.finishOne(o)
		}
	}
	t.Fatal("there is no end of turns")
}

// settled checks the final state, once every turn has ended.
func (w *queueModel) settled() {
	var all strings.Builder // every text that is stored of turns
	for _, t := range w.turns {
		w.equal(fmt.Sprint("turn ", t.id, " is final"), isUnfinished(t.state), false)
		q, err := w.q.QueuedTurn(background, t.id)
		w.must(err)
		steps, err := w.q.Steps(background, t.id)
		w.must(err)
		posts, err := w.q.Posts(background, t.id)
		w.must(err)
		all.Write(q.Input)
		for _, step := range steps {
			all.Write(step.Data)
		}
		for _, p := range posts {
			all.WriteString(p.Text)
		}
		key := postKey(t.id)
		if t.state == earshot.TurnDone {
			w.equal("visible replies of a turn that is done", w.visible[key], 1)
			w.equal("sent", []any{len(posts), posts[0].State, posts[0].Message}, []any{1, earshot.PostSent, earshot.MessageID("p" + key)})
		}
	}
	for c := range modelConversations {
		w.committed(conversationOf(c), &all)
	}
	for n := range w.events {
		w.message(n, all.String())
	}
}

// committed checks a conversation's turns against the model.
func (w *queueModel) committed(conversation string, all *strings.Builder) {
	id := w.id(conversation)
	turns, err := w.st.Turns(background, id, 0)
	w.must(err)
	done, cursor := 0, int64(0)
	for _, t := range w.turns {
		if conversationOf(t.n) == conversation && t.state == earshot.TurnDone {
			done++
		}
	}
	w.equal("turns committed in "+conversation, len(turns), done)
	last := earshot.TurnID(0)
	for _, t := range turns {
		cursor = max(cursor, t.Cursor)
		var n int
		_, err := fmt.Sscanf(string(t.Answer.Anchor), "m%d", &n)
		w.must(err)
		if of := w.turnOf(n); !of.reopened {
			w.equal("in order", of.id > last, true)
			last = of.id
		}
		whole, err := w.st.Turn(background, id, t.Number)
		w.must(err)
		fmt.Fprint(all, whole.Session)
	}
	if c, err := w.st.Conversation(background, id); err == nil {
		w.equal("cursor of "+conversation, c.Cursor, cursor)
	}
}

// message checks that a message is kept, or forgotten everywhere.
func (w *queueModel) message(n int, all string) {
	m, err := w.st.Message(background, w.scope, plainMessage(n, "").ID)
	w.must(err)
	events, err := w.q.Events(background, w.scope, m.ID)
	w.must(err)
	w.equal("events", len(events), w.events[n])
	w.equal("deleted", m.Deleted, w.deleted[n])
	if !w.deleted[n] {
		w.equal("text", m.Text, w.texts[n])
		for _, e := range events {
			w.equal("raw", string(e.Raw), "raw "+repeatMark(n))
		}
		return
	}
	w.equal("text of a deleted message", m.Text, "")
	for _, e := range events {
		w.equal("raw of a deleted message", string(e.Raw), "")
	}
	if strings.Contains(all, repeatMark(n)) {
		w.t.Fatalf("%s is deleted and still kept: %s", repeatMark(n), all)
	}
}
