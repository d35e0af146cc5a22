package rule

import (
	"fmt"
	"slices"

	"pgregory.net/rapid"

	"github.com/earshot-ai/earshot"
)

// What people are asked, how they decide it, and who ends a turn, in the random walk of
// [TestWhateverIsAskedTheRulesHold].

func (m *model) askPerson(t *rapid.T) {
	h, o := m.held(t)
	a := earshot.Approval{ID: earshot.ApprovalID(fmt.Sprint(m.now)), Turn: o.ID, Call: rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "call"),
		Args: []byte(repeats(o.knows)), Expires: m.now + 10, State: earshot.ApprovalOpen}
	var same *earshot.Approval
	for i := range o.asked {
		if a.Call != "" && o.asked[i].Call == a.Call {
			same = &o.asked[i]
		}
	}
	if _, c, err := DecideAsk(h, a, same, false); err == nil {
		m.apply(o, c)
	}
}

func (m *model) wait(t *rapid.T) {
	h, o := m.held(t)
	c, waits, err := DecideAwait(h, o.asks(""))
	if err != nil {
		return
	}
	m.apply(o, c)
	if waits != (o.State == earshot.TurnWaiting) {
		t.Fatalf("turn %d is %s and waits: %v", o.ID, o.State, waits)
	}
	if waits {
		o.ends = 0
	}
}

func (o *modelTurn) asks(not earshot.ApprovalID) bool {
	return slices.ContainsFunc(o.asked, func(a earshot.Approval) bool { return a.State == earshot.ApprovalOpen && a.ID != not })
}

func (m *model) decide(t *rapid.T) {
	if len(m.turns) == 0 {
		t.Skip("no turn")
	}
	o := m.turns[rapid.SampledFrom(m.ids()).Draw(t, "turn")]
	if len(o.asked) == 0 {
		t.Skip("nobody was asked")
	}
	a := rapid.SampledFrom(o.asked).Draw(t, "approval")
	m.now += earshot.Time(rapid.IntRange(0, 5).Draw(t, "later"))
	d := earshot.Decision{Time: m.now, State: rapid.SampledFrom(earshot.ApprovalStates()[1:]).Draw(t, "state")}
	waited := o.State == earshot.TurnWaiting
	got, c, err := DecideApproval(a, d, o.StoredTurn, o.asks(a.ID), m.now)
	if a.State != earshot.ApprovalOpen && (err == nil || got.State != a.State) {
		t.Fatalf("an approval that was %s is %s: %v", a.State, got.State, err)
	}
	if d.Time >= a.Expires && got.State == earshot.ApprovalAgreed && a.State == earshot.ApprovalOpen {
		t.Fatal("an approval was agreed to after it had expired")
	}
	m.apply(o, c)
	if waited && o.State != earshot.TurnOpen && !o.asks("") {
		t.Fatalf("turn %d is %s when nobody is asked any more", o.ID, o.State)
	}
}

func (m *model) stop(t *rapid.T) {
	if len(m.turns) == 0 || rapid.IntRange(0, 3).Draw(t, "really") > 0 {
		t.Skip("no turn is stopped")
	}
	o := m.turns[rapid.SampledFrom(m.ids()).Draw(t, "turn")]
	c, err := DecideStop(o.StoredTurn, "U1", m.now)
	if (err == nil) == o.State.Final() {
		t.Fatalf("a turn that is %s is stopped: %v", o.State, err)
	}
	if err != nil {
		return
	}
	m.apply(o, c)
	if o.Stopped == 0 || o.State == earshot.TurnWaiting {
		t.Fatalf("turn %d is %s after it was stopped at %d", o.ID, o.State, o.Stopped)
	}
}
