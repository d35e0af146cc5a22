package explain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contexts"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/internal/yamlfile"
)

// A Control is a limit of a policy's section that [Reader.WhatIf] can change.
type Control struct {
	Section assemble.SectionName
	Limit   string // its name in a policy file, such as messages
	Unit    string // messages, tokens, characters, minutes, percent, files, bytes; "" of a switch
	Value   int    // now; 0 where only the budget bounds it, or where a switch is off
	Default int    // where a policy says nothing; likewise
	Max     int    // 1 of a switch
	What    string // one line that explains it
}

// Switch reports whether the limit is on (1) or off (0).
func (c Control) Switch() bool { return c.Unit == "" }

// A limit is a field of [assemble.Section].
type limit struct {
	name, unit string
	max        int
	what       string
	get        func(assemble.Section) int
	set        func(*assemble.Section, int)
}

// limits are in the order in which a page shows them.
var limits = []limit{
	{"messages", "messages", 10_000, "how many messages it shows at most", func(s assemble.Section) int { return s.Messages }, func(s *assemble.Section, n int) { s.Messages = n }},
	{"tokens", "tokens", maxBudget, "how many tokens it may cost", func(s assemble.Section) int { return s.Tokens }, func(s *assemble.Section, n int) { s.Tokens = n }},
	{"cut", "tokens", maxBudget, "how many tokens of a message are shown where the section does not fit whole", func(s assemble.Section) int { return s.Cut }, func(s *assemble.Section, n int) { s.Cut = n }},
	{"look", "messages", 10_000, "how many of the newest messages it looks at", func(s assemble.Section) int { return s.Look }, func(s *assemble.Section, n int) { s.Look = n }},
	{"threads", "conversations", 1000, "how many conversations of two and more messages it shows", func(s assemble.Section) int { return s.Threads }, func(s *assemble.Section, n int) { s.Threads = n }},
	{"snippet", "characters", 10_000, "how many characters of a neighbour are shown", func(s assemble.Section) int { return s.Snippet }, func(s *assemble.Section, n int) { s.Snippet = n }},
	{"minutes", "minutes", 10_000_000, "how far back from the question it reaches; 0 is any time", func(s assemble.Section) int { return s.Minutes }, func(s *assemble.Section, n int) { s.Minutes = n }},
	{"share", "percent", 100, "its part of the budget", func(s assemble.Section) int { return s.Share }, func(s *assemble.Section, n int) { s.Share = n }},
	{"files", "files", 100, "how many files are attached at most", func(s assemble.Section) int { return s.Files }, func(s *assemble.Section, n int) { s.Files = n }},
	{"bytes", "bytes", 1 << 30, "how large a file may be that is attached", func(s assemble.Section) int { return int(s.Bytes) }, func(s *assemble.Section, n int) { s.Bytes = int64(n) }},
	{"own", "", 1, "attaches the question's files, those of what it replies to and of its thread's root, without being asked", func(s assemble.Section) int { return boolToInt(s.Own) }, func(s *assemble.Section, n int) { s.Own = n != 0 }},
	{"link", "", 1, "guesses who answers whom where nothing says it, and groups messages by that", func(s assemble.Section) int { return boolToInt(s.Link == assemble.LinkAuto) }, func(s *assemble.Section, n int) {
		s.Link = assemble.LinkOff
		if n != 0 {
			s.Link = assemble.LinkAuto
		}
	}},
	{"addressed_only", "", 1, "shows only what the agent wrote, what mentions it and what it answered", func(s assemble.Section) int { return boolToInt(s.AddressedOnly) }, func(s *assemble.Section, n int) { s.AddressedOnly = n != 0 }},
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Controls returns the limits of a policy's sections in the order of the prompt: those
// of later turns, or of a first one.
func Controls(p assemble.Policy, later bool) []Control {
	p = p.WithDefaults()
	list := p.First
	if later && len(p.Later) > 0 {
		list = p.Later
	}
	var out []Control
	for _, s := range list {
		plain := assemble.Section{Section: s.Section}.WithDefaults()
		for _, l := range limits {
			if l.get(p.Limits(s.Section)) != 0 {
				out = append(out, Control{Section: s.Section, Limit: l.name, Unit: l.unit, Value: l.get(s), Default: l.get(plain), Max: l.max, What: l.what})
			}
		}
	}
	return out
}

// A PolicyChoice is a built-in policy.
type PolicyChoice struct {
	Name string
	What string // one line that explains it
}

// PolicyChoices returns the built-in policies, the default first.
func PolicyChoices() []PolicyChoice {
	what := map[string]string{
		"standard":   "the thread and the channel around it as a log; later turns add only what is new",
		"delta":      "the thread once; later turns add what was said since",
		"thread":     "the thread's newest messages, anew for every turn",
		"structured": "channel and thread once as typed JSON; later turns add only what is new",
		"window":     "the channel's recent messages grouped by thread, and what the question replies to",
		"transcript": "the conversation with the agent as turns, and only what is addressed to it",
	}
	var out []PolicyChoice
	for _, p := range assemble.Policies() {
		out = append(out, PolicyChoice{p.Name, what[p.Name]})
	}
	return out
}

// settings returns the policy and the budget that differ from those of an input; nil where
// they do not.
func (w WhatIf) settings(in assemble.Input) (contexts.Settings, error) {
	var out contexts.Settings
	policy := in.Policy
	if w.Policy != "" {
		p, err := policyOf(w.Policy)
		if err != nil {
			return out, err
		}
		policy, out.Policy = p, &policy
	}
	if len(w.Limits) > 0 {
		p, err := limitSections(policy, w.Limits)
		if err != nil {
			return out, err
		}
		policy, out.Policy = p, &policy
	}
	if w.Budget == 0 && w.Session == 0 {
		return out, nil
	}
	budget := in.Budget
	if most := max(maxBudget, budget.Tokens); w.Budget < 0 || w.Budget > most {
		return out, visible.InvalidField("budget", fmt.Sprintf("must be 1 to %d tokens", most))
	}
	if most := max(maxLimit, budget.Session); w.Session < 0 || w.Session > most {
		return out, visible.InvalidField("session", fmt.Sprintf("must be 1 to %d tokens", most))
	}
	if w.Budget > 0 {
		budget.Tokens, budget.Session = w.Budget, 4*w.Budget
	}
	budget.Session = cmp.Or(w.Session, budget.Session)
	out.Budget = &budget
	return out, nil
}

// policyOf returns a built-in policy by its name, or reads the text of a policy file.
func policyOf(text string) (assemble.Policy, error) {
	if p, ok := assemble.ByName(text); ok {
		return p, nil
	}
	if !strings.ContainsAny(text, ":\n{") {
		var names []string
		for _, x := range assemble.Policies() {
			names = append(names, x.Name)
		}
		return assemble.Policy{}, visible.InvalidField("policy", "is not built in; the built-in ones are "+strings.Join(names, ", "))
	}
	p, err := yamlfile.Policy([]byte(text))
	if err != nil {
		return p, visible.InvalidField("policy", err.Error())
	}
	return p, nil
}

// limitSections returns a policy with other limits. Every problem is named.
func limitSections(p assemble.Policy, by map[assemble.SectionName]map[string]int) (assemble.Policy, error) {
	p = p.WithDefaults()
	p.First, p.Later = slices.Clone(p.First), slices.Clone(p.Later)
	var bad []error
	known, asked := 0, 0
	for _, set := range by {
		asked += len(set)
	}
	for _, section := range assemble.SectionNames() {
		for _, l := range limits {
			n, ok := by[section][l.name]
			if ok {
				known++
			}
			switch {
			case !ok:
			case l.get(p.Limits(section)) == 0:
				bad = append(bad, fmt.Errorf("%s.%s: the section has no such limit", section, l.name))
			case n < 0 || n > l.max:
				bad = append(bad, fmt.Errorf("%s.%s: must be 0 to %d", section, l.name, l.max))
			case !l.apply(&p, section, n):
				bad = append(bad, fmt.Errorf("%s.%s: the policy does not have this section", section, l.name))
			}
		}
	}
	if known < asked {
		bad = append(bad, errors.New("there is no such section or limit"))
	}
	if len(bad) > 0 {
		return p, visible.InvalidField("limits", errors.Join(bad...).Error())
	}
	if bad = p.Check(); len(bad) > 0 {
		return p, visible.InvalidField("limits", errors.Join(bad...).Error())
	}
	return p, nil
}

// apply sets the limit of a section wherever a policy has it, and reports whether it
// does.
func (l limit) apply(p *assemble.Policy, section assemble.SectionName, n int) (has bool) {
	for _, list := range [][]assemble.Section{p.First, p.Later} {
		for i := range list {
			if list[i].Section == section {
				l.set(&list[i], n)
				has = true
			}
		}
	}
	return has
}
