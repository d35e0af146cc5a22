package rule

import (
	"fmt"
	"slices"
	"strings"
)

// NamesRow reports whether a column names a row to people: an id or part of a key,
// which no one wrote.
func NamesRow(column string) bool {
	return slices.Contains([]string{"platform", "workspace", "channel", "id", "message", "turn", "agent", "conversation"}, column)
}

// RowName returns what names a row to people: its columns with their values.
func RowName(columns []string, values []any) string {
	var parts []string
	for i, c := range columns {
		v := values[i]
		if b, ok := v.([]byte); ok {
			v = string(b)
		}
		parts = append(parts, fmt.Sprintf("%s=%v", c, v))
	}
	return strings.Join(parts, " ")
}
