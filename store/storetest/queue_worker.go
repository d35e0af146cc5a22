package storetest

import (
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"pgregory.net/rapid"
)

// How a replica of the model answers a turn: one write at a time, going on from what
// is stored, as a bot does.

func postKey(id earshot.TurnID) string { return fmt.Sprint("key ", id) }

// work lets a replica do its next few writes.
func (w *queueModel) work(t *rapid.T) {
	w.t = t
	o := w.draw(t)
	for range rapid.IntRange(1, 6).Draw(t, "things") {
		w.workStep(t, o)
	}
}

// workStep does a replica's next write, or something else.
func (w *queueModel) workStep(t *rapid.T, o *replica) {
	if o.lease == nil {
		w.claim(o)
		return
	}
	if len(o.turns) == 0 {
		w.release(o)
		return
	}
	id := o.turns[0]
	switch rapid.IntRange(0, 49).Draw(t, "what") {
	case 0:
		w.end(o, id, earshot.TurnFailed)
	case 1:
		w.end(o, id, earshot.TurnParked)
	case 2:
		w.end(o, id, earshot.TurnDropped)
	case 3, 4, 5: // a tool finds another message
		w.read(o, id, rapid.IntRange(0, modelMessages-1).Draw(t, "message"))
	default:
		w.proceed(o, id)
	}
}

// finishOne does a replica's next write and nothing else.
func (w *queueModel) finishOne(o *replica) {
	if len(o.turns) == 0 {
		w.release(o)
		return
	}
	w.proceed(o, o.turns[0])
}

// wrote compares a write's outcome with the model and reports whether it was
// accepted. A replica that is fenced stops; one whose turn is final leaves it.
func (w *queueModel) wrote(o *replica, id earshot.TurnID, what string, err error) bool {
	w.t.Helper()
	switch {
	case !w.holds(o):
		w.want(what, err, earshot.ErrFenced)
		o.forget()
		return false
	case !isUnfinished(w.turn(id).state):
		w.want(what, err, earshot.ErrConflict)
		o.turns, o.sending = o.turns[1:], 0
		return false
	case w.unfinished(conversationOf(w.turn(id).n))[0].id != id: // an earlier turn was reopened
		w.want(what, err, earshot.ErrConflict)
		o.turns = nil
		return false
	}
	w.want(what, err, nil)
	return true
}

// proceed does the next write that a turn needs.
func (w *queueModel) proceed(o *replica, id earshot.TurnID) {
	q, err := w.q.QueuedTurn(background, id)
	w.must(err)
	steps, err := w.q.Steps(background, id)
	w.must(err)
	posts, err := w.q.Posts(background, id)
	w.must(err)
	_, mine := o.knows[id] // this replica began it, and has not crashed since
	erased := q.Input == nil
	for _, s := range steps {
		erased = erased || s.Erased
	}
	switch {
	case o.sending == id:
		w.call(o, id)
	case !mine && (q.Hash == "" || erased) && len(posts) == 0:
		w.begin(o, id)
	case !mine && q.State == earshot.TurnOpen, !mine && q.State == earshot.TurnClaimed:
		w.begin(o, id)
	case !mine:
		o.knows[id] = string(q.Input)
		for _, s := range steps {
			o.knows[id] += string(s.Data)
		}
	case len(steps) == 0 && len(posts) == 0:
		w.step(o, id, earshot.Step{Kind: "model", Data: []byte("said " + o.knows[id])})
	case len(posts) == 0:
		w.put(o, id, earshot.PostSending)
	case posts[0].State == earshot.PostSent:
		w.end(o, id, earshot.TurnDone)
	case w.visible[postKey(id)] > 0:
		w.put(o, id, earshot.PostSent)
	default: // a replica that crashed has stored it as sending, and the platform does not have it
		w.put(o, id, earshot.PostSending)
	}
}

