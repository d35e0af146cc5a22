package simtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/earshot-ai/earshot/simulate"
)

// An act is one event of a run. It refers to messages and people by numbers, taken
// modulo how many there are when it is carried out, so that a script depends on its
// seed only.
type act struct {
	kind   string
	after  time.Duration // since the previous act
	where  int           // channel
	who    int           // person
	which  int           // an earlier message of the channel
	ask    bool          // the text mentions the bot
	word   string        // unique to this text, so that it can be searched for
	long   time.Duration // of a stall, a downtime, a jump of the clock
	n      int           // how many times; for a crash, at which effect
	before bool          // the crash comes before the effect
	fault  simulate.Fault
	model  mood
	reason string
}

func (a act) String() string {
	s := a.kind
	switch a.kind {
	case actSay, actReply, actUpload:
		s += fmt.Sprintf(" channel %d by %d ask=%v %s", a.where, a.who, a.ask, a.word)
	case actEdit, actDelete, actReact:
		s += fmt.Sprintf(" channel %d message %d %s", a.where, a.which, a.word)
	case actCrash:
		s += fmt.Sprintf(" at effect %d from now, before=%v, down for %s", a.n, a.before, a.long)
	case actFault, actOutage:
		s += fmt.Sprintf(" %s on %q times %d wait %s for %s", a.fault.Kind, a.fault.On, a.fault.Times, a.fault.Wait, a.long)
	case actModel:
		s += fmt.Sprintf(" %s %d times, %s", a.model, a.n, a.long)
	case actStop, actJump, actReplica:
		s += " " + a.long.String()
	case actRenew:
		s += " " + a.reason
	case actClick:
		s += fmt.Sprintf(" button %d by %d", a.which, a.who)
	}
	return s
}

// The kinds of acts.
const (
	actSay       = "say"
	actReply     = "reply"
	actEdit      = "edit"
	actDelete    = "delete"
	actReact     = "react"
	actUpload    = "upload"
	actCrash     = "crash"
	actStop      = "stop"
	actReplica   = "replica"
	actFault     = "fault"
	actOutage    = "outage"
	actHeal      = "heal"
	actModel     = "model"
	actJump      = "jump"
	actRenew     = "renew"
	actCut       = "cut"
	actRedeliver = "redeliver"
	actClick     = "click" // only where there are tools
)

// A script is the run that a seed stands for.
type script struct {
	seed    uint64
	environ []string // settings of the daemon
	none    bool     // nothing that is said is stored
	tools   bool     // the bot has tools that act, and people are asked and click
	// apart: each process has a clock of its own, as on machines over one PostgreSQL, and
	// the store has another. Otherwise they share the machine's, as over SQLite.
	apart bool
	tier  simulate.Tier
	acts  []act
}

// weights are the relative frequencies of the kinds of acts.
var weights = []struct {
	kind   string
	weight int
}{
	{actSay, 20}, {actReply, 22}, {actEdit, 9}, {actDelete, 9}, {actReact, 3}, {actUpload, 3}, {actCrash, 9}, {actStop, 2},
	{actReplica, 3}, {actFault, 14}, {actOutage, 6}, {actHeal, 4}, {actModel, 7}, {actJump, 2}, {actRenew, 3}, {actCut, 2}, {actRedeliver, 4},
}

// newScript writes the script of a seed.
func newScript(seed uint64) script {
	r := rand.New(rand.NewPCG(seed, 0xea25407))
	s := script{seed: seed, tier: simulate.TierUnlimited, apart: seed%2 == 0}
	if r.IntN(4) == 0 {
		s.tier = simulate.TierInternal
	}
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	s.environ = []string{
		"EARSHOT_SLACK_REPLY=" + pick("update", "update", "post", "stream"),
		"EARSHOT_POLICY=" + pick("standard", "standard", "standard", "delta", "window"),
		"EARSHOT_ANSWER_EACH=" + pick("true", "false"),
		"EARSHOT_OWNED_THREADS=" + pick("true", "false"),
		"EARSHOT_BUDGET_TOKENS=" + pick("1500", "6000"),
	}
	total := 0
	for _, w := range weights {
		total += w.weight
	}
	for n := 8 + r.IntN(18); len(s.acts) < n; {
		at, kind := r.IntN(total), ""
		for _, w := range weights {
			if at -= w.weight; at < 0 {
				kind = w.kind
				break
			}
		}
		s.acts = append(s.acts, newAct(r, kind, len(s.acts)))
	}
	return s
}

