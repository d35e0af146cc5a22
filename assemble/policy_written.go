package assemble

import "slices"

// A WrittenPolicy is a policy as people wrote it, with the names that fields
// had before. Decoders read it and take [WrittenPolicy.Read].
type WrittenPolicy struct {
	Policy `json:",inline" yaml:",inline"`
	// GuessLinks is what a window's link was: true is auto, false is off, for
	// every window that does not say so itself.
	GuessLinks *bool `json:"guess_links,omitempty" yaml:"guess_links,omitempty"`
}

// Read returns the policy with the names that fields have now.
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
			if s := &(*list)[i]; s.Section == Window && s.Link == "" {
				s.Link = link
			}
		}
	}
	return p
}
