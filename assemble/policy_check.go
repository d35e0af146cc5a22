package assemble

import (
	"fmt"
	"slices"
	"strings"
)

// policyProblems collects what is wrong with a policy.
type policyProblems []error

func (l *policyProblems) add(path, format string, args ...any) {
	*l = append(*l, fmt.Errorf("%s: %s", path, fmt.Sprintf(format, args...)))
}

// Check returns every problem of p, each beginning with the path of its field
// and a colon, such as "first[2].tokens: must not be negative"; nil when there
// is none.
func (p Policy) Check() []error {
	var bad policyProblems
	if p.Name == "" {
		bad.add("name", "a policy needs a name")
	}
	if p.Form != "" && p.Form != Text && p.Form != JSON {
		bad.add("form", "unknown form %q; use text or json", p.Form)
	}
	if p.Frame != "" && !slices.Contains([]Frame{Log, Brackets, Preamble, Tags, Plain}, p.Frame) {
		bad.add("frame", "unknown frame %q; use log, brackets, preamble, tags or plain", p.Frame)
	}
	if p.Form == JSON && p.Frame != "" && p.Frame != Brackets {
		bad.add("frame", "the json form is written in brackets only")
	}
	if p.Bots != "" && p.Bots != "bot" && p.Bots != "agent" {
		bad.add("bots", "unknown label %q; use bot or agent", p.Bots)
	}
	if p.NameAsker && p.Frame != Preamble && p.Frame != Tags {
		bad.add("name_asker", "is for the frames preamble and tags; the others name the asker anyway")
	}
	if len(p.First) == 0 {
		bad.add("first", "a policy needs at least guide and anchor")
	}
	if !p.Session && len(p.Later) > 0 {
		bad.add("later", "later turns differ only with session: true")
	}
	if p.Session && len(p.Later) == 0 {
		bad.add("later", "a policy with session: true needs sections for later turns")
	}
	bad.checkSections(p.First, "first")
	if len(p.Later) > 0 {
		bad.checkSections(p.Later, "later")
		if p.Later[0].Section != SessionPart {
			bad.add("later[0].section", "must be session, so that prompts extend one another")
		}
	}
	bad.checkFrame(p, p.First, "first")
	bad.checkFrame(p, p.Later, "later")
	return bad
}

// checkFrame finds the sections that the policy's frame cannot show.
func (l *policyProblems) checkFrame(p Policy, list []Section, path string) {
	for i, s := range list {
		if k := kindOf(s.Section); k != nil && k.allowed != nil && !k.allowed(p) {
			l.add(fmt.Sprintf("%s[%d].section", path, i), "%s cannot stand in this frame", s.Section)
		}
	}
}

// checkSections finds the problems of a list of sections that do not depend on the
// frame.
func (l *policyProblems) checkSections(list []Section, path string) {
	seen := map[SectionName]bool{}
	for i, s := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		k := kindOf(s.Section)
		if k == nil {
			l.add(at+".section", "unknown section %q; use one of %s", s.Section, sectionNames())
			continue
		}
		if seen[s.Section] {
			l.add(at+".section", "%s stands twice", s.Section)
		}
		seen[s.Section] = true
		l.checkLimits(s, k, at)
		if k.laterOnly && path == "first" {
			l.add(at+".section", "%s belongs to later turns", s.Section)
		}
	}
	if len(list) > 0 && list[len(list)-1].Section != Anchor {
		l.add(path, "the last section must be anchor")
	}
}

// checkLimits finds limits that the section does not have, or that make no
// sense.
func (l *policyProblems) checkLimits(s Section, k *sectionKind, at string) {
	d := &k.limits
	for _, v := range []struct {
		name     string
		got, def int64
	}{
		{"messages", int64(s.Messages), int64(d.Messages)}, {"tokens", int64(s.Tokens), int64(d.Tokens)},
		{"cut", int64(s.Cut), int64(d.Cut)}, {"look", int64(s.Look), int64(d.Look)},
		{"threads", int64(s.Threads), int64(d.Threads)}, {"snippet", int64(s.Snippet), int64(d.Snippet)},
		{"share", int64(s.Share), int64(d.Share)}, {"files", int64(s.Files), int64(d.Files)}, {"bytes", s.Bytes, d.Bytes},
	} {
		if v.got < 0 {
			l.add(at+"."+v.name, "must not be negative")
		} else if v.got != 0 && v.def == 0 {
			l.add(at+"."+v.name, "%s has no such limit", s.Section)
		}
	}
	if s.Minutes < 0 {
		l.add(at+".minutes", "must not be negative")
	}
	if s.Share > 100 {
		l.add(at+".share", "is a percentage, at most 100")
	}
	if s.Own && !k.hasOwn {
		l.add(at+".own", "is a media section's only")
	}
	switch {
	case s.Link != "" && d.Link == "":
		l.add(at+".link", "is a window's only")
	case s.Link != "" && s.Link != LinkAuto && s.Link != LinkOff:
		l.add(at+".link", "unknown value %q; use auto or off", s.Link)
	}
	if s.AddressedOnly && !k.hasAddressedOnly {
		l.add(at+".addressed_only", "is a transcript's only")
	}
}

// sectionNames lists the sections that a policy can have, for an error.
func sectionNames() string {
	var names []string
	for _, k := range sectionKinds {
		if !k.notInPolicy {
			names = append(names, string(k.name))
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
