package assemble

import "slices"

// A WrittenPolicy is a policy as a file or a request has it, with the names that
// fields had in earlier versions. Decoders read into it and take
// [WrittenPolicy.Read].
type WrittenPolicy struct {
	Policy `json:",inline" yaml:",inline"`
	// GuessLinks is the former name of a window's link: true is auto, false is
	// off, for every window that has no link of its own.
	GuessLinks *bool `json:"guess_links,omitempty" yaml:"guess_links,omitempty"`
}

// Read returns the policy, with former names translated.
func (w WrittenPolicy) Read() Policy {
	p := w.Policy
	if w.GuessLinks == nil {
		return p
	}
	link := LinkOff
	if *w.GuessLinks {
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
