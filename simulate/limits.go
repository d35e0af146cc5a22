package simulate

import "time"

// Tier says how often an app may call.
type Tier int

// The tiers. An internal app has Slack's ordinary limits: 1, 20, 50 and 100
// calls a minute and method by the method's tier, one message a second and
// channel. An app that is sold outside the Marketplace reads history once a
// minute, 15 messages at most
// (https://docs.slack.dev/changelog/2025/05/29/rate-limit-changes-for-non-marketplace-apps).
// Unlimited is for tests of something else.
const (
	TierInternal Tier = iota
	TierDistributed
	TierUnlimited
)

// The calls a minute of a method's tier.
var perMinute = map[int]int{1: 1, 2: 20, 3: 50, 4: 100}

// A limitError is a call too many.
type limitError struct{ wait time.Duration }

func (*limitError) Error() string { return "ratelimited" }

// spend counts a call against its limit.
func (s *Slack) spend(r *request, m method) error {
	key, most := r.method, perMinute[m.tier]
	reads := r.method == "conversations.history" || r.method == "conversations.replies"
	switch {
	case s.o.Tier == TierDistributed && reads:
		most = 1
	case r.method == "chat.postMessage":
		key, most = key+" "+r.args["channel"], 60
	}
	if s.o.Tier == TierUnlimited {
		most = 0
	}
	if own, ok := s.o.Limits[r.method]; ok {
		most = own
	}
	if most <= 0 {
		return nil
	}
	now := s.o.Now()
	kept := s.spent[key][:0]
	for _, at := range s.spent[key] {
		if now.Sub(at) < time.Minute {
			kept = append(kept, at)
		}
	}
	s.spent[key] = kept
	if len(kept) >= most {
		return &limitError{wait: max(time.Minute-now.Sub(kept[len(kept)-most]), time.Second)}
	}
	s.spent[key] = append(kept, now)
	return nil
}

// most is how many messages a call of a history may return.
func (s *Slack) most(ordinary int) int {
	if s.o.Tier == TierDistributed {
		return 15
	}
	return ordinary
}
