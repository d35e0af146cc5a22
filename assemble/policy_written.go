package assemble

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
)

// A WrittenPolicy is a policy as a file or a request has it: spelled out, or a
// built-in one with other limits. It also takes the names that fields had in earlier
// versions. Decoders read into it and take [WrittenPolicy.Read].
type WrittenPolicy struct {
	Policy `json:",inline" yaml:",inline"`
	// Base is the name of the built-in policy that this one is, but for Limits. Of
	// Policy there is the Name alone then, or nothing.
	Base string `json:"base,omitempty" yaml:"base,omitempty"`
	// Limits are limits of Base's sections, in first and later turns. A limit that is
	// zero is as Base has it.
	Limits map[SectionName]Section `json:"limits,omitempty" yaml:"limits,omitempty"`
	// GuessLinks is the former name of a window's link: true is auto, false is
	// off, for every window that has no link of its own.
	GuessLinks *bool `json:"guess_links,omitempty" yaml:"guess_links,omitempty"`
}

// Read returns the policy, and every problem of it as [Policy.Check] does.
func (w WrittenPolicy) Read() (Policy, []error) {
	p := w.Policy
	var bad policyProblems
	switch {
	case w.Base != "":
		p = w.overBase(&bad)
	case len(w.Limits) > 0:
		bad.add("limits", "are limits of a base; name a built-in policy as base")
	}
	if len(bad) > 0 {
		return p, bad
	}
	if w.GuessLinks != nil {
		p = p.guessing(*w.GuessLinks)
	}
	return p, p.Check()
}

// overBase returns the base with the limits of w.
func (w WrittenPolicy) overBase(bad *policyProblems) Policy {
	p, ok := ByName(w.Base)
	if !ok {
		bad.add("base", "there is no built-in policy %q", w.Base)
		return p
	}
	own := w.Policy
	if own.Name = ""; !reflect.DeepEqual(own, Policy{}) {
		bad.add("base", "says what the policy is; beside it stand name and limits only")
	}
	p.Name = cmp.Or(w.Policy.Name, p.Name)
	for _, name := range slices.Sorted(maps.Keys(w.Limits)) {
		found := false
		for _, list := range [][]Section{p.First, p.Later} {
			for i := range list {
				if list[i].Section == name {
					list[i], found = list[i].with(w.Limits[name]), true
				}
			}
		}
		if at := "limits." + string(name); !found {
			bad.add(at, "%s has no such section", w.Base)
		} else if s := w.Limits[name].Section; s != "" && s != name {
			bad.add(at+".section", "is %s already", name)
		}
	}
	return p
}

// with returns s with the limits of l that are not zero.
func (s Section) with(l Section) Section {
	return Section{
		Section: s.Section, Messages: cmp.Or(l.Messages, s.Messages), Tokens: cmp.Or(l.Tokens, s.Tokens), Cut: cmp.Or(l.Cut, s.Cut),
		Look: cmp.Or(l.Look, s.Look), Threads: cmp.Or(l.Threads, s.Threads), Snippet: cmp.Or(l.Snippet, s.Snippet), Link: cmp.Or(l.Link, s.Link),
		Minutes: cmp.Or(l.Minutes, s.Minutes), Share: cmp.Or(l.Share, s.Share), Files: cmp.Or(l.Files, s.Files), Bytes: cmp.Or(l.Bytes, s.Bytes),
		Own: s.Own || l.Own, AddressedOnly: s.AddressedOnly || l.AddressedOnly,
	}
}

// guessing returns p with the link of the windows that have none.
func (p Policy) guessing(on bool) Policy {
	link := LinkOff
	if on {
		link = LinkAuto
	}
	for _, list := range []*[]Section{&p.First, &p.Later} {
		*list = slices.Clone(*list)
		for i := range *list {
			s := &(*list)[i]
			if k := kindOf(s.Section); k != nil && k.limits.Link != "" && s.Link == "" {
				s.Link = link
			}
		}
	}
	return p
}
