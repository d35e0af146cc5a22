package fake

import "slices"

// Named returns those in a log that have one of these names, or all where there are
// no names, as they are now.
func Named[T any](log []*T, names []string, name func(*T) string) []T {
	var out []T
	for _, v := range log {
		if len(names) == 0 || slices.Contains(names, name(v)) {
			out = append(out, *v)
		}
	}
	return out
}
