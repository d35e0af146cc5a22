package rule

import (
	"fmt"

	"github.com/earshot-ai/earshot"
)

// Quotes returns the messages whose text the raw event of m may contain: m, its
// thread's root, and the message that it replies to.
func Quotes(m earshot.Message) []earshot.MessageID {
	out := []earshot.MessageID{m.ID}
	for _, id := range []earshot.MessageID{m.Root(), m.ReplyTo} {
		if id != "" {
			out = append(out, id)
		}
	}
	return out
}

// An AcceptState is what [earshot.Queue.Accept] depends on. The message of a delivery
// that is known is not recorded again.
type AcceptState struct {
	Event  earshot.Event
	Asked  bool                   // the event may open a turn
	ID     earshot.ConversationID // the conversation of that turn
	Known  bool                   // the delivery was accepted before
	Of     AnchorTurn             // the agent's turn for this message, of several the last
	Twice  bool                   // the sender sent the same message under another id, and that one has a turn
	Record earshot.RecordResult   // what recording the message changed
	Gone   bool                   // the message is deleted
	Quoted bool                   // one of the messages of [Quotes] is deleted
	Now    earshot.Time
}

// An AnchorTurn is the turn that an agent has for a message.
type AnchorTurn struct {
	ID       earshot.TurnID // 0: none, or it was refused
	Refused  bool           // it was refused
	Wordless bool           // see [earshot.QueuedTurn.IsWordless]
	Unasked  bool           // it has not ended, and nobody has called the agent by its message: see [earshot.QueuedTurn.Ambient]
}

// NewAnchorTurn returns the turn with this id, state and Why as an AnchorTurn.
func NewAnchorTurn(q earshot.QueuedTurn) AnchorTurn {
	if q.State == earshot.TurnRefused {
		return AnchorTurn{Refused: true}
	}
	return AnchorTurn{ID: q.ID, Wordless: q.IsWordless(), Unasked: q.Ambient() && !q.State.Final()}
}

// An Acceptance is what accepting an event writes besides its message.
type Acceptance struct {
	Accepted earshot.AcceptResult // the answer; the id of Open is still missing
	Resume   *earshot.Resume      // store it; it replaces the one with the same key; nil: none
	Event    *earshot.Event       // store it; nil: none
	Open     *StoredTurn          // store it under the next id, in place of one that was refused; create its conversation where there is none; nil: none
}

// DecideAccept decides about [earshot.Queue.Accept].
func DecideAccept(h AcceptState) Acceptance {
	out := Acceptance{Accepted: earshot.AcceptResult{RecordResult: h.Record, Duplicate: h.Known}, Resume: h.Event.Resume}
	if h.Asked {
		out.Accepted.Turn = h.Of.ID
	}
	if h.Known {
		out.Accepted.RecordResult = earshot.RecordResult{ID: h.Event.Message.ID, Change: earshot.Same, Seq: h.Record.Seq}
		return out
	}
	if h.Record.Change == earshot.Same && h.Record.Seq == 0 { // refused: see Bars
		h.Gone = true
	}
	e := h.Event
	e.Resume = nil
	if h.Quoted || h.Gone {
		e.Raw = nil
	}
	if e.Delivery != "" || len(e.Raw) > 0 {
		out.Event = &e
	}
	// Whoever asks now calls the agent. An edit that does so while the turn goes on makes that
	// turn one that is called.
	again := (h.Of.Wordless || h.Of.Unasked && e.By.Emoji != "") && e.Anew && e.Refused == ""
	switch {
	case !h.Asked || h.Of.ID != 0 && !again || h.Gone || e.Message.Deleted:
	case e.Refused != "":
		if !h.Of.Refused {
			out.Accepted.Refused = true
			out.Open = newQueuedTurn(h.ID, h.Event, h.Now)
			out.Open.State, out.Open.Why = earshot.TurnRefused, string(e.Refused)
		}
	case (again || !h.Twice) && h.original():
		out.Accepted.Opened = true
		out.Open = newQueuedTurn(h.ID, h.Event, h.Now)
		out.Open.Again = int(h.Of.ID)
	}
	return out
}

// original reports whether the event asks for the first time: its message is no edit,
// unless an edit is all that history has of it, or the edit asks.
func (h AcceptState) original() bool {
	e := h.Event
	return e.Message.Edited == 0 || e.Anew || e.Past && h.Record.Change == earshot.New
}

// newQueuedTurn returns the turn that an event opens, without its id.
func newQueuedTurn(id earshot.ConversationID, e earshot.Event, now earshot.Time) *StoredTurn {
	at := e.Received
	if at == 0 {
		at = now
	}
	why := earshot.WhyAsked(e.By)
	if e.Ambient {
		why = earshot.WhyAmbient
	}
	return &StoredTurn{From: -1, QueuedTurn: earshot.QueuedTurn{
		Conversation: id, Anchor: e.Message.ID, State: earshot.TurnOpen, Why: why, Opened: at, Updated: now, Epoch: -1,
	}}
}

// An Opening is what [earshot.Conversations.OpenConversation] does.
type Opening int

// The openings.
const (
	OpenByKey    Opening = iota // return the one that has the key
	OpenByName                  // return the one that has the name
	OpenTakesKey                // give the one that has the name the key
	OpenCreates
)

// DecideOpen decides about [earshot.Conversations.OpenConversation]: byKey and byName
// report whether there is a conversation with the key and with the name, stored
// is the key of the latter.
func DecideOpen(id earshot.ConversationID, key string, byKey, byName bool, stored string) (Opening, error) {
	switch {
	case key != "" && byKey:
		return OpenByKey, nil
	case !byName:
		return OpenCreates, nil
	case key == "":
		return OpenByName, nil
	case stored != "":
		return OpenByName, fmt.Errorf("conversation %q exists under another key: %w", id.Name, earshot.ErrConflict)
	}
	return OpenTakesKey, nil
}
