package simtest

import "regexp"

// known are bugs that are known and being fixed: a violation that matches is counted
// and does not fail a seed. An entry is removed with its fix.
var known = []struct {
	until string
	what  *regexp.Regexp
}{}

// isKnown returns until when a bug counts as known; "" where it is not known.
func isKnown(wrong string) string {
	for _, k := range known {
		if k.what.MatchString(wrong) {
			return k.until
		}
	}
	return ""
}
