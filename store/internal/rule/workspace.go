package rule

import (
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// NamesWorkspace reports whether the key of a note or a rate has a platform and one of
// its workspaces among its parts, which / and spaces divide.
func NamesWorkspace(key string, p earshot.Platform, w earshot.WorkspaceID) bool {
	parts := strings.FieldsFunc(key, func(r rune) bool { return r == '/' || r == ' ' })
	return slices.Contains(parts, string(p)) && slices.Contains(parts, string(w))
}
