package storetest

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
)

// draft returns a draft that answers message n in a conversation that has turns, and
// that expires at second(1000). It shows the message.
func (s *suite) draft(n int, conversation string, turns int) earshot.Draft {
	t := turn(n, fmt.Sprint("draft ", n))
	t.Answer.Replies, t.Usage, t.Time, t.Session = nil, earshot.Usage{}, 0, t.Session[:1]
	t.Shown, t.Ledger = []earshot.ShownRevision{{ID: t.Answer.Anchor}}, t.Ledger[:0]
	t.Metadata = map[string]*string{"draft": to(fmt.Sprint(n)), "old": nil}
	p := prompt(n, t.Answer.Anchor)
	return earshot.Draft{
		Conversation: s.conversation(conversation), Anchor: t.Answer.Anchor, Opener: "key 1", Asked: []byte(`{"budget":1}`),
		Opened: timeAt(n), Expires: timeAt(1000), Turns: turns, Prompt: p, Turn: t,
	}
}

// drafted records message n and opens its draft.
func (s *suite) drafted(n int, conversation string, turns int) earshot.Draft {
	s.Helper()
	s.record(plainMessage(n, fmt.Sprint("question ", n)))
	return s.opens(s.draft(n, conversation, turns))
}

func (s *suite) opens(d earshot.Draft) earshot.Draft {
	s.Helper()
	c, err := s.Conversation(s.Context(), d.Conversation)
	if !errors.Is(err, earshot.ErrNotFound) {
		s.check(err)
	}
	d.Prompt.From, d.Prompt.Epoch = c.Epoch, c.Epoch
	out, err := s.OpenDraft(s.Context(), d)
	s.check(err)
	return out
}

// replies returns what commits a draft, with the agent's message rN.
func replies(d earshot.Draft, text string) (earshot.Turn, earshot.Message) {
	m := earshot.Message{ID: "r" + d.Anchor, Time: timeAt(900), Author: earshot.Author{ID: "UBOT", Kind: earshot.Bot}, Text: text}
	t := d.Turn
	t.Answer.Replies, t.Usage, t.Time = []earshot.MessageID{m.ID}, earshot.Usage{Input: 5, Output: 6}, timeAt(900)
	t.Session = append(slices.Clone(t.Session), earshot.SessionEntry{Role: earshot.Assistant, Text: text})
	return t, m
}

// commits commits a draft at second(500).
func (s *suite) commits(d earshot.Draft, text string) (earshot.Draft, error) {
	s.Helper()
	t, m := replies(d, text)
	return s.CommitDraft(s.Context(), d.ID, t, timeAt(500), m)
}

// stateOf returns the state of a draft and which contents it has.
func (s *suite) stateOf(id earshot.TurnID) []string {
	s.Helper()
	d, err := s.Draft(s.Context(), id)
	s.check(err)
	out := []string{string(d.State)}
	for name, has := range map[string]bool{"asked": len(d.Asked) > 0, "input": len(d.Prompt.Input) > 0, "turn": len(d.Turn.Session) > 0} {
		if has {
			out = append(out, name)
		}
	}
	slices.Sort(out[1:])
	return out
}

var fullDraft = []string{"open", "asked", "input", "turn"}

// wantClaimed fails unless err is a Claimed of a turn.
func wantClaimed(t *testing.T, err error, turn earshot.TurnID, answered bool) {
	t.Helper()
	var c *earshot.Claimed
	if !errors.As(err, &c) || c.Turn != turn || c.Answered != answered {
		t.Errorf("error %v, want that turn %d holds the claim (answered: %v)", err, turn, answered)
	}
}

// whatever returns what a refused or repeated commit must not change.
func (s *suite) whatever(name string) []any {
	s.Helper()
	c, err := s.Conversation(s.Context(), s.conversation(name))
	if !errors.Is(err, earshot.ErrNotFound) {
		s.check(err)
	}
	list, err := s.Turns(s.Context(), s.conversation(name), 0)
	s.check(err)
	queue, err := s.QueuedTurns(s.Context(), earshot.TurnQuery{})
	s.check(err)
	known, err := s.Since(s.Context(), s.scope, 0, 0)
	s.check(err)
	session, err := s.Session(s.Context(), s.conversation(name))
	s.check(err)
	return []any{c, list, queue, known, session}
}

