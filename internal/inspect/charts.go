package inspect

import (
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/inspect/picture"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/visible"
)

// A chart is a picture with its figures as a table, for those who read instead of
// looking.
type chart struct {
	name    string // of its file, without .svg
	picture picture.Picture
	says    string // how to read it, and how its figures are computed
	head    []string
	rows    [][]string
}

// drawCharts returns the pictures of charts, for a page.
func drawCharts(list ...chart) map[string]drawing {
	out := map[string]drawing{}
	for _, c := range list {
		if c.name != "" {
			out[c.name] = c.picture
		}
	}
	return out
}

// labels tell channels apart in a list: by name, and where two have the same one by
// workspace and id too.
type labels map[earshot.Scope]string

// labels labels channels. Those that have the same names are looked up.
func (s *server) labels(v *visit, list []earshot.ChannelInfo) (labels, error) {
	namesakes, err := s.Reader.Namesakes(v.Context(), v.caller, list)
	if err != nil {
		return nil, err
	}
	known := map[earshot.Scope]bool{}
	for _, c := range list {
		known[c.Scope()] = true
	}
	return labelsOf(append(slices.Clone(list), slices.DeleteFunc(namesakes, func(c earshot.ChannelInfo) bool { return known[c.Scope()] })...)), nil
}

// labelsAt labels the channels of rows.
func (s *server) labelsAt(v *visit, scopes []earshot.Scope) (labels, error) {
	var list []earshot.ChannelInfo
	known := map[earshot.Scope]bool{}
	for _, at := range scopes {
		if known[at] {
			continue
		}
		known[at] = true
		c, err := s.Reader.To(v.caller).Resolve(v.Context(), placeOf(string(at.Platform), string(at.Workspace), string(at.Channel)))
		if r, ok := visible.AsRefusal(err); ok && r.Kind == visible.NotFound {
			continue // erased meanwhile
		}
		if err != nil {
			return nil, err
		}
		list = append(list, earshot.ChannelInfo{Channel: c})
	}
	return s.labels(v, list)
}

func labelsOf(list []earshot.ChannelInfo) labels {
	named := map[string]int{}
	for _, c := range list {
		named[c.Name]++
	}
	out := labels{}
	for _, c := range list {
		switch name := plain.ID(c.Name); {
		case c.Name == "":
			out[c.Scope()] = plain.ID(string(c.ID))
		case named[c.Name] > 1:
			out[c.Scope()] = "#" + name + " (" + plain.ID(string(c.Workspace)+"/"+string(c.ID)) + ")"
		case c.Kind == earshot.KindDM:
			out[c.Scope()] = name
		default:
			out[c.Scope()] = "#" + name
		}
	}
	return out
}

// of returns the label of a channel, its id where it is not stored.
func (l labels) of(s earshot.Scope) string {
	if name := l[s]; name != "" {
		return name
	}
	return plain.ID(string(s.Channel))
}

func yesNo(is bool) string {
	if is {
		return "yes"
	}
	return "no"
}