// begin makes a prompt and begins a turn.
func (w *queueModel) begin(o *replica, id earshot.TurnID) {
	turn := w.turn(id)
	c, err := w.st.Conversation(background, o.lease.Conversation)
	w.must(err)
	session, err := w.st.Session(background, o.lease.Conversation)
	w.must(err)
	text := fmt.Sprint(repeatMark(turn.n), session)
	err = w.q.Begin(background, *o.lease, id, earshot.Prompt{From: c.Epoch, Epoch: c.Epoch, Input: []byte(text), Hash: text})
	if w.holds(o) && isUnfinished(turn.state) && turn.perhaps && w.deleted[turn.n] {
		w.want("begin with a deleted anchor", err, earshot.ErrConflict)
		o.knows[id] = ""
		return
	}
	if w.wrote(o, id, "begin", err) {
		o.knows[id] = text
		if turn.state != earshot.TurnPosting {
			turn.state = earshot.TurnGenerating
		}
	}
}

// read lets a tool find a message, whose text the journal then contains.
func (w *queueModel) read(o *replica, id earshot.TurnID, n int) {
	if _, mine := o.knows[id]; !mine || w.texts[n] == "" || w.deleted[n] {
		return
	}
	o.knows[id] += repeatMark(n)
	w.step(o, id, earshot.Step{Kind: "tool", Data: []byte("found " + repeatMark(n)), Shows: []earshot.MessageID{plainMessage(n, "").ID}})
}

func (w *queueModel) step(o *replica, id earshot.TurnID, s earshot.Step) {
	steps, err := w.q.Steps(background, id)
	w.must(err)
	s.N = len(steps)
	err = w.q.AddStep(background, *o.lease, id, s)
	if turn := w.turn(id); w.holds(o) && (turn.state == earshot.TurnOpen || turn.state == earshot.TurnClaimed) {
		w.want("a step before the beginning", err, earshot.ErrConflict)
		return
	}
	w.wrote(o, id, "step", err)
}

// put stores the post's state. The call of the platform is a later action.
func (w *queueModel) put(o *replica, id earshot.TurnID, state earshot.PostState) {
	p := earshot.Post{Turn: id, Key: postKey(id), Text: "reply " + o.knows[id], State: state}
	if state == earshot.PostSent {
		p.Message = earshot.MessageID("p" + p.Key)
	}
	if w.wrote(o, id, "post", w.q.PutPost(background, *o.lease, p)) {
		turn := w.turn(id)
		turn.state, turn.perhaps = earshot.TurnPosting, true
		o.sending = 0
		if state == earshot.PostSending {
			o.sending = id
		}
	}
}

// call sends the post to the platform, unless by the replica's clock its lease may
// have run out.
func (w *queueModel) call(o *replica, id earshot.TurnID) {
	o.sending = 0
	if w.now >= o.lease.Until {
		o.forget()
		return
	}
	w.visible[postKey(id)]++
}

// end finishes a turn.
func (w *queueModel) end(o *replica, id earshot.TurnID, state earshot.TurnState) {
	turn := w.turn(id)
	if state == earshot.TurnDropped && turn.perhaps {
		return // a turn whose post may be visible is not dropped
	}
	var commit *earshot.Turn
	if state == earshot.TurnDone {
		c, err := w.st.Conversation(background, o.lease.Conversation)
		w.must(err)
		q, err := w.q.QueuedTurn(background, id)
		w.must(err)
		commit = &earshot.Turn{
			Answer: earshot.Answer{Anchor: plainMessage(turn.n, "").ID}, Epoch: q.Epoch, Cursor: c.Cursor + 1,
			Shown:   []earshot.ShownRevision{{ID: plainMessage(turn.n, "").ID}},
			Session: []earshot.SessionEntry{{Role: earshot.User, Text: o.knows[id]}},
		}
	}
	err := w.q.Finish(background, *o.lease, id, state, "a reason", commit)
	if w.holds(o) && turn.state == state { // a deletion came first
		w.want("finish again", err, nil)
		o.turns = o.turns[1:]
		return
	}
	if w.holds(o) && isUnfinished(turn.state) && state != earshot.TurnDone {
		w.want("finish", err, nil)
		turn.state, o.turns, o.sending = state, o.turns[1:], 0
		return
	}
	if w.wrote(o, id, "finish", err) {
		turn.state, o.turns = state, o.turns[1:]
	}
	if errors.Is(err, earshot.ErrInvalid) {
		w.t.Fatal(err)
	}
}