// between returns a random time from low to high, with every order of magnitude
// equally likely.
func between(r *rand.Rand, low, high time.Duration) time.Duration {
	return time.Duration(float64(low) * math.Pow(float64(high)/float64(low), r.Float64()))
}

func newAct(r *rand.Rand, kind string, index int) act {
	a := act{
		kind: kind, after: between(r, 20*time.Millisecond, 20*time.Second), where: r.IntN(channels), who: r.IntN(people),
		which: r.IntN(1000), ask: r.IntN(10) < 6, n: 1 + r.IntN(3), before: r.IntN(2) == 0,
	}
	a.word = fmt.Sprintf("w%dx%s", index, letters(r))
	switch kind {
	case actCrash:
		a.n, a.long = int(between(r, 1, 200)), between(r, 100*time.Millisecond, 30*time.Second)
	case actStop:
		a.long = between(r, time.Second, 25*time.Hour)
	case actReplica:
		a.long = between(r, time.Second, time.Minute)
	case actModel:
		a.model, a.long = moods[r.IntN(len(moods))], between(r, time.Second, 3*time.Minute)
	case actJump:
		a.long = between(r, time.Second, 2*time.Hour)
		if r.IntN(2) == 0 {
			a.long = -a.long
		}
	case actRenew:
		a.reason = []string{"warning", "refresh_requested", "link_disabled"}[r.IntN(3)]
	case actFault:
		a.fault = newFault(r)
	case actOutage:
		a.fault, a.long = newCallFault(r), between(r, time.Second, 5*time.Minute)
		a.fault.Times = 0
	}
	return a
}

// newFault returns a random fault of calls or events, which happens a few times.
func newFault(r *rand.Rand) simulate.Fault {
	f := simulate.Fault{Times: 1 + r.IntN(4)}
	if r.IntN(2) == 0 {
		f.Kind = []simulate.FaultKind{
			simulate.DropEvent, simulate.LateEvent, simulate.LateEvent, simulate.RepeatEvent, simulate.RenewEvent,
			simulate.SwapEvent, simulate.SwapEvent, simulate.CutSocket,
		}[r.IntN(8)]
		f.On = []string{"", "message", "app_mention", "message.*"}[r.IntN(4)]
		if f.Kind == simulate.LateEvent {
			f.Wait = between(r, 50*time.Millisecond, 24*time.Hour)
		}
		return f
	}
	return newCallFault(r)
}

func newCallFault(r *rand.Rand) simulate.Fault {
	f := simulate.Fault{Times: 1 + r.IntN(4)}
	f.Kind = []simulate.FaultKind{
		simulate.RateLimit, simulate.ServerError, simulate.APIError, simulate.LostRequest, simulate.LostResponse,
		simulate.FailedLate, simulate.HungResponse, simulate.LateResponse, simulate.BadJSON,
	}[r.IntN(9)]
	f.On = []string{"chat.*", "chat.postMessage", "chat.update", "conversations.*", "users.info", ""}[r.IntN(6)]
	f.Wait = between(r, 100*time.Millisecond, 20*time.Second)
	if f.Kind == simulate.APIError {
		f.Error = []string{"internal_error", "fatal_error", "service_unavailable", "request_timeout"}[r.IntN(4)]
	}
	return f
}

// letters returns a word that occurs nowhere else.
func letters(r *rand.Rand) string {
	var b strings.Builder
	for range 9 {
		b.WriteByte("bcdfghjklmnpqrstvz"[r.IntN(18)])
	}
	return b.String()
}
