package fake

import "slices"

// FilterByName returns those in a log that have one of these names, or all where there are
// no names, as they are now.
func FilterByName[T any](log []*T, names []string, name func(*T) string) []T {
	var out []T
	for _, v := range log {
		if len(names) == 0 || slices.Contains(names, name(v)) {
			out = append(out, *v)
		}
	}
	return out
}

// Find returns the first in a list that is what is asked for, nil for none.
func Find[T any](list []*T, is func(*T) bool) *T {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return list[i]
	}
	return nil
}
