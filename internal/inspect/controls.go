package inspect

import (
	"strconv"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/explain"
)

// controls are what a person can change in a what-if, with how it was and how it is.
type controls struct {
	policies []explain.PolicyChoice
	policy   string // as it is
	made     string // the policy of the original, which may be none of the built-in ones
	budget   control
	session  control
	sections []sectionControls
}

type sectionControls struct {
	section assemble.SectionName
	limits  []control
}

// A control is one setting. Its values are those of the query.
type control struct {
	name     string // of the parameter
	label    string
	unit     string
	what     string
	was, now int // 0: only the budget bounds it
	max      int
	isSwitch bool
}

func (c control) changed() bool { return c.was != c.now }

// value is the text of a field; "" where nothing but the budget bounds it.
func (c control) value(n int) string {
	if n == 0 && !c.isSwitch {
		return ""
	}
	return strconv.Itoa(n)
}

// controlsOf returns the controls of a compared prompt. Limits are those of the policy
// that is chosen, against what that policy says by itself.
func controlsOf(c *explain.Comparison, w explain.WhatIf) controls {
	in, now := c.Was.Input, c.Now.Input
	x := controls{policies: explain.PolicyChoices(), made: policyName(&c.Was), policy: policyName(&c.Now)}
	x.budget = control{name: "budget", label: "budget", unit: "tokens", what: "tokens that this turn may add to the prompt", was: in.Budget.Tokens, now: now.Budget.Tokens, max: max(32_000, in.Budget.Tokens)}
	x.session = control{name: "session", label: "session", unit: "tokens", what: "tokens that a session may have before it is begun anew; four times the budget where nothing else is said", was: in.Budget.Session, now: now.Budget.Session, max: max(64_000, in.Budget.Session)}
	if w.Budget > 0 && w.Session == 0 {
		x.session.was = x.session.now // it follows the budget
	}
	base := in.Policy
	if w.Policy != "" {
		if p, ok := assemble.ByName(w.Policy); ok {
			base = p
		}
	}
	if base.Name == "" {
		base = assemble.Standard()
	}
	later := c.Now.Result.Tokens.Sections[assemble.SessionPart] > 0
	was := map[string]int{}
	for _, l := range explain.Controls(base, later) {
		was[string(l.Section)+"."+l.Limit] = l.Value
	}
	policy := now.Policy
	if policy.Name == "" {
		policy = assemble.Standard()
	}
	for _, l := range explain.Controls(policy, later) {
		name := string(l.Section) + "." + l.Limit
		if n := len(x.sections); n == 0 || x.sections[n-1].section != l.Section {
			x.sections = append(x.sections, sectionControls{section: l.Section})
		}
		at := &x.sections[len(x.sections)-1]
		at.limits = append(at.limits, control{name: name, label: l.Limit, unit: l.Unit, what: l.What, was: was[name], now: l.Value, max: l.Max, isSwitch: l.Switch()})
	}
	return x
}

// changes lists what differs from the original.
func (x controls) changes() []changeData {
	out := []changeData{}
	if x.policy != x.made {
		out = append(out, changeData{"policy", x.made, x.policy})
	}
	all := []control{x.budget, x.session}
	for _, s := range x.sections {
		all = append(all, s.limits...)
	}
	for _, c := range all {
		if c.changed() {
			out = append(out, changeData{c.name, c.value(c.was), c.value(c.now)})
		}
	}
	return out
}

// limitsChanged is how many limits of sections differ.
func (x controls) limitsChanged() int {
	n := 0
	for _, s := range x.sections {
		for _, c := range s.limits {
			if c.changed() {
				n++
			}
		}
	}
	return n
}

// forgetOthers drops limits of sections that the chosen policy does not have: they are
// left from a form of another policy. A limit that no policy has stays, and is refused.
func forgetOthers(w *explain.WhatIf) {
	p, ok := assemble.ByName(w.Policy)
	if !ok {
		return
	}
	has := map[string]bool{}
	for _, later := range []bool{false, true} {
		for _, c := range explain.Controls(p, later) {
			has[string(c.Section)+"."+c.Limit] = true
		}
	}
	somewhere := map[string]bool{}
	for _, other := range assemble.Policies() {
		for _, later := range []bool{false, true} {
			for _, c := range explain.Controls(other, later) {
				somewhere[string(c.Section)+"."+c.Limit] = true
			}
		}
	}
	for section, limits := range w.Limits {
		for limit := range limits {
			if name := string(section) + "." + limit; !has[name] && somewhere[name] {
				delete(limits, limit)
			}
		}
	}
}

// builtIn reports whether the original's policy is one that can be chosen by its name.
func builtIn(x controls) bool {
	for _, p := range x.policies {
		if p.Name == x.made {
			return true
		}
	}
	return false
}

// unitOf is the unit of a setting, where its name does not say it.
func unitOf(c control) string {
	if c.unit == c.label {
		return ""
	}
	return "(" + c.unit + ")"
}

// wasText is the original's value of a setting.
func wasText(c control) string {
	if c.was == 0 {
		return "no limit"
	}
	return strconv.Itoa(c.was)
}

func whatIfTitle(d *whatIfData) string {
	if d.Turn != 0 {
		return "What if … turn " + strconv.FormatInt(int64(d.Turn), 10)
	}
	return "What if … #" + d.name
}

// reset is the address of the page with nothing changed.
func (d *whatIfData) reset() string {
	var pairs []string
	for _, h := range d.hidden {
		pairs = append(pairs, h[0], h[1])
	}
	return linkTo(d.path, pairs...)
}
