package simtest

import "regexp"

// known are faults of the engine that are known and being mended: what matches
// is counted and does not fail a seed. An entry goes with its mend.
var known = []struct {
	until string
	what  *regexp.Regexp
}{
	{
		"an answer that is given up is apologised for once posting works (issue 9, item 1)",
		regexp.MustCompile(`^I4: turn \d+ failed \((?:post \d+ was sent \d+ times|not posted, again in).*nobody was told`),
	},
	{
		"answers wait for the platform for answer.post_minutes (issue 9, item 1)",
		regexp.MustCompile(`^I12: turn \d+ is parked: .*(?:post \d+ was sent \d+ times|whether (?:a |the )?(?:post|apology).*(?:cannot be found out|is not known))`),
	},
}

// isKnown returns until when a fault is known, "" where it is not.
func isKnown(wrong string) string {
	for _, k := range known {
		if k.what.MatchString(wrong) {
			return k.until
		}
	}
	return ""
}