var draftCases = []testCase{
	{"a draft cannot be committed while another turn of its conversation is being answered", func(s *suite) {
		d := s.drafted(2, "m1", 0)
		other := s.drafted(3, "m3", 0)
		s.asked(1, "m1")
		lease, turns := s.claim("me", timeAt(10))
		before := s.whatever("m1")
		_, err := s.commits(d, "too soon")
		wantError(s.T, err, earshot.ErrConflict)
		s.equal("after that", s.whatever("m1"), before)
		if _, err := s.commits(other, "elsewhere"); err != nil {
			s.Errorf("a draft of another conversation: %v", err)
		}
		s.check(s.Finish(s.Context(), lease, turns[0].ID, earshot.TurnFailed, "gone", nil))
		if _, err := s.commits(d, "in time"); err != nil {
			s.Errorf("once it has failed: %v", err)
		}
	}},
	{"an open draft holds the claim to its anchor until it expires or ends", func(s *suite) {
		first := s.drafted(1, "m1", 0)
		again := s.draft(1, "m1", 0)
		held := func(what string, at earshot.Time, want *earshot.Claimed) {
			s.Helper()
			d := again
			d.Opened, d.Expires = at, at+1
			var before, got *earshot.Claimed
			errors.As(s.Claimed(s.Context(), d), &before)
			s.equal(what+", asked before", before, want)
			out, err := s.OpenDraft(s.Context(), d)
			errors.As(err, &got)
			s.equal(what, got, want)
			if want == nil {
				s.check(err)
				_, err = s.AbortDraft(s.Context(), out.ID)
				s.check(err)
			}
		}
		s.check(s.Claimed(s.Context(), earshot.Draft{Conversation: first.Conversation, Anchor: first.Anchor, Opened: timeAt(999), Again: true}))
		s.check(s.Claimed(s.Context(), earshot.Draft{Conversation: first.Conversation, Anchor: first.Anchor, Opened: timeAt(999), Replaces: first.ID}))
		held("while it is open", timeAt(999), &earshot.Claimed{Turn: first.ID, Until: timeAt(1000)})
		held("at its last instant", timeAt(1000), &earshot.Claimed{Turn: first.ID, Until: timeAt(1000)})
		held("after it", timeAt(1000)+1, nil)
		d, err := s.RenewDraft(s.Context(), first.ID, timeAt(998), timeAt(2000), false)
		s.check(err)
		s.equal("the renewed one", []earshot.Time{d.Expires, d.Posting}, []earshot.Time{timeAt(2000), 0})
		s.equal("stays whole", s.stateOf(first.ID), fullDraft)
		held("after it was renewed", timeAt(1500), &earshot.Claimed{Turn: first.ID, Until: timeAt(2000)})
		other := s.draft(1, "elsewhere", 0)
		_, err = s.OpenDraft(s.Context(), other)
		wantClaimed(s.T, err, first.ID, false)
		other.Conversation.Agent = "another"
		_, err = s.OpenDraft(s.Context(), other)
		s.check(err)
		if _, err = s.commits(first, "done"); err != nil {
			s.Errorf("the holder commits: %v", err)
		}
		again.Turns = 1
		held("after the commit", timeAt(5000), &earshot.Claimed{Turn: first.ID, Answered: true})
	}},
	{"a draft that is aborted gives its claim up", func(s *suite) {
		first := s.drafted(1, "m1", 0)
		_, err := s.AbortDraft(s.Context(), first.ID)
		s.check(err)
		s.opens(s.draft(1, "m1", 0))
		d, err := s.RenewDraft(s.Context(), first.ID, timeAt(1), timeAt(2000), true)
		s.check(err)
		s.equal("renewing it changes nothing", []any{d.State, d.Expires, d.Posting}, []any{earshot.DraftAborted, timeAt(1000), earshot.Time(0)})
	}},
	{"a claim that ran out is renewed unless somebody else took it", func(s *suite) {
		first := s.drafted(1, "m1", 0)
		d, err := s.RenewDraft(s.Context(), first.ID, timeAt(1100), timeAt(1200), true)
		s.check(err)
		s.equal("revived", []earshot.Time{d.Expires, d.Posting}, []earshot.Time{timeAt(1200), timeAt(1100)})
		d, err = s.RenewDraft(s.Context(), first.ID, timeAt(1150), timeAt(1210), true)
		s.check(err)
		s.equal("says when it first was about to post", d.Posting, timeAt(1100))
		next := s.draft(1, "m1", 0)
		next.Opened, next.Expires = timeAt(1300), timeAt(1400)
		next = s.opens(next)
		_, err = s.RenewDraft(s.Context(), first.ID, timeAt(1301), timeAt(1500), false)
		wantClaimed(s.T, err, next.ID, false)
		last, err := s.LastDraft(s.Context(), next.Conversation, next.Anchor, next.ID, true)
		s.check(err)
		s.equal("the one before", []any{last.ID, last.Posting, last.Turn.Session, len(last.Prompt.Input)}, []any{first.ID, timeAt(1100), []earshot.SessionEntry(nil), 0})
		_, err = s.LastDraft(s.Context(), next.Conversation, "other", 0, false)
		wantError(s.T, err, earshot.ErrNotFound)
		_, err = s.LastDraft(s.Context(), next.Conversation, next.Anchor, first.ID, true)
		wantError(s.T, err, earshot.ErrNotFound)
		_, err = s.RenewDraft(s.Context(), 1000, timeAt(1), timeAt(2), false)
		wantError(s.T, err, earshot.ErrNotFound)
	}},
	{"a draft in place of another has its claim, and says that it was about to post", func(s *suite) {
		first := s.drafted(1, "m1", 0)
		_, err := s.RenewDraft(s.Context(), first.ID, timeAt(1), timeAt(1000), true)
		s.check(err)
		inPlace := s.draft(1, "m1", 0)
		inPlace.Replaces = first.ID
		for what, wrong := range map[string]func(*earshot.Draft){
			"of another anchor's draft": func(d *earshot.Draft) { d.Replaces = s.drafted(2, "m2", 0).ID },
			"after other turns":         func(d *earshot.Draft) { d.Turns = 1 },
			"of none":                   func(d *earshot.Draft) { d.Replaces = 1000 },
		} {
			d := inPlace
			wrong(&d)
			if _, err := s.OpenDraft(s.Context(), d); err == nil {
				s.Errorf("%s it is opened", what)
			}
		}
		s.equal("what was refused changes nothing", s.stateOf(first.ID), fullDraft)
		anew := s.opens(inPlace)
		s.equal("is about to post", []any{anew.Posting, anew.Replaces}, []any{timeAt(1), earshot.TurnID(0)})
		s.equal("the one before", s.stateOf(first.ID), []string{"aborted"})
		_, err = s.OpenDraft(s.Context(), s.draft(1, "m1", 0))
		wantClaimed(s.T, err, anew.ID, false)
		_, err = s.OpenDraft(s.Context(), inPlace) // of one that has ended
		wantClaimed(s.T, err, anew.ID, false)
		last, err := s.LastDraft(s.Context(), first.Conversation, first.Anchor, 0, true)
		s.check(err)
		s.equal("whoever comes next is told of", last.ID, anew.ID)
	}},
	{"the open drafts of an opener are listed, also expired ones", func(s *suite) {
		s.record(plainMessage(1, "question 1"), plainMessage(2, "question 2"), plainMessage(3, "question 3"))
		one, two := s.opens(s.draft(1, "m1", 0)), s.opens(s.draft(2, "m2", 0))
		other := s.draft(3, "m3", 0)
		other.Opener = "key 2"
		s.opens(other)
		ids := func(now int, expired bool, limit int) (out []earshot.TurnID) {
			s.Helper()
			list, err := s.OpenDrafts(s.Context(), "key 1", timeAt(now), expired, limit)
			s.check(err)
			for _, d := range list {
				out = append(out, d.ID)
			}
			return out
		}
		s.equal("both", ids(4, false, 10), []earshot.TurnID{two.ID, one.ID})
		s.equal("the newest", ids(4, false, 1), []earshot.TurnID{two.ID})
		s.equal("both have expired", ids(2000, false, 10), []earshot.TurnID(nil))
		s.equal("those too", ids(2000, true, 10), []earshot.TurnID{two.ID, one.ID})
		again := s.draft(2, "m2", 0)
		again.Opened, again.Expires = timeAt(2000), timeAt(3000)
		over := s.opens(again)
		s.equal("one is taken over, and has no place among the newest", ids(4000, true, 2), []earshot.TurnID{over.ID, one.ID})
		_, err := s.AbortDraft(s.Context(), over.ID)
		s.check(err)
		s.equal("who took over gave up", ids(4000, true, 10), []earshot.TurnID{two.ID, one.ID})
		_, err = s.AbortDraft(s.Context(), two.ID)
		s.check(err)
		s.equal("one has ended", ids(4000, true, 10), []earshot.TurnID{one.ID})
	}},
	{"a draft that insists is opened and committed after an answer", func(s *suite) {
		first := s.drafted(1, "m1", 0)
		insists := s.draft(1, "m1", 0)
		insists.Again = true
		beside := s.opens(insists)
		if _, err := s.commits(first, "first"); err != nil {
			s.Fatal(err)
		}
		_, err := s.commits(beside, "beside")
		wantError(s.T, err, earshot.ErrConflict)
		for n := 1; n < 3; n++ {
			insists.Turns = n
			d := s.opens(insists)
			t, m := replies(d, fmt.Sprint("again ", n))
			m.ID = earshot.MessageID(fmt.Sprint("again", n))
			t.Answer.Replies = []earshot.MessageID{m.ID}
			done, err := s.CommitDraft(s.Context(), d.ID, t, timeAt(500), m)
			s.check(err)
			q, err := s.QueuedTurn(s.Context(), done.ID)
			s.check(err)
			s.equal("its turn", []any{done.Again, q.State, q.Number, q.Anchor}, []any{true, earshot.TurnDone, n, d.Anchor})
		}
		turns, err := s.Turns(s.Context(), first.Conversation, 0)
		s.check(err)
		s.equal("turns", len(turns), 3)
		_, err = s.OpenDraft(s.Context(), s.draft(1, "m1", 3))
		wantClaimed(s.T, err, first.ID, true)
	}},
	{"a draft comes back whole, and changes nothing else", func(s *suite) {
		s.record(plainMessage(1, "question 1"))
		want := s.draft(1, "m1", 0)
		got := s.opens(want)
		if got.ID <= 0 {
			s.Errorf("the draft has id %d", got.ID)
		}
		want.ID, want.State, want.Prompt.Shows = got.ID, earshot.DraftOpen, nil
		want.Turn.Hash, want.Turn.Ledger = want.Prompt.Hash, nil
		s.equal("opened", got, want)
		read, err := s.Draft(s.Context(), got.ID)
		s.check(err)
		s.equal("read", read, want)
		c, err := s.Conversation(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("the conversation", []any{c.Epoch, c.Cursor, len(c.Metadata)}, []any{0, int64(0), 0})
		queue, err := s.QueuedTurns(s.Context(), earshot.TurnQuery{})
		s.check(err)
		s.equal("in the queue", len(queue), 0)
		_, err = s.Draft(s.Context(), got.ID+1)
		wantError(s.T, err, earshot.ErrNotFound)
		_, err = s.QueuedTurn(s.Context(), got.ID)
		wantError(s.T, err, earshot.ErrNotFound)
	}},
	{"a draft is refused where its bounds or its conversation do not fit", func(s *suite) {
		s.record(plainMessage(1, "question 1"))
		for name, change := range map[string]func(*earshot.Draft){
			"no agent": func(d *earshot.Draft) { d.Conversation.Agent = "" }, "no anchor": func(d *earshot.Draft) { d.Anchor = "" },
			"no hash": func(d *earshot.Draft) { d.Prompt.Hash = "" }, "turns": func(d *earshot.Draft) { d.Turns = -1 },
			"an epoch back": func(d *earshot.Draft) { d.Prompt.From, d.Prompt.Epoch = 1, 0 },
		} {
			d := s.draft(1, "m1", 0)
			change(&d)
			if _, err := s.OpenDraft(s.Context(), d); !errors.Is(err, earshot.ErrInvalid) {
				s.Errorf("%s: got %v, want ErrInvalid", name, err)
			}
		}
		s.record(plainMessage(2, "shown"), tombstone(2))
		for name, change := range map[string]func(*earshot.Draft){
			"another epoch": func(d *earshot.Draft) { d.Prompt.From, d.Prompt.Epoch = 1, 1 }, "more turns": func(d *earshot.Draft) { d.Turns = 1 },
			"shows what is deleted": func(d *earshot.Draft) { d.Prompt.Shows = []earshot.MessageID{"m2"} }, "its anchor is deleted": func(d *earshot.Draft) { d.Anchor = "m2" },
		} {
			d := s.draft(1, "m1", 0)
			change(&d)
			if _, err := s.OpenDraft(s.Context(), d); !errors.Is(err, earshot.ErrConflict) {
				s.Errorf("%s: got %v, want ErrConflict", name, err)
			}
		}
	}},
	{"a committed draft is a turn like any other", func(s *suite) {
		before := s.answered(1, "m1")
		d := s.drafted(2, "m1", 1)
		got, err := s.commits(d, "the reply")
		s.check(err)
		s.equal("state", []any{got.State, got.Turn.Number, got.ID}, []any{earshot.DraftCommitted, 1, d.ID})
		s.equal("contents", s.stateOf(d.ID), []string{"committed"})
		q := s.queued(d.ID)
		s.equal("queued", q, earshot.QueuedTurn{ID: d.ID, Conversation: d.Conversation, Anchor: "m2", State: earshot.TurnDone, Opened: timeAt(2),
			Input: []byte("input 2"), Hash: "hash 2", Began: earshot.BeganFull, Number: 1})
		t, err := s.Turn(s.Context(), d.Conversation, 1)
		s.check(err)
		want, _ := replies(d, "the reply")
		want.Number, want.Attached[0].Turn, want.Metadata, want.Ledger = 1, 1, nil, nil
		s.equal("turn", t, want)
		s.equal("the reply", s.message("rm2").Text, "the reply")
		c, err := s.Conversation(s.Context(), d.Conversation)
		s.check(err)
		s.equal("conversation", []any{c.Cursor, c.Metadata}, []any{int64(2), map[string]string{"draft": "2"}})
		queue, err := s.QueuedTurns(s.Context(), earshot.TurnQuery{Scope: &s.scope, States: []earshot.TurnState{earshot.TurnDone}})
		s.check(err)
		s.equal("listed", []earshot.TurnID{queue[0].ID, queue[1].ID}, []earshot.TurnID{d.ID, before})
		s.idle(timeAt(2000))
	}},
	{"a repeated commit answers as the first did and changes nothing", func(s *suite) {
		d := s.drafted(1, "m1", 0)
		first, err := s.commits(d, "the reply")
		s.check(err)
		before := s.whatever("m1")
		for _, now := range []earshot.Time{timeAt(500), timeAt(5000)} { // also when its time is over
			t, m := replies(d, "another reply")
			m.ID = "other"
			again, err := s.CommitDraft(s.Context(), d.ID, t, now, m)
			s.check(err)
			s.equal("repeated", []bool{first.Repeated, again.Repeated}, []bool{false, true})
			again.Repeated = false
			s.equal("again", again, first)
		}
		aborted, err := s.AbortDraft(s.Context(), d.ID)
		s.check(err)
		s.equal("aborted", aborted, first)
		s.equal("changed", s.whatever("m1"), before)
	}},
	{"of two drafts of a conversation the first that is committed wins", func(s *suite) {
		one, two := s.drafted(1, "m1", 0), s.drafted(2, "m1", 0)
		if one.ID == two.ID {
			s.Fatalf("both have id %d", one.ID)
		}
		_, err := s.commits(two, "the second")
		s.check(err)
		before := s.whatever("m1")
		_, err = s.commits(one, "the first")
		wantError(s.T, err, earshot.ErrConflict)
		s.equal("changed", s.whatever("m1"), before)
		s.equal("the other", s.stateOf(one.ID), fullDraft)
		_, err = s.AbortDraft(s.Context(), one.ID)
		s.check(err)
		anew := s.opens(s.draft(1, "m1", 1))
		_, err = s.commits(anew, "the first, anew")
		s.check(err)
	}},
	{"the id of a draft is never that of a turn, nor given twice", func(s *suite) {
		seen := map[earshot.TurnID]bool{}
		last := earshot.TurnID(0)
		take := func(id earshot.TurnID) {
			s.Helper()
			if seen[id] || id <= last {
				s.Errorf("id %d after %d", id, last)
			}
			seen[id], last = true, id
		}
		take(s.drafted(1, "m1", 0).ID)
		take(s.asked(2, "m2"))
		d := s.drafted(3, "m3", 0)
		take(d.ID)
		_, err := s.PruneDrafts(s.Context(), timeAt(1000)+2*day) // the newest id goes
		s.check(err)
		_, err = s.Draft(s.Context(), d.ID)
		wantError(s.T, err, earshot.ErrNotFound)
		take(s.asked(4, "m4"))
		d = s.drafted(5, "m5", 0)
		take(d.ID)
		s.erased(s.ofChannel())
		s.scope.Channel = "C2"
		take(s.drafted(6, "m6", 0).ID)
		s.check(s.Erase(s.Context(), s.scope))
		take(s.drafted(7, "m7", 0).ID)
		take(s.asked(8, "m8"))
	}},
	{"an expired or aborted draft cannot be committed", func(s *suite) {
		late, aborted := s.drafted(1, "m1", 0), s.drafted(2, "m1", 0)
		got, err := s.AbortDraft(s.Context(), aborted.ID)
		s.check(err)
		s.equal("aborted", got.State, earshot.DraftAborted)
		s.equal("contents", s.stateOf(aborted.ID), []string{"aborted"})
		again, err := s.AbortDraft(s.Context(), aborted.ID)
		s.check(err)
		s.equal("aborted again", again, got)
		before := s.whatever("m1")
		_, err = s.commits(aborted, "x")
		wantError(s.T, err, earshot.ErrExpired)
		t, m := replies(late, "x")
		_, err = s.CommitDraft(s.Context(), late.ID, t, timeAt(1000)+1, m)
		wantError(s.T, err, earshot.ErrExpired)
		s.equal("changed", s.whatever("m1"), before)
		_, err = s.CommitDraft(s.Context(), late.ID, t, timeAt(1000), m)
		s.check(err) // at its last moment
		_, err = s.CommitDraft(s.Context(), late.ID+100, t, timeAt(1), m)
		wantError(s.T, err, earshot.ErrNotFound)
		_, err = s.AbortDraft(s.Context(), late.ID+100)
		wantError(s.T, err, earshot.ErrNotFound)
	}},
	{"a draft whose anchor has a turn cannot be committed", func(s *suite) {
		queued, answered := s.drafted(1, "m1", 0), s.drafted(2, "other", 0)
		s.asked(1, "m9") // by the agent itself, in another conversation
		_, err := s.commits(queued, "x")
		wantError(s.T, err, earshot.ErrConflict)
		s.opened("m9", "")
		t := turn(2, "x")
		t.Shown, t.Ledger = nil, nil
		s.commit("m9", t)
		_, err = s.commits(answered, "x")
		wantError(s.T, err, earshot.ErrConflict)
	}},
	{"a draft of an epoch that has ended cannot be committed", func(s *suite) {
		s.answered(50, "m1", "m50")
		d := s.drafted(2, "m1", 1)
		s.record(tombstone(50)) // which the session has read
		s.equal("contents", s.stateOf(d.ID), []string{"open", "asked"})
		_, err := s.commits(d, "x")
		wantError(s.T, err, earshot.ErrConflict)
		_, err = s.AbortDraft(s.Context(), d.ID)
		s.check(err)
		_, err = s.commits(s.opens(s.draft(2, "m1", 1)), "anew")
		s.check(err)
	}},
	{"what a draft shows and is deleted leaves it", func(s *suite) {
		for n, gone := range map[int]int{10: 10, 20: 21} { // the anchor, and another message
			name := fmt.Sprint("m", n)
			s.record(plainMessage(n, "canarytext of the anchor"), plainMessage(n+1, "canarytext of another"))
			d := s.draft(n, name, 0)
			d.Prompt.Shows = append(d.Prompt.Shows, earshot.MessageID(fmt.Sprint("m", n+1)))
			d.Prompt.Input, d.Turn.Session[0].Text, d.Turn.Names[0].Name = []byte("canaryinput"), "canarysession", "canaryname"
			d.Turn.Metadata = map[string]*string{"what": to("canarymetadata")}
			d = s.opens(d)
			other := s.drafted(n+5, "other"+name, 0)
			s.record(tombstone(gone))
			s.equal("contents", s.stateOf(d.ID), []string{"open", "asked"})
			s.equal("another's", s.stateOf(other.ID), fullDraft)
			s.without("canaryinput", "canarysession", "canaryname", "canarymetadata")
			_, err := s.commits(d, "x")
			wantError(s.T, err, earshot.ErrConflict)
			late, m := replies(d, "x")
			_, err = s.CommitDraft(s.Context(), d.ID, late, timeAt(1001), m)
			wantError(s.T, err, earshot.ErrExpired)
		}
	}},
	{"what a committed draft has shown and is deleted leaves its turn", func(s *suite) {
		s.record(plainMessage(1, "question"), plainMessage(2, "shown alone"))
		d := s.draft(1, "m1", 0)
		d.Prompt.Shows = append(d.Prompt.Shows, "m2")
		d = s.opens(d)
		_, err := s.commits(d, "reply")
		s.check(err)
		s.record(tombstone(2))
		s.equal("input", len(s.queued(d.ID).Input), 0)
		s.equal("epoch", s.epoch("m1"), 1)
	}},
	{"a draft whose tool read what is deleted meanwhile keeps no text", func(s *suite) {
		d := s.drafted(1, "m1", 0)
		s.record(plainMessage(2, "found by a tool"), tombstone(2))
		t, m := replies(d, "reply")
		t.Ledger = earshot.Ledger{{ID: "m2", Section: "tool", Verdict: earshot.Full}}
		_, err := s.CommitDraft(s.Context(), d.ID, t, timeAt(500), m)
		s.check(err)
		got, err := s.Turn(s.Context(), d.Conversation, 0)
		s.check(err)
		s.equal("text", []any{len(got.Session), len(got.Names), len(s.queued(d.ID).Input), s.epoch("m1")}, []any{0, 0, 0, 1})
	}},
	{"an erasure of a person reaches the drafts that name them", func(s *suite) {
		s.check(s.PutAuthors(s.Context(), s.scope.Platform, s.scope.Workspace, earshot.Author{ID: "U2", Name: "Bea", FullName: "Bea Canary", Kind: earshot.Human}))
		s.record(messageBy(1, "U2", "Bea", "hello"))
		named := s.draft(2, "m2", 0)
		named.Prompt.Input, named.Asked, named.Opener = []byte(`{"text":"I asked bea"}`), []byte(`{"for":"U2"}`), "U2"
		s.record(plainMessage(2, "question"))
		named = s.opens(named)
		ended := s.draft(3, "m3", 0)
		ended.Opener = "U2"
		s.record(plainMessage(3, "question"))
		ended = s.opens(ended)
		_, err := s.commits(ended, "x")
		s.check(err)
		other := s.drafted(4, "m4", 0)
		s.erased(s.ofPerson("U2"))
		s.equal("named", s.stateOf(named.ID), []string{"open"})
		s.equal("ended", s.stateOf(ended.ID), []string{"committed"})
		s.equal("other", s.stateOf(other.ID), fullDraft)
		for _, id := range []earshot.TurnID{named.ID, ended.ID} {
			d, err := s.Draft(s.Context(), id)
			s.check(err)
			s.equal("opener", d.Opener, "")
		}
		s.without("Bea", "I asked bea", `{"for":"U2"}`)
		_, err = s.commits(named, "x")
		wantError(s.T, err, earshot.ErrConflict)
	}},
	{"other erasures reach drafts too", func(s *suite) {
		canary := func(n int) earshot.Draft {
			s.record(plainMessage(n, "question"))
			d := s.draft(n, fmt.Sprint("m", n), 0)
			d.Prompt.Input, d.Asked = []byte("canaryinput"), []byte("canaryasked")
			return s.opens(d)
		}
		d := canary(1)
		s.erased(s.of(earshot.ErasureOf{Channel: s.scope.Channel, Before: timeAt(2)}))
		s.equal("before a time", s.stateOf(d.ID), []string{"open", "asked"})
		d = canary(3)
		s.erased(s.ofMessages("m3"))
		s.equal("a message", s.stateOf(d.ID), []string{"open", "asked"})
		d = canary(4)
		s.erased(s.ofChannel())
		_, err := s.Draft(s.Context(), d.ID)
		wantError(s.T, err, earshot.ErrNotFound)
		s.without("canaryinput", "canaryasked")
		s.scope.Channel = "C2"
		d = canary(5)
		s.check(s.Erase(s.Context(), s.scope))
		_, err = s.Draft(s.Context(), d.ID)
		wantError(s.T, err, earshot.ErrNotFound)
		s.without("canaryinput", "canaryasked")
	}},
	{"drafts are pruned: first what they hold, a day later all of them", func(s *suite) {
		open, done := s.drafted(1, "m1", 0), s.drafted(2, "m2", 0)
		first, err := s.commits(done, "reply")
		s.check(err)
		prune := func(before earshot.Time, want int) {
			s.Helper()
			n, err := s.PruneDrafts(s.Context(), before)
			s.check(err)
			s.equal("pruned", n, want)
		}
		prune(timeAt(1000), 0)
		s.equal("not yet", s.stateOf(open.ID), fullDraft)
		prune(timeAt(1000)+1, 1)
		prune(timeAt(1000)+1, 0)
		s.equal("emptied", s.stateOf(open.ID), []string{"open"})
		_, err = s.commits(open, "x") // whose caller's clock is behind
		wantError(s.T, err, earshot.ErrConflict)
		again, err := s.commits(done, "reply")
		s.check(err)
		again.Repeated = false
		s.equal("a committed one still answers", again, first)
		prune(timeAt(1000)+1+day, 2)
		for _, d := range []earshot.Draft{open, done} {
			_, err := s.Draft(s.Context(), d.ID)
			wantError(s.T, err, earshot.ErrNotFound)
		}
		s.equal("the turn stays", s.queued(done.ID).State, earshot.TurnDone)
	}},
	{"of 100 commits of 10 drafts one counts", func(s *suite) {
		var list []earshot.Draft
		for n := range 10 {
			list = append(list, s.drafted(n+1, "dm", 0))
		}
		results := make([]error, 100)
		runTogether(len(results), func(i int) error {
			_, results[i] = s.commits(list[i%10], fmt.Sprint("reply ", i))
			return nil
		})
		turns, err := s.Turns(s.Context(), s.conversation("dm"), 0)
		s.check(err)
		s.equal("turns", len(turns), 1)
		for i, err := range results {
			won := list[i%10].Anchor == turns[0].Answer.Anchor
			if won && err != nil || !won && !errors.Is(err, earshot.ErrConflict) {
				s.Errorf("commit %d of %s: %v; %s won", i, list[i%10].Anchor, err, turns[0].Answer.Anchor)
			}
		}
		queue, err := s.QueuedTurns(s.Context(), earshot.TurnQuery{})
		s.check(err)
		s.equal("in the queue", len(queue), 1)
	}},
	{"drafts are opened concurrently, each with an id of its own", func(s *suite) {
		s.record(plainMessage(1, "question"))
		ids := make([]earshot.TurnID, 50)
		errs := runTogether(len(ids), func(i int) error {
			d := s.draft(1, fmt.Sprint("c", i%5), 0)
			d.Again = true
			d, err := s.OpenDraft(s.Context(), d)
			ids[i] = d.ID
			return err
		})
		s.equal("errors", errs, []error{})
		slices.Sort(ids)
		s.equal("different ids", len(slices.Compact(ids)), 50)
	}},
	{"commits and deletions of what they show do not lose each other", func(s *suite) {
		rounds := 20
		if testing.Short() {
			rounds = 5
		}
		for n := range rounds {
			name := fmt.Sprint("m", n)
			d := s.drafted(n, name, 0)
			var committed error
			runTogether(2, func(i int) error {
				if i == 0 {
					_, committed = s.commits(d, "reply")
				} else {
					_, err := s.Record(s.Context(), s.scope, tombstone(n))
					s.check(err)
				}
				return nil
			})
			if committed != nil && !errors.Is(committed, earshot.ErrConflict) {
				s.Fatal(committed)
			}
			if committed == nil {
				s.equal("input", len(s.queued(d.ID).Input), 0)
				s.equal("epoch", s.epoch(name), 1)
			} else {
				s.equal("contents", s.stateOf(d.ID), []string{"open", "asked"})
			}
			session, err := s.Session(s.Context(), s.conversation(name))
			s.check(err)
			s.equal("session", len(session), 0)
		}
	}},
}

const day = earshot.Time(24 * time.Hour / time.Microsecond)
