package rule

import (
	"net/url"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// NamesWorkspace reports whether the key of a note or a rate has a platform, or * for
// every one, and one of its workspaces among its parts, which / and spaces divide. Parts
// may be escaped as in a path.
func NamesWorkspace(key string, p earshot.Platform, w earshot.WorkspaceID) bool {
	parts := strings.FieldsFunc(key, func(r rune) bool { return r == '/' || r == ' ' })
	for i, part := range parts {
		if plain, err := url.PathUnescape(part); err == nil {
			parts[i] = plain
		}
	}
	return slices.Contains(parts, string(w)) && (slices.Contains(parts, string(p)) || slices.Contains(parts, "*"))
}

// PurseIn reports whether the key of a purse, see [PurseKey], is that of a workspace, or of a
// channel or a person in it.
func PurseIn(key string, p earshot.Platform, w earshot.WorkspaceID) bool {
	of := PurseKey(earshot.Purse{Platform: p, Workspace: w})
	return key == of || strings.HasPrefix(key, of+"/")
}
