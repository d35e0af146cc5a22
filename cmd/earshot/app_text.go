package main

import (
	"fmt"
	"strings"
	"time"
)

// formatDuration writes a duration as people compare them: two digits and a unit.
func formatDuration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return fmt.Sprintf("%d µs", d.Microseconds())
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.1f ms", d.Seconds()*1e3)
	case d < time.Second:
		return fmt.Sprintf("%.0f ms", d.Seconds()*1e3)
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

func durationOf(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// shellWord quotes a word where a shell would not take it as one.
func shellWord(s string) string {
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || strings.ContainsRune("'\"\\$`&|;<>()*?[]#~!{}", r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// joinFirst joins the first n names and says how many more there are.
func joinFirst(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
}
